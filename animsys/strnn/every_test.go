package strnn_test

import (
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/internal/testing/teststrnn"
)

// People go on in those ticks alone that the options leave them, as evenly as before.
func TestStreamEvery(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Guide: true})
	s, err := play(m.NewStream(strnn.StreamOptions{People: 9, Workers: 1, Every: 4, From: 3}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	began := map[int]int{}
	for tick := range 2 * 2 * m.Predict {
		if tick%3 == 0 && s.People() < 9 {
			if _, err := s.Add(feature.Place{}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Continue(); err != nil {
			t.Fatal(err)
		}
		s.Advance(0, s.People())
		for r := range s.People() {
			if s.WindowStarted(r) {
				began[tick%4]++
			}
		}
	}
	if len(began) != 1 || began[3] < 9 {
		t.Errorf("people go on by tick of four: %v, want all in the last", began)
	}
	for _, o := range []strnn.StreamOptions{{Every: 3 * m.Predict}, {Every: -1}, {Every: 2, From: 2}, {From: 1}, {Every: 2, From: -1}} {
		o.People, o.Workers = 1, 1
		if _, err := m.NewStream(o); err == nil || !strings.Contains(err.Error(), "want a divisor") {
			t.Errorf("every %d from %d: %v", o.Every, o.From, err)
		}
	}
}

// Who stays as they are neither goes on nor has motion made, and goes on from there.
func TestStreamStill(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Guide: true})
	s, err := play(m.NewStream(strnn.StreamOptions{People: 2, Workers: 1}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		if _, err := s.Add(feature.Place{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	s.Controls()[0].Speed, s.Controls()[1].Speed = 1, 1
	run := func(ticks int) {
		for range ticks {
			if err := s.Continue(); err != nil {
				t.Fatal(err)
			}
			s.Advance(0, 2)
		}
	}
	run(30)
	at := s.Root(0)
	s.Still[0] = true
	run(5 * m.Predict)
	if s.Root(0) != at {
		t.Errorf("who stays still goes from %v to %v", at, s.Root(0))
	}
	s.Still[0] = false
	run(120)
	if d := s.Root(0).Pos.Dist(at.Pos); d < 0.8 || d > 4 {
		t.Errorf("let go, they go %g m in two seconds", d)
	}
}
