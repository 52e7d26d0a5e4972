package manifold

import (
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
)

// SetWalls makes all rows plan along walls; see [generator.Walled].
func (s *Stream) SetWalls(walls generator.Surroundings) { s.walls = walls }

// planned returns the frame up to which the window that begins at seam needs a way.
func (s *Stream) planned(seam int) int { return seam + s.hop + context + 1 + lookahead }

// lay plans the way of a row as far as a window needs it. It belongs to the tick, which alone may ask for walls.
func (s *Stream) lay(row int, w *orderWindow) {
	b := &s.bodies[w.seat]
	way, pace := s.way[int(w.seat)*s.ring:][:s.ring], s.pace[int(w.seat)*s.ring:][:s.ring]
	at := func(f int) waypoint { return way[f%s.ring].waypoint(pace[f%s.ring]) }
	if w.changed {
		b.laid = w.seam + join
		b.plan.follow(w.curve, at(b.laid-2), at(b.laid-1))
	}
	const (
		step  = 6   // frames from one question for walls to the next
		leave = 2.0 // m/s, of a body that comes out of a wall which it stands in
	)
	for end := s.planned(w.seam); b.laid < end; {
		first, last := b.laid, at(b.laid-1)
		var next waypoint
		for ; b.laid < min(first+step, end); b.laid++ {
			next = b.plan.next()
			way[b.laid%s.ring], pace[b.laid%s.ring] = next.kept()
		}
		if s.walls.Walls == nil {
			continue
		}
		from, to := last.root(), next.root()
		to.Pos = to.Pos.Sub(b.plan.touch())
		by := s.walls.Slide(row, from, to)
		if by == (m3.Vec3{}) {
			continue
		}
		if l, most := by.Len(), max(to.Pos.Dist(from.Pos), leave*step/Rate); l > most {
			by = by.Scale(most / l)
		}
		by = b.plan.meet(by)
		for f := first; f < b.laid; f++ {
			p, share := &way[f%s.ring], float32(f-first+1)/float32(b.laid-first)
			p.x, p.z = p.x+share*by.X, p.z+share*by.Z
		}
		pace[(b.laid-1)%s.ring] = b.plan.pace()
	}
}
