package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPackedMul blends three products with per-row weights, as the experts
// of a network are, and compares with float64; then every way of cutting the
// rows and panels must give the same bits.
func TestPackedMul(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		for _, s := range [][3]int{{1, 32, 1}, {1, 363, 480}, {2, 70, 300}, {3, 130, 257}, {4, 16, 19}, {29, 97, 513}} {
			m, n, k := s[0], s[1], s[2]
			const experts = 3
			trans := m%2 == 1
			ldb := n
			if trans {
				ldb = k
			}
			a, w, raw := randoms(r, m*(k+5)), randoms(r, m*experts), randoms(r, experts*n*k)
			b := Pack(trans, experts, k, n, raw, ldb)
			cols := b.Cols()
			mul := func(c []float32, r0, r1, p0, p1 int) {
				var s Scratch
				b.Mul(&s, Matrix{c, cols}.Row(r0), Matrix{w, experts}.Row(r0), Matrix{a, k + 5}.Row(r0), r1-r0, false, p0, p1)
			}
			c := make([]float32, m*cols)
			mul(c, 0, m, 0, b.Panels())
			for i := range m {
				for j := range cols {
					var want, mag float64
					for e := range experts {
						if j < n {
							x, y := reference(false, trans, i, j, k, a, k+5, raw[e*n*k:], ldb)
							want += float64(w[i*experts+e]) * x
							mag += math.Abs(float64(w[i*experts+e])) * y
						}
					}
					if !(math.Abs(float64(c[i*cols+j])-want) <= 1e-6*mag) {
						t.Fatalf("%v: C[%d,%d] = %v, want %v", s, i, j, c[i*cols+j], want)
					}
				}
			}
			for range 20 {
				d := make([]float32, m*cols)
				r0, p0 := r.IntN(m), r.IntN(b.Panels())
				for _, rows := range [][2]int{{0, r0}, {r0, m}} {
					mul(d, rows[0], rows[1], 0, p0)
					mul(d, rows[0], rows[1], p0, b.Panels())
				}
				for i := range c {
					if math.Float32bits(c[i]) != math.Float32bits(d[i]) {
						t.Fatalf("%v cut at row %d, panel %d: element %d is %v, whole %v", s, r0, p0, i, d[i], c[i])
					}
				}
			}
		}
	})
}
