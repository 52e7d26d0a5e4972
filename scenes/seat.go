package scenes

import "mannequin/engine/m3"

// Seat is from where a scene is watched at first. The zero value is as near to the focus as
// a dog is seen well from.
type Seat struct {
	Distance float32 // from the focus, m
	Pitch    float32 // how far it looks down, rad
	Aside    float32 // from behind the focus, rad
	Yaw      float32 // of an overview, rad
	Overview bool    // of all of them: the camera does not turn with anybody
}

// near is what the zero seat stands for: where the camera of engine/stage begins.
var near = Seat{Distance: 3.2, Pitch: 0.24}

// View returns where the camera is at first, and where it looks, unit.
func (s Seat) View(focus m3.Vec3, heading float32) (eye, ahead m3.Vec3) {
	if s == (Seat{}) {
		s = near
	}
	yaw := s.Yaw
	if !s.Overview {
		yaw = heading + s.Aside
	}
	ahead = m3.V(m3.Cos(s.Pitch)*m3.Sin(yaw), -m3.Sin(s.Pitch), m3.Cos(s.Pitch)*m3.Cos(yaw))
	return focus.Sub(ahead.Scale(s.Distance)), ahead
}

// Behind returns the seat from which one of n people is followed who go about close to each
// other: where they are many, from over their heads.
func Behind(n int) Seat {
	const few, many = 10, 40
	share := m3.Clamp(float32(n-few)/(many-few), 0, 1)
	return Seat{Distance: 5 + 3*share, Pitch: 0.2 + 0.3*share}
}

// Overlook returns the seat from which n characters on a common are seen, or as many of
// them as one can make out: at a hill's height over them.
func Overlook(n int) Seat {
	return Seat{Distance: min(4+1.1*m3.Sqrt(float32(n)), 24), Pitch: 0.30, Yaw: 0.5, Overview: true}
}
