// Package people compares the motion of all generators of people with recordings of its kind.
package people

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"mannequin/offline/eval"
	"mannequin/offline/judge"
)

// Made is the motion of a generator.
type Made struct {
	Generator string
	Set       *judge.Set
	From      *judge.Set // the clips that it was made from, or nil
	Near      []Near     // how near people of a scene come to each other
}

// Report compares all generators with the recordings.
type Report struct {
	Sets       []string    `json:"recordings"` // names of the sets
	Generators []Generator `json:"generators"`
}

// Generator is the report on one.
type Generator struct {
	Name string `json:"generator"`
	*judge.Report
	Near []Near `json:"near,omitempty"`
}

// Compare compares each generator with the sets of recordings.
func Compare(made []Made, sets ...*judge.Set) *Report {
	r := &Report{}
	for _, s := range sets {
		r.Sets = append(r.Sets, filepath.Base(s.Name))
	}
	for _, m := range made {
		r.Generators = append(r.Generators, Generator{m.Generator, judge.Compare(m.Set, m.From, sets...), m.Near})
	}
	return r
}

// Print writes the report as text: a row for each measure and a column for each generator.
func (r *Report) Print(w io.Writer) error {
	t := eval.NewTables(w)
	var names []string
	for _, g := range r.Generators {
		names = append(names, g.Name)
	}
	t.Section("Made ÷ recorded: * out of 0.7 to 1.4, ↓ less where less is no fault", "measure\tkind\tunit\t"+strings.Join(r.Sets, " / ")+"\t"+strings.Join(names, "\t"))
	for i := range r.Generators[0].Rows {
		var cells []string
		some := false
		for _, g := range r.Generators {
			row := &g.Rows[i]
			some = some || row.Made != nil
			if cells == nil {
				cells = []string{row.Measure, row.Kind, row.Unit, row.Recordings()}
			}
			cells = append(cells, row.Cell())
		}
		if some {
			t.Cells(cells...)
		}
	}
	t.Section("Told apart by a classifier, second by second; 0.5 is by chance", "generator\t"+judge.ToldHead)
	for _, g := range r.Generators {
		for i := range g.Told {
			t.Cells(append([]string{g.Name}, g.Told[i].Cells()...)...)
		}
	}
	t.Section("Speed of the hips, means of 10 s, m/s", "generator\tclip, its end\tfile\tseconds\tspeeds")
	for _, g := range r.Generators {
		for i, f := range g.Files {
			clip := ""
			if i < len(g.From) {
				if speeds := g.From[i].Speeds; len(speeds) > 0 {
					clip = fmt.Sprintf("%.2f", speeds[len(speeds)-1])
				}
			}
			t.Cells(append([]string{g.Name, clip}, f.Cells()...)...)
		}
	}
	t.Section("How often the hips of two people of a scene come nearer, times per person and minute", "scene\tnearer than, m\ttimes")
	for _, g := range r.Generators {
		for _, n := range g.Near {
			t.Row("%s\t%g\t%.2f", g.Name, n.Than, n.Times)
		}
	}
	t.Section("Rows within 0.7 to 1.4", "generator\twithin\tof\tshare\tless, no fault\tbones change, %")
	within, count, fine := 0, 0, 0
	for _, g := range r.Generators {
		t.Row("%s\t%d\t%d\t%.0f %%\t%d\t%.2g", g.Name, g.Within, g.Count, 100*float64(g.Within)/float64(max(g.Count, 1)), g.Fine, 100*g.Bones)
		within, count, fine = within+g.Within, count+g.Count, fine+g.Fine
	}
	if err := t.End(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d of %d rows (%.0f %%) lie within 0.7 to 1.4 of the recordings, %d more are less where less is no fault\n", within, count, 100*float64(within)/float64(max(count, 1)), fine)
	return err
}
