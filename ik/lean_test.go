package ik_test

import (
	"math"
	"testing"

	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/terrain"
)

// People lean to where they accelerate to, and ahead in a run, while their feet stay. Those who stand still, and those of whom nothing is known, do not.
func TestPeopleLean(t *testing.T) {
	flat, err := terrain.Slope(terrain.Grid{Size: 20, Cell: 0.5}, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		going *ik.Going
		want  m3.Vec3 // way over height
	}{
		"unknown":               {},
		"stands":                {going: &ik.Going{Leans: true}},
		"sets off to the left":  {going: &ik.Going{Leans: true, Accel: m3.V(3, 0, 0)}, want: m3.V(0.11, 0, 0)},
		"walks":                 {going: &ik.Going{Leans: true, Velocity: m3.V(0, 0, 1.4)}},
		"runs":                  {going: &ik.Going{Leans: true, Velocity: m3.V(0, 0, 3.5)}, want: m3.V(0, 0, 0.105)},
		"a run stops":           {going: &ik.Going{Leans: true, Velocity: m3.V(0, 0, 3.5), Accel: m3.V(0, 0, -30)}, want: m3.V(0, 0, -0.28)},
		"a run in a bend":       {going: &ik.Going{Leans: true, Velocity: m3.V(0, 0, 3), Accel: m3.V(-3, 0, 0)}, want: m3.V(-0.198, 0, 0.09)},
		"what is not finite":    {going: &ik.Going{Leans: true, Velocity: m3.V(0, 0, float32(math.NaN())), Accel: m3.V(3, 0, 0)}},
		"keeps its pose":        {going: &ik.Going{Velocity: m3.V(0, 0, 3.5), Accel: m3.V(3, 0, 0)}},
		"leans as it should":    {going: &ik.Going{Leans: true, Velocity: m3.V(0, 0, 3.5), Tilt: m3.V(0, 0, 0.2)}},
		"leans half as much":    {going: &ik.Going{Leans: true, Velocity: m3.V(0, 0, 3.5), Tilt: m3.V(0, 0, 0.05)}, want: m3.V(0, 0, 0.055)},
		"goes to the left fast": {going: &ik.Going{Leans: true, Velocity: m3.V(3.5, 0, 0)}},
	} {
		s, names := walker(t, flat)
		for range 60 {
			s.Run(0, 1)
		}
		feet := []m3.Vec3{s.Model[index(names, "LeftToeBase")].Pos, s.Model[index(names, "RightToeBase")].Pos}
		before := s.Model[0]
		if c.going != nil {
			s.Goings = []ik.Going{*c.going}
		}
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		for range 60 {
			s.Run(0, 1)
		}
		up := s.Model[index(names, "Neck1")].Pos.Sub(s.Model[0].Pos)
		if got := up.Flat().Scale(1 / up.Y); got.Dist(c.want) > 0.01 {
			t.Errorf("%s: it leans by %v, want %v", name, got, c.want)
		}
		if hips := s.Model[0].Pos.Sub(before.Pos); hips.Flat().Dot(c.want) < 0.3*c.want.Dot(c.want) {
			t.Errorf("%s: the hips move by %v, want to the same side", name, hips)
		}
		for i, toe := range []string{"LeftToeBase", "RightToeBase"} {
			if d := s.Model[index(names, toe)].Pos.Dist(feet[i]); d > 0.01 {
				t.Errorf("%s: the foot moves by %.3f m", name, d)
			}
		}
	}
	s, _ := walker(t, flat)
	if s.Goings = make([]ik.Going, 2); s.Validate() == nil {
		t.Error("two Goings for one row are valid")
	}
}

// The hips of somebody who has stopped with the legs ahead come over the feet; those of somebody who still goes do not.
func TestBalance(t *testing.T) {
	flat, err := terrain.Slope(terrain.Grid{Size: 20, Cell: 0.5}, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	off := func(v m3.Vec3) float32 {
		s, names := walker(t, flat)
		s.Pos[0].Y = 0.9
		for _, n := range []string{"LeftUpLeg", "RightUpLeg"} {
			s.Rot[index(names, n)] = m3.AxisAngle(m3.V(1, 0, 0), -0.35)
		}
		s.Goings = []ik.Going{{Leans: true, Velocity: v}}
		for range 60 {
			s.Run(0, 1)
		}
		return s.Model[index(names, "LeftFoot")].Pos.Sub(s.Model[0].Pos).Z
	}
	if still, walks := off(m3.Vec3{}), off(m3.V(0, 0, 1)); still > 0.12 || walks < 0.2 {
		t.Errorf("the ankles are %.2f m ahead of somebody who stands, and %.2f of somebody who walks", still, walks)
	}
}
