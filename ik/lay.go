package ik

import "mannequin/engine/m3"

// lay lifts what of a chain, a tail or a head, dips into the terrain, bone by
// bone. The bones below a lifted one keep their directions: turning with it, they
// would flip up. None of them jumps: went tells where they went.
func (s *Quadruped) lay(m []m3.Xform, chain []int, went *[maxChain]glide) {
	for i := 1; i < len(chain); i++ {
		a, b := chain[i-1], chain[i]
		was := m[a].Rot
		along := m[chain[len(chain)-1]].Pos.Sub(m[chain[0]].Pos).Flat().Normalize(m3.V(0, 0, -1))
		if s.raise(m, a, b, along) {
			s.Rig.Tree.turn(m, b, was.Mul(m[a].Rot.Conj()))
		}
	}
	for i := 1; i < len(chain); i++ {
		s.calm(m, chain[i-1], chain[i], &went[i-1], wag)
	}
}

// raise turns joint a until its descendant b is gap above the terrain, if
// it was lower, keeping b's heading from a, and reports whether it did. The
// deeper b was, the more its heading gives way to along: that of a bone which
// points straight down means nothing.
func (s *Quadruped) raise(m []m3.Xform, a, b int, along m3.Vec3) bool {
	raised := false
	// The terrain under b changes as b moves; the second pass sees to that.
	for range 2 {
		p, from := m[b].Pos, m[a].Pos
		y := s.Ground.Height(p.X, p.Z) + gap
		if p.Y >= y {
			break
		}
		d := p.Sub(from)
		s.Rig.Tree.aim(m, a, p, from.Add(tilt(d, y-from.Y, d.Flat().Add(along.Scale(y-p.Y)))), 1)
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
