package stage

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"syscall/js"

	"github.com/g3n/engine/gls"

	"mannequin/engine/internal/gl"
)

// HasDisplay reports whether there is a canvas that can be drawn on now.
func HasDisplay() bool { return canvas().Truthy() && !gl.Away() }

// canvas returns the page's first canvas, which is the window in a browser.
func canvas() js.Value {
	page := js.Global().Get("document")
	if !page.Truthy() {
		return page
	}
	return page.Call("querySelector", "canvas")
}

// windowState is the canvas and the user's input since the last Poll.
type windowState struct {
	input
	canvas    js.Value
	listeners []listener
	x, y      float64 // pointer, in units of the page from the canvas's top left
	fingers   []finger
	pinched   bool // several fingers were down since the first one: none drags
	clicked   bool // a first finger went down since the last Poll
}

// finger is a finger on the screen, or a mouse with a button down.
type finger struct {
	id   int
	x, y float64
}

// listener is a function that the browser calls.
type listener struct {
	target js.Value
	event  string
	f      js.Func
}

func (s *Stage) openWindow(Options) error {
	w := &windowState{canvas: canvas()}
	if !w.canvas.Truthy() {
		return errors.New("stage: the page has no canvas to draw on")
	}
	// Edges and depths have buffers of their own.
	ctx := w.canvas.Call("getContext", "webgl2", map[string]any{
		"alpha": false, "depth": false, "antialias": false, "powerPreference": "high-performance",
	})
	if err := gl.Init(ctx); err != nil {
		return fmt.Errorf("stage: cannot draw in this page: %w", err)
	}
	var err error
	if s.gs, err = gls.New(ctx); err != nil {
		return fmt.Errorf("stage: cannot load WebGL: %w", err)
	}
	s.win = w
	w.listenToKeys()
	w.listenToPointer()
	return nil
}

func (w *windowState) listen(target js.Value, event string, heard func(e js.Value)) {
	f := js.FuncOf(func(_ js.Value, args []js.Value) any {
		heard(args[0])
		return nil
	})
	// Passive listeners, the default of some events, cannot keep the page from scrolling.
	target.Call("addEventListener", event, f, map[string]any{"passive": false})
	w.listeners = append(w.listeners, listener{target, event, f})
}

func (w *windowState) listenToKeys() {
	page := js.Global()
	w.listen(page, "keydown", func(e js.Value) {
		k, known := keyOf(e.Get("code").String())
		if !known || e.Get("ctrlKey").Bool() || e.Get("altKey").Bool() || e.Get("metaKey").Bool() || takesKeys(e.Get("target")) {
			return
		}
		e.Call("preventDefault") // no scrolling
		w.held[k] = true
		if !e.Get("repeat").Bool() {
			w.hit[k] = true
		}
	})
	w.listen(page, "keyup", func(e js.Value) {
		if k, known := keyOf(e.Get("code").String()); known {
			w.held[k] = false
		}
	})
	// Keys released while another window has the focus would stay down.
	w.listen(page, "blur", func(js.Value) { w.held, w.fingers, w.away = [Keys]bool{}, nil, true })
	w.listen(page, "focus", func(js.Value) { w.away = false })
}

// takesKeys reports whether an element of the page needs keys itself.
func takesKeys(element js.Value) bool {
	return slices.Contains([]string{"INPUT", "SELECT", "TEXTAREA", "BUTTON"}, element.Get("tagName").String())
}

