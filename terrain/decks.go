package terrain

import (
	"fmt"
	"math"

	"mannequin/engine/m3"
	"mannequin/internal/cellgrid"
)

// Deck is a rectangle to stand on above other ground: a floor, a bridge, a step, a ramp, a platform
// that moves.
type Deck struct {
	At           m3.Vec3 // the middle of its top, m
	Yaw          float32 // heading of its depth, rad
	Width, Depth float32 // at right angles to the heading and along it, m; neither is 0
	Rise         float32 // height that it gains along the heading, per metre
	Thick        float32 // how far it goes down from its top, m: who stands lower walks under it
	Moved        m3.Vec3 // how far its middle has moved since the last tick, m: whoever stands on it goes along
	Turned       float32 // how far it has turned about its middle since the last tick, rad: whoever stands on it turns along
}

// MaxDeck bounds the sizes of a deck and its distance from the origin along X and Z, m.
const MaxDeck = 1 << 16

// Validate returns an error for the first rule that d breaks.
func (d *Deck) Validate() error {
	for _, v := range [...]float32{d.Width, d.Depth, d.Thick, m3.Abs(d.At.X), m3.Abs(d.At.Z)} {
		if !(v >= 0 && v <= MaxDeck) {
			return fmt.Errorf("terrain: the deck %+v: want sizes and places from 0 to %d m", *d, MaxDeck)
		}
	}
	if d.Width == 0 || d.Depth == 0 {
		return fmt.Errorf("terrain: the deck at %v has a width of %g m and a depth of %g m: nobody can stand on it", d.At, d.Width, d.Depth)
	}
	if !(m3.Abs(d.At.Y) <= MaxHeight) || !m3.Finite(d.Yaw) || !(m3.Abs(d.Rise) <= 10) || !d.Moved.Finite() || !m3.Finite(d.Turned) {
		return fmt.Errorf("terrain: the deck %+v: want finite numbers, a height of at most %g m, and a rise of at most 10", *d, float32(MaxHeight))
	}
	return nil
}

// stepUp is how much higher a deck may be than where an agent stands, m, so that it steps up.
const stepUp = 0.5

// Decks is ground with floors: an ik.Floors and an ik.TurningGround. An agent stands on the highest deck,
// or the ground below, whose bottom is at most half a metre higher than where it stands; if all are
// higher, on the lowest. Make the sides of thick decks walls by Edges. Queries may run on several
// goroutines at once, but not during Set.
type Decks struct {
	// Base is the ground below, for instance a Field; nil is level ground at height 0.
	Base interface {
		Height(x, z float32) float32
		Normal(x, z float32) m3.Vec3
	}

	decks []deck
	grid  cellgrid.Grid
}

// deck is a Deck with the sine and cosine of its heading.
type deck struct {
	Deck
	sin, cos float32
	turn     m3.Turn // about where its middle was
}

// Set replaces all decks, between ticks: call it before each tick in which decks move, and once more
// when they have stopped, with Moved and Turned 0. It allocates memory only to make room for more. An error names
// the first deck that is not valid, and then nothing has changed.
func (d *Decks) Set(all ...Deck) error {
	for i := range all {
		if err := all[i].Validate(); err != nil {
			return fmt.Errorf("deck %d: %w", i, err)
		}
	}
	d.decks = d.decks[:0]
	for _, k := range all {
		sin, cos := math.Sincos(float64(k.Yaw))
		d.decks = append(d.decks, deck{k, float32(sin), float32(cos), m3.TurnAbout(k.At.Sub(k.Moved), k.Turned)})
	}
	d.grid.Fill(len(d.decks), func(i int) (x0, z0, x1, z1 float32) {
		k := &d.decks[i]
		x := (m3.Abs(k.cos)*k.Width+m3.Abs(k.sin)*k.Depth)/2 + m3.Abs(k.Moved.X)
		z := (m3.Abs(k.sin)*k.Width+m3.Abs(k.cos)*k.Depth)/2 + m3.Abs(k.Moved.Z)
		if k.Turned != 0 { // it lay at another heading
			r := m3.V(k.Width, 0, k.Depth).Len() / 2
			x, z = r+m3.Abs(k.Moved.X), r+m3.Abs(k.Moved.Z)
		}
		return k.At.X - x, k.At.Z - z, k.At.X + x, k.At.Z + z
	})
	return nil
}

// height returns the height of the deck at (x, z), and whether it is there.
func (k *deck) height(x, z float32) (y float32, ok bool) {
	x, z = x-k.At.X, z-k.At.Z
	across, along := x*k.cos-z*k.sin, x*k.sin+z*k.cos
	return k.At.Y + k.Rise*along, 2*m3.Abs(across) <= k.Width && 2*m3.Abs(along) <= k.Depth
}

// carried returns how far the deck has moved what lay on it at (x, z) in the last tick, m.
func (k *deck) carried(x, z float32) m3.Vec3 {
	if k.Turned == 0 {
		return k.Moved
	}
	p := m3.V(x, 0, z)
	return k.turn.Point(p).Sub(p).Add(k.Moved)
}

// from returns the height and the deck on which an agent stands at (x, z) that stood at height y; nil
// is the base. before asks for where decks were in the last tick.
func (d *Decks) from(x, z, y float32, before bool) (at float32, on *deck) {
	if d.Base != nil {
		at = d.Base.Height(x, z)
	}
	reached := at <= y+stepUp
	for _, i := range d.grid.At(x, z) {
		k := &d.decks[i]
		var by m3.Vec3
		if before {
			by = k.carried(x, z)
		}
		h, ok := k.height(x+by.X, z+by.Z)
		if !ok {
			continue
		}
		h -= by.Y
		switch reach := h-k.Thick <= y+stepUp; {
		case reach && (!reached || h > at), !reach && !reached && h < at:
			at, on, reached = h, k, reach
		}
	}
	return at, on
}

// Height returns the height of the highest ground at (x, z), m.
func (d *Decks) Height(x, z float32) float32 { return d.HeightFrom(x, z, math.MaxFloat32) }

// Normal returns its upward unit normal.
func (d *Decks) Normal(x, z float32) m3.Vec3 { return d.NormalFrom(x, z, math.MaxFloat32) }

// HeightFrom returns the height of the ground at (x, z) for an agent that stands at height y near
// there, m.
func (d *Decks) HeightFrom(x, z, y float32) float32 {
	h, _ := d.from(x, z, y, false)
	return h
}

// NormalFrom returns its upward unit normal.
func (d *Decks) NormalFrom(x, z, y float32) m3.Vec3 {
	switch _, on := d.from(x, z, y, false); {
	case on != nil:
		return m3.V(-on.Rise*on.sin, 1, -on.Rise*on.cos).Normalize(m3.Up)
	case d.Base != nil:
		return d.Base.Normal(x, z)
	}
	return m3.Up
}

// Moved returns how far the deck on which an agent stood at p has moved that place since the last tick, m.
func (d *Decks) Moved(p m3.Vec3) m3.Vec3 {
	if _, on := d.from(p.X, p.Z, p.Y, true); on != nil {
		return on.carried(p.X, p.Z)
	}
	return m3.Vec3{}
}

// Turned returns by how much the deck on which an agent stood at p has turned since the last tick, rad.
func (d *Decks) Turned(p m3.Vec3) float32 {
	if _, on := d.from(p.X, p.Z, p.Y, true); on != nil {
		return on.Turned
	}
	return 0
}
