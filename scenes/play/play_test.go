package play

import (
	"math/bits"
	"strings"
	"testing"

	"mannequin/animsys/matching"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
	"mannequin/scenes"
	"mannequin/scenes/internal/testscene"
	"mannequin/scenes/world"
	"mannequin/terrain"
)

func open(t testing.TB, db *matching.Database, workers int) *Scene {
	t.Helper()
	return openFile(t, &matching.File{Database: db}, workers)
}

func openFile(t testing.TB, f *matching.File, workers int) *Scene {
	t.Helper()
	return testscene.Keep(New(Options{Options: world.Options{Seed: 1, Workers: workers, Terrain: must.Get(terrain.Flat(terrain.Grid{Size: GroundSize, Cell: 0.5}))(t)}, Character: f}))(t)
}

// The recording without a player goes up the ramp and back, with the same bits for any number of workers.
func TestPlay(t *testing.T) {
	for name, f := range map[string]*matching.File{"person": {Database: testmatching.People(t)}, "dog": {Database: testmatching.Dogs(t)}, "networks": {Learned: testmatching.Learned(t)}, "mode-adaptive network": {Adaptive: testmatching.Adaptive(t)}} {
		t.Run(name, func(t *testing.T) {
			a, b := openFile(t, f, 1), openFile(t, f, 3)
			script, top := Autopilot(), float32(0)
			for tick := range int64(script.Seconds() * scenes.TickRate) {
				must.Do(t, a.Step(script.At(tick)))
				must.Do(t, b.Step(script.At(tick)))
				if a.Hash() != b.Hash() {
					t.Fatalf("in tick %d three workers make other bits than one", tick)
				}
				top = max(top, a.Crowd.Ground.Body[0].Floor())
			}
			if top < 0.15 {
				t.Errorf("it has been %.2f m up the ramp", top)
			}
			testscene.Check(t, a, hud.Trajectories|hud.Contacts|hud.Skeletons|hud.Roots)
		})
	}
}

// The stick is a direction in the world. While its facing is locked a character goes there without turning.
func TestStick(t *testing.T) {
	s := open(t, testmatching.People(t), 1)
	drive := func(seconds float32, in scenes.Input) (way, facing m3.Vec3) {
		from := s.Crowd.Roots[0].Pos
		testscene.Step(t, s, int(seconds*scenes.TickRate), in)
		return s.Crowd.Roots[0].Pos.Sub(from), s.Crowd.Roots[0].Rot.Forward()
	}
	way, facing := drive(3, scenes.Input{Side: -1})
	if way.X > -1.5 || facing.X > -0.9 {
		t.Errorf("the stick to −X: it went %v and faces %v", way, facing)
	}
	testscene.Step(t, s, 1, scenes.Input{Lock: true})
	if _, facing = drive(3, scenes.Input{Forward: -1}); facing.X > -0.8 {
		t.Errorf("locked, it faces %v", facing)
	}
	testscene.Step(t, s, 1, scenes.Input{Lock: true})
	if _, facing = drive(3, scenes.Input{Forward: -1}); facing.Z > -0.9 {
		t.Errorf("released, it faces %v", facing)
	}
	testscene.Step(t, s, 1, scenes.Input{Reset: true})
	if at := s.Crowd.Roots[0].Pos; at.Dist(s.start.Flat()) > 0.1 {
		t.Errorf("after a reset it is at %v", at)
	}
}

// The keys of a character's own actions ask for these: a crouch that walks, a roll that ends.
func TestOwnActions(t *testing.T) {
	db := testmatching.Actors(t)
	s := open(t, db, 1)
	var f scenes.Frame
	s.Frame(&f, 1)
	if help := strings.Join(f.Help, "\n"); !strings.Contains(help, "5: crouch   6: death   7: roll") {
		t.Errorf("the help is %q", help)
	}
	shows := func() string {
		return db.Tags[bits.TrailingZeros64(uint64(db.TagsOf(s.stream.(*matching.Stream).Frame(0))))]
	}
	from := s.Crowd.Roots[0].Pos
	testscene.Step(t, s, 180, scenes.Input{Own: 1, Side: 1})
	if way := s.Crowd.Roots[0].Pos.Sub(from); shows() != testmatching.Crouch || way.X < 1 {
		t.Errorf("it shows %s and went %v", shows(), way)
	}
	testscene.Step(t, s, 30, scenes.Input{})
	testscene.Step(t, s, 1, scenes.Input{Own: 3})
	if testscene.Step(t, s, 10, scenes.Input{}); shows() != testmatching.Roll {
		t.Errorf("it shows %s, want a roll", shows())
	}
	if testscene.Step(t, s, 60, scenes.Input{Own: 77}); shows() != "move" { // stands, and no action has that number
		t.Errorf("after the roll it shows %s", shows())
	}
}

// A character has its own size, and speeds to go with it.
func TestSize(t *testing.T) {
	small, db := *testmatching.Dogs(t), testmatching.Dogs(t)
	small.Size = 0.5
	a, b := open(t, db, 1), open(t, &small, 1)
	var f, g scenes.Frame
	a.Frame(&f, 1)
	b.Frame(&g, 1)
	y := func(f *scenes.Frame) float32 { return f.Casts[0].Of(0)[0].Pos.Y }
	if r := y(&g) / y(&f); m3.Abs(r-0.5) > 0.02 {
		t.Errorf("its hips are %.2f times as high", r)
	}
	for i, v := range b.player.Speeds() {
		if m3.Abs(v-a.player.Speeds()[i]/2) > 0.01 {
			t.Errorf("its speeds are %v, those of the large one %v", b.player.Speeds(), a.player.Speeds())
		}
	}
	if !(g.Seat.Distance < f.Seat.Distance) {
		t.Errorf("the camera is %.1f m away, from the large one %.1f", g.Seat.Distance, f.Seat.Distance)
	}
}

func TestRefuses(t *testing.T) {
	if _, err := New(Options{}); err == nil || !strings.Contains(err.Error(), "Character is missing") {
		t.Error(err)
	}
	if _, err := New(Options{Options: world.Options{Agents: -1}, Character: &matching.File{Database: testmatching.People(t)}}); err == nil || !strings.Contains(err.Error(), "agents") {
		t.Error(err)
	}
}

func TestTickDoesNotAllocate(t *testing.T) {
	s := open(t, testmatching.People(t), 1)
	testscene.Step(t, s, 60, scenes.Input{Forward: 1})
	if n := testing.AllocsPerRun(60, func() { must.Do(t, s.Step(scenes.Input{Forward: 1})) }); n != 0 {
		t.Errorf("%g allocations in a tick", n)
	}
}
