package ik_test

import (
	"math"
	"slices"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// between returns the model poses at the quarters of a step from the result of the run before to that
// of the last one, both included.
func between(s *skel.Skeleton, q *ik.Legged, before []m3.Xform) (out [5][]m3.Xform) {
	for k := range out {
		m := make([]m3.Xform, s.Len())
		s.Interpolate(m, before, q.Model, float32(k)/4)
		if k > 0 && k < 4 {
			q.Between(m, 0, k, 4)
		}
		out[k] = m
	}
	return out
}

// Between two runs standing paws stay, also if the body goes on far over them.
func TestBetweenStands(t *testing.T) {
	s, q := batch(t, ik.Level(0), 1)
	q.DT = 4. / 60
	q.Run(0, 1)
	q.Run(0, 1)
	before := slices.Clone(q.Model)
	q.Pos[0].Z += 0.1
	for _, l := range q.Rig.Roles.Legs {
		q.Rot[l[len(l)-4]] = m3.AxisAngle(m3.V(1, 0, 0), 0.2)
	}
	q.Run(0, 1)
	for k, m := range between(s, q, before) {
		for _, l := range q.Rig.Roles.Legs {
			tip := l[len(l)-1]
			if a, b, p := before[tip].Pos, q.Model[tip].Pos, m[tip].Pos; p.Dist(a.Lerp(b, float32(k)/4)) > 5e-4 {
				t.Errorf("quarter %d: %s is at %v, on the way from %v to %v", k, s.Names[tip], p, a, b)
			}
		}
	}
}

// A paw that takes off first rises. One that lands first goes. One that is down at both ends hops.
func TestBetweenSteps(t *testing.T) {
	s, q := batch(t, ik.Level(0), 1)
	q.DT, q.Lock.On = 4./60, 0
	leg := q.Rig.Roles.Legs[0]
	tip := leg[len(leg)-1]
	q.Run(0, 1)
	q.Pos[0].Y -= q.Model[tip].Pos.Y - 0.004
	q.Run(0, 1)
	for _, angle := range []float32{-0.7, 0} {
		before := slices.Clone(q.Model)
		q.Pos[0].Z += 0.1
		q.Rot[leg[len(leg)-4]] = m3.AxisAngle(m3.V(1, 0, 0), angle)
		q.Run(0, 1)
		a, b := before[tip].Pos, q.Model[tip].Pos
		if m3.Abs(b.Y-a.Y) < 0.03 {
			t.Fatalf("the paw goes from %v to %v only", a, b)
		}
		for k, m := range between(s, q, before) {
			u, p := float32(k)/4, m[tip].Pos
			height, way := (p.Y-a.Y)/(b.Y-a.Y), p.Sub(a).Flat().Len()/b.Sub(a).Flat().Len()
			lead := height - way
			if angle == 0 {
				lead = -lead
			}
			if most := 2 * u * (1 - u); lead < most/3 || lead > most+1e-3 {
				t.Errorf("angle %g, quarter %d: %.2f of the height, %.2f of the way", angle, k, height, way)
			}
			for j, parent := range s.Parents {
				if parent >= 0 && m3.Abs(m[j].Pos.Dist(m[parent].Pos)-s.Offsets[j].Len()) > 1e-4 {
					t.Errorf("quarter %d: the bone to %s has another length", k, s.Names[j])
				}
			}
		}
	}
	for range 10 {
		q.Run(0, 1)
	}
	before := slices.Clone(q.Model)
	q.Pos[0].Z += 0.1
	q.Run(0, 1)
	a, b := before[tip].Pos, q.Model[tip].Pos
	mid := between(s, q, before)[2][tip].Pos
	if rise := mid.Sub(a.Lerp(b, 0.5)); rise.Y < 0.01 || rise.Y > 0.04 || rise.Flat().Len() > 0.005 {
		t.Errorf("halfway from %v to %v the paw is at %v", a, b, mid)
	}
}

// A foot without memory, as of a new agent or a broken pose, is left as it is.
func TestBetweenForgets(t *testing.T) {
	s, q := batch(t, ik.Level(0), 1)
	q.Run(0, 1)
	m := slices.Clone(q.Model)
	q.Between(m, 0, 1, 2)
	if !slices.Equal(m, q.Model) {
		t.Error("legs move after the first run")
	}
	q.Run(0, 1)
	q.Ground = ik.Level(float32(math.NaN()))
	q.Between(m, 0, 1, 2)
	checkBones(t, q, s, 0)
	for _, x := range m {
		if !x.Pos.Finite() || !x.Rot.Finite() {
			t.Fatalf("on ground that is not finite: %v", x)
		}
	}
}

func BenchmarkBetween(b *testing.B) {
	s, q := batch(b, ik.Level(0), 1)
	q.Run(0, 1)
	q.Run(0, 1)
	m := make([]m3.Xform, s.Len())
	for b.Loop() {
		s.Interpolate(m, q.Model, q.Model, 0.5)
		q.Between(m, 0, 1, 2)
	}
}
