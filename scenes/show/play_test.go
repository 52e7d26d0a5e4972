package show

import (
	"slices"
	"strings"
	"testing"
	"time"

	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/engine/stage"
	"mannequin/internal/testing/must"
	"mannequin/scenes"
)

// counter is a scene that records its input.
type counter struct {
	inputs []scenes.Input
	seat   scenes.Seat
}

func (s *counter) Step(in scenes.Input) error { s.inputs = append(s.inputs, in); return nil }
func (s *counter) Frame(dst *scenes.Frame, _ float32) {
	dst.Begin(nil)
	dst.Seat = s.seat
	dst.Help, dst.GamepadHelp = append(dst.Help, "keys"), append(dst.GamepadHelp, "buttons")
}
func (s *counter) Hash() uint64 { return 0 }
func (s *counter) Close() error { return nil }

// newPlay returns a show that draws nothing.
func newPlay(t *testing.T) (*Show, *counter) {
	t.Helper()
	s := &counter{}
	w := must.Get(New(&stage.Stage{Camera: &stage.Camera{Distance: 3, Pitch: 0.2, Follow: true}}, s, 60))(t)
	return w, s
}

// frame is a little more than a tick.
const frame = time.Second/60 + 1

func play(t *testing.T, w *Show, frames int, p polled) {
	t.Helper()
	c := p.controls()
	for i := range frames {
		if err := w.Play(c, frame, nil); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			c.Hit, c.Gamepad.Hit = [stage.Keys]bool{}, [stage.Buttons]bool{}
		}
	}
}

func TestPause(t *testing.T) {
	for name, c := range map[string]struct{ pause, step polled }{
		"keys":    {polled{hit: letter('P')}, polled{hit: []stage.Key{stage.KeyPeriod}}},
		"buttons": {polled{hitButtons: []stage.Button{stage.ButtonStart}}, polled{hitButtons: []stage.Button{stage.ButtonLeftStick}}},
	} {
		w, s := newPlay(t)
		ticks := func(frames int, p polled) int {
			before := len(s.inputs)
			play(t, w, frames, p)
			return len(s.inputs) - before
		}
		if n := ticks(60, polled{}); n != 60 {
			t.Errorf("%s: %d ticks in a second", name, n)
		}
		if n := ticks(60, c.pause); n != 0 || !slices.Contains(w.hud(nil), "paused") {
			t.Errorf("%s: paused, %d ticks, HUD %q", name, n, w.hud(nil))
		}
		ticks(1, polled{hit: letter('R')})
		for range 3 {
			if n := ticks(5, c.step); n != 1 {
				t.Errorf("%s: a step is %d ticks", name, n)
			}
		}
		if n := ticks(60, c.pause); n != 60 || len(w.hud(nil)) != 0 {
			t.Errorf("%s: after a pause, %d ticks in a second, HUD %q", name, n, w.hud(nil))
		}
		resets := 0
		for _, in := range s.inputs {
			if in.Reset {
				resets++
			}
		}
		if resets != 1 || !s.inputs[60].Reset {
			t.Errorf("%s: pressed in the pause once, counted %d times, at the next step: %v", name, resets, s.inputs[60].Reset)
		}
		ticks(3, polled{hit: []stage.Key{stage.KeyPeriod}})
		if n := len(s.inputs); n != 60+3+60+3 {
			t.Errorf("%s: a step while time goes on anyway: %d ticks in all", name, n)
		}
	}
}

func TestSlowMotion(t *testing.T) {
	for name, slower := range map[string]polled{
		"comma": {hit: []stage.Key{stage.KeyComma}}, "stick": {hitButtons: []stage.Button{stage.ButtonLeftStick}},
	} {
		w, s := newPlay(t)
		for _, want := range []struct {
			ticks int
			hud   string
		}{{60, "slow motion: 1/2"}, {30, "slow motion: 1/4"}, {15, "slow motion: 1/8"}, {120, ""}} {
			before := len(s.inputs)
			play(t, w, 120, slower)
			if n := len(s.inputs) - before; n < want.ticks-1 || n > want.ticks || strings.Join(w.hud(nil), "") != want.hud {
				t.Errorf("%s: %d ticks in two seconds, HUD %q, want %d, %q", name, n, w.hud(nil), want.ticks, want.hud)
			}
		}
	}
}

