package ik

import (
	"fmt"

	"mannequin/engine/m3"
)

// Step takes a foot to a place, and is the memory of its way there. The leg bends exactly, by two bones; the
// body moves over the foot that carries it, or between both, and sinks if the leg is too short. The zero
// Step leaves the foot to the motion.
type Step struct {
	Target m3.Vec3 // of the sole under the tip, in the space of the pose, m
	Weight float32 // 0 to 1 of the way there; changes are eased
	Lift   float32 // how much higher than a straight way the foot goes in the middle of its way, m

	timed
}

const (
	// stepHalflife is the half-life in which a step without a time begins and ends, s.
	stepHalflife = 0.15
	// A place that jumps by more than stepJump in a run, m, is eased over with stepJumpHalflife, s.
	stepJump, stepJumpHalflife = 0.12, 0.15
	// A leg steps in full to places that are up to stepFrom times its length away over the ground, from stepTo
	// on not at all.
	stepFrom, stepTo = 1, 1.8
	// A body stands on both feet if their heights differ by less than evenHeight, m.
	evenHeight = 0.15
	// carryShare is the share of the way to the foot that carries it that the body goes, and maxCarry
	// the longest way, m.
	carryShare, maxCarry = 0.75, 0.3
	// The ankle stays leastStep of the leg's length below the hip, goes at most mostAcross of it to the side of the
	// other leg, and at most mostBehind of it behind the hip.
	leastStep, mostAcross, mostBehind = 0.3, 0.3, 0.5
	// A body that goes faster than carryNonePace does not move over its foot: it is carried by its own
	// speed, m/s.
	carryNonePace = 0.6
)

// advance takes the step of a leg of that length dt seconds on, and reports whether the foot has a place to
// go to.
func (p *Step) advance(hip m3.Vec3, length, dt float32) bool {
	want := float32(0)
	if p.Weight > 0 && m3.Finite(p.Weight) && p.Target.Finite() && p.Target.Len() < far {
		want = m3.Clamp(p.Weight, 0, 1)
		if !(p.gone < p.within) { // a body is on its way to a place that has a time
			want *= 1 - rise(hip.Sub(p.Target).Flat().Len(), stepFrom*length, stepTo*length)
		}
		p.aim(p.Target, stepJump)
	} else {
		p.settle()
	}
	p.gone = min(p.gone+dt, p.within)
	if !p.step(want, stepHalflife, stepJumpHalflife, dt) {
		p.timed = timed{}
		return false
	}
	return true
}

// sole returns where the sole of a foot whose own place is at is.
func (p *Step) sole(at m3.Vec3) m3.Vec3 {
	x := p.share()
	at = at.Lerp(p.place(), x)
	if p.Lift > 0 && m3.Finite(p.Lift) {
		y := x * (1 - x)
		at.Y += p.Lift * 64 * y * y * y // it begins and ends without an acceleration
	}
	return at
}

// carry returns by how much a body on two legs is moved for its steps, m: over the foot that carries it
// while the other is on its way, and then, if both stand at about the same height, between them.
func (s *Legged) carry(m []m3.Xform, plans []legPlan, steps []Step, pace float32) m3.Vec3 {
	if len(plans) != 2 {
		return m3.Vec3{}
	}
	hips := m[s.Rig.Roles.Spine[0]].Pos
	var by m3.Vec3
	for i := range steps {
		if !steps[i].on {
			continue
		}
		x, foot := steps[i].share(), plans[1-i].tip
		by = by.Add(carried(foot.Sub(hips).Flat()).Scale(4 * x * (1 - x))).Add(s.carryTo(hips, foot, steps[i].place()).Scale(x * x * x * x))
	}
	return by.Scale(carries(pace))
}

// carries returns how much a body that moves at pace is moved, 0 to 1.
func carries(pace float32) float32 { return 1 - ease(pace/carryNonePace) }

// carryTo returns by how much a body with these hips is moved while one foot stands and the other is at a place.
func (s *Legged) carryTo(hips, stands, at m3.Vec3) m3.Vec3 {
	even := 1 - ease(m3.Abs(at.Y+s.Sole-stands.Y)/evenHeight)
	return carried(stands.Lerp(at, 0.5*even).Sub(hips).Flat())
}

// carried returns the share of a way that bodies go.
func carried(way m3.Vec3) m3.Vec3 { return way.Scale(min(carryShare, maxCarry/max(way.Len(), tiny))) }

// Steppable returns nil if a person's foot can be put at a place for its sole, or an error that says why it
// cannot. m is the grounded pose of body in the space of the place.
func (s *Legged) Steppable(m []m3.Xform, body *Body, leg int, at m3.Vec3) error {
	if legs := s.Rig.Roles.Legs; len(legs) != 2 || s.Rig.hips[0] < 0 {
		return fmt.Errorf("ik: only a body on two legs steps")
	} else if leg < 0 || leg > 1 {
		return fmt.Errorf("ik: there is no leg %d", leg)
	}
	if !at.Finite() {
		return fmt.Errorf("ik: the place %v is not finite", at)
	}
	l, stands := s.Rig.Roles.Legs[leg], m[s.Rig.Roles.Legs[1-leg].tip()].Pos
	hip, length := m[l.hip()].Pos.Sub(body.shift), m[l.hip()].Pos.Dist(m[l.knee()].Pos)+m[l.knee()].Pos.Dist(m[l.ankle()].Pos)
	out := m[s.Rig.hips[leg]].Pos.Sub(m[s.Rig.hips[1-leg]].Pos).Flat().Normalize(m3.Vec3{})
	ahead := out.Cross(m3.Up)
	if leg == 1 {
		ahead = ahead.Neg()
	}
	ankle := at.Add(m3.V(0, s.Sole+TipHeight, 0)).Add(m[l.ankle()].Pos.Sub(m[l.tip()].Pos))
	way := ankle.Sub(hip)
	switch {
	case way.Y > -leastStep*length:
		return fmt.Errorf("ik: the place is %.2f m above the foot that stands, too high by %.2f m", at.Y-stands.Y, way.Y+leastStep*length)
	case way.Dot(out) < -mostAcross*length:
		return fmt.Errorf("ik: the place is beyond the other leg")
	case way.Dot(ahead) < -mostBehind*length:
		return fmt.Errorf("ik: the place is too far behind: turn toward it first")
	}
	way = way.Sub(s.carryTo(m[s.Rig.Roles.Spine[0]].Pos.Sub(body.shift), stands, at).Scale(carries(body.pace)))
	far := way.Len() - softReach*length
	if down := way.Flat().Len(); down < softReach*length { // by sinking
		far = max(-way.Y-s.MaxDrop-m3.Sqrt(softReach*softReach*length*length-down*down), 0)
	}
	if far > 0 {
		return fmt.Errorf("ik: the place is %.2f m from the hip, too far by %.2f m", way.Len(), far)
	}
	return nil
}
