package animsys_test

import (
	"errors"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Systems of a game are within a tick, wherever they are in it: what belongs between ticks is refused
// there, with a reason, and changes no bits of the ticks. Afterwards it succeeds.
func TestWithinTick(t *testing.T) {
	w, same := newWorld(t, 3, 1), newWorld(t, 3, 1)
	for _, w := range []*world{w, same} {
		w.spawn(0)
		w.step()
	}
	free := w.ecs.NewEntity()
	crowd, world := must.Get(w.crowd.Save(nil))(t), must.Get(animsys.Save(&w.ecs, nil))(t)
	for name, call := range map[string]func() error{
		"Spawn":          func() error { return second(w.crowd.Spawn(m3.Vec3{}, 0)) },
		"SpawnWith":      func() error { return second(animsys.SpawnWith(w.crowd, m3.Vec3{}, 0, control.Goal{})) },
		"Add":            func() error { return w.crowd.Add(free, m3.Vec3{}, 0) },
		"Save":           func() error { return second(w.crowd.Save(nil)) },
		"Restore":        func() error { return w.crowd.Restore(crowd) },
		"SaveAgents":     func() error { return second(w.crowd.SaveAgents(nil)) },
		"SaveMotion":     func() error { return second(w.crowd.SaveMotion(new(generator.State), w.crowd.Entity(0))) },
		"SpawnSaved":     func() error { return second(w.crowd.SpawnSaved(new(generator.State), m3.Vec3{})) },
		"AddSaved":       func() error { return second(w.crowd.AddSaved(nil, crowd)) },
		"Save of all":    func() error { return second(animsys.Save(&w.ecs, nil)) },
		"Restore of all": func() error { return animsys.Restore(&w.ecs, world) },
		"ShiftOrigin":    func() error { return animsys.ShiftOrigin(&w.ecs, m3.V(10, 0, 0)) },
		"NewCrowd":       func() error { return second(animsys.NewCrowd(&w.ecs, w.dogs, animsys.Options{Ground: ik.Level(0)})) },
	} {
		what, _, _ := strings.Cut(name, " of all")
		for stage := range len(animsys.Systems()) + 1 {
			var err error
			w.between(stage, func(*arche.World) { err = call() })
			same.step()
			if !errors.Is(err, ecs.ErrBusy) || !strings.Contains(err.Error(), what+": a tick is running") {
				t.Errorf("%s before system %d: %v", name, stage, err)
			}
		}
	}
	if w.crowd.Hash() != same.crowd.Hash() || w.crowd.Agents() != 1 {
		t.Errorf("other bits, and %d agents", w.crowd.Agents())
	}
	must.Do(t, w.crowd.Add(free, m3.Vec3{}, 0))
	must.Do(t, w.crowd.Restore(must.Get(w.crowd.Save(nil))(t)))
	must.Do(t, animsys.Restore(&w.ecs, must.Get(animsys.Save(&w.ecs, nil))(t)))
	must.Do(t, animsys.ShiftOrigin(&w.ecs, m3.V(10, 0, 0)))
}

// A system that panics or fails ends its tick.
func TestBrokenTick(t *testing.T) {
	w := newWorld(t, 2, 1)
	func() {
		defer func() { recover() }()
		w.between(3, func(*arche.World) { panic("a system of the game") })
	}()
	w.spawn(0)
	faults := generic.NewResource[ecs.Fault](&w.ecs)
	w.peek = func() { faults.Get().Err = errors.New("an error of the game") }
	must.Do(t, w.schedule.Close())
	w.schedule = must.Get(ecs.NewSchedule(&w.ecs, 1.0/animsys.TickRate, w.systems()...))(t)
	if w.schedule.Step() == nil {
		t.Fatal("the error is lost")
	}
	w.spawn(1)
}
