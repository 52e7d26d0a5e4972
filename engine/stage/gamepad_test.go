package stage

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/engine/m3"
)

// fake is a set of devices that a test holds.
type fake [maxJoysticks]*device

type device struct {
	name     string
	unmapped bool
	reading
}

func (f *fake) read(slot int, r *reading) (present, mapped bool) {
	d := f[slot]
	if d == nil {
		return false, false
	}
	if !d.unmapped {
		*r = d.reading
	}
	return true, !d.unmapped
}

func (f *fake) name(slot int) string { return f[slot].name }

// still is a gamepad at rest.
func still(name string) *device {
	return &device{name: name, reading: reading{axes: [6]float32{4: -1, 5: -1}}}
}

func TestDeadZones(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct{ x, y, want float32 }{
		{0, 0, 0}, {0.15, 0.15, 0}, {deadLeft, 0, 0}, {0.585, 0, 0.5}, {0, -0.585, 0.5}, {1, 0, 1}, {1, 1, 1}, {-0.7, 0.7, 1},
		{nan, 0, 0}, {0, inf, 0}, {nan, nan, 0},
	} {
		s := stickValue(c.x, c.y, deadLeft)
		if got := m3.Sqrt(s.X*s.X + s.Y*s.Y); !(m3.Abs(got-c.want) < 1e-3) {
			t.Errorf("a stick at (%g, %g) is out by %g, want %g", c.x, c.y, got, c.want)
		}
		if c.want > 0 && m3.Abs(s.X*c.y-s.Y*c.x) > 1e-5 {
			t.Errorf("a stick at (%g, %g) points to %v", c.x, c.y, s)
		}
	}
	for v, want := range map[float32]float32{-1: 0, -0.8: 0, 0.09: 0.5, 1: 1, nan: 0} {
		if got := triggerValue(v); !(m3.Abs(got-want) < 1e-2) {
			t.Errorf("a trigger at %g is pulled by %g, want %g", v, got, want)
		}
	}
}

// A stick pushed away from the player points up, and a press is one hit.
func TestGamepad(t *testing.T) {
	d := still("pad")
	f, g := fake{3: d}, gamepads{}
	d.axes[1], d.axes[3], d.axes[5], d.buttons[ButtonX] = -1, 1, 1, true
	now, notices := g.poll(&f, nil)
	if now.Connected != 1 || now.Left != (Stick{0, 1}) || now.Right != (Stick{0, -1}) || now.LT != 0 || now.RT != 1 || !now.Held[ButtonX] || !now.Hit[ButtonX] {
		t.Errorf("got %+v", now)
	}
	if !slices.Equal(notices, []string{"gamepad connected: pad"}) {
		t.Errorf("notices: %q", notices)
	}
	if now, notices = g.poll(&f, nil); !now.Held[ButtonX] || now.Hit[ButtonX] || notices != nil {
		t.Errorf("a poll later: %+v, %q", now, notices)
	}
}

// The gamepad used last steers until it is released.
func TestGamepadUsedLast(t *testing.T) {
	a, b := still("a"), still("b")
	f, g := fake{a, b}, gamepads{}
	poll := func() Gamepad { now, _ := g.poll(&f, nil); return now }
	poll()
	a.axes[0] = 1
	if got := poll(); got.Left.X != 1 || got.Connected != 2 {
		t.Errorf("one steers: %+v", got)
	}
	b.axes[0] = -0.9
	if got := poll(); got.Left.X >= 0 {
		t.Errorf("the other has begun: %+v", got)
	}
	a.axes[0] = 0.8 // which was out before
	if got := poll(); got.Left.X >= 0 {
		t.Errorf("the first has moved a little: %+v", got)
	}
	a.buttons[ButtonA] = true
	if got := poll(); got.Left.X <= 0 || !got.Hit[ButtonA] {
		t.Errorf("the first pressed something: %+v", got)
	}
	a.axes[0], a.buttons[ButtonA] = 0, false
	if got := poll(); got.Left.X >= 0 {
		t.Errorf("the first let go: %+v", got)
	}
}

func TestTidy(t *testing.T) {
	for name, want := range map[string]string{
		" X360 \n Controller\x00": "X360  Controller", "": "without a name", "\xff\x00": "\ufffd",
		strings.Repeat("ä", 40): strings.Repeat("ä", 31) + "…",
	} {
		if got := cleanName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}

func TestHotPlug(t *testing.T) {
	a := still("a")
	f, g := fake{}, gamepads{}
	if now, notices := g.poll(&f, nil); now != (Gamepad{}) || notices != nil {
		t.Errorf("no device: %+v, %q", now, notices)
	}
	f[0], f[5] = a, &device{name: "throttle", unmapped: true}
	a.axes[1], a.buttons[ButtonB] = -1, true
	now, notices := g.poll(&f, nil)
	want := []string{"gamepad connected: a", "joystick without a gamepad mapping: throttle"}
	if !now.Held[ButtonB] || now.Connected != 1 || !slices.Equal(notices, want) {
		t.Errorf("connected: %+v, %q", now, notices)
	}
	f[0] = nil
	if now, notices = g.poll(&f, nil); now != (Gamepad{}) || !slices.Equal(notices, []string{"gamepad unplugged: a"}) {
		t.Errorf("unplugged with all held: %+v, %q", now, notices)
	}
	// A button held while the gamepad is connected is a press; another device is not a gamepad.
	f[0] = a
	if now, _ = g.poll(&f, nil); !now.Hit[ButtonB] {
		t.Errorf("connected again: %+v", now)
	}
	a.unmapped = true
	if now, notices = g.poll(&f, nil); now != (Gamepad{}) || len(notices) != 2 {
		t.Errorf("another device in its place: %+v, %q", now, notices)
	}
}
