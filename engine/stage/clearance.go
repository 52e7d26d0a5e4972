package stage

import "mannequin/engine/m3"

// clearance is the change of the camera's pitch and distance that keeps the ground from hiding the
// target. The camera looks down more steeply or, near the vertical, comes closer. It reacts quickly
// and returns slowly, on springs, so that nothing jumps.
type clearance struct {
	lift, rising   float32 // rad, added to the pitch, and per second
	reach, growing float32 // remaining share of the distance, and per second
}

const (
	overGround  = 0.15 // m: minimum height of the line of sight above the ground
	below       = 0.2  // m: visible distance below the target, for the legs
	steepest    = 0.8  // rad: beyond this pitch the camera comes closer instead
	besides     = 0.2  // rad: also checks this far to either side, for turns
	raiseTime   = 0.09 // s: half-lives
	restoreTime = 0.9
)

// move advances by dt seconds, or at once if cut, for a camera at distance along yaw and pitch.
func (c *clearance) move(height HeightFunc, target m3.Vec3, yaw, pitch, distance, dt float32, cut bool) {
	need := float32(-1)
	for _, side := range [...]float32{-besides, 0, besides} {
		need = max(need, horizon(height, target, yaw+side, pitch, distance))
	}
	lift := max(min(need, steepest)-pitch, 0)
	reach := float32(1)
	if need > steepest {
		reach = free(height, target, yaw, max(pitch, steepest), distance) / distance
	}
	if cut {
		*c = clearance{lift: lift, reach: reach}
		return
	}
	pick := func(raise bool) float32 {
		if raise {
			return raiseTime
		}
		return restoreTime
	}
	c.lift, c.rising = m3.Spring(c.lift, c.rising, lift, pick(lift > c.lift), dt)
	c.reach, c.growing = m3.Spring(c.reach, c.growing, reach, pick(reach < c.reach), dt)
	c.lift, c.reach = max(c.lift, 0), m3.Clamp(c.reach, 0, 1)
}

// look calls see with points between target and eye, near to far, until it returns false:
// horizontal distance, m, and the height that a view must clear, both from the target.
func look(height HeightFunc, target m3.Vec3, yaw, reach float32, see func(r, h float32) bool) {
	const first, step, most = 0.4, 0.2, 64 // m: nearer ground is under the character
	n := min(max(int((reach-first)/step), 1), most)
	back := direction(yaw, 0).Neg()
	for i := range n + 1 {
		r := first + (reach-first)*float32(i)/float32(n)
		at := target.Add(back.Scale(r))
		if !see(r, height(at.X, at.Z)+overGround*min(r, 1)+below-target.Y) {
			return
		}
	}
}

// horizon returns the least pitch from which no ground hides the target from an eye at distance.
func horizon(height HeightFunc, target m3.Vec3, yaw, pitch, distance float32) float32 {
	most := float32(-1)
	look(height, target, yaw, max(distance*m3.Cos(pitch), minDistance), func(r, h float32) bool {
		most = max(most, m3.Atan2(h, r))
		return true
	})
	return most
}

// free returns the distance, at most distance, at which an eye at pitch still sees the target.
func free(height HeightFunc, target m3.Vec3, yaw, pitch, distance float32) float32 {
	tan, cos := m3.Sin(pitch)/m3.Cos(pitch), m3.Cos(pitch)
	far, before := distance, float32(0)
	look(height, target, yaw, distance*cos, func(r, h float32) bool {
		if h > r*tan {
			far = before / cos
			return false
		}
		before = r
		return true
	})
	return m3.Clamp(far, min(minDistance, distance), distance)
}
