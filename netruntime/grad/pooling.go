package grad

import "mannequin/netruntime/internal/kernel"

// MaxPool returns the larger of each pair of frames: sequences of length/2 frames from x, sequences
// of length frames. length must be even.
func (t *Tape) MaxPool(x *Mat, length int) *Mat {
	checkSequences("MaxPool", x, length)
	if length%2 != 0 {
		panic("grad: MaxPool of sequences of odd length")
	}
	y := t.node(x.Rows/2, x.Cols, x.wants)
	y.a, y.back = x, maxPoolBack
	t.split(y, y.Rows, 3*y.Cols, func(_ *Tape, y *Mat, r0, r1 int) {
		for r := r0; r < r1; r++ {
			first, second := pair(y.a.Val, r, y.Cols)
			kernel.Max(y.Val[r*y.Cols:][:y.Cols], first, second)
		}
	})
	return y
}

// pair returns rows 2r and 2r + 1.
func pair(v []float32, r, cols int) (first, second []float32) {
	return v[2*r*cols:][:cols], v[(2*r+1)*cols:][:cols]
}

// maxPoolBack gives the gradient to the larger frame, or to the second if they are equal.
func maxPoolBack(t *Tape, y *Mat) {
	t.slopes(y.a, y, y.Rows, 6*y.Cols, func(t *Tape, y *Mat, r0, r1 int) {
		for r := r0; r < r1; r++ {
			first, second := pair(y.a.Val, r, y.Cols)
			g1, g2 := pair(t.arg.dst, r, y.Cols)
			dy := y.Grad[r*y.Cols:][:y.Cols]
			kernel.Sub(g1, first, second)
			kernel.ReLUGrad(g1, dy, g1)
			kernel.Sub(g2, dy, g1)
		}
	})
}

// Depool lengthens sequences: every frame becomes factor frames. They share its value evenly. If
// random is set, each value goes to one of them and the others get zeros (Holden et al. 2016,
// section 5.1). The choice depends only on key and the value's index: give every call of every step
// its own key.
func (t *Tape) Depool(x *Mat, factor int, random bool, key uint64) *Mat {
	if factor < 1 {
		panic("grad: Depool: the factor is below 1")
	}
	y := t.node(x.Rows*factor, x.Cols, x.wants)
	y.a, y.n, y.key = x, factor, key
	if !random {
		y.back = depoolBack
		t.split(y, x.Rows, 2*factor*y.Cols, func(_ *Tape, y *Mat, r0, r1 int) {
			cols := y.Cols
			for r := r0; r < r1; r++ {
				first := y.Val[r*y.n*cols:][:cols]
				kernel.Scale(first, 1/float32(y.n), y.a.Val[r*cols:][:cols])
				for i := 1; i < y.n; i++ {
					copy(y.Val[(r*y.n+i)*cols:], first)
				}
			}
		})
		return y
	}
	y.back = depoolRandomBack
	t.split(y, x.Rows, 2*factor*y.Cols, depoolRandomRows)
	return y
}

func depoolBack(t *Tape, y *Mat) {
	t.slopes(y.a, y, y.a.Rows, 2*y.n*y.Cols, func(t *Tape, y *Mat, r0, r1 int) {
		cols := y.Cols
		for r := r0; r < r1; r++ {
			dst := t.arg.dst[r*cols:][:cols]
			kernel.Scale(dst, 1/float32(y.n), y.Grad[r*y.n*cols:][:cols])
			for i := 1; i < y.n; i++ {
				kernel.Axpy(dst, 1/float32(y.n), y.Grad[(r*y.n+i)*cols:][:cols])
			}
		}
	})
}

// chosen returns the number of the frame, of n, that gets value i. With n = 2, one hash serves 64
// values.
func chosen(key, i uint64, n int) int {
	if n == 2 {
		return int(Hash(key, i/64) >> (i % 64) & 1)
	}
	return int(Hash(key, i) % uint64(n))
}

// choices calls f for runs of values [c, c+n) of row r. The lower n bits are their choices between
// two frames.
func (y *Mat) choices(r int, f func(c, n int, bits uint64)) {
	for c := 0; c < y.Cols; {
		i := uint64(r*y.Cols + c)
		n := min(64-int(i%64), y.Cols-c)
		f(c, n, Hash(y.key, i/64)>>(i%64))
		c += n
	}
}

func depoolRandomRows(_ *Tape, y *Mat, r0, r1 int) {
	cols := y.Cols
	for r := r0; r < r1; r++ {
		x := y.a.Val[r*cols:][:cols]
		if y.n == 2 {
			first, second := pair(y.Val, r, cols)
			y.choices(r, func(c, n int, bits uint64) {
				kernel.Deal(first[c:][:n], second[c:][:n], x[c:][:n], bits)
			})
			continue
		}
		dst := y.Val[r*y.n*cols:][:y.n*cols]
		clear(dst)
		for c, v := range x {
			dst[chosen(y.key, uint64(r*cols+c), y.n)*cols+c] = v
		}
	}
}

func depoolRandomBack(t *Tape, y *Mat) {
	t.slopes(y.a, y, y.a.Rows, 2*y.n*y.Cols, depoolRandomGrad)
}

func depoolRandomGrad(t *Tape, y *Mat, r0, r1 int) {
	cols := y.Cols
	for r := r0; r < r1; r++ {
		dx := t.arg.dst[r*cols:][:cols]
		if y.n == 2 {
			first, second := pair(y.Grad, r, cols)
			y.choices(r, func(c, n int, bits uint64) {
				kernel.Pick(dx[c:][:n], first[c:][:n], second[c:][:n], bits)
			})
			continue
		}
		g := y.Grad[r*y.n*cols:][:y.n*cols]
		for c := range dx {
			dx[c] = g[chosen(y.key, uint64(r*cols+c), y.n)*cols+c]
		}
	}
}
