package baseline

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// triangle is the R of a QR decomposition of a tall matrix, row by row. R is all that least squares
// and projections need, at full accuracy; RᵀR would have half of the digits. The R of two stacked
// matrices is the R of their stacked Rs.
type triangle struct {
	n, fill int       // columns, pending rows
	rows    []float64 // (n + room, n): R, then the pending rows
	room    int
	tau     []float64
	work    []float64
}

func newTriangle(n int) *triangle {
	room := max(2*n, 64)
	return &triangle{n: n, room: room, rows: make([]float64, (n+room)*n), tau: make([]float64, n), work: make([]float64, 64*n)}
}

// row returns the next row of the matrix, zeros to fill in before the next call.
func (t *triangle) row() []float64 {
	if t.fill == t.room {
		t.reduce()
	}
	at := (t.n + t.fill) * t.n
	t.fill++
	row := t.rows[at : at+t.n]
	clear(row) // holds vectors of reflections
	return row
}

func (t *triangle) reduce() {
	if t.fill == 0 {
		return
	}
	rows := t.n + t.fill
	a := blas64.General{Rows: rows, Cols: t.n, Stride: t.n, Data: t.rows[:rows*t.n]}
	// Reflections leave their vectors below the diagonal. The first n rows keep their zeros.
	lapack64.Geqrf(a, t.tau, t.work, len(t.work))
	t.fill = 0
}

// r returns R, (n, n), upper triangular. It shares t's memory.
func (t *triangle) r() *mat.Dense {
	t.reduce()
	return mat.NewDense(t.n, t.n, t.rows[:t.n*t.n])
}

// add appends rows and columns from from on of u's R. With 0 that is u's whole matrix; otherwise it
// is u's later columns with the first ones eliminated.
func (t *triangle) add(u *triangle, from int) {
	r := u.r()
	for i := from; i < u.n; i++ {
		copy(t.row(), r.RawRowView(i)[from:])
	}
}

func (t *triangle) reset() {
	clear(t.rows[:t.n*t.n])
	t.fill = 0
}
