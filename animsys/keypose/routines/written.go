package routines

import "mannequin/engine/m3"

// with returns a posture with changes.
func (p posture) with(change func(p *posture)) posture {
	change(&p)
	return p
}

// on returns a posture with the weight on the main leg, or for less than 0 on the other: hips
// shift, the other side sinks, the spine bends back.
func (p posture) on(side float32) posture {
	p[sway] = p[sway].Add(m3.V(0.05*side, -0.006*m3.Abs(side), 0))
	p[pelvis] = p[pelvis].Add(m3.V(0, 0.04*side, -0.05*side))
	p[spine] = p[spine].Add(m3.V(0, -0.03*side, 0.08*side))
	p[head] = p[head].Add(m3.V(0, 0, -0.03*side))
	return p
}

// looks returns a posture that looks to the main side and down, rad.
func (p posture) looks(aside, down float32) posture {
	p[pelvis].Y += 0.1 * aside
	p[spine].Y += 0.25 * aside
	p[head] = p[head].Add(m3.V(down, 0.65*aside, 0.05*aside))
	return p
}

// idle shifts the weight from leg to leg.
func (a *Author) idle(s *score) {
	side := float32(1)
	for range 3 {
		p := rest.on(side*between(s.rand, 0.6, 1)).looks(between(s.rand, -0.35, 0.35), between(s.rand, -0.05, 0.12))
		p[hand].Z += between(s.rand, 0, 0.05)
		s.to(between(s.rand, 0.9, 1.3), p)
		s.hold(between(s.rand, 1, 1.8))
		s.hold(between(s.rand, 0.8, 1.5))
		side = -side
	}
}

// look looks around.
func (a *Author) look(s *score) {
	side := float32(1)
	if s.rand.IntN(2) == 0 {
		side = -1
	}
	s.to(0.55, rest.on(0.5*side).looks(side*between(s.rand, 0.7, 1.1), between(s.rand, -0.1, 0.1)))
	s.hold(between(s.rand, 0.6, 1.2))
	s.to(0.8, rest.on(-0.5*side).looks(-side*between(s.rand, 0.6, 1), between(s.rand, -0.15, 0)))
	s.hold(between(s.rand, 0.7, 1.3))
	if s.rand.IntN(2) == 0 { // up
		s.to(0.5, rest.looks(-0.2*side, -0.35).with(func(p *posture) { p[spine].X -= 0.08 }))
		s.hold(between(s.rand, 0.5, 1))
	}
	s.stand(0.6)
}

// wave waves the main hand.
func (a *Author) wave(s *score) {
	up := rest.on(-0.4).looks(between(s.rand, -0.2, 0.3), -0.06)
	up[hand], up[elbow] = m3.V(0.40, 0.26, 0.14), m3.V(1, -0.9, -0.3)
	up[spine].Z -= 0.05
	up[wrist], up[fingers].X = m3.V(0, 0.15, 0), 0.08
	swing := 0.1 * a.size
	s.to(0.28, rest.with(func(p *posture) { p[sway].Y -= 0.012; p[hand] = m3.V(0.27, -0.3, 0.14) }))
	s.to(0.35, up)
	side := float32(1)
	for range 5 + s.rand.IntN(4) {
		s.to(0.23, up.with(func(p *posture) {
			p[hand] = p[hand].Add(m3.V(swing*side, -0.02*m3.Abs(side), 0))
			p[wrist].Z = -0.3 * side
			p[spine].Z += 0.012 * side
			p[head].Z += 0.02 * side
		}))
		side = -side * between(s.rand, 0.8, 1.1)
	}
	s.to(0.25, up)
	s.to(0.5, rest.with(func(p *posture) { p[hand].Z += 0.04 }))
	s.stand(0.3)
}

