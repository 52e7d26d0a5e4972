//go:build simd128

package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"mannequin/internal/testing/must"
)

// TestSIMD128AgreesWithGo checks that functions without e^x have the bits of plain Go.
func TestSIMD128AgreesWithGo(t *testing.T) {
	if Best() != SIMD128 {
		t.Fatal("the kernels are not linked: run the tests with simd128/exec.js")
	}
	r := rand.New(rand.NewPCG(7, 8))
	agree := func(name string, n int, f func(dst []float32)) {
		t.Helper()
		had := randoms(r, n)
		got, want := append([]float32(nil), had...), append([]float32(nil), had...)
		f(got)
		func() {
			defer Force(Generic)()
			f(want)
		}()
		for i := range got {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Fatalf("%s: element %d of %d is %v, in Go %v", name, i, n, got[i], want[i])
			}
		}
	}
	const n, k, parts = 45, 600, 3
	b, bias := randoms(r, parts*n*k), randoms(r, n)
	for m := 1; m < 15; m++ {
		a, w := randoms(r, m*k), randoms(r, m*parts)
		agree(fmt.Sprintf("Packed.Mul of %d rows", m), m*n, func(c []float32) {
			var s Scratch
			p := Pack(true, parts, k, n, b, k)
			p.Mul(&s, Matrix{c, n}, Matrix{w, parts}, Operand{F32: a, Stride: k}, m, true, Epilogue{Bias: bias, Act: ActReLU}, 0, p.Panels())
		})
		agree(fmt.Sprintf("Gemm of %d rows", m), m*n, func(c []float32) {
			p := NewPool(1)
			defer p.Close()
			p.Gemm(true, false, m, n, k, a, m, b, n, true, c, n)
		})
	}
	taps := Taps{Width: 7, Before: 3, Channels: 4}
	planes, right := randoms(r, taps.PlaneSize(37)), randoms(r, 7*4*n)
	agree("Filter.Mul", 37*n, func(y []float32) {
		var s Scratch
		f := PackFilter(taps, n, right)
		f.Mul(&s, Windows{Data: y, Batch: 1, Length: 37, Stride: n}, planes, 0, (37+taps.Block()-1)/taps.Block(), Epilogue{}, 0, f.Panels())
	})
	for _, n := range []int{1, 31, 47, 48, 49, 50, 51, 64, 99, 1000} {
		x, y, z := randoms(r, n), randoms(r, n), randoms(r, n)
		for name, f := range map[string]func(dst []float32){
			"Axpy": func(d []float32) { Axpy(d, 1.7, x) }, "Scale": func(d []float32) { Scale(d, 1.3, x) },
			"Add": func(d []float32) { Add(d, x, y) }, "Sub": func(d []float32) { Sub(d, x, y) }, "Mul": func(d []float32) { Mul(d, x, y) },
			"MulAdd": func(d []float32) { MulAdd(d, x, y) }, "Normalize": func(d []float32) { Normalize(d, x, y, z) },
			"Affine": func(d []float32) { Affine(d, x, y, z) }, "Dot": func(d []float32) { d[0] = Dot(x, y) },
		} {
			agree(name, n, f)
		}
	}
	for plane := range 9 {
		const tall = 5
		x, q, turned := randoms(r, 16*(plane+tall+2)), randoms(r, plane+tall+2), randoms(r, plane)
		agree(fmt.Sprintf("Distances16 of %d values", plane), 64, func(d []float32) {
			Distances16((*[16]float32)(d), (*[48]float32)(d[16:]), x, q, turned, plane, tall)
		})
	}
}

// TestSIMD128HasNoData checks that the kernels have no data of their own, which would be written
// into Go's memory.
func TestSIMD128HasNoData(t *testing.T) {
	b := must.Get(os.ReadFile("simd128/simd128.wasm"))(t)
	const data = 11
	seen := 0
	for b = b[8:]; len(b) > 0; seen++ { // id, length, content
		size, n := binary.Uvarint(b[1:])
		if b[0] == data {
			t.Errorf("%d bytes of data", size)
		}
		b = b[1+n+int(size):]
	}
	if seen < 5 {
		t.Errorf("%d sections", seen)
	}
}
