package people

import (
	"testing"

	"mannequin/engine/m3"
)

// Two of three people pass each other twice, once at 0.4 m and once at 0.1 m.
func TestNearness(t *testing.T) {
	var n Nearness
	for _, apart := range []float32{2, 1, 0.4, 0.4, 1, 0.3, 0.1, 0.3, 2} {
		n.Add([]m3.Vec3{{}, {X: apart, Y: 1}, {Z: 9}})
	}
	for i, want := range []float64{4, 2, 2} {
		if got := n.Report(20)[i]; got.Times != want {
			t.Errorf("%g times nearer than %g m, want %g", got.Times, got.Than, want)
		}
	}
}
