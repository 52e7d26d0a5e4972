package ik

import "mannequin/engine/m3"

// limiter bounds the acceleration of a moving point. Where the point would speed up or slow down by
// more than the bound, the excess becomes an offset that decays along a critically damped spring.
// The zero limiter has seen nothing yet.
type limiter struct {
	out, step   m3.Vec3 // the last output, and its distance from the one before
	offset, vel m3.Vec3 // from input to output, and its change per second
	seen        uint8   // how many of out and step are known
	heightFirst bool    // the height takes what it needs of the bound, and the way over the ground the rest
}

// next returns the output for the input in, dt after the last; accel bounds the acceleration per
// second².
func (l *limiter) next(in m3.Vec3, accel, halflife, dt float32) m3.Vec3 {
	l.offset, l.vel = m3.DecayVec(l.offset, l.vel, halflife, dt)
	out := in.Add(l.offset)
	if l.seen == 2 {
		more, limit := out.Sub(l.out).Sub(l.step), accel*dt*dt
		if d := more.Len(); d > limit {
			if l.heightFirst {
				y := m3.Clamp(more.Y, -limit, limit)
				way := more.Flat()
				more = way.Scale(min(m3.Sqrt(limit*limit-y*y)/max(way.Len(), tiny), 1))
				more.Y = y
			} else {
				more = more.Scale(limit / d)
			}
			out = l.out.Add(l.step).Add(more)
			l.offset = out.Sub(in)
		}
	}
	if l.seen > 0 {
		l.step = out.Sub(l.out)
	}
	l.out, l.seen = out, min(l.seen+1, 2)
	return out
}

// correct takes in that the point with the last input in did not go where next said, but to out.
func (l *limiter) correct(in, out m3.Vec3) {
	l.step = l.step.Add(out.Sub(l.out))
	l.out, l.offset = out, out.Sub(in)
}

// limitAcceleration turns joint a so that its child b follows l, with an acceleration of at most
// accel, m/s². It returns where l is, and whether the joint had to turn.
func (s *Legged) limitAcceleration(m []m3.Xform, a, b int, l *limiter, accel float32) (to m3.Vec3, turned bool) {
	was := m[b].Pos
	to = l.next(was, accel, footEaseHalflife, s.DT)
	if was.Dist(to) < 1e-4 {
		return to, false
	}
	s.Rig.Tree.aim(m, a, was, to, 1)
	l.correct(was, m[b].Pos)
	return to, true
}
