package strnn

import (
	"fmt"
	"io"
	"strings"

	"mannequin/offline/eval"
	"mannequin/offline/metrics"
)

// bars compares the report's figures with their bars.
func (r *Report) bars() eval.Bars {
	var b eval.Bars
	ours, still := r.Forecast[len(r.Forecast)-1], r.Forecast[0]
	for h, s := range r.Horizons {
		at := fmt.Sprintf("%.0f ms", 1000*s)
		best := 0.0
		for i, of := range r.of[:len(r.of)-1] {
			if f := &r.Forecast[i+1]; !of.part && (best == 0 || f.Body[h] < best) {
				best = f.Body[h]
			}
		}
		b.Most("error of joints over the best rival's", at, eval.Over(ours.Body[h], best), 0.8)
	}
	for h, s := range r.Horizons[1:] {
		b.Most("error of joints over that of standing still", fmt.Sprintf("%.0f ms", 1000*s), eval.Over(ours.Body[h+1], still.Body[h+1]), 1)
	}
	o := &r.Rollouts[len(r.Rollouts)-1]
	b.Least("joints' variance over the recordings'", "narrowest", &o.Narrowest, 0.6)
	b.Most("joints' variance over the recordings', at most", "widest", &o.Widest, 1.6)
	b.Most("longest time in which nothing moves, s", "", &o.Still, 3)
	b.Most("99.9th percentile of jerk over the recordings'", "", &o.Jerk, 2)
	for i, of := range r.of {
		if of.part && of.name == temporalName {
			b.Most("manifold distance over that of the temporal network alone", "", eval.Over(r.Nearest[len(r.of)-1].Distance, r.Nearest[i].Distance), 0.7)
		}
	}
	for i := range r.Control {
		if strings.Contains(r.Control[i].Name, "steps") {
			b.Most("distance from the path, mean cm", r.Control[i].Name, &r.Control[i].Mean, 5)
		}
	}
	r.cleanBars(&b)
	for i := range r.Rates {
		if v := &r.Rates[i]; v.BF16 {
			if v.Control {
				b.Least("frames a second under control", "bfloat16", &v.Rate, 1200)
			} else {
				b.Least("frames a second", "bfloat16", &v.Rate, 40000)
			}
		}
	}
	return b
}

// temporalName is the part against which manifold distances are held: the temporal
// network alone, which predicts single frames.
const temporalName = "temporal-39-1"

// printForecasts prints a table seen from the body and one in the world.
func (r *Report) printForecasts(t *eval.Tables, whose string, forecasts []Forecast) {
	head := []string{"cm after"}
	for _, s := range r.Horizons {
		head = append(head, fmt.Sprintf("%.0f ms", 1000*s))
	}
	for _, of := range []string{"seen from the body", "in the world"} {
		rows := []string{eval.Cells(head...)}
		for _, f := range forecasts {
			row, values := []string{f.Name}, f.Body
			if of != "seen from the body" {
				values = f.World
			}
			for _, v := range values {
				row = append(row, fmt.Sprintf("%.2f", v))
			}
			rows = append(rows, eval.Cells(row...))
		}
		t.Section(fmt.Sprintf("How far predicted joints%s are off, %s, after %d prefixes", whose, of, forecasts[0].Prefixes), rows...)
	}
}

func (r *Report) Print(w io.Writer) error {
	t := &eval.Tables{W: w}
	r.printForecasts(t, "", r.Forecast)
	for _, h := range r.H36M {
		r.printForecasts(t, fmt.Sprintf(" of Human3.6M's %s, %s,", h36mSubject, h.Action), h.Forecast)
	}
	rows := []string{"\tdistance"}
	for _, n := range r.Nearest {
		rows = append(rows, eval.Cells(n.Name, fmt.Sprintf("%.2f", n.Distance)))
	}
	t.Section(fmt.Sprintf("How far windows of %d frames made of %d prefixes are from the recordings learnt from (manifold distance)", metrics.ManifoldFrames, nearestPrefixes*r.opt.Prefixes), rows...)
	rows = []string{"\tvariance of joints: least\tmost\tmedian of each motion\tstill s\tjerk\tfinite\tframes/s"}
	for _, v := range r.Rollouts {
		var each []string
		for _, e := range v.Each {
			each = append(each, fmt.Sprintf("%.2f", e))
		}
		rows = append(rows, eval.Cells(v.Name, fmt.Sprintf("%.2f", v.Narrowest), fmt.Sprintf("%.2f", v.Widest), strings.Join(each, " "), fmt.Sprintf("%.1f", v.Still), fmt.Sprintf("%.2f", v.Jerk), fmt.Sprint(v.Finite), fmt.Sprintf("%.0f", v.Rate)))
	}
	t.Section(fmt.Sprintf("The last %d of %d frames of %d motions, over the recordings'", lastFrames, r.opt.Frames, r.opt.Prefixes), rows...)
	rows = []string{"control\tmean cm\tlast second\t95 %\tslide cm/frame\theld feet\tjerk m/s³\tframes/s"}
	for _, c := range r.Control {
		rows = append(rows, eval.Cells(c.Name, fmt.Sprintf("%.1f", c.Mean), fmt.Sprintf("%.1f", c.Last), fmt.Sprintf("%.1f", c.P95), fmt.Sprintf("%.2f", c.Slide), fmt.Sprintf("%.2f", c.Held), fmt.Sprintf("%.0f", c.Jerk), fmt.Sprintf("%.0f", c.Rate)))
	}
	if len(r.Control) > 0 {
		t.Section(fmt.Sprintf("People along paths for %.0f s at %g m/s", r.Control[0].Seconds, controlSpeed), rows...)
	}
	if len(r.Noise) > 0 {
		r.printCleans(t)
	}
	rows = []string{"motions\tcontrol\tbfloat16\tframes/s"}
	for _, v := range r.Rates {
		rows = append(rows, eval.Cells(fmt.Sprint(v.Motions), fmt.Sprint(v.Control), fmt.Sprint(v.BF16), fmt.Sprintf("%.0f", v.Rate)))
	}
	if len(r.Rates) > 0 {
		t.Section(fmt.Sprintf("Frames a second on %d threads", r.opt.Threads), rows...)
	}
	t.Table(fmt.Sprintf("%s in short: %d of %d bars missed, marked *", r.Model, r.Bars.Missed(), len(r.Bars)), 0, r.Bars.Rows())
	return t.Err
}
