package animsys_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// hook is a game's own system.
type hook func(w *arche.World)

func (hook) Initialize(*arche.World) {}
func (hook) Finalize(*arche.World)   {}
func (h hook) Update(w *arche.World) { h(w) }

// between steps s once, and calls do before the system of the given number.
func (s *scene) between(stage int, do hook) {
	s.t.Helper()
	with := func(systems []ecs.System) {
		must.Do(s.t, s.schedule.Close())
		s.schedule = must.Get(ecs.NewSchedule(&s.ecs, 1.0/animsys.TickRate, systems...))(s.t)
	}
	with(slices.Insert(animsys.Systems(), stage, ecs.System(do)))
	s.step(1)
	with(animsys.Systems())
}

// finite fails unless all agents have finite bones.
func (s *scene) finite() {
	s.t.Helper()
	for row := range s.people.Agents() {
		for j, b := range s.people.BonesAt(row) {
			if !b.Pos.Finite() || !m3.Finite(b.Rot.W) {
				s.t.Fatalf("joint %d of row %d is at %v", j, row, b)
			}
		}
	}
}

// A game removes entities and their slots by itself, within any system. The agents are gone at once,
// the others stay, and the rows are free again.
func TestGameRemovesAgents(t *testing.T) {
	removals := map[string]func(w *arche.World, e arche.Entity){
		"entity": func(w *arche.World, e arche.Entity) { w.RemoveEntity(e) },
		"slot":   func(w *arche.World, e arche.Entity) { w.Remove(e, arche.ComponentID[ecs.Slot](w)) },
		"row":    func(w *arche.World, e arche.Entity) { slots := generic.NewMap1[ecs.Slot](w); slots.Get(e).Row = 77 },
	}
	forAll(t, func(t *testing.T, k kind) {
		const agents = 5
		a := k.scene(t, agents, 2)
		var all []arche.Entity
		for i := range agents {
			all = append(all, must.Get(a.start(i))(t))
		}
		next := agents
		for stage := range len(animsys.Systems()) + 1 {
			for what, remove := range removals {
				first := (stage + agents - 1) % agents
				gone := []int{first, (first + 1 + stage%3) % agents}
				a.between(stage, func(w *arche.World) {
					for _, i := range gone {
						remove(w, all[i])
					}
				})
				if n := a.people.Agents(); n != agents-2 {
					t.Fatalf("stage %d, %s: %d agents, want %d", stage, what, n, agents-2)
				}
				a.finite()
				for i, e := range all {
					if left := a.people.Bones(e) == nil; left != slices.Contains(gone, i) {
						t.Fatalf("stage %d, %s: agent %d has left: %v", stage, what, i, left)
					}
				}
				if err := a.people.Despawn(all[gone[0]]); err == nil {
					t.Errorf("stage %d, %s: despawned an agent that had left", stage, what)
				}
				for _, i := range gone {
					all[i] = must.Get(a.start(next % 40))(t)
					next++
				}
			}
		}
		for _, e := range all {
			must.Do(t, a.people.Despawn(e))
		}
		a.step(2)
	})
}

// Without its component an agent goes on with what it was last asked for.
func TestGameRemovesControls(t *testing.T) {
	w := newWorld(t, 2, 1)
	a, b := w.spawn(0), w.spawn(1)
	for _, e := range []arche.Entity{a, b} {
		*w.goals.Get(e) = control.Goal{Move: m3.V(0, 0, 1), Speed: 1, Action: control.Move}
	}
	w.step()
	w.goals.Remove(a)
	from := w.crowd.Root(a).Pos
	for range 120 {
		w.step()
	}
	if d := w.crowd.Root(a).Pos.Dist(from); d < 0.3 {
		t.Errorf("went %g m without the component", d)
	}
}

