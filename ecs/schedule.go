package ecs

import (
	"errors"
	"reflect"

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
	fault   *Fault
}

// NewSchedule adds the resources Clock, with ticks of dt seconds, and Fault to w and
// initialises the systems. It returns the error that one of them left, and an error if w
// has a schedule already.
func NewSchedule(w *ecs.World, dt float32, systems ...System) (*Schedule, error) {
	s := &Schedule{world: w, systems: systems, clock: &Clock{DT: dt}, fault: &Fault{}}
	clock, fault := generic.NewResource[Clock](w), generic.NewResource[Fault](w)
	if clock.Has() || fault.Has() {
		return nil, errors.New("ecs: the world has a schedule already: close that one first")
	}
	clock.Add(s.clock)
	fault.Add(s.fault)
	for _, sys := range systems {
		sys.Initialize(w)
	}
	return s, s.fault.Err
}

// Step runs one tick. Once a system has left an error, Step returns it and runs no more systems.
func (s *Schedule) Step() error {
	for i, sys := range s.systems {
		if s.fault.Err != nil {
			return s.fault.Err
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
// holds no goroutines or files. Closing twice is harmless.
func (s *Schedule) Close() {
	if s.world == nil {
		return
	}
	for i := len(s.systems) - 1; i >= 0; i-- {
		s.systems[i].Finalize(s.world)
	}
	s.systems = nil
	clock, fault := generic.NewResource[Clock](s.world), generic.NewResource[Fault](s.world)
	clock.Remove()
	fault.Remove()
	s.world = nil
}
