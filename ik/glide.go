package ik

import "mannequin/engine/m3"

// glide passes a moving point through as long as it changes its velocity gently.
// What jumps, it eases over: where the point would speed up or slow down by more
// than a bound, the excess becomes an offset that decays along a critically
// damped spring. The zero glide has seen nothing yet.
type glide struct {
	out, step m3.Vec3 // what came out last, and how far that was from the one before
	off, vel  m3.Vec3 // what is still to go, and its change per second
	seen      uint8   // how many of out and step are known
}

// next returns what comes out when in goes in, dt after the last; accel bounds
// the acceleration per second².
func (g *glide) next(in m3.Vec3, accel, halflife, dt float32) m3.Vec3 {
	g.off, g.vel = m3.DecayVec(g.off, g.vel, halflife, dt)
	out := in.Add(g.off)
	if g.seen == 2 {
		more, limit := out.Sub(g.out).Sub(g.step), accel*dt*dt
		if l := more.Len(); l > limit {
			out = g.out.Add(g.step).Add(more.Scale(limit / l))
			g.off = out.Sub(in)
		}
	}
	if g.seen > 0 {
		g.step = out.Sub(g.out)
	}
	g.out, g.seen = out, min(g.seen+1, 2)
	return out
}

// correct tells that the point which came in as in did not go where next said, but
// to out.
func (g *glide) correct(in, out m3.Vec3) {
	g.step = g.step.Add(out.Sub(g.out))
	g.out, g.off = out, out.Sub(in)
}

// calm turns joint a so that its child b follows g, which lets it be pushed by
// accel, m/s². It returns where g is, and whether it had to turn.
func (s *Legged) calm(m []m3.Xform, a, b int, g *glide, accel float32) (to m3.Vec3, turned bool) {
	was := m[b].Pos
	to = g.next(was, accel, hop, s.DT)
	if was.Dist(to) < 1e-4 {
		return to, false
	}
	s.Rig.Tree.aim(m, a, was, to, 1)
	g.correct(was, m[b].Pos)
	return to, true
}
