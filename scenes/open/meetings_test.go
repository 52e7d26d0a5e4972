package open_test

import (
	"cmp"
	"os"
	"strconv"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/models"
	stylesgram "mannequin/models/styles-gram"
	"mannequin/scenes/internal/testscene"
	"mannequin/scenes/open"
)

// Nobody walks through anybody, but for people on sliders, who cannot stop: seldom through each other,
// and through the player's character of the scene latent, whom nobody leads here and who goes straight.
// $MANNEQUIN_SECONDS sets the time, $MANNEQUIN_SEEDS the number of seeds; -v shows the counts.
func TestMeetings(t *testing.T) {
	seconds := must.Get(strconv.Atoi(cmp.Or(os.Getenv("MANNEQUIN_SECONDS"), "8")))(t)
	seeds := must.Get(strconv.Atoi(cmp.Or(os.Getenv("MANNEQUIN_SEEDS"), "1")))(t)
	for _, c := range []struct {
		scene  string
		agents int
		most   float64 // meetings per person and minute
	}{{"strnn", 30, 0}, {"crowd", 60, 0.2}, {"latent", 20, 0.5}, {"people", 40, 0}, {"herd", 30, 0}} {
		t.Run(c.scene, func(t *testing.T) {
			for seed := range seeds {
				setup := open.Default(c.scene)
				setup.Agents, setup.Seed, setup.Terrain = c.agents, uint64(seed+1), "flat"
				s := testscene.Keep(first(open.Scene(setup, open.Resources{Net: models.Open, Transfers: stylesgram.Open, Workers: 1})))(t)
				m := testscene.Meet(t, s, seconds)
				t.Logf("seed %d: %v", seed+1, m)
				if n := m.Hips[2]; float64(n) > c.most*m.Minutes {
					t.Errorf("seed %d: %d times the hips of two people come nearer than %g m", seed+1, n, testscene.HipsNear[2])
				}
			}
		})
	}
}

func first[A, B any](a A, _ B, err error) (A, error) { return a, err }
