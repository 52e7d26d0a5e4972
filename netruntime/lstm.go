package netruntime

import (
	"mannequin/netruntime/internal/kernel"
)

// lstm is a long short-term memory. The four gates of a block of hidden units have neighbouring
// panels of weights. The worker that computes them has everything that the units' new state needs,
// so a frame costs one barrier instead of two.
type lstm struct {
	x, out  int
	states  [2]int // h after the even and the odd steps, in contiguous rows
	h0, c0  int    // first state, or −1
	h, c    int    // last state; c holds the state while the sequence runs
	wantH   bool
	units   int
	unit    int // hidden units of a block
	wx, wh  *kernel.Packed
	half    bool // the weights are in bfloat16
	bias    []float32
	reverse bool
	big     bool
}

// gateFloats is the most gates that an LSTM computes from its input ahead of the recurrence, so
// that they stay in the second-level cache.
const gateFloats = 128 << 10

// copyRows is the most rows, whole sequences apart, that are read in place. More rows would compete
// for few sets of the caches, and are copied together.
const copyRows = 16

func (c *compiler) lstm(n *boundNode) {
	h, in := n.size['H'], n.size['I']
	o := &lstm{x: n.in[0], out: n.out, h0: -1, c0: -1, h: n.out + 1, c: n.out + 2, units: h, reverse: n.Reverse}
	if len(n.in) == 3 {
		o.h0, o.c0 = n.in[1], n.in[2]
	}
	o.wantH = len(c.reads[o.h]) > 0 || c.isOut[o.h]
	o.big = 4*h*(h+in) >= HeavyWeights
	o.half = o.big && c.key.bf16
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
	pack := kernel.Pack
	if o.half {
		pack = kernel.PackBF16
		c.values[o.x].half = true
		if o.h0 >= 0 {
			c.values[o.h0].half = true
		}
	}
	o.wx, o.wh = pack(true, 1, in, 4*h, px, in), pack(true, 1, h, 4*h, ph, h)
	for i := range o.states {
		o.states[i] = len(c.values)
		c.values = append(c.values, place{channels: h, span: single, half: o.half, at: buffer})
	}
	c.ops = append(c.ops, o)
	c.gates, c.steps = max(c.gates, min(4*o.unit, o.gateRow())), max(c.steps, in)
}

// isSequential reports whether an operation's rows are sequences.
func isSequential(o op) bool { _, ok := o.(*lstm); return ok }

func (o *lstm) grid() (int, int) { return o.c, (o.units + o.unit - 1) / o.unit }
func (o *lstm) local() bool      { return false }
func (o *lstm) heavy() bool      { return o.big }

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

// gateRow returns the number of floats of all gates of a sequence at one step.
func (o *lstm) gateRow() int { return roundUp(4*o.units, o.unit) }

// ahead returns the number of steps for which the input of n sequences is projected at once. 1
// means that each step projects its own input, if that gives a pass over the weights as many rows.
func (o *lstm) ahead(n, frames int) int {
	ahead := min(frames, gateFloats/(n*o.gateRow()))
	if ahead <= n {
		return 1
	}
	return ahead
}

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
	gates := t.gates(t.worker)
	for u := range frames {
		if ahead > 1 && u%ahead == 0 {
			o.project(t, gates, u, 0, blocks)
		}
		o.step(t, gates, u, 0, blocks)
		t.s.pool.Rest()
	}
	t.block = whole
}

// project computes the input's part of the gates for the steps from u on and blocks [b0, b1) of
// hidden units. The gates are ordered by panel, step and sequence, so that each step's gates are
// panels too.
func (o *lstm) project(t *task, gates []float32, u, b0, b1 int) {
	frames, n := t.s.views[o.x].frames, t.block.n
	ahead := o.ahead(n, frames)
	from, steps := u, min(ahead, frames-u)
	if o.reverse {
		from = frames - u - steps
	}
	p0, p1 := o.panels(b0, b1)
	stride := ahead * n * o.unit
	for q := range n {
		c := kernel.Panels{Data: gates[p0*stride+q*o.unit:], Stride: stride, Row: n * o.unit}
		o.wx.MulPanels(t.scratch, c, t.operand(o.x, stretch{q: q, f: from}, t.width(o.x), o.half), steps, false, p0, p1)
	}
}

