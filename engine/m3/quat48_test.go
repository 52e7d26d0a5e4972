package m3

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Packed rotations come back as they were, whichever component is the largest.
func TestQuatPack(t *testing.T) {
	apart := func(a, b Quat) float32 {
		x, y, z, w := a.X-b.X, a.Y-b.Y, a.Z-b.Z, a.W-b.W
		return Sqrt(x*x + y*y + z*z + w*w)
	}
	check := func(t interface{ Fatalf(string, ...any) }, q Quat) {
		back := q.Pack().Quat()
		off := 2 * min(apart(back, q), apart(back, q.Neg()))
		if n := apart(back, Quat{}); !(off < 0.009*math.Pi/180) || Abs(n-1) > 1e-6 {
			t.Fatalf("%v comes back as %v, %g rad off, with length %g", q, back, off, n)
		}
	}
	for _, q := range []Quat{Ident, {X: 1}, {Y: -1}, {Z: 1}, {W: -1}, {0.5, -0.5, 0.5, -0.5}, Quat{1, 1, 0, 0}.Normalize(), Quat{0, 0, -1, 1}.Normalize()} {
		check(t, q)
	}
	rapid.Check(t, func(t *rapid.T) {
		q := Quat{rapid.Float32Range(-1, 1).Draw(t, "x"), rapid.Float32Range(-1, 1).Draw(t, "y"), rapid.Float32Range(-1, 1).Draw(t, "z"), rapid.Float32Range(-1, 1).Draw(t, "w")}
		check(t, q.Normalize())
	})
}

func BenchmarkQuatPack(b *testing.B) {
	q := Quat{1, 2, 3, 4}.Normalize()
	var sum uint16
	for b.Loop() {
		sum += q.Pack()[0]
	}
	_ = sum
}

func BenchmarkQuatUnpack(b *testing.B) {
	p := Quat{1, 2, 3, 4}.Normalize().Pack()
	var sum float32
	for b.Loop() {
		sum += p.Quat().X
		p[0] ^= 1
	}
	_ = sum
}
