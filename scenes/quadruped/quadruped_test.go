package quadruped

import (
	"bytes"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"mannequin/animsys/control"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/internal/testing/testdog"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/internal/testscene"
	"mannequin/scenes/world"
	"mannequin/terrain"

	"github.com/mlange-42/arche/generic"
)

func open(t testing.TB, opt world.Options) *Scene {
	t.Helper()
	return testscene.Keep(New(Options{Options: opt, Model: testdog.Model(t)}))(t)
}

// The tour runs headless: every frame is whole and finite, the dog gets about,
// and the same inputs give the same frames.
func TestAutopilot(t *testing.T) {
	a, b := open(t, world.Options{Seed: 4, Workers: 1}), open(t, world.Options{Seed: 4, Workers: 3})
	script := Autopilot()
	if s := script.Seconds(); s < 10 || s > 60 {
		t.Errorf("a tour of %g s", s)
	}
	var fa, fb scenes.Frame
	var far float32
	for tick := range int64(script.Seconds() * scenes.TickRate) {
		in := script.At(tick)
		testscene.Step(t, a, 1, in)
		testscene.Step(t, b, 1, in)
		a.Frame(&fa, 0.3)
		b.Frame(&fb, 0.3)
		if fa.Casts[0].Len() != 1 || len(fa.Casts[0].Bones) != fa.Casts[0].Skel.Len() || len(fa.Casts[0].Tint) != 1 || len(fa.Path) != 51 || len(fa.HUD) == 0 {
			t.Fatalf("tick %d: %d agents, %d bones, %d tints, %d path points", tick, fa.Casts[0].Len(), len(fa.Casts[0].Bones), len(fa.Casts[0].Tint), len(fa.Path))
		}
		testscene.Same(t, &fa, &fb)
		if h := fa.Focus.Y - fa.Terrain.Height(fa.Focus.X, fa.Focus.Z); h < 0.2 || h > 0.8 {
			t.Fatalf("tick %d: the hips are %g m above the ground", tick, h)
		}
		far = max(far, fa.Focus.Flat().Len())
	}
	if far < 3 {
		t.Errorf("the tour went only %g m", far)
	}
	if !strings.Contains(strings.Join(fa.Help, " "), "sit") {
		t.Error("the help does not say how to sit")
	}
}

func TestDrive(t *testing.T) {
	s := open(t, world.Options{})
	goals := generic.NewMap1[control.Goal](&s.ECS)
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		in   scenes.Input
		want control.Goal
		hud  string
	}{
		"hands off": {scenes.Input{}, control.Goal{Speed: 1.1}, "nothing (gait: pace)"},
		"ahead":     {scenes.Input{Forward: 1}, control.Goal{Move: m3.V(0, 0, 1), Speed: 1.1}, "pace, 1.1 m/s"},
		"back left": {scenes.Input{Forward: -0.5, Turn: 0.5}, control.Goal{Move: m3.V(0, 0, -0.5), Turn: 0.5, Speed: 1.1}, "steps back, turn left"},
		"too much":  {scenes.Input{Forward: 5, Turn: -9}, control.Goal{Move: m3.V(0, 0, 1), Turn: -1, Speed: 1.1}, "pace, 1.1 m/s, turn right"},
		"slow walk": {scenes.Input{Forward: 0.65, Gait: scenes.Walk}, control.Goal{Move: m3.V(0, 0, 0.65), Speed: control.WalkSpeed}, "walk, 0.5 m/s"},
		"canter":    {scenes.Input{Side: 1, Gait: scenes.Canter}, control.Goal{Move: m3.V(1, 0, 0), Speed: control.CanterSpeed}, "steps to the left"},
		"no gait":   {scenes.Input{Gait: 99}, control.Goal{Speed: 1.1}, "nothing (gait: pace)"},
		"broken":    {scenes.Input{Forward: nan, Turn: nan}, control.Goal{Speed: 1.1}, "nothing (gait: pace)"},
		"sit":       {scenes.Input{Sit: true}, control.Goal{Speed: 1.1, Action: control.Sit}, "sit"},
		"jump wins": {scenes.Input{Jump: true, Lie: true}, control.Goal{Speed: 1.1, Action: control.Jump}, "jump"},
		"stand":     {scenes.Input{Stand: true}, control.Goal{Speed: 1.1, Action: control.Stand}, "stand"},
	} {
		s.drive.gait = scenes.Pace
		testscene.Step(t, s, 1, c.in)
		if got := *goals.Get(s.dog); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		var f scenes.Frame
		if s.Frame(&f, 1); len(f.HUD) != 2 || f.HUD[0] != "asked for: "+c.hud {
			t.Errorf("%s: the player reads %q, want %q", name, f.HUD, c.hud)
		}
	}
	// Diagonals are no faster.
	testscene.Step(t, s, 1, scenes.Input{Forward: 1, Side: 1})
	if l := goals.Get(s.dog).Move.Len(); m3.Abs(l-1) > 1e-6 {
		t.Errorf("a diagonal of length %g", l)
	}
}

