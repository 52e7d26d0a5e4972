package grad

import (
	"math"

	"mannequin/netruntime/internal/kernel"
)

// A loss is a 1×1 matrix. Its sums run over chunks of fixed size, so that they do not depend on the
// number of workers.
const lossChunk = 1 << 13

// reduction is a sum over the elements of a matrix, or of the difference of two.
type reduction struct {
	sum   func(x []float32) float32
	slope func(g, x []float32, k float32) // g = k·(d sum / d x); g may be x
}

var (
	plain = reduction{
		func(x []float32) float32 { return kernel.Dot(x, ones[:len(x)]) },
		func(g, _ []float32, k float32) { set(g, k) }}
	squares = reduction{
		func(x []float32) float32 { return kernel.Dot(x, x) },
		func(g, x []float32, k float32) { kernel.Scale(g, 2*k, x) }}
	magnitudes = reduction{
		kernel.SumAbs,
		func(g, x []float32, k float32) { kernel.Sign(g, k, x) }}
)

// Sum returns the sum of all values of x, a 1×1 matrix.
func (t *Tape) Sum(x *Mat) *Mat { return t.reduce(x, nil, &plain, 1) }

// Mean returns the mean of all values of x.
func (t *Tape) Mean(x *Mat) *Mat { return t.reduce(x, nil, &plain, 1/float32(len(x.Val))) }

// SumSquares returns the sum of the squares of all values of x: an L2 penalty.
func (t *Tape) SumSquares(x *Mat) *Mat { return t.reduce(x, nil, &squares, 1) }

// SumAbs returns the sum of the magnitudes of all values of x: an L1 penalty, which makes them
// sparse. The slope at 0 is 0.
func (t *Tape) SumAbs(x *Mat) *Mat { return t.reduce(x, nil, &magnitudes, 1) }

// MSE returns the mean over all elements of (y−target)². target gets no gradient.
func (t *Tape) MSE(y, target *Mat) *Mat {
	sameShape("MSE", y, target)
	return t.reduce(y, target, &squares, 1/float32(len(y.Val)))
}

// MAE returns the mean over all elements of |y−target|. target gets no gradient. The slope at 0 is
// 0.
func (t *Tape) MAE(y, target *Mat) *Mat {
	sameShape("MAE", y, target)
	return t.reduce(y, target, &magnitudes, 1/float32(len(y.Val)))
}

// reduce returns k times the sum over x, or over x − target if there is a target.
func (t *Tape) reduce(x, target *Mat, f *reduction, k float32) *Mat {
	l := t.node(1, 1, x.wants)
	l.a, l.b, l.k, l.red, l.back = x, target, k, f, reduceBack
	chunks := (len(x.Val) + lossChunk - 1) / lossChunk
	for len(t.sums) < chunks {
		t.sums = append(t.sums, 0)
	}
	l.aux = grow(l.aux, len(x.Val)) // for differences
	t.split(l, chunks, 2*lossChunk, func(t *Tape, l *Mat, c0, c1 int) {
		for c := c0; c < c1; c++ {
			i, j := c*lossChunk, min((c+1)*lossChunk, len(l.a.Val))
			t.sums[c] = float64(l.red.sum(l.reduced(l.aux, i, j)))
		}
	})
	var sum float64
	for _, s := range t.sums[:chunks] {
		sum += s
	}
	l.Val[0] = float32(sum * float64(k))
	return l
}

func reduceBack(t *Tape, l *Mat) {
	t.slopes(l.a, l, len(l.a.Val), 3, func(t *Tape, l *Mat, i, j int) {
		l.red.slope(t.arg.dst[i:j], l.reduced(t.arg.dst, i, j), l.k*l.Grad[0])
	})
}

// reduced returns values [i, j) of the reduction's operand. Differences are written to tmp.
func (l *Mat) reduced(tmp []float32, i, j int) []float32 {
	if l.b == nil {
		return l.a.Val[i:j]
	}
	kernel.Sub(tmp[i:j], l.a.Val[i:j], l.b.Val[i:j])
	return tmp[i:j]
}

var ones = func() (v [lossChunk]float32) {
	set(v[:], 1)
	return v
}()

func set(dst []float32, v float32) {
	for i := range dst {
		dst[i] = v
	}
}

