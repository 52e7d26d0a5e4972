package ik

import "mannequin/engine/m3"

// maxTailAccel bounds the acceleration of the joints of tail and head, m/s².
const maxTailAccel = 60

// maxTailSweep bounds how fast a lifted bone's heading turns, rad/s. The heading of a bone that
// points straight down means nothing, and to the other side it must swing over the ground, not
// through it.
const maxTailSweep = 5

// liftChain lifts the bones of a chain, a tail or a head, that dip into the terrain. The bones
// below a lifted one keep their directions: if they turned with it, they would flip up. The limits
// keep joints from jumping.
func (s *Legged) liftChain(m []m3.Xform, chain []int, limits *[maxChain]limiter) {
	for i := 1; i < len(chain); i++ {
		a, b := chain[i-1], chain[i]
		was := m[a].Rot
		along := m[chain[len(chain)-1]].Pos.Sub(m[chain[0]].Pos)
		if l := &limits[i-1]; l.seen > 0 {
			along = l.out.Sub(m[a].Pos)
		}
		if s.lift(m, a, b, along) && i+1 < len(chain) {
			s.Rig.Tree.turn(m, b, was.Mul(m[a].Rot.Conj()))
		}
	}
	for i := 1; i < len(chain); i++ {
		s.limitAcceleration(m, chain[i-1], chain[i], &limits[i-1], maxTailAccel)
	}
}

// lift turns joint a until its descendant b is Clearance above the terrain, and reports whether it
// turned. The bone's heading goes from along toward its own by at most maxTailSweep.
func (s *Legged) lift(m []m3.Xform, a, b int, along m3.Vec3) bool {
	lifted := false
	// The terrain under b changes as b moves; the second pass corrects for that.
	for range 2 {
		p, from := m[b].Pos, m[a].Pos
		y := s.groundHeight(p.X, p.Z) + s.Clearance
		if p.Y >= y {
			break
		}
		d := p.Sub(from)
		yaw := m3.YawOf(along)
		yaw += m3.Clamp(m3.WrapAngle(m3.YawOf(d)-yaw), -maxTailSweep*s.DT, maxTailSweep*s.DT)
		s.Rig.Tree.aim(m, a, p, from.Add(inclined(d, y-from.Y, m3.V(m3.Sin(yaw), 0, m3.Cos(yaw)))), 1)
		lifted = true
	}
	return lifted
}

// inclined returns a vector as long as d that rises by rise, as far as it can, in the direction
// heading over the ground.
func inclined(d m3.Vec3, rise float32, heading m3.Vec3) m3.Vec3 {
	length := d.Len()
	rise = m3.Clamp(rise, -length, length)
	to := heading.Flat().Normalize(m3.V(0, 0, -1)).Scale(m3.Sqrt(length*length - rise*rise))
	to.Y = rise
	return to
}
