package animsys_test

import (
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/manifold"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// spoilt is a session that, while it is on, writes something not finite into the
// last sequence of a batch, or fails.
type spoilt struct {
	netruntime.Session
	on   *atomic.Bool
	at   int // of the sequence's values
	fail error
}

func (s *spoilt) RunSequences(out, in [][]float32, batch, length int) error {
	if err := s.Session.RunSequences(out, in, batch, length); err != nil || !s.on.Load() {
		return err
	}
	out[0][(batch-1)*len(out[0])/batch+s.at] = float32(math.NaN())
	return s.fail
}

// Of whom the networks make something that is not finite stands where it is, and
// touches nobody; a network that fails stops the schedule.
func TestPeopleAndBrokenNetworks(t *testing.T) {
	run := func(bad func() bool, at int, fail error) (s *street, other [][]m3.Xform, err error) {
		on := &atomic.Bool{}
		s = newStreet(t, 2, 1, manifold.StreamOptions{Batch: 2, Open: func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
			inner, err := n.NewSession(o)
			if (n.Outputs() == 5) == (at > 0) { // of footsteps, or of motion
				return &spoilt{inner, on, 100*n.Outputs() + 4, fail}, err
			}
			return inner, err
		}})
		first := s.person(0)
		second := s.person(1)
		for tick := range 500 {
			on.Store(bad() && tick > 150 && tick < 330)
			if err := s.schedule.Step(); err != nil {
				return s, other, err
			}
			other = append(other, append([]m3.Xform(nil), s.bones(first)...))
		}
		for j, x := range s.bones(second) {
			if !x.Pos.Finite() || !x.Rot.Finite() {
				t.Fatalf("%s is %v", s.people.Skel.Names[j], x)
			}
		}
		return s, other, nil
	}
	never, ever := func() bool { return false }, func() bool { return true }
	_, sound, err := run(never, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for at, what := range []string{"motion", "footsteps"} {
		s, other, err := run(ever, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "one whose neighbour's "+what+" is broken", sound, other)
		if s.stream.Discarded() == 0 {
			t.Errorf("broken %s: no window was lost", what)
		}
		row := 1
		from := s.people.Roots[row].Pos
		s.step(60)
		if d := s.people.Roots[row].Pos.Dist(from); d < 2 {
			t.Errorf("mended %s: it goes %g m in a second", what, d)
		}
		stood, swung := false, false
		for range 60 {
			s.step(1)
			stood, swung = stood || s.people.Ground.Contacts[2*row], swung || !s.people.Ground.Contacts[2*row]
		}
		if !stood || !swung {
			t.Errorf("mended %s: its feet no longer step", what)
		}
	}
	failed := errors.New("the GPU is gone")
	if _, _, err := run(ever, 0, failed); !errors.Is(err, failed) {
		t.Errorf("a network that fails: %v", err)
	}
}

func TestPeopleErrors(t *testing.T) {
	m, steps, locomotion := humans(t)
	flat, err := terrain.Flat(terrain.Grid{Size: 40, Cell: 1})
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]struct {
		manifold.StreamOptions
		animsys.Options
	}{
		"Ground":     {},
		"180 to":     {StreamOptions: manifold.StreamOptions{Window: 7}},
		"latency":    {StreamOptions: manifold.StreamOptions{Latency: 61}},
		"iterations": {StreamOptions: manifold.StreamOptions{Iterations: -1}},
		"skeleton":   {Options: animsys.Options{Ground: flat, Roles: &ik.Roles{Spine: []int{0, 13}, Neck: 15, Legs: []ik.Leg{{1, 2, 3, 99}}}}},
		"needed":     {Options: animsys.Options{Ground: flat, Roles: &ik.Roles{Spine: []int{0, 13}, Neck: 15, Legs: []ik.Leg{{}}}}},
		"contact":    {Options: animsys.Options{Ground: flat, Roles: &ik.Roles{Spine: []int{0, 13}, Neck: 15, Legs: []ik.Leg{{2, 3, 4, 5}}}}},
		"adds 60":    {StreamOptions: manifold.StreamOptions{Window: 180, Latency: 60, Every: 59}},
		"windows at": {StreamOptions: manifold.StreamOptions{Batch: -1}},
	} {
		w := arche.NewWorld()
		o.Capacity = 1
		stream, err := m.With(steps, locomotion).NewStream(o.StreamOptions)
		if err == nil {
			_, err = animsys.NewCrowd(&w, stream, o.Options)
			stream.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	s := newStreet(t, 1, 1, manifold.StreamOptions{})
	if _, err := s.people.Spawn(m3.V(float32(math.NaN()), 0, 0), 0); err == nil {
		t.Error("somebody stands nowhere")
	}
	e := s.person(0)
	if _, err := s.people.Spawn(m3.Vec3{}, 0); err == nil || s.people.Agents() != 1 {
		t.Errorf("one too many: %v, %d people", err, s.people.Agents())
	}
	// Components of someone else's agents are not taken for theirs.
	other := generic.NewMap2[ecs.Slot, manifold.Curve](&s.ecs)
	other.NewWith(&ecs.Slot{Row: 7}, &manifold.Curve{Speed: 1})
	other.NewWith(&ecs.Slot{Row: -1}, &manifold.Curve{Speed: 1})
	s.step(1)
	if err := s.people.Despawn(e); err != nil {
		t.Fatal(err)
	}
	if err := s.people.Despawn(e); err == nil {
		t.Error("somebody went twice")
	}
	if err := s.people.Place(e, m3.Vec3{}, 0); err == nil {
		t.Error("somebody who is gone was moved")
	}
	s.step(60)
}
