package netruntime

import (
	"slices"

	"mannequin/netruntime/internal/kernel"
)

// product is a dense layer, a convolution, or a blend of dense layers. It is a matrix product: a
// row of the left side is the W·C contiguous floats from the first frame of the row's window on.
type product struct {
	in, out int
	omega   int // of a blend, or −1
	before  int // frames before its own at which a row's window begins
	frames  int // of the result, for each row
	w       *kernel.Packed
	half    bool           // w is in bfloat16
	filter  *kernel.Filter // in place of w
	planes  int            // of a filter: the value that it reads in place of in
	k, n    int
	panel   int // columns of a panel
	bias    []float32
	biases  *kernel.Packed // (K, n) of a blend: ω·biases is the blended bias
	experts int
	act     kernel.Activation
	after   []pointFunc
	taps    int // frames of a row's window
	big     bool

	// Of a blend: the experts one by one, for sessions that skip some.
	single     []*kernel.Packed
	expertBias []float32 // (K, n)
}

// product lowers n, and the nodes that the same product can compute.
func (c *compiler) product(n *boundNode) {
	p := &product{in: n.in[0], out: n.out, omega: -1, frames: 1, taps: 1, panel: c.key.kind.PanelCols(), k: n.size['I'], n: n.size['O'], experts: 1, act: activations[n.Act]}
	w, bias := c.data(n, "weight"), c.data(n, "bias")
	var transposed bool // the right side is stored by columns
	switch n.Op {
	case OpDense:
		transposed = !n.Tied
		p.bias = bias
	case OpBlend:
		transposed = true
		p.omega, p.experts = n.in[1], n.size['K']
		p.expertBias = bias
		p.biases = kernel.Pack(false, 1, p.experts, p.n, bias, p.n)
	case OpConv:
		w, p.bias = c.conv(p, n, w, bias)
	}
	if bn := c.only(p.out); bn != nil && bn.Op == OpBatchNorm && p.act == kernel.ActIdentity && p.omega < 0 {
		w, p.bias = c.fold(p, bn, w, transposed)
		p.out, p.act = bn.out, activations[bn.Act]
		c.fused[bn] = true
	}
	if next := c.only(p.out); next != nil && isElementwise(next.Op) {
		p.after, p.out = c.elementwise(next)
		if p.act == kernel.ActIdentity && p.after[0].kind == activate {
			p.act, p.after = p.after[0].act, p.after[1:]
		}
		for i := range p.after {
			p.after[i] = p.after[i].repeated(p.frames)
		}
	}
	p.big = p.experts*p.k*p.n >= HeavyWeights
	ldb := p.n
	if transposed {
		ldb = p.k
	}
	taps := kernel.Taps{Width: p.taps, Before: p.before, Channels: p.k / p.taps}
	switch {
	case p.big && c.key.bf16:
		p.w, p.half = kernel.PackBF16(transposed, p.experts, p.k, p.n, w, ldb), true
		c.values[p.in].half = true
	case p.big && filters(taps):
		p.filter, p.planes = kernel.PackFilter(taps, p.n, w), c.planesOf(p.in, taps)
		c.filters = true
	default:
		p.w = kernel.Pack(transposed, p.experts, p.k, p.n, w, ldb)
	}
	if p.filter == nil {
		v := &c.values[p.in]
		v.lead, v.trail = max(v.lead, p.before), max(v.trail, p.taps-1-p.before)
	}
	c.ops = append(c.ops, p)
	if p.omega >= 0 {
		for e := range p.experts {
			p.single = append(p.single, p.w.Part(e))
		}
		c.scratch = max(c.scratch, p.k, p.n)
	}
}

