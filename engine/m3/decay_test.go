package m3

import "testing"

// An offset of nearly half a turn that still grows comes back the way it came, and not the other way round.
func TestDecayStaysOnItsSide(t *testing.T) {
	decay := NewDecay(0.1, 1./60)
	for _, angle := range []float32{0.5, 2.5, 3, 3.09} {
		for _, speed := range []float32{-10, 0, 5, 20, 60} {
			axis := V(1, 2, -2).Scale(1. / 3)
			q, v := AxisAngle(axis, angle), axis.Scale(speed)
			fastest := Abs(speed)
			for range 120 {
				next, w := decay.Quat(q, v)
				fastest = max(fastest, 60*next.Mul(q.Conj()).RotationVector().Len())
				if along := next.RotationVector().Dot(axis); along < -0.6 { // the spring itself overshoots with a speed toward zero
					t.Fatalf("%g rad at %g rad/s: %g rad", angle, speed, along)
				}
				q, v = next, w
			}
			if q.RotationVector().Len() > 1e-3 || fastest > 70 {
				t.Errorf("%g rad at %g rad/s: %g rad are left, the fastest turn is %g rad/s", angle, speed, q.RotationVector().Len(), fastest)
			}
		}
	}
}
