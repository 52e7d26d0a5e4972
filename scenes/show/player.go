package show

import (
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/engine/stage"
	"mannequin/scenes"
)

// player turns what the user does into the input of ticks. However many polls there
// are in a tick, or none: what is held counts while it is held and for a tick at least,
// and what is pressed once counts once, in order.
type player struct {
	now     stage.Controls      // as of the last poll
	keys    [stage.Keys]bool    // pressed since the last tick
	buttons [stage.Buttons]bool // the same, of gamepads
	gaits   queue[scenes.Gait]  // asked for, and not yet given to a tick
	touches queue[hud.Touch]    // the same: each presses a button or sets a slider
	selects int                 // sliders further down
	byPad   bool                // the last that was used is a gamepad
}

// queue is what waits for a tick, first come first served.
type queue[T any] []T

// maxWaiting is how much of a kind may wait: what somebody does in a long pause.
const maxWaiting = 64

func (q *queue[T]) put(v T) {
	if len(*q) < maxWaiting {
		*q = append(*q, v)
	}
}

// take returns the first, the zero value where there is none.
func (q *queue[T]) take() (v T) {
	if len(*q) > 0 {
		v = (*q)[0]
		*q = append((*q)[:0], (*q)[1:]...)
	}
	return v
}

// see takes note of what the user does, with the scene's panel as it is shown.
func (p *player) see(c stage.Controls, panel *hud.Panel) {
	p.now = c
	for k, hit := range c.Hit {
		p.keys[k] = p.keys[k] || hit
		p.byPad = p.byPad && !hit
	}
	for b, hit := range c.Gamepad.Hit {
		p.buttons[b] = p.buttons[b] || hit
		p.byPad = p.byPad || hit
	}
	if g := &c.Gamepad; g.Connected == 0 {
		p.byPad = false
	} else if g.Left != (stage.Stick{}) || g.Right != (stage.Stick{}) {
		p.byPad = true
	}
	for i, g := range [...]scenes.Gait{scenes.Walk, scenes.Pace, scenes.Trot, scenes.Canter} {
		if c.Hit[stage.Digit(i+1)] {
			p.gaits.put(g)
		}
	}
	if c.Gamepad.Hit[stage.ButtonLB] {
		p.gaits.put(scenes.Slower)
	}
	if c.Gamepad.Hit[stage.ButtonRB] {
		p.gaits.put(scenes.Faster)
	}
	p.touch(c, panel)
}

// touch takes note of what is done to a panel.
func (p *player) touch(c stage.Controls, panel *hud.Panel) {
	if t := c.Touch; t.Set {
		// A slider that is dragged goes where it was let go of.
		if n := len(p.touches); n > 0 && p.touches[n-1].Set && p.touches[n-1].Slider == t.Slider {
			p.touches[n-1].Value = t.Value
		} else {
			p.touches.put(hud.Touch{Set: true, Slider: t.Slider, Value: t.Value})
		}
	}
	if c.Touch.Press != 0 {
		p.touches.put(hud.Touch{Press: c.Touch.Press})
	}
	for _, b := range panel.Buttons {
		if c.Hit[stage.Letter(b.Key)] {
			p.touches.put(hud.Touch{Press: b.Key})
		}
	}
	if c.Hit[stage.KeyDown] || c.Gamepad.Hit[stage.ButtonDown] {
		p.selects++
	}
	if c.Hit[stage.KeyUp] || c.Gamepad.Hit[stage.ButtonUp] {
		p.selects--
	}
}

// input returns the input of one tick. view is where the camera looks and heading where
// the character does, yaws in radians.
func (p *player) input(view, heading float32) scenes.Input {
	key := func(keys ...stage.Key) bool {
		for _, k := range keys {
			if p.now.Held[k] || p.keys[k] {
				return true
			}
		}
		return false
	}
	pad := func(b stage.Button) bool { return p.now.Gamepad.Held[b] || p.buttons[b] }
	axis := func(plus, minus bool) float32 {
		switch {
		case plus && !minus:
			return 1
		case minus && !plus:
			return -1
		}
		return 0
	}
	forward, turn := steer(p.now.Gamepad.Left, view, heading)
	in := scenes.Input{
		Forward: m3.Clamp(axis(key(stage.Letter('W'), stage.KeyUp) || pad(stage.ButtonUp), key(stage.Letter('S'), stage.KeyDown) || pad(stage.ButtonDown))+forward, -1, 1),
		Turn:    m3.Clamp(axis(key(stage.Letter('A'), stage.KeyLeft), key(stage.Letter('D'), stage.KeyRight))+turn, -1, 1),
		Side:    axis(key(stage.Letter('Q')) || pad(stage.ButtonLeft), key(stage.Letter('E')) || pad(stage.ButtonRight)),
		Gait:    p.gaits.take(),
		Sit:     key(stage.Letter('X')) || pad(stage.ButtonB),
		Lie:     key(stage.Letter('C')) || pad(stage.ButtonX),
		Stand:   key(stage.Letter('V')) || pad(stage.ButtonY),
		Jump:    key(stage.KeySpace) || pad(stage.ButtonA),
		Reset:   p.keys[stage.Letter('R')] || p.keys[stage.KeyHome] || p.buttons[stage.ButtonBack],
		Touch:   p.touches.take(),
	}
	in.Touch.Select = p.selects
	in.Touch.Move = axis(key(stage.KeyRight) || pad(stage.ButtonRight), key(stage.KeyLeft) || pad(stage.ButtonLeft))
	p.keys, p.buttons, p.selects = [stage.Keys]bool{}, [stage.Buttons]bool{}, 0
	return in
}

// steer has a character go where a stick points on the screen: it turns there, and goes
// ahead the faster the farther the stick is out. A dog goes where it looks, sidesteps are
// slow: so the stick does not move it aside. And a player watches the screen, not the
// dog's nose: pulled back, the dog comes to the camera instead of walking backwards
// blindly, however the camera stands.
func steer(s stage.Stick, view, heading float32) (forward, turn float32) {
	if s == (stage.Stick{}) {
		return 0, 0
	}
	const (
		most  = 0.6  // rad off where it is to go: it turns as fast as it can
		slack = 0.06 // rad: it sways by as much as it walks
		least = 0.3  // of the speed: it goes while it turns around, in a bend, not on the spot
	)
	off := m3.WrapAngle(view - m3.Atan2(s.X, s.Y) - heading)
	turn = m3.Clamp((off-m3.Clamp(off, -slack, slack))/most, -1, 1)
	return m3.Sqrt(s.X*s.X+s.Y*s.Y) * max(m3.Cos(off), least), turn
}
