package generator

import "mannequin/engine/m3"

// Walls is what agents cannot walk through. A game fulfils it with its own physics, for instance with
// the sweep of its character controller; control.Obstacles comes with the library.
//
// Slide is called several times for each agent and tick, from several goroutines at once. It must not
// allocate, and must return the same for the same arguments during one tick.
type Walls interface {
	// Slide returns where a circle of a radius comes to on the ground that is at from and moves toward
	// to: it stops at walls and slides along them. Places are in world space, m.
	Slide(from, to m3.Vec3, radius float32) m3.Vec3
}

// Walled is a Generator that plans motion along walls.
type Walled interface {
	// SetWalls gives it the walls around its rows. The crowd changes their spaces between ticks.
	SetWalls(walls Surroundings)
}

// Surroundings are the walls around the rows of a generator. The zero value has none.
type Surroundings struct {
	Walls  Walls   // nil: there are none
	Body   []Disc  // the room of an agent's body
	Spaces []Space // (capacity) the rows' own spaces
}

// Space is the space in which an agent is simulated. Its axes are the world's.
type Space struct {
	Origin m3.Vec3 // world space, m
	Unit   float32 // of its lengths, m: an agent of another size than its generator's skeleton has another than 1
}

// Out returns a place of the space in world space.
func (s *Space) Out(p m3.Vec3) m3.Vec3 { return p.Scale(s.Unit).Add(s.Origin) }

// In returns a place of world space in the space.
func (s *Space) In(p m3.Vec3) m3.Vec3 { return p.Sub(s.Origin).Scale(1 / s.Unit) }

// Disc is a circle of the room that a body takes. It moves and turns with the root.
type Disc struct {
	Ahead  float32 // of its middle from the root, m
	Radius float32 // m
}

// Slide returns by how much walls push a row aside that moves from one root to another: so far that all discs
// of its body are outside. Roots, body and result are in the agent's own space.
func (s *Surroundings) Slide(row int, from, to m3.Xform) (by m3.Vec3) {
	if s.Walls == nil {
		return m3.Vec3{}
	}
	space := &s.Spaces[row]
	const (
		rounds = 3    // a push out of one wall may lead into another
		least  = 1e-4 // m; a shorter push is rounding, and its direction means nothing
	)
	for range rounds {
		var most m3.Vec3
		for _, d := range s.Body {
			a := space.Out(from.Pos.Add(from.Rot.Forward().Scale(d.Ahead)))
			b := space.Out(to.Pos.Add(to.Rot.Forward().Scale(d.Ahead)).Add(by))
			push := s.Walls.Slide(a, b, d.Radius*space.Unit).Sub(b).Flat().Scale(1 / space.Unit)
			if push.Finite() && push.Len() > max(most.Len(), least) {
				most = push
			}
		}
		if most == (m3.Vec3{}) {
			break
		}
		by = by.Add(most)
	}
	return by
}
