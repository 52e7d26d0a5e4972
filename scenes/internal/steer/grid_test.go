package steer

import (
	"math"
	"testing"

	"mannequin/engine/m3"

	"pgregory.net/rapid"
)

// The grid against a search of all: each place within reach is found once, in the same order every
// time.
func TestGrid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(rt, "n")
		side := rapid.Float32Range(0.5, 40).Draw(rt, "side")
		reach := rapid.Float32Range(0.1, 3).Draw(rt, "reach")
		coord := rapid.OneOf(rapid.Float32Range(-side, 2*side), rapid.SampledFrom([]float32{0, side, -1e9, 1e9, float32(math.NaN())}))
		places := make([]m3.Vec3, n)
		for i := range places {
			places[i] = m3.V(coord.Draw(rt, "x"), 0, coord.Draw(rt, "z"))
		}
		g := NewGrid(0, 0, side, side, reach, n)
		for range 2 { // the second time it is in use already
			g.Fill(places)
		}
		for i, p := range places {
			found := make([]int, n)
			for k := range 3 {
				for _, r := range g.Near(p, k) {
					found[r]++
				}
			}
			for r, q := range places {
				if found[r] > 1 || (found[r] == 0 && p.Dist(q) < reach) {
					rt.Fatalf("from %v (%d) the one at %v is found %d times", p, i, q, found[r])
				}
			}
		}
	})
}
