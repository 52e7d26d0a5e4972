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
	// SetWalls gives it the walls, the room of an agent's body, and the origins of the rows' spaces,
	// (capacity), world space, which the crowd changes between ticks.
	SetWalls(walls Walls, body []Disc, anchors []m3.Vec3)
}

// Disc is a circle of the room that a body takes. It moves and turns with the root.
type Disc struct {
	Ahead  float32 // of its middle from the root, m
	Radius float32 // m
}

// Slide returns by how much walls push an agent aside that moves from one root to another, m: so far
// that all discs of its body are outside. Roots are in a space with its origin at anchor, world space.
func Slide(walls Walls, body []Disc, from, to m3.Xform, anchor m3.Vec3) (by m3.Vec3) {
	if walls == nil {
		return m3.Vec3{}
	}
	const (
		rounds = 3    // a push out of one wall may lead into another
		least  = 1e-4 // m; a shorter push is rounding, and its direction means nothing
	)
	for range rounds {
		var most m3.Vec3
		for _, d := range body {
			a := from.Pos.Add(from.Rot.Forward().Scale(d.Ahead)).Add(anchor)
			b := to.Pos.Add(to.Rot.Forward().Scale(d.Ahead)).Add(by).Add(anchor)
			if push := walls.Slide(a, b, d.Radius).Sub(b).Flat(); push.Finite() && push.Len() > max(most.Len(), least) {
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
