package manifold

import (
	"math"

	"mannequin/netruntime/grad"
)

// styleState is where the descent of one motion stands.
type styleState struct {
	w      StyleWeights
	cost   float64    // at h
	square float64    // of the gradient's length, a step ago
	gram   [5]float64 // ‖G(Φ(S)) − G(h + t·dir)‖², a polynomial in t
	apart  [5]float64 // mean over time of ‖Φ(C) − h − t·dir‖², likewise
	done   bool
	failed bool
}

// settledCost is the share of the cost that a step must take off it for the
// descent to go on.
const settledCost = 1e-6

// styleTasks are the parts of a run that workers do motion by motion.
type styleTasks struct {
	begin, turn, step, extend, finish, report func(worker, b int)
}

// bind makes the tasks once, so that runs allocate nothing.
func (s *GramOptimizer) bind() {
	s.tasks = styleTasks{
		begin:  func(_, b int) { s.begin(b) },
		turn:   func(_, b int) { s.turn(b) },
		step:   func(_, b int) { s.step(b) },
		extend: func(_, b int) { s.extend(b) },
		finish: func(_, b int) { s.finish(b) },
		report: func(_, b int) { s.report(b) },
	}
}

// style returns what motion b shall have.
func (s *GramOptimizer) style(b int) *Style { return s.job.Styles[min(b, len(s.job.Styles)-1)] }

// weights returns those of motion b.
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

// gramAt returns the Gram matrix of sequence b among those of v.
func (s *GramOptimizer) gramAt(v *grad.Mat, b int) []float32 {
	n := s.model.Units * s.model.Units
	return v.Val[b*n : (b+1)*n]
}

// encodeRows finds the hidden values of all rows, and of the margins around them.
func (s *GramOptimizer) encodeRows() error {
	cols := s.model.Layout.Columns()
	n, long := s.job.Length*cols, s.job.Length+2*margin
	for b := range s.job.Batch {
		hold(s.frames[b*long*cols:][:long*cols], s.job.Rows[b*n:][:n], cols)
	}
	s.in[0], s.out[0] = s.frames, s.hidden
	return s.encode.RunSequences(s.out, s.in, s.job.Batch, long)
}

// decodeRows finds the frames of all hidden values, margins included.
func (s *GramOptimizer) decodeRows() error {
	s.in[0], s.out[0] = s.hidden, s.frames
	return s.decode.RunSequences(s.out, s.in, s.job.Batch, s.job.Length/2+margin)
}

// inner returns the hidden values of motion b without its margins.
func (s *GramOptimizer) inner(b int) []float32 {
	n := s.job.Length / 2
	return s.hidden[(b*(n+margin)+margin/2)*s.model.Units:][:n*s.model.Units]
}

// begin puts motion b at the start of its descent.
func (s *GramOptimizer) begin(b int) {
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
	gramOf(g, h, s.model.Units)
	sum := 0.0
	for i, v := range s.style(b).gram {
		d := g[i] - float64(v)
		sum += d * d
	}
	return sum
}

// descend takes all motions to the minima of their costs.
func (s *GramOptimizer) descend() {
	batch, frames, units := s.job.Batch, s.job.Length/2, s.model.Units
	n := batch * frames * units
	for step := 0; step < s.job.Iterations; step++ {
		s.tape.Reset()
		s.at = s.tape.Input(batch*frames, units)
		copy(s.at.Val, s.h[:n])
		s.atGram = s.tape.Gram(s.at, frames)
		want := s.tape.Const(batch*units, units)
		for b := range batch {
			copy(s.gramAt(want, b), s.style(b).gram)
		}
		s.tape.Backward(s.tape.SumSquares(s.tape.Sub(s.atGram, want)))
		s.line.Reset()
		s.probe = s.line.Const(2*batch*frames, units)
		s.pool.Run(batch, s.tasks.turn)
		s.ahead = s.line.Gram(s.probe, frames)
		s.pool.Run(batch, s.tasks.step)
		going := false
		for b := range batch {
			going = going || !s.state[b].done
		}
		if !going || s.job.Stop != nil && s.job.Stop() {
			return
		}
	}
}

