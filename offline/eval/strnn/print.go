package strnn

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"mannequin/offline/eval"
	"mannequin/offline/metrics"
)

// bars compares the report's figures with their bars.
func (r *Report) bars() eval.Bars {
	var b eval.Bars
	last := len(r.of) - 1 // the model
	ours, still := r.Forecast[last+1], r.Forecast[0]
	for h, s := range r.Horizons {
		at := fmt.Sprintf("%.0f ms", 1000*s)
		best := math.NaN() // without a rival
		for i, of := range r.of[:last] {
			if v := r.Forecast[i+1].Body[h]; !of.part && !(v >= best) {
				best = v
			}
		}
		b.Most("error of joints over the best rival's", at, ours.Body[h]/best, 0.8)
		if h > 0 {
			b.Most("error of joints over that of standing still", at, eval.Over(ours.Body[h], still.Body[h]), 1)
		}
	}
	o := &r.Rollouts[last]
	b.Least("joints' variance over the recordings'", "narrowest", o.Narrowest, 0.6)
	b.Most("joints' variance over the recordings', at most", "widest", o.Widest, 1.6)
	b.Least("joints' variance over that of the motion's beginning, median", "least of the motions", o.Kept, 0.6)
	b.Most("longest time in which nothing moves, s", "", o.Still, 3)
	b.Most("99.9th percentile of jerk over the recordings'", "", o.Jerk, 2)
	r.goingOnBars(&b)
	for i, of := range r.of {
		if of.part && of.name == temporalName {
			b.Most("manifold distance over that of the temporal network alone", "", eval.Over(r.Nearest[last].Distance, r.Nearest[i].Distance), 0.7)
		}
	}
	for _, c := range r.Control {
		if strings.Contains(c.Name, "steps") {
			b.Most("distance from the path, mean cm", c.Name, c.Mean, 5)
		}
	}
	r.cleanBars(&b)
	for _, v := range r.Rates {
		switch {
		case v.BF16 && v.Control:
			b.Least("frames a second under control", "bfloat16", v.Rate, 1200)
		case v.BF16:
			b.Least("frames a second", "bfloat16", v.Rate, 40000)
		}
	}
	return b.Sorted()
}

// temporalName is the part that manifold distances are compared with: the temporal network alone, which
// predicts single frames.
const temporalName = "temporal-39-1"

// printForecasts prints a table seen from the body and one in the world.
func (r *Report) printForecasts(t *eval.Tables, whose string, forecasts []Forecast) {
	head := "cm after"
	for _, s := range r.Horizons {
		head += fmt.Sprintf("\t%.0f ms", 1000*s)
	}
	for _, of := range []struct {
		name   string
		values func(f Forecast) []float64
	}{
		{"seen from the body", func(f Forecast) []float64 { return f.Body[:] }},
		{"in the world", func(f Forecast) []float64 { return f.World[:] }},
	} {
		t.Section(fmt.Sprintf("Error of predicted joints%s, %s, after %d prefixes", whose, of.name, forecasts[0].Prefixes), head)
		for _, f := range forecasts {
			t.Row("%s\t%s", f.Name, join(of.values(f), "\t"))
		}
	}
}

// join formats figures, with a separator between them.
func join(values []float64, separator string) string {
	var text []string
	for _, v := range values {
		text = append(text, fmt.Sprintf("%.2f", v))
	}
	return strings.Join(text, separator)
}

// Print writes the report as text.
func (r *Report) Print(w io.Writer) error {
	t := eval.NewTables(w)
	r.printForecasts(t, "", r.Forecast)
	for _, h := range r.H36M {
		r.printForecasts(t, fmt.Sprintf(" of Human3.6M's %s, %s,", h36mSubject, h.Action), h.Forecast)
	}
	t.Section(fmt.Sprintf("Distance of windows of %d frames, predicted from %d prefixes, from the training recordings (manifold distance)", metrics.ManifoldFrames, nearestPrefixes*r.opt.Prefixes), "\tdistance")
	for _, n := range r.Nearest {
		t.Row("%s\t%.2f", n.Name, n.Distance)
	}
	t.Section(fmt.Sprintf("The last %d of %d frames of %d motions", lastFrames, r.opt.Frames, r.opt.Prefixes), "\tvariance of joints over the recordings': least\tmost\tover that of each motion's beginning: median\tstill s\tjerk over the recordings'\tfinite\tframes/s")
	t.Row("their beginnings, recorded\t%.2f\t%.2f", slices.Min(r.Begun), slices.Max(r.Begun))
	for _, v := range r.Rollouts {
		t.Row("%s\t%.2f\t%.2f\t%s\t%.1f\t%.2f\t%v\t%.0f",
			v.Name, v.Narrowest, v.Widest, join(v.Each, " "), v.Still, v.Jerk, v.Finite, v.Rate)
	}
	r.printGoingOn(t)
	t.Section(fmt.Sprintf("People along paths for %.0f s at %g m/s", r.opt.Seconds, controlSpeed), "control\tmean cm\tlast second\t95 %\tslide cm/frame\theld feet\tjerk m/s³\tframes/s")
	for _, c := range r.Control {
		t.Row("%s\t%.1f\t%.1f\t%.1f\t%.2f\t%.2f\t%.0f\t%.0f",
			c.Name, c.Mean, c.Last, c.P95, c.Slide, c.Held, c.Jerk, c.Rate)
	}
	r.printCleans(t)
	t.Section(fmt.Sprintf("Frames a second on %d threads", r.opt.Threads), "motions\tcontrol\tbfloat16\tframes/s")
	for _, v := range r.Rates {
		t.Row("%v\t%v\t%v\t%.0f", v.Motions, v.Control, v.BF16, v.Rate)
	}
	return t.InShort(r.Model, r.Bars, "")
}
