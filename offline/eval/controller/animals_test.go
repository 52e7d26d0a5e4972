package controller

import (
	"math"
	"testing"

	"mannequin/animsys/matching"
	"mannequin/internal/testing/must"
	"mannequin/models"
)

// The shipped animals hold all speeds of their clips, and the slowest one aside and backward, on legs that bend at least 0.7 times as fast
// as in the clips, by `mannequin make` (°/s). The spider goes aside at half the speed: its clips' steps reach no farther. Between two
// speeds, legs bend at least 0.6 times as fast as in clips of the slower one, whatever came before.
func TestAnimals(t *testing.T) {
	for name, bends := range map[string][]float64{
		"horse":  {99, 132, 173, 180, 290, 397, 157, 128},
		"fox":    {68, 90, 101, 271, 360, 455, 88, 76},
		"spider": {32, 44, 58, 58, 66, 54},
	} {
		f := must.Get(models.OpenCharacter(name))(t)
		c := f.Character()
		s := Subject{New: Plays(f.Only(matching.LearnedMatching)), Speeds: c.Speeds(5), Top: c.TopSpeed(), Size: c.Size, Action: c.Action}
		all := must.Get(s.gaits())(t)
		if len(all) != len(bends) {
			t.Fatalf("%s: %d speeds, want %d", name, len(all), len(bends))
		}
		for i, h := range all {
			if math.Abs(h.Got-h.Asked) > 0.05*h.Asked || h.Bend < 0.7*bends[i] {
				t.Errorf("%s: %+v, and legs in the clips bend by %g°/s", name, h, bends[i])
			}
		}
		for _, h := range must.Get(s.changes())(t) {
			slower := 0
			for i, own := range all {
				if own.Way == ahead && own.Asked <= h.Asked {
					slower = i
				}
			}
			if h.Bend < 0.6*bends[slower] {
				t.Errorf("%s: %+v, and legs in slower clips bend by %g°/s", name, h, bends[slower])
			}
		}
	}
}
