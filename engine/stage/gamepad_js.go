package stage

import "syscall/js"

// browserJoysticks are the browser's devices, with its numbers.
type browserJoysticks struct{ slots js.Value }

func (w *windowState) joysticks() joysticks {
	n := js.Global().Get("navigator")
	if n.Get("getGamepads").IsUndefined() { // an untrusted page has none
		return browserJoysticks{js.Global().Get("Array").New()}
	}
	return browserJoysticks{n.Call("getGamepads")}
}

// standard maps our buttons to the browser's standard layout.
var standard = [Buttons]int{
	ButtonA: 0, ButtonB: 1, ButtonX: 2, ButtonY: 3, ButtonLB: 4, ButtonRB: 5, ButtonBack: 8, ButtonStart: 9, ButtonLeftStick: 10,
	ButtonRightStick: 11, ButtonUp: 12, ButtonDown: 13, ButtonLeft: 14, ButtonRight: 15, ButtonGuide: 16,
}

func (p browserJoysticks) read(slot int, r *reading) (present, mapped bool) {
	pad := p.slots.Index(slot)
	if !pad.Truthy() {
		return false, false
	}
	axes, buttons := pad.Get("axes"), pad.Get("buttons")
	if pad.Get("mapping").String() != "standard" || axes.Length() < 4 || buttons.Length() < 16 {
		return true, false
	}
	for i := range 4 {
		r.axes[i] = float32(axes.Index(i).Float())
	}
	for i, trigger := range []int{6, 7} { // buttons here, from 0 to 1
		r.axes[4+i] = float32(2*buttons.Index(trigger).Get("value").Float() - 1)
	}
	for b, at := range standard {
		r.buttons[b] = at < buttons.Length() && buttons.Index(at).Get("pressed").Bool()
	}
	return true, true
}

func (p browserJoysticks) name(slot int) string { return p.slots.Index(slot).Get("id").String() }
