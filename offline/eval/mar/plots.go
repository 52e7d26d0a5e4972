package mar

import (
	"fmt"
	"slices"
	"strings"

	"mannequin/offline/baseline"
	"mannequin/offline/chart"
	"mannequin/offline/eval/figure"
	"mannequin/offline/metrics/transfer"
)

// figures keeps the data of Fig. 3 and 4: the first translation into the paper's style, in the first set
// that has it.
type figures struct {
	set   string
	shown *transfer.Translation
}

// figureStyles are the styles to show, by preference. If a set has none of them, its first is shown.
var figureStyles = []string{"proud", "elderly"}

// look is shown every translation in turn.
func (f *figures) look(set string, t *transfer.Translation) {
	wanted := slices.Contains(figureStyles, t.Case.Out.Style)
	if f.shown == nil || f.set == set && wanted && !slices.Contains(figureStyles, f.shown.Case.Out.Style) {
		f.set, f.shown = set, t
	}
}

// figureMethods are the curves beside the truth.
var figureMethods = []string{transfer.MAR, transfer.LTIOwn, transfer.GlobalAR}

// draw draws the figures.
func (f *figures) draw(album *figure.Album, r *Report) error {
	if f.shown != nil {
		if err := album.Add("mar-dof.png", f.column().Save); err != nil {
			return err
		}
		if err := album.Add("mar-warp.png", f.warp().Save); err != nil {
			return err
		}
	}
	poses := r.barChart("Poses of takes left out (Fig. 6, left)", "mean distance of joints, cm", func(m *transfer.Mean) float64 { return m.Pose })
	if len(poses.Groups) == 0 {
		return nil
	}
	if err := album.Add("mar-poses.png", poses.Save); err != nil {
		return err
	}
	timing := r.barChart("Timing of takes left out (Fig. 6, right)", "mean difference of times, frames at 60 Hz", func(m *transfer.Mean) float64 { return m.Time })
	return album.Add("mar-timing.png", timing.Save)
}

func (f *figures) title() string {
	return fmt.Sprintf("%s, %s to %s", f.shown.Case.In.Name, f.shown.Case.In.Style, f.shown.Case.Out.Style)
}

// column draws Fig. 3: one degree of freedom over time, the one of the right upper arm that the style
// moves most.
func (f *figures) column() chart.Chart {
	t := f.shown
	at, most := 0, 0.0
	for d, name := range t.Database.Columns() {
		if !strings.HasPrefix(name, "RightArm ") {
			continue
		}
		var angles []float64
		for i := range t.Truth.Step {
			angles = append(angles, t.Truth.Y.At(i, d))
		}
		if moves := slices.Max(angles) - slices.Min(angles); moves > most {
			at, most = d, moves
		}
	}
	c := chart.Chart{Title: f.title(), XLabel: "seconds of the input", YLabel: t.Database.Columns()[at] + ", rad"}
	c.Series = f.curves(func(i int) float64 { return t.Truth.Y.At(i, at) }, func(p *transfer.Prediction) func(i int) float64 {
		return func(i int) float64 { return p.Y.At(i, at) }
	})
	return c
}

// warp draws Fig. 4: the time of the output.
func (f *figures) warp() chart.Chart {
	sum := func(steps []float64) func(i int) float64 {
		total := 0.0
		return func(i int) float64 { // is called in order
			total += steps[i] / float64(f.shown.Database.FPS)
			return total
		}
	}
	c := chart.Chart{Title: f.title(), XLabel: "seconds of the input", YLabel: "seconds of the output"}
	c.Series = f.curves(sum(f.shown.Truth.Step), func(p *transfer.Prediction) func(i int) float64 { return sum(p.Step) })
	return c
}

// curves returns the curves of the truth and the methods over the input's time.
func (f *figures) curves(truth func(i int) float64, of func(p *transfer.Prediction) func(i int) float64) []chart.Series {
	line := func(name string, at func(i int) float64) chart.Series {
		s := chart.Series{Name: name}
		for i := range f.shown.Truth.Step {
			s.X, s.Y = append(s.X, float64(f.shown.Truth.First+i)/float64(f.shown.Database.FPS)), append(s.Y, at(i))
		}
		return s
	}
	all := []chart.Series{line("truth", truth)}
	for _, m := range figureMethods {
		for i, p := range f.shown.Predictions {
			if p.Method == m {
				all = append(all, line(m, of(&f.shown.Predictions[i])))
			}
		}
	}
	return all
}

// barChart draws Fig. 6: the errors of the methods on every set. Of linear systems and of means of
// neighbours it shows the better, by poses.
func (r *Report) barChart(title, unit string, of func(m *transfer.Mean) float64) chart.Bars {
	b := chart.Bars{Title: title, YLabel: unit}
	for _, m := range []struct {
		name string
		of   []string
	}{
		{"MAR", []string{transfer.MAR}},
		{"MAR, unlabelled", []string{transfer.MAR + transfer.Unlabelled}},
		{"LTI", []string{transfer.LTIOwn, transfer.LTIPose}},
		{"global AR", []string{transfer.GlobalAR}},
		{"GP", []string{transfer.GP}},
		{"NN", []string{baseline.NearestNeighbour.String()}},
		{"KNN", []string{baseline.InverseDistance.String(), baseline.GaussianDistance.String()}},
		{"local AR", []string{baseline.LocalAR.String()}},
	} {
		s := chart.BarSeries{Name: m.name}
		for i := range r.Sets {
			if v := r.Sets[i].best(m.of...); v != nil && !r.Sets[i].Free {
				s.Values = append(s.Values, of(v))
			}
		}
		if len(s.Values) > 0 {
			b.Series = append(b.Series, s)
		}
	}
	for i := range r.Sets {
		if !r.Sets[i].Free {
			b.Groups = append(b.Groups, r.Sets[i].Name)
		}
	}
	return b
}
