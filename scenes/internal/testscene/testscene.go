// Package testscene is for tests of scenes: whether they show the overlays that they have.
package testscene

import (
	"math"
	"testing"

	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/scenes"
)

// Keep takes a new scene and returns it. The test fails if there is an error, and closes the scene
// at its end.
func Keep[S scenes.Scene](s S, err error) func(t testing.TB) S {
	return func(t testing.TB) S {
		t.Helper()
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
}

// Step runs a number of ticks with the same input.
func Step(t testing.TB, s scenes.Scene, ticks int, in scenes.Input) {
	t.Helper()
	for range ticks {
		if err := s.Step(in); err != nil {
			t.Fatal(err)
		}
	}
}

// Nearest runs the scene for a number of ticks, with the input of each tick, and returns the least
// distance between two of the roots, m.
func Nearest(t testing.TB, s scenes.Scene, roots []m3.Xform, ticks int, in func(tick int) scenes.Input) float32 {
	t.Helper()
	least := float32(math.Inf(1))
	for tick := range ticks {
		Step(t, s, 1, in(tick))
		for i, a := range roots {
			for _, b := range roots[:i] {
				least = min(least, a.Pos.Dist(b.Pos))
			}
		}
	}
	return least
}

// HandOver lets the camera of a scene come to the origin and go far away again and again. It fails if few agents come from the GPU and go there, or if
// the ticks in which they do allocate.
func HandOver[S interface {
	scenes.Scene
	scenes.Resident
}](t testing.TB, s S) {
	t.Helper()
	least := math.MaxInt
	round := func() {
		Step(t, s, 6, scenes.Input{Watched: true, Eye: m3.V(0, 1, 0)})
		near, _ := s.OnGPU()
		Step(t, s, 6, scenes.Input{Watched: true, Eye: m3.V(200, 1, 0)})
		far, device := s.OnGPU()
		if least = min(least, far-near); device == "" {
			t.Fatal("the GPU is lost")
		}
	}
	for range 8 { // of ticks, too, that the GPU has counted since it copied all states
		round()
	}
	allocations := math.Inf(1)
	for range 4 { // others in the process may allocate once
		if allocations = min(allocations, testing.AllocsPerRun(1, round)); allocations == 0 {
			break
		}
	}
	if least < 3 || allocations > 0 {
		t.Errorf("%g allocations in twelve ticks in which at least %d agents come and go", allocations, least)
	}
}

// Same fails if a bone of frame a is not finite, or not the same in frame b.
func Same(t testing.TB, a, b *scenes.Frame) {
	t.Helper()
	for i := range a.Casts {
		if len(a.Casts[i].Bones) != len(b.Casts[i].Bones) {
			t.Fatalf("cast %d has %d and %d bones", i, len(a.Casts[i].Bones), len(b.Casts[i].Bones))
		}
		for j, x := range a.Casts[i].Bones {
			if !x.Pos.Finite() || !x.Rot.Finite() || x != b.Casts[i].Bones[j] {
				t.Fatalf("cast %d, bone %d: %v and %v", i, j, x, b.Casts[i].Bones[j])
			}
		}
	}
}

// Check runs s for a second. It fails if the scene has other overlays than has, or one that shows
// nothing, a NaN, or something far from all characters.
func Check(t *testing.T, s scenes.Scene, has hud.Overlay) {
	t.Helper()
	stages := 0
	traced, ok := s.(scenes.Traced)
	if !ok {
		t.Error("the scene is not traced")
	} else {
		traced.Trace(func(int) { stages++ })
		defer traced.Trace(nil)
	}
	const ticks = scenes.TickRate
	var f scenes.Frame
	var shown hud.Overlay
	for range ticks {
		Step(t, s, 1, scenes.Input{Forward: 1, Gait: scenes.Pace})
		shown |= look(t, s, &f)
	}
	if shown != has {
		t.Errorf("the scene shows %v, want %v", shown, has)
	}
	if ok && len(traced.Stages()) > 0 && stages != ticks*(len(traced.Stages())+1) {
		t.Errorf("%d calls of Trace in %d ticks of %d stages", stages, ticks, len(traced.Stages()))
	}
	if plain(s, &f); f.Has != has || len(f.Graphs) != 0 {
		t.Errorf("there is %v, want %v; and %d graphs that were not asked for", f.Has, has, len(f.Graphs))
	}
	if len(f.Lines) > 0 {
		Ring(t, &f)
	}
}

// plain returns the number of lines without an overlay.
func plain(s scenes.Scene, f *scenes.Frame) int {
	f.Show = 0
	s.Frame(f, 0.5)
	return len(f.Lines)
}

// Ring fails if the lines of f are no ring on the ground around the focus.
func Ring(t *testing.T, f *scenes.Frame) {
	t.Helper()
	if len(f.Lines) < 12 {
		t.Errorf("%d lines are no ring", len(f.Lines))
	}
	var mid m3.Vec3
	for i, l := range f.Lines {
		mid = mid.Add(l.From.Flat().Scale(1 / float32(len(f.Lines))))
		next, p := f.Lines[(i+1)%len(f.Lines)].From, l.From
		if h := p.Y - f.Terrain.Height(p.X, p.Z); l.To.Dist(next) > 1e-4 || !(h > 0) || !(h < 0.1) {
			t.Fatalf("a line from %v to %v, %g m over the ground, before one from %v", p, l.To, h, next)
		}
	}
	if d := mid.Dist(f.Focus.Flat()); !(d < 0.5) {
		t.Errorf("the ring is %g m beside the focus", d)
	}
}

// look returns the overlays that show something.
func look(t *testing.T, s scenes.Scene, f *scenes.Frame) (shown hud.Overlay) {
	t.Helper()
	none := plain(s, f)
	for i := range hud.OverlayNames() {
		f.Show = 1 << i
		s.Frame(f, 0.5)
		if len(f.Lines)+len(f.Graphs) > none {
			shown |= f.Show
		}
		for _, l := range f.Lines {
			for _, p := range []m3.Vec3{l.From, l.To} {
				if h := p.Y - f.Terrain.Height(p.X, p.Z); !(p.Dist(f.Focus) < 25) || !(h > -0.3) || !(h < 3) {
					t.Fatalf("%v: a line from %v to %v, %g m over the ground", f.Show, l.From, l.To, h)
				}
			}
		}
	}
	return shown
}
