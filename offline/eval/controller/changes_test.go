package controller

import (
	"math"
	"testing"

	"mannequin/animsys/matching"
	"mannequin/internal/testing/must"
	"mannequin/models"
)

// Between two gaits with a wide gap more speeds are asked for.
func TestBetween(t *testing.T) {
	s := Subject{Speeds: []float32{0.5, 0.6, 1.2}, Top: 3.5}
	all := s.between()
	for i, v := range all[1:] {
		if v/all[i] > 1.401 || v <= all[i] {
			t.Errorf("%g m/s follows %g", v, all[i])
		}
	}
	if len(all) != 9 || all[0] != 0.5 || all[1] != 0.6 || all[4] != 1.2 || all[8] != 3.5 {
		t.Errorf("%v", all)
	}
}

// The shipped horse steps at all speeds between its gaits, after all others.
func TestChanges(t *testing.T) {
	f := must.Get(models.OpenCharacter("horse"))(t)
	c := f.Character()
	s := Subject{New: Plays(f.Only(matching.LearnedMatching)), Speeds: c.Speeds(Gaits), Top: c.TopSpeed(), Size: c.Size, Action: c.Action}
	all := must.Get(s.changes())(t)
	if n := len(s.all()) + 1; len(all) != n*len(s.between())-len(s.all()) {
		t.Errorf("%d changes from %d to %d speeds", len(all), n, len(s.between()))
	}
	steady := map[float64]float64{} // how fast legs bend at speeds that were asked for from the beginning, °/s
	for _, h := range must.Get(s.gaits())(t) {
		if h.Way == ahead {
			steady[h.Asked] = h.Bend
		}
	}
	for _, c := range all {
		if math.Abs(c.Got-c.Asked) > 0.1*c.Asked || c.Bend < 60 {
			t.Errorf("%+v", c)
		}
		if bend, ok := steady[c.Asked]; ok && math.Abs(c.Bend-bend) > 0.3*bend {
			t.Errorf("%+v; from the beginning legs bend by %.0f°/s", c, bend)
		}
	}
	if len(steady) != len(s.all()) {
		t.Errorf("%v", steady)
	}
}
