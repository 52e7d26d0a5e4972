package kernel

// Matrix is row-major data with the given distance between rows. Stride 0 repeats one row. With a
// stride below the number of columns, rows overlap.
type Matrix struct {
	Data   []float32
	Stride int
}

// Row returns m without its first i rows.
func (m Matrix) Row(i int) Matrix { return Matrix{m.Data[i*m.Stride:], m.Stride} }

// Operand is the left side of a product with a Packed matrix: row-major data in the matrix's type,
// with the given distance between rows, as in Matrix.
type Operand struct {
	F32    []float32
	BF16   []uint16 // in place of F32
	Stride int
}

// Epilogue is the last step of a product, before its elements are written to C.
type Epilogue struct {
	Bias   []float32 // n values, added to every row; or nil
	Biases *Packed   // parts×n, a bias for each part, blended by w as the parts are; or nil
	Act    Activation
}

// layout is the shape of packed matrices. The elements are ordered by panel, part and row of B. In
// bfloat16 two rows are interleaved.
type layout struct {
	kind   Kind
	bf16   bool
	parts  int
	k, n   int
	panels int
	cols   int // of a panel
	of     int // parts in memory, of which this layout covers some
	from   int // the first of them
}

func newLayout(bf16 bool, parts, k, n int) layout {
	cols := active.PanelCols()
	return layout{kind: active, bf16: bf16, parts: parts, k: k, n: n, panels: (n + cols - 1) / cols, cols: cols, of: parts}
}

// Panels returns the number of panels of PanelCols columns of each part.
func (l *layout) Panels() int { return l.panels }

// padded returns the number of packed rows for k rows of B: a multiple of two in bfloat16.
func (l *layout) padded(k int) int {
	if l.bf16 {
		k += k % 2
	}
	return k
}

// part returns the number of elements of one part of a panel.
func (l *layout) part() int { return l.padded(l.k) * l.cols }

// panel returns the offset of part e of panel q.
func (l *layout) panel(q, e int) int { return (q*l.of + l.from + e) * l.part() }

// only returns the layout of part e alone, in the same memory.
func (l layout) only(e int) layout {
	if e < 0 || e >= l.parts {
		panic("kernel: Part: it is out of range")
	}
	l.from, l.parts = l.from+e, 1
	return l
}

// eachPanel calls f for each panel q and part e. part is part e of b, and cols is the number of
// columns that exist from the panel's first column on.
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

// Packed is one or several right-hand matrices of one shape, laid out for the active kernels, to be
// multiplied many times.
type Packed struct {
	layout
	data []float32
	half []uint16 // in place of data, in bfloat16
}

// Pack copies a number of k×n matrices op(B), which follow each other in b, into the layout of the
// active kernels. B is row-major with row length ldb, and stored transposed if trans is set.
func Pack(trans bool, parts, k, n int, b []float32, ldb int) *Packed {
	p := &Packed{}
	p.Repack(trans, parts, k, n, b, ldb)
	return p
}

// Repack fills b again as Pack does, with matrices of any shape. It reuses b's memory if that is
// large enough; b may be zero. Nothing else may use b at the same time.
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
func (b *Packed) Part(e int) *Packed { return &Packed{b.layout.only(e), b.data, b.half} }

// Mul computes panels [p0, p1) of
//
//	C = act(Σ diag(w_e)·(A·B_e + biases_e) + bias)      or
//	C = act(C + Σ diag(w_e)·(A·B_e + biases_e) + bias)  if add
//
// over the parts e, for the given number of rows. A has k columns, C has n, and w has one for each
// part. Rows of A may overlap, so that a convolution over time reads a padded sequence. Columns of
// C beyond n are neither read nor written, and no value of A beyond its rows is read.
func (b *Packed) Mul(s *Scratch, c, w Matrix, a Operand, rows int, add bool, ep Epilogue, p0, p1 int) {
	if rows == 0 || p0 >= p1 {
		return
	}
	m := packedMul{b.operands(a, rows), c, w, rows, add, ep}
	m.compute(s, p0, p1)
}

// MulPanels computes panels [p0, p1) of C = A·B, or of C = C + A·B if add is set, for the given
// number of rows. Panel p0 is C's first. If add is set, the rows of a panel of C must be
// contiguous. B has one part. The last panel of C holds undefined values beyond column n.
func (b *Packed) MulPanels(s *Scratch, c Panels, a Operand, rows int, add bool, p0, p1 int) {
	if rows == 0 || p0 >= p1 {
		return
	}
	o := b.operands(a, rows)
	o.panelsInto(s, c, rows, !add, p0, p1)
}

func (b *Packed) operands(a Operand, rows int) operands {
	have := len(a.F32)
	if b.bf16 {
		have = len(a.BF16)
	}
	if have < (rows-1)*a.Stride+b.k {
		panic("kernel: Mul: A is too small")
	}
	return operands{&b.layout, a.F32, a.BF16, a.Stride, b.data, b.half}
}

