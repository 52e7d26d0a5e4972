package netruntime

import (
	"cmp"
	"math"
	"slices"

	"mannequin/netruntime/internal/kernel"
)

// pointFunc is a function of single elements: an activation, x·scale + shift, or (x − mean)·inv.
// The vectors have a value for each column of a row.
type pointFunc struct {
	kind        pointKind
	act         kernel.Activation
	scale, rest []float32
}

type pointKind uint8

const (
	activate  pointKind = iota
	affine              // x·scale + rest
	normalize           // (x − rest)·scale
)

// pointFunc returns the functions of an elementwise node.
func (c *compiler) pointFunc(n *boundNode) []pointFunc {
	switch n.Op {
	case OpAct:
		return []pointFunc{{act: activations[n.Act]}}
	case OpNormalize:
		inv := deviations(c.data(n, "std"))
		for i, s := range inv {
			inv[i] = 1 / s
		}
		return []pointFunc{{kind: normalize, scale: inv, rest: c.data(n, "mean")}}
	case OpDenormalize:
		return []pointFunc{{kind: affine, scale: deviations(c.data(n, "std")), rest: c.data(n, "mean")}}
	}
	scale, shift := c.batchNorm(n)
	f := pointFunc{kind: affine, scale: make([]float32, len(scale)), rest: make([]float32, len(shift))}
	for i := range scale {
		f.scale[i], f.rest[i] = float32(scale[i]), float32(shift[i])
	}
	if n.Act == "" {
		return []pointFunc{f}
	}
	return []pointFunc{f, {act: activations[n.Act]}}
}

// batchNorm returns a batch norm as x·scale + shift.
func (c *compiler) batchNorm(n *boundNode) (scale, shift []float64) {
	gamma, beta, mean, variance := c.data(n, "gamma"), c.data(n, "beta"), c.data(n, "mean"), c.data(n, "var")
	scale, shift = make([]float64, len(gamma)), make([]float64, len(gamma))
	for i := range gamma {
		scale[i], shift[i] = normScale(gamma[i], beta[i], mean[i], variance[i])
	}
	return scale, shift
}

// normScale returns a channel's batch norm as x·scale + shift.
func normScale(gamma, beta, mean, variance float32) (scale, shift float64) {
	scale = float64(gamma) / math.Sqrt(float64(variance)+1e-5)
	return scale, float64(beta) - float64(mean)*scale
}

// deviations returns a copy of std with 1 in place of 0, so that a constant column keeps its unit.
func deviations(std []float32) []float32 {
	out := slices.Clone(std)
	for i, s := range out {
		out[i] = cmp.Or(s, 1)
	}
	return out
}

// repeated returns f for rows of n frames.
func (f pointFunc) repeated(n int) pointFunc {
	f.scale, f.rest = slices.Repeat(f.scale, n), slices.Repeat(f.rest, n)
	return f
}

// apply sets columns [c0, c1) of rows of the given width to f(x). dst and x may be the same memory.
func (f *pointFunc) apply(dst, x []float32, rows, width, c0, c1 int) {
	if f.kind == activate && c1-c0 == width {
		f.act.Apply(dst[:rows*width], x[:rows*width])
		return
	}
	for r := range rows {
		d, s := dst[r*width+c0:r*width+c1], x[r*width+c0:r*width+c1]
		switch f.kind {
		case activate:
			f.act.Apply(d, s)
		case affine:
			kernel.Affine(d, s, f.scale[c0:c1], f.rest[c0:c1])
		case normalize:
			kernel.Normalize(d, s, f.rest[c0:c1], f.scale[c0:c1])
		}
	}
}

// rowwise is the base of light operations.
type rowwise struct {
	in  []int
	out int
}

func (o *rowwise) grid() (int, int)      { return o.out, 1 }
func (o *rowwise) uses() (in, out []int) { return o.in, []int{o.out} }
func (o *rowwise) local() bool           { return true }
func (o *rowwise) heavy() bool           { return false }

// pointwise applies functions to every element, one after the other.
type pointwise struct {
	rowwise
	do []pointFunc
}

func (o *pointwise) run(t *task, r0, r1, _, _ int) {
	for at := t.first(o.out, r0, r1, o.in...); at.n > 0; at = t.next(at) {
		dst, src := t.f32(o.out, at), t.f32(o.in[0], at)
		for i := range o.do {
			o.do[i].apply(dst, src, at.n, t.width(o.out), 0, t.width(o.out))
			src = dst
		}
		t.finish(o.out, at)
	}
}

// softmaxOp is the softmax over the channels.
type softmaxOp struct{ rowwise }

