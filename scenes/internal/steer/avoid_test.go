package steer

import (
	"testing"

	"mannequin/engine/m3"
)

// Those who meet head on pass each other, both on the same side of themselves; those who do
// not meet go on.
func TestDodge(t *testing.T) {
	ahead, n := m3.V(0, 0, 1), Neighbors{Settings: Quick}
	if p := n.dodge(m3.V(0, 0, 2), m3.V(0, 0, 2), ahead, 1); p.Dot(m3.V(1, 0, 0)) > -0.3 {
		t.Errorf("head on one turns by %v, want to the right, −X", p)
	}
	if p := n.dodge(m3.V(-0.4, 0, 2), m3.V(0, 0, 2), ahead, 1); p.X < 0.1 {
		t.Errorf("from one who comes on the right one turns by %v, want to the left", p)
	}
	for name, c := range map[string][2]m3.Vec3{
		"one who goes on ahead": {m3.V(0, 0, 2), m3.V(0, 0, -1)}, "far aside": {m3.V(2, 0, 2), m3.V(0, 0, 2)}, "far ahead": {m3.V(0, 0, 9), m3.V(0, 0, 2)}, "as fast": {m3.V(0, 0, 1), {}},
	} {
		if p := n.dodge(c[0], c[1], ahead, 1); p != (m3.Vec3{}) {
			t.Errorf("%s: turns by %v", name, p)
		}
	}
}
