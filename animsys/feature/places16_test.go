package feature_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// armed returns a person whose layout lacks a joint, and names the left hand before its arm.
func armed(t *testing.T) *feature.Person {
	l := &feature.Motion{Joints: []string{"Hips", "LeftHand", "RightArm", "LeftArm", "RightHand"}, Left: []string{"LeftArm"}}
	return must.Get(feature.NewPerson(l, &skel.Skeleton{
		Names:   []string{"Hips", "Spine", "LeftArm", "LeftHand", "RightArm", "RightHand"},
		Parents: []int16{-1, 0, 1, 2, 1, 4}, EndSite: make([]bool, 6),
		Offsets: []m3.Vec3{{}, m3.V(0, 0.2, 0), m3.V(0.2, 0.1, 0), m3.V(0.05, 0, 0), m3.V(-0.2, 0.1, 0), m3.V(-0.05, 0, 0)},
	}))(t)
}

// Packed places are rounded by half a step each, and come out in world space.
func TestPlaces16(t *testing.T) {
	p := armed(t)
	v, n := p.Places16(), len(p.Layout.Joints)
	half := [...]float32{1.0 / (1 << 16), 1.0 / (1 << 16), 1.0 / (1 << 17), 1.0 / (1 << 17), 1.0 / (1 << 19)}
	rnd := rand.New(rand.NewPCG(1, 2))
	frame, body := make([]float32, 3*n), feature.Place{Pos: m3.V(3, 0, -2), Yaw: 1}
	points, world, packed := make([]m3.Vec3, n), make([]m3.Vec3, n), make([]feature.Point16, n)
	at := func(j int) m3.Vec3 { return m3.V(frame[3*j], frame[3*j+1], frame[3*j+2]) }
	for range 1000 {
		hips := m3.V(rnd.Float32()-0.5, 1.7*rnd.Float32()+0.1, rnd.Float32()-0.5)
		for j := range n {
			at := hips.Add(m3.V(rnd.Float32(), rnd.Float32(), rnd.Float32()).Scale(0.1))
			copy(frame[3*j:], []float32{at.X, at.Y, at.Z})
		}
		v.Pack(packed, frame)
		v.Unpack(points, packed)
		for j, back := range points {
			if d := back.Sub(at(j)); max(m3.Abs(d.X), m3.Abs(d.Y), m3.Abs(d.Z)) > half[j]*1.01 {
				t.Fatalf("joint %d at %v comes back at %v", j, at(j), back)
			}
		}
		v.World(points, body, packed)
		body.Joints(world, frame)
		for j := range points {
			if points[j].Dist(world[j]) > 1e-4 {
				t.Fatalf("joint %d is at %v in world space, want %v", j, points[j], world[j])
			}
		}
	}
	v.Pack(packed, []float32{0, 1, 0, 1e30, 1, 0, 0, -1e30, 0, 0, 1, 0, 0, 1, 5})
	v.Unpack(points, packed)
	for j, at := range points {
		if d := at.Dist(points[0]); !(d < 2) {
			t.Errorf("joint %d, far away, comes back %g m from the hips", j, d)
		}
	}
}

// Mixed frames lie between, and packed numbers are rounded to even ones and held.
func TestMix16(t *testing.T) {
	a, b := []feature.Point16{{0, -100, 32767}}, []feature.Point16{{10, 100, -32767}}
	feature.Mix16(a, a, b, 0.25)
	if want := (feature.Point16{2, -50, 16384}); a[0] != want {
		t.Errorf("a quarter of the way is %v, want %v", a[0], want)
	}
	for x, want := range map[float32]int16{0.5: 0, 1.5: 2, -2.5: -2, 1e9: math.MaxInt16, -1e30: -math.MaxInt16, 7.4: 7} {
		if got := feature.Round16(x); got != want {
			t.Errorf("%g is rounded to %d, want %d", x, got, want)
		}
	}
}
