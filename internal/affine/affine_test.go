package affine

import (
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/engine/m3"
)

// A transform and its inverse cancel each other, and normals stay perpendicular to their surface.
func TestInverse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var a Transform
		for i := range a {
			a[i] = r.NormFloat64()
		}
		back, ok := a.Inverse()
		if !ok {
			t.Fatalf("%v has no inverse", a)
		}
		for _, product := range []Transform{a.Mul(&back), back.Mul(&a)} {
			for i, v := range product {
				if math.Abs(v-Identity[i]) > 1e-9 {
					t.Fatalf("%v times its inverse is %v", a, product)
				}
			}
		}
		// Two directions of a surface, and its normal.
		u, v := m3.V(1, 2, -1), m3.V(0, 1, 3)
		n := a.Normal(u.Cross(v).Normalize(m3.Up))
		turn := func(d m3.Vec3) m3.Vec3 {
			p, q := a.Apply(float64(d.X), float64(d.Y), float64(d.Z)), a.Apply(0, 0, 0)
			return m3.V(float32(p[0]-q[0]), float32(p[1]-q[1]), float32(p[2]-q[2])).Normalize(m3.Up)
		}
		if m3.Abs(n.Dot(turn(u))) > 1e-4 || m3.Abs(n.Dot(turn(v))) > 1e-4 || m3.Abs(n.Len()-1) > 1e-5 {
			t.Fatalf("the normal %v is not perpendicular to %v and %v", n, turn(u), turn(v))
		}
	}
	if _, ok := (&Transform{0: 1, 5: 1}).Inverse(); ok {
		t.Error("a flat transform has an inverse")
	}
}
