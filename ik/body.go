package ik

import "mannequin/engine/m3"

// Places on the body under which the ground is read.
const (
	underHips = iota
	underChest
	underNeck
	underLeft // the roots of the forelegs
	underRight
	bodyPlaces
)

const (
	// trunkShare is the share of the way that pelvis and chest turn with the terrain.
	trunkShare = 0.5
	// groundWindow is the length along the body over which its ground is averaged, m: that makes a
	// step a ramp.
	groundWindow = 0.5
	// maxBodyAccel bounds how hard the ground pushes the body up and down, m/s².
	maxBodyAccel = 5
	// bodyEaseHalflife is the half-life in which the body makes up for that, and of its pace, s.
	bodyEaseHalflife = 0.1
	// maxSunkDepth is how deep the flat pose's feet may be in the ground before the body rises, m.
	maxSunkDepth = 0.02
	// firstSinkPasses is the number of passes in which a new body sinks. One is not enough, because
	// a sinking chest swings the forelegs.
	firstSinkPasses = 3
)

// Body is the solver's memory of one body. Set it to the zero Body for an agent that is new or was
// moved.
type Body struct {
	seen   bool
	floor  float32 // height of the ground under the body, and above it in a fall, m
	fall   fall
	at     m3.Vec3             // the flat pose's hips at the last tick
	pace   float32             // their speed over the ground, eased, m/s
	rise   float32             // and how fast they rise, m/s
	ground [bodyPlaces]limiter // height of the ground under places of the body, m (Y)
	shift  m3.Vec3             // by how much it was moved in the last tick, m
	lean   springVec           // by how much more than its flat pose it is tilted: the way over the height
	bow    spring              // by how much it bows, likewise
	over   springVec           // by how much it is moved over its feet, m
	sink   [2]spring           // how far hips and chest are lowered for their legs, m
	head   [maxChain]limiter   // the joints' ways through the world
	tail   [maxChain]limiter   // last, as people have none: saves end before it
}

// BodyOn returns the memory of an agent that is new or was moved, and stands at height y, m, of a [Floors].
func BodyOn(y float32) Body { return Body{floor: y} }

// Floor returns the height of the ground on which the agent stands, or to which it has fallen, m.
func (b *Body) Floor() float32 { return b.floor }

type spring struct{ x, v float32 }

type springVec struct{ x, v m3.Vec3 }

// next advances the spring toward goal. A new body begins at zero: the agent may have been shown without leaning, by another solver.
func (s *springVec) next(goal m3.Vec3, halflife, dt float32) {
	s.x, s.v = m3.SpringVec(s.x, s.v, goal, halflife, dt)
}

// observe takes in the flat pose's hips and returns their speed over the ground, m/s.
func (b *Body) observe(hips m3.Vec3, dt float32) float32 {
	if b.seen {
		b.pace = m3.DampTo(b.pace, hips.Sub(b.at).Flat().Len()/dt, bodyEaseHalflife, dt)
		b.rise = (hips.Y - b.at.Y) / dt
	}
	b.at = hips
	return b.pace
}

// meanGround returns the mean height of the ground under p along the heading ahead.
func (s *Legged) meanGround(p, ahead m3.Vec3) float32 {
	const n = 5
	var sum float32
	for i := range n {
		d := groundWindow * (float32(i)/(n-1) - 0.5)
		x, z := p.X+d*ahead.X, p.Z+d*ahead.Z
		y := s.heightAt(x, z)
		if lowest, highest := s.reach(x, z); (y < lowest || y > highest) && m3.Finite(y) { // a body does not bow to ground that is out of reach
			y = s.floor
		}
		sum += y
	}
	return sum/n + s.Sole
}

// senseBody reads the ground under the flat pose m.
func (s *Legged) senseBody(m []m3.Xform, b *Body) {
	spine := s.Rig.Roles.Spine
	joints := [bodyPlaces]int{spine[0], spine[len(spine)-1], s.Rig.Roles.Neck, s.Rig.sides[0], s.Rig.sides[1]}
	ahead := m[s.Rig.Roles.Neck].Pos.Sub(m[spine[0]].Pos)
	if l, r := s.Rig.hips[0], s.Rig.hips[1]; l >= 0 { // an upright trunk moves with the hips
		ahead = m[l].Pos.Sub(m[r].Pos).Cross(m3.Up)
		joints = [bodyPlaces]int{spine[0], -1, -1, -1, -1}
	}
	ahead = ahead.Flat().Normalize(m3.Vec3{})
	for i, j := range joints {
		if j >= 0 {
			b.ground[i].next(m3.V(0, s.meanGround(m[j].Pos, ahead), 0), b.fall.push(), bodyEaseHalflife, s.DT)
		}
	}
}

