package animsys

import (
	"errors"

	"mannequin/animsys/control"
	"mannequin/ecs"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Systems returns the tick in its order, for the crowd, the people, the strollers,
// the wanderers and the performers that the world has when the schedule is made. Put systems that say what agents shall do
// before them and systems that read poses after them. Those whose resource the
// world lacks have nothing to do.
func Systems() []ecs.System {
	return []ecs.System{&Pick{}, &Plan{}, &Gather{}, &Infer{}, &Scatter{}, &Windows{}, &Play{}, &Restyle{}, &Continue{}, &Stroll{}, &Predict{}, &Amble{}, &Rehearse{}, &Perform{}, &Blend{}, &Ground{}, &Skin{}}
}

var errNobody = errors.New("animsys: the world has no Crowd, People, Strollers, Wanderers or Performers: make one before the systems start")

// grain is how many rows a core takes at a time: fewer are not worth a hand-over.
const grain = 4

// split spreads n things, rows or what stands for them, over the workers of b. work gets
// the i-th grain.
func (b *Bodies) split(n int, work func(worker, i int)) {
	if !b.closed {
		b.pool.Run((n+grain-1)/grain, work)
	}
}

// grains is work on rows as work on grains, bound once so that a tick makes
// nothing. It must touch nothing outside its rows.
func (b *Bodies) grains(work func(r0, r1 int)) func(worker, i int) {
	return func(_, i int) { work(i*grain, min((i+1)*grain, b.Rows.Len())) }
}

// spread is what the systems have in common that work on all rows of some bodies.
type spread struct {
	bodies *Bodies
	work   func(worker, i int)
}

// on says whose rows, and what is done for them.
func (s *spread) on(b *Bodies, work func(r0, r1 int)) { s.bodies, s.work = b, b.grains(work) }

// Update spreads the rows in use over the workers.
func (s *spread) Update(*arche.World) {
	if s.bodies != nil {
		s.bodies.split(s.bodies.Rows.Len(), s.work)
	}
}

// Finalize has nothing to do: bodies are closed by their owners.
func (s *spread) Finalize(*arche.World) {}

// each is what the systems of a crowd have in common.
type each struct {
	crowd *Crowd
	work  func(worker, i int)
}

// initialize finds the crowd. work is done for the i-th of those rows that take a step,
// which is row r.
func (s *each) initialize(w *arche.World, work func(i, r int)) {
	if res := generic.NewResource[Crowd](w); res.Has() {
		c := res.Get()
		s.crowd = c
		s.work = func(_, k int) {
			for i := k * grain; i < min((k+1)*grain, len(c.due)); i++ {
				work(i, int(c.due[i]))
			}
		}
	}
}

// Update spreads the rows that take a step over the workers.
func (s *each) Update(*arche.World) {
	if s.crowd != nil {
		s.crowd.split(len(s.crowd.due), s.work)
	}
}

// Finalize has nothing to do: the crowd is closed by its owner.
func (s *each) Finalize(*arche.World) {}

// every is what the systems of all bodies have in common.
type every struct {
	all  []*Bodies
	work []func(worker, i int)
}

// initialize finds all bodies. work returns what is done for one's rows.
func (s *every) initialize(w *arche.World, work func(b *Bodies) func(r0, r1 int)) {
	res := generic.NewResource[cast](w)
	if !res.Has() {
		fault := generic.NewResource[ecs.Fault](w)
		fault.Get().Err = errNobody
		return
	}
	s.all = res.Get().all
	for _, b := range s.all {
		s.work = append(s.work, b.grains(work(b)))
	}
}

// Update spreads the rows in use over the workers.
func (s *every) Update(*arche.World) {
	for i, b := range s.all {
		b.split(b.Rows.Len(), s.work[i])
	}
}

// Finalize has nothing to do: the bodies are closed by their owners.
func (s *every) Finalize(*arche.World) {}

// Plan gathers the entities' goals and plans the agents' trajectories.
type Plan struct {
	each
	filter generic.Filter2[ecs.Slot, control.Goal]
}

// Initialize finds the crowd.
func (s *Plan) Initialize(w *arche.World) {
	s.filter = *generic.NewFilter2[ecs.Slot, control.Goal]()
	s.initialize(w, func(_, r int) { s.crowd.Batch.PlanRow(&s.crowd.Goals[r], r) })
}

// Update copies the goals to their rows and plans.
func (s *Plan) Update(w *arche.World) {
	if s.crowd == nil {
		return
	}
	for q := s.filter.Query(w); q.Next(); {
		slot, goal := q.Get()
		if s.crowd.Rows.Holds(q.Entity(), slot) {
			s.crowd.Goals[slot.Row] = *goal
		}
	}
	s.each.Update(w)
}

// Gather writes the network inputs of all agents that take a step.
type Gather struct{ each }

// Initialize finds the crowd.
func (s *Gather) Initialize(w *arche.World) {
	s.initialize(w, func(i, r int) { s.crowd.Batch.GatherRow(s.crowd.X[i*s.crowd.inputs:], r) })
}

// Infer runs the network once for all agents, and once each those for agents far away.
type Infer struct {
	crowd *Crowd
	fault generic.Resource[ecs.Fault]
}

// Initialize finds the crowd.
func (s *Infer) Initialize(w *arche.World) {
	if res := generic.NewResource[Crowd](w); res.Has() {
		s.crowd = res.Get()
	}
	s.fault = generic.NewResource[ecs.Fault](w)
}

// Update runs the networks.
func (s *Infer) Update(*arche.World) {
	if c := s.crowd; c != nil && !c.closed {
		if err := c.infer(); err != nil {
			s.fault.Get().Err = err
		}
	}
}

// Finalize has nothing to do: the crowd is closed by its owner.
func (s *Infer) Finalize(*arche.World) {}

// Scatter turns the network's outputs into poses and moves the agents.
type Scatter struct{ each }

// Initialize finds the crowd.
func (s *Scatter) Initialize(w *arche.World) { s.initialize(w, s.scatter) }

func (s *Scatter) scatter(i, r int) {
	c := s.crowd
	c.Batch.ScatterRow(c.Y[i*c.outputs:], r)
	c.take(r)
	// A row that the controller put back does not continue its motion.
	if n := c.Batch.Restored(r); n != c.restored[r] {
		c.restored[r] = n
		c.Inertial.Jump(r)
	}
}

// Blend hides jumps in the poses.
type Blend struct{ every }

// Initialize finds all bodies.
func (s *Blend) Initialize(w *arche.World) {
	s.initialize(w, func(b *Bodies) func(r0, r1 int) {
		return b.blend
	})
}

// Ground stands the poses on the terrain. It comes last of all that changes
// poses.
type Ground struct{ every }

// Initialize finds all bodies.
func (s *Ground) Initialize(w *arche.World) {
	s.initialize(w, func(b *Bodies) func(r0, r1 int) { return b.ground })
}

// Skin publishes the grounded poses as bone transforms, beside those of the tick
// before.
type Skin struct{ every }

// Initialize finds all bodies.
func (s *Skin) Initialize(w *arche.World) {
	s.initialize(w, func(b *Bodies) func(r0, r1 int) { return b.publish })
}
