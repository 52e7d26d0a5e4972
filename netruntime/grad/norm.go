package grad

import (
	"math"

	"mannequin/netruntime/internal/kernel"
)

const batchNormEps = 1e-5 // added to the variance

// BatchStats are the running statistics of a batch normalisation, a value for each column. They
// belong to the model, beside its parameters.
type BatchStats struct {
	Mean, Var []float32
	Momentum  float32 // share that each training pass contributes, in (0, 1]
}

// NewBatchStats returns mean 0, variance 1 and momentum 0.1.
func NewBatchStats(cols int) *BatchStats {
	cols = max(cols, 0)
	s := &BatchStats{make([]float32, cols), make([]float32, cols), 0.1}
	set(s.Var, 1)
	return s
}

// BatchNorm returns (x − mean)/√(var + 1e-5)·gamma + beta, column by column (Ioffe and Szegedy
// 2015). In training, mean and variance are those of x over its rows, and the gradient passes
// through them. running then moves towards them by its momentum, with the unbiased variance.
// Otherwise mean and variance are running's.
func (t *Tape) BatchNorm(x *Mat, gamma, beta *Param, running *BatchStats, train bool) *Mat {
	n := x.Cols
	if gamma.Rows*gamma.Cols != n || beta.Rows*beta.Cols != n || len(running.Mean) != n || len(running.Var) != n {
		panic("grad: BatchNorm: " + gamma.Name + ", bias or statistics do not fit the input")
	}
	t.use(gamma, beta)
	y := t.node(x.Rows, n, x.wants || !gamma.Frozen || !beta.Frozen)
	y.a, y.w, y.c, y.flag, y.back = x, gamma, beta, train, batchNormBack
	y.aux = grow(y.aux, (x.Rows+5)*n)
	mean, inv := y.norm(0), y.norm(1)
	copy(mean, running.Mean)
	if train {
		t.sumRows(mean, x.Val, x.Rows, n, false)
		kernel.Scale(mean, 1/float32(x.Rows), mean)
	}
	t.split(y, y.Rows, 2*n, func(_ *Tape, y *Mat, r0, r1 int) {
		for r := r0; r < r1; r++ {
			kernel.Sub(y.unit(r), y.a.Val[r*y.Cols:][:y.Cols], y.norm(0))
		}
	})
	copy(inv, running.Var)
	if train {
		t.split(y, len(y.Val), 2, func(_ *Tape, y *Mat, i, j int) {
			kernel.Mul(y.Val[i:j], y.aux[i:j], y.aux[i:j])
		})
		t.sumRows(inv, y.Val, y.Rows, n, false)
		kernel.Scale(inv, 1/float32(x.Rows), inv)
		m, unbias := running.Momentum, float32(x.Rows)/float32(max(1, x.Rows-1))
		for i := range n {
			running.Mean[i] += m * (mean[i] - running.Mean[i])
			running.Var[i] += m * (unbias*inv[i] - running.Var[i])
		}
	}
	for i, v := range inv {
		inv[i] = float32(1 / math.Sqrt(float64(v)+batchNormEps))
	}
	t.split(y, y.Rows, 4*n, func(_ *Tape, y *Mat, r0, r1 int) {
		for r := r0; r < r1; r++ {
			unit := y.unit(r)
			kernel.Mul(unit, unit, y.norm(1))
			kernel.Affine(y.Val[r*y.Cols:][:y.Cols], unit, y.w.Val, y.c.Val)
		}
	})
	return y
}

// unit returns row r of the normalised input.
func (y *Mat) unit(r int) []float32 { return y.aux[r*y.Cols:][:y.Cols] }

// norm returns one of five rows of numbers by column: the mean, 1/deviation, and three that
// backward uses.
func (y *Mat) norm(i int) []float32 { return y.unit(y.Rows + i) }

// batchNormBack computes, with u the normalised input and sums over the N rows,
//
//	dbeta = Σ dy    dgamma = Σ dy·u    dx = gamma/deviation·(dy − dbeta/N − u·dgamma/N)
//
// or only the first term of dx if the statistics are constants.
func batchNormBack(t *Tape, y *Mat) {
	x, gamma, beta, n := y.a, y.w, y.c, y.Cols
	scale, shift, slope := y.norm(2), y.norm(3), y.norm(4)
	if y.flag || !gamma.Frozen || !beta.Frozen {
		t.sumRows(shift, y.Grad, y.Rows, n, false)
		t.spread = grow(t.spread, len(y.Val))
		t.split(y, len(y.Val), 3, func(t *Tape, y *Mat, i, j int) {
			kernel.Mul(t.spread[i:j], y.Grad[i:j], y.aux[i:j])
		})
		t.sumRows(slope, t.spread, y.Rows, n, false)
	}
	if !beta.Frozen {
		(&arg{add: beta.into(t), k: 1}).accumulate(beta.Grad, shift)
	}
	if !gamma.Frozen {
		(&arg{add: gamma.into(t), k: 1}).accumulate(gamma.Grad, slope)
	}
	if !x.wants {
		return
	}
	kernel.Mul(scale, gamma.Val, y.norm(1))
	for _, v := range [2][]float32{shift, slope} {
		kernel.Mul(v, v, scale)
		kernel.Scale(v, -1/float32(y.Rows), v)
	}
	t.slopes(x, y, y.Rows, 6*n, func(t *Tape, y *Mat, r0, r1 int) {
		for r := r0; r < r1; r++ {
			g, dy := t.arg.dst[r*y.Cols:][:y.Cols], y.Grad[r*y.Cols:][:y.Cols]
			if y.flag {
				kernel.Affine(g, dy, y.norm(2), y.norm(3))
				kernel.MulAdd(g, y.unit(r), y.norm(4))
			} else {
				kernel.Mul(g, dy, y.norm(2))
			}
		}
	})
}
