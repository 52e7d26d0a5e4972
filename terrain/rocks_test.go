package terrain

import (
	"math"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

func TestWithRocks(t *testing.T) {
	f := must.Get(Hills(Grid{Size: 20, Cell: 0.25}, HillsOptions{Seed: 3, Wavelength: 10, MaxSlope: 0.3}))(t)
	rock := Rock{At: m3.V(2, 9, -3), Radius: 1.5, Height: 0.8}
	got := must.Get(f.WithRocks([]Rock{rock}))(t)
	for i := range 400 {
		x, z := float32(i%20)*0.5-5, float32(i/20)*0.5-8
		rise := got.Height(x, z) - f.Height(x, z)
		switch d := m3.V(x, 0, z).Dist(rock.At.Flat()); {
		case d < 0.5 && m3.Abs(rise-0.8) > 1e-4, d > 2 && rise != 0, rise < 0 || rise > 0.8001:
			t.Errorf("%g m from the rock's middle the ground rises by %g m", d, rise)
		}
	}
	nan := float32(math.NaN())
	for _, r := range []Rock{{At: m3.V(nan, 0, 0), Radius: 1}, {}, {Radius: 1, Height: nan}, {Radius: -1}, {Radius: 1, Height: 1e38}} {
		if _, err := f.WithRocks([]Rock{r}); err == nil {
			t.Errorf("%+v is taken", r)
		}
	}
}
