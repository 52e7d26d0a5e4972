package herd

import (
	"fmt"
	"testing"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/internal/testing/testdog"
	"mannequin/scenes"
	"mannequin/scenes/world"
	"mannequin/terrain"

	"github.com/mlange-42/arche/generic"
)

func open(t testing.TB, opt world.Options) *Scene {
	t.Helper()
	s, err := New(Options{Options: opt, Model: testdog.Model(t)})
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
	a, b := open(t, world.Options{Seed: 9, Workers: 1}), open(t, world.Options{Seed: 9, Workers: 3})
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
	if fa.Casts[0].Len() != 50 || len(fa.Casts[0].Bones) != 50*fa.Casts[0].Skel.Len() || len(fa.Casts[0].Tint) != 50 {
		t.Fatalf("%d agents, %d bones, %d tints", fa.Casts[0].Len(), len(fa.Casts[0].Bones), len(fa.Casts[0].Tint))
	}
	for j, x := range fa.Casts[0].Bones {
		if !x.Pos.Finite() || !x.Rot.Finite() || x != fb.Casts[0].Bones[j] {
			t.Fatalf("bone %d: %v and %v", j, x, fb.Casts[0].Bones[j])
		}
	}
	moved, coats := 0, map[[3]float32]bool{}
	for r := range fa.Casts[0].Len() {
		hips := fa.Casts[0].Bones[r*fa.Casts[0].Skel.Len()].Pos
		if world.Inside(a.Terrain, hips) < 1 {
			t.Errorf("dog %d is at the border: %v", r, hips)
		}
		if hips.Flat().Dist(first[r].Pos) > 1 {
			moved++
		}
		coats[fa.Casts[0].Tint[r]] = true
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

// steered returns what becomes of a goal of the first dog, standing at roots[0],
// with the others at the other roots and a player on its way.
func steered(s *Scene, g control.Goal, players []way, roots ...m3.Xform) control.Goal {
	s.roam.look(roots)
	s.roam.players = players
	s.roam.steer(&g, roots[0], 0)
	return g
}

func at(x, z float32) m3.Xform { return m3.Xform{Pos: m3.V(x, 0, z), Rot: m3.Ident} }

var walk = control.Goal{Move: m3.V(0, 0, 1), Speed: control.CanterSpeed, Action: control.Move}

func flatScene(t *testing.T) *Scene {
	flat, err := terrain.Flat(terrain.Grid{Size: 40, Cell: 1})
	if err != nil {
		t.Fatal(err)
	}
	return open(t, world.Options{Agents: 2, Terrain: flat})
}

func TestSteer(t *testing.T) {
	s := flatScene(t)
	for name, c := range map[string]struct {
		me, other m3.Xform
		ok        func(g control.Goal) bool
	}{
		"far apart":       {at(0, 0), at(5, 0), func(g control.Goal) bool { return g == walk }},
		"one to the left": {at(0, 0), at(1, 0.1), func(g control.Goal) bool { return g.Turn < -0.2 && g.Move == walk.Move }},
		"to the right":    {at(0, 0), at(-1, 0.1), func(g control.Goal) bool { return g.Turn > 0.2 && g.Move == walk.Move }},
		"beside":          {at(0, 0), at(0.6, 0.1), func(g control.Goal) bool { return g.Turn < -0.2 && g.Move.X < -0.2 }},
		"touching":        {at(0, 0), at(-0.3, 0), func(g control.Goal) bool { return g.Move.X > 0.7 }},
		"one ahead":       {at(0, 0), at(0.1, 1), func(g control.Goal) bool { return g.Speed <= control.WalkSpeed }},
		"one on the spot": {at(0, 0), at(0, 0), func(g control.Goal) bool { return g == walk }},
		"at the border":   {at(19, 5), at(0, 0), func(g control.Goal) bool { return m3.Abs(g.Turn) > 0.5 }},
		"outside":         {at(50, 5), at(50, 5.5), func(g control.Goal) bool { return m3.Abs(g.Turn) > 0.5 }},
	} {
		if g := steered(s, walk, nil, c.me, c.other); !c.ok(g) || !g.Finite() || m3.Abs(g.Move.Len()-1) > 1e-5 {
			t.Errorf("%s: %+v", name, g)
		}
	}
	sit := control.Goal{Action: control.Sit}
	if g := steered(s, sit, nil, at(0, 0), at(0.2, 0)); g != sit {
		t.Errorf("a sitting dog got %+v", g)
	}
}

// A player's dog that comes is made way for, even by a dog that rests; the dog
// goes off to the side that it is on.
func TestMakesWay(t *testing.T) {
	s := flatScene(t)
	sit := control.Goal{Action: control.Sit}
	comes := func(x, z, vx, vz float32) []way {
		from := m3.V(x, 0, z)
		return []way{{from, from.Add(m3.V(vx, 0, vz).Scale(notice))}}
	}
	stroll := control.Goal{Move: m3.V(0, 0, 1), Speed: control.WalkSpeed, Action: control.Move}
	me := at(0, -middle) // its middle is at the origin
	for name, c := range map[string]struct {
		goal   control.Goal
		player []way
		ok     func(g control.Goal) bool
	}{
		"far away":             {sit, comes(0, 5, 0, 0), func(g control.Goal) bool { return g == sit }},
		"stands near":          {sit, comes(1.5, 0, 0, 0), func(g control.Goal) bool { return g == sit }},
		"stands too near":      {sit, comes(0.5, 0, 0, 0), func(g control.Goal) bool { return g.Action == control.Move && g.Move.X < -0.5 }},
		"comes":                {sit, comes(-0.3, 3, 0, -3), func(g control.Goal) bool { return g.Action == control.Move && g.Turn > 0.5 }},
		"comes, other side":    {sit, comes(0.3, 3, 0, -3), func(g control.Goal) bool { return g.Action == control.Move && g.Turn < -0.5 }},
		"comes straight":       {sit, comes(0, 2, 0, -3), func(g control.Goal) bool { return g.Action == control.Move && m3.Abs(g.Move.X) > 0.7 }},
		"goes":                 {sit, comes(0, 2, 0, 3), func(g control.Goal) bool { return g == sit }},
		"walkers turn earlier": {walk, comes(1.5, 1, -0.5, 0), func(g control.Goal) bool { return g.Turn < -0.2 }},
		"chased":               {stroll, comes(0.1, -1, 0, 2), func(g control.Goal) bool { return g.Speed > 2.4 }},
		"met":                  {stroll, comes(0.1, 2, 0, -2), func(g control.Goal) bool { return g.Speed == stroll.Speed }},
		"inside":               {walk, comes(0, 0, 0, 0), func(g control.Goal) bool { return g.Move.Len() > 0.9 }},
	} {
		if g := steered(s, c.goal, c.player, me); !c.ok(g) || !g.Finite() {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

// A player's way begins at its dog's middle and is as long as it is fast.
func TestSeesPlayers(t *testing.T) {
	s := flatScene(t)
	player := generic.NewMap1[scenes.Player](&s.ECS)
	player.Add(s.Crowd.Rows.Entity(1))
	for range 60 {
		if err := s.Step(scenes.Input{}); err != nil {
			t.Fatal(err)
		}
	}
	s.roam.Update(&s.ECS)
	if len(s.roam.players) != 1 {
		t.Fatalf("%d players", len(s.roam.players))
	}
	w, v := s.roam.players[0], s.Dogs.Velocity(1)
	if d := w.from.Dist(s.Crowd.Roots[1].Apply(m3.V(0, 0, middle))); d > 1e-5 {
		t.Errorf("its way begins %g m from the dog", d)
	}
	if d := w.to.Sub(w.from).Dist(v.Scale(notice)); d > 1e-5 || v.Len() < 0.1 {
		t.Errorf("its way goes from %v to %v at %v", w.from, w.to, v)
	}
}

func TestTickDoesNotAllocate(t *testing.T) {
	s := open(t, world.Options{Agents: 20, Workers: 2})
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
		"no model": {}, "negative": {Model: m, Options: world.Options{Agents: -1}}, "too many": {Model: m, Options: world.Options{Agents: world.MaxAgents + 1}},
	} {
		if _, err := New(opt); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func BenchmarkRoam(b *testing.B) {
	for _, n := range []int{64, 4096} {
		b.Run(fmt.Sprintf("agents=%d", n), func(b *testing.B) {
			s := open(b, world.Options{Agents: n, Workers: 1})
			for b.Loop() {
				s.roam.Update(&s.ECS)
			}
		})
	}
}
