package controller

import (
	"math"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// made returns an answer whose root has a velocity along z at each time after the command, and hips a height.
func made(velocity, height func(t float64) float64) *answer {
	const steps = 100 // of a tick
	r, z := &answer{}, 0.0
	for tick := -lead; tick <= patience+half; tick++ {
		h := float32(height(float64(tick) / animsys.TickRate))
		r.at, r.hips, r.lowest = append(r.at, m3.V(0, 0, float32(z))), append(r.hips, h), append(r.lowest, h)
		for k := range steps {
			z += velocity((float64(tick)+float64(k)/steps)/animsys.TickRate) / animsys.TickRate / steps
		}
	}
	return r
}

// Answers that approach what is wanted exponentially are near it when the closed form says so.
func TestFirst(t *testing.T) {
	all := map[string]change{}
	for _, c := range changes(1, 3, func(string) bool { return true }) {
		all[c.name] = c
	}
	lag := func(from, to, by float64) func(t float64) float64 {
		return func(t float64) float64 {
			if t < 0 {
				return from
			}
			return to + (from-to)*math.Exp(-t/by)
		}
	}
	level := func(float64) float64 { return 1 }
	for _, c := range []struct {
		name             string
		velocity, height func(float64) float64
		want             float64 // s
	}{
		{"stand to walk", lag(0, 1, 0.3), level, 0.3 * math.Log(10)},
		{"stand to run", lag(0, 3, 0.2), level, 0.2 * math.Log(10)},
		{"run to stand", lag(3, 0, 0.2), level, 0.2 * math.Log(10)},
		{"run, turn round", lag(3, -3, 0.2), level, 0.2 * math.Log(20)},
		{"stand to crouch", level, lag(1, 0.6, 0.1), 0.1 * math.Log(10)},
		{"crouch to stand", level, lag(0.6, 1, 0.1), 0.1 * math.Log(10)},
		{"stand to jump", level, func(t float64) float64 { return max(0, t-0.2) }, 0.2 + lifted},
		{"stand to walk", lag(0, 0.8, 0.1), level, patience / animsys.TickRate}, // never
	} {
		change := all[c.name]
		if got := float64(change.first(made(c.velocity, c.height))) / animsys.TickRate; math.Abs(got-c.want) > 1.2/animsys.TickRate {
			t.Errorf("%s: after %.3f s, want %.3f", c.name, got, c.want)
		}
	}
}

// A person who is played by matching answers all commands that the clips can, alike to both sides.
func TestRespond(t *testing.T) {
	all := must.Get(Respond(subject(t), 1.2, 2.8))(t)
	var out strings.Builder
	must.Do(t, PrintResponses(&out, all))
	for _, r := range all {
		if strings.HasPrefix(r.Name, "aside") { // no clip goes aside as fast
			continue
		}
		if r.Never > 0 || !(r.Mean > 0.1 && r.Mean < r.Worst+1e-9 && r.Worst < 2.5) || r.Runs != 2*phases || (r.Way > 0) != (r.Name == "run to stand") {
			t.Errorf("%+v", r)
		}
		if !strings.Contains(out.String(), r.Name) {
			t.Errorf("%s is not printed", r.Name)
		}
	}
	if len(all) != 5 {
		t.Errorf("%d measures of a person without actions", len(all))
	}
	// Nobody runs at 30 m/s, and so nobody stops from it.
	for _, r := range must.Get(Respond(subject(t), 1.2, 30))(t)[1:4] {
		if r.Never != r.Runs || r.Mean != 0 {
			t.Errorf("at 30 m/s: %+v", r)
		}
	}
	for _, bad := range [][2]float32{{0, 1}, {-1, 1}, {2, 1}, {1, float32(math.Inf(1))}, {float32(math.NaN()), 1}} {
		if _, err := Respond(Subject{}, bad[0], bad[1]); err == nil {
			t.Errorf("speeds of %v are taken", bad)
		}
	}
}
