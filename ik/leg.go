package ik

import "mannequin/engine/m3"

const (
	// maxLegs and maxChain bound the legs of a body and the bones of a tail or head.
	maxLegs, maxChain = 8, 8
	// TipHeight is the height of a standing tip above its sole, m. It hides rounding and the
	// terrain's roughness.
	TipHeight = 0.004
	// minTipHeight is the least height of a tip in flight, m.
	minTipHeight = 0.003
	// soleFadeHeight is the flat height over which a foot stops following the slope, m.
	soleFadeHeight = 0.1
	// softReach is the share of its length that a leg uses freely. Beyond it a standing leg makes
	// the body sink, and other legs stretch softly.
	softReach = 0.93
	// minReach is the share of its length to which a leg folds at most.
	minReach = 0.25
	// kneeHalflife is the half-life of a knee's way out of the ground, s.
	kneeHalflife = 0.03
	// lockTolerance is how near to its place a locked foot counts as there, m.
	lockTolerance = 0.005
	// upperJointShare is the share of the way that each joint above a limb turns toward the foot's
	// target.
	upperJointShare = 0.25
	// A leg whose ankle is nearer to its hip than lockNoneReach of its length is not held back by
	// the lock; from lockFullReach on the lock holds in full. A small step would swing the knee of
	// a folded leg about.
	lockNoneReach, lockFullReach = 0.1, 0.3
	// A foot slower than sinkFullSpeed may pull the body down in full, one faster than
	// sinkNoneSpeed not at all, m/s.
	sinkFullSpeed, sinkNoneSpeed = 0.15, 1.0
	// footEaseHalflife is the half-life in which a foot makes up for what MaxFootAccel held back, s.
	footEaseHalflife = 0.05
	// A flying foot looks lookaheadTime ahead for edges to clear, s, but at most lookaheadDistance, m, or lookaheadShare of its
	// leg's length if that is more: people's feet swing faster than dogs'.
	lookaheadTime, lookaheadDistance, lookaheadShare = 0.1, 0.12, 0.25
	// yieldDistance is how far a tip may miss its place before the joints above it yield, m.
	yieldDistance = 0.002
	// hingeSine is the sine of the knee's angle below which people's knees bend as their feet point, and hingeShare
	// the share of the way that they turn there in a run.
	hingeSine, hingeShare = 0.15, 0.15
	// dives is the speed from which on a foot comes down faster than in steps, as after a roll, m/s.
	dives = 3
	// soleHalflife is the half-life in which a sole takes the ground's slope, s.
	soleHalflife = 0.04
)

// legPlan is what one leg is to do in this tick, world space.
type legPlan struct {
	tip      m3.Vec3 // the tip's place on the terrain
	ankle    m3.Vec3 // the ankle's place that goes with it
	foot     m3.Quat // the foot's rotation
	bend     m3.Vec3 // unit normal of the leg's plane, in the hip's frame
	load     float32 // how much the body must help the foot to reach its place, 0 to 1
	minReach float32 // the share of its length to which the leg folds
	reach    float32 // the share of its length that it uses freely
	depth    float32 // of the flat pose's tip in the ground, m
	sole     m3.Vec3 // from the tip to the ankle, with the heel where the flat pose has it
}

// planLeg plans a leg from the flat pose m, which moves at pace, m/s. The foot is as high over the
// terrain as it was over the flat ground; near the terrain, the sole follows the slope. step, which may be
// nil, takes it elsewhere.
func (s *Legged) planLeg(m []m3.Xform, l Leg, foot *Foot, step *Step, pace float32) legPlan {
	flat, ankle, hip := m[l.tip()].Pos, m[l.ankle()], m[l.hip()]
	v := foot.observe(flat, s.DT)
	stand := 1 - m3.Clamp(flat.Y/soleFadeHeight, 0, 1)
	length := l.length(m)
	extent := hip.Pos.Dist(ankle.Pos) / max(length, tiny)
	if step != nil && !step.advance(hip.Pos, length, s.DT) {
		step = nil
	}
	foot.steps = step != nil
	var p legPlan
	// The leg may do what the flat pose does.
	p.minReach, p.reach = min(minReach, extent), max(softReach, extent)
	p.depth = max(-flat.Y, 0)
	// A folded leg has less room for the foot to stay behind.
	room := extent * ease((extent-lockNoneReach)/(lockFullReach-lockNoneReach))
	p.tip = foot.lock(flat, v, &s.Lock, pace, room, s.DT)
	if s.falls {
		p.tip = s.hang(p.tip, hip.Pos, length)
	}
	p.tip = s.followTerrain(foot, p.tip, v, length, step)
	foot.target = p.tip
	if p.load = 1; !foot.contact {
		// A foot that flies by low must not pull the body down.
		p.load = stand * (1 - m3.Clamp((v.Flat().Len()-sinkFullSpeed)/(sinkNoneSpeed-sinkFullSpeed), 0, 1))
	}
	if step != nil {
		x := step.share()
		p.load, stand = m3.Lerp(p.load, 1, x*x), m3.Lerp(stand, 1, x)
	}
	lean := m3.Ident.Slerp(s.soleLean(foot, p.tip), stand)
	p.foot = lean.Mul(ankle.Rot)
	// If the ankle would dip into the terrain, the foot turns up about its tip.
	up := lean.Rotate(ankle.Pos.Sub(flat))
	if y := s.groundHeight(p.tip.X+up.X, p.tip.Z+up.Z) + s.Clearance - p.tip.Y; up.Y < y {
		to := inclined(up, y, up.Flat())
		p.foot, up = m3.Between(up.Normalize(m3.Up), to.Normalize(m3.Up)).Mul(p.foot), to
	}
	p.ankle, p.sole = p.tip.Add(up), up
	// A leg that is nearly straight hardly shows to which side it bends.
	p.bend = s.Rig.bendOf(m, l, foot)
	return p
}

