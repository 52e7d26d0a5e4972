package netruntime

import (
	"mannequin/internal/kernel"
)

// lstm is a long short-term memory. The gates' weights are laid out such that
// the four gates of a block of hidden units are neighbouring panels: the worker
// that computes them has all that the units' new state takes, and a frame costs
// one barrier instead of two.
type lstm struct {
	x, out  int
	states  [2]int // h after the even and the odd steps, its rows close together
	h0, c0  int    // first state, or −1
	h, c    int    // last state; c holds the state while the sequence runs
	wantH   bool
	units   int
	unit    int // hidden units of a block
	wx, wh  weights
	bias    []float32
	reverse bool
	weighty bool
}

// weights is a right side in one of the two types.
type weights struct {
	full *kernel.Packed
	half *kernel.PackedBF16
}

func (w weights) mul(s *kernel.Scratch, c, a kernel.Matrix, a16 kernel.MatrixBF16, rows int, add bool, ep kernel.Epilogue, p0, p1 int) {
	if w.half != nil {
		w.half.Mul(s, c, one, a16, rows, add, ep, p0, p1)
		return
	}
	w.full.Mul(s, c, one, a, rows, add, ep, p0, p1)
}

// gateFloats is how many gates an LSTM computes from its input ahead of the
// recurrence: what stays in the second-level cache.
const gateFloats = 128 << 10

func (c *compiler) lstm(n *boundNode) {
	h, in := n.size['H'], n.size['I']
	o := &lstm{x: n.in[0], out: n.out, h0: -1, c0: -1, h: n.out + 1, c: n.out + 2, units: h, reverse: n.Reverse}
	if len(n.in) == 3 {
		o.h0, o.c0 = n.in[1], n.in[2]
	}
	o.wantH = len(c.reads[o.h]) > 0 || c.isOut[o.h]
	o.weighty = 4*h*(h+in) >= heavyWeights
	half := o.weighty && c.key.bf16
	o.unit = c.key.kind.PanelCols()
	wx, wh, bias := c.data(n, "weight"), c.data(n, "recurrent"), c.data(n, "bias")
	var px, ph []float32
	for u := 0; u < h; u += o.unit {
		units := min(o.unit, h-u)
		for gate := range 4 {
			r := gate*h + u
			px = append(px, wx[r*in:(r+units)*in]...)
			ph = append(ph, wh[r*h:(r+units)*h]...)
			o.bias = append(o.bias, bias[r:r+units]...)
		}
	}
	if half {
		o.wx.half, o.wh.half = kernel.PackBF16(true, 1, in, 4*h, px, in), kernel.PackBF16(true, 1, h, 4*h, ph, h)
		c.values[o.x].half = true
		if o.h0 >= 0 {
			c.values[o.h0].half = true
		}
	} else {
		o.wx.full, o.wh.full = kernel.Pack(true, 1, in, 4*h, px, in), kernel.Pack(true, 1, h, 4*h, ph, h)
	}
	for i := range o.states {
		o.states[i] = len(c.values)
		c.values = append(c.values, place{channels: h, span: span{once: true}, half: half, at: buffer})
	}
	c.ops = append(c.ops, o)
	c.gates, c.steps = max(c.gates, o.gateRow()), max(c.steps, in)
}

// isSequential says that an operation's rows are sequences.
func isSequential(o op) bool { _, ok := o.(*lstm); return ok }

func (o *lstm) grid() (int, int) { return o.c, (o.units + o.unit - 1) / o.unit }
func (o *lstm) local() bool      { return false }
func (o *lstm) heavy() bool      { return o.weighty }

func (o *lstm) uses() (in, out []int) {
	in, out = []int{o.x}, []int{o.out, o.c, o.states[0], o.states[1]}
	if o.h0 >= 0 {
		in = append(in, o.h0, o.c0)
	}
	if o.wantH {
		out = append(out, o.h)
	}
	return in, out
}

// gateRow is the distance between rows of gates: a cache line more than they
// take, because rows of some thousand bytes apart, a power of two, would share
// few sets of the first-level cache.
func (o *lstm) gateRow() int { return 4*o.units + 16 }

// ahead returns how many frames of n sequences are projected at once.
func (o *lstm) ahead(n, frames int) int { return min(frames, max(1, gateFloats/(n*o.gateRow()))) }

// run takes sequences [r0, r1) through all frames.
func (o *lstm) run(t *task, r0, r1, _, _ int) {
	if r0 == r1 {
		return
	}
	whole := t.block
	t.block = block{whole.first + r0, whole.slot + r0, whole.part, r1 - r0}
	frames := t.s.views[o.x].frames
	_, blocks := o.grid()
	ahead := o.ahead(t.block.n, frames)
	gates := t.s.gates[t.worker*t.s.gateSize:]
	for u := range frames {
		if u%ahead == 0 {
			o.project(t, gates, u, min(ahead, frames-u), 0, blocks)
		}
		o.step(t, gates, u, 0, blocks)
	}
	t.block = whole
}

// gate returns the distances between frames and between sequences of the
// gates: by sequence where all frames are there, so that unpadded input is one
// matrix.
func (o *lstm) gate(n, frames int) (frame, seq int) {
	if o.ahead(n, frames) == frames {
		return o.gateRow(), frames * o.gateRow()
	}
	return n * o.gateRow(), o.gateRow()
}