// conv sets up p as a convolution. It returns the right side, by taps and their channels as the
// frames lie in memory, and the bias.
//
// The product includes a depooling by f before the convolution. Frames ft to ft+f−1 of the depooled
// signal are all x[t]/f, so up to f neighbouring taps meet the same frame of x. Their sum is one
// tap: about W/f of the W taps remain over x. Which taps share a frame differs between the f phases
// of the result's frames. All phases are columns of one product, whose result (T/f)×fO is T×O in
// memory. There is one more tap if the phases do not see the same frames.
func (c *compiler) conv(p *product, n *boundNode, w, bias []float32) (right, b []float32) {
	in, out, width := n.size['I'], n.size['O'], n.size['W']
	tap := func(i, o, t int) float64 {
		if n.Flip {
			t = width - 1 - t
		}
		if n.Tied {
			return float64(w[(i*out+o)*width+t])
		}
		return float64(w[(o*in+i)*width+t])
	}
	if d, ok := c.depooled[p.in]; ok {
		p.in, p.frames = d.in[0], d.Times()
	}
	f, share := p.frames, 1/float64(p.frames)
	p.before, p.taps = depooledTaps(width, f)
	p.k, p.n = p.taps*in, f*out
	sum := make([]float64, p.k*p.n)
	for t := range width {
		for phase := range f {
			// The tap that t becomes for the result's frames of this phase.
			row := (t - (width-1)/2 + phase + f*p.before) / f * in
			for i := range in {
				for o := range out {
					sum[(row+i)*p.n+phase*out+o] += share * tap(i, o, t)
				}
			}
		}
	}
	right = make([]float32, len(sum))
	for i, v := range sum {
		right[i] = float32(v)
	}
	return right, slices.Repeat(bias, f)
}

// depooledTaps returns the window of a row, in frames of the operand of the depooling that a
// convolution of the given width includes: the frames before the row's own, and the window's
// length. A factor of 1 is no depooling.
func depooledTaps(width, factor int) (before, taps int) {
	shift := (width - 1) / 2
	before = (shift + factor - 1) / factor // ⌈shift/factor⌉
	return before, before + (width-shift+factor-2)/factor + 1
}

// fold returns weights and bias that include the batch norm that follows: (x·w + b)·scale + shift =
// x·(w·scale) + (b·scale + shift).
func (c *compiler) fold(p *product, bn *boundNode, w []float32, transposed bool) (right, bias []float32) {
	scale, shift := c.batchNorm(bn)
	right, bias = make([]float32, len(w)), make([]float32, p.n)
	for i, v := range w {
		o := i % p.n
		if transposed {
			o = i / p.k
		}
		right[i] = float32(float64(v) * scale[o%len(scale)])
	}
	for o, b := range p.bias {
		bias[o] = float32(float64(b)*scale[o%len(scale)] + shift[o%len(scale)])
	}
	return right, bias
}

func (p *product) panels() int {
	if p.filter != nil {
		return p.filter.Panels()
	}
	return p.w.Panels()
}

// columns returns the columns of panels [p0, p1).
func (p *product) columns(p0, p1 int) (c0, c1 int) {
	return min(p0*p.panel, p.n), min(p1*p.panel, p.n)
}

func (p *product) grid() (int, int) { return p.in, p.panels() }
func (p *product) local() bool      { return p.taps == 1 && p.frames == 1 }
func (p *product) heavy() bool      { return p.big }

func (p *product) uses() (in, out []int) {
	in = []int{p.in}
	if p.filter != nil {
		in[0] = p.planes
	}
	if p.omega >= 0 {
		in = append(in, p.omega)
	}
	return in, []int{p.out}
}

func (p *product) run(t *task, r0, r1, p0, p1 int) {
	if p.filter != nil {
		p.runFilter(t, r0, r1, p0, p1)
		return
	}
	others := [2]int{p.out, p.out}
	if p.omega >= 0 {
		others[1] = p.omega
	}
	c0, c1 := p.columns(p0, p1)
	for at := t.first(p.in, r0, r1, others[:]...); at.n > 0; at = t.next(at) {
		to := at.times(p.frames)
		dst := t.f32(p.out, to)
		c := kernel.Matrix{Data: dst, Stride: p.n}
		if p.omega >= 0 {
			p.blend(t, c, at, p0, p1)
		} else {
			p.mul(t, c, at, p0, p1)
		}
		p.finish(t, dst, to, at.n, c0, c1)
	}
}

// finish applies the remaining functions to columns [c0, c1) of rows of dst, whose frames are the
// stretch's.
func (p *product) finish(t *task, dst []float32, at stretch, rows, c0, c1 int) {
	for i := range p.after {
		p.after[i].apply(dst, dst, rows, p.n, c0, c1)
	}
	t.finishColumns(p.out, at, p.n, c0, c1)
}

