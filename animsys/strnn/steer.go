package strnn

import "mannequin/engine/m3"

// Steer is the component that steers an agent on predicted motion. The zero value makes it stand. A
// change shows after at most 2/3 s plus StreamOptions.Every ticks, with the first window requested
// after it, and is eased.
type Steer struct {
	Speed float32 // m/s ahead, 0 to MaxSpeed
	Turn  float32 // rad/s (no share, as control.Goal.Turn is), to the left, at most MaxTurn to either side; toward a place: control.MaxTurn * control.Steer(…)
	Free  bool    // the agent moves on its own, as is likely after its motion; Speed and Turn are ignored
}

// Scale multiplies the lengths of s by by, for a space with another unit.
func (s *Steer) Scale(by float32) { s.Speed *= by }

// Limits of a Steer; larger values are clamped.
const (
	MaxSpeed = 1.8 // m/s
	MaxTurn  = 1.0 // rad/s
)

// clamped returns the speed and the turn within their limits, 0 for NaN.
func (w *Steer) clamped() (speed, turn float32) {
	if speed = m3.Clamp(w.Speed, 0, MaxSpeed); speed != speed {
		speed = 0
	}
	if turn = m3.Clamp(w.Turn, -MaxTurn, MaxTurn); turn != turn {
		turn = 0
	}
	return speed, turn
}
