package mann

import (
	"testing"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// A row that hangs in the air comes down, unless it jumps; what stands on the
// ground stays.
func TestSinks(t *testing.T) {
	for _, c := range []struct {
		up   float32
		act  control.Action
		want float32
	}{{0.3, control.Move, 0.1}, {0.3, control.Jump, 0.3}, {0.05, control.Move, 0.05}} {
		b := dogBatch()
		moving(b, 0)
		w := b.act[now*b.actions:][:b.actions]
		clear(w)
		w[b.Model.action[c.act]] = 1
		for k := range b.bonePos {
			b.bonePos[k].Y = c.up + 0.01*float32(k)
		}
		for range 120 {
			b.sink(0)
		}
		for k, p := range b.bonePos {
			if want := c.want + 0.01*float32(k); m3.Abs(p.Y-want) > 1e-3 {
				t.Fatalf("%v, %g m up: bone %d at %g m, want %g", c.act, c.up, k, p.Y, want)
			}
		}
	}
}
