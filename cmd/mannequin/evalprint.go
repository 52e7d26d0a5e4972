package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"mannequin/animsys/mann"
	"mannequin/offline/metrics"
)

// evalTables prints the sections of a report.
type evalTables struct {
	w   io.Writer
	err error
}

// section prints a title and the rows, whose cells are separated by tabs.
func (t *evalTables) section(title string, rows ...string) {
	t.table(title, tabwriter.AlignRight, rows)
}

func (t *evalTables) table(title string, flags uint, rows []string) {
	if t.err != nil {
		return
	}
	fmt.Fprintf(t.w, "%s\n", title)
	tw := tabwriter.NewWriter(t.w, 0, 0, 2, ' ', flags)
	for _, r := range rows {
		if flags&tabwriter.AlignRight != 0 {
			r += "\t"
		}
		fmt.Fprintln(tw, r)
	}
	fmt.Fprintln(tw)
	t.err = tw.Flush()
}

func cells(v ...string) string { return strings.Join(v, "\t") }

func (r *evalReport) print(w io.Writer) error {
	t := &evalTables{w: w}
	t.section(fmt.Sprintf("%s on %d rows held out: %s", r.Model, r.HeldOut.Rows, strings.Join(r.HeldOut.Recordings, ", ")), r.lossRows()...)
	t.section("Skate, cm per frame (Table 2); matched: asked for what the recordings do", r.motionRows(
		func(m *metrics.Motion) float64 { return m.Skate }, func(m *metrics.Motion) float64 { return m.BackSkate }, "%.3f")...)
	t.section("Leg angle update, degrees per frame (Table 3)", r.motionRows(
		func(m *metrics.Motion) float64 { return m.Stiffness }, func(m *metrics.Motion) float64 { return m.BackStiffness }, "%.2f")...)
	t.section("Beside them: share of the frames made that are in the gait's speed and turn, share of time for which paws are under 2.5 cm, the joints' mean jerk in m/s³", r.honestyRows()...)
	t.section("Following paths: distance cm, angle ° (Table 4); meander beside the paper's custom path", r.pathRows()...)
	t.section("Footfalls: duty factor, and phase in strides after the left hind paw, per paw", r.footfallRows()...)
	t.section("Speed in m/s, third and fourth second after the command, by command and what went before",
		r.speedRows(func(s metrics.SpeedHeld) string { return fmt.Sprintf("%.2f", s.Speed) })...)
	t.section("The same commands, third to sixth second: gait by footfall, shown skate ÷ recorded",
		r.speedRows(func(s metrics.SpeedHeld) string { return fmt.Sprintf("%s %.2f", s.Gait, r.skateOver(s)) })...)
	t.section("Other ways to go: what is asked for, what is done, skate in cm per frame ÷ that of the recorded walk; height of the hips and leg angle update, too", r.wayRows()...)
	t.section("Seconds from command to action, and back to idle's pose", r.latencyRows()...)
	t.section(fmt.Sprintf("Changes: the largest jerk of a joint ÷ the recordings' 99.9 percentile (%.0f m/s³), from row to column", r.Transitions.Recorded.Jerk),
		r.transitionRows()...)
	if r.Experts != nil {
		t.section(fmt.Sprintf("Abilities without each expert, as shares of the whole network's (Table 5); * vanishes: below %g", r.Experts.Vanishes), r.expertRows()...)
	}
	// Last, where a terminal leaves it on the screen.
	t.table(fmt.Sprintf("%s in short: %d of %d bars missed, marked *; the hour on hills: make golden", r.Model, r.Bars.missed(), len(r.Bars)), 0, r.Bars.rows())
	return t.err
}

func (r *evalReport) lossRows() []string {
	rows := []string{"output\tloss\tRMS error"}
	for _, l := range r.HeldOut.Losses {
		rms := ""
		if l.Kind != "all" {
			rms = strings.TrimSpace(fmt.Sprintf("%.3g %s", l.RMS, l.Unit))
		}
		rows = append(rows, cells(l.Kind, fmt.Sprintf("%.4f", l.MSE), rms))
	}
	return rows
}

