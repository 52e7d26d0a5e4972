package manifold

import (
	"math"
	"testing"

	"mannequin/animsys/feature"
)

// Feet that come down 0.5 s apart make two steps per second, whichever of their
// contacts is first.
func TestStepsPerSecond(t *testing.T) {
	l := feature.Human()
	cols := l.Columns()
	rows := make([]float32, 200*cols)
	if got := StepsPerSecond(l, rows); got != 0 {
		t.Errorf("who stands makes %g steps per second", got)
	}
	for _, back := range []float32{1, -1} { // two a second, ahead and backward
		for f := range 200 {
			row := rows[f*cols:][:cols]
			row[l.Body()+feature.MotionZ] = back
			for i, c := range l.Contacts {
				row[l.Pos(l.Joint(c.Joint))+2] = 0.3 * float32(math.Sin(2*math.Pi*float64(f)/60+math.Pi*float64(i/2)))
			}
		}
		if got := StepsPerSecond(l, rows); math.Abs(got-2) > 0.02 {
			t.Errorf("%g steps per second, want 2", got)
		}
	}
}
