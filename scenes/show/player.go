package show

import (
	"slices"

	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/engine/stage"
	"mannequin/scenes"
)

// player turns the user's input into the input of ticks, independent of how many polls a tick has.
// A held key counts while it is held and for at least one tick. A press counts once, in order.
type player struct {
	now     stage.Controls      // as of the last poll
	keys    [stage.Keys]bool    // pressed since the last tick
	buttons [stage.Buttons]bool // the same for gamepads
	gaits   queue[scenes.Gait]  // requested, not yet passed to a tick
	touches queue[hud.Touch]    // the same; each presses a button or sets a slider
	selects int                 // slider selections downwards
	byPad   bool                // the last input came from a gamepad
}

// queue holds input until a tick takes it, in order.
type queue[T any] []T

// maxWaiting limits a queue, for input during a long pause.
const maxWaiting = 64

func (q *queue[T]) put(v T) {
	if len(*q) < maxWaiting {
		*q = append(*q, v)
	}
}

// take removes and returns the first value, the zero value if the queue is empty.
func (q *queue[T]) take() (v T) {
	if len(*q) > 0 {
		v = (*q)[0]
		*q = append((*q)[:0], (*q)[1:]...)
	}
	return v
}

// observe records the user's input. panel is the scene's panel as shown.
func (p *player) observe(c stage.Controls, panel *hud.Panel) {
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

// touch records input to a panel.
func (p *player) touch(c stage.Controls, panel *hud.Panel) {
	if t := c.Touch; t.Set {
		// Only the last position of a dragged slider counts.
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

// input returns the input of one tick. view is the yaw of the camera and heading the yaw of the
// character, in radians. inWorld is that of the scene's frame.
func (p *player) input(view, heading float32, inWorld bool) scenes.Input {
	key := func(keys ...stage.Key) bool {
		return slices.ContainsFunc(keys, func(k stage.Key) bool { return p.now.Held[k] || p.keys[k] })
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
	left := axis(key(stage.Letter('A'), stage.KeyLeft), key(stage.Letter('D'), stage.KeyRight))
	ahead := axis(key(stage.Letter('W'), stage.KeyUp), key(stage.Letter('S'), stage.KeyDown))
	forward, turn := steer(p.now.Gamepad.Left, view, heading)
	in := scenes.Input{
		Forward: m3.Clamp(axis(key(stage.Letter('W'), stage.KeyUp) || pad(stage.ButtonUp), key(stage.Letter('S'), stage.KeyDown) || pad(stage.ButtonDown))+forward, -1, 1),
		Turn:    m3.Clamp(left+turn, -1, 1),
		Side:    axis(key(stage.Letter('Q')) || pad(stage.ButtonLeft), key(stage.Letter('E')) || pad(stage.ButtonRight)),
		Gait:    p.gaits.take(),
		Sit:     key(stage.Letter('X')) || pad(stage.ButtonB),
		Lie:     key(stage.Letter('C')) || pad(stage.ButtonX),
		Stand:   key(stage.Letter('V')) || pad(stage.ButtonY),
		Jump:    key(stage.KeySpace) || pad(stage.ButtonA),
		Reset:   p.keys[stage.Letter('R')] || p.keys[stage.KeyHome] || p.buttons[stage.ButtonBack],
		Touch:   p.touches.take(),
	}
	if inWorld {
		stick := p.now.Gamepad.Left
		way := m3.V(m3.Clamp(left-stick.X, -1, 1), 0, m3.Clamp(ahead+stick.Y, -1, 1))
		way = m3.YawQuat(view).Rotate(way.Scale(1 / max(way.Len(), 1)))
		in.Forward, in.Side, in.Turn = way.Z, way.X, 0
		in.Lock = key(stage.Letter('Q')) || pad(stage.ButtonUp)
		for i, k := range ownKeys {
			if key(stage.Digit(k)) {
				in.Own = uint8(i + 1)
				break
			}
		}
		if pad(stage.ButtonRightStick) {
			in.Own = 1
		}
	}
	in.Touch.Select = p.selects
	in.Touch.Move = axis(key(stage.KeyRight) || pad(stage.ButtonRight), key(stage.KeyLeft) || pad(stage.ButtonLeft))
	p.keys, p.buttons, p.selects = [stage.Keys]bool{}, [stage.Buttons]bool{}, 0
	return in
}

// ownKeys are the digits of a character's own actions: those that no speed has.
var ownKeys = [...]int{5, 6, 7, 8, 9, 0}

// steer turns a character towards the direction of a stick on the screen, and moves it forward at a
// speed that depends on the stick's deflection. The stick never causes sidesteps, which are slow
// for a dog. Pulling the stick back turns the dog towards the camera instead of walking it
// backwards.
func steer(s stage.Stick, view, heading float32) (forward, turn float32) {
	if s == (stage.Stick{}) {
		return 0, 0
	}
	const (
		most  = 0.6  // rad off the direction at which the turn is fastest
		slack = 0.06 // rad: dead zone, about the sway of a walk
		least = 0.3  // share of the speed that is kept in a turn, so that the character turns in a bend
	)
	off := m3.WrapAngle(view - m3.Atan2(s.X, s.Y) - heading)
	turn = m3.Clamp((off-m3.Clamp(off, -slack, slack))/most, -1, 1)
	return m3.Sqrt(s.X*s.X+s.Y*s.Y) * max(m3.Cos(off), least), turn
}
