package mann

import (
	"testing"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// A row that hangs in the air comes down, unless it jumps; what comes to the
// ground now and then stays as it is.
func TestSinks(t *testing.T) {
	for _, c := range []struct {
		name string
		up   float32
		act  control.Action
		hop  float32 // m by which it leaves its height, a tenth of a second in every third
		want float32
	}{
		{"in the air", 0.3, control.Move, 0, 0.03}, {"hovering", 0.04, control.Move, 0, 0.03}, {"jumping", 0.3, control.Jump, 0, 0.3},
		{"standing", 0.015, control.Move, 0, 0.015}, {"galloping", 0.005, control.Move, 0.1, 0.005}, {"galloping in the air", 0.1, control.Move, 0.1, 0.021},
	} {
		b := dogBatch()
		moving(b, 0)
		w := b.act[now*b.actions:][:b.actions]
		clear(w)
		w[b.Model.action[c.act]] = 1
		for k := range b.bonePos {
			b.bonePos[k].Y = c.up + 0.01*float32(k)
		}
		hop := func(by float32) {
			for k := range b.bonePos {
				b.bonePos[k].Y += by
			}
		}
		for tick := range 480 {
			switch tick % 20 {
			case 6:
				hop(c.hop)
			case 12:
				hop(-c.hop)
			}
			b.sink(0)
		}
		for k, p := range b.bonePos {
			if want := c.want + 0.01*float32(k); m3.Abs(p.Y-want) > 4e-3 {
				t.Fatalf("%s, %g m up: bone %d at %g m, want %g", c.name, c.up, k, p.Y, want)
			}
		}
	}
}
