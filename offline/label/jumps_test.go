package label

import (
	"math"
	"testing"

	"mannequin/engine/m3"
)

// bounds returns a body on some legs whose hips bob as in a gallop, in each of three seconds twice, while its feet leave the floor by
// a height for a time, s.
func bounds(legs int, height, air float64) []posture {
	const fps = 60
	p := make([]posture, 3*fps)
	for f := range p {
		phase := math.Mod(float64(f)/fps, 0.5) - 0.25 // s, from the middle of the flight
		p[f].hips = 0.5 + 0.09*math.Cos(4*math.Pi*phase)
		y := 0.0
		if math.Abs(phase) < air/2 {
			y = height
		}
		for range legs {
			p[f].feet = append(p[f].feet, m3.V(0, float32(y), 0))
		}
	}
	return p
}

// Each stride of a gallop has a short flight, and is no jump: in a jump all paws are off the floor for as long as the hips fall. On two
// legs hips that fall for so long say a jump.
func TestJumpsAndGallops(t *testing.T) {
	for _, c := range []struct {
		name        string
		legs        int
		height, air float64
		jumps       bool
	}{
		{"gallop", 4, 0.06, 0.08, false},
		{"paws that hardly leave the floor", 4, 0.01, 0.25, false},
		{"jumps", 4, 0.1, 0.25, true},
		{"a person", 2, 0.06, 0.08, true},
	} {
		s := &Stance{hips: 0.5, feet: make([]float64, c.legs)}
		all := s.flights(bounds(c.legs, c.height, c.air), 60)
		if len(all) > 0 != c.jumps {
			t.Errorf("%s: flights %v", c.name, all)
		}
		for _, f := range all {
			if mid := math.Mod(float64(f[0]+f[1])/120, 0.5); math.Abs(mid-0.25) > 0.05 {
				t.Errorf("%s: a flight in frames %v, %.2f s from its beginning", c.name, f, mid)
			}
		}
	}
}
