package hud

import (
	"slices"

	"mannequin/engine/m3"
)

// Panel is a set of sliders and buttons that change a scene, for any device. Zero is empty.
type Panel struct {
	Title    string
	Sliders  []Slider
	Selected int // the slider that Touch.Move moves
	Buttons  []Button
}

// Slider is a value that the player chooses from a range.
type Slider struct {
	Label    string
	Value    float32 // may be outside the range if the scene set it
	Min, Max float32 // the player's range, Min < Max
	Whole    bool    // the value is a whole number
}

// Button is an action that runs once each time it is pressed.
type Button struct {
	Label string
	Key   byte // capital letter that also presses it; unique, and not F, H or P, which the window uses
	Lit   bool // what it switches is on
	Off   bool // disabled
}

// Touch is the player's input to a panel during one tick. The zero value changes nothing.
type Touch struct {
	Set    bool    // puts a slider at a value, and selects it
	Slider int     // index of the slider to set
	Value  float32 // value to set
	Select int     // moves the selection down by this many sliders, up if negative
	Move   float32 // moves the selected slider, right + and left −; in [−1, 1] of its top speed
	Press  byte    // key of the button to press; 0 is none
}

// sweep is the number of ticks, 1/60 s each, in which a slider crosses its range at top speed.
const sweep = 2 * 60

// Turn applies t to the sliders: it selects one, and changes its value within its range. It returns
// the changed slider's index or −1. Unknown sliders and values that are not finite are ignored.
func (p *Panel) Turn(t Touch) (changed int) {
	n := len(p.Sliders)
	if n == 0 {
		return -1
	}
	p.Selected = min(max(p.Selected+t.Select, 0), n-1)
	value := p.Sliders[p.Selected].Value
	switch {
	case t.Set && t.Slider >= 0 && t.Slider < n:
		p.Selected, value = t.Slider, t.Value
	case t.Move != 0:
		s := p.Sliders[p.Selected]
		value += t.Move * (s.Max - s.Min) / sweep
	default:
		return -1
	}
	s := &p.Sliders[p.Selected]
	value = m3.Clamp(value, s.Min, s.Max)
	if !m3.Finite(value) || value == s.Value {
		return -1
	}
	s.Value = value
	return p.Selected
}

// Pressed returns the key of the button that t presses, 0 if there is none or it is disabled.
func (p *Panel) Pressed(t Touch) byte {
	for _, b := range p.Buttons {
		if b.Key == t.Press && !b.Off {
			return b.Key
		}
	}
	return 0
}

// Copy makes p equal to src. The slices of p are its own and are reused.
func (p *Panel) Copy(src *Panel) {
	p.Title, p.Selected = src.Title, src.Selected
	p.Sliders, p.Buttons = append(p.Sliders[:0], src.Sliders...), append(p.Buttons[:0], src.Buttons...)
}

// Equal reports whether p and q show the same.
func (p *Panel) Equal(q *Panel) bool {
	return p.Title == q.Title && p.Selected == q.Selected && slices.Equal(p.Sliders, q.Sliders) && slices.Equal(p.Buttons, q.Buttons)
}

// Empty reports whether there is nothing to show.
func (p *Panel) Empty() bool { return len(p.Sliders) == 0 && len(p.Buttons) == 0 }
