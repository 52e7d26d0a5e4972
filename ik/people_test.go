package ik_test

import (
	"math"
	"testing"

	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/terrain"
)

// walker is a made-up person of the joints that stand on the ground, upright, its hips 0.95 m high
// and its toes' joints 5 cm.
func walker(t *testing.T, g ik.Ground) (*ik.Legged, []string) {
	t.Helper()
	names := []string{"Hips"}
	parents, offsets := []int16{-1}, []m3.Vec3{m3.V(0, 0.95, 0)}
	add := func(name string, parent int, at m3.Vec3) int {
		names, parents, offsets = append(names, name), append(parents, int16(parent)), append(offsets, at)
		return len(names) - 1
	}
	for _, side := range []struct {
		name string
		x    float32
	}{{"Left", 0.09}, {"Right", -0.09}} {
		up := add(side.name+"UpLeg", 0, m3.V(side.x, -0.05, 0))
		knee := add(side.name+"Leg", up, m3.V(0, -0.4, 0.03))
		foot := add(side.name+"Foot", knee, m3.V(0, -0.4, -0.03))
		toe := add(side.name+"ToeBase", foot, m3.V(0, -0.05, 0.12))
		add(side.name+"ToeBaseSite", toe, m3.V(0, 0, 0.06))
	}
	add("Neck1", add("Spine1", 0, m3.V(0, 0.25, 0)), m3.V(0, 0.2, 0))
	tree, err := ik.NewTree(parents)
	if err != nil {
		t.Fatal(err)
	}
	roles, err := ik.HumanRoles(names)
	if err != nil {
		t.Fatal(err)
	}
	s := ik.DefaultHuman()
	if s.Rig, err = ik.NewRig(tree, roles); err != nil {
		t.Fatal(err)
	}
	s.Ground, s.Pos, s.Rot = g, offsets, make([]m3.Quat, len(offsets))
	for j := range s.Rot {
		s.Rot[j] = m3.Ident
	}
	s.Model, s.Feet, s.Body = make([]m3.Xform, len(offsets)), make([]ik.Foot, 2), make([]ik.Body, 1)
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return &s, names
}

// Upright on any slope, soles on it, wherever they stand; the trunk does not lean with the ground.
func TestPersonStandsOnSlopes(t *testing.T) {
	for _, rise := range []float32{-0.25, 0, 0.25} {
		slope, err := terrain.Slope(terrain.Grid{Size: 20, Cell: 0.5}, rise, 0.7)
		if err != nil {
			t.Fatal(err)
		}
		s, names := walker(t, slope)
		for range 60 {
			s.Run(0, 1)
		}
		for _, n := range []string{"LeftToeBase", "RightToeBase"} {
			p := s.Model[index(names, n)].Pos
			if h := p.Y - slope.Height(p.X, p.Z); m3.Abs(h-s.Sole-0.004) > 2e-3 {
				t.Errorf("slope %g: %s stands %g m over it, want %g", rise, n, h, s.Sole+0.004)
			}
		}
		trunk := s.Model[index(names, "Neck1")].Pos.Sub(s.Model[0].Pos).Normalize(m3.Vec3{})
		if trunk.Y < 0.99 {
			t.Errorf("slope %g: the trunk points to %v", rise, trunk)
		}
	}
}

// A leg that is nearly straight in the flat pose comes no nearer to straight than halfway.
func TestKneesDoNotLock(t *testing.T) {
	s, names := walker(t, ik.Level(0))
	hip, knee, foot := index(names, "LeftUpLeg"), index(names, "LeftLeg"), index(names, "LeftFoot")
	s.Contacts, s.MaxDrop = []bool{true, true}, 0 // the body does not sink for its feet
	must.Do(t, s.Validate())
	for range 12 {
		s.Pos[0].Z += 0.01 // and they stay behind
		s.Run(0, 1)
		a, b := s.Model[hip].Pos.Dist(s.Model[knee].Pos), s.Model[knee].Pos.Dist(s.Model[foot].Pos)
		extent, flat := s.Model[hip].Pos.Dist(s.Model[foot].Pos)/(a+b), float32(0.8/(2*math.Sqrt(0.4*0.4+0.03*0.03)))
		if extent > (1+flat)/2+1e-5 {
			t.Fatalf("the leg stretches to %.5f of its length, in the flat pose to %.5f", extent, flat)
		}
	}
}

// Who knows which feet stand is believed: a foot that slides is held while it is said to stand, and
// one that rests is not where it is said to fly.
func TestStandIsTold(t *testing.T) {
	s, _ := walker(t, ik.Level(0))
	s.Contacts = []bool{true, false}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		s.Pos[0].Z += 0.005 // 0.3 m/s
		s.Run(0, 1)
	}
	if !s.Feet[0].Contact() || !s.Feet[0].Locked() || s.Feet[1].Contact() {
		t.Errorf("the feet are %+v", s.Feet)
	}
	s.Contacts = s.Contacts[:1]
	if err := s.Validate(); err == nil {
		t.Error("one foot's standing does for two")
	}
}

