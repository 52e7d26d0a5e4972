package vec_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime/vec"
)

// Remove a style from a pose's features: normalise them, subtract the part in the style's
// direction, and limit the rest.
func Example() {
	features := []float32{3, 5, 8}
	mean, inv := []float32{1, 5, 2}, []float32{0.5, 1, 0.5}
	style := []float32{0, 0, 1}

	x := make([]float32, 3)
	vec.Normalize(x, features, mean, inv)
	fmt.Println(x)
	vec.Axpy(x, -0.5*vec.Dot(x, style), style)
	vec.Clamp(x, 1.25)
	fmt.Println(x)
	// Output:
	// [1 0 3]
	// [1 0 1.25]
}

// TestVectors compares every function with a plain loop, at lengths around the sizes of vectors and
// at any place in memory.
func TestVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float32 {
		x := make([]float32, n+3)[r.IntN(4):][:n]
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	for _, n := range []int{0, 1, 7, 8, 9, 31, 32, 33, 100} {
		x, y, z, was := random(n), random(n), random(n), random(n)
		for name, c := range map[string]struct {
			run  func(dst []float32)
			want func(i int) float32
		}{
			"Add":       {func(d []float32) { vec.Add(d, x, y) }, func(i int) float32 { return x[i] + y[i] }},
			"Scale":     {func(d []float32) { vec.Scale(d, 1.5, x) }, func(i int) float32 { return 1.5 * x[i] }},
			"Axpy":      {func(d []float32) { vec.Axpy(d, -0.3, x) }, func(i int) float32 { return was[i] - 0.3*x[i] }},
			"MulAdd":    {func(d []float32) { vec.MulAdd(d, x, y) }, func(i int) float32 { return was[i] + x[i]*y[i] }},
			"Normalize": {func(d []float32) { vec.Normalize(d, x, y, z) }, func(i int) float32 { return (x[i] - y[i]) * z[i] }},
			"Clamp":     {func(d []float32) { vec.Clamp(d, 0.5) }, func(i int) float32 { return max(-0.5, min(was[i], 0.5)) }},
		} {
			got := random(n)
			copy(got, was)
			c.run(got)
			for i, v := range got {
				if want := c.want(i); math.Abs(float64(v-want)) > 1e-6 {
					t.Errorf("%s of %d values: value %d is %g, want %g", name, n, i, v, want)
				}
			}
		}
		var dot, squares float64
		for i, v := range x {
			dot += float64(v) * float64(y[i])
			squares += float64(v) * float64(v)
		}
		if got := vec.Dot(x, y); math.Abs(float64(got)-dot) > 1e-4 {
			t.Errorf("Dot of %d values is %g, want %g", n, got, dot)
		}
		if got := vec.SumSquares(x); math.Abs(got-squares) > 1e-9*(1+squares) {
			t.Errorf("SumSquares of %d values is %g, want %g", n, got, squares)
		}
	}
}

// TestDistances16 checks that a pose and the same pose turned about the vertical axis have distance
// zero.
func TestDistances16(t *testing.T) {
	const plane, tall = 2, 1
	q := []float32{3, 4, 2, 0.5, (9 + 16 + 4) / 2.}
	var d [16]float32
	var sums [48]float32
	x := make([]float32, len(q)*16)
	for lane := range 16 {
		sin, cos := math.Sincos(float64(lane))
		pose := []float32{float32(3*cos - 4*sin), float32(3*sin + 4*cos), q[2], q[3] + float32(lane), q[4]}
		for i, v := range pose {
			x[16*i+lane] = v
		}
	}
	vec.Distances16(&d, &sums, x, q, []float32{-4, 3}, plane, tall)
	for lane, got := range d {
		if math.Abs(float64(got)-float64(lane)) > 5e-3 {
			t.Errorf("pose %d is at distance %g", lane, got)
		}
	}
}

func TestOtherLengthsPanic(t *testing.T) {
	must.Panic(t, "Add: ", func() { vec.Add(make([]float32, 2), make([]float32, 2), make([]float32, 3)) })
}
