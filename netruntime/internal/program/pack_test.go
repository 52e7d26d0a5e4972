package program

import (
	"math"
	"testing"
)

// half returns the value of a float16.
func half(bits uint16) float64 {
	v := math.Ldexp(float64(bits&0x3ff), -24)
	if e := int(bits >> 10 & 31); e > 0 {
		v = math.Ldexp(float64(bits&0x3ff|0x400), e-25)
	}
	return math.Copysign(v, 0.5-float64(bits>>15))
}

// TestHalfScale: values of any size are at most 16, and not all are small.
func TestHalfScale(t *testing.T) {
	for _, v := range []float32{1, 2, 15.99, 65504, 3e38, 1e-30, math.MaxFloat32} {
		if s := halfScale(v); !(v/s >= 8 && v/s <= 16) || math.Float32bits(s)<<9 != 0 {
			t.Errorf("%g is %g in units of %g", v, v/s, s)
		}
	}
	for _, v := range []float32{0, 1e-45} {
		if s := halfScale(v); !(s > 0 && v/s <= 16) {
			t.Errorf("%g is %g in units of %g", v, v/s, s)
		}
	}
	for _, v := range []float32{float32(math.Inf(1)), float32(math.NaN())} {
		if s := halfScale(v); s != 0 {
			t.Errorf("the scale of %g is %g", v, s)
		}
	}
}

// TestRounding compares with rounding in float64, for numbers of every size and for those midway
// between two.
func TestRounding(t *testing.T) {
	nan := math.Float32frombits(0x7f800001)
	if v := math.Float32frombits(uint32(toBF16(nan)) << 16); v == v {
		t.Errorf("NaN becomes %g in bfloat16", v)
	}
	if v := math.Float32frombits(toTF32(nan)); v == v {
		t.Errorf("NaN becomes %g in TF32", v)
	}
	for u := uint32(0x00800000); u < 0x7f000000; u += 0x7ff3 {
		for _, bits := range []uint32{u, u &^ 0xffff, u&^0xffff | 0x8000, u&^0xffff | 0x18000, u&^0x1fff | 0x1000, u | 1<<31} {
			v := math.Float32frombits(bits)
			_, e := math.Frexp(float64(v))
			unit := func(mantissa int) float64 { return math.Ldexp(1, e-1-mantissa) }
			if got, want := math.Float32frombits(uint32(toBF16(v))<<16), math.RoundToEven(float64(v)/unit(7))*unit(7); float64(got) != want {
				t.Fatalf("%x becomes %g in bfloat16, want %g", bits, got, want)
			}
			if got, want := math.Float32frombits(toTF32(v)), math.Round(float64(v)/unit(10))*unit(10); float64(got) != want {
				t.Fatalf("%x becomes %g in TF32, want %g", bits, got, want)
			}
			if x := math.Abs(float64(v)); x <= 65504 {
				unit := max(unit(10), 0x1p-24)
				if got, want := half(toHalf(v)), math.RoundToEven(float64(v)/unit)*unit; got != want || math.Signbit(got) != math.Signbit(float64(v)) {
					t.Fatalf("%x becomes %g in float16, want %g", bits, got, want)
				}
			}
		}
	}
}