func (o *softmaxOp) run(t *task, r0, r1, _, _ int) {
	k := t.width(o.out)
	for at := t.first(o.out, r0, r1, o.in...); at.n > 0; at = t.next(at) {
		dst, src := t.f32(o.out, at), t.f32(o.in[0], at)
		for r := range at.n {
			softmax(dst[r*k:][:k], src[r*k:][:k])
		}
		t.finish(o.out, at)
	}
}

// softmax sets dst to the softmax of logits. A NaN among them makes all values NaN.
func softmax(dst, logits []float32) {
	top := slices.Max(logits)
	for i := range dst {
		dst[i] = logits[i] - top
	}
	kernel.Exp(dst, dst)
	var sum float32
	for _, v := range dst {
		sum += v
	}
	for i := range dst {
		dst[i] /= sum
	}
}

// concat joins channels.
type concat struct{ rowwise }

func (o *concat) run(t *task, r0, r1, _, _ int) {
	n := t.width(o.out)
	for at := t.first(o.out, r0, r1, o.in...); at.n > 0; at = t.next(at) {
		dst, c := t.f32(o.out, at), 0
		for _, v := range o.in {
			w, src := t.width(v), t.f32(v, at)
			for r := range at.n {
				copy(dst[r*n+c:][:w], src[r*w:][:w])
			}
			c += w
		}
		t.finish(o.out, at)
	}
}

// selectOp selects channels.
type selectOp struct {
	rowwise
	columns []int
}

func (o *selectOp) run(t *task, r0, r1, _, _ int) {
	n, w := t.width(o.out), t.width(o.in[0])
	for at := t.first(o.out, r0, r1, o.in...); at.n > 0; at = t.next(at) {
		dst, src := t.f32(o.out, at), t.f32(o.in[0], at)
		for r := range at.n {
			d, s := dst[r*n:][:n], src[r*w:][:w]
			for i, c := range o.columns {
				d[i] = s[c]
			}
		}
		t.finish(o.out, at)
	}
}

// add is the sum of its operands, from the first to the last.
type add struct{ rowwise }

func (o *add) run(t *task, r0, r1, _, _ int) {
	for at := t.first(o.out, r0, r1, o.in...); at.n > 0; at = t.next(at) {
		n := at.n * t.width(o.out)
		dst := t.f32(o.out, at)[:n]
		sum := t.f32(o.in[0], at)[:n]
		if len(o.in) == 1 {
			copy(dst, sum)
		}
		for _, v := range o.in[1:] {
			kernel.Add(dst, sum, t.f32(v, at)[:n])
			sum = dst
		}
		t.finish(o.out, at)
	}
}

// copyOp copies a value between the caller's memory and a place with padding.
type copyOp struct{ rowwise }

func (o *copyOp) run(t *task, r0, r1, _, _ int) {
	for at := t.first(o.out, r0, r1, o.in...); at.n > 0; at = t.next(at) {
		n := at.n * t.width(o.out)
		copy(t.f32(o.out, at)[:n], t.f32(o.in[0], at))
		t.finish(o.out, at)
	}
}

// maxPool takes the larger of each pair of frames.
type maxPool struct{ rowwise }

func (o *maxPool) local() bool { return false }

func (o *maxPool) run(t *task, r0, r1, _, _ int) {
	c := t.width(o.out)
	for at := t.first(o.out, r0, r1, o.in...); at.n > 0; at = t.next(at) {
		dst, src := t.f32(o.out, at), t.f32(o.in[0], at.times(2))
		for r := range at.n {
			kernel.Max(dst[r*c:][:c], src[2*r*c:][:c], src[(2*r+1)*c:][:c])
		}
		t.finish(o.out, at)
	}
}

// depool gives an equal share of each frame to each of factor frames.
type depool struct {
	rowwise
	factor int
}

func (o *depool) grid() (int, int) { return o.in[0], 1 }
func (o *depool) local() bool      { return false }

func (o *depool) run(t *task, r0, r1, _, _ int) {
	c := t.width(o.out)
	share := 1 / float32(o.factor)
	for at := t.first(o.in[0], r0, r1, o.out); at.n > 0; at = t.next(at) {
		to := at.times(o.factor)
		dst, src := t.f32(o.out, to), t.f32(o.in[0], at)
		for r := range at.n {
			y := dst[r*o.factor*c:][:o.factor*c]
			kernel.Scale(y[:c], share, src[r*c:][:c])
			for k := 1; k < o.factor; k++ {
				copy(y[k*c:], y[:c])
			}
		}
		t.finish(o.out, to)
	}
}
