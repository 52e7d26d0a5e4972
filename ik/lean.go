package ik

import "mannequin/engine/m3"

// Going is how a body that is steered moves over the ground.
type Going struct {
	Leans           bool    // it leans into that; a body whose pose is to stay as it is does not
	Bows            bool    // it bows over its feet as it sits down or gets up
	Velocity, Accel m3.Vec3 // m/s, m/s²
	Tilt            m3.Vec3 // of its pose: see Rig.Tilt
}

const (
	// Recorded people (human-o3de) are tilted, from the hips to the head, by 3.8° for each m/s² of an acceleration, and ahead by
	// 1.7° for each m/s. As way over height:
	tiltAccel = 0.066 // 1/(m/s²)
	tiltAhead = 0.03  // 1/(m/s)
	// Of an acceleration, tiltSpeed times the speed counts at most, and tiltTop. From tiltFull on all of it does.
	tiltSpeed, tiltTop, tiltFull = 0.11, 0.4, 0.1
	// Who is slower than tiltWalk only leans into accelerations, m/s; from tiltRun on people lean ahead.
	tiltWalk, tiltRun = 2, 3
	// tiltMost is the most that is added to the pose's own tilt, and tiltHalflife the half-life in which it is, s.
	tiltMost, tiltHalflife = 0.35, 0.07
	// tiltDepth is how far below the hips the body tilts, m, and tiltHead the share of it that the neck takes back.
	tiltDepth, tiltHead = 0.45, 0.4

	// The middle of the ankles of a body that is slower than balanceSpeed, m/s, may be balanceFree beside the hips, m, which move
	// by balanceMost at most.
	balanceSpeed, balanceFree, balanceMost, balanceHalflife = 0.3, 0.1, 0.25, 0.1

	// Who gets up bows over the feet: as way over height, by bowBehind of how far the hips are behind the ankles, 1/m, in full as long as the
	// legs are at most bowLow of their length high. Who sits down bows by bowFall of how fast the hips fall, s/m, in full once they are bowFree
	// behind the ankles, m. Neither adds to what the pose has of that, nor more than bowMost.
	bowBehind, bowLow, bowHigh, bowFall, bowFree, bowMost, bowHalflife = 1.6, 0.8, 0.95, 0.9, 0.1, 0.7, 0.09
)

// lean tilts the pose m of an upright body as far as people lean who go like that, moves one that has stopped over its feet, and bows one that
// sits down or gets up. The plans of the legs stay.
func (s *Legged) lean(m []m3.Xform, plans []legPlan, b *Body, going *Going) {
	var tilt, over m3.Vec3
	var bow float32
	ahead := m[s.Rig.hips[0]].Pos.Sub(m[s.Rig.hips[1]].Pos).Cross(m3.Up).Flat().Normalize(m3.Vec3{})
	if g := going.on(s.unit); !s.falls && g.Velocity.Finite() && g.Accel.Finite() && g.Tilt.Finite() {
		slow, beside := 1-ease((g.Velocity.Len()-balanceSpeed)/balanceSpeed), s.beside(m, plans)
		if g.Leans {
			tilt, over = g.lacks(ahead), cut(beside.Sub(cut(beside, balanceFree)), balanceMost).Scale(slow)
		}
		switch behind := beside.Dot(ahead); {
		case g.Leans && g.Bows:
			bow = s.squats(m) * bowBehind * behind
		case g.Bows: // it is to stay low
			bow = ease(behind/bowFree) * bowFall * max(-b.rise, 0)
		}
		bow = slow * m3.Clamp(bow-g.Tilt.Dot(ahead), 0, bowMost)
	}
	b.lean.next(tilt, tiltHalflife, s.DT)
	b.over.next(over, balanceHalflife, s.DT)
	s.shift = s.shift.Add(b.over.x)
	s.tilt = m3.Between(m3.Up, b.lean.x.Add(m3.Up).Normalize(m3.Up))
	b.bow.x, b.bow.v = m3.Spring(b.bow.x, b.bow.v, bow, bowHalflife, s.DT)
	s.bow = m3.Between(m3.Up, ahead.Scale(b.bow.x).Add(m3.Up).Normalize(m3.Up))
	s.tiltBody(m)
}