// raiseHeel turns a standing foot up about its tip if it is behind its hip and farther away than the leg reaches, as feet do that push
// off. hip is where it is if the body does not sink.
func (s *Legged) raiseHeel(p *legPlan, foot *Foot, hip m3.Vec3, length float32) {
	const level = 1e-4 // rad, and rad/s
	reach := heelReach * p.reach * length
	far := p.load > 0 && hip.Sub(p.ankle).Len() > reach
	if !far && m3.Abs(foot.heel.x) < level && m3.Abs(foot.heel.v) < level {
		foot.heel = spring{}
		return
	}
	ahead := p.sole.Flat().Neg().Normalize(m3.Vec3{}) // as the foot points
	axis := m3.Up.Cross(ahead)
	var goal float32
	if far {
		// The triangle of hip, tip and ankle, seen from the side, says by which angle the ankle is within reach.
		to, beside := hip.Sub(p.tip), hip.Sub(p.tip).Dot(axis)
		to = to.Sub(axis.Scale(beside))
		most := m3.Sqrt(max(reach*reach-beside*beside, 0))
		r, d := p.sole.Len(), to.Len()
		angle := func(cosine float32) float32 { return m3.Acos(m3.Clamp(cosine, -1, 1)) }
		short := angle(p.sole.Dot(to)/max(r*d, tiny)) - angle((r*r+d*d-most*most)/max(2*r*d, tiny))
		goal = min(heelShare*max(short, 0), s.Lock.Heel) * p.load * ease(to.Dot(ahead)/(heelBehind*length))
	}
	foot.heel.x, foot.heel.v = m3.Spring(foot.heel.x, foot.heel.v, goal, heelHalflife, s.DT)
	turn := m3.AxisAngle(axis, max(foot.heel.x, 0))
	p.ankle, p.foot = p.tip.Add(turn.Rotate(p.sole)), turn.Mul(p.foot)
}

// bendOf returns the unit normal of the plane in which a leg of m bends, in the hip's frame. Nearly straight legs of
// people, and those that are stretched too far, bend toward where foot and hips point.
func (r *Rig) bendOf(m []m3.Xform, l Leg, foot *Foot) m3.Vec3 {
	hip, knee, ankle := m[l.hip()], m[l.knee()].Pos, m[l.ankle()].Pos
	bend := bendNormal(hip.Pos, knee, ankle, l.length(m))
	sine := bend.Len()
	share := min(sine/bendFullSine, 1)
	if left, right := r.hips[0], r.hips[1]; left >= 0 {
		across := m[left].Pos.Sub(m[right].Pos).Normalize(m3.V(1, 0, 0))
		if bend.Dot(across) > 0 {
			sine = 0
		}
		way := ankle.Sub(hip.Pos).Normalize(m3.V(0, -1, 0))
		ahead := m[l.tip()].Pos.Sub(ankle).Normalize(m3.Vec3{}).Add(across.Cross(m3.Up))
		if to := way.Cross(ahead); to.Len() > 0.1 {
			bend = to.Normalize(bend).Lerp(bend.Normalize(to), rise(sine, hingeSine, bendFullSine))
			share = max(share, hingeShare)
		}
	}
	return foot.bendPlane(hip.Rot.Conj().Rotate(bend), share)
}

