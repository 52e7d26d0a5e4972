package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/internal/testing/must"
)

// forKinds runs f under every family that the machine has.
func forKinds(t *testing.T, f func(t *testing.T)) {
	for _, k := range Kinds() {
		t.Run(k.String(), func(t *testing.T) {
			defer Force(k)()
			f(t)
		})
	}
}

func randoms(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// reference computes one element of op(A)·op(B) and the sum of its products' magnitudes in float64.
func reference(tA, tB bool, i, j, k int, a []float32, lda int, b []float32, ldb int) (sum, mag float64) {
	for l := range k {
		x, y := i*lda+l, l*ldb+j
		if tA {
			x = l*lda + i
		}
		if tB {
			y = j*ldb + l
		}
		p := float64(a[x]) * float64(b[y])
		sum += p
		mag += math.Abs(p)
	}
	return sum, mag
}

func TestGemmAgainstFloat64(t *testing.T) {
	sizes := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 25, 31, 32, 33, 64, 65}
	ks := []int{0, 1, 2, 7, 64, 255, 256, 257, 513}
	var pools []*Pool
	for _, k := range Kinds() {
		restore := Force(k)
		p := NewPool(2)
		restore()
		defer p.Close()
		pools = append(pools, p)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for c := range 4 * len(sizes) * len(sizes) {
		tA, tB := c&1 != 0, c&2 != 0
		m, n := sizes[c/4%len(sizes)], sizes[c/4/len(sizes)]
		checkGemm(t, pools, r, tA, tB, m, n, ks[r.IntN(len(ks))])
	}
	checkGemm(t, pools, r, false, false, 400, 70, 300)
	checkGemm(t, pools, r, true, true, 211, 530, 300)
}

// checkGemm compares one random product, with padded rows and a guard around C, against float64.
func checkGemm(t *testing.T, pools []*Pool, r *rand.Rand, tA, tB bool, m, n, k int) {
	t.Helper()
	lda, ldb := k, n
	ra, rb := m, k
	if tA {
		lda, ra = m, k
	}
	if tB {
		ldb, rb = k, n
	}
	lda, ldb = lda+r.IntN(3), ldb+r.IntN(3)
	ldc := n + r.IntN(3)
	acc := r.IntN(2) == 1
	a, b, old := randoms(r, ra*lda), randoms(r, rb*ldb), randoms(r, m*ldc+1)
	var got [][]float32
	for _, p := range pools {
		c := append([]float32(nil), old...)
		p.Gemm(tA, tB, m, n, k, a, lda, b, ldb, acc, c, ldc)
		got = append(got, c)
	}
	for i, was := range old {
		row, j := i/max(ldc, 1), i%max(ldc, 1)
		inside := row < m && j < n
		want, mag := float64(was), math.Abs(float64(was))
		if inside {
			sum, size := reference(tA, tB, row, j, k, a, lda, b, ldb)
			if !acc {
				want, mag = 0, 0
			}
			want, mag = want+sum, mag+size
		}
		for q, c := range got {
			if !inside && c[i] != was {
				t.Fatalf("%v: m %d n %d k %d tA %v tB %v: wrote beyond C", pools[q].kind, m, n, k, tA, tB)
			}
			if !(math.Abs(float64(c[i])-want) <= 1e-6*mag+1e-30) {
				t.Fatalf("%v: m %d n %d k %d tA %v tB %v acc %v: C[%d,%d] = %v, want %v", pools[q].kind, m, n, k, tA, tB, acc, row, j, c[i], want)
			}
		}
	}
}

// TestGemmRowsKeepTheirBits multiplies each row alone and among others, by
// pools of one, two and three workers.
func TestGemmRowsKeepTheirBits(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		for _, s := range [][3]int{{37, 203, 300}, {150, 32, 19}, {130, 40, 270}} {
			for trans := range 4 {
				tA, tB := trans&1 != 0, trans&2 != 0
				rowBits(t, tA, tB, s[0], s[1], s[2])
			}
		}
	})
}

