package stage

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"
	"runtime"
	"strings"

	"github.com/g3n/engine/window"
	"github.com/go-gl/glfw/v3.3/glfw"

	"mannequin/scenes"
)

// HasDisplay reports whether this machine seems to have a screen to open a
// window on.
func HasDisplay() bool {
	switch runtime.GOOS {
	case "windows", "darwin":
		return true
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// windowState is the window and what the user did since the last Poll.
type windowState struct {
	*window.GlfwWindow
	held   [Keys]bool
	hit    [Keys]bool
	mouse  mouse
	scroll float64
	away   bool // another window has the focus
	pads   gamepads
}

func (s *Stage) openWindow(opt Options) (err error) {
	if !HasDisplay() {
		return errors.New("stage: cannot open a window: no display (DISPLAY and WAYLAND_DISPLAY are empty)")
	}
	// glfw panics at some failures, and prints others, the first of which is
	// the one to tell.
	var printed bytes.Buffer
	flags, writer := log.Flags(), log.Writer()
	log.SetFlags(0)
	log.SetOutput(&printed)
	defer func() {
		log.SetFlags(flags)
		log.SetOutput(writer)
		if r := recover(); r != nil {
			err = fmt.Errorf("stage: cannot open a window: %v", r)
		}
		if line, _, _ := strings.Cut(printed.String(), "\n"); err != nil && line != "" {
			err = fmt.Errorf("stage: cannot open a window: %s", line)
		}
	}()
	if err := window.Init(opt.Width, opt.Height, opt.Title); err != nil {
		return fmt.Errorf("stage: cannot open a window: %w", err)
	}
	g, ok := window.Get().(*window.GlfwWindow)
	if !ok {
		return errors.New("stage: cannot open a window: unknown kind")
	}
	w := &windowState{GlfwWindow: g}
	s.win, s.gs = w, g.Gls()
	watchDisplay()
	glfw.SwapInterval(1)
	if opt.Gamepads != "" {
		glfw.UpdateGamepadMappings(opt.Gamepads)
	}
	g.SetKeyCallback(func(_ *glfw.Window, key glfw.Key, _ int, action glfw.Action, _ glfw.ModifierKey) {
		k, known := keyOf(key)
		if !known {
			return
		}
		w.held[k] = action != glfw.Release
		if action == glfw.Press {
			w.hit[k] = true
		}
	})
	g.SetInputMode(glfw.StickyMouseButtonsMode, glfw.True) // a click between two Polls counts
	g.SetScrollCallback(func(_ *glfw.Window, _, y float64) { w.scroll += y })
	// Keys released while another window has the focus would stay down.
	g.SetFocusCallback(func(_ *glfw.Window, focused bool) {
		if w.away = !focused; w.away {
			w.held = [Keys]bool{}
		}
	})
	return nil
}

// smallest is the least width and height of a picture, pixels.
const smallest = 16

// size returns the framebuffer's size; at least the smallest picture's, which a
// minimised window does not have.
func (w *windowState) size() (int, int) {
	x, y := w.GetFramebufferSize()
	return max(x, smallest), max(y, smallest)
}

// hidden reports whether the window has no room for a picture.
func (w *windowState) hidden() bool {
	x, y := w.GetFramebufferSize()
	return x < smallest || y < smallest || w.GetAttrib(glfw.Iconified) == glfw.True
}

// scale returns the pixels of the picture per unit of the cursor's place.
func (w *windowState) scale() float64 {
	pixels, _ := w.size()
	units, _ := w.GetSize()
	return float64(pixels) / float64(max(units, 1))
}

// close ends the window; one whose display has gone, the system ends.
func (w *windowState) close() {
	if !displayGone() {
		w.Destroy()
	}
}

// Controls is what the user does.
type Controls struct {
	Held [Keys]bool // keys down now
	Hit  [Keys]bool // keys pressed since the last Poll
	Quit bool       // the window was asked to close, or Escape

	Gamepad Gamepad
	News    []string     // a line for each gamepad that has come or gone since the last Poll
	Touch   scenes.Touch // what the mouse does to the panel of the last View

	// Hidden says that the window shows nothing, being minimised: there is no need to
	// draw, and Poll waits for up to a tenth of a second.
	Hidden bool
	Toggle scenes.Overlay // what is to be drawn now that was not, and the other way round
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

// keyOf translates glfw's codes, which are ASCII for letters and digits.
func keyOf(k glfw.Key) (Key, bool) {
	switch {
	case k >= glfw.KeyA && k <= glfw.KeyZ:
		return KeyA + Key(k-glfw.KeyA), true
	case k >= glfw.Key0 && k <= glfw.Key9:
		return Key0 + Key(k-glfw.Key0), true
	}
	if k >= glfw.KeyF1 && k <= glfw.KeyF8 {
		return KeyF1 + Key(k-glfw.KeyF1), true
	}
	switch k {
	case glfw.KeyTab:
		return KeyTab, true
	case glfw.KeyUp:
		return KeyUp, true
	case glfw.KeyDown:
		return KeyDown, true
	case glfw.KeyLeft:
		return KeyLeft, true
	case glfw.KeyRight:
		return KeyRight, true
	case glfw.KeySpace:
		return KeySpace, true
	case glfw.KeyLeftShift, glfw.KeyRightShift:
		return KeyShift, true
	case glfw.KeyEscape:
		return KeyEscape, true
	case glfw.KeyComma:
		return KeyComma, true
	case glfw.KeyPeriod:
		return KeyPeriod, true
	case glfw.KeyHome:
		return KeyHome, true
	}
	return 0, false
}

// Poll reads the user's input: keys, gamepads, and the mouse on the panel, into the
// result, dragging elsewhere and the wheel into the camera. Offscreen nobody ever does
// anything, nor does anybody whose display has gone, which Draw tells.
func (s *Stage) Poll() Controls {
	w := s.win
	if w == nil || displayGone() {
		return Controls{}
	}
	if w.hidden() {
		glfw.WaitEventsTimeout(0.1)
	} else {
		w.PollEvents()
	}
	if displayGone() {
		return Controls{}
	}
	x, y := w.GetCursorPos()
	drag := w.GetMouseButton(glfw.MouseButtonLeft) == glfw.Press || w.GetMouseButton(glfw.MouseButtonRight) == glfw.Press
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
		s.Camera.Zoom(1 / 1.12)
	}
	for ; w.scroll < -0.5; w.scroll++ {
		s.Camera.Zoom(1.12)
	}
	c := Controls{Held: w.held, Hit: w.hit, Quit: w.ShouldClose() || w.hit[KeyEscape], Touch: touch, Hidden: w.hidden(), Toggle: s.choices.chosen(chosen, &w.hit)}
	w.hit = [Keys]bool{}
	if c.Gamepad, c.News = w.pads.poll(glfwJoysticks{}, nil); w.away {
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
	s.win.SwapBuffers()
}
