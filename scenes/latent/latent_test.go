package latent

import (
	"math"
	"slices"
	"testing"

	"mannequin/animsys/latent"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/internal/testing/testlatent"
	"mannequin/scenes"
	"mannequin/scenes/internal/overlay"
	"mannequin/scenes/internal/testscene"
	"mannequin/scenes/world"
	"mannequin/terrain"
)

func open(t testing.TB, o Options) *Scene {
	t.Helper()
	if o.Model == nil {
		o.Model = testlatent.Model(t)
	}
	return testscene.Keep(New(o))(t)
}

func step(t testing.TB, s *Scene, n int, touch hud.Touch) {
	t.Helper()
	testscene.Step(t, s, n, scenes.Input{Touch: touch})
}

func press(t testing.TB, s *Scene, key byte) { step(t, s, 1, hud.Touch{Press: key}) }

// pose returns the joints as they are, seen from the hips.
func pose(s *Scene) []m3.Vec3 {
	var f scenes.Frame
	s.Frame(&f, 1)
	var out []m3.Vec3
	for _, b := range f.Casts[0].Bones {
		out = append(out, b.Pos.Sub(f.Casts[0].Bones[0].Pos))
	}
	return out
}

// apart returns the farthest distance of a joint from another pose, m.
func apart(a, b []m3.Vec3) (most float32) {
	for j := range a {
		most = max(most, a[j].Dist(b[j]))
	}
	return most
}

