//go:build openblas

package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"mannequin/internal/bench/openblas"
)

// TestOpenBLASAgrees guards the benchmark: both sides must compute the same.
func TestOpenBLASAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const m, k, n = 7, 300, 45
	a, b := randomSlice(r, m*k), randomSlice(r, k*n)
	want, got := make([]float32, m*n), make([]float32, m*n)
	openblas.Sgemm(m, n, k, a, k, b, n, want, n)
	p := Pack(false, 1, k, n, b, n)
	p.Mul(&Scratch{}, Matrix{got, n}, Matrix{Data: unit}, Operand{F32: a, Stride: k}, m, false, Epilogue{}, 0, p.Panels())
	for i := range want {
		if math.Abs(float64(want[i]-got[i])) > 1e-3 {
			t.Fatalf("element %d: %g, OpenBLAS has %g", i, got[i], want[i])
		}
	}
}

func randomSlice(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = 2*r.Float32() - 1
	}
	return x
}

// BenchmarkOpenBLAS times OpenBLAS's product and ours with packed weights in turns, on one core,
// and reports the ratio of the fastest calls. Above 1 we are faster. To compare the AVX2 kernels of
// both:
//
//	OPENBLAS_CORETYPE=Haswell OPENBLAS_NUM_THREADS=1 go test -tags openblas -run OpenBLAS -bench OpenBLAS ./internal/kernel
func BenchmarkOpenBLAS(b *testing.B) {
	if os.Getenv("OPENBLAS_NUM_THREADS") != "1" {
		b.Skip("set OPENBLAS_NUM_THREADS=1: one core of each")
	}
	kind := Best()
	if core := openblas.Core(); core == "Haswell" || core == "Zen" {
		kind = AVX2
	}
	defer Force(kind)()
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{
		{1, 512, 512}, {2, 512, 512}, {3, 512, 512}, {4, 512, 512}, {8, 512, 512}, {16, 512, 512}, {64, 512, 512}, {256, 512, 512}, {1024, 512, 512},
		{240, 1825, 256}, {240, 3328, 146}, {1, 512, 2048}, {16, 512, 2048}, {256, 512, 2048},
	} {
		m, k, n := s[0], s[1], s[2]
		b.Run(fmt.Sprintf("%dx%dx%d/%s-%v", m, k, n, openblas.Core(), kind), func(b *testing.B) {
			x, w, y := randomSlice(r, m*k), randomSlice(r, k*n), make([]float32, m*n)
			p, scratch := Pack(false, 1, k, n, w, n), &Scratch{}
			best := [2]float64{math.Inf(1), math.Inf(1)}
			for b.Loop() {
				start := time.Now()
				openblas.Sgemm(m, n, k, x, k, w, n, y, n)
				mid := time.Now()
				p.Mul(scratch, Matrix{y, n}, Matrix{Data: unit}, Operand{F32: x, Stride: k}, m, false, Epilogue{}, 0, p.Panels())
				best[0] = min(best[0], mid.Sub(start).Seconds())
				best[1] = min(best[1], time.Since(mid).Seconds())
			}
			flop := 2 * float64(m) * float64(k) * float64(n)
			b.ReportMetric(flop/best[1]/1e9, "GFLOP/s")
			b.ReportMetric(best[0]/best[1], "ratio")
		})
	}
}
