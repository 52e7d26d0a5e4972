package controller

import (
	"math"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// A person holds the speeds of its clips ahead. Where more is asked than the clips have, the measured speed is lower.
func TestHold(t *testing.T) {
	all := must.Get(Hold(subject(t), 1.2, 2.4))(t)
	if len(all) != 10 {
		t.Errorf("%d speeds of a person who cannot crouch", len(all))
	}
	for _, h := range all {
		if h.Way == "ahead" && h.Asked > 1 && (h.Got < 0.9*h.Asked || h.Got > 1.1*h.Asked || h.Off > 10 || h.Beside > 0.1) {
			t.Errorf("%+v", h)
		}
	}
	var out strings.Builder
	must.Do(t, PrintHeld(&out, all))
	if !strings.Contains(out.String(), "aside") || !strings.Contains(out.String(), "2.40 m/s") {
		t.Errorf("printed: %s", out.String())
	}
	fast := must.Get(Hold(subject(t), 1.2, 30))(t)[3]
	if fast.Asked != 30 || fast.Got > 10 {
		t.Errorf("%+v", fast)
	}
	if _, err := Hold(subject(t), 2, 1); err == nil {
		t.Error("running slower than walking is taken")
	}
	// Twice the size goes at the same speeds, of its own size.
	large := subject(t)
	large.Size = 2
	if h := must.Get(Hold(large, 2.4, 4.8))(t)[1]; h.Got < 2.1 || h.Got > 2.7 {
		t.Errorf("%+v", h)
	}
}

// A body whose pose stays as it is slips at its whole speed. Legs that turn bend, and a foot that stands slips by nothing.
func TestGait(t *testing.T) {
	s := subject(t)
	w := must.Get(s.world(1))(t)
	defer w.crowd.Close()
	must.Do(t, w.schedule.Step())
	const speed = 1.5
	l := newLegs(w.crowd, 1)
	pos, rot := w.crowd.Poses.Joints(0, w.crowd.Skel.Len())
	l.tick(0, speed)
	pos[0].Z += speed / animsys.TickRate
	if g := l.tick(0, speed); math.Abs(g.Slip-1) > 1e-3 || g.Bend > 0.1 {
		t.Errorf("a pose that glides: %+v", g)
	}
	leg := w.crowd.Ground.Rig.Roles.Legs[0]
	const turn = 0.01
	rot[leg[0]] = rot[leg[0]].Mul(m3.AxisAngle(m3.V(1, 0, 0), turn))
	joints := 0
	for _, l := range w.crowd.Ground.Rig.Roles.Legs {
		joints += len(l) - 1
	}
	want := turn / float64(joints) * 180 / math.Pi * animsys.TickRate
	if g := l.tick(0, speed); g.Slip > 1e-3 || math.Abs(g.Bend-want) > 0.02*want {
		t.Errorf("one leg turns on the spot: %+v, want %.1f°/s", g, want)
	}
}
