package ik

import "mannequin/engine/m3"

const (
	// maxLegs and maxChain bound what a row keeps.
	maxLegs, maxChain = 8, 8
	// plant is the height above the terrain at which tips stand, lowest the
	// least that they have in flight, m.
	plant, lowest = 0.004, 0.003
	// soleFade is the flat height over which a paw stops following the
	// terrain's slope, m.
	soleFade = 0.1
	// stretch is the share of its length that a leg uses freely. A standing leg
	// that would need more makes the body sink; others stretch softly.
	stretch = 0.93
	// fold is the share of its length to which a leg folds at most.
	fold = 0.25
	// swings is the half-life of a knee's way out of the ground, s.
	swings = 0.03
	// touch is how near to its place a held paw is there, m.
	touch = 0.005
	// help is the share of the way that the joints above a limb turn toward its
	// paw's place.
	help = 0.25
	// gap is the least height of head, tail, hocks, knees, elbows and the joints
	// that legs hang on above the terrain, m.
	gap = 0.02
	// A leg whose paw joint is nearer to its upper joint than the share folded of
	// its length does not leave its paw behind, one beyond the share open does: a
	// folded leg would swing its knee about for a little step.
	folded, open = 0.1, 0.3
	// A paw slower than slow may pull the body down, unless it is faster than
	// fast, m/s.
	slow, fast = 0.15, 1.0
	// A paw may be pushed by kick, m/s²; what is harder, an edge of the ground or
	// a jump in the pose, is eased over with the half-life hop, s. Flying, it
	// looks ahead by notice seconds, at most ahead metres, for edges to clear.
	kick, hop     = 94, 0.05
	notice, ahead = 0.1, 0.12
	// hitch is by how much a tip may miss its place before the joints above it
	// yield, m.
	hitch = 0.002
	// steepest is the slope that soles follow at most, tilting how fast: the
	// half-life of the way there, s.
	steepest, tilting = 0.8, 0.04
)

// plan is where one leg goes within a row, world space.
type plan struct {
	tip   m3.Vec3 // the tip's place on the terrain
	wrist m3.Vec3 // the paw joint's place that goes with it
	paw   m3.Quat // the paw's rotation there
	bend  m3.Vec3 // unit normal of the plane in which the limb bends, in the upper joint's frame
	load  float32 // how much the body must help the paw to reach its place, 0–1
	least float32 // the share of its length to which the leg folds
	reach float32 // the share of its length that it uses freely
	under float32 // how deep the flat pose has the paw in the ground, m
}

// plan reads a leg's place from the flat pose m, which moves at pace, m/s: over
// the terrain as high as it was over the flat ground, the sole along the terrain
// while it is near it.
func (s *Legged) plan(m []m3.Xform, l Leg, foot *Foot, pace float32) plan {
	flat, paw, lower, upper := m[l.tip()].Pos, m[l.paw()], m[l.lower()].Pos, m[l.upper()]
	v := foot.see(flat, s.DT)
	stand := 1 - m3.Clamp(flat.Y/soleFade, 0, 1)
	var p plan
	// A folded leg has less room to leave its paw behind.
	length := upper.Pos.Dist(lower) + lower.Dist(paw.Pos)
	room := upper.Pos.Dist(paw.Pos) / max(length, tiny)
	// What the flat pose does, the leg may do.
	p.least, p.reach = min(fold, room), max(stretch, room)
	p.under = max(-flat.Y, 0)
	p.tip = foot.place(flat, v, &s.Lock, pace, room*ease((room-folded)/(open-folded)), s.DT)
	p.tip = s.rise(foot, p.tip, v)
	foot.goal = p.tip
	if p.load = 1; !foot.stands {
		// A paw that flies by low must not pull the body down.
		p.load = stand * (1 - m3.Clamp((v.Flat().Len()-slow)/(fast-slow), 0, 1))
	}
	lean := m3.Ident.Slerp(s.lean(foot, p.tip), stand)
	p.paw = lean.Mul(paw.Rot)
	// A hock that would dip into the terrain turns the paw up about its tip.
	up := lean.Rotate(paw.Pos.Sub(flat))
	if y := s.soil(p.tip.X+up.X, p.tip.Z+up.Z) + gap - p.tip.Y; up.Y < y {
		to := tilt(up, y, up.Flat())
		p.paw, up = m3.Between(up.Normalize(m3.Up), to.Normalize(m3.Up)).Mul(p.paw), to
	}
	p.wrist = p.tip.Add(up)
	// A leg that is nearly straight hardly tells to which side it bends.
	normal := upper.Pos.Sub(lower).Cross(paw.Pos.Sub(lower))
	p.bend = foot.turn(upper.Rot.Conj().Rotate(normal.Scale(4 / max(length*length, tiny))))
	return p
}

// ease goes smoothly from 0 to 1 as u does.
func ease(u float32) float32 {
	u = m3.Clamp(u, 0, 1)
	return u * u * (3 - 2*u)
}

// rise returns the place in the world of a paw that shall be at over the
// terrain: at.Y above what lies under it and, while it flies with velocity v,
// above the edges ahead.
func (s *Legged) rise(foot *Foot, at, v m3.Vec3) m3.Vec3 {
	soil := s.soil(at.X, at.Z)
	if !foot.held {
		v = v.Flat().Scale(notice)
		if l := v.Len(); l > ahead {
			v = v.Scale(ahead / l)
		}
		// What a slope has ahead is no edge.
		n := s.Ground.Normal(at.X, at.Z)
		slope := max(-n.Dot(v)/max(n.Y, 0.5), 0)
		for _, u := range [...]float32{0.5, 1} {
			soil = max(soil, s.soil(at.X+u*v.X, at.Z+u*v.Z)-u*slope+plant-at.Y)
		}
	}
	at.Y += soil
	at = foot.shown.next(at, kick, hop, s.DT)
	at.Y = max(at.Y, s.soil(at.X, at.Z)+lowest)
	return at
}

