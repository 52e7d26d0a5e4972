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

// A schedule without a clamp falls to a rate of zero, which changes nothing.
func TestRateOfZero(t *testing.T) {
	y := newToy(t)
	y.job.Schedule = WarmRestarts{First: 1, Mult: 1, Clamp: 1}
	y.job.Epochs = 4
	rep := y.run(t, context.Background())
	if c := rep.Curve; c[2].Rate != 0 || c[2].HeldOut != c[1].HeldOut || !(rep.Best < rep.Initial) {
		t.Errorf("an epoch at rate %g changed the loss from %g to %g", c[2].Rate, c[1].HeldOut, c[2].HeldOut)
	}
}

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		s        Schedule
		epoch    int
		fraction float64
		want     float64
	}{
		{Constant{}, 7, 0.5, 1},
		// Lüdi 2016: a tenth every 50 of 200 epochs.
		{StepDecay{Every: 50, Factor: 0.1}, 0, 0, 1}, {StepDecay{Every: 50, Factor: 0.1}, 49, 0.99, 1},
		{StepDecay{Every: 50, Factor: 0.1}, 50, 0, 0.1}, {StepDecay{Every: 50, Factor: 0.1}, 199, 0, 0.001},
		{WarmUp{Epochs: 4, Then: Constant{}}, 0, 0, 0}, {WarmUp{Epochs: 4, Then: Constant{}}, 1, 0.5, 0.375},
		{WarmUp{Epochs: 4, Then: StepDecay{Every: 2, Factor: 0.5}}, 3, 0, 0.375},
		{WarmUp{Epochs: 4, Then: StepDecay{Every: 2, Factor: 0.5}}, 4, 0.5, 0.25},
	} {
		if err := c.s.Validate(); err != nil {
			t.Error(err)
		}
		if got := c.s.At(c.epoch, c.fraction); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%#v at %d + %v is %v, want %v", c.s, c.epoch, c.fraction, got, c.want)
		}
	}
	// STRNN's noise: 0.1, less 0.001 every epoch.
	f := Falling{From: 0.1, By: 0.001}
	for epoch, want := range map[int]float64{0: 0.1, 1: 0.099, 99: 0.001, 100: 0, 250: 0} {
		if got := f.At(epoch); math.Abs(got-want) > 1e-12 {
			t.Errorf("falling value in epoch %d is %v, want %v", epoch, got, want)
		}
	}
	restarts := WarmRestarts{First: 10, Mult: 2, Clamp: 0.9}
	for s, want := range map[Schedule]int{Constant{}: 150, restarts: 20, WarmUp{Epochs: 1, Then: restarts}: 20} {
		if got := cycle(s, 12, 150); got != want {
			t.Errorf("%#v: a cycle of %d epochs, want %d", s, got, want)
		}
	}
}