// The person walks over the ground, as the clips say, on and on.
func TestWalks(t *testing.T) {
	slope, err := terrain.Slope(terrain.Grid{Size: 80, Cell: 0.5}, 0.1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, field := range map[string]*terrain.Field{"flat": nil, "slope": slope} {
		s := open(t, Options{Options: world.Options{Terrain: field, Workers: 1}})
		var a, b scenes.Frame
		s.Frame(&a, 1)
		step(t, s, 300, hud.Touch{})
		s.Frame(&b, 1)
		if d := b.Focus.Flat().Dist(a.Focus.Flat()); d < 0.7*5*testlatent.Speed || d > 1.3*5*testlatent.Speed {
			t.Errorf("%s: %g m in 5 s", name, d)
		}
		if len(b.Casts[0].Bones) != s.Model.Skel.Len() || b.Casts[0].Len() != 1 || len(b.Casts[0].Tint) != 1 || len(b.Path) < 2 || len(b.HUD) != 1 || len(b.Help) == 0 {
			t.Errorf("%s: %d bones, %d on the way", name, len(b.Casts[0].Bones), len(b.Path))
		}
		low := float32(math.Inf(1))
		for _, x := range b.Casts[0].Bones {
			if !x.Pos.Finite() || !x.Rot.Finite() {
				t.Fatalf("%s: %v", name, x)
			}
			low = min(low, x.Pos.Y-b.Terrain.Height(x.Pos.X, x.Pos.Z))
		}
		if low < -0.02 || low > 0.15 {
			t.Errorf("%s: the lowest joint is %g m over the ground", name, low)
		}
	}
}

// A slider that moves shows in the next ticks, also while nothing is played, and
// ends where the model has that clip; without it the pose stays.
func TestSlider(t *testing.T) {
	s := open(t, Options{Options: world.Options{Workers: 1}})
	press(t, s, 'K')
	step(t, s, 120, hud.Touch{})
	was, clip := pose(s), slices.Clone(s.clip)
	step(t, s, 2, hud.Touch{})
	if d := apart(was, pose(s)); d > 1e-4 {
		t.Fatalf("stopped, a joint goes %g m", d)
	}
	step(t, s, 2, hud.Touch{Set: true, Slider: 1, Value: 2})
	head := s.Model.Skel.Index("Head") // legs follow the ground
	soon := pose(s)[head].Dist(was[head])
	step(t, s, 120, hud.Touch{})
	if late := pose(s)[head].Dist(was[head]); late < 1e-3 || soon < 0.1*late || soon > 0.9*late {
		t.Errorf("the head is %g m away two ticks after a slider moved, and %g m two seconds after", soon, late)
	}
	want := make([]float32, len(s.clip))
	z, c := make([]float32, s.Model.Values), slices.Clone(s.start)
	c[1] = 2
	s.Model.Components.ToLatent(z, c)
	if err := s.coder.Decode(want, z, 1); err != nil {
		t.Fatal(err)
	}
	if slices.Equal(s.clip, clip) || !slices.Equal(s.clip, want) {
		t.Error("the clip is not that of the slider")
	}
	var f scenes.Frame
	s.Frame(&f, 1)
	if p := f.Panel; len(p.Sliders) != 5 || p.Sliders[1].Label != "step" || p.Sliders[1].Value != 2 || p.Selected != 1 || p.Sliders[0].Value != 0 || p.Sliders[2].Value != -latent.StartLead {
		t.Errorf("the panel shows %+v", p)
	}
	// The same clip by its latent values.
	press(t, s, 'L')
	s.Frame(&f, 1)
	if p := f.Panel; len(p.Sliders) != testlatent.Values || m3.Abs(p.Sliders[1].Value-1) > 1e-6 {
		t.Errorf("latent values: the panel shows %+v", p.Sliders)
	}
	step(t, s, 1, hud.Touch{Set: true, Slider: 5, Value: -1.5})
	if slices.Equal(s.clip, want) || m3.Abs(s.components[5]+3) > 1e-5 || m3.Abs(s.components[1]-2) > 1e-5 {
		t.Errorf("components are %v", s.components)
	}
	press(t, s, 'R')
	step(t, s, 120, hud.Touch{})
	if d := apart(was, pose(s)); !slices.Equal(s.clip, clip) || d > 1e-3 {
		t.Errorf("reset, a joint is %g m from where it was", d)
	}
}

// Clips are chained, shown, taken away and exported.
func TestSequence(t *testing.T) {
	s := open(t, Options{Options: world.Options{Workers: 2}})
	l := s.Model.Layout
	exported := func() int {
		t.Helper()
		clip, err := s.Export()
		if err != nil {
			t.Fatal(err)
		}
		if clip == nil {
			return 0
		}
		return clip.Frames
	}
	for _, key := range []byte{'U', 'V', 'E'} { // of nothing
		press(t, s, key)
	}
	if s.panel.Buttons[whole].Lit || exported() != 0 {
		t.Fatal("a sequence of no clips is shown")
	}
	step(t, s, 1, hud.Touch{Set: true, Slider: 0, Value: 1})
	press(t, s, 'A')
	press(t, s, 'A') // one at a time
	press(t, s, 'U')
	if n := s.sequence.frames(); n != 0 {
		t.Fatalf("%d frames at once", n)
	}
	step(t, s, latency, hud.Touch{})
	if n := s.sequence.frames(); n != latent.Frames || !s.panel.Buttons[whole].Lit || !slices.Equal(s.sequence.rows, s.clip) {
		t.Fatalf("%d frames after a clip", n)
	}
	first := slices.Clone(s.sequence.rows)
	step(t, s, 1, hud.Touch{Set: true, Slider: 0, Value: -1})
	if s.panel.Buttons[whole].Lit {
		t.Error("a slider moves, and the sequence is shown")
	}
	before := slices.Clone(s.components)
	press(t, s, 'A')
	step(t, s, latency, hud.Touch{})
	const two = 2*latent.Frames - latent.Overlap
	if n := s.sequence.frames(); n != two {
		t.Fatalf("%d frames after two clips, want %d", n, two)
	}
	keep := (latent.Frames - latent.Overlap) * l.Columns()
	if !slices.Equal(s.sequence.rows[:keep], first[:keep]) || slices.Equal(s.sequence.rows[keep:len(first)], first[keep:]) {
		t.Error("the first clip is not faded into the second")
	}
	if s.components[0] != -1 || s.components[1] != before[1] || s.components[2] == before[2] {
		t.Errorf("components %v became %v: the first two are the player's, the third is for the start to fit", before, s.components)
	}
	if exported() != 0 {
		t.Error("exported unasked")
	}
	press(t, s, 'E')
	if n := exported(); n != two || exported() != 0 {
		t.Errorf("%d frames exported, want %d, once", n, two)
	}
	press(t, s, 'U')
	if !slices.Equal(s.sequence.rows, first) || !slices.Equal(s.components, before) || !s.panel.Buttons[whole].Lit {
		t.Error("undo does not lead back")
	}
	press(t, s, 'U')
	if s.sequence.frames() != 0 || s.panel.Buttons[whole].Lit || s.components[0] != 1 {
		t.Error("undo does not lead back to nothing")
	}
	step(t, s, 100, hud.Touch{})
}

// What the player does while a clip is added stays.
func TestGoesOnWhileAdding(t *testing.T) {
	s := open(t, Options{Options: world.Options{Workers: 1}})
	press(t, s, 'A')
	step(t, s, 5, hud.Touch{Set: true, Slider: 3, Value: 2})
	step(t, s, latency, hud.Touch{})
	if s.sequence.frames() != latent.Frames || s.components[3] != 2 {
		t.Errorf("%d frames, components %v", s.sequence.frames(), s.components)
	}
}

// The autopilot plays to its end and from the start, twice the same.
func TestAutopilot(t *testing.T) {
	m, script := testlatent.Model(t), Autopilot()
	var ends [2][]m3.Vec3
	for i := range ends {
		s := open(t, Options{Options: world.Options{Workers: 1 + i}, Model: m})
		clips := 0
		for tick := range int64(script.Seconds()*scenes.TickRate) + 1 {
			testscene.Step(t, s, 1, script.At(tick))
			clips = max(clips, len(s.sequence.undo))
		}
		ends[i] = append(pose(s), s.body.place.Pos)
		if clips != 3 || s.sequence.frames() != 0 || s.panel.Buttons[values].Lit || s.panel.Selected != 0 {
			t.Errorf("%d clips, %d frames at the end", clips, s.sequence.frames())
		}
	}
	if !slices.Equal(ends[0], ends[1]) {
		t.Error("two rounds differ")
	}
}

// Closing waits for the clip that is being added.
func TestCloseWhileAdding(t *testing.T) {
	s, err := New(Options{Model: testlatent.Model(t)})
	if err != nil {
		t.Fatal(err)
	}
	press(t, s, 'A')
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("a scene without a model")
	}
	if _, err := New(Options{Options: world.Options{Terrain: &terrain.Field{}}, Model: testlatent.Model(t)}); err == nil {
		t.Error("a scene on no terrain")
	}
}