// lean returns the rotation by which the terrain under foot turns a sole that
// stands at.
func (s *Legged) lean(foot *Foot, at m3.Vec3) m3.Quat {
	n := s.Ground.Normal(at.X, at.Z)
	slope := m3.V(n.X, 0, n.Z).Scale(1 / max(n.Y, tiny))
	if l := slope.Len(); l > steepest {
		slope = slope.Scale(steepest / l)
	}
	if foot.lean.Y == 0 {
		foot.lean = slope
	}
	x := m3.DampTo(foot.lean.X, slope.X, tilting, s.DT)
	z := m3.DampTo(foot.lean.Z, slope.Z, tilting, s.DT)
	foot.lean = m3.V(x, 1, z)
	return m3.Between(m3.Up, foot.lean.Normalize(m3.Up))
}

// leg takes a leg to its plan: the joints above the limb turn a little toward
// it, each by the share help; the limb bends exactly; then the sole. Where the
// leg cannot follow, or would only with a jerk (one that comes out of being
// straight moves its knee much faster than its paw), the paw yields.
func (s *Legged) leg(m []m3.Xform, l Leg, p *plan, foot *Foot) {
	t := s.Rig.Tree
	for _, j := range l[:len(l)-4] {
		t.aim(m, j, m[l.paw()].Pos, p.wrist, help)
	}
	t.twoBone(m, l.upper(), l.lower(), l.paw(), p.wrist, m[l.upper()].Rot.Rotate(p.bend), p.least, p.reach)
	s.unearth(m, l, foot)
	if _, turned := s.calm(m, l.upper(), l.lower(), &foot.knee, kick); turned {
		t.aim(m, l.lower(), m[l.paw()].Pos, p.wrist, 1)
	}
	wrist := m[l.paw()].Pos
	s.calm(m, l.lower(), l.paw(), &foot.wrist, kick)
	t.turn(m, l.paw(), p.paw.Mul(m[l.paw()].Rot.Conj()))
	if m[l.tip()].Pos.Dist(p.tip) > 1e-4 {
		t.aim(m, l.paw(), m[l.tip()].Pos, p.tip, 1)
	}
	tip := m[l.tip()].Pos
	if to, turned := s.calm(m, l.paw(), l.tip(), &foot.tip, kick); turned {
		s.yield(m, l, foot, wrist, tip, to)
	}
	at := m3.V(foot.at.X, s.soil(foot.at.X, foot.at.Z)+plant, foot.at.Z)
	foot.touches = foot.held && m[l.tip()].Pos.Dist(at) < touch
}

// yield has the paw joint go half of the way that the tip is short of to, where
// its bound lets it go: beyond its own bound, or the tip would have to go beyond
// its own by all of that. Without bounds they would be at wrist and tip.
func (s *Legged) yield(m []m3.Xform, l Leg, foot *Foot, wrist, tip, to m3.Vec3) {
	t := s.Rig.Tree
	short := to.Sub(m[l.tip()].Pos)
	if short.Len() < hitch {
		return
	}
	t.aim(m, l.lower(), m[l.paw()].Pos, m[l.paw()].Pos.Add(short.Scale(0.5)), 1)
	foot.wrist.correct(wrist, m[l.paw()].Pos)
	t.aim(m, l.paw(), m[l.tip()].Pos, to, 1)
	foot.tip.correct(tip, m[l.tip()].Pos)
}

// unearth swings a knee or elbow that is lower than gap above the terrain up
// about the line from the leg's upper joint to its paw joint, as far as it takes,
// and back again.
func (s *Legged) unearth(m []m3.Xform, l Leg, foot *Foot) {
	root, p := m[l.upper()].Pos, m[l.lower()].Pos
	axis := m[l.paw()].Pos.Sub(root).Normalize(m3.Up)
	out := p.Sub(root)
	out = out.Sub(axis.Scale(out.Dot(axis)))
	var goal float32
	if short := s.soil(p.X, p.Z) + gap - p.Y; short > 0 {
		// Turned by a, the joint is r·cos(a−top) from the axis along the ground's
		// normal, which on a slope is not up.
		n := s.Ground.Normal(p.X, p.Z)
		x, y := out.Dot(n), axis.Cross(out).Dot(n)
		r, top := m3.Sqrt(x*x+y*y), m3.Atan2(y, x)
		a := m3.Acos((x + short*n.Y) / max(r, tiny))
		goal = m3.WrapAngle(top - a)
		if b := m3.WrapAngle(top + a); m3.Abs(b-foot.swing.x) < m3.Abs(goal-foot.swing.x) {
			goal = b
		}
	}
	if foot.knee.seen == 0 {
		foot.swing.x = goal
	}
	foot.swing.x, foot.swing.v = m3.Spring(foot.swing.x, foot.swing.v, goal, swings, s.DT)
	if m3.Abs(foot.swing.x) > 1e-4 {
		s.Rig.Tree.turn(m, l.upper(), m3.AxisAngle(axis, foot.swing.x))
	}
}

// toes bends the tip of a leg until the end of the toes is above the ground.
func (s *Legged) toes(m []m3.Xform, l Leg, end int) {
	if end < 0 {
		return
	}
	from, p := m[l.tip()].Pos, m[end].Pos
	if y := s.soil(p.X, p.Z) + lowest; p.Y < y {
		d := p.Sub(from)
		s.Rig.Tree.aim(m, l.tip(), p, from.Add(tilt(d, y-from.Y, d)), 1)
	}
}
