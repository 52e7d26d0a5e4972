package stage

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/g3n/engine/window"
	"github.com/go-gl/glfw/v3.3/glfw"
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
	mouse  [2]float64
	inside bool
	scroll float64
}

func (s *Stage) openWindow(opt Options) (err error) {
	if !HasDisplay() {
		return errors.New("stage: cannot open a window: no display (DISPLAY and WAYLAND_DISPLAY are empty)")
	}
	// Some of glfw's failures are panics.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("stage: cannot open a window: %v", r)
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
	glfw.SwapInterval(1)
	g.SetKeyCallback(func(_ *glfw.Window, key glfw.Key, _ int, action glfw.Action, _ glfw.ModifierKey) {
		k, known := keyOf[key]
		if !known {
			return
		}
		w.held[k] = action != glfw.Release
		if action == glfw.Press {
			w.hit[k] = true
		}
	})
	g.SetScrollCallback(func(_ *glfw.Window, _, y float64) { w.scroll += y })
	// Keys released while another window has the focus would stay down.
	g.SetFocusCallback(func(_ *glfw.Window, focused bool) {
		if !focused {
			w.held = [Keys]bool{}
		}
	})
	return nil
}

// size returns the framebuffer's size; at least 16 pixels, which a minimised
// window does not have.
func (w *windowState) size() (int, int) {
	x, y := w.GetFramebufferSize()
	return max(x, 16), max(y, 16)
}

func (w *windowState) close() { w.Destroy() }

// Controls is what the user did, by meaning of the key and not by device.
type Controls struct {
	Held [Keys]bool // keys down now
	Hit  [Keys]bool // keys pressed since the last Poll
	Quit bool       // the window was asked to close, or Escape
}

// Key is a key that a demo may use.
type Key int

// The keys.
const (
	KeyForward   Key = iota // W, up
	KeyBack                 // S, down
	KeyLeft                 // A, left
	KeyRight                // D, right
	KeyTurnLeft             // Q
	KeyTurnRight            // E
	KeySprint               // shift
	KeyJump                 // space
	KeySit                  // F
	KeyLie                  // R
	KeyStand                // V
	Key1
	Key2
	Key3
	Key4
	KeyHelp   // H
	KeyFollow // C
	KeyReset  // backspace
	KeyEscape
	Keys // how many there are
)

var keyOf = map[glfw.Key]Key{
	glfw.KeyW: KeyForward, glfw.KeyUp: KeyForward, glfw.KeyS: KeyBack, glfw.KeyDown: KeyBack,
	glfw.KeyA: KeyLeft, glfw.KeyLeft: KeyLeft, glfw.KeyD: KeyRight, glfw.KeyRight: KeyRight,
	glfw.KeyQ: KeyTurnLeft, glfw.KeyE: KeyTurnRight,
	glfw.KeyLeftShift: KeySprint, glfw.KeyRightShift: KeySprint,
	glfw.KeySpace: KeyJump, glfw.KeyF: KeySit, glfw.KeyR: KeyLie, glfw.KeyV: KeyStand,
	glfw.Key1: Key1, glfw.Key2: Key2, glfw.Key3: Key3, glfw.Key4: Key4,
	glfw.KeyH: KeyHelp, glfw.KeyC: KeyFollow, glfw.KeyBackspace: KeyReset, glfw.KeyEscape: KeyEscape,
}

// Poll reads the user's input: keys into the result, dragging and the wheel
// into the camera. Offscreen nobody ever does anything.
func (s *Stage) Poll() Controls {
	w := s.win
	if w == nil {
		return Controls{}
	}
	w.PollEvents()
	x, y := w.GetCursorPos()
	drag := w.GetMouseButton(glfw.MouseButtonLeft) == glfw.Press || w.GetMouseButton(glfw.MouseButtonRight) == glfw.Press
	if drag && w.inside {
		s.Camera.Orbit(-0.006*float32(x-w.mouse[0]), 0.006*float32(y-w.mouse[1]))
		s.Camera.Follow = false
	}
	w.mouse, w.inside = [2]float64{x, y}, drag
	for ; w.scroll > 0.5; w.scroll-- {
		s.Camera.Zoom(1 / 1.12)
	}
	for ; w.scroll < -0.5; w.scroll++ {
		s.Camera.Zoom(1.12)
	}
	c := Controls{Held: w.held, Hit: w.hit, Quit: w.ShouldClose() || w.hit[KeyEscape]}
	w.hit = [Keys]bool{}
	return c
}

// Present shows the last picture in the window and waits for the screen.
func (s *Stage) Present() {
	if s.win == nil {
		return
	}
	s.target.show(s.win.size())
	s.win.SwapBuffers()
}
