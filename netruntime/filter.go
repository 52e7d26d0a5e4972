package netruntime

import (
	"mannequin/netruntime/internal/kernel"
)

// filters reports whether a convolution with heavy weights is faster by minimal filtering. It is if
// that saves at least a fifth of the multiplications. A seventh, with 7 taps, is the cost of the
// sums around it (BenchmarkFilter in netruntime/internal/kernel).
func filters(g kernel.Taps) bool {
	return g.Width <= kernel.MaxFilterWidth && 5*g.Block() <= 4*g.Width
}

// planesKey is a value and the taps that read it.
type planesKey struct {
	in   int
	taps kernel.Taps
}

// planesOf returns the value that holds the planes of value in for taps g.
func (c *compiler) planesOf(in int, g kernel.Taps) int {
	key := planesKey{in, g}
	if v, ok := c.planes[key]; ok {
		return v
	}
	v := len(c.values)
	c.values = append(c.values, place{channels: 3 * g.Channels, span: c.values[in].span, lead: g.Lead(), trail: g.Trail()})
	c.ops = append(c.ops, &planes{rowwise{[]int{in}, v}, g})
	c.planes[key] = v
	return v
}

// planes computes the planes of a filter once, for all of its columns.
type planes struct {
	rowwise
	taps kernel.Taps
}

func (o *planes) grid() (int, int) { return o.in[0], 1 }
func (o *planes) local() bool      { return false }

func (o *planes) run(t *task, r0, r1, _, _ int) {
	in := o.in[0]
	frames := t.s.views[in].frames
	for at := t.first(in, r0, r1, o.out); at.n > 0; at = t.next(at) {
		from, to := at.f, at.f+at.n
		if from == 0 {
			from = -o.taps.Lead()
		}
		if to == frames {
			to += o.taps.Trail()
		}
		dst, src := t.f32(o.out, stretch{q: at.q, f: -o.taps.Lead()}), t.f32(in, stretch{q: at.q})
		o.taps.Planes(dst[:t.s.views[o.out].seq], src, frames, from, to)
	}
}

// runFilter is run for a product that is a filter: it computes the blocks that begin in [r0, r1).
func (p *product) runFilter(t *task, r0, r1, p0, p1 int) {
	frames, size := t.s.views[p.in].frames, p.filter.Block()
	each := (frames + size - 1) / size // blocks of a sequence
	before := func(row int) int { return row/frames*each + (row%frames+size-1)/size }
	b0, b1 := before(r0), before(r1)
	y := kernel.Windows{Data: t.f32(p.out, stretch{}), Batch: t.block.n, Length: frames, Stride: p.n, Skip: t.s.views[p.out].seq}
	p.filter.Mul(t.scratch, y, t.f32(p.planes, stretch{f: -p.filter.Lead()}), b0, b1, kernel.Epilogue{Bias: p.bias, Act: p.act}, p0, p1)
	c0, c1 := p.columns(p0, p1)
	for b0 < b1 {
		q := b0 / each
		end := min(b1, (q+1)*each)
		f := (b0 - q*each) * size
		at := stretch{q: q, f: f, n: min(frames, (end-q*each)*size) - f}
		to := at.times(p.frames)
		p.finish(t, t.f32(p.out, to), to, at.n, c0, c1)
		b0 = end
	}
}
