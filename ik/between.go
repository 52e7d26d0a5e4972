package ik

import "mannequin/engine/m3"

const (
	// riseFull is the change of a tip's height within a step of several ticks from which on the tip
	// takes off or lands, m.
	riseFull = 0.02
	// flightHeight is the height over the terrain above which a tip flies at both ends of such a
	// step, m.
	flightHeight = 0.045
	// A tip that is lower than hopLow over the terrain, m, at both ends of a step hops. Halfway it is
	// higher by the share hopHeight of the way.
	hopLow, hopHeight = 0.02, 0.3
)

// Between corrects the legs of m, a pose of row that is interpolated between the results of the last two
// runs, at k of n equal steps from the first to the second: 0 < k < n. Tips go straight, without
// the arcs of joints that turn evenly. A tip that takes off rises before it goes, and one that lands
// comes down where it stays. m is in the space of Model.
func (s *Legged) Between(m []m3.Xform, row, k, n int) {
	job, legs := *s, len(s.Rig.Roles.Legs)
	job.enter(row)
	job.under, job.floor, job.falls = s.Body[row].at, s.Body[row].floor, s.Body[row].fall.falls
	u := float32(k) / float32(n)
	for i, l := range s.Rig.Roles.Legs {
		if f := &s.Feet[row*legs+i]; f.tip.seen == 2 {
			job.lead(m, l, *f, f.tip.out.Sub(f.tip.step), f.tip.out, u)
		}
	}
}

// lead moves leg l of m so that its tip is the share u of the way from a to b.
func (s *Legged) lead(m []m3.Xform, l Leg, foot Foot, a, b m3.Vec3, u float32) {
	from, until := a.Y-s.groundHeight(a.X, a.Z), b.Y-s.groundHeight(b.X, b.Z)
	low := m3.Clamp(1-(min(from, until)-TipHeight)/flightHeight, 0, 1)
	rise := low * m3.Clamp((until-from)/riseFull, -1, 1)
	early, late := u+m3.Abs(rise)*u*(1-u), u-m3.Abs(rise)*u*(1-u)
	if rise < 0 {
		early, late = late, early
	}
	hop := hopHeight * b.Sub(a).Flat().Len() * m3.Clamp(1-(max(from, until)-TipHeight)/hopLow, 0, 1)
	to := a.Lerp(b, late)
	to.Y = max(m3.Lerp(a.Y, b.Y, early)+4*u*(1-u)*hop, s.groundHeight(to.X, to.Z)+minTipHeight)

	t, hip, ankle := s.Rig.Tree, m[l.hip()], m[l.ankle()]
	length := hip.Pos.Dist(m[l.knee()].Pos) + m[l.knee()].Pos.Dist(ankle.Pos)
	extent := hip.Pos.Dist(ankle.Pos) / max(length, tiny)
	bend := s.Rig.bendOf(m, l, &foot)
	t.twoBone(m, l.hip(), l.knee(), l.ankle(), ankle.Pos.Add(to.Sub(m[l.tip()].Pos)), hip.Rot.Rotate(bend), min(minReach, extent), max(softReach, extent), stretch(max(softReach, extent)))
	t.turn(m, l.ankle(), ankle.Rot.Mul(m[l.ankle()].Rot.Conj()))
	t.aim(m, l.ankle(), m[l.tip()].Pos, to, 1)
}
