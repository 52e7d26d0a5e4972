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

// armed returns a person whose layout lacks a joint, and names hands before arms.
func armed(t *testing.T) *feature.Person {
	l := &feature.Motion{Joints: []string{"Hips", "LeftHand", "RightHand", "LeftArm", "RightArm"}, Left: []string{"LeftArm"}}
	return must.Get(feature.NewPerson(l, &skel.Skeleton{
		Names:   []string{"Hips", "Spine", "LeftArm", "LeftHand", "RightArm", "RightHand"},
		Parents: []int16{-1, 0, 1, 2, 1, 4}, EndSite: make([]bool, 6),
		Offsets: []m3.Vec3{{}, m3.V(0, 0.2, 0), m3.V(0.2, 0.1, 0), m3.V(0.05, 0, 0), m3.V(-0.2, 0.1, 0), m3.V(-0.05, 0, 0)},
	}))(t)
}

// Packed places are rounded by half a unit, those of hips by one, and come out in world space.
func TestPlaces16(t *testing.T) {
	p := armed(t)
	v, n := p.Places16(), len(p.Layout.Joints)
	if v.Unit != 1.0/(1<<15) {
		t.Errorf("the unit is %g m: hands are up to 0.47 m from the hips", v.Unit)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	frame, back := make([]float32, 3*n), make([]float32, 3*n)
	points, world, packed := make([]m3.Vec3, n), make([]m3.Vec3, n), make([]feature.Point16, n)
	body := feature.Place{Pos: m3.V(3, 0, -2), Yaw: 1}
	for range 1000 {
		hips := m3.V(rnd.Float32()-0.5, 2*rnd.Float32(), rnd.Float32()-0.5)
		for j := range n {
			at := hips.Add(m3.V(rnd.Float32(), rnd.Float32(), rnd.Float32()).Scale(0.2))
			frame[3*j], frame[3*j+1], frame[3*j+2] = at.X, at.Y, at.Z
		}
		v.Pack(packed, frame)
		v.Unpack(back, points, packed)
		for i := range frame {
			most := v.Unit / 2
			if i < 3 {
				most = v.Unit
			}
			if d := m3.Abs(back[i] - frame[i]); d > most {
				t.Fatalf("value %d, %g, comes back as %g", i, frame[i], back[i])
			}
		}
		v.World(points, body, packed)
		body.Joints(world, back)
		for j := range points {
			if points[j].Dist(world[j]) > 1e-6 {
				t.Fatalf("joint %d is at %v in world space, want %v", j, points[j], world[j])
			}
		}
	}
	v.Pack(packed, []float32{0, 1, 0, 1e30, 1, 0, 0, -1e30, 0, 0, 1, 0, 0, 1, 5})
	v.Unpack(back, points, packed)
	for j, at := range points {
		if d := at.Dist(points[0]) * v.Unit; !(d < 1.5) {
			t.Errorf("joint %d, far away, comes back %g m from the hips", j, d)
		}
	}
}

// Mixed frames lie between, and packed numbers are rounded to even ones and held.
func TestMix16(t *testing.T) {
	a, b := []feature.Point16{{0, -100, 32767}}, []feature.Point16{{10, 100, -32767}}
	feature.Mix16(a, b, 0.25)
	if want := (feature.Point16{2, -50, 16384}); a[0] != want {
		t.Errorf("a quarter of the way is %v, want %v", a[0], want)
	}
	for x, want := range map[float32]int16{0.5: 0, 1.5: 2, -2.5: -2, 1e9: math.MaxInt16, -1e30: -math.MaxInt16, 7.4: 7} {
		if got := feature.Round16(x); got != want {
			t.Errorf("%g is rounded to %d, want %d", x, got, want)
		}
	}
}