func rowBits(t *testing.T, tA, tB bool, m, n, k int) {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	a, b := randoms(r, m*k), randoms(r, k*n)
	lda, ldb := k, n
	if tA {
		lda = m
	}
	if tB {
		ldb = k
	}
	want := make([]float32, m*n)
	one := NewPool(1)
	defer one.Close()
	for i := range m {
		row := a[i:]
		if !tA {
			row = a[i*lda:]
		}
		one.Gemm(tA, tB, 1, n, k, row, lda, b, ldb, false, want[i*n:], n)
	}
	for workers := 1; workers <= 3; workers++ {
		p := NewPool(workers)
		defer p.Close()
		for _, rows := range []int{2, 3, 5, 8, 12, 13, directRows, directRows + 1, m - 1, m} {
			rows = min(rows, m)
			from := r.IntN(m - rows + 1)
			x := a[from:]
			if !tA {
				x = a[from*lda:]
			}
			got := make([]float32, rows*n)
			p.Gemm(tA, tB, rows, n, k, x, lda, b, ldb, false, got, n)
			for i, v := range got {
				if math.Float32bits(v) != math.Float32bits(want[from*n+i]) {
					t.Fatalf("tA %v tB %v %dx%dx%d, %d workers, rows %d at %d: element %d is %v, alone %v",
						tA, tB, m, n, k, workers, rows, from, i, v, want[from*n+i])
				}
			}
		}
	}
}

func TestGemmKeepsNaNInItsRow(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		const m, n, k = 29, 70, 40
		r := rand.New(rand.NewPCG(5, 6))
		a, b := randoms(r, m*k), randoms(r, k*n)
		a[7*k+3] = float32(math.NaN())
		a[20*k] = float32(math.Inf(1))
		c := make([]float32, m*n)
		p := NewPool(2)
		defer p.Close()
		p.Gemm(false, false, m, n, k, a, k, b, n, false, c, n)
		for i := range m {
			for j := range n {
				finite := c[i*n+j]-c[i*n+j] == 0
				if finite != (i != 7 && i != 20) {
					t.Fatalf("C[%d,%d] = %v", i, j, c[i*n+j])
				}
			}
		}
	})
}

func TestGemmAllocatesNothing(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		p := NewPool(2)
		defer p.Close()
		a, b, c := make([]float32, 64*300), make([]float32, 300*100), make([]float32, 64*100)
		if n := testing.AllocsPerRun(20, func() {
			p.Gemm(false, true, 64, 100, 300, a, 300, b, 300, true, c, 100)
		}); n != 0 {
			t.Fatalf("%v allocations per product", n)
		}
	})
}

func TestGemmPanicsOnShortSlices(t *testing.T) {
	p := NewPool(1)
	defer p.Close()
	x := make([]float32, 6)
	for name, f := range map[string]func(){
		"A":   func() { p.Gemm(false, false, 2, 2, 3, x[:5], 3, x, 2, false, x, 2) },
		"B":   func() { p.Gemm(false, false, 2, 2, 3, x, 3, x[:5], 2, false, x, 2) },
		"C":   func() { p.Gemm(false, false, 2, 2, 3, x, 3, x, 2, false, x[:3], 2) },
		"lda": func() { p.Gemm(false, false, 2, 2, 3, x, 2, x, 2, false, x, 2) },
	} {
		t.Run(name, func(t *testing.T) { must.Panic(t, "kernel: ", f) })
	}
}

func BenchmarkGemm(b *testing.B) {
	for _, kind := range Kinds() {
		for _, s := range []struct {
			tA, tB  bool
			m, n, k int
		}{
			{false, false, 1024, 512, 512}, {false, true, 1024, 512, 512},
			{false, false, 32, 512, 3840}, {false, true, 32, 512, 3840}, {true, false, 512, 480, 32},
		} {
			b.Run(fmt.Sprintf("kernel=%v/tA=%v/tB=%v/size=%dx%dx%d", kind, s.tA, s.tB, s.m, s.n, s.k), func(b *testing.B) {
				defer Force(kind)()
				p := NewPool(2)
				defer p.Close()
				r := rand.New(rand.NewPCG(1, 1))
				x, y, z := randoms(r, s.m*s.k), randoms(r, s.n*s.k), make([]float32, s.m*s.n)
				lda, ldb := s.k, s.n
				if s.tA {
					lda = s.m
				}
				if s.tB {
					ldb = s.k
				}
				for b.Loop() {
					p.Gemm(s.tA, s.tB, s.m, s.n, s.k, x, lda, y, ldb, false, z, s.n)
				}
				b.ReportMetric(2*float64(s.m*s.n*s.k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
