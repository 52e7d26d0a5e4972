package strnn

import (
	"strings"
	"testing"

	"mannequin/animsys/strnn"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/teststrnn"
	"mannequin/models"
	"mannequin/scenes"
	"mannequin/scenes/internal/overlay"
	"mannequin/scenes/internal/testscene"
	"mannequin/scenes/world"
	"mannequin/terrain"
)

func open(t testing.TB, o world.Options) *Scene {
	t.Helper()
	return testscene.Keep(New(Options{Options: o, Model: teststrnn.Model(t, teststrnn.Options{Guide: true})}))(t)
}

// Everyone walks about where they began, the same from the same seed with any number of workers.
func TestCrowd(t *testing.T) {
	const n = 30
	a, b := open(t, world.Options{Agents: n, Seed: 3, Workers: 1}), open(t, world.Options{Agents: n, Seed: 3, Workers: 3})
	var fa, fb scenes.Frame
	way := make([]float32, n)
	for tick := range 900 {
		for r, root := range a.People.Roots {
			if home, _ := world.Sunflower(r); root.Pos.Flat().Dist(home.Flat()) > homeRange+10 {
				t.Fatalf("tick %d: person %d is %g m from where they began", tick, r, root.Pos.Flat().Dist(home))
			}
		}
		before := append(a.People.Roots[:0:0], a.People.Roots...)
		testscene.Step(t, a, 1, scenes.Input{})
		testscene.Step(t, b, 1, scenes.Input{})
		for r, root := range a.People.Roots {
			way[r] += root.Pos.Dist(before[r].Pos)
		}
	}
	a.Frame(&fa, 0.3)
	b.Frame(&fb, 0.3)
	if fa.Casts[0].Len() != n || len(fa.Casts[0].Bones) != n*fa.Casts[0].Skel.Len() || len(fa.Casts[0].Tint) != n || len(fa.HUD) != 1 || len(fa.Help) == 0 {
		t.Fatalf("%d people, %d bones, %d tints", fa.Casts[0].Len(), len(fa.Casts[0].Bones), len(fa.Casts[0].Tint))
	}
	testscene.Same(t, &fa, &fb)
	for r, w := range way {
		if w < 4 || w > 60 {
			t.Errorf("person %d goes %g m in 15 s", r, w)
		}
	}
}

// The player leads one person, who wanders again when the next one is watched.
func TestPlayer(t *testing.T) {
	s := open(t, world.Options{Agents: 3, Workers: 1})
	e := s.People.Entity(0)
	testscene.Step(t, s, 30, scenes.Input{Turn: 0.4, Gait: scenes.Pace})
	if w := *s.wanders.Get(e); w != (strnn.Steer{Speed: Speeds[scenes.Pace], Turn: 0.4 * strnn.MaxTurn}) {
		t.Errorf("led, they are asked for %+v", w)
	}
	testscene.Step(t, s, 30, scenes.Input{})
	if w := *s.wanders.Get(e); w != (strnn.Steer{Speed: Speeds[scenes.Pace]}) {
		t.Errorf("let be, they are asked for %+v", w)
	}
	testscene.Step(t, s, 1, scenes.Input{Stand: true})
	var f scenes.Frame
	if s.Frame(&f, 1); !s.wanders.Get(e).Free || !strings.Contains(f.HUD[0], "network") {
		t.Errorf("free, they are asked for %+v: %s", *s.wanders.Get(e), f.HUD[0])
	}
	testscene.Step(t, s, 1, scenes.Input{Sit: true})
	if w := *s.wanders.Get(e); w != (strnn.Steer{}) {
		t.Errorf("to stand, they are asked for %+v", w)
	}
	testscene.Step(t, s, 3, scenes.Input{Jump: true})
	if s.Selected != 1 || s.roam.Led != -1 {
		t.Errorf("person %d is watched", s.Selected)
	}
	testscene.Step(t, s, 1, scenes.Input{Reset: true})
	for i := range s.Agents() {
		row, _ := s.People.Row(s.People.Entity(i))
		if home, _ := world.Sunflower(i); s.People.Roots[row].Pos.Flat().Dist(home) > 0.1 {
			t.Errorf("from the start person %d is at %v", i, s.People.Roots[row].Pos)
		}
	}
}