// stretch stretches both arms overhead, to both sides.
func (a *Author) stretch(s *score) {
	up := rest
	up[hand], up[hand2] = m3.V(0.1, 0.5, 0.02), m3.V(0.1, 0.5, 0.02)
	up[elbow], up[elbow2] = m3.V(1, 0.1, 0.3), m3.V(1, 0.1, 0.3)
	up[spine], up[head] = m3.V(-0.16*a.size, 0, 0), m3.V(-0.2, 0, 0)
	up[sway], up[heels].X = m3.V(0, 0.03*a.size, 0.02), 0.3*a.size
	up[fingers] = m3.V(0.2, 0.2, 0)
	ahead := rest
	ahead[hand], ahead[hand2] = m3.V(0.06, -0.02, 0.28), m3.V(0.06, -0.03, 0.28)
	ahead[elbow], ahead[elbow2] = m3.V(1, -0.4, 0), m3.V(1, -0.4, 0)
	ahead[spine].X, ahead[sway].Y = 0.1, -0.015
	s.to(0.7, ahead)
	s.to(0.8, up)
	s.hold(between(s.rand, 0.5, 0.9))
	for side := float32(1); side >= -1; side -= 2 {
		s.to(0.9, up.with(func(p *posture) {
			p[spine].Z, p[sway], p[head].Z = 0.3*side*a.size, m3.V(-0.03*side, 0, 0.02), 0.1*side
			p[heels].X = 0
		}))
		s.hold(0.4)
	}
	aside := rest
	aside[hand], aside[hand2] = m3.V(0.6, 0.1, 0), m3.V(0.6, 0.1, 0)
	aside[elbow], aside[elbow2] = m3.V(0, -0.5, -1), m3.V(0, -0.5, -1)
	s.to(0.6, aside)
	s.stand(0.6)
}

// clap claps.
func (a *Author) clap(s *score) {
	open := rest.looks(between(s.rand, -0.2, 0.2), -0.03)
	height := between(s.rand, -0.08, 0.06)
	open[hand], open[hand2] = m3.V(0.19*a.size, height, 0.25), m3.V(0.19*a.size, height-0.05, 0.25)
	open[elbow], open[elbow2] = m3.V(0.7, -1, -0.2), m3.V(0.7, -1, -0.2)
	open[wrist].Y, open[wrist2].Y = 0.3, 0.3
	open[fingers] = m3.V(0.1, 0.1, 0)
	shut := open
	shut[hand], shut[hand2] = m3.V(0.045, height+0.01, 0.27), m3.V(0.045, height-0.015, 0.27)
	shut[wrist].Y, shut[wrist2].Y = 0.65, 0.65
	shut[spine].X += 0.02
	s.to(0.5, open)
	beat := between(s.rand, 0.17, 0.22)
	for i := range 6 + s.rand.IntN(5) {
		side := between(s.rand, -0.3, 0.3)
		s.to(beat, shut.on(side))
		s.to(beat, open.on(side))
		if i == 3 {
			s.to(beat, open.on(side).looks(between(s.rand, -0.4, 0.4), 0))
		}
	}
	s.stand(0.6)
}

// cheer raises one arm or both.
func (a *Author) cheer(s *score) {
	dip := rest
	dip[sway], dip[spine].X = m3.V(0, -0.09*a.size, -0.02), 0.16
	dip[hand], dip[hand2] = m3.V(0.2, -0.12, 0.2), m3.V(0.2, -0.13, 0.19)
	dip[elbow], dip[elbow2] = m3.V(0.6, -0.6, -1), m3.V(0.6, -0.6, -1)
	dip[fingers] = m3.V(0.9, 0.9, 0)
	up := rest
	up[sway], up[spine], up[head] = m3.V(0, 0.028, 0.02), m3.V(-0.1, 0, 0), m3.V(-0.15, 0, 0)
	up[hand], up[hand2] = m3.V(0.24, 0.47, 0.1), m3.V(0.26, 0.46, 0.08)
	up[elbow], up[elbow2] = m3.V(1, 0, 0.2), m3.V(1, 0, 0.2)
	up[fingers], up[heels].X = m3.V(0.9, 0.9, 0), 0.3
	one := dip
	one[sway], one[spine], one[head] = m3.V(0.02, -0.02, 0), m3.V(0, -0.15, -0.04), m3.V(-0.12, 0.1, 0)
	one[hand], one[elbow] = up[hand], up[elbow]
	one[heels].X = 0.15
	s.to(0.4, dip)
	s.to(0.3, up)
	s.hold(0.35)
	for range 2 + s.rand.IntN(3) {
		to := up
		if s.rand.IntN(2) == 0 {
			to = one
		}
		s.to(0.32, dip.with(func(p *posture) { p[sway].Y *= 0.8 }))
		s.to(0.28, to)
	}
	s.hold(0.4)
	s.to(0.5, rest.with(func(p *posture) { p[sway].Y -= 0.015 }))
	s.stand(0.3)
}

