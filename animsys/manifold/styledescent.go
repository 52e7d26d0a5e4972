package manifold

import (
	"math"

	"mannequin/netruntime/grad"
)

// styleState is the state of one motion's descent.
type styleState struct {
	w          StyleWeights
	cost       float64    // at h
	gradSquare float64    // squared length of the previous gradient
	gram       [5]float64 // ‖G(Φ(S)) − G(h + t·dir)‖², a polynomial in t
	content    [5]float64 // mean over time of ‖Φ(C) − h − t·dir‖², a polynomial in t
	done       bool
	failed     bool
}

// settledCost is the relative decrease below which a descent ends.
const settledCost = 1e-6

// styleTasks are the parts of a run that workers do per motion.
type styleTasks struct {
	begin, direction, line, margins, poses, report func(worker, b int)
}

// bind creates the tasks once, so that runs do not allocate.
func (s *GramOptimizer) bind() {
	s.tasks = styleTasks{s.begin, s.searchDirection, s.lineSearch, s.fillMargins, s.takePoses, s.report}
}

// style returns the style of motion b.
func (s *GramOptimizer) style(b int) *Style { return s.job.Styles[min(b, len(s.job.Styles)-1)] }

// weights returns the weights of motion b.
func (s *GramOptimizer) weights(b int) StyleWeights {
	if n := len(s.job.Weights); n > 0 {
		return s.job.Weights[min(b, n-1)]
	}
	return s.style(b).Weights()
}

// part returns motion b of a buffer of hidden values.
func (s *GramOptimizer) part(v []float32, b int) []float32 {
	n := s.job.Length / 2 * s.model.Units
	return v[b*n : (b+1)*n : (b+1)*n]
}

// gramAt returns the Gram matrix of sequence b in v.
func (s *GramOptimizer) gramAt(v *grad.Mat, b int) []float32 {
	n := s.model.Units * s.model.Units
	return v.Val[b*n : (b+1)*n]
}

// encodeRows encodes all rows with margins around them.
func (s *GramOptimizer) encodeRows() error {
	cols := s.model.Layout.Columns()
	n, long := s.job.Length*cols, s.job.Length+2*margin
	for b := range s.job.Batch {
		padEnds(s.frames[b*long*cols:][:long*cols], s.job.Rows[b*n:][:n], cols)
	}
	return s.encodeFrames(s.job.Batch, long)
}

// inner returns the hidden values of motion b without margins.
func (s *GramOptimizer) inner(b int) []float32 {
	n := s.job.Length / 2
	return s.hidden[(b*(n+margin)+margin/2)*s.model.Units:][:n*s.model.Units]
}

