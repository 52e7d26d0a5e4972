package strnn

import "mannequin/engine/m3"

// Steer is the component of somebody who goes on predicted motion: how they are asked to
// go. The zero value asks them to stand. A change shows within 2/3 s and the ticks of
// StreamOptions.Every, with the first frames that are begun after it, and is eased.
type Steer struct {
	Speed float32 // m/s ahead, 0 to MaxSpeed
	Turn  float32 // rad/s, counter-clockwise from above, at most MaxTurn to either side
	Free  bool    // they go where people who move as they do may go; Speed and Turn do not count
}

// The most that a Steer asks for; beyond it, it asks for these.
const (
	MaxSpeed = 1.8 // m/s
	MaxTurn  = 1.0 // rad/s
)

// sane returns what is asked for, within bounds, 0 in place of NaN.
func (w *Steer) sane() (speed, turn float32) {
	if speed = m3.Clamp(w.Speed, 0, MaxSpeed); speed != speed {
		speed = 0
	}
	if turn = m3.Clamp(w.Turn, -MaxTurn, MaxTurn); turn != turn {
		turn = 0
	}
	return speed, turn
}