// motionRows is Table 2 or 3: all and back tell the figure of all legs and of
// the back legs.
func (r *evalReport) motionRows(all, back func(*metrics.Motion) float64, format string) []string {
	rows := []string{"gait\tlegs\trecorded\traw\tratio\tshown\tratio\tmatched raw\tratio\tmatched shown\tratio\tpaper's MANN8\tspeed m/s"}
	for _, g := range r.Gaits {
		row := func(legs string, f func(*metrics.Motion) float64, speed string) {
			out := []string{g.Name, legs, fmt.Sprintf(format, f(&g.Truth))}
			for _, m := range []*metrics.Motion{&g.Model.Raw, &g.Model.Shown, &g.Matched.Raw, &g.Matched.Shown} {
				if m.Frames == 0 || g.Truth.Frames == 0 {
					out = append(out, "–", "–")
					continue
				}
				out = append(out, fmt.Sprintf(format, f(m)), fmt.Sprintf("%.2f", f(m)/f(&g.Truth)))
			}
			paper := "–"
			if g.PaperModel != nil {
				paper = fmt.Sprintf("%.2f/%.2f = %.2f", f(g.PaperModel), f(g.PaperTruth), f(g.PaperModel)/f(g.PaperTruth))
			}
			rows = append(rows, cells(append(out, paper, speed)...))
		}
		row("all", all, fmt.Sprintf("%.2f (%.2f)", g.Model.Raw.Speed, g.Truth.Speed))
		row("back", back, "")
	}
	return rows
}

// honestyRows tells how much was compared, and what would flatter skate and leg
// angles: dogs that do something else, paws that glide above the height at which
// they count, limbs that tremble.
func (r *evalReport) honestyRows() []string {
	rows := []string{"gait\trecorded s\tin the gait\tlow recorded\traw\tshown\tjerk recorded\traw\tratio\tshown\tratio\thead recorded\traw\tshown"}
	for _, g := range r.Gaits {
		raw, shown := g.Model.Raw, g.Model.Shown
		head := []string{"", "", ""}
		if g.Name == metrics.Turn {
			for i, m := range []metrics.Motion{g.Truth, raw, shown} {
				head[i] = fmt.Sprintf("%.0f°", m.Look)
			}
		}
		rows = append(rows, cells(append([]string{g.Name, fmt.Sprintf("%.1f", float64(g.Truth.Frames)/mann.Rate), fmt.Sprintf("%.2f", g.Model.InGait), fmt.Sprintf("%.2f", g.Truth.Low), fmt.Sprintf("%.2f", raw.Low), fmt.Sprintf("%.2f", shown.Low),
			fmt.Sprintf("%.0f", g.Truth.Jerk), fmt.Sprintf("%.0f", raw.Jerk), fmt.Sprintf("%.2f", raw.Jerk/g.Truth.Jerk),
			fmt.Sprintf("%.0f", shown.Jerk), fmt.Sprintf("%.2f", shown.Jerk/g.Truth.Jerk)}, head...)...))
	}
	return rows
}

func (r *evalReport) pathRows() []string {
	rows := []string{"path\tdistance\tangle\tat m/s\tsets off s\tvNN\t\tPFNN\t\tMANN\t"}
	for _, p := range r.Paths {
		out := []string{p.Path, fmt.Sprintf("%.2f", p.DistanceCM), fmt.Sprintf("%.2f", p.AngleDeg), fmt.Sprintf("%.2f", p.Speed), orNever("%.2f", p.SetOff)}
		if p.Paper != nil {
			for _, f := range []metrics.Follow{p.Paper.VNN, p.Paper.PFNN, p.Paper.MANN} {
				out = append(out, fmt.Sprintf("%.2f", f.DistanceCM), fmt.Sprintf("%.2f", f.AngleDeg))
			}
		}
		rows = append(rows, cells(out...))
	}
	return rows
}

func (r *evalReport) footfallRows() []string {
	rows := []string{"gait\tmotion\tis a\tstrides\tper s\tduty " + strings.Join(metrics.PawNames[:], ", ") + "\tphase"}
	for _, g := range r.Gaits {
		for _, f := range []struct {
			name string
			fall metrics.Footfall
		}{{"recorded", g.Recorded}, {"raw", g.Raw}, {"shown", g.Shown}} {
			var duty, phase []string
			for p := range f.fall.Duty {
				duty, phase = append(duty, fmt.Sprintf("%.2f", f.fall.Duty[p])), append(phase, fmt.Sprintf("%.2f", f.fall.Phase[p]))
			}
			rows = append(rows, cells(g.Name, f.name, f.fall.Gait, fmt.Sprint(f.fall.Strides), fmt.Sprintf("%.2f", f.fall.Rate),
				strings.Join(duty, " "), strings.Join(phase, " ")))
		}
	}
	return rows
}