// project computes what the input adds to the gates at n steps from u on, for
// blocks [b0, b1) of hidden units.
func (o *lstm) project(t *task, gates []float32, u, n, b0, b1 int) {
	x := &t.s.views[o.x]
	from := u // first frame
	if o.reverse {
		from = x.frames - u - n
	}
	frame, seq := o.gate(t.block.n, x.frames)
	p0, p1 := o.panels(b0, b1)
	ep := kernel.Epilogue{Bias: o.bias}
	mul := func(g []float32, stride int, at stretch, rows int) {
		a := kernel.Matrix{Data: t.f32(o.x, at), Stride: x.width}
		var a16 kernel.MatrixBF16
		if o.wx.half != nil {
			a16 = kernel.MatrixBF16{Data: t.f16(o.x, at), Stride: x.width}
		}
		o.wx.mul(t.scratch, kernel.Matrix{Data: g, Stride: stride}, a, a16, rows, false, ep, p0, p1)
	}
	switch {
	case n == x.frames && x.seq == x.frames*x.width:
		mul(gates, frame, stretch{}, n*t.block.n)
	case n >= t.block.n:
		for q := range t.block.n {
			mul(gates[q*seq:], frame, stretch{q: q, f: from}, n)
		}
	default:
		for i := range n {
			a, a16 := o.frame(t, from+i)
			o.wx.mul(t.scratch, kernel.Matrix{Data: gates[i*frame:], Stride: seq}, a, a16, t.block.n, false, ep, p0, p1)
		}
	}
}

// frame copies a frame of all sequences together: rows that are whole
// sequences apart would fall on the same few lines of the first-level cache.
func (o *lstm) frame(t *task, f int) (kernel.Matrix, kernel.MatrixBF16) {
	w := t.width(o.x)
	if o.wx.half != nil {
		for q := range t.block.n {
			copy(t.steps16[q*w:][:w], t.f16(o.x, stretch{q: q, f: f}))
		}
		return kernel.Matrix{}, kernel.MatrixBF16{Data: t.steps16, Stride: w}
	}
	for q := range t.block.n {
		copy(t.steps[q*w:][:w], t.f32(o.x, stretch{q: q, f: f}))
	}
	return kernel.Matrix{Data: t.steps, Stride: w}, kernel.MatrixBF16{}
}

// panels returns the panels of blocks of hidden units.
func (o *lstm) panels(b0, b1 int) (p0, p1 int) {
	all := (4*o.units + o.unit - 1) / o.unit
	return min(4*b0, all), min(4*b1, all)
}

// step computes the state at step u, for blocks [b0, b1) of hidden units.
func (o *lstm) step(t *task, gates []float32, u, b0, b1 int) {
	n, frames := t.block.n, t.s.views[o.x].frames
	ahead := o.ahead(n, frames)
	first := u / ahead * ahead // of the steps whose gates are there
	f, i := u, u-first
	if o.reverse {
		f, i = frames-1-u, min(ahead, frames-first)-1-i
	}
	frame, seq := o.gate(n, frames)
	gates = gates[i*frame:]
	u0, u1 := b0*o.unit, min(b1*o.unit, o.units)
	switch {
	case u > 0:
		o.recur(t, gates, seq, o.states[(u-1)%2], b0, b1)
	case o.h0 >= 0:
		o.recur(t, gates, seq, o.h0, b0, b1)
	}
	last := u == frames-1
	for q := range n {
		at := stretch{q: q, n: 1}
		h, state := t.f32(o.states[u%2], at), t.f32(o.c, at)
		switch {
		case u > 0:
		case o.c0 >= 0:
			copy(state[u0:u1], t.f32(o.c0, at)[u0:u1])
		default:
			clear(state[u0:u1])
		}
		for v := u0; v < u1; v += o.unit {
			w := min(v+o.unit, o.units)
			kernel.LSTMCell(h[v:w], state[v:w], gates[q*seq+4*v:q*seq+4*w])
		}
		t.finishColumns(o.states[u%2], at, o.units, u0, u1)
		to := stretch{q: q, f: f, n: 1}
		copy(t.f32(o.out, to)[u0:u1], h[u0:u1])
		t.finishColumns(o.out, to, o.units, u0, u1)
		if last {
			t.finishColumns(o.c, at, o.units, u0, u1)
			if o.wantH {
				copy(t.f32(o.h, at)[u0:u1], h[u0:u1])
				t.finishColumns(o.h, at, o.units, u0, u1)
			}
		}
	}
}

// recur adds the recurrent product of a state to the gates.
func (o *lstm) recur(t *task, gates []float32, seq, state, b0, b1 int) {
	p0, p1 := o.panels(b0, b1)
	distance := t.s.views[state].seq
	a := kernel.Matrix{Data: t.f32(state, stretch{}), Stride: distance}
	var a16 kernel.MatrixBF16
	if o.wh.half != nil {
		a16 = kernel.MatrixBF16{Data: t.f16(state, stretch{}), Stride: distance}
	}
	o.wh.mul(t.scratch, kernel.Matrix{Data: gates, Stride: seq}, a, a16, t.block.n, true, kernel.Epilogue{}, p0, p1)
}
