// Package people compares the motion of all generators of people with recordings of its kind.
package people

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
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
	Among      []Among     `json:"recordings_among_themselves"` // how like another recording a recording is
}

// Among is how like the others a set of recordings is.
type Among struct {
	Name string `json:"recordings"`
	judge.Score
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
	for i, s := range sets {
		if others := slices.Delete(slices.Clone(sets), i, i+1); len(others) > 0 {
			r.Among = append(r.Among, Among{r.Sets[i], judge.CompareRows(s, nil, others...).Score})
		}
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
	t.Section("Rows within 0.7 to 1.4 of the recordings, and of the clips that the motions were made from", "generator\tbones change, %\t"+judge.ScoreHead+"\town clips: "+judge.ScoreHead)
	var all judge.Score
	for _, g := range r.Generators {
		cells := append([]string{g.Name, fmt.Sprintf("%.2g", 100*g.Bones)}, g.Score.Cells()...)
		if g.Own != nil {
			cells = append(cells, g.Own.Cells()...)
		}
		t.Cells(cells...)
		all.Within, all.Count, all.Fine = all.Within+g.Within, all.Count+g.Count, all.Fine+g.Fine
	}
	t.Cells(append([]string{"all", ""}, all.Cells()...)...)
	t.Section("The same of each set of recordings against the others", "recordings\t"+judge.ScoreHead)
	for _, a := range r.Among {
		t.Cells(append([]string{a.Name}, a.Cells()...)...)
	}
	return t.End()
}
