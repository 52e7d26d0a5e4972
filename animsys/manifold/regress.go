package manifold

import (
	"mannequin/animsys/feature"
	"mannequin/animsys/internal/linsolve"
)

// Missing joints are predicted from the others: a ridge regression from the known values around a
// frame, fitted to the frames of the same motion in which nothing is missing.

// regressTaps are the offsets of the frames that predict a frame's joints.
var regressTaps = []int{-12, -6, 0, 6, 12}

const (
	ridge       = 1.0  // penalty of the squared weights, m² over frames
	turnScale   = 0.13 // scale of the body's motion, m per m/s or rad/s: about as large as positions
	regressMost = 1500 // frames that it learns from
	trials      = 4    // artificial gaps that measure its error
	atLeast     = 60   // training frames; with fewer there is no regression
)

// regression predicts the columns that miss in a gap from features of a frame.
type regression struct {
	x       []float32 // (frames, cols)
	missing []bool    // (frames, cols)
	cols    int
	body    int   // first column of the body's motion
	inputs  []int // known columns, its inputs
	outputs []int // predicted columns
	frames  []int // to learn from
	size    int   // features, with a constant 1
}

// regress fills gap g in x by regression, as far as trials show that it beats the values in x.
func (m *Model) regress(x, known []float32, missing []bool, g Gap) {
	cols, body := m.Layout.Columns(), m.Layout.Body()
	frames := len(x) / cols
	r := &regression{x: known, missing: missing, cols: cols, body: body}
	within := func(f int) int { return min(max(f, 0), frames-1) }
	for c := range body + feature.MotionLen {
		gone := false // missing in a frame that predict reads
		for f := g.From - 1 + regressTaps[0]; f <= g.To-regressTaps[0] && !gone; f++ {
			gone = missing[within(f)*cols+c]
		}
		inGap := false
		for f := g.From; f < g.To && !inGap; f++ {
			inGap = missing[f*cols+c]
		}
		switch {
		case inGap && c < body:
			r.outputs = append(r.outputs, c)
		case !gone:
			r.inputs = append(r.inputs, c)
		}
	}
	r.size = len(regressTaps)*len(r.inputs) + 1
	for f := range frames {
		ok := true
		for _, k := range regressTaps {
			for _, c := range r.inputs {
				ok = ok && !missing[within(f+k)*cols+c]
			}
		}
		for _, c := range r.outputs {
			ok = ok && !missing[f*cols+c]
		}
		if ok {
			r.frames = append(r.frames, f)
		}
	}
	if len(r.inputs) == 0 || len(r.frames) < atLeast {
		return
	}
	trust := r.trial(m, g.To-g.From)
	if trust == 0 {
		return
	}
	predicted := r.predict(g.From, g.To, func(f int) bool { return f < g.From || f >= g.To })
	r.meetEnds(predicted, g.From, g.To, func(f, c int) (float32, bool) {
		if f < 0 || f >= frames || missing[f*cols+c] {
			return 0, false
		}
		return known[f*cols+c], true
	})
	for f := g.From; f < g.To; f++ {
		for i, c := range r.outputs {
			if v := &x[f*cols+c]; missing[f*cols+c] {
				*v += trust * (predicted[(f-g.From+1)*len(r.outputs)+i] - *v)
			}
		}
	}
}

// trial returns the weight of the regression, 0 to 1, beside a curve for gaps of the given length:
// the weight that is best for artificial gaps in the known motion.
func (r *regression) trial(m *Model, length int) float32 {
	n := len(r.outputs)
	var along, square float64
	done := 0
	for k := range 4 * trials {
		from := r.frames[len(r.frames)*k/(4*trials)]
		to := from + length
		i := len(r.frames) * k / (4 * trials)
		if done == trials || i+length+1 >= len(r.frames) || i == 0 || r.frames[i-1] != from-1 || r.frames[i+length] != to {
			continue // not known throughout, with a frame on both sides
		}
		done++
		predicted := r.predict(from, to, func(f int) bool { return f < from || f >= to })
		r.meetEnds(predicted, from, to, func(f, c int) (float32, bool) { return r.x[f*r.cols+c], true })
		curve := append([]float32(nil), r.x[:min(len(r.x), (to+2)*r.cols)]...)
		for i, c := range r.outputs {
			m.bridge(curve, r.missing, c, from, to)
			for f := from; f < to; f++ {
				d := float64(predicted[(f-from+1)*n+i] - curve[f*r.cols+c])
				along += d * float64(r.x[f*r.cols+c]-curve[f*r.cols+c])
				square += d * d
			}
		}
	}
	switch {
	case done == 0:
		return 1 // nothing else is known of such a gap
	case square == 0:
		return 0
	}
	return float32(min(max(along/square, 0), 1))
}

// feature writes the features of frame f.
func (r *regression) feature(dst []float64, f int) {
	last, i := len(r.x)/r.cols-1, 0
	for _, k := range regressTaps {
		row := r.x[min(max(f+k, 0), last)*r.cols:][:r.cols]
		for _, c := range r.inputs {
			if dst[i] = float64(row[c]); c >= r.body {
				dst[i] *= turnScale
			}
			i++
		}
	}
	dst[i] = 1
}

// predict returns the predicted columns of frames from−1 to to, (to−from+2, columns). use selects
// the training frames.
func (r *regression) predict(from, to int, use func(f int) bool) []float32 {
	d, n := r.size, len(r.outputs)
	a, b := make([]float64, d*d), make([]float64, d*n)
	v, every := make([]float64, d), max(1, len(r.frames)/regressMost)
	for i := 0; i < len(r.frames); i += every {
		f := r.frames[i]
		if !use(f) {
			continue
		}
		r.feature(v, f)
		for p, w := range v {
			row := a[p*d:][:p+1]
			for q := range row {
				row[q] += w * v[q]
			}
			for q, c := range r.outputs {
				b[p*n+q] += w * float64(r.x[f*r.cols+c])
			}
		}
	}
	for p := range d - 1 {
		a[p*d+p] += ridge
	}
	a[d*d-1] += 1e-6 // the constant is free
	linsolve.Factor(a, d, 1e-12)
	linsolve.Substitute(a, b, d, n)
	out := make([]float32, (to-from+2)*n)
	for f := from - 1; f <= to; f++ {
		r.feature(v, f)
		for q := range n {
			sum := 0.0
			for p, w := range v {
				sum += w * b[p*n+q]
			}
			out[(f-from+1)*n+q] = float32(sum)
		}
	}
	return out
}

// meet shifts the predictions of frames from−1 to to so that they meet the known values at both
// ends.
func (r *regression) meetEnds(predicted []float32, from, to int, known func(f, c int) (float32, bool)) {
	n, last := len(r.outputs), to-from+1
	for i, c := range r.outputs {
		var a, b float32
		before, okA := known(from-1, c)
		after, okB := known(to, c)
		if okA {
			a = before - predicted[i]
		}
		if okB {
			b = after - predicted[last*n+i]
		}
		if !okA {
			a = b
		}
		if !okB {
			b = a
		}
		for k := range last + 1 {
			t := float32(k) / float32(last)
			predicted[k*n+i] += a + t*(b-a)
		}
	}
}
