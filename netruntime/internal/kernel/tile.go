package kernel

// tile is the argument of a microkernel: rows × panels·cols elements of
//
//	C = w·(A·B)      if first
//	C = C + w·(A·B)  otherwise
//
// w scales each row of the product. Strides count elements. The assembly reads this struct by field
// name, and turns strides into bytes.
type tile struct {
	k      int       // products per element, at least 1
	a      []float32 // A(i, l) = a[i·rs + l·cs]
	rs, cs int
	b      []float32 // B(l, j) of panel p = b[l·bs + p·ps + j]
	bs, ps int
	soon   []float32 // the next panel of B, rows bs apart, to be prefetched
	c      []float32 // C(i, j) of panel p = c[i·ldc + p·cols + j]
	ldc    int
	w      []float32 // w(i) = w[i·ws]
	ws     int
	first  bool
}

// unit scales by one.
var unit = []float32{1}

// Tall tiles keep the multipliers busy with one panel. Tiles of one to three rows use several
// panels at once instead, so that the order of each sum stays the same.
var widePanels = [4]int{0, 4, 2, 2} // by rows

// Scratch is the working memory of one goroutine; the zero value is ready.
type Scratch struct {
	t     tile
	s     strip
	strip []float32 // rows of some panels of C, each whole
	b     []float32 // packed panels of B
	edge  []float32 // one tile of C if B's last panel is partial

	filter *filterScratch
}

// Reserve allocates the memory of packed products, and of filters on request, before their first
// use.
func (s *Scratch) Reserve(filters bool) {
	if s.strip == nil {
		s.strip = aligned(stripRows * maxCols)
	}
	if s.filter == nil && filters {
		s.filter = &filterScratch{sums: aligned(4 * stripRows * maxCols)}
	}
}

// span is a range of panels of B and of rows of A and C that a worker computes.
type span struct {
	kind   Kind
	rows   int
	k      int
	a      []float32
	rs, cs int
	b      []float32
	bs, ps int
	after  []float32 // the data after the last panel, or nil
	panels int
	c      []float32
	ldc    int
	w      []float32
	ws     int
	first  bool
	half   bool // only the first half of the one panel exists
}

// compute runs the span's tiles panel by panel, so that a panel of B stays in the first-level cache
// for all rows.
func (s *Scratch) compute(x *span) {
	maxRows, cols := x.kind.tile()
	t := &s.t
	t.k, t.rs, t.cs, t.bs, t.ps, t.ldc, t.ws, t.first = x.k, x.rs, x.cs, x.bs, x.ps, x.ldc, x.ws, x.first
	step := 1
	if x.rows < len(widePanels) && x.kind >= AVX2 {
		step = widePanels[x.rows]
	}
	tiles := (x.rows + maxRows - 1) / maxRows
	for p := 0; p < x.panels; {
		if p+step > x.panels {
			step = 1
		}
		t.b = x.b[p*x.ps:]
		t.soon = t.b
		next := t.b
		if p+step < x.panels {
			next = x.b[(p+step)*x.ps:]
		} else if x.after != nil {
			next = x.after
		}
		i := 0
		for n := range tiles {
			if n == tiles-1 {
				t.soon = next
			}
			r := (x.rows - i) / (tiles - n) // as even as possible: 13 rows are 6 and 7
			t.a = x.a[i*x.rs:]
			t.c = x.c[i*x.ldc+p*cols:]
			t.w = x.w[i*x.ws:]
			if x.half {
				x.kind.micro(r, 0, t)
			} else {
				x.kind.micro(r, step, t)
			}
			i += r
		}
		p += step
	}
}

// computeEdge is compute for one panel of which only n columns exist in C.
func (s *Scratch) computeEdge(x *span, n int) {
	maxRows, cols := x.kind.tile()
	y := *x
	y.panels, y.half = 1, n <= cols/2
	y.c, y.ldc = s.edge, cols
	for i := 0; i < x.rows; {
		r := min(maxRows, x.rows-i)
		y.rows, y.a, y.w = r, x.a[i*x.rs:], x.w[i*x.ws:]
		for j := range r {
			row := x.c[(i+j)*x.ldc:][:n]
			if !x.first {
				copy(s.edge[j*cols:], row)
			}
		}
		s.compute(&y)
		for j := range r {
			copy(x.c[(i+j)*x.ldc:][:n], s.edge[j*cols:])
		}
		i += r
	}
}

// generic is the microkernel in plain Go: panels of four columns.
func generic(rows int, t *tile) {
	for i := range rows {
		store4(t.c[i*t.ldc:], t.w[i*t.ws], t.first, dot4(t.k, t.a[i*t.rs:], t.cs, t.b, t.bs))
	}
}

// store4 writes four sums times w to c, or adds them to it.
func store4(c []float32, w float32, first bool, s [4]float32) {
	c = c[:4]
	for j, v := range s {
		if first {
			c[j] = w * v
		} else {
			c[j] = fma(w, v, c[j])
		}
	}
}

// strip is the argument of a packed microkernel: tiles of some rows, which follow each other in C,
// by the columns of some panels. The panels come in groups of the number that the kernel computes
// at once. Each element is
//
//	C = w·(A·B)      if first
//	C = C + w·(A·B)  otherwise
//
// w scales each row of the product. Strides count elements. The assembly reads this struct by field
// name.
type strip struct {
	k      int       // steps of the sum: products, or in bfloat16 pairs of them
	odd    bool      // bfloat16: one product more than 2·k
	tiles  int       // at least 1
	groups int       // of panels: at least 1
	a      []float32 // A(i, l) = a[i·rs + l]
	a16    []uint16  // A in bfloat16
	rs     int
	hop    int       // from tile to tile of A
	b      []float32 // B(l, j) of panel q = b[q·ps + l·cols + j]
	b16    []uint16  // B in bfloat16: B(l, j) = b[q·ps + l/2·2·cols + 2·j + l%2]
	ps     int
	c      []float32 // C(i, j) of panel q = c[q·cs + i·cols + j]
	cs     int
	w      []float32 // w(i) = w[i·ws]
	ws     int
	first  bool

	// The data to prefetch into the second-level cache. Each step of a kernel for one panel fetches
	// as much as it reads of B and advances by soonStep bytes. This is for the first panel, and
	// moves with B.
	soon     []float32
	soon16   []uint16
	soonStep int
}

// maxCols is the greatest number of columns of a strip.
const maxCols = 32

// stripGeneric is the packed microkernel in plain Go: panels of four columns.
func stripGeneric(rows int, t *strip) {
	for q := range t.groups {
		t.panel(rows, t.b[q*t.ps:], t.c[q*t.cs:])
	}
}

func (t *strip) panel(rows int, b, c []float32) {
	for i := range rows * t.tiles {
		a := t.a[i/rows*t.hop+i%rows*t.rs:]
		store4(c[4*i:], t.w[i*t.ws], t.first, dot4(t.k, a, 1, b, 4))
	}
}
