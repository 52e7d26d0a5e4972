package kernel

// strip is the argument of a packed microkernel: tiles of some rows, which
// follow each other in C, by the columns of some panels, in groups of as many
// as the kernel walks at once, each element being
//
//	C = w·(A·B)      where first
//	C = C + w·(A·B)  otherwise
//
// where w scales each row of the product. Strides count elements. The assembly
// reads this struct by field name.
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

	// What is read soon, fetched into the second-level cache meanwhile: every
	// step of a kernel for one panel fetches as much as it reads of B and goes
	// on by soonStep bytes. This is for the first panel, and moves with B.
	soon     []float32
	soon16   []uint16
	soonStep int
}

// maxCols is the most columns that a strip has for each of its rows.
const maxCols = 32

// stripGeneric is the packed microkernel in plain Go: panels of four columns.
func stripGeneric(rows int, t *strip) {
	for q := range t.groups {
		t.panel(rows, t.b[q*t.ps:], t.c[q*t.cs:])
	}
}

func (t *strip) panel(rows int, b, c []float32) {
	for i := range rows * t.tiles {
		a, w, c := t.a[i/rows*t.hop+i%rows*t.rs:][:t.k], t.w[i*t.ws], c[4*i:][:4]
		var s0, s1, s2, s3 float32
		for l, v := range a {
			b := b[4*l:][:4]
			// The conversions round every product, as in generic1.
			s0 += float32(v * b[0])
			s1 += float32(v * b[1])
			s2 += float32(v * b[2])
			s3 += float32(v * b[3])
		}
		if t.first {
			c[0], c[1], c[2], c[3] = w*s0, w*s1, w*s2, w*s3
			continue
		}
		c[0] += float32(w * s0)
		c[1] += float32(w * s1)
		c[2] += float32(w * s2)
		c[3] += float32(w * s3)
	}
}
