package grad

import (
	"math"
	"slices"

	"mannequin/netruntime/internal/kernel"
)

// Softmax returns eˣ / Σ eˣ over every row.
func (t *Tape) Softmax(x *Mat) *Mat {
	y := t.node(x.Rows, x.Cols, x.wants)
	y.a, y.back = x, softmaxBack
	t.split(y, y.Rows, 16*y.Cols, func(_ *Tape, y *Mat, r0, r1 int) {
		for r := r0; r < r1; r++ {
			in, out := y.a.Val[r*y.Cols:][:y.Cols], y.Val[r*y.Cols:][:y.Cols]
			top := slices.Max(in)
			var sum float64
			for i, v := range in {
				e := math.Exp(float64(v - top))
				out[i] = float32(e)
				sum += e
			}
			for i := range out {
				out[i] = float32(float64(out[i]) / sum)
			}
		}
	})
	return y
}

func softmaxBack(t *Tape, y *Mat) {
	y.a.cleared()
	t.split(y, y.Rows, 4*y.Cols, func(_ *Tape, y *Mat, r0, r1 int) {
		for r := r0; r < r1; r++ {
			p, g := y.Val[r*y.Cols:][:y.Cols], y.Grad[r*y.Cols:][:y.Cols]
			var mean float32
			for i := range p {
				mean += p[i] * g[i]
			}
			dx := y.a.Grad[r*y.Cols:]
			for i := range p {
				dx[i] += p[i] * (g[i] - mean)
			}
		}
	})
}

// Dropout keeps every value with probability keep, scaled by 1/keep, and sets the others to zero.
// The choice depends only on key and the value's index, so that neither workers nor a resumed run
// change it. Give every call of every step its own key. With keep 1 it returns x itself.
func (t *Tape) Dropout(x *Mat, keep float32, key uint64) *Mat {
	if !(keep > 0 && keep <= 1) {
		panic("grad: Dropout: keep is not in (0, 1]")
	}
	if keep == 1 {
		return x
	}
	y := t.node(x.Rows, x.Cols, x.wants)
	y.a, y.back, y.k, y.key = x, dropoutBack, keep, key
	y.aux = grow(y.aux, len(y.Val))
	t.split(y, len(y.Val), 2, func(_ *Tape, y *Mat, i, j int) {
		kernel.Mask(y.aux[i:j], y.key, uint64(i), y.k, 1/y.k)
		kernel.Mul(y.Val[i:j], y.aux[i:j], y.a.Val[i:j])
	})
	return y
}

func dropoutBack(t *Tape, y *Mat) {
	t.slopes(y.a, y, len(y.Val), 4, func(t *Tape, y *Mat, i, j int) {
		kernel.Mul(t.arg.dst[i:j], y.aux[i:j], y.Grad[i:j])
	})
}

// Hash mixes two numbers into 64 random bits. It is a random source without state, so there is none
// to save.
func Hash(key, i uint64) uint64 { return kernel.Hash(key, i) }

// Gather returns the columns cols of x, in that order. cols must stay unchanged until the next
// Reset.
func (t *Tape) Gather(x *Mat, cols []int) *Mat {
	for _, c := range cols {
		if c < 0 || c >= x.Cols {
			panic("grad: Gather of a column outside the matrix")
		}
	}
	y := t.node(x.Rows, len(cols), x.wants)
	y.a, y.cols, y.back = x, cols, gatherBack
	t.split(y, y.Rows, 2*y.Cols, func(_ *Tape, y *Mat, r0, r1 int) {
		for r := r0; r < r1; r++ {
			x, dst := y.a.Val[r*y.a.Cols:][:y.a.Cols], y.Val[r*y.Cols:]
			for j, c := range y.cols {
				dst[j] = x[c]
			}
		}
	})
	return y
}

func gatherBack(t *Tape, y *Mat) {
	y.a.cleared()
	t.split(y, y.Rows, 2*y.Cols, func(_ *Tape, y *Mat, r0, r1 int) {
		for r := r0; r < r1; r++ {
			dx, g := y.a.Grad[r*y.a.Cols:][:y.a.Cols], y.Grad[r*y.Cols:]
			for j, c := range y.cols {
				dx[c] += g[j]
			}
		}
	})
}
