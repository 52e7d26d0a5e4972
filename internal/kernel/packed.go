package kernel

// Packed is one or several right-hand matrices of one shape, laid out for the
// active kernels, to be multiplied many times. It is immutable.
type Packed struct {
	kind   Kind
	parts  int
	k, n   int
	panels int
	// By part, block of BlockK rows, panel, row.
	data []float32
}

// Matrix is row-major data with the given distance between rows. Stride 0
// repeats one row.
type Matrix struct {
	Data   []float32
	Stride int
}

// Row returns m without its first i rows.
func (m Matrix) Row(i int) Matrix { return Matrix{m.Data[i*m.Stride:], m.Stride} }

// Pack copies a number of k×n matrices op(B), which follow each other in b,
// into the layout of the active kernels. B is row-major with row length ldb;
// trans says that it is stored transposed.
func Pack(trans bool, parts, k, n int, b []float32, ldb int) *Packed {
	_, cols := active.tile()
	p := &Packed{kind: active, parts: parts, k: k, n: n, panels: (n + cols - 1) / cols}
	p.data = aligned(parts * k * p.panels * cols)
	dst, size := p.data, k*ldb
	if trans {
		size = n * ldb
	}
	for e := range parts {
		part := b[e*size:]
		check("B", trans, k, n, part, ldb)
		for l := 0; l < k; l += BlockK {
			kc := min(BlockK, k-l)
			for q := range p.panels {
				active.pack(dst, trans, part, ldb, l, kc, q*cols, min(cols, n-q*cols))
				dst = dst[kc*cols:]
			}
		}
	}
	return p
}

// Panels returns how many panels of PanelCols columns each part has.
func (b *Packed) Panels() int { return b.panels }

// Cols returns the columns of all panels: n, rounded up to whole panels. The
// columns beyond n are zero.
func (b *Packed) Cols() int { return b.panels * b.kind.PanelCols() }

// Mul computes panels [p0, p1) of
//
//	C = Σ diag(w_e)·A·B_e      or
//	C = C + Σ diag(w_e)·A·B_e  where add
//
// over the parts e, for the given number of rows. C has Cols columns, w one
// column for each part.
func (b *Packed) Mul(s *Scratch, c, w, a Matrix, rows int, add bool, p0, p1 int) {
	if rows == 0 || p0 >= p1 {
		return
	}
	_, cols := b.kind.tile()
	last := rows - 1
	if p1 > b.panels || len(c.Data) < last*c.Stride+p1*cols || len(a.Data) < last*a.Stride+b.k || len(w.Data) < last*w.Stride+b.parts {
		panic("kernel: Mul: a matrix is too small")
	}
	x := span{kind: b.kind, rows: rows, rs: a.Stride, cs: 1, bs: cols, panels: p1 - p0,
		c: c.Data[p0*cols:], ldc: c.Stride, ws: w.Stride, first: !add}
	data := b.data
	for e := range b.parts {
		x.w = w.Data[e:]
		for l := 0; l < b.k; l += BlockK {
			x.k = min(BlockK, b.k-l)
			x.ps = x.k * cols
			x.a = a.Data[l:]
			x.b = data[p0*x.ps:]
			data = data[b.panels*x.ps:]
			if len(data) > 0 { // the same panels of the next block
				next := min(BlockK, b.k-l-x.k)
				if next == 0 {
					next = min(BlockK, b.k)
				}
				x.after = data[p0*next*cols:]
			} else {
				x.after = nil
			}
			s.compute(&x)
			x.first = false
		}
	}
}
