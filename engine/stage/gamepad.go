package stage

import (
	"strings"
	"unicode"

	"mannequin/engine/m3"
)

// Gamepad is the user's input from gamepads, laid out as an Xbox controller. Sticks, triggers and
// Held are of the gamepad used last, Hit is of all. The zero value is no input.
type Gamepad struct {
	Connected int // number of gamepads

	Left, Right Stick
	LT, RT      float32 // triggers, in [0, 1]
	Held        [Buttons]bool
	Hit         [Buttons]bool // pressed since the last Poll
}

// Stick is the position of a stick in the unit disc, without its dead zone.
type Stick struct{ X, Y float32 } // right +, away from the player +

// Button is a button of a gamepad, named by its place on an Xbox controller.
type Button int

// The buttons, in glfw's order.
const (
	ButtonA  Button = iota // bottom of the four
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
	Buttons // number of buttons
)

// Dead zones, and the deflections that count as full, of 1: sticks at rest are off the middle,
// and most do not reach the rim in every direction.
const (
	deadLeft, deadRight, deadTrigger = 0.22, 0.24, 0.12
	fullStick, fullTrigger           = 0.95, 0.97
)

// stickValue removes the dead zone of a stick at (x, y), equally in all directions.
func stickValue(x, y, dead float32) Stick {
	r := m3.Sqrt(x*x + y*y)
	if !(r > dead) || !m3.Finite(r) {
		return Stick{}
	}
	s := min((r-dead)/(fullStick-dead), 1) / r
	return Stick{x * s, y * s}
}

// triggerValue removes the dead zone of a trigger, which rests at −1.
func triggerValue(v float32) float32 {
	if v = (v + 1) / 2; !(v > deadTrigger) {
		return 0
	}
	return min((v-deadTrigger)/(fullTrigger-deadTrigger), 1)
}

// maxJoysticks is the number of devices that are read, glfw's maximum.
const maxJoysticks = 16

// joysticks reads the devices of the system.
type joysticks interface {
	// read reports whether a slot below maxJoysticks has a device, and whether the device is
	// mapped as a gamepad. r is valid only if it is mapped.
	read(slot int, r *reading) (present, mapped bool)
	// name returns the name of the device in the slot.
	name(slot int) string
}

// reading is a gamepad's state: axes in [−1, 1], down and right positive, triggers at rest at −1.
type reading struct {
	axes    [6]float32
	buttons [Buttons]bool
}

// gamepads tracks devices from Poll to Poll.
type gamepads struct {
	slots [maxJoysticks]gamepad
	last  int // slot of the gamepad used last
}

// gamepad is one slot, as of the last Poll.
type gamepad struct {
	present, mapped bool
	name            string
	now             Gamepad
}

// poll reads all devices, and appends a line to notices for each one that came or went.
func (g *gamepads) poll(from joysticks, notices []string) (Gamepad, []string) {
	var sum Gamepad
	used := -1
	for i := range g.slots {
		p := &g.slots[i]
		var r reading
		present, mapped := from.read(i, &r)
		if present != p.present || mapped != p.mapped {
			notices = p.plug(i, present, mapped, from, notices)
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
	} else if g.slots[g.last].now.idle() {
		// An idle gamepad yields to one that is in use.
		for i := range g.slots {
			if !g.slots[i].now.idle() {
				g.last = i
				break
			}
		}
	}
	now := g.slots[g.last].now
	now.Connected, now.Hit = sum.Connected, sum.Hit
	return now, notices
}

// plug records that the device in slot i came or went. Nothing is held on it.
func (p *gamepad) plug(i int, present, mapped bool, from joysticks, notices []string) []string {
	if p.mapped {
		notices = append(notices, "gamepad unplugged: "+p.name)
	}
	*p = gamepad{present: present, mapped: mapped}
	if !present {
		return notices
	}
	if p.name = cleanName(from.name(i)); mapped {
		return append(notices, "gamepad connected: "+p.name)
	}
	return append(notices, "joystick without a gamepad mapping: "+p.name)
}

func cleanName(name string) string {
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

// update takes a reading, and reports whether the user began to use the gamepad.
func (p *gamepad) update(r *reading) bool {
	was := p.now
	p.now = Gamepad{
		Left: stickValue(r.axes[0], -r.axes[1], deadLeft), Right: stickValue(r.axes[2], -r.axes[3], deadRight),
		LT: triggerValue(r.axes[4]), RT: triggerValue(r.axes[5]), Held: r.buttons,
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

func (p *Gamepad) idle() bool {
	return p.Left == Stick{} && p.Right == Stick{} && p.LT == 0 && p.RT == 0 && p.Held == [Buttons]bool{}
}
