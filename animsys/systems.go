package animsys

import (
	"errors"

	"mannequin/animsys/control"
	"mannequin/ecs"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Systems returns the tick in its order. Put systems that set goals before
// them and systems that read poses after them.
func Systems() []ecs.System {
	return []ecs.System{&Plan{}, &Gather{}, &Infer{}, &Scatter{}, &Blend{}, &Ground{}, &Skin{}}
}

var errNoCrowd = errors.New("animsys: the world has no Crowd: call NewCrowd before the systems start")

// grain is how many rows a core takes at a time: fewer are not worth a hand-over.
const grain = 4

// each is what the systems have in common: the crowd, and the system's work on
// the i-th grain of its rows, bound once so that a tick makes nothing.
type each struct {
	crowd *Crowd
	work  func(worker, i int)
}

// initialize finds the crowd. work must touch nothing outside its rows.
func (s *each) initialize(w *arche.World, work func(r0, r1 int)) {
	s.work = func(_, i int) { work(i*grain, min((i+1)*grain, s.crowd.Rows.Len())) }
	if res := generic.NewResource[Crowd](w); res.Has() {
		s.crowd = res.Get()
		return
	}
	fault := generic.NewResource[ecs.Fault](w)
	fault.Get().Err = errNoCrowd
}

// Update spreads the rows in use over the crowd's workers.
func (s *each) Update(*arche.World) {
	s.crowd.pool.Run((s.crowd.Rows.Len()+grain-1)/grain, s.work)
}

// Finalize has nothing to do: the crowd is closed by its owner.
func (s *each) Finalize(*arche.World) {}

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
	for q := s.filter.Query(w); q.Next(); {
		slot, goal := q.Get()
		s.crowd.Goals[slot.Row] = *goal
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
	if c.Rows.Len() == 0 {
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
type Blend struct{ each }

// Initialize finds the crowd.
func (s *Blend) Initialize(w *arche.World) {
	s.initialize(w, func(r0, r1 int) { s.crowd.Inertial.Run(s.crowd.Pos, s.crowd.Rot, s.crowd.Roots, r0, r1) })
}

// Ground stands the poses on the terrain. It comes last of all that changes
// poses.
type Ground struct{ each }

// Initialize finds the crowd.
func (s *Ground) Initialize(w *arche.World) {
	s.initialize(w, func(r0, r1 int) { s.crowd.Ground.Run(r0, r1) })
}

// Skin publishes the grounded poses as bone transforms, beside those of the tick
// before.
type Skin struct{ each }

// Initialize finds the crowd.
func (s *Skin) Initialize(w *arche.World) { s.initialize(w, s.skin) }

func (s *Skin) skin(r0, r1 int) {
	c := s.crowd
	i, k := r0*c.joints, r1*c.joints
	copy(c.last[i:k], c.now[i:k])
	copy(c.now[i:k], c.Ground.Model[i:k])
	for r := r0; r < r1; r++ {
		if c.fresh[r] {
			c.fresh[r] = false
			copy(c.last[r*c.joints:(r+1)*c.joints], c.now[r*c.joints:])
		}
	}
}
