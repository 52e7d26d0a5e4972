package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(got float32, want float64) bool {
	return math.Abs(float64(got)-want) <= 2e-6*math.Abs(want)+1e-12
}

func TestAdaDelta(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		const lr, rho, eps = 0.5, 0.9, 1e-6
		r := rand.New(rand.NewPCG(1, 1))
		for _, n := range []int{0, 1, 7, 8, 16, 17, 50} {
			w, sq, step := randoms(r, n), make([]float32, n), make([]float32, n)
			w64, sq64, step64 := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range w {
				w64[i] = float64(w[i])
			}
			for range 5 {
				g := randoms(r, n)
				AdaDelta(w, g, sq, step, lr, rho, eps)
				for i := range g {
					gi := float64(g[i])
					sq64[i] = rho*sq64[i] + (1-rho)*gi*gi
					u := math.Sqrt(step64[i]+eps) / math.Sqrt(sq64[i]+eps) * gi
					step64[i] = rho*step64[i] + (1-rho)*u*u
					w64[i] -= lr * u
				}
			}
			for i := range w {
				if !near(w[i], w64[i]) || !near(sq[i], sq64[i]) || !near(step[i], step64[i]) {
					t.Fatalf("n %d: value %d: %v %v %v, want %v %v %v", n, i, w[i], sq[i], step[i], w64[i], sq64[i], step64[i])
				}
			}
		}
	})
}

func TestPenalizeAndClamp(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(2, 2))
		for _, n := range []int{0, 1, 8, 15, 16, 40} {
			g, w := randoms(r, n), randoms(r, n)
			for i := 0; i < n; i += 5 {
				w[i] = float32(math.Copysign(0, float64(w[i])))
			}
			old := append([]float32(nil), g...)
			Penalize(g, w, 0.25, 0.125)
			for i, v := range w {
				want := float64(old[i]) + 0.125*float64(v)
				switch {
				case v > 0:
					want += 0.25
				case v < 0:
					want -= 0.25
				}
				if math.Abs(float64(g[i])-want) > 1e-6 {
					t.Fatalf("n %d: gradient %d of weight %v is %v, want %v", n, i, v, g[i], want)
				}
			}
			if n > 1 {
				g[1] = float32(math.NaN())
			}
			old = append(old[:0], g...)
			Clamp(g, 0.5)
			for i, v := range old {
				if want := float32(max(-0.5, min(0.5, float64(v)))); g[i] != want && (v == v || g[i] == g[i]) {
					t.Fatalf("n %d: %v clamped is %v, want %v", n, v, g[i], want)
				}
			}
		}
	})
}

func TestSumSquares(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{0, 1, 7, 8, 9, 1000} {
		x := randoms(r, n)
		var want float64
		for _, v := range x {
			want += float64(v) * float64(v)
		}
		if got := SumSquares(x); math.Abs(got-want) > 1e-12*want {
			t.Errorf("n %d: %v, want %v", n, got, want)
		}
	}
}

// Any division into parts gives the same bits.
func TestOptimisersByParts(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		const n = 67
		run := func(cut int) []float32 {
			r := rand.New(rand.NewPCG(4, 4))
			w, g, a, b := randoms(r, n), randoms(r, n), randoms(r, n), randoms(r, n)
			for i := range a {
				a[i], b[i] = abs32(a[i]), abs32(b[i])
			}
			for at := 0; at < n; at += cut {
				end := min(at+cut, n)
				Penalize(g[at:end], w[at:end], 0.1, 0.2)
				Clamp(g[at:end], 0.7)
				AdaDelta(w[at:end], g[at:end], a[at:end], b[at:end], 1, 0.95, 1e-8)
			}
			return append(append(append(w, g...), a...), b...)
		}
		want := run(n)
		for _, cut := range []int{1, 5, 16, 33} {
			for i, v := range run(cut) {
				if v != want[i] {
					t.Fatalf("parts of %d: value %d is %v, want %v", cut, i, v, want[i])
				}
			}
		}
	})
}

