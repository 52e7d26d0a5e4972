package baseline

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// triangle is the R of a QR decomposition of a tall matrix whose rows come one
// after the other. R is all that least squares and projections need of the
// matrix, at the accuracy of the matrix itself, where RᵀR would have half of the
// digits; and the R of two matrices, one below the other, is that of their Rs.
type triangle struct {
	n, fill int       // columns, rows that wait
	rows    []float64 // (n + room, n): R, then the rows that wait
	room    int
	tau     []float64
	work    []float64
}

func newTriangle(n int) *triangle {
	room := max(2*n, 64)
	return &triangle{n: n, room: room, rows: make([]float64, (n+room)*n), tau: make([]float64, n), work: make([]float64, 64*n)}
}

// row is the next row of the matrix, zeros to be filled in before the next call.
func (t *triangle) row() []float64 {
	if t.fill == t.room {
		t.reduce()
	}
	at := (t.n + t.fill) * t.n
	t.fill++
	row := t.rows[at : at+t.n]
	clear(row) // of the reflections' vectors
	return row
}

func (t *triangle) reduce() {
	if t.fill == 0 {
		return
	}
	rows := t.n + t.fill
	a := blas64.General{Rows: rows, Cols: t.n, Stride: t.n, Data: t.rows[:rows*t.n]}
	// Reflections leave their vectors below the diagonal, but in the first n rows
	// nothing has to be reflected away, and zeros remain.
	lapack64.Geqrf(a, t.tau, t.work, len(t.work))
	t.fill = 0
}

// r is R, (n, n), upper triangular. It shares t's memory.
func (t *triangle) r() *mat.Dense {
	t.reduce()
	return mat.NewDense(t.n, t.n, t.rows[:t.n*t.n])
}

// add puts rows from and on of u's R, and of them the columns from and on, below
// t. With from 0 that is u's whole matrix; with another from it is what u's
// later columns have besides the first ones.
func (t *triangle) add(u *triangle, from int) {
	r := u.r()
	for i := from; i < u.n; i++ {
		copy(t.row(), r.RawRowView(i)[from:])
	}
}

// reset forgets all rows.
func (t *triangle) reset() {
	clear(t.rows[:t.n*t.n])
	t.fill = 0
}