func (w *windowState) listenToPointer() {
	of := func(e js.Value) (f finger, i int) {
		f = finger{e.Get("pointerId").Int(), e.Get("offsetX").Float(), e.Get("offsetY").Float()}
		return f, slices.IndexFunc(w.fingers, func(g finger) bool { return g.id == f.id })
	}
	w.listen(w.canvas, "pointerdown", func(e js.Value) {
		f, i := of(e)
		if i >= 0 {
			return
		}
		if w.fingers = append(w.fingers, f); len(w.fingers) == 1 {
			w.x, w.y, w.clicked = f.x, f.y, true
		}
		w.pinched = len(w.fingers) > 1
		w.canvas.Call("setPointerCapture", f.id)
		w.canvas.Call("focus")
	})
	w.listen(w.canvas, "pointermove", func(e js.Value) {
		f, i := of(e)
		before := w.fingerDistance()
		if i >= 0 {
			w.fingers[i] = f
		}
		if len(w.fingers) < 2 {
			w.x, w.y = f.x, f.y
		} else if after := w.fingerDistance(); before > 0 && after > 0 {
			w.scroll += math.Log(after/before) / math.Log(zoomStep)
		}
	})
	up := func(e js.Value) {
		if _, i := of(e); i >= 0 {
			w.fingers = slices.Delete(w.fingers, i, i+1)
		}
	}
	w.listen(w.canvas, "pointerup", up)
	w.listen(w.canvas, "pointercancel", up)
	w.listen(w.canvas, "contextmenu", func(e js.Value) { e.Call("preventDefault") })
	w.listen(w.canvas, "wheel", func(e js.Value) {
		e.Call("preventDefault")
		notch := 100.0 // pixels
		if e.Get("deltaMode").Int() != 0 {
			notch = 3 // lines
		}
		w.scroll -= e.Get("deltaY").Float() / notch
	})
}

// size sets the canvas to one pixel per unit of the page, so that text keeps its size on fine
// screens, and returns its size: 16 to 8192 each way.
func (w *windowState) size() (int, int) {
	fit := func(side, client string) int {
		n := min(max(w.canvas.Get(client).Int(), smallest), 8192)
		if w.canvas.Get(side).Int() != n {
			w.canvas.Set(side, n)
		}
		return n
	}
	return fit("width", "clientWidth"), fit("height", "clientHeight")
}

// scale returns the pixels of the picture per unit of the pointer's position.
func (w *windowState) scale() float64 { return 1 }

func (w *windowState) pointer() (x, y float64, down bool) {
	down = len(w.fingers) == 1 && !w.pinched || w.clicked
	w.clicked = false
	return w.x, w.y, down
}

// fingerDistance returns the distance of two fingers, 0 for fewer. Spreading them zooms.
func (w *windowState) fingerDistance() float64 {
	if len(w.fingers) < 2 {
		return 0
	}
	a, b := w.fingers[0], w.fingers[1]
	return math.Hypot(a.x-b.x, a.y-b.y)
}

// poll does nothing: the browser calls our listeners.
func (w *windowState) poll() {}

// hidden returns false: a hidden page gets no animation frames.
func (w *windowState) hidden() bool { return false }

// closing returns false: the browser closes pages.
func (w *windowState) closing() bool { return false }

// show does nothing: the browser shows the canvas when the program waits.
func (w *windowState) show() {}

func (w *windowState) close() {
	for _, l := range w.listeners {
		l.target.Call("removeEventListener", l.event, l.f)
		l.f.Release()
	}
}

// keyOf translates the browser's key codes, which name places.
func keyOf(code string) (Key, bool) {
	switch {
	case len(code) == 4 && code[:3] == "Key" && code[3] >= 'A' && code[3] <= 'Z':
		return Letter(code[3]), true
	case len(code) == 6 && code[:5] == "Digit" && code[5] >= '0' && code[5] <= '9':
		return Digit(int(code[5] - '0')), true
	case len(code) == 2 && code[0] == 'F' && code[1] >= '1' && code[1] <= '8':
		return KeyF1 + Key(code[1]-'1'), true
	}
	key, ok := browserKeys[code]
	return key, ok
}

var browserKeys = map[string]Key{
	"Tab": KeyTab, "ArrowUp": KeyUp, "ArrowDown": KeyDown, "ArrowLeft": KeyLeft, "ArrowRight": KeyRight, "Space": KeySpace,
	"ShiftLeft": KeyShift, "ShiftRight": KeyShift, "Escape": KeyEscape, "Comma": KeyComma, "Period": KeyPeriod, "Home": KeyHome,
}

// displayGone reports whether the browser has taken the graphics away, after a driver's failure or
// for lack of memory. It may give them back to another stage.
func displayGone() bool { return gl.Lost() }

const goneMessage = "stage: the browser has taken the graphics away"
