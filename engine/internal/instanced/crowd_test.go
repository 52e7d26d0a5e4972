package instanced

import (
	"testing"

	"mannequin/engine/m3"
)

// A skinning matrix moves a point as its transform does.
func TestPutRows(t *testing.T) {
	x := m3.Xform{Pos: m3.V(1, -2, 3), Rot: m3.FromRotationVector(m3.V(0.3, -1.1, 0.7))}
	var r [12]float32
	putRows(r[:], x)
	p := m3.V(0.4, 0.5, -0.6)
	got := m3.V(r[0]*p.X+r[1]*p.Y+r[2]*p.Z+r[3], r[4]*p.X+r[5]*p.Y+r[6]*p.Z+r[7], r[8]*p.X+r[9]*p.Y+r[10]*p.Z+r[11])
	if got.Dist(x.Apply(p)) > 1e-5 {
		t.Errorf("%v, want %v", got, x.Apply(p))
	}
}

// A footprint lies under its character, the longer way along it.
func TestFootprint(t *testing.T) {
	var bones []m3.Xform
	along := m3.V(0.6, 0, 0.8)
	for i := range 11 {
		bones = append(bones, m3.Xform{Pos: m3.V(1000, 2, -500).Add(along.Scale(0.1 * float32(i-5))), Rot: m3.Ident})
	}
	bones[3].Pos.Y = 1.4
	f := footprintOf(bones)
	if f.centre.Dist(m3.V(1000, 1.4, -500)) > 1e-3 || m3.Abs(f.along.Dot(along)) < 0.999 {
		t.Errorf("centre %v, along %v", f.centre, f.along)
	}
	if f.a < 0.6 || f.a > 0.8 || f.b > 0.2 {
		t.Errorf("%g m by %g m", 2*f.a, 2*f.b)
	}
}