// frame returns a frame of all sequences.
func (o *lstm) frame(t *task, f int) kernel.Operand {
	w, x := t.width(o.x), &t.s.views[o.x]
	if t.block.n <= copyRows || x.seq == w {
		return t.operand(o.x, stretch{f: f}, x.seq, o.half)
	}
	for q := range t.block.n {
		if at := (stretch{q: q, f: f}); o.half {
			copy(t.steps16[q*w:][:w], t.f16(o.x, at))
		} else {
			copy(t.steps[q*w:][:w], t.f32(o.x, at))
		}
	}
	return kernel.Operand{F32: t.steps, BF16: t.steps16, Stride: w}
}

// panels returns the panels of blocks of hidden units.
func (o *lstm) panels(b0, b1 int) (p0, p1 int) {
	all := o.gateRow() / o.unit
	return min(4*b0, all), min(4*b1, all)
}

// step computes the state at step u, for blocks [b0, b1) of hidden units.
func (o *lstm) step(t *task, gates []float32, u, b0, b1 int) {
	n, frames := t.block.n, t.s.views[o.x].frames
	ahead := o.ahead(n, frames)
	f, i := u, u%ahead
	if o.reverse {
		f, i = frames-1-u, min(ahead, frames-u+i)-1-i
	}
	before, next := o.h0, o.states[u%2]
	if u > 0 {
		before = o.states[(u-1)%2]
	}
	u0, u1 := b0*o.unit, min(b1*o.unit, o.units)
	if u == 0 {
		for q := range n {
			at := stretch{q: q, n: 1}
			c := t.f32(o.c, at)[u0:u1]
			if o.c0 >= 0 {
				copy(c, t.f32(o.c0, at)[u0:u1])
			} else {
				clear(c)
			}
		}
	}
	var x, h kernel.Operand
	if ahead == 1 {
		x = o.frame(t, f)
	}
	if before >= 0 {
		h = t.operand(before, stretch{}, t.s.views[before].seq, o.half)
	}
	panel := kernel.Panels{Data: gates, Stride: ahead * n * o.unit, Row: o.unit}
	hs, cs := t.f32(next, stretch{}), t.f32(o.c, stretch{})
	for b := range b1 - b0 {
		// Every other step runs backwards, as in turned, and so begins with the weights that were
		// read last.
		if u%2 == 0 {
			b += b0
		} else {
			b = b1 - 1 - b
		}
		p0, p1 := o.panels(b, b+1)
		if ahead == 1 {
			o.wx.MulPanels(t.scratch, panel, x, n, false, p0, p1)
		} else {
			panel.Data = gates[p0*panel.Stride+i*n*o.unit:]
		}
		if before >= 0 {
			o.wh.MulPanels(t.scratch, panel, h, n, true, p0, p1)
		}
		v, w := b*o.unit, min((b+1)*o.unit, o.units)
		kernel.LSTMCells(kernel.Matrix{Data: hs[v:], Stride: t.s.views[next].seq}, kernel.Matrix{Data: cs[v:], Stride: t.s.views[o.c].seq},
			panel, o.bias[4*v:4*w], n, w-v)
	}
	last := u == frames-1
	for q := range n {
		at, to := stretch{q: q, n: 1}, stretch{q: q, f: f, n: 1}
		h := t.f32(next, at)[u0:u1]
		t.finishColumns(next, at, o.units, u0, u1)
		copy(t.f32(o.out, to)[u0:u1], h)
		t.finishColumns(o.out, to, o.units, u0, u1)
		if last {
			t.finishColumns(o.c, at, o.units, u0, u1)
			if o.wantH {
				copy(t.f32(o.h, at)[u0:u1], h)
				t.finishColumns(o.h, at, o.units, u0, u1)
			}
		}
	}
}
