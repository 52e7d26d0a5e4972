package ecs

import (
	"github.com/mlange-42/arche-model/model"
	"github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// System is arche-model's: Initialize once, Update every tick, Finalize once.
type System = model.System

// Schedule runs systems over a world in their order, one call of Step per tick
// of fixed length. It keeps no time of its own: whoever drives it decides when
// a tick is due.
type Schedule struct {
	world   *ecs.World
	systems []System
	clock   *Clock
	fault   *Fault
}

// NewSchedule adds the resources Clock, with ticks of dt seconds, and Fault to w
// and initialises the systems. It returns the error that one of them left.
func NewSchedule(w *ecs.World, dt float32, systems ...System) (*Schedule, error) {
	s := &Schedule{world: w, systems: systems, clock: &Clock{DT: dt}, fault: &Fault{}}
	clock, fault := generic.NewResource[Clock](w), generic.NewResource[Fault](w)
	clock.Add(s.clock)
	fault.Add(s.fault)
	for _, sys := range systems {
		sys.Initialize(w)
	}
	return s, s.fault.Err
}

// Step runs one tick. Once a system has left an error, Step returns it and runs
// no more.
func (s *Schedule) Step() error {
	for _, sys := range s.systems {
		if s.fault.Err != nil {
			return s.fault.Err
		}
		sys.Update(s.world)
	}
	s.clock.Tick++
	return s.fault.Err
}

// Close finalises the systems, last first.
func (s *Schedule) Close() {
	for i := len(s.systems) - 1; i >= 0; i-- {
		s.systems[i].Finalize(s.world)
	}
	s.systems = nil
}
