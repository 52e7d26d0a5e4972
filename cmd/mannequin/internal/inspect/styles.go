package inspect

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
)

// databaseReport is the report of inspect on a database of styles.
type databaseReport struct {
	File     string              `json:"file"`
	Kind     string              `json:"kind"`
	Name     string              `json:"name"`
	FPS      float64             `json:"fps"`
	Frames   int                 `json:"frames"`
	Minutes  float64             `json:"minutes"`
	Joints   int                 `json:"joints"`
	Root     string              `json:"root"`
	Columns  []string            `json:"columns"`
	Styles   []string            `json:"styles"`
	Actions  []input.StyleAction `json:"actions"`
	Licence  string              `json:"licence"`
	Data     string              `json:"data"`
	Card     string              `json:"card"`
	EndSites int                 `json:"end_sites"`
}

// inspectStyles describes a shipped database of styles or a file.
func inspectStyles(file string) (*databaseReport, error) {
	db, err := input.OpenStyles(file)
	if err != nil {
		return nil, err
	}
	return describeStyles(file, db), nil
}

func describeStyles(file string, db *mar.Database) *databaseReport {
	r := &databaseReport{File: file, Kind: "database of styles", Name: db.Name, FPS: float64(db.FPS), Frames: db.Frames(), Minutes: float64(db.Frames()) / float64(db.FPS) / 60,
		Root: db.Skeleton().Names[0], Columns: db.Columns(), Styles: db.Styles, Actions: input.ClassesOf(db), Licence: db.License, Data: db.Data, Card: db.Card}
	for _, end := range db.Skeleton().EndSite {
		if end {
			r.EndSites++
		} else {
			r.Joints++
		}
	}
	return r
}

// Print writes the report as text, without the table of the card, which it repeats.
func (r *databaseReport) Print(w io.Writer) error {
	row, end := cli.List(w)
	row("file", "%s", r.File)
	row("kind", "%s %s", r.Kind, r.Name)
	row("motion", "%d frames at %g per second = %.1f minutes, %d actions in %d styles", r.Frames, r.FPS, r.Minutes, len(r.Actions), len(r.Styles))
	row("skeleton", "%d joints, %d End Sites, root %s", r.Joints, r.EndSites, r.Root)
	row("columns", "%d: %s, …", len(r.Columns), strings.Join(r.Columns[:min(7, len(r.Columns))], ", "))
	row("licence", "%s", cli.OrNone(r.Licence))
	row("data", "%s", cli.OrNone(r.Data))
	if err := end(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\ntakes, seconds, m/s:")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "style\t")
	for _, a := range r.Actions {
		fmt.Fprintf(t, "%s\t", command.Plain(a.Action))
	}
	fmt.Fprintln(t)
	for _, s := range r.Styles {
		fmt.Fprintf(t, "%s\t", command.Plain(s))
		for _, a := range r.Actions {
			cell := "–"
			if i := slices.IndexFunc(a.Styles, func(c input.StyleClass) bool { return c.Style == s }); i >= 0 {
				cell = fmt.Sprintf("%d, %.1f, %.2f", a.Styles[i].Takes, a.Styles[i].Seconds, a.Styles[i].Speed)
			}
			fmt.Fprintf(t, "%s\t", cell)
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	text, _, _ := strings.Cut(r.Card, "\n| action")
	return printCard(w, text)
}