// length returns the length of the leg in the pose m, from the hip over the knee to the ankle.
func (l Leg) length(m []m3.Xform) float32 {
	knee := m[l.knee()].Pos
	return m[l.hip()].Pos.Dist(knee) + knee.Dist(m[l.ankle()].Pos)
}

// bendNormal returns the normal of the plane in which a limb of the given length bends. Its own
// length is about the sine of the angle at the middle joint.
func bendNormal(root, mid, end m3.Vec3, length float32) m3.Vec3 {
	return root.Sub(mid).Cross(end.Sub(mid)).Scale(4 / max(length*length, tiny))
}

// ease rises smoothly from 0 to 1 as u does.
func ease(u float32) float32 {
	u = m3.Clamp(u, 0, 1)
	return u * u * (3 - 2*u)
}

// followTerrain returns the place in the world of a foot that is to be at at over the terrain: at.Y
// above the ground under it and, while it flies with velocity v, above the edges ahead; or on the way of step. length is the
// leg's.
func (s *Legged) followTerrain(foot *Foot, at, v m3.Vec3, length float32, step *Step) m3.Vec3 {
	ground := s.groundHeight(at.X, at.Z)
	if !foot.locked {
		v = v.Flat().Scale(lookaheadTime)
		if l, most := v.Len(), max(lookaheadDistance, lookaheadShare*length); l > most {
			v = v.Scale(most / l)
		}
		// A slope that goes on is no edge.
		n := s.groundNormal(at.X, at.Z)
		slope := max(-n.Dot(v)/max(n.Y, 0.5), 0)
		for _, u := range [...]float32{0.5, 1} {
			ground = max(ground, s.groundHeight(at.X+u*v.X, at.Z+u*v.Z)-u*slope+TipHeight-at.Y)
		}
	}
	at.Y += ground
	if step != nil {
		sole := m3.V(0, s.Sole+TipHeight, 0)
		at = step.sole(at.Sub(sole)).Add(sole)
	}
	foot.path.heightFirst = foot.climb < -dives // it brakes before the ground, however fast it flies over it
	at = foot.path.next(at, s.footAccel, footEaseHalflife, s.DT)
	at.Y = max(at.Y, s.groundHeight(at.X, at.Z)+minTipHeight)
	return at
}

// soleLean returns the rotation by which the terrain turns the sole of a foot that stands at at.
func (s *Legged) soleLean(foot *Foot, at m3.Vec3) m3.Quat {
	n := s.groundNormal(at.X, at.Z)
	slope := m3.V(n.X, 0, n.Z).Scale(1 / max(n.Y, tiny))
	if l := slope.Len(); l > s.MaxSlope {
		slope = slope.Scale(s.MaxSlope / l)
	}
	if foot.slope.Y == 0 {
		foot.slope = slope
	}
	x := m3.DampTo(foot.slope.X, slope.X, soleHalflife, s.DT)
	z := m3.DampTo(foot.slope.Z, slope.Z, soleHalflife, s.DT)
	foot.slope = m3.V(x, 1, z)
	return m3.Between(m3.Up, foot.slope.Normalize(m3.Up))
}

// moveLeg takes a leg to its plan: the joints above the limb turn a little toward it; the limb
// bends exactly; then the sole turns. The foot yields if the leg cannot follow, or only with a
// jerk: a leg that comes out of being straight moves its knee much faster than its foot.
func (s *Legged) moveLeg(m []m3.Xform, l Leg, p *legPlan, foot *Foot) {
	t := s.Rig.Tree
	for _, j := range l[:len(l)-4] {
		t.aim(m, j, m[l.ankle()].Pos, p.ankle, upperJointShare)
	}
	// A leg that is nearly straight in the flat pose comes at most halfway to being straight: out of that its knee would jerk.
	t.twoBone(m, l.hip(), l.knee(), l.ankle(), p.ankle, m[l.hip()].Rot.Rotate(p.bend), p.minReach, p.reach, max(maxReach-p.reach, min(0.002, (1-p.reach)/2)))
	s.raiseKnee(m, l, foot)
	if _, turned := s.limitAcceleration(m, l.hip(), l.knee(), &foot.knee, s.footAccel); turned {
		t.aim(m, l.knee(), m[l.ankle()].Pos, p.ankle, 1)
	}
	ankle := m[l.ankle()].Pos
	s.limitAcceleration(m, l.knee(), l.ankle(), &foot.ankle, s.footAccel)
	t.turn(m, l.ankle(), p.foot.Mul(m[l.ankle()].Rot.Conj()))
	if m[l.tip()].Pos.Dist(p.tip) > 1e-4 {
		t.aim(m, l.ankle(), m[l.tip()].Pos, p.tip, 1)
		// An ankle that could not brake is too near to the target, and the tip beyond it.
		if m[l.tip()].Pos.Y < p.tip.Y {
			s.raiseEnd(m, l.ankle(), l.tip(), m3.Vec3{})
		}
	}
	tip := m[l.tip()].Pos
	foot.tip.heightFirst = true
	if to, turned := s.limitAcceleration(m, l.ankle(), l.tip(), &foot.tip, s.footAccel); turned {
		s.yield(m, l, foot, ankle, tip, to)
	}
	at := m3.V(foot.lockPos.X, s.groundHeight(foot.lockPos.X, foot.lockPos.Z)+TipHeight, foot.lockPos.Z)
	foot.rest(m[l.tip()].Pos.Dist(at), s.DT)
}

