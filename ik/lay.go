package ik

import "mannequin/engine/m3"

// lay lifts what of a chain, a tail or a head, dips into the terrain, bone by
// bone. The bones below a lifted one keep their directions: turning with it, they
// would flip up. None of them jumps: went tells where they went.
func (s *Legged) lay(m []m3.Xform, chain []int, went *[maxChain]glide) {
	for i := 1; i < len(chain); i++ {
		a, b := chain[i-1], chain[i]
		was := m[a].Rot
		along := m[chain[len(chain)-1]].Pos.Sub(m[chain[0]].Pos)
		if g := &went[i-1]; g.seen > 0 {
			along = g.out.Sub(m[a].Pos)
		}
		if s.raise(m, a, b, along) && i+1 < len(chain) {
			s.Rig.Tree.turn(m, b, was.Mul(m[a].Rot.Conj()))
		}
	}
	for i := 1; i < len(chain); i++ {
		s.calm(m, chain[i-1], chain[i], &went[i-1], wag)
	}
}

// raise turns joint a until its descendant b is gap above the terrain, if it was
// lower, and reports whether it did. From the heading along, b sweeps to its own no
// faster than a tail does: the heading of a bone that points straight down means
// nothing, and the way to another side is over the ground, not through it.
func (s *Legged) raise(m []m3.Xform, a, b int, along m3.Vec3) bool {
	const sweep = 5 // radians per second
	raised := false
	// The terrain under b changes as b moves; the second pass sees to that.
	for range 2 {
		p, from := m[b].Pos, m[a].Pos
		y := s.soil(p.X, p.Z) + gap
		if p.Y >= y {
			break
		}
		d := p.Sub(from)
		yaw := m3.YawOf(along)
		yaw += m3.Clamp(m3.WrapAngle(m3.YawOf(d)-yaw), -sweep*s.DT, sweep*s.DT)
		s.Rig.Tree.aim(m, a, p, from.Add(tilt(d, y-from.Y, m3.V(m3.Sin(yaw), 0, m3.Cos(yaw)))), 1)
		raised = true
	}
	return raised
}

// tilt returns a vector as long as d that rises by rise, as far as it can, in
// the direction heading over the ground.
func tilt(d m3.Vec3, rise float32, heading m3.Vec3) m3.Vec3 {
	length := d.Len()
	rise = m3.Clamp(rise, -length, length)
	to := heading.Flat().Normalize(m3.V(0, 0, -1)).Scale(m3.Sqrt(length*length - rise*rise))
	to.Y = rise
	return to
}
