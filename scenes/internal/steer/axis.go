package steer

import "mannequin/engine/m3"

// Axis limits an axis to [−1, 1]. NaN and infinity are 0.
func Axis(v float32) float32 {
	if !m3.Finite(v) {
		return 0
	}
	return m3.Clamp(v, -1, 1)
}
