package herd

import (
	"math"
	"strings"
	"testing"

	"mannequin/animsys/resident"
	"mannequin/engine/m3"
	"mannequin/internal/testing/testdog"
	"mannequin/scenes"
	"mannequin/scenes/internal/steer"
	"mannequin/scenes/internal/testscene"
	"mannequin/scenes/world"
)

func open(t testing.TB, opt world.Options) *Scene {
	t.Helper()
	return testscene.Keep(New(Options{Options: opt, Model: testdog.Model(t)}))(t)
}

// Fifty dogs for five seconds: whole and finite frames, on the terrain, going
// different ways, and the same from the same seed.
func TestHerd(t *testing.T) {
	a, b := open(t, world.Options{Seed: 9, Workers: 1}), open(t, world.Options{Seed: 9, Workers: 3})
	var fa, fb scenes.Frame
	var first []m3.Xform
	for range 300 {
		testscene.Step(t, a, 1, scenes.Input{})
		testscene.Step(t, b, 1, scenes.Input{})
		if first == nil {
			first = append(first, a.Crowd.Roots...)
		}
	}
	a.Frame(&fa, 0.5)
	b.Frame(&fb, 0.5)
	if fa.Casts[0].Len() != 50 || len(fa.Casts[0].Bones) != 50*fa.Casts[0].Skel.Len() || len(fa.Casts[0].Tint) != 50 {
		t.Fatalf("%d agents, %d bones, %d tints", fa.Casts[0].Len(), len(fa.Casts[0].Bones), len(fa.Casts[0].Tint))
	}
	testscene.Same(t, &fa, &fb)
	moved, coats := 0, map[[3]float32]bool{}
	for r := range fa.Casts[0].Len() {
		hips := fa.Casts[0].Bones[r*fa.Casts[0].Skel.Len()].Pos
		if steer.Inside(a.Terrain, hips) < 1 {
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

func TestTickDoesNotAllocate(t *testing.T) {
	s := open(t, world.Options{Agents: 20, Workers: 2})
	if n := testing.AllocsPerRun(30, func() {
		testscene.Step(t, s, 1, scenes.Input{})
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

// Without a GPU all dogs stay, and the status line says so.
func TestWithoutGPU(t *testing.T) {
	opt := Options{Options: world.Options{Agents: 3, Workers: 1}, Model: testdog.Model(t)}
	plain := testscene.Keep(New(opt))(t)
	opt.Beyond = 1
	asked := testscene.Keep(New(opt))(t)
	in := scenes.Input{Watched: true, Eye: m3.V(0, 2, 30)}
	testscene.Step(t, plain, 10, in)
	testscene.Step(t, asked, 10, in)
	if asked.Hash() != plain.Hash() {
		t.Error("dogs move otherwise")
	}
	if n, device := asked.OnGPU(); n != 0 || device != "" {
		t.Errorf("%d dogs on %s", n, device)
	}
	var f scenes.Frame
	asked.Frame(&f, 1)
	if len(f.Casts) != 1 || len(f.Far) != 0 || len(f.HUD) != 1 || !strings.Contains(f.HUD[0], "3 dogs, all on the processor") {
		t.Errorf("%d casts, %d far, HUD %q", len(f.Casts), len(f.Far), f.HUD)
	}
	for _, beyond := range []float32{-1, float32(math.NaN()), float32(math.Inf(1))} {
		opt.Beyond, opt.GPU = beyond, &resident.Options{}
		if _, err := New(opt); err == nil {
			t.Errorf("beyond %g m: accepted", beyond)
		}
	}
}
