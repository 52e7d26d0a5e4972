package scenes

import (
	"slices"

	"mannequin/engine/m3"
)

// Panel is the sliders and buttons by which a player changes a scene, apart from
// any device. The zero value has none.
type Panel struct {
	Title    string
	Sliders  []Slider
	Selected int // the slider that Touch.Move moves
	Buttons  []Button
}

// Slider is a value that the player chooses from a range.
type Slider struct {
	Label    string
	Value    float32 // where the scene has it, which may be beyond the range
	Min, Max float32 // that the player can choose from, Min < Max
	Whole    bool    // it is a whole number
}

// Button does something once each time it is pressed.
type Button struct {
	Label string
	Key   byte // the capital letter that presses it, too; no other button's, nor F, H and P, which are the window's
	Lit   bool // what it switches is on
	Off   bool // pressing it does nothing now
}

// Touch is what the player does to a scene's panel during one tick. The zero value
// is hands off.
type Touch struct {
	Set    bool    // a slider is put at a value, and selected
	Slider int     // which, where Set
	Value  float32 // where, where Set
	Select int     // which slider is selected: so many further down, or up where negative
	Move   float32 // the selected slider moves, right + and left −; in [−1, 1] of its fastest
	Press  byte    // the key of the button that is pressed; 0 is none
}

// sweep is how long a slider moves from one end to the other at its fastest, s.
const sweep = 2

// Turn does to the sliders what t says: it selects, and changes a value within its
// range. It returns the slider whose value is another now, or −1. A slider that is
// not there and a value that is not finite change nothing.
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
		value += t.Move * (s.Max - s.Min) / (sweep * TickRate)
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

// Pressed returns the key of the button that t presses, 0 where there is none or it
// is off.
func (p *Panel) Pressed(t Touch) byte {
	for _, b := range p.Buttons {
		if b.Key == t.Press && !b.Off {
			return b.Key
		}
	}
	return 0
}

// Copy makes p the same as src, with slices of its own, which it reuses.
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
