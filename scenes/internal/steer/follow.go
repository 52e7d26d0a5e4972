// Package steer is how the agents of scenes find their way: [Roam] makes them wander near their homes,
// [People] and [Herd] keep them off each other and on the terrain, and [Follow] keeps distance on a
// lane.
package steer

import "mannequin/engine/m3"

// Follow returns the speed of an agent that wants to go at speed behind another on a lane, which is
// a gap ahead and goes at its own speed, m and m/s. Agents on lanes obey about a second later.
func Follow(speed, gap, ahead float32) float32 {
	const room, rate = 1.6, 0.4 // m that are left between them, and 1/s at which they are reached
	return m3.Clamp(ahead+rate*(gap-room), 0, speed)
}
