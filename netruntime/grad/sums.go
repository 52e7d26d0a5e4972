package grad

import "mannequin/netruntime/internal/kernel"

// arg is the arguments of a parallel job besides its matrix.
type arg struct {
	dst, src []float32
	cols, at int
	add      bool
	k        float32
}

// memory is what the operations of a tape share and reuse.
type memory struct {
	flipped, spread []float32 // weights of convolutions in another order
	ones            []float32
	sums            []float64
	arg             arg // of the parallel job in progress
	recurrence      recurrence
}

// rowsOf writes v to dst for every row of y.
func (t *Tape) rowsOf(y *Mat, dst, v []float32) {
	t.arg = arg{dst: dst, src: v}
	t.split(y, y.Rows, len(v), func(t *Tape, _ *Mat, r0, r1 int) {
		for r := r0; r < r1; r++ {
			copy(t.arg.dst[r*len(t.arg.src):], t.arg.src)
		}
	})
}

// biasGrad adds the sums of y's gradient over the rows to the gradient of its bias.
func (t *Tape) biasGrad(y *Mat) {
	if b := y.c; b != nil && !b.Frozen {
		t.sumRows(b.Grad, y.Grad, y.Rows, y.Cols, b.into(t))
	}
}

// sumRows sums the rows of a matrix, or adds the sums to dst. It is a product with a row of ones,
// whose sums do not depend on the workers.
func (t *Tape) sumRows(dst, v []float32, rows, cols int, acc bool) {
	for len(t.ones) < rows {
		t.ones = append(t.ones, 1)
	}
	t.pool.Gemm(false, false, 1, cols, rows, t.ones, rows, v, cols, acc, dst, cols)
}

// slopes runs f as split does. f writes each value of the gradient of x to t.arg.dst once: that is
// x's own gradient, or scratch memory if there are earlier contributions, to which slopes adds it.
func (t *Tape) slopes(x, y *Mat, count, work int, f func(t *Tape, y *Mat, i0, i1 int)) {
	dst, acc := x.Grad, x.into()
	if acc {
		dst = t.borrow(len(dst))
	}
	t.arg = arg{dst: dst}
	t.split(y, count, work, f)
	if acc {
		t.arg.src = dst
		t.split(x, len(x.Val), 1, func(t *Tape, x *Mat, i, j int) {
			kernel.Axpy(x.Grad[i:j], 1, t.arg.src[i:j])
		})
	}
}