func TestTickDoesNotAllocate(t *testing.T) {
	s := open(t, Options{Options: world.Options{Workers: 1}})
	var f scenes.Frame
	v := float32(0)
	for name, touch := range map[string]func() hud.Touch{
		"nothing": func() hud.Touch { return hud.Touch{} },
		"a slider that moves": func() hud.Touch {
			v += 0.01
			return hud.Touch{Set: true, Value: v}
		},
	} {
		if n := testing.AllocsPerRun(100, func() {
			testscene.Step(t, s, 1, scenes.Input{Touch: touch()})
			s.Frame(&f, 0.5)
		}); n != 0 {
			t.Errorf("%s: %g allocations per tick", name, n)
		}
	}
}

// A player who adds clips and takes them away, again and again, soon has all the memory
// that this takes.
func TestRoundDoesNotAllocate(t *testing.T) {
	s, script := open(t, Options{Options: world.Options{Workers: 1}}), Autopilot()
	round := func() {
		for tick := range int64(script.Seconds()*scenes.TickRate) + 1 {
			testscene.Step(t, s, 1, script.At(tick))
		}
	}
	round()
	if n := testing.AllocsPerRun(1, round); n != 0 {
		t.Errorf("%g allocations in a round", n)
	}
}

func TestOverlays(t *testing.T) {
	m, next := testlatent.Shipped(t)
	testscene.Check(t, open(t, Options{Options: world.Options{Workers: 1}, Model: m}), overlay.All)
	s := open(t, Options{Options: world.Options{Workers: 1, Agents: 3}, Model: m, Next: next})
	testscene.Check(t, s, overlay.All)
	var f scenes.Frame
	f.Show = hud.Skeletons
	s.Frame(&f, 1)
	if got, want := len(f.Lines), 4*(m.Skel.Len()-1); got != want {
		t.Errorf("%d bones, want %d, those of the others too", got, want)
	}
}
