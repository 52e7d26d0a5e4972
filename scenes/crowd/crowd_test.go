package crowd

import (
	"testing"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/internal/testdog"
	"mannequin/scenes"
	"mannequin/terrain"
)

func open(t testing.TB, opt Options) *Scene {
	t.Helper()
	opt.Model = testdog.Model(t)
	s, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Fifty dogs for five seconds: whole and finite frames, on the terrain, going
// different ways, and the same from the same seed.
func TestHerd(t *testing.T) {
	a, b := open(t, Options{Seed: 9, Workers: 1}), open(t, Options{Seed: 9, Workers: 3})
	var fa, fb scenes.Frame
	var first []m3.Xform
	for range 300 {
		if err := a.Step(scenes.Input{}); err != nil {
			t.Fatal(err)
		}
		if err := b.Step(scenes.Input{}); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = append(first, a.Crowd.Roots...)
		}
	}
	a.Frame(&fa, 0.5)
	b.Frame(&fb, 0.5)
	if fa.Agents != 50 || len(fa.Bones) != 50*fa.Skel.Len() || len(fa.Tint) != 50 {
		t.Fatalf("%d agents, %d bones, %d tints", fa.Agents, len(fa.Bones), len(fa.Tint))
	}
	for j, x := range fa.Bones {
		if !x.Pos.Finite() || !x.Rot.Finite() || x != fb.Bones[j] {
			t.Fatalf("bone %d: %v and %v", j, x, fb.Bones[j])
		}
	}
	moved, coats := 0, map[[3]float32]bool{}
	for r := range fa.Agents {
		hips := fa.Bones[r*fa.Skel.Len()].Pos
		if a.Inside(hips) < 1 {
			t.Errorf("dog %d is at the border: %v", r, hips)
		}
		if hips.Flat().Dist(first[r].Pos) > 1 {
			moved++
		}
		coats[fa.Tint[r]] = true
	}
	if moved < 20 {
		t.Errorf("only %d of 50 dogs went anywhere", moved)
	}
	if len(coats) < 3 {
		t.Errorf("the herd has %d colours", len(coats))
	}
	if fa.Focus.Flat().Len() > 10 {
		t.Errorf("the herd's middle went to %v", fa.Focus)
	}
}

func TestSteer(t *testing.T) {
	flat, err := terrain.Flat(terrain.Grid{Size: 40, Cell: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, Options{Agents: 2, Terrain: flat})
	at := func(x, z float32) m3.Xform { return m3.Xform{Pos: m3.V(x, 0, z), Rot: m3.Ident} }
	walk := control.Goal{Move: m3.V(0, 0, 1), Speed: control.CanterSpeed, Action: control.Move}
	for name, c := range map[string]struct {
		me, other m3.Xform
		ok        func(g control.Goal) bool
	}{
		"far apart":       {at(0, 0), at(5, 0), func(g control.Goal) bool { return g == walk }},
		"one to the left": {at(0, 0), at(0.6, 0.1), func(g control.Goal) bool { return g.Turn < -0.2 }},
		"to the right":    {at(0, 0), at(-0.6, 0.1), func(g control.Goal) bool { return g.Turn > 0.2 }},
		"one ahead":       {at(0, 0), at(0.1, 0.8), func(g control.Goal) bool { return g.Speed <= control.WalkSpeed }},
		"one on the spot": {at(0, 0), at(0, 0), func(g control.Goal) bool { return g == walk }},
		"at the border":   {at(19, 5), at(0, 0), func(g control.Goal) bool { return m3.Abs(g.Turn) > 0.5 }},
	} {
		g := walk
		s.roam.steer(&g, []m3.Xform{c.me, c.other}, 0)
		if !c.ok(g) || !g.Finite() {
			t.Errorf("%s: %+v", name, g)
		}
	}
	sit := control.Goal{Action: control.Sit}
	if s.roam.steer(&sit, []m3.Xform{at(0, 0), at(0.2, 0)}, 0); sit != (control.Goal{Action: control.Sit}) {
		t.Errorf("a sitting dog got %+v", sit)
	}
}

func TestTickDoesNotAllocate(t *testing.T) {
	s := open(t, Options{Agents: 20, Workers: 2})
	if n := testing.AllocsPerRun(30, func() {
		if err := s.Step(scenes.Input{}); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%g allocations per tick", n)
	}
}

func TestErrors(t *testing.T) {
	m := testdog.Model(t)
	for name, opt := range map[string]Options{
		"no model": {}, "negative": {Model: m, Agents: -1}, "too many": {Model: m, Agents: MaxAgents + 1},
	} {
		if _, err := New(opt); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