// The camera moves by the right stick, even in a pause, and follows on request.
func TestCameraByGamepad(t *testing.T) {
	w, _ := newPlay(t)
	cam := w.Stage.Camera
	play(t, w, 1, polled{hit: letter('P')})
	play(t, w, 30, polled{right: stage.Stick{X: 1, Y: 1}})
	if !(cam.Yaw < -1) || !(cam.Pitch < 0) || cam.Follow {
		t.Errorf("looking up to the right: yaw %g, pitch %g, follows: %v", cam.Yaw, cam.Pitch, cam.Follow)
	}
	play(t, w, 1, polled{hitButtons: []stage.Button{stage.ButtonRightStick}})
	if !cam.Follow {
		t.Error("it does not follow")
	}
	w.Free, cam.Follow = true, false
	if play(t, w, 1, polled{hit: letter('F')}); cam.Follow {
		t.Error("a free camera follows the focus")
	}
	for y, want := range map[float32]float32{0: 1, 1: 1, -0.5: 0.5, -1: 0} {
		if play(t, w, 1, polled{left: stage.Stick{Y: y}}); cam.Swing != want {
			t.Errorf("the character is to come by %g: the camera swings by %g", -y, cam.Swing)
		}
	}
	c := polled{}.controls()
	for _, pull := range []struct{ lt, rt float32 }{{1, 0}, {0, 1}} {
		c.Gamepad.LT, c.Gamepad.RT = pull.lt, pull.rt
		before := cam.Distance
		if err := w.Play(c, time.Second, nil); err != nil {
			t.Fatal(err)
		}
		if q := cam.Distance / before; (q > 1) != (pull.lt > 0) || m3.Abs(q-1) < 0.5 && q > 1 {
			t.Errorf("triggers %v: %g times as far", pull, q)
		}
	}
}

// A script replaces the player's input, but the player controls the time.
func TestScript(t *testing.T) {
	w, s := newPlay(t)
	script := func() scenes.Input { return scenes.Input{Side: 0.5} }
	for _, p := range []polled{{held: letter('W')}, {hit: letter('P')}, {}, {hit: []stage.Key{stage.KeyPeriod}}} {
		if err := w.Play(p.controls(), frame, script); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.inputs) != 2 || s.inputs[0] != script() {
		t.Errorf("got %+v", s.inputs)
	}
}

// The camera begins at the scene's seat; an overview follows no character.
func TestSeat(t *testing.T) {
	for _, seat := range []scenes.Seat{{}, {Distance: 5, Pitch: 0.1, Aside: 0.9}, scenes.Overlook(50)} {
		cam := &stage.Camera{Distance: 3, Pitch: 0.2, Follow: true}
		w := must.Get(New(&stage.Stage{Camera: cam}, &counter{seat: seat}, 60))(t)
		want := seat
		if seat == (scenes.Seat{}) {
			want.Distance, want.Pitch = 3, 0.2
		}
		if cam.Distance != want.Distance || cam.Pitch != want.Pitch || cam.Aside != want.Aside || cam.Yaw != want.Yaw || cam.Follow == seat.Overview || w.Free != seat.Overview {
			t.Errorf("from %+v the camera is %+v", seat, cam)
		}
	}
}

// Nothing happens in a hidden window.
func TestHidden(t *testing.T) {
	w, s := newPlay(t)
	if err := w.Play(stage.Controls{Hidden: true}, time.Second, nil); err != nil || len(s.inputs) != 0 {
		t.Errorf("%d ticks, %v", len(s.inputs), err)
	}
}

func TestNews(t *testing.T) {
	w, _ := newPlay(t)
	c := stage.Controls{Notices: []string{"gamepad connected: pad"}}
	if err := w.Play(c, frame, nil); err != nil {
		t.Fatal(err)
	}
	play(t, w, 60, polled{})
	if !slices.Equal(w.hud([]string{"x"}), []string{"x", "gamepad connected: pad"}) {
		t.Errorf("after a second: %q", w.hud(nil))
	}
	if play(t, w, 300, polled{}); len(w.hud(nil)) != 0 {
		t.Errorf("after six seconds: %q", w.hud(nil))
	}
}

// Help is for the device used last, until it is hidden.
func TestHelp(t *testing.T) {
	w, _ := newPlay(t)
	for i, c := range []struct {
		polled
		pads int
		want string
	}{
		{polled{}, 0, "keys"}, {polled{}, 1, "keys"}, {polled{left: stage.Stick{X: 0.1}}, 1, "buttons"}, {polled{}, 1, "buttons"},
		{polled{hit: letter('W')}, 1, "keys"}, {polled{hitButtons: []stage.Button{stage.ButtonA}}, 1, "buttons"}, {polled{}, 0, "keys"},
	} {
		poll := c.controls()
		poll.Gamepad.Connected = c.pads
		if err := w.Play(poll, frame, nil); err != nil {
			t.Fatal(err)
		}
		if help := w.Help(); help[0] != c.want {
			t.Errorf("%d: %q, want what is for %s", i, help, c.want)
		}
	}
	keys := func() bool {
		return slices.ContainsFunc(w.Help(), func(line string) bool { return strings.HasPrefix(line, "F2, F8: ") })
	}
	if w.Frame.Has = hud.Contacts | hud.Times; !keys() {
		t.Errorf("with two overlays: %q", w.Help())
	}
	if w.Frame.Has = 0; keys() || strings.Contains(strings.Join(w.Help(), ""), "Tab") {
		t.Errorf("without overlays: %q", w.Help())
	}
	if play(t, w, 1, polled{hit: letter('H')}); w.Help() != nil {
		t.Errorf("hidden: %q", w.Help())
	}
}