// Toes bend where they would go into the ground.
func TestToesBend(t *testing.T) {
	s, names := walker(t, ik.Level(0))
	foot, end := index(names, "LeftFoot"), index(names, "LeftToeBaseSite")
	for tick := range 40 {
		s.Rot[foot] = m3.AxisAngle(m3.V(1, 0, 0), 0.02*float32(tick)) // the heel rises
		s.Run(0, 1)
		if y := s.Model[end].Pos.Y; y < s.Sole {
			t.Fatalf("tick %d: toes end at %g m, their soles are %g thick", tick, y, s.Sole)
		}
	}
}

// Toes that turn through pointing straight down, into the ground, bend forward all the time.
func TestToesThatPointDown(t *testing.T) {
	s, names := walker(t, ik.Level(0))
	foot, toe, end := index(names, "LeftFoot"), index(names, "LeftToeBase"), index(names, "LeftToeBaseSite")
	s.Rot[index(names, "LeftLeg")] = m3.AxisAngle(m3.V(1, 0, 0), 0.15)
	s.Pos[0].Y -= 0.01
	for tick := range 60 { // the toes turn from 60 to 117° below ahead
		s.Rot[foot] = m3.AxisAngle(m3.V(1, 0, 0), 0.9+float32(tick)/60)
		s.Run(0, 1)
		if d := s.Model[end].Pos.Sub(s.Model[toe].Pos); d.Y > -0.055 && d.Z < 0 {
			t.Fatalf("tick %d: the toes point to %v", tick, d)
		}
	}
}

// Toes that point back turn over forward, not in a single tick.
func TestToesTurnOver(t *testing.T) {
	s, names := walker(t, ik.Level(0))
	foot, end := index(names, "LeftFoot"), index(names, "LeftToeBaseSite")
	s.Rot[index(names, "LeftLeg")] = m3.AxisAngle(m3.V(1, 0, 0), 0.15)
	s.Pos[0].Y -= 0.01
	var at [3]m3.Vec3
	most := float32(0)
	for tick := range 120 {
		s.Rot[foot] = m3.AxisAngle(m3.V(1, 0, 0), 0.9+float32(tick)/60)
		s.Run(0, 1)
		at = [3]m3.Vec3{at[1], at[2], s.Model[end].Pos}
		if tick > 2 {
			most = max(most, at[2].Add(at[0]).Sub(at[1].Scale(2)).Len()*60*60)
		}
	}
	if most > 100 {
		t.Errorf("the end of the toes accelerates by up to %g m/s²", most)
	}
}

// The foot that a body leaves behind turns up about its tip. So the body hardly sinks for it, the tip stays, and the sole comes down again
// when the body comes back.
func TestHeelRises(t *testing.T) {
	const (
		way   = 0.4 // m, of the body
		ticks = 60
	)
	sinks := func(heel float32) (sunk, slid, turned, rests float32) {
		s, names := walker(t, ik.Level(0))
		foot, toe := index(names, "LeftFoot"), index(names, "LeftToeBase")
		s.Lock.Heel, s.Lock.Radius = heel, 1
		must.Do(t, s.Validate())
		s.Run(0, 1)
		high, at := s.Model[0].Pos.Y, s.Model[toe].Pos
		for tick := range 2 * ticks {
			s.Pos[0].Z = way * (1 - m3.Cos(math.Pi*float32(tick)/ticks)) / 2
			s.Run(0, 1)
			sunk = max(sunk, high-s.Model[0].Pos.Y)
			slid = max(slid, s.Model[toe].Pos.Dist(at))
			turned = max(turned, s.Model[foot].Rot.Angle(m3.Ident))
		}
		for range ticks {
			s.Run(0, 1)
		}
		return sunk, slid, turned, s.Model[foot].Rot.Angle(m3.Ident)
	}
	sunk, slid, _, _ := sinks(0)
	if sunk < 0.05 || slid > 0.01 {
		t.Fatalf("with a flat foot the body sinks by %.3f m, and the tip slides by %.3f: want 0.05 at least, and 0.01 at most", sunk, slid)
	}
	less, slid, turned, rests := sinks(1.2)
	if less > 0.6*sunk || slid > 0.01 || turned < 0.3 || turned > 1.2 || rests > 0.01 {
		t.Errorf("the foot turns up by %.2f rad, the body sinks by %.3f m (%.3f with a flat foot), the tip slides by %.3f m, and then the foot is %.3f rad up", turned, less, sunk, slid, rests)
	}
}