const (
	packedBlock = 512 // products that are summed in a register before w scales the sum
	stripRows   = 192 // rows of A that stay in the second-level cache beside a panel of B
)

// operands is a left and a packed right side.
type operands struct {
	*layout
	a   []float32
	a16 []uint16
	rs  int // from row to row of A
	b   []float32
	b16 []uint16
}

// packedMul is a packed Mul in progress.
type packedMul struct {
	operands
	c, w Matrix
	rows int
	add  bool
	ep   Epilogue
}

// compute finishes a panel of a strip of rows before it goes on, so that the sums stay in the
// first-level cache over all parts and the epilogue. No element's sum depends on how rows and
// panels are divided.
func (m *packedMul) compute(s *Scratch, p0, p1 int) {
	last, n := m.rows-1, min(m.n, p1*m.cols)
	switch {
	case p0 < 0 || p1 > m.panels:
		panic("kernel: Mul: panels are out of range")
	case len(m.c.Data) < last*m.c.Stride+n:
		panic("kernel: Mul: C is too small")
	case len(m.w.Data) < last*m.w.Stride+m.parts:
		panic("kernel: Mul: w is too small")
	case m.ep.Bias != nil && len(m.ep.Bias) < n:
		panic("kernel: Mul: the bias is too small")
	case m.ep.Biases != nil && (m.ep.Biases.parts != 1 || m.ep.Biases.k != m.parts || m.ep.Biases.n != m.n || m.ep.Biases.kind != m.kind):
		panic("kernel: Mul: the biases are of another shape")
	}
	s.Reserve(false)
	strips := (m.rows + stripRows - 1) / stripRows
	for r0 := 0; strips > 0; strips-- {
		rows := (m.rows - r0) / strips
		for p, step := p0, 0; p < p1; p += step {
			step = m.kind.atOnce(rows, p1-p, m.bf16)
			m.panelsOf(s, r0, rows, p, step)
		}
		r0 += rows
	}
}

// panelsOf computes C for rows [r0, r0 + rows) and panels [p, p + panels).
func (m *packedMul) panelsOf(s *Scratch, r0, rows, p, panels int) {
	t := &s.s
	t.cs = rows * m.cols
	t.first = true
	strip := s.strip[:panels*t.cs]
	if m.add || m.ep.Bias != nil || m.k == 0 {
		m.begin(strip, r0, rows, p)
		t.first = false
	}
	if b := m.ep.Biases; b != nil {
		o := operands{layout: &b.layout, a: m.w.Data, rs: m.w.Stride, b: b.data}
		first := t.first
		for q := range panels {
			t.first = first
			o.multiply(t, strip[q*t.cs:], Matrix{Data: unit}, r0, rows, p+q, 1)
		}
	}
	m.multiply(t, strip, m.w.Row(r0), r0, rows, p, panels)
	m.ep.Act.Apply(strip, strip)
	for q := range panels {
		from := (p + q) * m.cols
		n := min(m.cols, m.n-from)
		for i := range rows {
			copy(m.c.Data[(r0+i)*m.c.Stride+from:][:n], strip[q*t.cs+i*m.cols:])
		}
	}
}

// multiply adds the products of rows [r0, r0 + rows) of A to the strip, or starts the strip if
// t.first is set. w begins at row r0.
func (o *operands) multiply(t *strip, strip []float32, w Matrix, r0, rows, p, panels int) {
	var runs [3]rowRun
	n := 0
	for _, g := range o.kind.tiles(rows) {
		if g.n > 0 {
			runs[n] = rowRun{g, r0 * o.rs, g.rows * o.rs}
			r0, n = r0+g.rows*g.n, n+1
		}
	}
	step, first := o.kind.wide(rows, o.bf16), t.first
	for {
		if step > panels {
			step = 1
		}
		groups := panels / step
		switch {
		case n > 1:
			groups = 1 // while the panel is in the cache
		case groups > 1 && step == 1 && o.half(p+groups-1):
			groups--
		}
		t.first = first
		o.multiplyRuns(t, strip, w, runs[:n], p, groups, step)
		if panels -= groups * step; panels == 0 {
			return
		}
		p, strip = p+groups*step, strip[groups*step*t.cs:]
	}
}

// half reports whether B has columns only in the first half of a panel.
func (o *operands) half(p int) bool { return o.n-p*o.cols <= o.cols/2 }

// rowRun is a run of tiles of rows of A. In the strip they follow the tiles of the run before.
type rowRun struct {
	tileRun
	a   int // offset of the first tile in A
	hop int // distance from tile to tile
}

