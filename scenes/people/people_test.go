package people

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	walkers "mannequin/models/person"
	"mannequin/scenes"
	"mannequin/scenes/internal/overlay"
	"mannequin/scenes/internal/testscene"
	"mannequin/scenes/world"
	"mannequin/terrain"
)

func open(t testing.TB, o world.Options) *Scene {
	t.Helper()
	return testscene.Keep(New(Options{Options: o, Networks: must.Get(walkers.Open())(t)}))(t)
}

// Everyone sets out and goes along the lanes, nobody into anybody, the same from
// the same seed with any number of workers.
func TestCrowd(t *testing.T) {
	a, b := open(t, world.Options{Agents: 40, Seed: 3, Workers: 1}), open(t, world.Options{Agents: 40, Seed: 3, Workers: 3})
	var first, fa, fb scenes.Frame
	a.Frame(&first, 1)
	nearest := float32(math.Inf(1))
	for tick := range 400 {
		for _, s := range []*Scene{a, b} {
			testscene.Step(t, s, 1, scenes.Input{})
		}
		if tick%20 > 0 {
			continue
		}
		for i := range 40 {
			for k := range i {
				nearest = min(nearest, a.People.Roots[i].Pos.Dist(a.People.Roots[k].Pos))
			}
		}
	}
	a.Frame(&fa, 0.3)
	b.Frame(&fb, 0.3)
	if fa.Casts[0].Len() != 40 || len(fa.Casts[0].Bones) != 40*fa.Casts[0].Skel.Len() || len(fa.Casts[0].Tint) != 40 || len(fa.Path) == 0 || len(fa.HUD) != 1 || len(fa.Help) == 0 {
		t.Fatalf("%d people, %d bones, %d tints", fa.Casts[0].Len(), len(fa.Casts[0].Bones), len(fa.Casts[0].Tint))
	}
	testscene.Same(t, &fa, &fb)
	for i := range 40 {
		n := i * fa.Casts[0].Skel.Len()
		if d := fa.Casts[0].Bones[n].Pos.Flat().Dist(first.Casts[0].Bones[n].Pos.Flat()); d < 2 {
			t.Errorf("person %d went %g m in 6 s", i, d)
		}
		if h := fa.Casts[0].Bones[n].Pos.Y - a.Terrain.Height(fa.Casts[0].Bones[n].Pos.X, fa.Casts[0].Bones[n].Pos.Z); h < 0.7 || h > 1.1 {
			t.Errorf("person %d has hips %g m over the ground", i, h)
		}
	}
	if nearest < 0.7 {
		t.Errorf("two came within %g m", nearest)
	}
	if fa.Focus.Flat().Dist(a.People.Roots[a.Selected].Pos) > 0.5 {
		t.Errorf("the focus %v is not on the one who is watched", fa.Focus)
	}
}

// Heads lead the turns of a lane, and face ahead on who goes backward.
func TestLook(t *testing.T) {
	s := open(t, world.Options{Agents: 1, Workers: 1})
	bones := make([]m3.Xform, s.People.Skel.Len())
	head, hips := s.People.Skel.Index("Head"), s.People.Skel.Index("Hips")
	leads := func(forward float32) (mean float32) {
		for tick := range 600 {
			testscene.Step(t, s, 1, scenes.Input{Forward: forward})
			if copy(bones, s.People.BonesAt(0)); tick >= 120 {
				mean += m3.WrapAngle(bones[head].Rot.Yaw()-bones[hips].Rot.Yaw()) / 480
			}
		}
		return mean
	}
	ahead, lead := leads(1), s.looks.Get(s.entity(0)).Weight
	back, none := leads(-1), s.looks.Get(s.entity(0)).Weight
	if ahead < back+0.03 || lead == 0 || none != 0 {
		t.Errorf("the head leads by %g rad, on the way back by %g; weights %g, %g", ahead, back, lead, none)
	}
}

// Everyone has room on their lane, however many they are.
func TestRoom(t *testing.T) {
	for _, n := range []int{1, 2, 3, 40, 200, 1000} {
		s := open(t, world.Options{Agents: n, Seed: 5, Workers: 1})
		if len(s.all) != n || s.Selected != n-1 {
			t.Fatalf("%d people, %d is watched, want %d", len(s.all), s.Selected, n)
		}
		for i, p := range s.all {
			for _, q := range s.all[:i] {
				if p.lane != q.lane {
					continue
				}
				d := math.Abs(math.Remainder(float64(p.start-q.start), float64(p.lane.Length())))
				if d < 0.8*room {
					t.Fatalf("of %d people two are %g m apart on a lane", n, d)
				}
			}
		}
	}
}

