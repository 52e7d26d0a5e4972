package manifold

import "mannequin/engine/m3"

// Shift moves all places of a row; see [generator.Generator].
func (s *Stream) Shift(row int, by m3.Vec3) {
	b := &s.bodies[s.seat[row]]
	b.curve.Shift(by)
	b.base = b.base.Add(by)
}

// rebase moves the frames of a seat by what they lack. No window of it is being made.
func (s *Stream) rebase(seat int32) {
	b := &s.bodies[seat]
	by := b.base
	if by == (m3.Vec3{}) {
		return
	}
	b.base = m3.Vec3{}
	for i := int(seat) * s.ring; i < (int(seat)+1)*s.ring; i++ {
		p, w := &s.place[i], &s.way[i]
		p.x, p.z, w.x, w.z = p.x+by.X, p.z+by.Z, w.x+by.X, w.z+by.Z
	}
	b.went.Shift(by)
	if p := &b.plan; p.curve.Path != nil {
		p.curve.Shift(by)
	} else { // its offset is the place itself
		p.offset[0], p.offset[1] = p.offset[0]+float64(by.X), p.offset[1]+float64(by.Z)
	}
}
