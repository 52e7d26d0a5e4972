package program

import (
	"math"
	"testing"
)

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
		}
	}
}