// The first step runs within a query. Crowds, schedules and agents do not begin within one.
func TestOpenQuery(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		a := k.scene(t, 2, 1)
		e := must.Get(a.start(0))(t)
		q := a.ecs.Query(arche.All())
		a.step(2)
		if _, err := a.start(1); err == nil {
			t.Error("spawned within a query")
		}
		if err := a.people.Despawn(e); err == nil {
			t.Error("despawned within a query")
		}
		must.Do(t, a.schedule.Close())
		if _, err := ecs.NewSchedule(&a.ecs, 1.0/animsys.TickRate, animsys.Systems()...); err == nil {
			t.Error("made a schedule within a query")
		}
		q.Close()
	})
	w := arche.NewWorld()
	w.NewEntity()
	q := w.Query(arche.All())
	defer q.Close()
	dogs := must.Get(testdog.Model(t).NewController(mann.ControllerOptions{Capacity: 1}))(t)
	defer dogs.Close()
	if _, err := animsys.NewCrowd(&w, dogs, animsys.Options{Ground: ik.Level(0)}); err == nil {
		t.Error("made a crowd within a query")
	}
}

// What is missing is an error, also a generator whose own error was left unread.
func TestNewCrowdRefuses(t *testing.T) {
	w := arche.NewWorld()
	dogs := must.Get(testdog.Model(t).NewController(mann.ControllerOptions{Capacity: 1}))(t)
	defer dogs.Close()
	unread, _ := testdog.Model(t).NewController(mann.ControllerOptions{})
	level := animsys.Options{Ground: ik.Level(0)}
	for want, err := range map[string]error{
		"world":     second(animsys.NewCrowd(nil, dogs, level)),
		"generator": second(animsys.NewCrowd[control.Goal](&w, nil, level)),
		"that made": second(animsys.NewCrowd(&w, unread, level)),
		"Ground":    second(animsys.NewCrowd(&w, dogs, animsys.Options{})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about the %s", err, want)
		}
	}
}

// calls are all calls for an entity that can fail.
func (s *scene) calls(e arche.Entity) map[string]func() error {
	return map[string]func() error{
		"Spawn":         func() error { return second(s.people.Spawn(m3.Vec3{}, 0)) },
		"Add":           func() error { return s.people.Add(e, m3.Vec3{}, 0) },
		"Despawn":       func() error { return s.people.Despawn(e) },
		"Place":         func() error { return s.people.Place(e, m3.Vec3{}, 0) },
		"SetUpdateRate": func() error { return s.people.SetUpdateRate(e, 2) },
	}
}

// A closed crowd refuses everything. Its world goes on.
func TestClosedCrowd(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		a := k.scene(t, 3, 1)
		e := must.Get(a.start(0))(t)
		a.step(3)
		must.Do(t, a.people.Close())
		for name, call := range a.calls(e) {
			if err := call(); err == nil || !strings.Contains(err.Error(), "closed") {
				t.Errorf("%s of a closed crowd: %v", name, err)
			}
		}
		a.people.ApplyLOD(&animsys.LODPolicy{}, m3.Vec3{}, m3.Vec3{}, 0)
		a.people.Hash()
		a.step(3)
		must.Do(t, a.schedule.Close())
		if err := a.schedule.Step(); err == nil {
			t.Error("a closed schedule steps")
		}
	})
}

// Entities of another world, removed ones, and the zero entity are not agents.
func TestStrangers(t *testing.T) {
	w := newWorld(t, 3, 1)
	w.spawn(0)
	dead := w.spawn(1)
	must.Do(t, w.crowd.Despawn(dead))
	other := arche.NewWorld()
	var foreign arche.Entity
	for range 1000 {
		foreign = other.NewEntity()
	}
	for _, e := range []arche.Entity{{}, dead, foreign} {
		for name, call := range w.calls(e) {
			if err := call(); err == nil && name != "Spawn" {
				t.Errorf("%s of %v succeeds", name, e)
			}
		}
		if w.crowd.Bones(e) != nil || w.crowd.Root(e) != (m3.Xform{}) {
			t.Errorf("%v has bones", e)
		}
		if _, ok := w.crowd.Row(e); ok {
			t.Errorf("%v has a row", e)
		}
		for w.crowd.Agents() > 1 {
			must.Do(t, w.crowd.Despawn(w.crowd.Entity(1)))
		}
	}
}

