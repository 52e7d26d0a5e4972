package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"mannequin/internal/testing/must"
)

// packedCase is a packed product with the data that a test needs.
type packedCase struct {
	m, k, n, parts int
	stride         int // of A
	add, bf16      bool
	ep             Epilogue
	a, w, b, c     []float32
	biases         []float32
	ldb            int
	trans          bool

	packed *Packed
	a16    []uint16
}

func newPackedCase(r *rand.Rand, m, k, n, parts, stride int, add, bf16 bool, act Activation) *packedCase {
	x := &packedCase{m: m, k: k, n: n, parts: parts, stride: stride, add: add, bf16: bf16, ldb: n + r.IntN(3), trans: r.IntN(2) == 0}
	x.ep.Act = act
	if r.IntN(2) == 0 {
		x.ep.Bias = randoms(r, n)
	}
	if r.IntN(2) == 0 {
		x.biases = randoms(r, parts*n)
		x.ep.Biases = Pack(false, 1, parts, n, x.biases, n)
	}
	size := k * x.ldb
	if x.trans {
		x.ldb = k + r.IntN(3)
		size = n * x.ldb
	}
	x.a, x.w, x.b, x.c = randoms(r, (m-1)*stride+k), randoms(r, m*parts), randoms(r, parts*size), randoms(r, m*n)
	if bf16 {
		for _, v := range [][]float32{x.a, x.b} {
			for i := range v {
				v[i] = math.Float32frombits(uint32(bf16Of(v[i])) << 16)
			}
		}
		x.a16 = make([]uint16, len(x.a))
		ToBF16(x.a16, x.a)
		x.packed = PackBF16(x.trans, parts, k, n, x.b, x.ldb)
	} else {
		x.packed = Pack(x.trans, parts, k, n, x.b, x.ldb)
	}
	return x
}

// bf16Of rounds to nearest, ties to even, by definition.
func bf16Of(x float32) uint16 {
	u := math.Float32bits(x)
	low, up := u&0xffff, uint16(u>>16)
	if low > 0x8000 || low == 0x8000 && up&1 == 1 {
		up++
	}
	return up
}

func (x *packedCase) String() string {
	return fmt.Sprintf("%d rows of %d by %d columns, %d parts, add %v, %v, bias %v, biases %v, bf16 %v", x.m, x.k, x.n, x.parts, x.add, x.ep.Act, x.ep.Bias != nil, x.biases != nil, x.bf16)
}

func (x *packedCase) panels() int { return x.packed.Panels() }

// left returns A from row r on.
func (x *packedCase) left(r int) Operand {
	if x.bf16 {
		return Operand{BF16: x.a16[r*x.stride:], Stride: x.stride}
	}
	return Operand{F32: x.a[r*x.stride:], Stride: x.stride}
}

// mul computes rows [r0, r1) and panels [p0, p1) of c.
func (x *packedCase) mul(c []float32, r0, r1, p0, p1 int) {
	var s Scratch
	if r0 == r1 {
		return
	}
	cm, w := Matrix{c, x.n}.Row(r0), Matrix{x.w, x.parts}.Row(r0)
	x.packed.Mul(&s, cm, w, x.left(r0), r1-r0, x.add, x.ep, p0, p1)
}

// want returns C(i, j) before the activation, and the magnitude of its sum.
func (x *packedCase) want(i, j int) (sum, mag float64) {
	if x.add {
		sum = float64(x.c[i*x.n+j])
	}
	if x.ep.Bias != nil {
		sum += float64(x.ep.Bias[j])
	}
	mag = math.Abs(sum)
	size := len(x.b) / x.parts
	for e := range x.parts {
		w := float64(x.w[i*x.parts+e])
		p, q := reference(false, x.trans, i, j, x.k, x.a, x.stride, x.b[e*size:], x.ldb)
		sum, mag = sum+w*p, mag+math.Abs(w)*q
		if x.biases != nil {
			v := w * float64(x.biases[e*x.n+j])
			sum, mag = sum+v, mag+math.Abs(v)
		}
	}
	return sum, mag
}

func (a Activation) float64(x float64) float64 {
	switch a {
	case ActELU:
		return math.Max(x, math.Expm1(math.Min(x, 0)))
	case ActReLU:
		return math.Max(x, 0)
	case ActSigmoid:
		return 1 / (1 + math.Exp(-x))
	case ActTanh:
		return math.Tanh(x)
	}
	return x
}