// The player tells one how to go, watches the next, and starts anew.
func TestPlayer(t *testing.T) {
	s := open(t, world.Options{Agents: 3, Workers: 1})
	step := func(n int, in scenes.Input) {
		t.Helper()
		for range n {
			testscene.Step(t, s, 1, in)
		}
	}
	who := s.Selected
	row, _ := s.People.Row(s.entity(who))
	step(1, scenes.Input{Gait: scenes.Canter})
	step(300, scenes.Input{})
	from := s.People.Roots[row].Pos
	step(30, scenes.Input{})
	if v := 2 * s.People.Roots[row].Pos.Dist(from); v < 3 {
		t.Errorf("it runs %g m/s", v)
	}
	step(240, scenes.Input{Sit: true, Forward: -1})
	from = s.People.Roots[row].Pos
	step(30, scenes.Input{})
	if d := s.People.Roots[row].Pos.Dist(from); d > 0.02 {
		t.Errorf("it stands, and goes %g m", d)
	}
	if c := s.curves.Get(s.entity(who)); c.Facing != math.Pi {
		t.Errorf("it was to go backward: %+v", *c)
	}
	step(5, scenes.Input{Jump: true}) // held down: one press
	if s.Selected != (who+1)%3 {
		t.Errorf("after %d the player watches %d", who, s.Selected)
	}
	step(1, scenes.Input{Side: 1})
	if c := s.curves.Get(s.entity(s.Selected)); m3.Abs(c.Facing-math.Pi/2) > 1e-6 {
		t.Errorf("it was to go sideways: %+v", *c)
	}
	step(1, scenes.Input{Forward: 1, Reset: true})
	for i, p := range s.all {
		row, _ := s.People.Row(s.entity(i))
		at, _ := p.lane.At(p.start)
		if d := s.People.Roots[row].Pos.Dist(at); d > 0.01 {
			t.Errorf("person %d starts anew %g m from its place", i, d)
		}
	}
}

// People keep off the person ahead if that one stops, and when they run.
func TestAvoidance(t *testing.T) {
	nearest := func(no bool) float32 {
		s := open(t, world.Options{Agents: 16, Seed: 3, Workers: 1, NoAvoidance: no})
		return testscene.Nearest(t, s, s.People.Roots, 20*scenes.TickRate, func(tick int) scenes.Input {
			in := scenes.Input{Sit: tick == 60, Jump: tick == 600}
			if tick == 610 {
				in.Gait = scenes.Canter
			}
			return in
		})
	}
	const touching = 0.6 // m
	if d := nearest(false); d < touching {
		t.Errorf("two come within %g m of each other", d)
	}
	if d := nearest(true); d > touching/2 {
		t.Errorf("without avoidance the nearest are %g m from each other: the test shows nothing", d)
	}
}

// Styles of both methods are worn by turns, the neutral one by nobody.
func TestStyleSet(t *testing.T) {
	o := Options{Styles: &mar.Database{Styles: []string{"neutral", "old", "proud"}}, Transfers: []*manifold.StyleTransfer{{Name: "sneaking"}}}
	var names []string
	for _, w := range o.styleSet() {
		names = append(names, w.name)
		i := -1
		if w.mar != nil {
			i = slices.Index(w.mar.Weights[:], 1)
		} else if w.gram.Weight == 1 {
			i = w.gram.Style
		}
		if want := map[string]int{"old": 1, "proud": 2, "sneaking": 0}[w.name]; i != want {
			t.Errorf("%s is style %d, want %d", w.name, i, want)
		}
		if (w.gram != nil) != (w.name == "sneaking") {
			t.Errorf("that %s is a Gram style is %v", w.name, w.gram != nil)
		}
	}
	if !slices.Equal(names, []string{"sneaking", "old", "proud"}) {
		t.Errorf("%q are worn", names)
	}
}

func TestErrors(t *testing.T) {
	for name, o := range map[string]Options{"no model": {}, "negative": {Options: world.Options{Agents: -1}}, "too many": {Options: world.Options{Agents: world.MaxAgents + 1}}} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := New(Options{Options: world.Options{Terrain: &terrain.Field{}}}); err == nil {
		t.Error("people without a model on no terrain")
	}
	if _, err := New(Options{Options: world.Options{Agents: 1}, Styled: 1}); err == nil || !strings.Contains(err.Error(), "no style but") {
		t.Errorf("in a style without any: %v", err)
	}
	if _, err := New(Options{Options: world.Options{Agents: 1}, Styled: 1, Styles: &mar.Database{Styles: []string{"neutral"}}}); err == nil || !strings.Contains(err.Error(), "no style but") {
		t.Errorf("in a style, of which there is none: %v", err)
	}
}

func TestTickDoesNotAllocate(t *testing.T) {
	s := open(t, world.Options{Agents: 20, Workers: 2})
	testscene.Step(t, s, 100, scenes.Input{})
	if n := testing.AllocsPerRun(100, func() {
		testscene.Step(t, s, 1, scenes.Input{})
	}); n != 0 {
		t.Errorf("%g allocations per tick", n)
	}
}

func TestOverlays(t *testing.T) {
	s := open(t, world.Options{Agents: 5, Workers: 1})
	testscene.Check(t, s, overlay.All)
	var f scenes.Frame
	s.Frame(&f, 1)
	testscene.Ring(t, &f) // around who is watched
	if len(f.HUD) != 1 || !strings.HasPrefix(f.HUD[0], "5 people; watching: person ") {
		t.Errorf("the HUD says %q", f.HUD)
	}
}