// Ten seconds of the tour, a recording's length, show the dog walking, trotting
// through a bend, jumping and sitting long enough to be seen.
func TestAutopilotInTenSeconds(t *testing.T) {
	script := Autopilot()
	gait := scenes.Pace
	var walk, bend, jump, sit int
	for tick := range int64(10 * scenes.TickRate) {
		in := script.At(tick)
		if in.Gait != scenes.KeepGait {
			gait = in.Gait
		}
		switch {
		case in.Jump && in.Forward > 0:
			jump++
		case in.Sit:
			sit++
		case in.Forward > 0 && gait == scenes.Walk:
			walk++
		case in.Forward > 0 && gait == scenes.Trot && in.Turn != 0:
			bend++
		}
	}
	if walk < 90 || bend < 120 || jump < 30 || sit < 150 {
		t.Errorf("%d ticks of walking, %d of a bend at a trot, %d of a jump, %d of sitting", walk, bend, jump, sit)
	}
}

// R and the border both bring the dog back.
func TestBackToTheStart(t *testing.T) {
	flat, err := terrain.Flat(terrain.Grid{Size: 4, Cell: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, world.Options{Terrain: flat})
	var f scenes.Frame
	var far float32
	for range 60 * 10 {
		testscene.Step(t, s, 1, scenes.Input{Forward: 1, Turn: 0.3})
		s.Frame(&f, 1)
		far = max(far, f.Focus.Flat().Len())
	}
	if far < 1 || far > 4 {
		t.Errorf("on a field of 4 m the dog went %g m from its middle", far)
	}
	testscene.Step(t, s, 1, scenes.Input{Reset: true})
	if s.Frame(&f, 0); f.Focus.Flat().Len() > 0.2 || m3.Abs(f.Heading) > 0.1 {
		t.Errorf("after a reset the dog is at %v and faces %g", f.Focus, f.Heading)
	}
}

// Steps of the gait end at the slowest and the fastest.
func TestGaitSteps(t *testing.T) {
	s := open(t, world.Options{})
	for i, c := range []struct{ in, want scenes.Gait }{
		{scenes.KeepGait, scenes.Pace}, {scenes.Faster, scenes.Trot}, {scenes.Faster, scenes.Canter}, {scenes.Faster, scenes.Canter},
		{scenes.Slower, scenes.Trot}, {scenes.Walk, scenes.Walk}, {scenes.Slower, scenes.Walk}, {scenes.Slower + 1, scenes.Walk},
	} {
		testscene.Step(t, s, 1, scenes.Input{Gait: c.in})
		if s.drive.gait != c.want {
			t.Errorf("step %d: gait %d, want %d", i, s.drive.gait, c.want)
		}
	}
}

func TestCloseEndsItsGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	s, err := New(Options{Options: world.Options{Workers: 4}, Model: testdog.Model(t)})
	if err != nil {
		t.Fatal(err)
	}
	testscene.Step(t, s, 1, scenes.Input{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

func TestErrors(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("no model: accepted")
	}
	if _, err := New(Options{Options: world.Options{Terrain: &terrain.Field{}}, Model: testdog.Model(t)}); err == nil {
		t.Error("a bad terrain: accepted")
	}
	off, err := terrain.Flat(terrain.Grid{Size: 4, Cell: 1})
	if err != nil {
		t.Fatal(err)
	}
	off.X0 += 10
	if _, err := New(Options{Options: world.Options{Terrain: off}, Model: testdog.Model(t)}); err == nil {
		t.Error("a terrain beside the origin: accepted")
	}
}

// The herd wanders by itself, and the player's dog does not care how many others there are.
func TestHerd(t *testing.T) {
	alone, among := open(t, world.Options{Seed: 2}), open(t, world.Options{Seed: 2, Agents: 12})
	in := scenes.Input{Forward: 1, Gait: scenes.Trot}
	var fa, fb scenes.Frame
	among.Frame(&fb, 1)
	start := make([]m3.Vec3, fb.Casts[0].Len())
	joints := fb.Casts[0].Skel.Len()
	for r := range start {
		start[r] = fb.Casts[0].Bones[r*joints].Pos
	}
	for range 120 {
		testscene.Step(t, alone, 1, in)
		testscene.Step(t, among, 1, in)
	}
	alone.Frame(&fa, 1)
	among.Frame(&fb, 1)
	if fb.Casts[0].Len() != 13 || len(fb.Casts[0].Bones) != 13*joints || len(fb.Casts[0].Tint) != 13 {
		t.Fatalf("%d agents, %d bones, %d tints", fb.Casts[0].Len(), len(fb.Casts[0].Bones), len(fb.Casts[0].Tint))
	}
	for j, x := range fa.Casts[0].Bones {
		if x != fb.Casts[0].Bones[j] {
			t.Fatalf("joint %d is %v alone, %v among others", j, x, fb.Casts[0].Bones[j])
		}
	}
	moved := 0
	for r := 1; r < fb.Casts[0].Len(); r++ {
		if fb.Casts[0].Bones[r*joints].Pos.Dist(start[r]) > 0.05 {
			moved++
		}
	}
	if moved == 0 {
		t.Error("nobody in the herd moves")
	}
	for _, n := range []int{-1, 1 << 20} {
		if _, err := New(Options{Options: world.Options{Agents: n}, Model: testdog.Model(t)}); err == nil {
			t.Errorf("a herd of %d was accepted", n)
		}
	}
}

// failing is a network that fails in every tenth run.
type failing struct {
	netruntime.Session
	runs  int
	fails bool
}

func (f *failing) Run(y, x []float32, rows int) error {
	if err := f.Session.Run(y, x, rows); err != nil {
		return err
	}
	if !f.fails {
		return nil
	}
	if f.runs++; f.runs%10 == 0 {
		y[0] = float32(math.NaN())
	}
	return nil
}

// The log hears once that the watchdog had something to do.
func TestWatchdogIsTold(t *testing.T) {
	var log bytes.Buffer
	network := &failing{}
	s := open(t, world.Options{Seed: 4, Workers: 1, Log: slog.New(slog.NewTextHandler(&log, nil)), Open: func(n *netruntime.Net, o netruntime.SessionOptions) (_ netruntime.Session, err error) {
		network.Session, err = n.NewSession(o)
		return network, err
	}})
	for tick := range 50 {
		if tick == 5 {
			if log.Len() > 0 {
				t.Errorf("told without a reason: %s", log.String())
			}
			network.fails = true
		}
		testscene.Step(t, s, 1, scenes.Input{})
	}
	if got := strings.Count(log.String(), "restored=1"); got != 1 || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("the log says %q", log.String())
	}
	if n := s.Dogs.TotalRestored(); n != 4 {
		t.Errorf("restored %d times, want 4", n)
	}
}

func TestOverlays(t *testing.T) {
	testscene.Check(t, open(t, world.Options{Agents: 5, Workers: 1}), hud.AllOverlays&^hud.Times)
}
