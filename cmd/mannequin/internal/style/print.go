package style

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"mannequin/animsys/mar"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/command"
	"mannequin/offline/registration"
)

// styleReport is the report of style build.
type styleReport struct {
	Out      string              `json:"out"`
	Name     string              `json:"name"`
	Licence  string              `json:"licence"`
	Data     string              `json:"data"`
	Bytes    int64               `json:"bytes"`
	Took     float64             `json:"took_s"`
	FPS      float64             `json:"fps"`
	Frames   int                 `json:"frames"`
	Minutes  float64             `json:"minutes"`
	Styles   []string            `json:"styles"`
	Actions  []input.StyleAction `json:"actions"`
	LeftOut  []string            `json:"left_out,omitempty"` // recordings without a label
	Warnings []string            `json:"warnings"`

	reports map[string]*registration.Report
	limits  string
}

// registered keeps the report on the registration of an action.
func (r *styleReport) registered(rep *registration.Report) {
	if r.reports == nil {
		r.reports = map[string]*registration.Report{}
	}
	r.reports[rep.Action] = rep
}

// fewWindows is the least number of windows that a class should have: the neighbours that
// translation looks for in it.
const fewWindows = 40

// describe describes the database.
func (r *styleReport) describe(db *mar.Database) {
	r.Name, r.Licence, r.Data = db.Name, db.License, db.Data
	r.FPS, r.Frames, r.Minutes = float64(db.FPS), db.Frames(), float64(db.Frames())/float64(db.FPS)/60
	r.Styles, r.Actions, r.Warnings = db.Styles, input.ClassesOf(db), []string{}
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	if n := len(r.LeftOut); n > 0 {
		warn("nothing is known of %d of the recordings, such as %s, which were left out: give their action and style with --table", n, r.LeftOut[0])
	}
	if len(db.Styles) == 1 {
		warn("there is one style only, %s: nothing can be translated into another", db.Styles[0])
	}
	for i := range r.Actions {
		a := &r.Actions[i]
		if rep := r.reports[a.Action]; rep != nil {
			residual := mean(rep.Takes, func(t *registration.TakeReport) float64 { return t.Residual })
			twoWay := mean(rep.Takes, func(t *registration.TakeReport) float64 { return t.TwoWay })
			a.Residual, a.TwoWay = &residual, &twoWay
			for _, t := range rep.Takes {
				for _, w := range t.Warnings {
					a.Warnings = append(a.Warnings, t.Name+": "+w)
				}
			}
		}
		var lacks []string
		for _, s := range db.Styles {
			if !slices.ContainsFunc(a.Styles, func(c input.StyleClass) bool { return c.Style == s }) {
				lacks = append(lacks, s)
			}
		}
		switch {
		case len(lacks) > 0 && len(a.Styles) == 1:
			warn("%s is in %s only: it cannot get another style", a.Action, a.Styles[0].Style)
		case len(lacks) > 0:
			warn("%s has no take in %s: its motion cannot get that style", a.Action, strings.Join(lacks, ", "))
		}
		for _, c := range a.Styles {
			if c.Windows < fewWindows {
				warn("%s in %s has %d windows of frames, fewer than the %d neighbours that are looked for: record more of it", a.Action, c.Style, c.Windows, fewWindows)
			}
		}
	}
}

// card returns the database's card, in Markdown.
func (r *styleReport) card(free bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nA database of styles for mannequin's animsys/mar, after Xia, Wang, Chai and Hodgins 2015: %d actions in %d styles, %.1f minutes at %g frames per second.\n\n", r.Name, len(r.Actions), len(r.Styles), r.Minutes, r.FPS)
	fmt.Fprintf(&b, "- Made of: %s.\n- Licence: %s.\n", r.Data, r.Licence)
	if r.limits != "" {
		fmt.Fprintf(&b, "- Limits: %s\n", r.limits)
	}
	if free {
		b.WriteString("- Made again by: mannequin style build --free --half.\n")
	}
	b.WriteString("\n| action | style | takes | minutes |\n|---|---|---|---|\n")
	for _, a := range r.Actions {
		for _, c := range a.Styles {
			fmt.Fprintf(&b, "| %s | %s | %d | %.1f |\n", a.Action, c.Style, c.Takes, c.Seconds/60)
		}
	}
	return b.String()
}

func (r *styleReport) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %.1f minutes, %d actions in %d styles at %g frames/s, %.1f MB, in %.1f s\n", r.Out, r.Minutes, len(r.Actions), len(r.Styles), r.FPS, float64(r.Bytes)/1e6, r.Took)
	fmt.Fprintf(w, "licence: %s\n\n", command.Plain(r.Licence))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "action\ttakes\tstyles\tseconds\tperiod s\tresidual\ttwo-way, frames\twarnings\t")
	for _, a := range r.Actions {
		fmt.Fprintf(t, "%s\t%d\t%d\t%.1f\t%s\t%s\t%s\t%d\t\n", command.Plain(a.Action), a.Takes, len(a.Styles), a.Seconds, cli.OrDash(&a.Period, "%.2f"), cli.OrDash(a.Residual, "%.2f"), cli.OrDash(a.TwoWay, "%.2f"), len(a.Warnings))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, a := range r.Actions {
		for _, text := range a.Warnings {
			fmt.Fprintf(w, "registration of %s: %s\n", command.Plain(a.Action), command.Plain(text))
		}
	}
	for _, text := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", command.Plain(text))
	}
	return nil
}
