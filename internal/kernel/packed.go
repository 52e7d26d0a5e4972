package kernel

// Packed is a right-hand matrix laid out for the active kernels, to be
// multiplied many times. It is immutable.
type Packed struct {
	kind   Kind
	k, n   int
	panels int
	data   []float32 // blocks of BlockK rows; in each panel after panel, row by row
}

// Matrix is row-major data with the given distance between rows. Stride 0
// repeats one row.
type Matrix struct {
	Data   []float32
	Stride int
}

// Row returns m without its first i rows.
func (m Matrix) Row(i int) Matrix { return Matrix{m.Data[i*m.Stride:], m.Stride} }

// Pack copies op(B), k×n, into the layout of the active kernels. B is
// row-major with row length ldb; trans says that it is stored transposed.
func Pack(trans bool, k, n int, b []float32, ldb int) *Packed {
	check("B", trans, k, n, b, ldb)
	_, cols := active.tile()
	p := &Packed{kind: active, k: k, n: n, panels: (n + cols - 1) / cols}
	p.data = aligned(k * p.panels * cols)
	dst := p.data
	for l := 0; l < k; l += BlockK {
		kc := min(BlockK, k-l)
		for q := range p.panels {
			active.pack(dst, trans, b, ldb, l, kc, q*cols, min(cols, n-q*cols))
			dst = dst[kc*cols:]
		}
	}
	return p
}

// Panels returns how many panels of PanelCols columns b has.
func (b *Packed) Panels() int { return b.panels }

// Cols returns the columns of all panels: n, rounded up to whole panels. The
// columns beyond n are zero.
func (b *Packed) Cols() int { return b.panels * b.kind.PanelCols() }

// Mul computes panels [p0, p1) of
//
//	C = diag(w)·A·B      or
//	C = C + diag(w)·A·B  where add
//
// for the given number of rows. C has Cols columns; w has one column.
func (b *Packed) Mul(s *Scratch, c, w, a Matrix, rows int, add bool, p0, p1 int) {
	if rows == 0 || p0 >= p1 {
		return
	}
	_, cols := b.kind.tile()
	last := rows - 1
	if p1 > b.panels || len(c.Data) < last*c.Stride+p1*cols || len(a.Data) < last*a.Stride+b.k || len(w.Data) <= last*w.Stride {
		panic("kernel: Mul: a matrix is too small")
	}
	x := span{kind: b.kind, rows: rows, rs: a.Stride, cs: 1, bs: cols, panels: p1 - p0,
		c: c.Data[p0*cols:], ldc: c.Stride, w: w.Data, ws: w.Stride, first: !add}
	for l := 0; l < b.k; l += BlockK {
		x.k = min(BlockK, b.k-l)
		x.ps = x.k * cols
		x.a = a.Data[l:]
		x.b = b.data[l*b.panels*cols+p0*x.ps:]
		s.compute(&x)
		x.first = false
	}
}
