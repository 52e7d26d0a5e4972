package ik

import "mannequin/engine/m3"

const (
	gravity = 9.81 // m/s²
	// fallDepth is how much lower the ground under a body may be than in the tick before, m: over a deeper
	// edge it falls. Away from the body, ground that is lower by that and the way there is out of reach.
	fallDepth = 0.3
	// wallHeight is the height over the floor up to which feet stand on all ground, m. Ground that is higher, and rises to there more steeply
	// than 45°, is the top of a wall.
	wallHeight = 0.5
	// highestRise is how much higher the floor under a body may be than in the tick before, m, where ground has floors: at most that share of
	// the height of its hips.
	highestRise, riseShare = 1, 0.8
	// deepestFall is the height from which bodies fall at most, m. Ground that is lower than that has moved.
	deepestFall = 500
	// landShare is the share of the hips' height by which legs bend in a landing.
	landShare = 0.35
	// hangTime is the time in which the legs of a falling body come to hang, s, and hangShare their
	// length then, as a share of their full length.
	hangTime, hangShare = 0.3, 0.9
	// jumpLift is how much higher than in standing the lowest foot is from which a body is in a jump, m. A jump carries it over a gap, for
	// jumpTime at most, s.
	jumpLift, jumpTime = 0.05, 1
)

// fall is a body's way down to ground that it cannot reach.
type fall struct {
	falls bool
	speed float32 // upward, m/s
	time  float32 // since the fall, or the jump over what is deeper, began, s
	brake float32 // how hard the body brakes in a landing, m/s²; 0: it does not land
	low   float32 // height of the lowest foot over the floor, in the motion, m
}

// fallDown finds the height of the floor under the flat pose m: it is the ground's, or above it if the
// body falls.
func (s *Legged) fallDown(m []m3.Xform, b *Body) {
	hips, neck := m[s.Rig.Roles.Spine[0]].Pos, m[s.Rig.Roles.Neck].Pos
	s.under = hips.Lerp(neck, 0.5)
	s.falls, s.floor = false, b.floor
	ground := s.heightAt(s.under.X, s.under.Z)
	if s.floors != nil && b.seen && !b.fall.falls && ground > b.floor+min(highestRise, riseShare*hips.Y) { // a body that leans or rolls into the side of a platform
		ground = b.floor
	}
	low, jump := s.lowestFoot(m), float32(TipHeight+jumpLift)
	switch f := &b.fall; {
	case !b.seen:
		b.floor, *f = ground, fall{}
	case f.falls:
		f.time += s.DT
		f.speed -= gravity / s.unit * s.DT
		if b.floor += f.speed * s.DT; b.floor > ground {
			break
		}
		*f = fall{brake: max(f.speed*f.speed/(2*landShare*max(hips.Y, tiny)), maxBodyAccel)}
		b.floor = ground
	case b.floor > ground+fallDepth && b.floor < ground+deepestFall:
		if f.time += s.DT; low < jump || f.time > jumpTime {
			f.falls, f.time, f.brake = true, 0, 0
			if f.low >= jump { // a jump that ends in the air
				f.speed = min((low-f.low)/s.DT, 0)
			}
		}
	default:
		b.floor, f.time = ground, 0
		if at := &b.ground[underHips]; m3.Abs(at.offset.Y) < 0.01 && m3.Abs(at.step.Y) < 0.05*s.DT {
			f.brake = 0
		}
	}
	b.fall.low = low
	s.falls, s.fallen, s.floor = b.fall.falls, b.fall.time, b.floor
}

// lowestFoot returns the height of the lowest foot of a pose.
func (s *Legged) lowestFoot(m []m3.Xform) (y float32) {
	for i, l := range s.Rig.Roles.Legs {
		if tip := m[l[len(l)-1]].Pos.Y; i == 0 || tip < y {
			y = tip
		}
	}
	return y
}

// push returns how hard the ground may push the body up and down, m/s².
func (f *fall) push() float32 {
	if f.falls {
		return 2 * gravity
	}
	return max(f.brake, maxBodyAccel)
}

// land stops a foot that hits the ground.
func (f *Foot) land() {
	for _, l := range [...]*limiter{&f.path, &f.ankle, &f.tip, &f.toes} {
		l.step.Y = max(l.step.Y, 0)
	}
}

// hang returns where the tip of a leg goes that is at tip while the body falls.
func (s *Legged) hang(tip, hip m3.Vec3, length float32) m3.Vec3 {
	return tip.Lerp(m3.V(m3.Lerp(hip.X, tip.X, 0.5), hip.Y-hangShare*length, m3.Lerp(hip.Z, tip.Z, 0.5)), ease(s.fallen/hangTime))
}
