package controller

import (
	"math"
	"testing"

	"mannequin/animsys/matching"
	"mannequin/internal/testing/must"
	"mannequin/models"
)

// The shipped person answers as soon as docs/person.md says, and holds its speeds.
func TestHero(t *testing.T) {
	f := must.Get(models.OpenCharacter("hero"))(t)
	s := Subject{New: Plays(f.Only(matching.LearnedMatching)), Speeds: f.Character().Speeds(3), Size: f.Character().Size, Action: f.Character().Action}
	bars := map[string]float64{"stand to walk": 0.4, "stand to run": 0.8, "run to stand": 0.6, "run, turn round": 0.6, "aside, to the other side": 0.45,
		"stand to crouch": 0.4, "crouch to stand": 0.4, "stand to jump": 0.2}
	all := must.Get(Respond(s, 1.4, 3.5))(t)
	if len(all) != len(bars) {
		t.Errorf("%d measures, want %d", len(all), len(bars))
	}
	for _, r := range all {
		if r.Never > 0 || r.Mean > bars[r.Name] || r.Worst > 0.75 || r.Way > 1.2 {
			t.Errorf("%+v, want a mean of %.2f s", r, bars[r.Name])
		}
	}
	for _, a := range must.Get(Apexes(s, 1.4, 3.5))(t) {
		if a.Delay > 0.3 || a.Never > 0 {
			t.Errorf("%+v", a)
		}
	}
	for _, h := range must.Get(Hold(s, 1.4, 3.8))(t) {
		if math.Abs(h.Got-h.Asked) > 0.1*h.Asked || h.Beside > 0.1*h.Asked || h.Off > 15 {
			t.Errorf("%+v", h)
		}
	}
}
