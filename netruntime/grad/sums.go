package grad

import "mannequin/netruntime/internal/kernel"

// arg is what a parallel job reads beside its matrix.
type arg struct {
	dst, src []float32
	cols, at int
	add      bool
	k        float32
}

// memory is what operations of a tape share and reuse.
type memory struct {
	flipped, spread []float32 // weights of convolutions in another order
	ones            []float32
	sums            []float64
	arg             arg // of the parallel job in progress
	recurrence      recurrence
}

// rowsOf writes v to every row of y.
func (t *Tape) rowsOf(y *Mat, v []float32) {
	t.arg = arg{src: v}
	t.split(y, y.Rows, y.Cols, func(t *Tape, y *Mat, r0, r1 int) {
		for r := r0; r < r1; r++ {
			copy(y.Val[r*y.Cols:][:y.Cols], t.arg.src)
		}
	})
}

// columnSums sets dst to the sums of y's gradient over the rows, or adds them.
func (t *Tape) columnSums(dst []float32, y *Mat, acc bool) {
	t.sumRows(dst, y.Grad, y.Rows, y.Cols, acc)
}

// sumRows sums the rows of a matrix: a product with a row of ones, whose sums do
// not depend on the workers.
func (t *Tape) sumRows(dst, v []float32, rows, cols int, acc bool) {
	for len(t.ones) < rows {
		t.ones = append(t.ones, 1)
	}
	t.pool.Gemm(false, false, 1, cols, rows, t.ones, rows, v, cols, acc, dst, cols)
}

// partial returns where a gradient of x is to be written: its own place, or
// memory from which finish adds it to earlier contributions.
func (t *Tape) partial(x *Mat) (g []float32, acc bool) {
	if !x.into() {
		return x.Grad, false
	}
	return t.borrow(len(x.Grad)), true
}

// finish adds what partial borrowed.
func (t *Tape) finish(x *Mat, acc bool) {
	if acc {
		t.arg.src = t.scratch
		t.split(x, x.Rows, x.Cols, func(t *Tape, x *Mat, r0, r1 int) {
			kernel.Axpy(x.Grad[r0*x.Cols:r1*x.Cols], 1, t.arg.src[r0*x.Cols:r1*x.Cols])
		})
	}
}