// speedRows has a row per command and a column per command before it.
func (r *evalReport) speedRows(cell func(metrics.SpeedHeld) string) []string {
	head := []string{"command", "from stand"}
	for _, from := range metrics.GaitSpeeds {
		head = append(head, fmt.Sprintf("from %.1f", from))
	}
	rows := []string{cells(head...)}
	for _, to := range metrics.GaitSpeeds {
		out := []string{fmt.Sprintf("%.1f", to)}
		for _, from := range append([]float32{0}, metrics.GaitSpeeds[:]...) {
			text := ""
			for _, s := range r.Speeds {
				if s.From == float64(from) && s.Command == float64(to) {
					text = cell(s)
				}
			}
			out = append(out, text)
		}
		rows = append(rows, cells(out...))
	}
	return rows
}

// skateOver returns the skate of s as a share of the recordings' at its command.
func (r *evalReport) skateOver(s metrics.SpeedHeld) float64 {
	for i, v := range metrics.GaitSpeeds {
		if s.Command == float64(v) && i < len(r.Gaits) {
			return s.Skate / r.Gaits[i].Truth.Skate
		}
	}
	return 0
}

func (r *evalReport) wayRows() []string {
	rows := []string{"way\tasked\tdoes\traw\tratio\tshown\tratio\thips\tlegs, raw\thead"}
	for _, w := range r.Ways {
		walk, head := r.Gaits[0].Truth.Skate, ""
		if w.Unit == metrics.DegreesPerSecond {
			head = fmt.Sprintf("%.0f°", w.Shown.Look)
		}
		rows = append(rows, cells(w.Name, fmt.Sprintf("%.1f %s", w.Asked, w.Unit), fmt.Sprintf("%.2f", w.Does),
			fmt.Sprintf("%.3f", w.Raw.Skate), orNever("%.2f", over(w.Raw.Skate, walk)), fmt.Sprintf("%.3f", w.Shown.Skate), orNever("%.2f", over(w.Shown.Skate, walk)),
			orNever("%.2f", over(w.Shown.Hips, r.Gaits[0].Truth.Hips)), orNever("%.2f", over(w.Raw.Stiffness, r.Gaits[0].Truth.Stiffness)), head))
	}
	return rows
}

func orNever(format string, v *float64) string {
	if v == nil {
		return "never"
	}
	return fmt.Sprintf(format, *v)
}

func (r *evalReport) latencyRows() []string {
	rows := []string{"action\tfrom\t90 % of the weight\tpose\tback to idle\tgap at command\tleast\twithin the data cm"}
	for _, l := range r.Latencies {
		rows = append(rows, cells(l.Action, l.From, orNever("%.2f", l.Weight), orNever("%.2f", l.Pose), orNever("%.2f", l.Back),
			fmt.Sprintf("%.1f", 100*l.Begin), fmt.Sprintf("%.1f", 100*l.Least), fmt.Sprintf("%.1f", 100*l.Spread)))
	}
	return rows
}

func (r *evalReport) transitionRows() []string {
	var names []string
	at := map[[2]string]string{}
	for _, c := range r.Transitions.Changes {
		if len(names) == 0 || names[len(names)-1] != c.From {
			names = append(names, c.From)
		}
		at[[2]string{c.From, c.To}] = fmt.Sprintf("%.1f", c.Shown.Over(r.Transitions.Recorded).Jerk)
	}
	rows := []string{cells(append([]string{""}, names...)...)}
	for _, from := range names {
		out := []string{from}
		for _, to := range names {
			out = append(out, at[[2]string{from, to}])
		}
		rows = append(rows, cells(out...))
	}
	return rows
}

func (r *evalReport) expertRows() []string {
	head := []string{"ability", "whole"}
	for k := range r.Experts.Without {
		head = append(head, fmt.Sprintf("−%d", k+1))
	}
	rows := []string{cells(head...)}
	for i, a := range r.Experts.Whole {
		out := []string{a.Name, fmt.Sprintf("%.2f %s", a.Value, a.Unit)}
		for _, less := range r.Experts.Without {
			share := less[i].Value / max(a.Value, 1e-6)
			mark := ""
			if share < r.Experts.Vanishes {
				mark = "*"
			}
			out = append(out, fmt.Sprintf("%s%.2f", mark, share))
		}
		rows = append(rows, cells(out...))
	}
	return rows
}
