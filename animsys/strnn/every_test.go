package strnn_test

import (
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/teststrnn"
)

// Windows start only in the ticks that the options allow, evenly spread.
func TestStreamEvery(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Guide: true})
	s := must.Get(play(m.NewStream(strnn.StreamOptions{Capacity: 9, Workers: 1, Every: 4, From: 3})))(t)
	defer s.Close()
	began := map[int]int{}
	for tick := range 2 * 2 * m.Predict {
		if tick%3 == 0 && s.Agents() < 9 {
			must.Get(s.Add(feature.Place{}, nil))(t)
		}
		must.Do(t, s.Continue())
		s.Advance(0, s.Agents())
		for r := range s.Agents() {
			if s.WindowStarted(r) {
				began[tick%4]++
			}
		}
	}
	if len(began) != 1 || began[3] < 9 {
		t.Errorf("windows started per tick of four: %v, want all in the last", began)
	}
	for _, o := range []strnn.StreamOptions{{Every: 3 * m.Predict}, {Every: -1}, {Every: 2, From: 2}, {From: 1}, {Every: 2, From: -1}} {
		o.Capacity, o.Workers = 1, 1
		must.Fail(m.NewStream(o))(t, "want a divisor")
	}
}

// A frozen agent does not move, and later continues from there.
func TestStreamFrozen(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Guide: true})
	s := must.Get(play(m.NewStream(strnn.StreamOptions{Capacity: 2, Workers: 1})))(t)
	defer s.Close()
	for range 2 {
		must.Get(s.Add(feature.Place{}, nil))(t)
	}
	s.Controls()[0].Speed, s.Controls()[1].Speed = 1, 1
	run := func(ticks int) {
		for range ticks {
			must.Do(t, s.Continue())
			s.Advance(0, 2)
		}
	}
	run(30)
	at := s.Root(0)
	s.Still[0] = true
	run(5 * m.Predict)
	if s.Root(0) != at {
		t.Errorf("a frozen agent moves from %v to %v", at, s.Root(0))
	}
	s.Still[0] = false
	run(120)
	if d := s.Root(0).Pos.Dist(at.Pos); d < 0.8 || d > 4 {
		t.Errorf("thawed, the agent moves %g m in two seconds", d)
	}
}
