package metrics

import (
	"math"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
)

// A character of mannequin make goes in its own size, as fast as it is asked to in metres, and its takes say what it shows.
func TestRolloutOfCharacters(t *testing.T) {
	dogs, person := *testmatching.Dogs(t), *testmatching.Adaptive(t)
	dogs.Size, person.Size = 2, 0.5
	for name, c := range map[string]struct {
		file  *matching.File
		speed float32
		can   bool // sit
	}{"dog of twice the size": {&matching.File{Database: &dogs}, 1.5, true}, "person of half the size": {&matching.File{Adaptive: &person}, 0.6, false}} {
		r := &Rollout{Character: c.file, Workers: 1}
		if r.Can(control.Sit) != c.can {
			t.Errorf("%s can sit: %v", name, !c.can)
		}
		const ticks, sits = 6 * mann.Rate, 4 * mann.Rate
		take := must.Get(r.Run([]Agent{{Goal: sequence(step{0, ahead(c.speed)}, step{sits, control.Goal{Action: control.Sit}})}}, ticks))(t)[0]
		if v := take.Roots[sits-1].Pos.Dist(take.Roots[sits-1-mann.Rate].Pos); math.Abs(float64(v/c.speed)-1) > 0.15 {
			t.Errorf("%s goes at %.2f m/s, want %.2f", name, v, c.speed)
		}
		of := c.file.Character()
		for j, o := range of.Skel.Offsets[1:] {
			if d := take.Raw.Skel.Offsets[j+1].Sub(o.Scale(of.Size)).Len(); d > 1e-5 {
				t.Fatalf("%s: bone %s is off by %g m", name, of.Skel.Names[j+1], d)
			}
		}
		for f := range ticks {
			raw, _ := take.Raw.Frame(f)
			shown, _ := take.Shown.Frame(f)
			if d := raw[0].Dist(shown[0]); d > 0.25*of.Size || raw[0].Flat().Dist(take.Roots[f].Pos) > 0.3*of.Size {
				t.Fatalf("%s: in frame %d hips are at %v, shown at %v, over %v", name, f, raw[0], shown[0], take.Roots[f].Pos)
			}
		}
		moves, sat := take.Weights[sits-1][control.Move], take.Weights[ticks-1][control.Sit]
		if moves < 0.99 || c.can != (sat == 1) {
			t.Errorf("%s shows move by %g, then sit by %g", name, moves, sat)
		}
	}
}
