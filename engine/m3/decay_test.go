package m3

import (
	"math/rand/v2"
	"testing"
)

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

// A step of many offsets is the step of one, to the bit.
func TestDecaySame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		v := func() Vec3 { return V(r.Float32()-0.5, r.Float32()-0.5, 10*r.Float32()) }
		halflife, dt, x, speed := r.Float32(), r.Float32()/10, v(), v()
		decay := NewDecay(halflife, dt)
		a, b := decay.Vec(x, speed)
		if c, d := DecayVec(x, speed, halflife, dt); a != c || b != d {
			t.Fatalf("%v and %v, alone %v and %v", a, b, c, d)
		}
	}
}