// People keep off each other, and off the person whom the player controls.
func TestAvoidance(t *testing.T) {
	m := must.Get(strnn.NewModel(must.Get(models.Open("human-strnn"))(t)))(t)
	nearest := func(seconds int, no bool) float32 {
		s := testscene.Keep(New(Options{Options: world.Options{Agents: 30, Seed: 1, Workers: 1, NoAvoidance: no}, Model: m}))(t)
		return testscene.Nearest(t, s, s.People.Roots, seconds*scenes.TickRate, func(int) scenes.Input { return scenes.Input{Gait: scenes.Walk} })
	}
	const touching = 0.4 // m
	if d := nearest(10, false); d < touching {
		t.Errorf("two come within %g m of each other", d)
	}
	if d := nearest(5, true); d > touching/2 {
		t.Errorf("without avoidance the nearest are %g m from each other: the test shows nothing", d)
	}
}

// Heads turn before bodies do, and people glance at who comes toward them.
func TestHeadsLeadTurns(t *testing.T) {
	m := must.Get(strnn.NewModel(must.Get(models.Open("human-strnn"))(t)))(t)
	s := testscene.Keep(New(Options{Options: world.Options{Agents: 30, Seed: 1, Workers: 2}, Model: m}))(t)
	const warm, ticks, ahead = 120, 900, 18 // ahead: 0.3 s
	head := s.People.Skel.Index("Head")
	heads, yaws := make([][]float32, s.Agents()), make([][]float32, s.Agents())
	glances, turned := 0, 0
	for tick := range warm + ticks {
		testscene.Step(t, s, 1, scenes.Input{Watched: true, Ahead: m3.V(0, 0, 1)})
		if tick < warm {
			continue
		}
		for row := range s.Agents() {
			yaw := s.People.Roots[row].Rot.Yaw()
			heads[row] = append(heads[row], m3.WrapAngle(m3.YawOf(s.People.BonesAt(row)[head].Rot.Forward())-yaw))
			yaws[row] = append(yaws[row], yaw)
			look := s.roam.Looks(row)
			to := look.Target.Sub(s.People.BonesAt(row)[head].Pos)
			if look.Weight == 1 && to.Flat().Len() < 3.6 {
				glances++
			} else if look.Weight > 0 {
				turned++
			}
		}
	}
	// The correlation of where a head is turned with how the body turns then, and a while before.
	var later, before float64
	for row := range heads {
		rate := func(f int) float64 { return float64(m3.WrapAngle(yaws[row][f+6] - yaws[row][f-6])) }
		for f := ahead + 6; f < ticks-ahead-6; f++ {
			later += float64(heads[row][f]) * rate(f+ahead)
			before += float64(heads[row][f]) * rate(f-ahead)
		}
	}
	all := float64(ticks * len(heads))
	t.Logf("people glance in %.1f %% of the time and look where they turn in %.1f %%; heads with turns 0.3 s later %.3g, before %.3g", 100*float64(glances)/all, 100*float64(turned)/all, later/all, before/all)
	if later <= 1.2*before || later <= 0 {
		t.Errorf("heads go with turns 0.3 s later by %.3g, with those 0.3 s before by %.3g", later, before)
	}
	if share := float64(glances) / all; share < 0.01 || share > 0.3 {
		t.Errorf("people glance in %.1f %% of the time", 100*share)
	}
}

func TestTickDoesNotAllocate(t *testing.T) {
	s := open(t, world.Options{Agents: 20, Workers: 2})
	testscene.Step(t, s, 60, scenes.Input{})
	if n := testing.AllocsPerRun(60, func() {
		testscene.Step(t, s, 1, scenes.Input{})
	}); n != 0 {
		t.Errorf("%g allocations per tick", n)
	}
}

func TestErrors(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Guide: true})
	for want, opt := range map[string]Options{
		"missing": {}, "1 to": {Model: m, Options: world.Options{Agents: -1}}, "4096": {Model: m, Options: world.Options{Agents: world.MaxAgents + 1}}, "guide": {Model: teststrnn.Model(t, teststrnn.Options{})},
		"terrain": {Model: m, Options: world.Options{Terrain: &terrain.Field{}}},
	} {
		if _, err := New(opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
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