// point points somewhere, twice, and looks there.
func (a *Author) point(s *score) {
	aside := between(s.rand, -0.15, 0.75)
	p := rest.on(-0.4).looks(aside+0.1, -0.03)
	d := m3.YawQuat(0.7 * aside).Rotate(m3.V(0.03, between(s.rand, -0.06, 0.08), 0.48))
	p[hand] = d.Add(m3.V(0.185, 0.075, 0))
	p[elbow], p[fingers].X = m3.V(0.6, -1, 0), 0
	p[sway].Z += 0.015
	back := p.with(func(p *posture) { p[hand] = p[hand].Add(m3.V(0, -0.03, -0.13)) })
	s.to(0.3, rest.looks(aside, 0))
	s.to(0.45, p)
	s.hold(between(s.rand, 0.5, 0.9))
	s.to(0.25, back)
	s.to(0.2, p)
	s.to(0.4, p.with(func(p *posture) { p[head].Y -= 0.5 * aside; p[head].X += 0.05 }))
	s.hold(between(s.rand, 0.3, 0.7))
	s.to(0.6, rest)
	s.stand(0.3)
}

// crouch looks at something on the ground, and rises.
func (a *Author) crouch(s *score) {
	down := rest
	down[sway], down[pelvis] = m3.V(0, -0.4*a.size, -0.05), m3.V(0.25, 0, 0)
	down[spine], down[head] = m3.V(0.45, 0.1, 0), m3.V(0.15, 0, 0)
	down[hand], down[elbow] = m3.V(0.12, -0.24, 0.36), m3.V(1, 0.2, -0.6)
	down[hand2], down[elbow2] = m3.V(0.2, -0.2, 0.27), m3.V(1, 0, -0.5)
	down[fingers], down[heels].X = m3.V(0.2, 0.5, 0), 0.5
	s.to(0.35, rest.looks(0.1, 0.3))
	s.to(0.4, down.with(func(p *posture) {
		p[sway] = m3.V(0, -0.17*a.size, -0.07)
		p[pelvis].X, p[spine].X, p[heels].X = 0.3, 0.35, 0.1
	}))
	s.to(0.4, down)
	s.hold(0.5)
	for range 1 + s.rand.IntN(3) {
		s.to(0.4, down.with(func(p *posture) {
			p[hand] = p[hand].Add(m3.V(between(s.rand, -0.1, 0.1), between(s.rand, -0.03, 0.03), between(s.rand, -0.06, 0.06)))
			p[head].Y = between(s.rand, -0.3, 0.3)
		}))
	}
	s.to(0.5, rest.with(func(p *posture) {
		p[sway], p[pelvis].X, p[spine].X = m3.V(0, -0.17*a.size, -0.04), 0.25, 0.3
		p[heels].X = 0.08
	}))
	s.to(0.5, rest.with(func(p *posture) { p[sway].Y = 0.003 }))
	s.stand(0.4)
}

// talk gestures with one hand or both, shrugs, and rests.
func (a *Author) talk(s *score) {
	side := float32(1)
	for range 3 {
		base := rest.on(side*between(s.rand, 0.3, 0.8)).looks(between(s.rand, -0.4, 0.4), between(s.rand, -0.03, 0.08))
		side = -side
		both := s.rand.IntN(2) == 0
		for range 2 + s.rand.IntN(3) {
			p := base
			beat := m3.V(between(s.rand, 0.16, 0.32), between(s.rand, -0.2, -0.06), between(s.rand, 0.2, 0.3)).Scale(a.size)
			p[hand], p[elbow], p[fingers].X = beat, m3.V(0.6, -1, -0.4), between(s.rand, 0.1, 0.4)
			p[wrist] = m3.V(between(s.rand, 0.2, 1), between(s.rand, -0.1, 0.3), 0)
			if both {
				p[hand2], p[elbow2], p[fingers].Y = beat.Add(m3.V(0.02, -0.02, 0)), p[elbow], p[fingers].X
				p[wrist2] = p[wrist]
			}
			p[head].X += between(s.rand, -0.04, 0.1)
			s.to(between(s.rand, 0.35, 0.55), p)
			s.to(between(s.rand, 0.2, 0.3), p.with(func(p *posture) { // the beat
				p[hand].Y -= 0.05
				p[head].X += 0.06
				if both {
					p[hand2].Y -= 0.05
				}
			}))
			s.hold(between(s.rand, 0.15, 0.5))
		}
		if s.rand.IntN(2) == 0 {
			s.to(0.6, base)
			s.hold(between(s.rand, 0.4, 1))
		}
	}
}