// A model is exchanged in a running world: the entities stay, with their components and places.
func TestModelExchange(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		a := k.scene(t, 3, 1)
		type name struct{ s string }
		names := generic.NewMap1[name](&a.ecs)
		var all []arche.Entity
		for i := range 3 {
			e := must.Get(a.start(i))(t)
			names.Assign(e, &name{fmt.Sprint("agent ", i)})
			a.control(e, i, 0)
			all = append(all, e)
		}
		a.step(90)
		old := a.people
		must.Do(t, old.Close())
		a.step(5)
		a.people = must.Get(k.into(&a.ecs, 3, animsys.Options{Ground: a.field}))(t)
		for i, e := range all {
			at := old.Roots[i]
			must.Do(t, a.people.Add(e, at.Pos, m3.YawOf(at.Rot.Forward())))
			if err := a.people.Add(e, at.Pos, 0); err == nil {
				t.Error("added an agent twice")
			}
			if d := a.people.Bones(e)[0].Pos.Flat().Dist(at.Pos.Flat()); d > 0.3 {
				t.Errorf("agent %d begins %g m from its place", i, d)
			}
		}
		a.step(90)
		a.finite()
		for i, e := range all {
			if got := names.Get(e).s; got != fmt.Sprint("agent ", i) {
				t.Errorf("agent %d is named %q", i, got)
			}
		}
		must.Do(t, a.people.Close())
		for _, e := range all {
			a.ecs.RemoveEntity(e)
		}
		a.step(2)
	})
}

// After World.Reset a world takes new crowds and a new schedule, and the old ones return errors.
func TestWorldReset(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		a := k.scene(t, 3, 1)
		e := must.Get(a.start(0))(t)
		a.step(3)
		a.ecs.Reset()
		if err := a.schedule.Step(); err == nil || !strings.Contains(err.Error(), "Reset") {
			t.Errorf("step after a reset: %v", err)
		}
		for name, call := range a.calls(e) {
			if call() == nil {
				t.Errorf("%s after a reset succeeds", name)
			}
		}
		if n := a.people.Agents(); n > 1 || a.people.Bones(e) != nil {
			t.Errorf("%d agents after a reset", n)
		}
		must.Do(t, a.schedule.Close())
		must.Do(t, a.people.Close())
		a.people = must.Get(k.into(&a.ecs, 3, animsys.Options{Ground: a.field}))(t)
		a.schedule = must.Get(ecs.NewSchedule(&a.ecs, 1.0/animsys.TickRate, animsys.Systems()...))(t)
		must.Get(a.start(1))(t)
		a.step(60)
		a.finite()
	})
}

// meddling is a ground that calls do once, on a worker of the system Ground.
type meddling struct{ do func() }

func (m *meddling) Height(x, z float32) float32 {
	if do := m.do; do != nil {
		m.do = nil
		do()
	}
	return 0
}
func (m *meddling) Normal(x, z float32) m3.Vec3 { return m3.Up }

// While a goroutine steps a world, calls of another return ErrBusy and change nothing.
func TestTwoGoroutines(t *testing.T) {
	ground := &meddling{}
	w := newWorld(t, 3, 1)
	w.crowd.Ground.Ground = ground
	e := w.spawn(0)
	calls := w.calls(e)
	calls["Step"] = w.schedule.Step
	calls["Close of the schedule"] = w.schedule.Close
	calls["Close of the crowd"] = w.crowd.Close
	calls["NewCrowd"] = func() error {
		dogs := must.Get(testdog.Model(t).NewController(mann.ControllerOptions{Capacity: 1}))(t)
		defer dogs.Close()
		return second(animsys.NewCrowd(&w.ecs, dogs, animsys.Options{Ground: ground}))
	}
	errs := map[string]error{}
	ground.do = func() {
		done := make(chan bool)
		go func() {
			for name, call := range calls {
				errs[name] = call()
			}
			close(done)
		}()
		<-done
	}
	w.step()
	for name := range calls {
		if !errors.Is(errs[name], ecs.ErrBusy) {
			t.Errorf("%s beside a step: %v", name, errs[name])
		}
	}
	w.step()
	if w.crowd.Agents() != 1 {
		t.Errorf("%d agents", w.crowd.Agents())
	}
	w.finite()
}