// yield moves the ankle half of the way that the tip misses to by, the place that its limit allows.
// That breaks the ankle's own limit; otherwise the tip would break its limit by the whole way.
// Without limits, ankle and tip would be at the places given.
func (s *Legged) yield(m []m3.Xform, l Leg, foot *Foot, ankle, tip, to m3.Vec3) {
	t := s.Rig.Tree
	miss := to.Sub(m[l.tip()].Pos)
	if miss.Len() < yieldDistance {
		return
	}
	t.aim(m, l.knee(), m[l.ankle()].Pos, m[l.ankle()].Pos.Add(miss.Scale(0.5)), 1)
	foot.ankle.correct(ankle, m[l.ankle()].Pos)
	t.aim(m, l.ankle(), m[l.tip()].Pos, to, 1)
	foot.tip.correct(tip, m[l.tip()].Pos)
}

// raiseKnee swings a knee or elbow that is lower than Clearance above the terrain up about the line
// from hip to ankle, as far as needed, and back again later.
func (s *Legged) raiseKnee(m []m3.Xform, l Leg, foot *Foot) {
	root, p := m[l.hip()].Pos, m[l.knee()].Pos
	axis := m[l.ankle()].Pos.Sub(root).Normalize(m3.Up)
	out := p.Sub(root)
	out = out.Sub(axis.Scale(out.Dot(axis)))
	var goal float32
	if short := s.groundHeight(p.X, p.Z) + s.Clearance - p.Y; short > 0 {
		// Turned by a, the joint is r·cos(a−top) from the axis along the ground's normal, which on
		// a slope is not up.
		n := s.groundNormal(p.X, p.Z)
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
	foot.swing.x, foot.swing.v = m3.Spring(foot.swing.x, foot.swing.v, goal, kneeHalflife, s.DT)
	if m3.Abs(foot.swing.x) > 1e-4 {
		q := m3.AxisAngle(axis, foot.swing.x)
		to := root.Add(q.Rotate(p.Sub(root)))
		// The line from hip to ankle of a folded leg turns quickly. What was the way out of the ground
		// may then be the way in.
		if to.Y < p.Y && to.Y < s.groundHeight(to.X, to.Z) {
			foot.swing = spring{}
			return
		}
		s.Rig.Tree.turn(m, l.hip(), q)
	}
}

// raiseToes bends the tip of a leg until the end of the toes is above the ground. An end below 0
// means that the leg has no toes. Toes that point down bend forward.
func (s *Legged) raiseToes(m []m3.Xform, l Leg, end int, foot *Foot) {
	if end < 0 {
		return
	}
	var forward m3.Vec3
	if left, right := s.Rig.hips[0], s.Rig.hips[1]; left >= 0 {
		forward = m[left].Pos.Sub(m[right].Pos).Cross(m3.Up).Normalize(m3.Vec3{})
	}
	s.raiseEnd(m, l.tip(), end, forward)
	s.limitAcceleration(m, l.tip(), end, &foot.toes, s.footAccel) // toes that point back turn over at once
}

// raiseEnd turns joint j up until the place of its descendant end is above the ground: in the direction in
// which it points, and if it points down, forward.
func (s *Legged) raiseEnd(m []m3.Xform, j, end int, forward m3.Vec3) {
	from, p := m[j].Pos, m[end].Pos
	if y := s.groundHeight(p.X, p.Z) + minTipHeight; p.Y < y {
		d := p.Sub(from)
		down := max(-d.Y, 0) / max(d.Len(), tiny) // a sine, which counts only if the toes are steep
		heading := d.Add(forward.Scale(d.Len() * down * down * down * down))
		s.Rig.Tree.aim(m, j, p, from.Add(inclined(d, y-from.Y, heading)), 1)
	}
}
