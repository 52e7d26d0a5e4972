package animsys

import (
	"errors"

	"mannequin/animsys/control"
	"mannequin/ecs"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Systems returns the tick in its order, for the crowd, the people, the strollers and
// the wanderers that the world has when the schedule is made. Put systems that say what agents shall do
// before them and systems that read poses after them. Those whose resource the
// world lacks have nothing to do.
func Systems() []ecs.System {
	return []ecs.System{&Plan{}, &Gather{}, &Infer{}, &Scatter{}, &Windows{}, &Play{}, &Restyle{}, &Continue{}, &Stroll{}, &Predict{}, &Amble{}, &Blend{}, &Ground{}, &Aim{}, &Skin{}}
}

var errNobody = errors.New("animsys: the world has no Crowd, People, Strollers or Wanderers: make one before the systems start")

// grain is how many rows a core takes at a time: fewer are not worth a hand-over.
const grain = 4

// split spreads the rows in use over the workers of b. work gets the i-th grain.
func (b *Bodies) split(work func(worker, i int)) {
	if b.closed {
		return
	}
	b.pool.Run((b.Rows.Len()+grain-1)/grain, work)
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
		s.bodies.split(s.work)
	}
}

// Finalize has nothing to do: bodies are closed by their owners.
func (s *spread) Finalize(*arche.World) {}

// each is what the systems of a crowd have in common.
type each struct {
	spread
	crowd *Crowd
}

// initialize finds the crowd.
func (s *each) initialize(w *arche.World, work func(r0, r1 int)) {
	if res := generic.NewResource[Crowd](w); res.Has() {
		s.crowd = res.Get()
		s.on(&s.crowd.Bodies, work)
	}
}

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
		b.split(s.work[i])
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
	s.initialize(w, func(r0, r1 int) { s.crowd.Batch.Plan(s.crowd.Goals, r0, r1) })
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

// Gather writes all agents' network inputs.
type Gather struct{ each }

// Initialize finds the crowd.
func (s *Gather) Initialize(w *arche.World) {
	s.initialize(w, func(r0, r1 int) { s.crowd.Batch.Gather(s.crowd.X, r0, r1) })
}

// Infer runs the network once for all agents.
type Infer struct {
	each
	fault generic.Resource[ecs.Fault]
}

// Initialize finds the crowd.
func (s *Infer) Initialize(w *arche.World) {
	s.initialize(w, nil)
	s.fault = generic.NewResource[ecs.Fault](w)
}

// Update runs the network.
func (s *Infer) Update(*arche.World) {
	c := s.crowd
	if c == nil || c.closed || c.Rows.Len() == 0 {
		return
	}
	if err := c.Session.Run(c.Y, c.X, c.Rows.Len()); err != nil {
		s.fault.Get().Err = err
	}
}

// Scatter turns the network's outputs into poses and moves the agents.
type Scatter struct{ each }

// Initialize finds the crowd.
func (s *Scatter) Initialize(w *arche.World) { s.initialize(w, s.scatter) }

func (s *Scatter) scatter(r0, r1 int) {
	c := s.crowd
	c.Batch.Scatter(c.Y, r0, r1)
	for r := r0; r < r1; r++ {
		c.take(r)
		// A row that the controller put back does not continue its motion.
		if n := c.Batch.Restored(r); n != c.restored[r] {
			c.restored[r] = n
			c.Inertial.Jump(r)
		}
	}
}

// Blend hides jumps in the poses.
type Blend struct{ every }

// Initialize finds all bodies.
func (s *Blend) Initialize(w *arche.World) {
	s.initialize(w, func(b *Bodies) func(r0, r1 int) {
		return func(r0, r1 int) { b.Inertial.Run(b.Pos, b.Rot, b.Roots, r0, r1) }
	})
}

// Ground stands the poses on the terrain. After it only heads and arms move, which
// nothing stands on.
type Ground struct{ every }

// Initialize finds all bodies.
func (s *Ground) Initialize(w *arche.World) {
	s.initialize(w, func(b *Bodies) func(r0, r1 int) { return b.Ground.Run })
}

// Skin publishes the grounded poses as bone transforms, beside those of the tick
// before.
type Skin struct{ every }

// Initialize finds all bodies.
func (s *Skin) Initialize(w *arche.World) {
	s.initialize(w, func(b *Bodies) func(r0, r1 int) { return b.publish })
}
