package kernel

// Matrix is row-major data with the given distance between rows. Stride 0
// repeats one row; with a stride below the columns the rows overlap.
type Matrix struct {
	Data   []float32
	Stride int
}

// Row returns m without its first i rows.
func (m Matrix) Row(i int) Matrix { return Matrix{m.Data[i*m.Stride:], m.Stride} }

// Epilogue is what happens to the elements of a product on their way to C.
type Epilogue struct {
	Bias   []float32 // n values, added to every row; or nil
	Biases *Packed   // parts×n, a bias for each part, blended by w as the parts are; or nil
	Act    Activation
}

// layout is the shape of packed matrices. The elements lie by panel, part and
// row of B; in bfloat16 two rows are interleaved.
type layout struct {
	kind   Kind
	bf16   bool
	parts  int
	k, n   int
	panels int
	cols   int // of a panel
	of     int // parts in memory, of which this is some
	from   int // the first of them
}

func newLayout(bf16 bool, parts, k, n int) layout {
	cols := active.PanelCols()
	return layout{kind: active, bf16: bf16, parts: parts, k: k, n: n, panels: (n + cols - 1) / cols, cols: cols, of: parts}
}

// Panels returns how many panels of PanelCols columns each part has.
func (l *layout) Panels() int { return l.panels }

// Cols returns the columns of all panels: n, rounded up to whole panels.
func (l *layout) Cols() int { return l.panels * l.cols }

// padded returns the packed rows of k rows of B: whole pairs in bfloat16.
func (l *layout) padded(k int) int {
	if l.bf16 {
		k += k % 2
	}
	return k
}

// part returns the elements of a panel's part.
func (l *layout) part() int { return l.padded(l.k) * l.cols }

// panel returns where part e of panel q begins.
func (l *layout) panel(q, e int) int { return (q*l.of + l.from + e) * l.part() }

// only returns the layout of part e alone, in the same memory.
func (l layout) only(e int) layout {
	if e < 0 || e >= l.parts {
		panic("kernel: Part: there is no such part")
	}
	l.from, l.parts = l.from+e, 1
	return l
}

// eachPanel calls f with the panel and part, and with what B has there: part
// e of b from panel q's first column on, and how many columns exist.
func (l *layout) eachPanel(trans bool, b []float32, ldb int, f func(q, e int, part []float32, cols int)) {
	size := l.k * ldb
	if trans {
		size = l.n * ldb
	}
	for e := range l.parts {
		part := b[e*size:]
		check("B", trans, l.k, l.n, part, ldb)
		for q := range l.panels {
			f(q, e, part, min(l.cols, l.n-q*l.cols))
		}
	}
}

// Packed is one or several right-hand matrices of one shape, laid out for the
// active kernels, to be multiplied many times.
type Packed struct {
	layout
	data []float32
}

// Pack copies a number of k×n matrices op(B), which follow each other in b,
// into the layout of the active kernels. B is row-major with row length ldb;
// trans says that it is stored transposed.
func Pack(trans bool, parts, k, n int, b []float32, ldb int) *Packed {
	p := &Packed{}
	p.Repack(trans, parts, k, n, b, ldb)
	return p
}

// Repack fills b anew as Pack does, with matrices of any shape. It reuses b's
// memory where that is large enough; b may be zero. Nothing may use b
// meanwhile.
func (b *Packed) Repack(trans bool, parts, k, n int, src []float32, ldb int) {
	b.layout = newLayout(false, parts, k, n)
	if need := b.panel(b.panels, 0); cap(b.data) < need {
		b.data = aligned(need)
	} else {
		b.data = b.data[:need]
	}
	b.eachPanel(trans, src, ldb, func(q, e int, part []float32, cols int) {
		b.kind.pack(b.data[b.panel(q, e):], trans, part, ldb, 0, b.k, q*b.cols, cols)
	})
}

// Part returns part e alone, without copying it.
func (b *Packed) Part(e int) *Packed { return &Packed{b.layout.only(e), b.data} }

// Mul computes panels [p0, p1) of
//
//	C = act(Σ diag(w_e)·(A·B_e + biases_e) + bias)      or
//	C = act(C + Σ diag(w_e)·(A·B_e + biases_e) + bias)  where add
//
// over the parts e, for the given number of rows. A has k columns, C has n, w
// one for each part. Rows of A may overlap: so a convolution over time reads a
// padded sequence. Columns of C beyond n are neither read nor written.
func (b *Packed) Mul(s *Scratch, c, w, a Matrix, rows int, add bool, ep Epilogue, p0, p1 int) {
	if rows == 0 || p0 >= p1 {
		return
	}
	if len(a.Data) < (rows-1)*a.Stride+b.k {
		panic("kernel: Mul: A is too small")
	}
	m := packedMul{operands{&b.layout, a.Data, nil, a.Stride, b.data, nil}, c, w, rows, add, ep}
	m.compute(s, p0, p1)
}

// MulPanels computes panels [p0, p1) of C = A·B, or of C = C + A·B where add,
// for the given number of rows; panel p0 is C's first one. Where add, the rows
// of a panel of C must follow each other. B has one part. What the last panel
// of C holds beyond column n is undefined.
func (b *Packed) MulPanels(s *Scratch, c Panels, a Matrix, rows int, add bool, p0, p1 int) {
	if rows == 0 || p0 >= p1 {
		return
	}
	if len(a.Data) < (rows-1)*a.Stride+b.k {
		panic("kernel: MulPanels: A is too small")
	}
	o := operands{&b.layout, a.Data, nil, a.Stride, b.data, nil}
	o.panelsInto(s, c, rows, !add, p0, p1)
}
