package m3

import (
	"math"
	"testing"
)

func TestExp64(t *testing.T) {
	for x := -750.0; x < 715; x += 0.0137 {
		want := math.Exp(x)
		if got := Exp64(x); math.Abs(got-want) > 4e-16*want+math.SmallestNonzeroFloat64 {
			t.Fatalf("Exp64(%v) = %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{0, math.Inf(1), math.Inf(-1), math.NaN(), 1e-300} {
		if got, want := Exp64(x), math.Exp(x); got != want && want == want {
			t.Errorf("Exp64(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestPow64(t *testing.T) {
	for _, x := range []float64{0, 1e-20, 0.3, 1, 7.5, 1e12, math.Inf(1)} {
		for _, y := range []float64{-2.5, -1, 0, 0.25, 1, 3} {
			if got, want := Pow64(x, y), math.Pow(x, y); got != want && math.Abs(got-want) > 3e-14*want {
				t.Errorf("%v to the power %v is %v, want %v", x, y, got, want)
			}
		}
	}
}