// multiplyRuns is multiply for any runs of tiles that share a pass over the panels: one group of
// panels, or several if there is one run.
func (o *operands) multiplyRuns(t *strip, strip []float32, w Matrix, runs []rowRun, p, groups, panels int) {
	n := 0
	for i := range runs {
		n += runs[i].n
	}
	t.rs, t.ws, t.ps, t.groups = o.rs, w.Stride, o.of*o.part(), groups
	t.soonStep = (4*o.cols + n - 1) / n
	if panels == 1 && groups == 1 && o.half(p) {
		panels = 0 // the other half is padding
	}
	for e := range o.parts {
		for l := 0; l < o.k; l += packedBlock {
			k := min(packedBlock, o.k-l)
			at := o.panel(p, e) + l*o.cols
			soon := at + o.padded(k)*o.cols // the data after the block
			if groups > 1 {
				soon = at + t.ps // the same block of the next panel
			}
			t.k, t.odd = k, false
			if o.bf16 {
				t.k, t.odd = k/2, k%2 == 1
				t.b16 = o.b16[at:]
			} else {
				t.b = o.b[at:]
			}
			i := 0
			for j := range runs {
				g := &runs[j]
				t.tiles, t.hop = g.n, g.hop
				t.c, t.w = strip[i*o.cols:], w.Data[i*t.ws+e:]
				if o.bf16 {
					t.a16, t.soon16 = o.a16[g.a+l:], o.b16[min(soon, len(o.b16)):]
					soon += g.n * t.k * t.soonStep / 2
				} else {
					t.a, t.soon = o.a[g.a+l:], o.b[min(soon, len(o.b)):]
					soon += g.n * t.k * t.soonStep / 4
				}
				o.kind.strip(g.rows, panels, o.bf16, t)
				i += g.n * g.rows
			}
			t.first = false
		}
	}
}

// tileRun is n tiles of the given number of rows.
type tileRun struct{ rows, n int }

// tiles divides rows into the largest tiles. If few rows remain, they and one of the tiles are
// split into two.
func (k Kind) tiles(rows int) [3]tileRun {
	most, _ := k.tile()
	n, rest := rows/most, rows%most
	if n > 0 && rest > 0 && rest < most/2 {
		n, rest = n-1, rest+most
		return [3]tileRun{{most, n}, {(rest + 1) / 2, 1}, {rest / 2, 1}}
	}
	return [3]tileRun{{most, n}, {rest, min(rest, 1)}}
}

// begin writes the values to which the products are added.
func (m *packedMul) begin(strip []float32, r0, rows, p int) {
	for ; len(strip) > 0; p++ {
		from := p * m.cols
		n := min(m.cols, m.n-from)
		for i := range rows {
			row := strip[i*m.cols:][:m.cols]
			clear(row[n:])
			row = row[:n]
			switch {
			case m.add && m.ep.Bias != nil:
				Add(row, m.c.Data[(r0+i)*m.c.Stride+from:][:n], m.ep.Bias[from:][:n])
			case m.add:
				copy(row, m.c.Data[(r0+i)*m.c.Stride+from:])
			case m.ep.Bias == nil:
				clear(row)
			default:
				copy(row, m.ep.Bias[from:])
			}
		}
		strip = strip[rows*m.cols:]
	}
}

// Panels is a matrix in the order of products, panel by panel: element (i, j) of panel q is
// Data[q·Stride + i·Row + j], for j below Kind.PanelCols.
type Panels struct {
	Data        []float32
	Stride, Row int
}

// panelsInto computes panels [p0, p1) of C = A·B if first is set, else of C = C + A·B, into the
// panels of C from the first on. Sums have the order of compute.
func (o *operands) panelsInto(s *Scratch, c Panels, rows int, first bool, p0, p1 int) {
	last := (p1-p0-1)*c.Stride + (rows-1)*c.Row + o.cols
	switch {
	case p0 < 0 || p1 > o.panels:
		panic("kernel: MulPanels: panels are out of range")
	case o.parts != 1 || o.k == 0:
		panic("kernel: MulPanels: the right side must be one matrix, and not empty")
	case len(c.Data) < last:
		panic("kernel: MulPanels: C is too small")
	case c.Row != o.cols && !first:
		panic("kernel: MulPanels: rows of C that are added to must follow each other")
	}
	s.Reserve(false)
	t := &s.s
	strips := (rows + stripRows - 1) / stripRows
	for r0 := 0; strips > 0; strips-- {
		n := (rows - r0) / strips
		if c.Row == o.cols {
			t.cs, t.first = c.Stride, first
			o.multiply(t, c.Data[r0*o.cols:], Matrix{Data: unit}, r0, n, p0, p1-p0)
		} else {
			t.cs = n * o.cols
			for p := p0; p < p1; p++ {
				t.first = true
				o.multiply(t, s.strip, Matrix{Data: unit}, r0, n, p, 1)
				for i := range n {
					copy(c.Data[(p-p0)*c.Stride+(r0+i)*c.Row:][:o.cols], s.strip[i*o.cols:])
				}
			}
		}
		r0 += n
	}
}
