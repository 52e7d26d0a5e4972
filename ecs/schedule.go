package ecs

import (
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	"mannequin/engine/m3"

	"github.com/mlange-42/arche-model/model"
	"github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// System is a system of arche-model: Initialize once, Update every tick, Finalize once.
type System = model.System

// Schedule runs systems over a world in their order: one call of Step is one tick. It keeps
// no time. The caller calls Step when a tick is due, which mannequin/engine/clock.Fixed decides.
type Schedule struct {
	// Trace is called before each system's Update with the system's index, and with the
	// number of systems after the last: a hook for profilers. Optional.
	Trace func(next int)

	world   *ecs.World
	systems []System
	clock   *Clock
	clocks  generic.Resource[Clock]
	fault   *Fault
	faults  generic.Resource[Fault]
	busy    atomic.Bool
}

// ErrBusy is in the errors of calls that come while another goroutine uses the world. A world
// belongs to one goroutine, which also calls Schedule.Step.
var ErrBusy = errors.New("the world is in use already: all calls for a world belong to the goroutine that owns it, and no system may step its own schedule")

// NewSchedule adds the resources Clock, with ticks of dt seconds, and Fault to w and
// initialises the systems. It returns the error that one of them left. It is an error if dt is
// not a positive number, if a system is nil, if w has a schedule already, and while w is locked
// by a query.
func NewSchedule(w *ecs.World, dt float32, systems ...System) (*Schedule, error) {
	if !m3.Finite(dt) || dt <= 0 {
		return nil, fmt.Errorf("ecs: a schedule with ticks of %g s: want a positive number, such as 1/60 s", dt)
	}
	if w.IsLocked() {
		return nil, errors.New("ecs: cannot make a schedule within a query: close the query first")
	}
	for i, sys := range systems {
		if sys == nil {
			return nil, fmt.Errorf("ecs: system %d of %d is nil", i, len(systems))
		}
	}
	s := &Schedule{world: w, systems: systems, clock: &Clock{DT: dt}, clocks: generic.NewResource[Clock](w),
		fault: &Fault{}, faults: generic.NewResource[Fault](w)}
	if s.clocks.Has() || s.faults.Has() {
		return nil, errors.New("ecs: the world has a schedule already: close that one first")
	}
	s.clocks.Add(s.clock)
	s.faults.Add(s.fault)
	for _, sys := range systems {
		sys.Initialize(w)
	}
	if err := s.fault.Err; err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Step runs one tick. Once a system has left an error, Step returns it and runs no more systems,
// until the game clears Fault.Err. Step of a closed schedule is an error, and so is Step after
// World.Reset: close the schedule and make another. If another goroutine is in Step, the error
// is ErrBusy, and nothing is done.
func (s *Schedule) Step() error {
	if !s.busy.CompareAndSwap(false, true) {
		return fmt.Errorf("ecs: Schedule.Step: %w", ErrBusy)
	}
	defer s.busy.Store(false)
	if s.world == nil {
		return errors.New("ecs: the schedule is closed")
	}
	atomic.StoreUint32(&s.clock.stepping, 1)
	defer atomic.StoreUint32(&s.clock.stepping, 0)
	for i, sys := range s.systems {
		if s.fault.Err != nil {
			return s.fault.Err
		}
		if !holds(&s.clocks, s.clock) || !holds(&s.faults, s.fault) {
			return errors.New("ecs: the world has lost this schedule's Clock or Fault, as after World.Reset: close the schedule and make another")
		}
		if s.Trace != nil {
			s.Trace(i)
		}
		sys.Update(s.world)
	}
	if s.Trace != nil {
		s.Trace(len(s.systems))
	}
	s.clock.Tick++
	return s.fault.Err
}

// holds reports whether the resource is v.
func holds[T any](r *generic.Resource[T], v *T) bool { return r.Has() && r.Get() == v }

// Names returns the systems' type names in running order.
func (s *Schedule) Names() []string {
	names := make([]string, len(s.systems))
	for i, sys := range s.systems {
		names[i] = reflect.Indirect(reflect.ValueOf(sys)).Type().Name()
	}
	return names
}

// Close finalises the systems, last first. The world may have another schedule then. Call it
// for that, or if a system's Finalize has work to do: those of animsys have none, and a schedule
// holds no goroutines or files. Closing twice is harmless. Within Step it is an error.
func (s *Schedule) Close() error {
	if !s.busy.CompareAndSwap(false, true) {
		return fmt.Errorf("ecs: Schedule.Close: %w", ErrBusy)
	}
	defer s.busy.Store(false)
	if s.world == nil {
		return nil
	}
	for i := len(s.systems) - 1; i >= 0; i-- {
		s.systems[i].Finalize(s.world)
	}
	if holds(&s.clocks, s.clock) {
		s.clocks.Remove()
	}
	if holds(&s.faults, s.fault) {
		s.faults.Remove()
	}
	s.world, s.systems = nil, nil
	return nil
}
