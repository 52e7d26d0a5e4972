package matching

import (
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
	"mannequin/internal/testing/testgen"
)

// An agent whose pose is shown in one tick of four goes the way of one that is shown in each.
func TestStreamMovesAtAllRates(t *testing.T) {
	sk := testdog.Skeleton()
	d := must.Get(Build(sk, []Clip{{Motion: glide(sk, 1, 0.8, 300)}, {Motion: glide(sk, 2, 0, 300)}, {Motion: glide(sk, 0, 0, 300)}}, Options{}))(t)
	s := must.Get(d.NewStream(StreamOptions{Capacity: 2}))(t)
	p := testgen.Play(s, sk.Len())
	for range 2 {
		must.Get(s.Add(feature.Place{}, nil))(t)
	}
	s.agents[1].Wait = s.agents[0].Wait
	for tick := range 300 {
		for row := range 2 {
			s.goals[row] = control.Goal{Move: m3.V(0, 0, 1), Speed: float32(tick / 40 % 3), Turn: float32(tick / 55 % 2)}
			p.Poses().Update[row] = row == 0 || tick%4 == 0
		}
		must.Do(t, p.Continue())
		p.Advance(0, 2)
		if s.Root(0) != s.Root(1) || s.Frame(0) != s.Frame(1) {
			t.Fatalf("tick %d: shown in each tick it is at %v, frame %d; in one of four at %v, frame %d", tick, s.Root(0), s.Frame(0), s.Root(1), s.Frame(1))
		}
	}
}