// check compares with float64, then with the same product computed in parts.
func (x *packedCase) check(t *testing.T, r *rand.Rand) {
	t.Helper()
	c := append([]float32(nil), x.c...)
	x.mul(c, 0, x.m, 0, x.panels())
	for i := range x.m {
		for j := range x.n {
			sum, mag := x.want(i, j)
			// No activation has a slope above one.
			if want := x.ep.Act.float64(sum); !(math.Abs(float64(c[i*x.n+j])-want) <= 1e-6*mag+4e-7) {
				t.Fatalf("%v: C[%d,%d] = %v, want %v", x, i, j, c[i*x.n+j], want)
			}
		}
	}
	for range 8 {
		d := append([]float32(nil), x.c...)
		r0, p0 := r.IntN(x.m+1), r.IntN(x.panels()+1)
		r1 := min(x.m, r0+1+r.IntN(14))
		for _, rows := range [][2]int{{0, r0}, {r0, r1}, {r1, x.m}} {
			x.mul(d, rows[0], rows[1], 0, p0)
			x.mul(d, rows[0], rows[1], p0, x.panels())
		}
		for i := range c {
			if math.Float32bits(c[i]) != math.Float32bits(d[i]) {
				t.Fatalf("%v, cut at rows %d and %d, panel %d: element %d is %v, whole %v", x, r0, r1, p0, i, d[i], c[i])
			}
		}
	}
}

// forPacked runs f for every packing that the machine has.
func forPacked(t *testing.T, f func(t *testing.T, bf16 bool)) {
	forKinds(t, func(t *testing.T) { f(t, false) })
	t.Run("bf16", func(t *testing.T) {
		if !BF16() {
			t.Skip("no bfloat16 here")
		}
		f(t, true)
	})
}

// TestPackedMul covers sizes around the edges of tiles, panels and blocks in every combination of
// options.
func TestPackedMul(t *testing.T) {
	forPacked(t, func(t *testing.T, bf16 bool) {
		r := rand.New(rand.NewPCG(11, 12))
		edges := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 25, 31, 32, 33, 64, 65}
		for i := range 6 * len(edges) {
			m, n := edges[i%len(edges)], edges[r.IntN(len(edges))]
			k := []int{1, 2, 7, 8, 9, 31, 32, 33, 100}[r.IntN(9)]
			stride := k + r.IntN(4)
			if i%5 == 0 {
				stride = r.IntN(k + 1) // rows overlap
			}
			newPackedCase(r, m, k, n, 1+r.IntN(4), stride, i%2 == 0, bf16, Activation(i/2%5)).check(t, r)
		}
		newPackedCase(r, 5, packedBlock-1, 40, 2, packedBlock, false, bf16, ActELU).check(t, r)
		newPackedCase(r, 13, packedBlock, 40, 2, packedBlock, true, bf16, ActTanh).check(t, r)
		newPackedCase(r, 3, 2*packedBlock+1, 140, 1, 2*packedBlock+1, false, bf16, ActELU).check(t, r)
		newPackedCase(r, stripRows+1, 19, 33, 1, 20, true, bf16, ActSigmoid).check(t, r)
	})
}

