package scenes

import "mannequin/engine/m3"

// Seat is the initial camera position of a scene. The zero value is a near view of a dog.
type Seat struct {
	Distance float32 // from the focus, m
	Pitch    float32 // downwards, rad
	Aside    float32 // from behind the focus, rad
	Yaw      float32 // of an overview, rad
	Overview bool    // the camera shows all characters and does not turn with the focus
}

// near is the zero seat: the camera of engine/stage begins there.
var near = Seat{Distance: 3.2, Pitch: 0.24}

// View returns the initial position and viewing direction (unit) of the camera.
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

// Behind returns a seat that follows one of n people who walk close to each other. In a large
// crowd it is high enough to see over their heads.
func Behind(n int) Seat {
	const few, many = 10, 40
	share := m3.Clamp(float32(n-few)/(many-few), 0, 1)
	return Seat{Distance: 5 + 3*share, Pitch: 0.2 + 0.3*share}
}

// Overlook returns an overview of n characters on open ground, at most 24 m away.
func Overlook(n int) Seat {
	return Seat{Distance: min(4+1.1*m3.Sqrt(float32(n)), 24), Pitch: 0.30, Yaw: 0.5, Overview: true}
}
