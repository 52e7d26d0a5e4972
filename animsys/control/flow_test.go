package control

import (
	"math"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// Without obstacles the way is straight.
func TestFlowIsStraight(t *testing.T) {
	goal := m3.V(3, 0, -4)
	f := must.Get(NewFlow(-20, -20, 20, 20, 0.5, goal, nil))(t)
	for i := range 200 {
		a, r := 2.4*float64(i), 1.5+0.08*float64(i)
		p := goal.Add(m3.V(float32(r*math.Sin(a)), 0, float32(r*math.Cos(a))))
		if m3.Abs(p.X) > 19 || m3.Abs(p.Z) > 19 {
			continue
		}
		dist, ahead := f.Way(p)
		want := goal.Sub(p)
		if d := m3.Abs(dist - want.Len()); d > 0.06*want.Len()+0.1 {
			t.Errorf("from %v it is %g m, want %g", p, dist, want.Len())
		}
		if off := m3.Acos(ahead.Dot(want.Normalize(m3.Up))); off > 0.12 {
			t.Errorf("from %v it sets out %g rad beside", p, off)
		}
	}
}

// A character that follows the flow reaches the goal around the wall, by about the shortest way.
func TestFlowGoesAround(t *testing.T) {
	wall := func(x, z float32) bool { return m3.Abs(z) < 1 && x > -8 && x < 15 } // to the right border
	f := must.Get(NewFlow(-15, -15, 15, 15, 0.5, m3.V(5, 0, 8), wall))(t)
	p, way := m3.V(5, 0, -8), float32(0)
	for range 2000 {
		dist, ahead := f.Way(p)
		if dist < 0.5 {
			break
		}
		p = p.Add(ahead.Scale(0.05))
		way += 0.05
		if wall(p.X, p.Z) {
			t.Fatalf("it goes through the wall at %v", p)
		}
	}
	// By the corners (−7.5, ∓1) of the cells that are closed.
	least := float32(2*math.Hypot(12.5, 7) + 2)
	if d := p.Dist(m3.V(5, 0, 8)); d > 0.6 || way < least-0.6 || way > 1.1*least {
		t.Errorf("it comes to %g m of the goal on a way of %g m, the shortest is %g", d, way, least)
	}
}

func TestFlowEnclosed(t *testing.T) {
	ring := func(x, z float32) bool { r := math.Hypot(float64(x), float64(z)); return r > 5 && r < 7 }
	f := must.Get(NewFlow(-15, -15, 15, 15, 0.5, m3.Vec3{}, ring))(t)
	if dist, ahead := f.Way(m3.V(10, 0, 0)); dist != Unreachable || ahead != (m3.Vec3{}) {
		t.Errorf("from outside it is %g m, by %v", dist, ahead)
	}
	if dist, _ := f.Way(m3.V(3, 0, 0)); m3.Abs(dist-3) > 0.3 {
		t.Errorf("from inside it is %g m", dist)
	}
	// Off the ground, and from nowhere, is as from the border.
	nan := float32(math.NaN())
	for _, p := range []m3.Vec3{m3.V(nan, 0, 0), m3.V(1e9, 0, -1e9), m3.V(float32(math.Inf(-1)), 0, nan)} {
		if dist, ahead := f.Way(p); !m3.Finite(dist) || !ahead.Finite() {
			t.Errorf("from %v it is %g m, by %v", p, dist, ahead)
		}
	}
}

func TestFlowErrors(t *testing.T) {
	nan := float32(math.NaN())
	for want, c := range map[string]struct {
		x1, cell float32
		goal     m3.Vec3
	}{
		"want some ground": {-9, 1, m3.Vec3{}}, "cells of 0 m": {9, 0, m3.Vec3{}}, "at most": {9000, 0.01, m3.Vec3{}},
		"cells of NaN": {9, nan, m3.Vec3{}}, "is not on the ground": {9, 1, m3.V(10, 0, 0)}, "want some ground, and": {9, 1, m3.V(nan, 0, 0)},
	} {
		if _, err := NewFlow(-9, -9, c.x1, 9, c.cell, c.goal, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}
