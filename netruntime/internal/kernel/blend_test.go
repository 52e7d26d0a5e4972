package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

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

// Filled anew with other sizes, a packed matrix is the one that Pack makes.
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
			if b.Panels() != want.Panels() || b.Cols() != want.Cols() || len(b.data) != len(want.data) {
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
