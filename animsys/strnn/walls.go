package strnn

import (
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
)

// SetWalls makes steered agents turn along walls; see [generator.Walled].
func (s *Stream) SetWalls(walls generator.Surroundings) { s.walls = walls }

// Constants of alongWalls.
const (
	wallsAhead = 1.5 // s that an agent looks ahead
	wallsSteps = 6   // questions for walls in that time
	wallsTurn  = 0.6 // s in which it turns along a wall
	straight   = 0.1 // rad/s: who turns faster is left to who steers
	headOn     = 0.3 // share of the way that is left along a wall, from which an agent turns along it; with less it stops
)

// alongWalls changes how a row that goes straight on steers from the end of its window on, if that leads into a wall: the
// agent turns along the wall, or slows down before it.
func (s *Stream) alongWalls(row int, w Steer) Steer {
	speed, turn := w.clamped()
	if s.walls.Walls == nil || w.Free || speed == 0 || m3.Abs(turn) > straight {
		return w
	}
	b := &s.body[row]
	at := b.last
	for f := s.sched.At(row) / 2; f < s.model.Predict; f++ {
		at = at.Advance(s.frame(row, f)[s.model.Layout.Body():], 1.0/Rate)
	}
	const dt = wallsAhead / wallsSteps
	var body [feature.MotionLen]float32
	body[feature.MotionZ], body[feature.MotionYaw] = speed, turn
	is, met, left := at, false, float32(0) // left: of the way, along the wall
	for range wallsSteps {
		to := is.Advance(body[:], dt)
		by := s.walls.Slide(row, root(is), root(to))
		to.Pos = to.Pos.Add(by)
		if by != (m3.Vec3{}) && !met {
			met = true
			way := to.Pos.Sub(is.Pos)
			if left = way.Len() / (speed * dt); left > headOn {
				to.Yaw = m3.YawOf(way)
				body[feature.MotionYaw] = 0
			}
		}
		is = to
	}
	switch {
	case !met:
		return w
	case left > headOn:
		w.Turn = m3.Clamp(m3.WrapAngle(is.Yaw-at.Yaw)/wallsTurn, -MaxTurn, MaxTurn)
	default:
		w.Speed = min(speed, is.Pos.Dist(at.Pos)/wallsAhead)
	}
	return w
}

// root returns a place as a transform.
func root(p feature.Place) m3.Xform { return m3.Xform{Pos: p.Pos, Rot: m3.YawQuat(p.Yaw)} }
