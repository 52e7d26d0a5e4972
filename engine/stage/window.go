package stage

import "mannequin/engine/hud"

// smallest is the least width and height of a picture, pixels.
const smallest = 16

// input is what the user did since the last Poll. A window has one, and these besides:
// openWindow, size, scale, hidden, poll, pointer, joysticks, closing, show and close.
type input struct {
	held   [Keys]bool
	hit    [Keys]bool
	mouse  mouse
	scroll float64 // of the wheel, away from the user +
	away   bool    // another window has the focus
	pads   gamepads
}

// zoomStep is what a notch of the wheel does to the camera's distance.
const zoomStep = 1.12

// Controls is what the user does.
type Controls struct {
	Held [Keys]bool // keys down now
	Hit  [Keys]bool // keys pressed since the last Poll
	Quit bool       // the window was asked to close, or Escape

	Gamepad Gamepad
	News    []string  // a line for each gamepad that has come or gone since the last Poll
	Touch   hud.Touch // what the mouse does to the panel of the last View

	// Hidden says that the window shows nothing, being minimised: there is no need to
	// draw, and Poll waits for up to a tenth of a second.
	Hidden bool
	Toggle hud.Overlay // what is to be drawn now that was not, and the other way round
}

// Key is a key of the keyboard, by its place on an American one.
type Key int

// The keys: the letters follow each other, as do the digits.
const (
	KeyA Key = 0
	KeyZ Key = 25
	Key0 Key = 26
	Key9 Key = 35
)

// The keys with names.
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
	KeyF1             // the function keys follow each other
	KeyF8 = KeyF1 + 7 // the last that there is
	Keys  = KeyF8 + 1 // how many there are
)

// Letter returns the key of a capital letter.
func Letter(c byte) Key { return KeyA + Key(c-'A') }

// Digit returns the key of the digit d, 0 to 9.
func Digit(d int) Key { return Key0 + Key(d) }

// Poll reads the user's input: keys, gamepads, and the mouse on the panel, into the
// result, dragging elsewhere and the wheel into the camera. Offscreen nobody ever does
// anything, nor does anybody whose display has gone, which Draw tells.
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
	touch, dx, dy := w.mouse.move(x*scale, y*scale, drag, &s.knobs, &s.choices.knobs)
	var chosen byte
	if w.mouse.on == &s.choices.knobs {
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
	if c.Gamepad, c.News = w.pads.poll(w.joysticks(), nil); w.away {
		c.Gamepad = Gamepad{Connected: c.Gamepad.Connected}
	}
	return c
}

// Present shows the last picture in the window and waits for the screen.
func (s *Stage) Present() {
	if s.win == nil || displayGone() {
		return
	}
	s.target.show()
	s.win.show()
}
