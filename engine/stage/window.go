package stage

import "mannequin/engine/hud"

// smallest is the minimum width and height of a picture, pixels.
const smallest = 16

// input is the user's input since the last Poll. Each kind of window embeds it and has these
// methods: openWindow, size, scale, hidden, poll, pointer, joysticks, closing, show and close.
type input struct {
	held   [Keys]bool
	hit    [Keys]bool
	mouse  mouse
	scroll float64 // of the wheel, + is away from the user
	away   bool    // another window has the focus
	pads   gamepads
}

// zoomStep is the change of the camera's distance per notch of the wheel.
const zoomStep = 1.12

// Controls is the user's input since the last Poll.
type Controls struct {
	Held [Keys]bool // keys down now
	Hit  [Keys]bool // keys pressed since the last Poll
	Quit bool       // the user closed the window or pressed Escape

	Gamepad Gamepad
	Notices []string  // a line for each gamepad that came or went
	Touch   hud.Touch // mouse input to the panel of the last View

	// Hidden reports that the window is minimised: do not draw. Poll waits for up to 0.1 s.
	Hidden bool
	Toggle hud.Overlay // overlays to turn on or off
}

// Key is a key of the keyboard, named by its place on an American keyboard.
type Key int

// Letters and digits have consecutive values.
const (
	KeyA Key = 0
	KeyZ Key = 25
	Key0 Key = 26
	Key9 Key = 35
)

// The other keys.
const (
	KeyUp Key = 36 + iota
	KeyDown
	KeyLeft
	KeyRight
	KeySpace
	KeyShift
	KeyEscape
	KeyHome
	KeyComma
	KeyPeriod
	KeyTab
	KeyF1             // function keys have consecutive values
	KeyF8 = KeyF1 + 7 // the last one
	Keys  = KeyF8 + 1 // number of keys
)

// Letter returns the key of a capital letter.
func Letter(c byte) Key { return KeyA + Key(c-'A') }

// Digit returns the key of the digit d, 0 to 9.
func Digit(d int) Key { return Key0 + Key(d) }

// Poll reads the user's input. Keys, gamepads, and the mouse on panels are in the result; other
// dragging and the wheel move the camera. Offscreen, and without a display, there is no input.
func (s *Stage) Poll() Controls {
	w := s.win
	if w == nil || displayGone() {
		return Controls{}
	}
	if w.poll(); displayGone() {
		return Controls{}
	}
	x, y, drag := w.pointer()
	scale := w.scale()
	touch, dx, dy := w.mouse.move(x*scale, y*scale, drag, &s.widgets, &s.choices.widgets)
	var chosen byte
	if w.mouse.on == &s.choices.widgets {
		chosen, touch.Press = touch.Press, 0
	}
	if dx != 0 || dy != 0 {
		s.Camera.Orbit(-0.006*float32(dx/scale), 0.006*float32(dy/scale))
		s.Camera.Follow = false
	}
	for ; w.scroll > 0.5; w.scroll-- {
		s.Camera.Zoom(1 / zoomStep)
	}
	for ; w.scroll < -0.5; w.scroll++ {
		s.Camera.Zoom(zoomStep)
	}
	c := Controls{Held: w.held, Hit: w.hit, Quit: w.closing() || w.hit[KeyEscape], Touch: touch, Hidden: w.hidden(), Toggle: s.choices.chosen(chosen, &w.hit)}
	w.hit = [Keys]bool{}
	if c.Gamepad, c.Notices = w.pads.poll(w.joysticks(), nil); w.away {
		c.Gamepad = Gamepad{Connected: c.Gamepad.Connected}
	}
	return c
}

// Present shows the last picture in the window and waits for the screen.
func (s *Stage) Present() {
	if s.win == nil || displayGone() {
		return
	}
	s.target.Show()
	s.win.show()
}
