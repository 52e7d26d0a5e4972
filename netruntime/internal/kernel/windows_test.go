package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/internal/testing/must"
)

// TestGemmWindows compares products of overlapping rows with the same products of copied rows, in
// float64.
func TestGemmWindows(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 7))
		for _, s := range []struct{ batch, length, width, in, out int }{
			{1, 1, 1, 1, 1}, {3, 1, 5, 2, 3}, {2, 7, 3, 5, 40}, {3, 250, 5, 3, 33}, {2, 300, 3, 7, 70}, {1, 513, 2, 4, 5}, {5, 20, 25, 9, 65},
		} {
			for _, acc := range []bool{false, true} {
				t.Run(fmt.Sprint(s, acc), func(t *testing.T) {
					frames := s.length + s.width - 1
					x := Windows{randoms(r, s.batch*frames*s.in), s.batch, s.length, s.in, frames * s.in}
					rows, k := x.Rows(), s.width*s.in
					window := make([]float32, 0, rows*k)
					for q := range s.batch {
						for i := range s.length {
							window = append(window, x.Data[q*x.Skip+i*x.Stride:][:k]...)
						}
					}
					w, dy := randoms(r, s.out*k), randoms(r, rows*s.out)
					y, dw := randoms(r, rows*s.out), randoms(r, s.out*k)
					y0, dw0 := append([]float32(nil), y...), append([]float32(nil), dw...)
					for _, workers := range []int{1, 2, 3} {
						p := NewPool(workers)
						copy(y, y0)
						copy(dw, dw0)
						p.GemmWindows(x, k, true, s.out, w, k, acc, y, s.out)
						p.GemmOfWindows(s.out, dy, s.out, x, k, acc, dw, k)
						p.Close()
						product(t, "y", false, true, rows, s.out, k, window, k, w, k, acc, y0, y)
						product(t, "dw", true, false, s.out, k, rows, dy, s.out, window, k, acc, dw0, dw)
					}
				})
			}
		}
	})
}

// product checks C = op(A)·op(B), plus old if acc.
func product(t *testing.T, name string, tA, tB bool, m, n, k int, a []float32, lda int, b []float32, ldb int, acc bool, old, c []float32) {
	t.Helper()
	for i := range m {
		for j := range n {
			want, mag := reference(tA, tB, i, j, k, a, lda, b, ldb)
			if acc {
				want += float64(old[i*n+j])
				mag += math.Abs(float64(old[i*n+j]))
			}
			if !(math.Abs(float64(c[i*n+j])-want) <= 1e-6*mag+1e-30) {
				t.Fatalf("%s[%d,%d] = %v, want %v", name, i, j, c[i*n+j], want)
			}
		}
	}
}

func TestWindowsMisuse(t *testing.T) {
	p := NewPool(1)
	defer p.Close()
	x := Windows{make([]float32, 10), 2, 2, 2, 5}
	for name, f := range map[string]func(){
		"short data": func() { p.GemmWindows(x, 4, true, 1, make([]float32, 4), 4, false, make([]float32, 4), 1) },
		"short B":    func() { p.GemmWindows(x, 3, true, 1, make([]float32, 2), 3, false, make([]float32, 4), 1) },
		"short C":    func() { p.GemmWindows(x, 3, true, 1, make([]float32, 3), 3, false, make([]float32, 3), 1) },
		"short A":    func() { p.GemmOfWindows(1, make([]float32, 3), 1, x, 3, false, make([]float32, 3), 3) },
		"short sum":  func() { p.GemmOfWindows(1, make([]float32, 4), 1, x, 3, false, make([]float32, 2), 3) },
		"negative":   func() { p.GemmWindows(Windows{nil, -1, 2, 2, 5}, 3, true, 1, nil, 3, false, nil, 1) },
	} {
		t.Run(name, func(t *testing.T) { must.Panic(t, "kernel: ", f) })
	}
	p.GemmWindows(x, 3, true, 1, make([]float32, 3), 3, false, make([]float32, 4), 1)
}