// Term is a loss and its weight in a sum.
type Term struct {
	Loss   *Mat // 1×1
	Weight float32
}

// WeightedSum returns Σ weight·loss.
func (t *Tape) WeightedSum(terms ...Term) *Mat {
	wants := false
	for _, q := range terms {
		if len(q.Loss.Val) != 1 {
			panic("grad: WeightedSum of a matrix that is not 1×1")
		}
		wants = wants || q.Loss.wants
	}
	l := t.node(1, 1, wants)
	l.aux, l.back = grow(l.aux, len(terms)), weightedSumBack
	l.Val[0] = 0
	for i, q := range terms {
		l.parts, l.aux[i] = append(l.parts, q.Loss), q.Weight
		l.Val[0] += q.Weight * q.Loss.Val[0]
	}
	return l
}

func weightedSumBack(_ *Tape, l *Mat) {
	for i, p := range l.parts {
		if p.wants {
			g := l.aux[i] * l.Grad[0]
			if p.into() {
				g += p.Grad[0]
			}
			p.Grad[0] = g
		}
	}
}

// Norm returns the Euclidean length of every group of neighbouring columns of x (rows, n·group):
// (rows, n). With group 3, the Norm of the difference of positions is the distance of joints. The
// slope at length 0 is 0.
func (t *Tape) Norm(x *Mat, group int) *Mat {
	if group < 1 || x.Cols%group != 0 {
		panic("grad: Norm: the columns are not a multiple of the group")
	}
	y := t.node(x.Rows, x.Cols/group, x.wants)
	y.a, y.n, y.back = x, group, normBack
	t.split(y, len(y.Val), 2*group, func(_ *Tape, y *Mat, i0, i1 int) {
		for i := i0; i < i1; i++ {
			var s float64
			for _, v := range y.a.Val[i*y.n:][:y.n] {
				s += float64(v) * float64(v)
			}
			y.Val[i] = float32(math.Sqrt(s))
		}
	})
	return y
}

func normBack(t *Tape, y *Mat) {
	t.slopes(y.a, y, len(y.Val), 3*y.n, func(t *Tape, y *Mat, i0, i1 int) {
		for i := i0; i < i1; i++ {
			k := float32(0)
			if y.Val[i] > 0 {
				k = y.Grad[i] / y.Val[i]
			}
			kernel.Scale(t.arg.dst[i*y.n:][:y.n], k, y.a.Val[i*y.n:][:y.n])
		}
	})
}

// Gram returns the mean over time of the products of channels, one matrix per sequence. x is
// (batch·length, n), the result (batch·n, n) is xᵀ·x/length for each sequence (Holden et al. 2016,
// eq. 15).
func (t *Tape) Gram(x *Mat, length int) *Mat {
	checkSequences("Gram", x, length)
	n := x.Cols
	y := t.node(x.Rows/length*n, n, x.wants)
	y.a, y.length, y.back = x, length, gramBack
	for s := range x.Rows / length {
		v := x.Val[s*length*n:][:length*n]
		t.pool.Gemm(true, false, n, n, length, v, n, v, n, false, y.Val[s*n*n:], n)
	}
	y.k = 1 / float32(length)
	t.split(y, y.Rows, n, func(_ *Tape, y *Mat, r0, r1 int) {
		v := y.Val[r0*y.Cols : r1*y.Cols]
		kernel.Scale(v, y.k, v)
	})
	return y
}

// gramBack computes dx = x·(dG + dGᵀ)/length.
func gramBack(t *Tape, y *Mat) {
	x, n := y.a, y.Cols
	g := t.borrow(len(y.Val))
	t.split(y, y.Rows, 2*n, func(t *Tape, y *Mat, r0, r1 int) {
		n := y.Cols
		for r := r0; r < r1; r++ {
			first := r - r%n // of this sequence
			row, dy := t.scratch[r*n:][:n], y.Grad[r*n:][:n]
			for c := range row {
				row[c] = y.k * (dy[c] + y.Grad[(first+c)*n+r%n])
			}
		}
	})
	acc := x.into()
	for s := range x.Rows / y.length {
		at := s * y.length * n
		t.pool.Gemm(false, false, y.length, n, n, x.Val[at:], n, g[s*n*n:], n, acc, x.Grad[at:], n)
	}
}
