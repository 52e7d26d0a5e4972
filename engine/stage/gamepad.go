package stage

import (
	"strings"
	"unicode"

	"mannequin/engine/m3"
)

// Gamepad is what the user does to gamepads, laid out like an Xbox controller's.
// Several may be connected: sticks, triggers and Held are those of the one that was
// used last, Hit is of all. The zero value is hands off.
type Gamepad struct {
	Connected int // how many there are

	Left, Right Stick
	LT, RT      float32 // triggers, in [0, 1]
	Held        [Buttons]bool
	Hit         [Buttons]bool // pressed since the last Poll
}

// Stick is where a thumb has a stick, in the unit disc, its dead zone taken off.
type Stick struct{ X, Y float32 } // right +, away from the player +

// Button is a button of a gamepad, by its place on an Xbox controller.
type Button int

// The buttons, in glfw's order.
const (
	ButtonA  Button = iota // at the bottom of four
	ButtonB                // right
	ButtonX                // left
	ButtonY                // top
	ButtonLB               // bumpers
	ButtonRB
	ButtonBack
	ButtonStart
	ButtonGuide
	ButtonLeftStick // pressed
	ButtonRightStick
	ButtonUp // of the cross
	ButtonRight
	ButtonDown
	ButtonLeft
	Buttons // how many there are
)

// Dead zones, and where a stick or a trigger counts as all the way, of 1: thumbs leave
// sticks off the middle, and most never reach the rim in every direction.
const (
	deadLeft, deadRight, deadTrigger = 0.22, 0.24, 0.12
	fullStick, fullTrigger           = 0.95, 0.97
)

// radial takes the dead zone off a stick at (x, y), the same in all directions.
func radial(x, y, dead float32) Stick {
	r := m3.Sqrt(x*x + y*y)
	if !(r > dead) || !m3.Finite(r) {
		return Stick{}
	}
	s := min((r-dead)/(fullStick-dead), 1) / r
	return Stick{x * s, y * s}
}

// squeeze takes the dead zone off a trigger, which lies at −1.
func squeeze(v float32) float32 {
	if v = (v + 1) / 2; !(v > deadTrigger) {
		return 0
	}
	return min((v-deadTrigger)/(fullTrigger-deadTrigger), 1)
}

// maxJoysticks is how many devices are looked at, as many as glfw knows.
const maxJoysticks = 16

// joysticks are the devices as the system reads them.
type joysticks interface {
	// read reports whether there is a device in a slot below maxJoysticks. mapped
	// tells whether it is known to be a gamepad; only then r holds what is done to it.
	read(slot int, r *reading) (present, mapped bool)
	// name returns that of the device in the slot.
	name(slot int) string
}

// reading is a gamepad as it is read: axes in [−1, 1] in glfw's order, down and right
// positive, triggers from −1.
type reading struct {
	axes    [6]float32
	buttons [Buttons]bool
}

// gamepads follows devices from Poll to Poll.
type gamepads struct {
	slots [maxJoysticks]gamepad
	last  int // the slot of the gamepad that was used last
}

// gamepad is one slot, as of the last Poll.
type gamepad struct {
	present, mapped bool
	name            string
	now             Gamepad
}

// poll reads all devices. It returns what is done to gamepads, and appends to news a
// line for each device that has come or gone.
func (g *gamepads) poll(from joysticks, news []string) (Gamepad, []string) {
	var sum Gamepad
	used := -1
	for i := range g.slots {
		p := &g.slots[i]
		var r reading
		present, mapped := from.read(i, &r)
		if present != p.present || mapped != p.mapped {
			news = p.plug(i, present, mapped, from, news)
		}
		if !mapped {
			continue
		}
		sum.Connected++
		if p.update(&r) {
			used = i
		}
		for b, hit := range p.now.Hit {
			sum.Hit[b] = sum.Hit[b] || hit
		}
	}
	if used >= 0 {
		g.last = used
	} else if g.slots[g.last].now.rests() {
		// Who lets go leaves it to who still holds something.
		for i := range g.slots {
			if !g.slots[i].now.rests() {
				g.last = i
				break
			}
		}
	}
	now := g.slots[g.last].now
	now.Connected, now.Hit = sum.Connected, sum.Hit
	return now, news
}

// plug takes note that the device in slot i has come or gone: nothing is held on it.
func (p *gamepad) plug(i int, present, mapped bool, from joysticks, news []string) []string {
	if p.mapped {
		news = append(news, "gamepad unplugged: "+p.name)
	}
	*p = gamepad{present: present, mapped: mapped}
	if !present {
		return news
	}
	if p.name = tidy(from.name(i)); mapped {
		return append(news, "gamepad connected: "+p.name)
	}
	return append(news, "joystick without a gamepad mapping: "+p.name)
}

// tidy makes what a device calls itself fit for a line.
func tidy(name string) string {
	const longest = 32
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name))
	if r := []rune(name); len(r) > longest {
		name = string(r[:longest-1]) + "…"
	}
	if name == "" {
		return "without a name"
	}
	return name
}

// update takes a reading, and reports whether the user has begun to do something.
func (p *gamepad) update(r *reading) bool {
	was := p.now
	p.now = Gamepad{
		Left: radial(r.axes[0], -r.axes[1], deadLeft), Right: radial(r.axes[2], -r.axes[3], deadRight),
		LT: squeeze(r.axes[4]), RT: squeeze(r.axes[5]), Held: r.buttons,
	}
	begun := false
	for b, held := range p.now.Held {
		p.now.Hit[b] = held && !was.Held[b]
		begun = begun || p.now.Hit[b]
	}
	began := func(was, is bool) bool { return is && !was }
	return begun || began(was.Left != Stick{}, p.now.Left != Stick{}) || began(was.Right != Stick{}, p.now.Right != Stick{}) ||
		began(was.LT > 0, p.now.LT > 0) || began(was.RT > 0, p.now.RT > 0)
}

// rests reports whether nothing is held.
func (p *Gamepad) rests() bool {
	return p.Left == Stick{} && p.Right == Stick{} && p.LT == 0 && p.RT == 0 && p.Held == [Buttons]bool{}
}
