package metrics

import (
	"math"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/models"
)

// The shipped dogs, within bounds that only a broken dog or a broken measure leaves.
func TestDogsAreGolden(t *testing.T) {
	for _, name := range models.Names() {
		if net, err := models.Open(name); err != nil || net.Meta().Arch == "mann" {
			t.Run(name, func(t *testing.T) { isGolden(t, name) })
		}
	}
}

// fastGait is the gait of the shipped dogs at 3.3 m/s, as in their training data.
var fastGait = map[string]string{"dog": "gallop", "dog-free": "canter"}

func isGolden(t *testing.T, name string) {
	net := must.Get(models.Open(name))(t)
	m := must.Get(mann.NewModel(net))(t)
	r := &Rollout{Model: m, Workers: 2}
	name, _, far := strings.Cut(name, "-stride")
	if far { // beside the one that it stands in for
		near := must.Get(models.Open(name))(t)
		r.Far = m
		r.Model = must.Get(mann.NewModel(near))(t)
	}
	gaits := Gaits()
	made := must.Get(Generated(r, gaits, 5))(t)
	in := func(what string, v, lo, hi float64) {
		t.Helper()
		if !(v >= lo && v <= hi) {
			t.Errorf("%s is %.3g, want %g to %g", what, v, lo, hi)
		}
	}
	slide, shownSlide := 0.4, 0.4 // cm a frame
	if far {
		slide, shownSlide = 1.5, 0.3
	}
	in("restored", float64(r.Restored), 0, 0)
	rate := 0.0
	for i, g := range gaits {
		raw, shown := made[i].Raw, made[i].Shown
		in(g.Name+": speed ÷ command", raw.Speed/float64(g.Goals[0].Speed), 0.85, 1.15)
		in(g.Name+": skate", raw.Skate, 0.01, slide)
		in(g.Name+": skate shown", shown.Skate, 0.003, shownSlide)
		in(g.Name+": leg angles", raw.Stiffness, 1, 12)
		if !far { // its own pose stands still between its steps
			in(g.Name+": leg angles shown ÷ raw", shown.Stiffness/raw.Stiffness, 0.8, 1.5)
		}
		in(g.Name+": low", shown.Low, 0.15, 0.95)
		in(g.Name+": share of its frames", made[i].InGait, 0.5, 1)
		if raw.Skate == shown.Skate || raw.Stiffness == shown.Stiffness {
			t.Errorf("%s: what is shown is the network's own pose", g.Name)
		}
		in(g.Name+": lowest shown paw, m", lowestPaw(made[i].Takes[0].Shown), -0.01, 0.05)
		if g.Name == "turn" {
			continue
		}
		f := must.Get(FootfallOf(made[i].Takes[0].Shown))(t)
		t.Logf("%s: %+v", g.Name, f)
		// Faster gaits have more strides and shorter stances.
		in(g.Name+": strides per second", f.Rate, max(rate, 0.7), 3)
		in(g.Name+": duty", f.Duty[LeftHind], 0.15, 0.85)
		rate = f.Rate
		if want := map[string]string{"trot": "trot", "canter": fastGait[name]}[g.Name]; want != "" && f.Gait != want {
			t.Errorf("%s is a %s by its footfall", g.Name, f.Gait)
		}
	}
	path := must.Get(control.Builtin("circle"))(t)
	follow := must.Get(Following(r, []*control.Path{path}, control.PaceSpeed, 8))(t)
	in("distance from a circle", follow[0].DistanceCM, 0.1, 6)
	in("angle off a circle", follow[0].AngleDeg, 0.1, 8)
	if n := Experts(net); n < 2 {
		return
	}
	k := made[0].Takes[0].Experts
	gating := made[0].Takes[0].Gating
	for f := 0; f < len(gating); f += k {
		var sum float64
		for _, w := range gating[f : f+k] {
			sum += float64(w)
		}
		if math.Abs(sum-1) > 1e-4 {
			t.Fatalf("frame %d: the experts' weights sum up to %g", f/k, sum)
		}
	}
}

// lowestPaw returns the least height of a paw's tip in c, m.
func lowestPaw(c *skel.Clip) float64 {
	model, low := make([]m3.Xform, c.Skel.Len()), math.Inf(1)
	for f := range c.Frames {
		c.Model(model, f)
		for _, name := range pawJoints {
			low = min(low, float64(model[c.Skel.Index(name)].Pos.Y))
		}
	}
	return low
}
