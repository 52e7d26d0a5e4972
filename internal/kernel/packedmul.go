package kernel

const (
	packedBlock = 512 // products that are summed in a register before w scales them
	stripRows   = 192 // rows of A that stay in the second-level cache beside a panel of B
)

// packedMul is the work of a packed Mul.
type packedMul struct {
	*layout
	c, w Matrix
	rows int
	add  bool
	ep   Epilogue
	a    []float32
	a16  []uint16
	rs   int
	b    []float32
	b16  []uint16
}

// compute finishes a panel of a strip of rows before it goes on: the sums stay
// in the first-level cache over all parts and the epilogue. No element's sum
// depends on how rows and panels are cut.
func (m *packedMul) compute(s *Scratch, p0, p1 int) {
	last, n := m.rows-1, min(m.n, p1*m.cols)
	switch {
	case p0 < 0 || p1 > m.panels:
		panic("kernel: Mul: there are no such panels")
	case len(m.c.Data) < last*m.c.Stride+n:
		panic("kernel: Mul: C is too small")
	case len(m.w.Data) < last*m.w.Stride+m.parts:
		panic("kernel: Mul: w is too small")
	case m.ep.Bias != nil && len(m.ep.Bias) < n:
		panic("kernel: Mul: the bias is too small")
	}
	if s.strip == nil {
		s.strip = aligned(stripRows * maxCols)
	}
	strips := (m.rows + stripRows - 1) / stripRows
	for r0 := 0; strips > 0; strips-- {
		rows := (m.rows - r0) / strips
		step := m.kind.wide(rows, m.bf16)
		for p := p0; p < p1; p += step {
			if p+step > p1 {
				step = 1
			}
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
	if m.add || m.ep.Bias != nil {
		m.begin(strip, r0, rows, p)
		t.first = false
	}
	most, _ := m.kind.tile()
	tiles := (rows + most - 1) / most
	small, larger := rows/tiles, rows%tiles // rows of a tile; tiles that have one more
	t.rs, t.ws, t.ps = m.rs, m.w.Stride, m.of*m.part()
	t.soonStep = 4 * m.cols / tiles
	for e := range m.parts {
		w := m.w.Data[r0*m.w.Stride+e:]
		for l := 0; l < m.k; l += packedBlock {
			at, k := m.panel(p, e)+l*m.cols, min(packedBlock, m.k-l)
			after := at + m.padded(k)*m.cols
			if after == len(m.b)+len(m.b16) {
				after = at
			}
			t.k = k
			if m.bf16 {
				t.k, t.odd = k/2, k%2 == 1
				t.b16, t.soon16 = m.b16[at:], m.b16[after:]
			} else {
				t.b, t.soon = m.b[at:], m.b[after:]
			}
			i := 0
			for _, g := range [2][2]int{{small + 1, larger}, {small, tiles - larger}} {
				if g[1] == 0 {
					continue
				}
				r := r0 + i
				t.tiles = g[1]
				t.c, t.w = strip[i*m.cols:], w[i*t.ws:]
				if m.bf16 {
					t.a16 = m.a16[r*m.rs+l:]
				} else {
					t.a = m.a[r*m.rs+l:]
				}
				m.kind.strip(g[0], panels, m.bf16, t)
				i += g[0] * g[1]
			}
			t.first = false
		}
	}
	m.ep.Act.Apply(strip, strip)
	for q := range panels {
		from := (p + q) * m.cols
		n := min(m.cols, m.n-from)
		for i := range rows {
			copy(m.c.Data[(r0+i)*m.c.Stride+from:][:n], strip[q*t.cs+i*m.cols:])
		}
	}
}

// begin writes what the products are added to.
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
			default:
				copy(row, m.ep.Bias[from:])
			}
		}
		strip = strip[rows*m.cols:]
	}
}