// begin initialises the descent of motion b.
func (s *GramOptimizer) begin(_, b int) {
	h, c := s.part(s.h, b), s.part(s.content, b)
	copy(c, s.inner(b))
	switch s.job.Start {
	case FromNoise:
		whiteNoise(h, s.job.Seed)
	case FromContent:
		copy(h, c)
	case FromHidden:
		copy(h, s.part(s.job.Hidden, b))
	}
	s.state[b], s.reports[b] = styleState{w: s.weights(b)}, StyleReport{GramContent: s.distance(c, b)}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// whiteNoise fills v with normally distributed values (Box and Muller 1958).
func whiteNoise(v []float32, seed uint64) {
	unit := func(i int) float64 { return (float64(grad.Hash(seed, uint64(i))>>11) + 0.5) / (1 << 53) }
	for i := range v {
		v[i] = float32(math.Sqrt(-2*math.Log(unit(2*i))) * math.Cos(2*math.Pi*unit(2*i+1)))
	}
}

// distance returns ‖G(Φ(S)) − G(h)‖² for the style of motion b.
func (s *GramOptimizer) distance(h []float32, b int) float64 {
	g := s.scratch[b]
	gramMatrix(g, h, s.model.Units)
	sum := 0.0
	for i, v := range s.style(b).gram {
		d := g[i] - float64(v)
		sum += d * d
	}
	return sum
}

// descend minimises the costs of all motions.
func (s *GramOptimizer) descend() {
	batch, frames, units := s.job.Batch, s.job.Length/2, s.model.Units
	n := batch * frames * units
	for step := 0; step < s.job.Iterations; step++ {
		s.tape.Reset()
		s.input = s.tape.Input(batch*frames, units)
		copy(s.input.Val, s.h[:n])
		s.gram = s.tape.Gram(s.input, frames)
		want := s.tape.Const(batch*units, units)
		for b := range batch {
			copy(s.gramAt(want, b), s.style(b).gram)
		}
		s.tape.Backward(s.tape.SumSquares(s.tape.Sub(s.gram, want)))
		s.line.Reset()
		s.probe = s.line.Const(2*batch*frames, units)
		s.pool.Run(batch, s.tasks.direction)
		s.probeGram = s.line.Gram(s.probe, frames)
		s.pool.Run(batch, s.tasks.line)
		going := false
		for b := range batch {
			going = going || !s.state[b].done
		}
		if !going || s.job.Stop != nil && s.job.Stop() {
			return
		}
	}
}

// searchDirection computes the cost of motion b, its gradient and the next search direction (Polak
// and Ribière 1969).
func (s *GramOptimizer) searchDirection(_, b int) {
	st, h, d := &s.state[b], s.part(s.h, b), s.part(s.dir, b)
	n := s.job.Length / 2 * s.model.Units
	ahead, beyond := s.probe.Val[b*n:][:n], s.probe.Val[(s.job.Batch+b)*n:][:n]
	if st.done {
		clear(ahead)
		clear(beyond)
		return
	}
	content, g, last := s.part(s.content, b), s.part(s.grad, b), s.part(s.last, b)
	frames := float32(s.job.Length / 2)
	square, turned, apart := 0.0, 0.0, 0.0
	toStyle, toContent := st.w.Style, 2*st.w.Content/frames
	for i, v := range s.part(s.input.Grad, b) {
		off := h[i] - content[i]
		v = toStyle*v + toContent*off
		g[i] = v
		square += float64(v) * float64(v)
		turned += float64(v) * float64(last[i])
		apart += float64(off) * float64(off)
	}
	st.content = [5]float64{apart / float64(frames)}
	st.gram = [5]float64{}
	for i, v := range s.gramAt(s.gram, b) {
		r := float64(v) - float64(s.style(b).gram[i])
		st.gram[0] += r * r
	}
	st.cost = st.w.cost(st.gram[0], st.content[0])
	if s.reports[b].Steps == 0 {
		s.reports[b].Before = st.cost
	}
	beta := 0.0
	if st.gradSquare > 0 {
		beta = max(0, (square-turned)/st.gradSquare)
	}
	st.gradSquare = square
	slope := 0.0
	for i, v := range g {
		d[i] = float32(beta)*d[i] - v
		if beta == 0 {
			d[i] = -v
		}
		slope += float64(v) * float64(d[i])
	}
	if slope >= 0 {
		for i, v := range g {
			d[i] = -v
		}
	}
	copy(last, g)
	copy(ahead, d)
	for i, v := range d {
		beyond[i] = h[i] + v
	}
}

func (w StyleWeights) cost(gram, apart float64) float64 {
	return float64(w.Style)*gram + float64(w.Content)*apart
}

// lineSearch moves motion b to the minimum along its direction: G(h + t·d) = G(h) + t·G₁ + t²·G₂,
// so the cost is a polynomial in t.
func (s *GramOptimizer) lineSearch(_, b int) {
	st := &s.state[b]
	if st.done {
		return
	}
	frames := float64(s.job.Length / 2)
	h, content, d := s.part(s.h, b), s.part(s.content, b), s.part(s.dir, b)
	second, sum := s.gramAt(s.probeGram, b), s.gramAt(s.probeGram, s.job.Batch+b)
	want := s.style(b).gram
	for i, v := range s.gramAt(s.gram, b) {
		g2 := float64(second[i])
		g1 := float64(sum[i]) - float64(v) - g2
		r := float64(v) - float64(want[i])
		st.gram[1] += 2 * r * g1
		st.gram[2] += g1*g1 + 2*r*g2
		st.gram[3] += 2 * g1 * g2
		st.gram[4] += g2 * g2
	}
	for i, v := range d {
		st.content[1] += 2 * float64(h[i]-content[i]) * float64(v) / frames
		st.content[2] += float64(v) * float64(v) / frames
	}
	var p [5]float64
	for i := range p {
		p[i] = st.w.cost(st.gram[i], st.content[i])
	}
	t := lineMinimum(p)
	cost := evalPoly(p, t)
	if !(cost < st.cost) {
		noise := s.reports[b].Steps == 0 && s.job.Start == FromNoise // white noise is no motion
		st.done, st.failed = true, noise || !finite(st.cost)
		return
	}
	axpy(h, d, t)
	st.gram[0], st.content[0] = evalPoly(st.gram, t), evalPoly(st.content, t)
	st.done = st.cost-cost <= settledCost*st.cost
	st.cost = cost
	s.reports[b].Steps++
}

// evalPoly returns the value of a polynomial at t.
func evalPoly(p [5]float64, t float64) float64 { return p[0] + t*(p[1]+t*(p[2]+t*(p[3]+t*p[4]))) }

// lineMinimum returns a minimum at t > 0 of a polynomial that falls at 0 and rises for large t. It
// bisects the sign of the slope.
func lineMinimum(p [5]float64) float64 {
	rises := func(t float64) bool { return p[1]+t*(2*p[2]+t*(3*p[3]+t*4*p[4])) > 0 }
	low, high := 0.0, 1e-9
	for !rises(high) {
		if low, high = high, 2*high; !(high < 1e12) {
			return 0
		}
	}
	for range 60 {
		if mid := (low + high) / 2; rises(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return low
}

// fillMargins replaces the content's hidden values with the result. The margins change as the ends
// do, because filters reach into them.
func (s *GramOptimizer) fillMargins(_, b int) {
	r, st := &s.reports[b], &s.state[b]
	r.After, r.Content, r.GramHidden = st.cost, st.content[0], st.gram[0]
	units, frames := s.model.Units, s.job.Length/2
	h, content := s.part(s.h, b), s.part(s.content, b)
	if s.job.Hidden != nil && !st.failed {
		copy(s.part(s.job.Hidden, b), h)
	}
	all := s.hidden[b*(frames+margin)*units:][:(frames+margin)*units]
	for f := range frames + margin {
		at := min(max(f-margin/2, 0), frames-1)
		for i := range units {
			all[f*units+i] += h[at*units+i] - content[at*units+i]
		}
	}
}

// takePoses copies the poses of motion b from the decoded frames. The body's motion and the
// contacts stay the content's.
func (s *GramOptimizer) takePoses(_, b int) {
	l := s.model.Layout
	cols, contacts := l.Columns(), len(l.Contacts)
	rows := s.job.Rows[b*s.job.Length*cols:][:s.job.Length*cols]
	l.Level(s.level[b*s.job.Length*contacts:][:s.job.Length*contacts], rows, Rate)
	for f := range s.job.Length {
		row := rows[f*cols:][:cols]
		for i := range contacts {
			s.stand[(b*s.job.Length+f)*contacts+i] = min(max(row[l.Contact(i)], 0), 1)
		}
		copy(row[:l.Body()], s.frames[(b*(s.job.Length+2*margin)+margin+f)*cols:])
	}
}

// report measures how near motion b is to the style. A failed motion is restored.
func (s *GramOptimizer) report(_, b int) {
	r, st := &s.reports[b], &s.state[b]
	if !st.failed {
		r.GramResult = s.distance(s.inner(b), b)
		st.failed = !finite(r.GramResult)
	}
	if st.failed {
		*r = StyleReport{Steps: r.Steps, Failed: true}
		n := s.job.Length * s.model.Layout.Columns()
		copy(s.job.Rows[b*n:(b+1)*n], s.original[b*n:])
	}
}