// TestMulPanels compares products in panels with the same product in rows, bit for bit: set or
// added, whole or in parts, with contiguous rows or rows apart. The memory between them must not
// change.
func TestMulPanels(t *testing.T) {
	forPacked(t, func(t *testing.T, bf16 bool) {
		r := rand.New(rand.NewPCG(17, 18))
		edges := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 40, 64, 130, stripRows + 1}
		for i := range 8 * len(edges) {
			m, n := edges[i%len(edges)], edges[r.IntN(len(edges)-1)]
			k := []int{1, 2, 7, 33, packedBlock + 1}[r.IntN(5)]
			add := i/len(edges)%2 == 0
			x := newPackedCase(r, m, k, n, 1, k+r.IntN(3), add, bf16, ActIdentity)
			x.ep, x.biases = Epilogue{}, nil
			for j := range x.w {
				x.w[j] = 1
			}
			want := slices.Clone(x.c)
			x.mul(want, 0, m, 0, x.panels())
			cols := active.PanelCols()
			c := Panels{Row: cols}
			if !add {
				c.Row += cols * r.IntN(2)
			}
			c.Stride = m*c.Row + cols*r.IntN(2)
			c.Data = make([]float32, (x.panels()-1)*c.Stride+(m-1)*c.Row+cols)
			at := func(i, j int) *float32 { return &c.Data[j/cols*c.Stride+i*c.Row+j%cols] }
			for j := range c.Data {
				c.Data[j] = nan
			}
			if add {
				for i := range m {
					for j := range n {
						*at(i, j) = x.c[i*n+j]
					}
				}
			}
			var s Scratch
			cut := r.IntN(x.panels() + 1)
			for _, p := range [][2]int{{0, cut}, {cut, x.panels()}} {
				d := c
				d.Data = c.Data[min(p[0]*c.Stride, len(c.Data)):]
				x.packed.MulPanels(&s, d, x.left(0), m, add, p[0], p[1])
			}
			for i := range m {
				for j := range n {
					if got := *at(i, j); math.Float32bits(got) != math.Float32bits(want[i*n+j]) {
						t.Fatalf("%v: C[%d,%d] = %v, want %v", x, i, j, got, want[i*n+j])
					}
				}
			}
			for j, v := range c.Data {
				if row := j % c.Stride; v == v && (row >= (m-1)*c.Row+cols || row%c.Row >= cols) {
					t.Fatalf("%v: wrote between the panels or rows, at %d", x, j)
				}
			}
		}
	})
}

// TestPackedMulStaysInside surrounds C with values that must not change, and A with values that
// must not be read.
func TestPackedMulStaysInside(t *testing.T) {
	forPacked(t, func(t *testing.T, bf16 bool) {
		r := rand.New(rand.NewPCG(13, 14))
		for _, n := range []int{1, 7, 8, 9, 31, 32, 33, 73, 130} {
			for m := 1; m < 15; m++ {
				x := newPackedCase(r, m, 9, n, 2, 9, true, bf16, ActELU)
				want := append([]float32(nil), x.c...)
				x.mul(want, 0, m, 0, x.panels())
				// The same with rows of C longer by one and NaN around both.
				x.a = append(x.a, nan, nan)
				x.a16 = append(x.a16, 0x7fc0, 0x7fc0)
				wide := make([]float32, m*(n+1)+40)
				for i := range wide {
					wide[i] = nan
				}
				for i := range m {
					copy(wide[i*(n+1):], x.c[i*n:][:n])
				}
				y := *x
				var s Scratch
				c, w := Matrix{wide, n + 1}, Matrix{y.w, y.parts}
				y.packed.Mul(&s, c, w, x.left(0), m, true, x.ep, 0, x.panels())
				for i, v := range wide {
					row, j := i/(n+1), i%(n+1)
					if row < m && j < n {
						if math.Float32bits(v) != math.Float32bits(want[row*n+j]) {
							t.Fatalf("%v: C[%d,%d] = %v, want %v", x, row, j, v, want[row*n+j])
						}
					} else if v == v {
						t.Fatalf("%v: wrote to row %d, column %d", x, row, j)
					}
				}
			}
		}
	})
}

// TestPackedMulKeepsNaNInItsRow puts a NaN into one row among others.
func TestPackedMulKeepsNaNInItsRow(t *testing.T) {
	forPacked(t, func(t *testing.T, bf16 bool) {
		r := rand.New(rand.NewPCG(15, 16))
		for _, m := range []int{2, 5, 13, 30} {
			x := newPackedCase(r, m, 33, 40, 2, 33, false, bf16, ActTanh)
			bad := r.IntN(m)
			x.a[bad*33+r.IntN(33)] = nan
			if bf16 {
				ToBF16(x.a16, x.a)
			}
			x.mul(x.c, 0, m, 0, x.panels())
			for i, v := range x.c {
				if (v != v) != (i/40 == bad) {
					t.Fatalf("%v: row %d is NaN, C[%d,%d] = %v", x, bad, i/40, i%40, v)
				}
			}
		}
	})
}

func TestRepackTakesOtherShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	var b Packed
	for _, s := range [][3]int{{1, 70, 90}, {3, 20, 33}, {2, 100, 80}} {
		parts, k, n := s[0], s[1], s[2]
		x := newPackedCase(r, 4, k, n, parts, k, false, false, ActIdentity)
		b.Repack(x.trans, parts, k, n, x.b, x.ldb)
		x.packed = &b
		x.check(t, r)
	}
}