var one = kernel.Matrix{Data: []float32{1}}

// mul computes the panels of a product without experts.
func (p *product) mul(t *task, c kernel.Matrix, at stretch, p0, p1 int) {
	at.f -= p.before // perhaps into the padding
	a := t.operand(p.in, at, t.width(p.in), p.half)
	p.w.Mul(t.scratch, c, one, a, at.n, false, kernel.Epilogue{Bias: p.bias, Act: p.act}, p0, p1)
}

// blend computes the panels of a blend.
func (p *product) blend(t *task, c kernel.Matrix, at stretch, p0, p1 int) {
	omega := kernel.Matrix{Data: t.f32(p.omega, at), Stride: p.experts}
	if t.s.opt.SkipBelow > 0 {
		for r := 0; r < at.n; r += gatherRows {
			part := stretch{q: at.q, f: at.f + r, n: min(gatherRows, at.n-r)}
			p.blendSome(t, c.Row(r), omega.Row(r), part, p0, p1)
		}
		return
	}
	p.w.Mul(t.scratch, c, omega, t.operand(p.in, at, p.k, p.half), at.n, false, kernel.Epilogue{Biases: p.biases, Act: p.act}, p0, p1)
}

// someExperts is the memory in which the rows of one expert are gathered.
type someExperts struct {
	x, c  []float32
	x16   []uint16
	omega []float32
	rows  []int
}

// gatherRows is the most rows that are gathered at once.
const gatherRows = 192

func newSomeExperts(width int) someExperts {
	return someExperts{
		x: make([]float32, gatherRows*width), c: make([]float32, gatherRows*width), x16: make([]uint16, gatherRows*width),
		omega: make([]float32, gatherRows), rows: make([]int, gatherRows),
	}
}

// bytesOfSomeExperts returns the size of newSomeExperts in bytes.
func bytesOfSomeExperts(width int) float64 { return gatherRows * (10*float64(width) + 12) }

// blendSome is blend, of up to gatherRows rows, without the experts whose weight is below the
// session's limit. The rows that use an expert are gathered in a matrix. Each row's sum runs over
// its experts in order, so that it does not depend on the other rows.
func (p *product) blendSome(t *task, c, omega kernel.Matrix, at stretch, p0, p1 int) {
	g, bound := &t.some, t.s.opt.SkipBelow
	c0, c1 := p.columns(p0, p1)
	for r := range at.n {
		clear(c.Data[r*c.Stride+c0 : r*c.Stride+c1])
	}
	for e := range p.experts {
		rows := g.rows[:0]
		for r := range at.n {
			if w := omega.Data[r*omega.Stride+e]; !(w < bound) {
				g.omega[len(rows)] = w
				rows = append(rows, r)
			}
		}
		if len(rows) == 0 {
			continue
		}
		all := len(rows) == at.n
		to := c
		if !all {
			to = kernel.Matrix{Data: g.c, Stride: p.n}
			for i, r := range rows {
				copy(g.c[i*p.n+c0:i*p.n+c1], c.Data[r*c.Stride+c0:])
			}
		}
		bias := p.expertBias[e*p.n:][:p.n]
		for i := range rows {
			kernel.Axpy(to.Data[i*to.Stride+c0:i*to.Stride+c1], g.omega[i], bias[c0:c1])
		}
		w := kernel.Matrix{Data: g.omega, Stride: 1}
		a := t.operand(p.in, at, p.k, p.half)
		if !all {
			for i, r := range rows {
				if p.half {
					copy(g.x16[i*p.k:][:p.k], a.BF16[r*p.k:])
				} else {
					copy(g.x[i*p.k:][:p.k], a.F32[r*p.k:])
				}
			}
			a.F32, a.BF16 = g.x, g.x16
		}
		p.single[e].Mul(t.scratch, to, w, a, len(rows), true, kernel.Epilogue{}, p0, p1)
		if !all {
			for i, r := range rows {
				copy(c.Data[r*c.Stride+c0:r*c.Stride+c1], g.c[i*p.n+c0:])
			}
		}
	}
	for r := range at.n {
		row := c.Data[r*c.Stride+c0 : r*c.Stride+c1]
		p.act.Apply(row, row)
	}
}
