package person

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/matching"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
	"mannequin/models"
	stylesfree "mannequin/models/styles-free"
	"mannequin/scenes"
	"mannequin/scenes/internal/testscene"
	"mannequin/scenes/world"
)

func open(t testing.TB, agents, workers int) *Scene {
	t.Helper()
	return testscene.Keep(New(Options{
		Options:   world.Options{Seed: 1, Agents: agents, Workers: workers},
		Character: must.Get(models.OpenCharacter("hero"))(t), Styles: must.Get(stylesfree.Open())(t),
	}))(t)
}

// The recording without a player goes up the stairs, jumps over the gap, and goes down the ramp, with the same bits for any number of
// workers.
func TestAutopilot(t *testing.T) {
	a, b := open(t, 12, 1), open(t, 12, 3)
	script, beyond := Autopilot(), false
	for tick := range int64(script.Seconds() * scenes.TickRate) {
		must.Do(t, a.Step(script.At(tick)))
		must.Do(t, b.Step(script.At(tick)))
		if a.Hash() != b.Hash() {
			t.Fatalf("in tick %d three workers make other bits than one", tick)
		}
		at, floor := a.Crowd.Roots[0].Pos.Z, a.Crowd.Ground.Body[0].Floor()
		if !beyond && at > firstAt && at < secondAt && m3.Abs(a.Crowd.Roots[0].Pos.X) < terraceWide/2 && floor < terraceHigh-0.02 {
			t.Fatalf("in tick %d it is %.2f m high, in the gap", tick, floor)
		}
		beyond = beyond || at > rampAt+rampLong/2
	}
	if !beyond {
		t.Errorf("it ends at %v", a.Crowd.Roots[0].Pos)
	}
	testscene.Check(t, a, hud.Trajectories|hud.Contacts|hud.Targets|hud.Velocities|hud.Skeletons|hud.Roots)
}

// The person takes the nearest box, carries it where it goes, and lets it fall.
func TestCarry(t *testing.T) {
	s := open(t, 1, 1)
	walk := func(to m3.Vec3) {
		for range 10 * scenes.TickRate {
			way := to.Sub(s.Crowd.Roots[0].Pos).Flat()
			if way.Len() < 0.1 {
				break
			}
			way = way.Normalize(m3.Vec3{})
			testscene.Step(t, s, 1, scenes.Input{Side: way.X, Forward: way.Z, Gait: scenes.Walk})
		}
		testscene.Step(t, s, scenes.TickRate, scenes.Input{})
	}
	press := func() {
		testscene.Step(t, s, 1, scenes.Input{Stand: true})
		testscene.Step(t, s, scenes.TickRate, scenes.Input{})
	}
	press()
	if s.hands.held >= 0 || !strings.Contains(s.hands.missed, "no box") {
		t.Fatalf("it takes a box that is metres away: %q", s.hands.missed)
	}
	walk(boxesAt[0].Sub(m3.V(0.44, 0, 0)))
	press()
	if s.hands.held != 0 || s.hands.missed != "" {
		t.Fatalf("it holds box %d: %s", s.hands.held, s.hands.missed)
	}
	walk(m3.V(0, 0, -4))
	b := &s.hands.boxes[0]
	if d := b.at.Sub(s.Crowd.Roots[0].Pos); d.Flat().Len() > 0.6 || d.Y < 0.8 || d.Y > 1.4 {
		t.Errorf("the box is at %v, seen from the person", d)
	}
	press()
	if s.hands.held >= 0 || m3.Abs(b.at.Y-boxSize/2) > 1e-4 {
		t.Errorf("let go, the box is at %v", b.at)
	}
	if n := testing.AllocsPerRun(30, func() { must.Do(t, s.Step(scenes.Input{})) }); n > 0 {
		t.Errorf("%g allocations in a tick", n)
	}
	var f scenes.Frame
	s.Frame(&f, 1)
	if n := len(f.Blocks) - len(s.blocks); n != len(boxesAt) {
		t.Errorf("%d boxes are drawn", n)
	}
	if testscene.Step(t, s, 1, scenes.Input{Reset: true}); b.at.Y < pedestalHigh {
		t.Errorf("after a reset the box is at %v", b.at)
	}
}

// A person on another skeleton goes, too: without styles, looks and boxes, whose joints are told by names.
func TestOtherSkeletons(t *testing.T) {
	l := *testmatching.Learned(t)
	sk := *l.Skel
	sk.Names = slices.Clone(sk.Names)
	for i := range sk.Names {
		sk.Names[i] = "joint " + sk.Names[i]
	}
	l.Skel = &sk
	s := testscene.Keep(New(Options{Options: world.Options{Seed: 1, Agents: 3, Workers: 1}, Character: &matching.File{Learned: &l}, Styles: must.Get(stylesfree.Open())(t)}))(t)
	for tick := range 240 {
		must.Do(t, s.Step(scenes.Input{Forward: 1, Gait: scenes.Pace, Stand: tick%20 == 0, Lie: tick%30 == 0}))
	}
	if at := s.Crowd.Roots[0].Pos; at.Z < startAt.Z+1 {
		t.Errorf("it is at %v", at)
	}
	if _, err := New(Options{Options: world.Options{Agents: 41}, Character: &matching.File{Learned: &l}}); err == nil {
		t.Error("41 people are on the plaza")
	}
}

