package metrics

import (
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
)

// Way is how well a character goes back or aside or turns in place.
type Way struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Asked float64 `json:"asked"`
	Does  float64 `json:"does"` // mean at the end, in the direction asked for
	Raw   Motion  `json:"raw"`
	Shown Motion  `json:"shown"`
}

// Units of Way.
const (
	MetresPerSecond  = "m/s"
	DegreesPerSecond = "°/s"
)

// Off returns the relative difference from the command.
func (w Way) Off() float64 { return math.Abs(w.Does/w.Asked - 1) }

// Ways measures steps back and aside and turns in place, to either side, from idle. Measures cover
// the fourth to the eighth second, Does the last two.
func Ways(r *Rollout) ([]Way, error) {
	const lead, hold, first = mann.Rate, 8 * mann.Rate, 3 * mann.Rate
	legs, err := DogLegs(r.skeleton())
	if err != nil {
		return nil, err
	}
	step := func(move m3.Vec3, speed float32) control.Goal {
		return control.Goal{Move: move, Speed: speed, Action: control.Move}
	}
	modes := []Mode{
		{"back", step(m3.V(0, 0, -1), 0.3)},
		{"aside, left", step(m3.V(1, 0, 0), 0.4)},
		{"aside, right", step(m3.V(-1, 0, 0), 0.4)},
		{"turn in place, left", control.Goal{Turn: 1, Action: control.Move}},
		{"turn in place, right", control.Goal{Turn: -1, Action: control.Move}},
	}
	takes, err := Perform(r, modes, lead, hold)
	if err != nil {
		return nil, err
	}
	out := make([]Way, len(modes))
	for i, m := range modes {
		w, t := &out[i], takes[i]
		*w = Way{Name: m.Name, Unit: MetresPerSecond, Asked: float64(m.Goal.Speed), Does: speedAlong(t.Roots, m.Goal.Move)}
		if m.Goal.Turn != 0 {
			w.Unit, w.Asked, w.Does = DegreesPerSecond, float64(control.MaxTurn)*180/math.Pi, float64(m.Goal.Turn)*turnRate(t.Roots)
		}
		t = t.cut(lead + first)
		w.Raw, w.Shown = Measure(t.Raw, legs), Measure(t.Shown, legs)
	}
	return out, nil
}