// turn finds the cost of motion b, its gradient, and the direction of the next
// step (Polak and Ribière 1969).
func (s *GramOptimizer) turn(b int) {
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
	for i, v := range s.part(s.at.Grad, b) {
		off := h[i] - content[i]
		v = toStyle*v + toContent*off
		g[i] = v
		square += float64(v) * float64(v)
		turned += float64(v) * float64(last[i])
		apart += float64(off) * float64(off)
	}
	st.apart = [5]float64{apart / float64(frames)}
	st.gram = [5]float64{}
	for i, v := range s.gramAt(s.atGram, b) {
		r := float64(v) - float64(s.style(b).gram[i])
		st.gram[0] += r * r
	}
	st.cost = st.w.cost(st.gram[0], st.apart[0])
	if s.reports[b].Steps == 0 {
		s.reports[b].Before = st.cost
	}
	beta := 0.0
	if st.square > 0 {
		beta = max(0, (square-turned)/st.square)
	}
	st.square = square
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

// step takes motion b to the minimum along its direction: G(h + t·d) = G(h) +
// t·G₁ + t²·G₂, so that the cost is a polynomial in t.
func (s *GramOptimizer) step(b int) {
	st := &s.state[b]
	if st.done {
		return
	}
	frames := float64(s.job.Length / 2)
	h, content, d := s.part(s.h, b), s.part(s.content, b), s.part(s.dir, b)
	second, sum := s.gramAt(s.ahead, b), s.gramAt(s.ahead, s.job.Batch+b)
	want := s.style(b).gram
	for i, v := range s.gramAt(s.atGram, b) {
		g2 := float64(second[i])
		g1 := float64(sum[i]) - float64(v) - g2
		r := float64(v) - float64(want[i])
		st.gram[1] += 2 * r * g1
		st.gram[2] += g1*g1 + 2*r*g2
		st.gram[3] += 2 * g1 * g2
		st.gram[4] += g2 * g2
	}
	for i, v := range d {
		st.apart[1] += 2 * float64(h[i]-content[i]) * float64(v) / frames
		st.apart[2] += float64(v) * float64(v) / frames
	}
	var p [5]float64
	for i := range p {
		p[i] = st.w.cost(st.gram[i], st.apart[i])
	}
	t := lowest(p)
	cost := at(p, t)
	if !(cost < st.cost) {
		noise := s.reports[b].Steps == 0 && s.job.Start == FromNoise // which is no motion
		st.done, st.failed = true, noise || !finite(st.cost)
		return
	}
	move(h, d, t)
	st.gram[0], st.apart[0] = at(st.gram, t), at(st.apart, t)
	st.done = st.cost-cost <= settledCost*st.cost
	st.cost = cost
	s.reports[b].Steps++
}

// at returns the value of a polynomial.
func at(p [5]float64, t float64) float64 {
	return p[0] + t*(p[1]+t*(p[2]+t*(p[3]+t*p[4])))
}

// lowest returns a minimum at t > 0 of a polynomial that falls at 0 and rises in
// the end: where its slope changes sign.
func lowest(p [5]float64) float64 {
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

// extend writes the hidden values found in place of the content's. In the
// margins those of the content change as they do at the ends: the filters reach
// over them.
func (s *GramOptimizer) extend(b int) {
	r, st := &s.reports[b], &s.state[b]
	r.After, r.Content, r.GramHidden = st.cost, st.apart[0], st.gram[0]
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

// finish takes the poses of motion b from the frames made: its body and its
// contacts stay the content's.
func (s *GramOptimizer) finish(b int) {
	l := s.model.Layout
	cols, contacts := l.Columns(), len(l.Contacts)
	for f := range s.job.Length {
		row := s.job.Rows[(b*s.job.Length+f)*cols:][:cols]
		for i := range contacts {
			s.stand[(b*s.job.Length+f)*contacts+i] = min(max(row[l.Contact(i)], 0), 1)
		}
		copy(row[:l.Body()], s.frames[(b*(s.job.Length+2*margin)+margin+f)*cols:])
	}
}

// report finds how near the style motion b has come. One that went wrong is put
// back.
func (s *GramOptimizer) report(b int) {
	r, st := &s.reports[b], &s.state[b]
	if !st.failed {
		r.GramResult = s.distance(s.inner(b), b)
		st.failed = !finite(r.GramResult)
	}
	if st.failed {
		*r = StyleReport{Steps: r.Steps, Failed: true}
		n := s.job.Length * s.model.Layout.Columns()
		copy(s.job.Rows[b*n:(b+1)*n], s.kept[b*n:])
	}
}