// on returns it over the ground, in metres of the world.
func (g *Going) on(unit float32) Going {
	return Going{g.Leans, g.Bows, g.Velocity.Flat().Scale(unit), g.Accel.Flat().Scale(unit), g.Tilt.Flat()}
}

// Tilt returns how far the trunk of an upright body is tilted, from the hips to the head: the way over the ground as a share of the height. It is
// not ok for other bodies, and for one that lies. pos and rot are local, of the root in world space.
func (r *Rig) Tilt(pos []m3.Vec3, rot []m3.Quat) (tilt m3.Vec3, ok bool) {
	if len(r.trunk) == 0 {
		return m3.Vec3{}, false
	}
	var up m3.Vec3
	for _, j := range r.trunk {
		up = pos[j].Add(rot[j].Rotate(up))
	}
	up = rot[r.Roles.Spine[0]].Rotate(up)
	return up.Flat().Scale(1 / max(up.Y, 0.5*up.Len())), up.Y > 0
}

// lacks returns by how much less a body that faces ahead is tilted than people who go like that. Nothing is taken from what its pose shows:
// recorded people lean for longer than quick bodies accelerate.
func (g *Going) lacks(ahead m3.Vec3) m3.Vec3 {
	speed := g.Velocity.Len()
	by := cut(g.Accel.Scale(tiltAccel), min(tiltSpeed*max(speed, 1), tiltTop))
	goal := by.Add(ahead.Scale(tiltAhead * max(g.Velocity.Dot(ahead), 0)))
	way := goal.Normalize(m3.Vec3{})
	share := max(ease((speed-tiltWalk)/(tiltRun-tiltWalk)), ease(by.Len()/tiltFull))
	return way.Scale(min(share*max(goal.Len()-g.Tilt.Dot(way), 0), tiltMost))
}

// squats returns how low the hips of the pose m are over its ankles, from 0 to 1.
func (s *Legged) squats(m []m3.Xform) float32 {
	var high, length float32
	for _, l := range s.Rig.Roles.Legs {
		high, length = high+m[l.hip()].Pos.Y-m[l.ankle()].Pos.Y, length+l.length(m)
	}
	return ease((bowHigh - high/max(length, tiny)) / (bowHigh - bowLow))
}

// beside returns how far the ankles are from below the hips of the pose m.
func (s *Legged) beside(m []m3.Xform, plans []legPlan) (off m3.Vec3) {
	for i := range plans {
		off = off.Add(plans[i].ankle.Sub(m[s.Rig.Roles.Spine[0]].Pos).Flat().Scale(1 / float32(len(plans))))
	}
	return off
}

// tiltBody tilts the flat pose m.
func (s *Legged) tiltBody(m []m3.Xform) {
	for _, t := range [...]struct {
		by    m3.Quat
		depth float32
	}{{s.tilt, tiltDepth}, {s.bow, 0}} {
		if t.by == m3.Ident {
			continue
		}
		hips := s.Rig.Roles.Spine[0]
		pivot := m[hips].Pos.Sub(m3.V(0, t.depth, 0))
		for j := hips; j < int(s.Rig.Tree.ends[hips]); j++ {
			m[j].Pos, m[j].Rot = pivot.Add(t.by.Rotate(m[j].Pos.Sub(pivot))), t.by.Mul(m[j].Rot)
		}
		s.Rig.Tree.turn(m, s.Rig.Roles.Neck, m3.Ident.Slerp(t.by.Conj(), tiltHead))
	}
}

// cut returns v, no longer than most.
func cut(v m3.Vec3, most float32) m3.Vec3 {
	if l := v.Len(); l > most {
		return v.Scale(most / l)
	}
	return v
}
