//go:build !js

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

	"mannequin/engine/internal/gl"
)

// HasDisplay reports whether this machine seems to have a display for a window.
func HasDisplay() bool {
	switch runtime.GOOS {
	case "windows", "darwin":
		return true
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// windowState is the window and the user's input since the last Poll.
type windowState struct {
	*window.GlfwWindow
	input
}

func (s *Stage) openWindow(opt Options) (err error) {
	if !HasDisplay() {
		return errors.New("stage: cannot open a window: no display (DISPLAY and WAYLAND_DISPLAY are empty)")
	}
	// glfw panics on some failures and prints others. The first printed line is the one to report.
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
	if err := gl.Init(); err != nil {
		return fmt.Errorf("stage: cannot load OpenGL: %w", err)
	}
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

func (w *windowState) size() (int, int) {
	x, y := w.GetFramebufferSize()
	return max(x, smallest), max(y, smallest)
}

func (w *windowState) hidden() bool {
	x, y := w.GetFramebufferSize()
	return x < smallest || y < smallest || w.GetAttrib(glfw.Iconified) == glfw.True
}

// scale returns the pixels of the picture per unit of the cursor's position.
func (w *windowState) scale() float64 {
	pixels, _ := w.size()
	units, _ := w.GetSize()
	return float64(pixels) / float64(max(units, 1))
}

func (w *windowState) poll() {
	if w.hidden() {
		glfw.WaitEventsTimeout(0.1)
		return
	}
	w.PollEvents()
}

func (w *windowState) joysticks() joysticks { return glfwJoysticks{} }

func (w *windowState) pointer() (x, y float64, down bool) {
	x, y = w.GetCursorPos()
	return x, y, w.GetMouseButton(glfw.MouseButtonLeft) == glfw.Press || w.GetMouseButton(glfw.MouseButtonRight) == glfw.Press
}

func (w *windowState) closing() bool { return w.ShouldClose() }

func (w *windowState) show() { w.SwapBuffers() }

func (w *windowState) close() {
	if !displayGone() {
		w.Destroy()
	}
}

// keyOf translates glfw's codes, which are ASCII for letters and digits.
func keyOf(k glfw.Key) (Key, bool) {
	switch {
	case k >= glfw.KeyA && k <= glfw.KeyZ:
		return KeyA + Key(k-glfw.KeyA), true
	case k >= glfw.Key0 && k <= glfw.Key9:
		return Key0 + Key(k-glfw.Key0), true
	case k >= glfw.KeyF1 && k <= glfw.KeyF8:
		return KeyF1 + Key(k-glfw.KeyF1), true
	}
	key, ok := glfwKeys[k]
	return key, ok
}

var glfwKeys = map[glfw.Key]Key{
	glfw.KeyTab: KeyTab, glfw.KeyUp: KeyUp, glfw.KeyDown: KeyDown, glfw.KeyLeft: KeyLeft, glfw.KeyRight: KeyRight,
	glfw.KeySpace: KeySpace, glfw.KeyLeftShift: KeyShift, glfw.KeyRightShift: KeyShift, glfw.KeyEscape: KeyEscape,
	glfw.KeyComma: KeyComma, glfw.KeyPeriod: KeyPeriod, glfw.KeyHome: KeyHome,
}

// glfwJoysticks are glfw's devices, with its mappings.
type glfwJoysticks struct{}

func (glfwJoysticks) read(slot int, r *reading) (present, mapped bool) {
	j := glfw.Joystick(slot)
	if !j.Present() {
		return false, false
	}
	s := j.GetGamepadState() // nil without a mapping
	if s == nil {
		return j.Present(), false // it may have been unplugged meanwhile
	}
	r.axes = s.Axes
	for b := range r.buttons {
		r.buttons[b] = s.Buttons[b] == glfw.Press
	}
	return true, true
}

func (glfwJoysticks) name(slot int) string {
	j := glfw.Joystick(slot)
	if name := j.GetGamepadName(); name != "" {
		return name
	}
	return j.GetName()
}
