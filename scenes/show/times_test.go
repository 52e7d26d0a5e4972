package show

import (
	"math"
	"slices"
	"testing"
	"time"

	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/engine/stage"
	"mannequin/scenes"
)

// laps is a scene that does nothing, in stages of known lengths by its own clock.
type laps struct {
	scenes.Scene
	now   time.Duration
	names []string
	takes []time.Duration
	trace func(int)
}

func (s *laps) Stages() []string  { return s.names }
func (s *laps) Trace(f func(int)) { s.trace = f }

func (s *laps) Step(scenes.Input) error {
	s.now += time.Millisecond // before the stages
	for i, d := range s.takes {
		s.trace(i)
		s.now += d
	}
	s.trace(len(s.takes))
	s.now += time.Millisecond
	return nil
}

// The time of a tick is the mean of the last second, without the first pictures.
func TestTickTime(t *testing.T) {
	w := &Show{}
	if w.TickTime() != 0 {
		t.Errorf("%g ms without a clock", w.TickTime())
	}
	s := &laps{names: []string{"stage"}, takes: []time.Duration{time.Second}}
	w.times = newProfiler(func() time.Duration { return s.now }, s)
	if w.TickTime() != 0 {
		t.Errorf("%g ms before the first tick", w.TickTime())
	}
	for i, ms := range []int{900, 900, 900, 900, 4, 8} { // with the scene's 2 ms
		s.takes[0] = time.Duration(ms-2) * time.Millisecond
		for range 30 {
			w.times.beginTick()
			if err := s.Step(scenes.Input{}); err != nil {
				t.Fatal(err)
			}
			w.times.endTick()
		}
		for range warmUpFrames + 1 {
			w.times.beginFrame()
		}
		if i == 0 && w.TickTime() != 0 {
			t.Errorf("%g ms in the first pictures", w.TickTime())
		}
	}
	if got := w.TickTime(); m3.Abs(got-6) > 1e-3 {
		t.Errorf("%g ms, want 6", got)
	}
}

func TestTimes(t *testing.T) {
	s := &laps{names: []string{"long", "nothing", "short"}, takes: []time.Duration{3 * time.Millisecond, time.Microsecond, 500 * time.Microsecond}}
	m := newProfiler(func() time.Duration { return s.now }, s)
	f := &scenes.Frame{}
	m.graphs(f)
	if f.Has != hud.Times || len(f.Graphs) != 0 {
		t.Errorf("there is %v, and %d unrequested graphs", f.Has, len(f.Graphs))
	}
	f.Show = hud.Times
	graphs := func() (tick, picture hud.Graph) {
		f.Begin(nil)
		m.graphs(f)
		if len(f.Graphs) != 2 {
			t.Fatalf("%d graphs", len(f.Graphs))
		}
		return f.Graphs[0], f.Graphs[1]
	}
	round := func() {
		t.Helper()
		m.beginTick()
		if err := s.Step(scenes.Input{}); err != nil {
			t.Fatal(err)
		}
		m.endTick()
		m.beginFrame()
		s.now += 8 * time.Millisecond
		m.endFrame()
		s.now += 2 * time.Millisecond
	}
	known := func(values []float32) (n int) {
		for _, v := range values {
			if m3.Finite(v) {
				n++
			}
		}
		return n
	}
	for range 3 {
		s.now += 10 * time.Second // as the first pictures do
		round()
	}
	if tick, picture := graphs(); !slices.Equal(tick.Names, []string{"all"}) || known(tick.Values[0])+known(picture.Values[0])+known(picture.Values[2]) != 0 {
		t.Errorf("after the first pictures there is %q, and their times are kept", tick.Names)
	}
	for range minBusyTicks {
		round()
	}
	tick, picture := graphs()
	if want := []string{"all", "long", "short"}; !slices.Equal(tick.Names, want) || len(tick.Values) != len(want) {
		t.Fatalf("%q, want %q", tick.Names, want)
	}
	for what, c := range map[string]struct {
		values []float32
		want   float64
	}{
		"all": {tick.Values[0], 5.501}, "long": {tick.Values[1], 3}, "short": {tick.Values[2], 0.5},
		"between": {picture.Values[0], 15.501}, "ticks": {picture.Values[1], 5.501}, "drawing": {picture.Values[2], 8},
	} {
		if got := float64(c.values[len(c.values)-1]); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%s took %g ms, want %g", what, got, c.want)
		}
	}
	if tick.Max != 10 || picture.Max != 20 {
		t.Errorf("the axes end at %g and %g ms, want 10 and 20", tick.Max, picture.Max)
	}
	if n := testing.AllocsPerRun(10, func() { round(); graphs() }); n != 0 {
		t.Errorf("measuring takes %g allocations", n)
	}
}

// The longest stages have curves, in the order of the tick, as many as a graph has colours.
func TestTimesOfManyStages(t *testing.T) {
	s := &laps{}
	for i := range maxStages + 3 {
		s.names = append(s.names, string(rune('a'+i)))
		s.takes = append(s.takes, time.Duration(1+(i+6)%(maxStages+3))*time.Millisecond)
	}
	m := newProfiler(func() time.Duration { return s.now }, s)
	for range minBusyTicks {
		m.beginTick()
		if err := s.Step(scenes.Input{}); err != nil {
			t.Fatal(err)
		}
		m.endTick()
	}
	f := &scenes.Frame{Show: hud.Times}
	m.graphs(f)
	if want := []string{"all", "a", "b", "c", "d", "e", "f", "j", "k", "l"}; !slices.Equal(f.Graphs[0].Names, want) {
		t.Errorf("%q have curves, want %q", f.Graphs[0].Names, want)
	}
}

func TestAxis(t *testing.T) {
	nan := float32(math.NaN())
	spiky := slices.Repeat([]float32{0.9}, 38)
	for _, c := range []struct {
		values []float32
		want   float32
	}{
		{nil, 0.1}, {[]float32{nan}, 0.1}, {[]float32{0.1}, 0.1}, {[]float32{nan, 0.11}, 0.2}, {[]float32{3}, 5}, {[]float32{40, 70}, 100},
		{append(spiky, 500, 10000), 1}, {append(spiky, 500, 500, 500), 500},
	} {
		if got := axis(c.values); math.Abs(float64(got/c.want-1)) > 1e-5 {
			t.Errorf("%v: the axis ends at %g, want %g", c.values, got, c.want)
		}
	}
}

// Overlays are toggled if the scene has them, and Tab hides the panel.
func TestChoose(t *testing.T) {
	w := &Show{Choices: true}
	w.Frame.Has, w.Frame.Show = hud.Contacts|hud.Roots|hud.Times, hud.Times
	w.choose(&stage.Controls{Toggle: hud.Contacts | hud.Times | hud.Activations})
	if w.Frame.Show != hud.Contacts || !w.Choices {
		t.Errorf("%v is shown, the panel: %v", w.Frame.Show, w.Choices)
	}
	c := &stage.Controls{}
	c.Hit[stage.KeyTab] = true
	if w.choose(c); w.Frame.Show != hud.Contacts || w.Choices {
		t.Errorf("after Tab %v is shown, the panel: %v", w.Frame.Show, w.Choices)
	}
}