// liftSpine lifts the flat pose m to the ground. The hips move; the pelvis turns half of the way
// toward the neck's lifted place; the rest of the spine follows until chest and neck are as high
// over the ground as they were over the flat; the chest rolls with the ground under the forelegs.
// Hips and chest sink as far as b says. An upright trunk is only moved.
func (s *Legged) liftSpine(m []m3.Xform, b *Body) {
	t, joints, neck := s.Rig.Tree, s.Rig.Roles.Spine, s.Rig.Roles.Neck
	lift := func(j, under int, sink float32) m3.Vec3 {
		p := m[j].Pos
		p.Y += b.ground[under].out.Y - sink
		return p
	}
	last := len(joints) - 1
	hips, chest := joints[0], joints[last]
	sinkHips, sinkChest := b.sink[0].x, b.sink[1].x
	neckTo, chestTo := lift(neck, underNeck, sinkChest), lift(chest, underChest, (sinkHips+sinkChest)/2)
	var line, lineTo m3.Vec3
	if l, r := s.Rig.sides[0], s.Rig.sides[1]; l >= 0 {
		line, lineTo = m[l].Pos.Sub(m[r].Pos), lift(l, underLeft, 0).Sub(lift(r, underRight, 0))
	}
	up := s.shift.Add(m3.V(0, b.ground[underHips].out.Y-sinkHips, 0))
	for j := hips; j < int(t.ends[hips]); j++ {
		m[j].Pos = m[j].Pos.Add(up)
	}
	if s.Rig.hips[0] >= 0 {
		return
	}
	t.aim(m, hips, m[neck].Pos, neckTo, trunkShare)
	for i := 1; i < last; i++ {
		t.aim(m, joints[i], m[chest].Pos, chestTo, 1/float32(last-i))
	}
	t.aim(m, chest, m[neck].Pos, neckTo, 1)
	t.aim(m, chest, m[chest].Pos.Add(line), m[chest].Pos.Add(lineTo), trunkShare)
}

// sinkBody lowers hips and chest of the pose m, made with b, toward where the standing feet come
// within reach, as far as the body has room over the ground. It reports whether that changed
// anything.
func (s *Legged) sinkBody(m []m3.Xform, legs []legPlan, b *Body) bool {
	var goal [2]float32
	room := [2]float32{s.MaxDrop, s.MaxDrop}
	for i, l := range s.Rig.Roles.Legs {
		end := 0
		if s.Rig.fore[i] {
			end = 1
		}
		hip, length := m[l.hip()].Pos, l.length(m)
		reach, least := legs[i].reach*length, legs[i].minReach*length
		d := hip.Sub(legs[i].ankle)
		flat := d.Flat().Len()
		short := d.Y - m3.Sqrt(max(reach*reach-flat*flat, 0))
		goal[end] = max(goal[end], legs[i].load*(b.sink[end].x+short))
		// Hips and shoulders stay above the ground, and so high that legs need not fold up.
		high := hip.Y - s.groundHeight(hip.X, hip.Z) - s.Clearance
		if flat < least {
			high = min(high, d.Y-m3.Sqrt(least*least-flat*flat))
		}
		room[end] = min(room[end], b.sink[end].x+high)
		if legs[i].depth > maxSunkDepth {
			room[end] = min(room[end], maxSunkDepth-legs[i].depth)
		}
	}
	changed := false
	for i := range goal {
		x, to := b.sink[i].x, max(min(goal[i], room[i]), -s.MaxDrop)
		if b.sink[i].x = to; b.seen {
			b.sink[i].x, b.sink[i].v = m3.Spring(x, b.sink[i].v, to, s.Sink, s.DT)
		}
		changed = changed || m3.Abs(b.sink[i].x-x) > 1e-5
	}
	return changed
}