func TestPackedMulAllocatesNothing(t *testing.T) {
	forPacked(t, func(t *testing.T, bf16 bool) {
		x := newPackedCase(rand.New(rand.NewPCG(1, 1)), 20, 33, 40, 2, 33, false, bf16, ActELU)
		var s Scratch
		if n := testing.AllocsPerRun(20, func() {
			x.packed.Mul(&s, Matrix{x.c, 40}, Matrix{x.w, 2}, x.left(0), 20, false, x.ep, 0, x.panels())
		}); n != 0 {
			t.Fatalf("%v allocations per product", n)
		}
	})
}

func TestPackedMulPanicsOnShortSlices(t *testing.T) {
	x := newPackedCase(rand.New(rand.NewPCG(1, 1)), 3, 4, 5, 2, 4, false, false, ActIdentity)
	x.mul(x.c, 0, 3, 0, x.panels())
	short := func(v []float32) []float32 { return v[:len(v)-1] }
	for name, f := range map[string]func(y *packedCase){
		"A": func(y *packedCase) { y.a = short(y.a) }, "C": func(y *packedCase) { y.c = short(y.c) },
		"w": func(y *packedCase) { y.w = short(y.w) }, "bias": func(y *packedCase) { y.ep.Bias = make([]float32, 4) },
	} {
		y := *x
		f(&y)
		t.Run(name, func(t *testing.T) { must.Panic(t, "kernel: ", func() { y.mul(y.c, 0, 3, 0, y.panels()) }) })
	}
}

func TestPackedIsAligned(t *testing.T) {
	for _, n := range []int{0, 1, 5, 7, 9, 11, 13, 16, 1000, hugePage / 4, hugePage/4 + 5} {
		x := aligned(n)
		if len(x) != n || n > 0 && uintptr(unsafe.Pointer(&x[0]))%64 != 0 {
			t.Fatalf("aligned(%d) has %d floats at %p", n, len(x), x)
		}
		for i, v := range x {
			if v != 0 {
				t.Fatalf("aligned(%d): element %d is %v", n, i, v)
			}
		}
	}
}

func TestTilesCoverTheRows(t *testing.T) {
	for _, k := range Kinds() {
		most, _ := k.tile()
		for rows := 1; rows < 100; rows++ {
			sum := 0
			for _, g := range k.tiles(rows) {
				if g.n > 0 && (g.rows < 1 || g.rows > most) {
					t.Fatalf("%v: %d rows: a tile of %d", k, rows, g.rows)
				}
				sum += g.n * g.rows
			}
			if sum != rows {
				t.Fatalf("%v: the tiles of %d rows have %d", k, rows, sum)
			}
		}
	}
}

// A product of nothing is zero, whatever the scratch memory holds.
func TestPackedMulOfNothing(t *testing.T) {
	forPacked(t, func(t *testing.T, bf16 bool) {
		var s Scratch
		c := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
		full := newPackedCase(rand.New(rand.NewPCG(1, 1)), 2, 4, 5, 1, 4, false, false, ActIdentity)
		full.packed.Mul(&s, Matrix{c, 5}, Matrix{unit, 0}, full.left(0), 2, false, Epilogue{}, 0, full.panels())
		pack := Pack
		if bf16 {
			pack = PackBF16
		}
		b := pack(false, 1, 0, 5, nil, 5)
		b.Mul(&s, Matrix{c, 5}, Matrix{unit, 0}, Operand{}, 2, false, Epilogue{}, 0, b.Panels())
		for i, v := range c {
			if v != 0 {
				t.Fatalf("C[%d] = %v, want 0", i, v)
			}
		}
	})
}

func TestPackedMulRefusesBiasesOfOtherShapes(t *testing.T) {
	x := newPackedCase(rand.New(rand.NewPCG(1, 1)), 3, 4, 5, 2, 4, false, false, ActIdentity)
	for _, s := range [][3]int{{2, 2, 5}, {1, 1, 5}, {1, 2, 6}} {
		x.ep.Biases = Pack(false, s[0], s[1], s[2], make([]float32, s[0]*s[1]*s[2]), s[2])
		must.Panic(t, "kernel: ", func() { x.mul(x.c, 0, 3, 0, x.panels()) })
	}
}