func abs32(x float32) float32 { return float32(math.Abs(float64(x))) }

func TestBlendGrad(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, n := range []int{0, 1, 2, 24} {
			for panels := 1; panels <= 3; panels++ {
				width := panels * Active().PanelCols()
				dx, dw, g, x, w := randoms(r, n*width), randoms(r, width), randoms(r, n*width), randoms(r, n*width), randoms(r, width)
				wantDX, wantDW, mag := make([]float64, n*width), make([]float64, width), make([]float64, width)
				for c := range width {
					wantDW[c] = float64(dw[c])
					mag[c] = math.Abs(wantDW[c])
					for i := c; i < n*width; i += width {
						wantDX[i] = float64(dx[i]) + float64(w[c])*float64(g[i])
						p := float64(x[i]) * float64(g[i])
						wantDW[c] += p
						mag[c] += math.Abs(p)
					}
				}
				BlendGrad(dx, dw, g, x, w, n)
				for i, v := range wantDX {
					if math.Abs(float64(dx[i])-v) > 1e-6*(1+math.Abs(v)) {
						t.Fatalf("n %d, width %d: dx[%d] = %v, want %v", n, width, i, dx[i], v)
					}
				}
				for c, v := range wantDW {
					if math.Abs(float64(dw[c])-v) > 1e-6*mag[c] {
						t.Fatalf("n %d, width %d: dw[%d] = %v, want %v", n, width, c, dw[c], v)
					}
				}
			}
		}
	})
}

func TestTranspose(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for _, rows := range []int{0, 1, 7, 8, 9, 20} {
			for _, cols := range []int{0, 1, 7, 8, 15, 16, 33} {
				ld, ldd := cols+r.IntN(3), rows+r.IntN(3)
				src, dst := randoms(r, rows*ld), randoms(r, cols*ldd)
				old := append([]float32(nil), dst...)
				Transpose(dst, ldd, src, ld, rows, cols)
				for i, v := range dst {
					want := old[i]
					if i%ldd < rows {
						want = src[i%ldd*ld+i/ldd]
					}
					if v != want {
						t.Fatalf("%d×%d: element %d is %v, want %v", rows, cols, i, v, want)
					}
				}
			}
		}
	})
}

// A packed matrix that is filled again with other sizes equals one from Pack.
func TestRepack(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		var b Packed
		for _, s := range [][4]int{{2, 300, 70, 1}, {1, 5, 3, 0}, {3, 260, 40, 0}, {1, 33, 65, 1}} {
			parts, k, n, trans := s[0], s[1], s[2], s[3] == 1
			ld := n
			if trans {
				ld = k
			}
			src := randoms(r, parts*k*n)
			want := Pack(trans, parts, k, n, src, ld)
			b.Repack(trans, parts, k, n, src, ld)
			if b.Panels() != want.Panels() || b.cols != want.cols || len(b.data) != len(want.data) {
				t.Fatalf("%v: another shape", s)
			}
			for i, v := range want.data {
				if b.data[i] != v {
					t.Fatalf("%v: value %d is %v, want %v", s, i, b.data[i], v)
				}
			}
		}
	})
}

// The mask follows the definition, whatever the part and its alignment.
func TestMask(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		for _, keep := range []float32{0, 1e-6, 0.3, 0.7, 1} {
			for n := range 40 {
				first, key := uint64(n*1000), uint64(n)*0x123456789abcdef
				got := make([]float32, n)
				Mask(got, key, first, keep, 3)
				for i, v := range got {
					want := float32(0)
					if float32(Hash(key, first+uint64(i))>>40) < keep*(1<<24) {
						want = 3
					}
					if v != want {
						t.Fatalf("keep %v: value %d of %d is %v, want %v", keep, i, n, v, want)
					}
				}
			}
		}
	})
}
