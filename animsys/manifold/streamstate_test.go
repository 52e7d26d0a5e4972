package manifold

import (
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testgen"
)

// Agents that were saved in different ticks, each with a window that is being made, are restored into one stream and go on.
func TestRestoresFromDifferentTicks(t *testing.T) {
	m := made(t, 8, 5)
	nets := m.With(m.steady(t, 0.1, duty, lags), m.drift(t))
	line := must.Get(control.NewPath([]m3.Vec3{{}, m3.V(0, 0, 100)}, false))(t)
	const agents = 8
	play := func() (*Stream, *testgen.Player[Curve]) {
		s := must.Get(nets.NewStream(StreamOptions{Capacity: agents, Batch: 1, Workers: 1}))(t)
		t.Cleanup(func() { s.Close() })
		return s, testgen.Play(s, m.Skel.Len())
	}
	one, player := play()
	must.Get(one.Add(feature.Place{}, &Curve{Path: line, Speed: 1}))(t)
	var state generator.State
	for range agents {
		must.Do(t, player.Tick(1))
		one.Save(&state, 0)
	}
	all, player := play()
	state.Rewind()
	for range agents {
		must.Get(all.Restore(&state))(t)
	}
	for range 600 {
		must.Do(t, player.Tick(agents))
	}
	for row := range agents {
		if z := all.Root(row).Pos.Z; z < 3 {
			t.Errorf("agent %d went %g m in 10 s", row, z)
		}
	}
}
