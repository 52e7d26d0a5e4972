package train

import (
	"context"
	"math"
	"testing"
)

func TestWarmRestarts(t *testing.T) {
	s := WarmRestarts{First: 10, Mult: 2, Clamp: 0.9}
	// The paper's restarts (sec. 6, fig. 6).
	restarts := map[int]bool{0: true, 11: true, 31: true, 71: true}
	for e := range 150 {
		if m := s.At(e, 0); (m == 1) != restarts[e] {
			t.Errorf("multiplier at the start of epoch %d is %v", e, m)
		}
	}
	for _, c := range []struct {
		epoch    int
		fraction float64
		want     float64
	}{
		{5, 0, 0.5}, {2, 0.5, 0.5 * (1 + math.Sqrt2/2)}, {21, 0, 0.5}, {51, 0, 0.5}, {111, 0, 0.5},
		// Clamped: 0.5·(1 + cos 162°).
		{9, 0, 0.0244717}, {10, 0.99, 0.0244717}, {30, 0.5, 0.0244717}, {149, 0.9, 0.0244717},
	} {
		if got := s.At(c.epoch, c.fraction); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("multiplier at %d + %v is %v, want %v", c.epoch, c.fraction, got, c.want)
		}
	}
}

// A schedule without a clamp comes down to a rate of zero, where nothing moves
// and nothing breaks.
func TestRateOfZero(t *testing.T) {
	y := newToy(t)
	y.job.Schedule = WarmRestarts{First: 1, Mult: 1, Clamp: 1}
	y.job.Epochs = 4
	rep := y.run(t, context.Background())
	if c := rep.Curve; c[2].Rate != 0 || c[2].HeldOut != c[1].HeldOut || !(rep.Best < rep.Initial) {
		t.Errorf("an epoch at rate %g changed the loss from %g to %g", c[2].Rate, c[1].HeldOut, c[2].HeldOut)
	}
}
