package vec

import (
	"math"
	"testing"
)

// Every half-precision number survives a round trip, and numbers between two go to the nearer.
func TestHalf(t *testing.T) {
	for h := range 1 << 16 {
		f := Half(h).Float32()
		if back := ToHalf(f); back != Half(h) && f == f {
			t.Fatalf("%#04x is %g, which becomes %#04x", h, f, back)
		}
		if h&0x7fff >= 0x7bff {
			continue // infinite, not a number, or next to it
		}
		next := (Half(h) + 1).Float32()
		mid := (float64(f) + float64(next)) / 2
		even := Half(h) + Half(h&1)
		for _, c := range []struct {
			f    float32
			want Half
		}{{float32(mid), even}, {math.Nextafter32(float32(mid), f), Half(h)}, {math.Nextafter32(float32(mid), next), Half(h) + 1}} {
			if got := ToHalf(c.f); got != c.want {
				t.Fatalf("%g, between %g and %g, becomes %#04x, want %#04x", c.f, f, next, got, c.want)
			}
		}
	}
	for _, c := range []struct {
		f    float32
		want float32
	}{{65504, 65504}, {65519, 65504}, {65520, float32(math.Inf(1))}, {-1e30, float32(math.Inf(-1))}} {
		if got := ToHalf(c.f).Float32(); got != c.want {
			t.Errorf("%g becomes %g, want %g", c.f, got, c.want)
		}
	}
	if f := ToHalf(float32(math.NaN())).Float32(); f == f {
		t.Errorf("NaN becomes %g", f)
	}
}