// The key chooses the styles in turn, and then none.
func TestStyle(t *testing.T) {
	s := open(t, 1, 1)
	var names []string
	for range len(s.styles) {
		testscene.Step(t, s, 1, scenes.Input{Lie: true, Forward: 1})
		testscene.Step(t, s, 30, scenes.Input{Forward: 1})
		var f scenes.Frame
		s.Frame(&f, 1)
		names = append(names, s.styles[s.style])
		if shown := strings.Contains(strings.Join(f.HUD, "\n"), "style: "+s.styles[s.style]); shown != (s.style > 0) {
			t.Errorf("style %q: shown %t", s.styles[s.style], shown)
		}
	}
	if len(names) < 3 || names[len(names)-1] != "" || s.style != 0 {
		t.Errorf("styles %q", names)
	}
}

// A key that is pressed shortly before a landing makes the person jump again; one that is pressed long before does not.
func TestJumpBuffer(t *testing.T) {
	const second = scenes.TickRate
	jumps := func(again int) (n int) {
		s, air := open(t, 1, 1), false
		testscene.Step(t, s, second, scenes.Input{})
		rest := lowest(s)
		for tick := range 3 * second {
			testscene.Step(t, s, 1, scenes.Input{Jump: tick == 0 || tick == again})
			is := lowest(s) > rest+0.05
			if is && !air {
				n++
			}
			air = is
		}
		return n
	}
	landing := 0
	s := open(t, 1, 1)
	testscene.Step(t, s, second, scenes.Input{})
	rest := lowest(s)
	for tick := range 2 * second {
		testscene.Step(t, s, 1, scenes.Input{Jump: tick == 0})
		if lowest(s) > rest+0.05 {
			landing = tick
		}
	}
	if landing < second/4 {
		t.Fatalf("it lands in tick %d", landing)
	}
	if n := jumps(second / 6); n != 1 {
		t.Errorf("pressed in the air: %d jumps", n)
	}
	if n := jumps(landing + second/4); n != 2 {
		t.Errorf("pressed again after the landing: %d jumps", n)
	}
}

func lowest(s *Scene) (y float32) {
	bones := s.Crowd.Bones(s.hero)
	for i, l := range s.Crowd.Ground.Rig.Roles.Legs {
		if tip := bones[l[len(l)-1]].Pos.Y; i == 0 || tip < y {
			y = tip
		}
	}
	return y
}

// Others than people are refused.
func TestRefuses(t *testing.T) {
	for name, want := range map[string]string{"horse": "4 legs", "": "missing"} {
		var f *matching.File
		if name != "" {
			f = must.Get(models.OpenCharacter(name))(t)
		}
		_, err := New(Options{Character: f})
		must.FailWith(t, err, want)
	}
}

// A style hardly adds jerk, though matching jumps from pose to pose all the time.
func TestStyleJerk(t *testing.T) {
	jerk := func(styles int) float32 {
		s, r := open(t, 1, 1), rand.New(rand.NewPCG(3, 5))
		for range styles {
			testscene.Step(t, s, 1, scenes.Input{Lie: true})
			testscene.Step(t, s, 5, scenes.Input{})
		}
		var past [4][]m3.Vec3
		for i := range past {
			past[i] = make([]m3.Vec3, s.own.Skel.Len())
		}
		var all []float32
		var in scenes.Input
		until := 0
		for tick := range 60 * scenes.TickRate {
			if tick == until {
				in = scenes.Input{Gait: scenes.Gait(r.IntN(5))}
				if r.IntN(5) > 0 {
					way := m3.YawQuat(6.28 * r.Float32()).Forward()
					in.Forward, in.Side = way.Z, way.X
				}
				until = tick + 20 + r.IntN(80)
			}
			must.Do(t, s.Step(in))
			in.Gait = scenes.KeepGait
			p := past[0]
			copy(past[:], past[1:])
			past[3] = p
			for j, x := range s.Crowd.Bones(s.hero) {
				p[j] = x.Pos
				if tick > scenes.TickRate {
					all = append(all, past[3][j].Sub(past[0][j]).Sub(past[2][j].Sub(past[1][j]).Scale(3)).Len()*scenes.TickRate*scenes.TickRate*scenes.TickRate)
				}
			}
		}
		slices.Sort(all)
		return all[len(all)*999/1000]
	}
	plain, angry := jerk(0), jerk(1)
	t.Logf("99.9 %% of the joints jerk by up to %.0f m/s³, in the first style by %.0f", plain, angry)
	if angry > 1.9*plain {
		t.Errorf("99.9 %% of the joints jerk by up to %.0f m/s³, in the first style by %.0f", plain, angry)
	}
}
