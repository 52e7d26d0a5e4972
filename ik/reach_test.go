package ik_test

import (
	"testing"

	"mannequin/engine/m3"
	"mannequin/ik"
)

// A foot comes to its place and keeps its rotation, nothing but its leg moves, and bones keep their
// lengths; out of reach the leg stretches no further than it may, and the foot turns.
func TestReach(t *testing.T) {
	s, names := walker(t, ik.Level(0))
	at := func(m []m3.Xform, name string) m3.Xform { return m[index(names, name)] }
	pose := func() []m3.Xform {
		s.Run(0, 1)
		return append([]m3.Xform(nil), s.Model...)
	}
	rest, m := pose(), pose()
	length := func(m []m3.Xform) float32 {
		a, b, c := at(m, "LeftUpLeg").Pos, at(m, "LeftLeg").Pos, at(m, "LeftFoot").Pos
		return a.Dist(b) + b.Dist(c)
	}
	var foot ik.Foot
	to := at(rest, "LeftFoot").Pos.Add(m3.V(0.05, 0.08, 0.1))
	s.Rig.Reach(m, 0, to, &foot)
	if d := at(m, "LeftFoot").Pos.Dist(to); d > 1e-4 {
		t.Errorf("the foot is %g m beside its place", d)
	}
	for j, name := range names {
		inLeg := name == "LeftUpLeg" || name == "LeftLeg"
		if m[j].Rot.Angle(rest[j].Rot) > 1e-3 != inLeg {
			t.Errorf("%s is turned by %g rad", name, m[j].Rot.Angle(rest[j].Rot))
		}
		if inLeg || len(name) > 4 && name[:4] == "Left" {
			continue
		}
		if d := m[j].Pos.Dist(rest[j].Pos); d > 1e-6 {
			t.Errorf("%s is moved by %g m", name, d)
		}
	}
	if d := m3.Abs(length(m) - length(rest)); d > 1e-4 {
		t.Errorf("the leg is %g m longer", d)
	}
	// The knee stays in front.
	if z := at(m, "LeftLeg").Pos.Z - at(m, "LeftFoot").Pos.Lerp(at(m, "LeftUpLeg").Pos, 0.5).Z; z < 0.05 {
		t.Errorf("the knee is %g m before the line of its leg", z)
	}
	m = pose()
	s.Rig.Reach(m, 0, at(rest, "LeftFoot").Pos.Add(m3.V(0, 0, -0.5)), &foot)
	toe := at(rest, "LeftToeBase").Pos.Add(m3.V(0, 0, -0.5))
	was := at(m, "LeftFoot").Pos.Add(at(rest, "LeftToeBase").Pos.Sub(at(rest, "LeftFoot").Pos))
	if d := at(m, "LeftToeBase").Pos.Dist(toe); d > was.Dist(toe)-0.02 {
		t.Errorf("out of reach the toes are %g m off, %g had the foot not turned", d, was.Dist(toe))
	}
	if share := at(m, "LeftFoot").Pos.Dist(at(m, "LeftUpLeg").Pos) / length(m); share < 0.95 || share > 1 {
		t.Errorf("out of reach the leg stretches to %g of its length", share)
	}
}
