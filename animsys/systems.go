package animsys

import (
	"errors"
	"slices"

	"mannequin/animsys/generator"
	"mannequin/ecs"
	"mannequin/engine/m3"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Systems returns the tick in its order, for the crowds that the world has when the schedule is
// made. Put systems that control agents before them, and systems that read poses after them.
func Systems() []ecs.System {
	return []ecs.System{&SelectLOD{}, &Plan{}, &Gather{}, &Infer{}, &Scatter{}, &Generate{}, &Sample{}, &Style{}, &Blend{}, &Ground{}, &Aim{}, &Publish{}}
}

// grain is how many rows a worker takes at a time.
const grain = 4

// split spreads n rows, or entries of a batch, over the workers; work gets a range.
func (c *Crowd) split(n int, work func(worker, i int)) { c.pool.Run((n+grain-1)/grain, work) }

// system finds the crowds of a world. Crowds are closed by their owners.
type system struct {
	crowds []*Crowd
	fault  generic.Resource[ecs.Fault]
}

// Initialize finds the crowds, and leaves an error if there is none, or if the
// schedule steps at another rate than theirs.
func (s *system) Initialize(w *arche.World) {
	s.fault = generic.NewResource[ecs.Fault](w)
	res := generic.NewResource[registry](w)
	if !res.Has() {
		s.fail(errors.New("animsys: the world has no crowd: make one before the schedule"))
		return
	}
	s.crowds = res.Get().all
}

func (s *system) fail(err error) {
	if f := s.fault.Get(); f.Err == nil {
		f.Err = err
	}
}

// Finalize does nothing.
func (s *system) Finalize(*arche.World) {}

// keep drops the crowds that are not wanted.
func (s *system) keep(wanted func(c *Crowd) bool) {
	s.crowds = slices.DeleteFunc(slices.Clone(s.crowds), func(c *Crowd) bool { return !wanted(c) })
}

// collect copies the components of c's agents that have one to dst, by row, and takes their places
// into the rows' own spaces: shift moves those of a row; nil if they hold none.
func collect[T any](w *arche.World, c *Crowd, agents *generic.Filter2[ecs.Slot, T], dst []T, shift func(row int, by m3.Vec3)) {
	for q := agents.Query(w); q.Next(); {
		if slot, component := q.Get(); c.Rows.Holds(q.Entity(), slot) {
			dst[slot.Row] = *component
			if a := c.anchors[slot.Row]; shift != nil && a != (m3.Vec3{}) {
				shift(int(slot.Row), a.Neg())
			}
		}
	}
}

func isBatched(c *Crowd) bool  { return c.batched != nil }
func isWindowed(c *Crowd) bool { return c.batched == nil }

// rowSystem does the same work on all rows of some crowds, or on all entries of their
// batches, split over workers.
type rowSystem struct {
	system
	work  []func(worker, i int)
	batch bool // entries of the batch, instead of rows
}

// rows is called by Initialize: work returns what is done for rows r0 to r1−1, bound
// once so that a tick allocates nothing. It touches nothing outside its rows.
func (s *rowSystem) rows(w *arche.World, wanted func(c *Crowd) bool, work func(c *Crowd) func(r0, r1 int)) {
	s.Initialize(w)
	s.keep(wanted)
	for _, c := range s.crowds {
		do := work(c)
		s.work = append(s.work, func(_, i int) { do(i*grain, min((i+1)*grain, s.count(c))) })
	}
}

func (s *rowSystem) count(c *Crowd) int {
	if s.batch {
		return c.batch
	}
	return c.Rows.Len()
}

// Update splits the rows over the workers.
func (s *rowSystem) Update(*arche.World) {
	for i, c := range s.crowds {
		if !c.closed {
			c.split(s.count(c), s.work[i])
		}
	}
}

func every(*Crowd) bool { return true }

// Plan is the system that copies the agents' controls to their rows and plans their trajectories.
type Plan struct{ rowSystem }

// Initialize finds the crowds of batched generators.
func (s *Plan) Initialize(w *arche.World) {
	s.batch = true
	s.rows(w, isBatched, func(c *Crowd) func(i0, i1 int) { return c.batched.Plan })
}

// Update collects controls and plans.
func (s *Plan) Update(w *arche.World) {
	for _, c := range s.crowds {
		if !c.closed {
			c.gen.collect(w)
		}
	}
	s.rowSystem.Update(w)
}

// Gather is the system that writes the network's inputs of all agents that update.
type Gather struct{ rowSystem }

// Initialize finds the crowds of batched generators.
func (s *Gather) Initialize(w *arche.World) {
	s.batch = true
	s.rows(w, isBatched, func(c *Crowd) func(i0, i1 int) { return c.batched.Gather })
}

// Infer is the system that runs each network once for all agents that update.
type Infer struct{ system }

// Initialize finds the crowds of batched generators.
func (s *Infer) Initialize(w *arche.World) {
	s.system.Initialize(w)
	s.keep(isBatched)
}

// Update runs the networks.
func (s *Infer) Update(*arche.World) {
	for _, c := range s.crowds {
		if !c.closed {
			if err := c.batched.Infer(); err != nil {
				s.fail(err)
			}
		}
	}
}

// Scatter is the system that turns the network's outputs into root motion and poses.
type Scatter struct{ rowSystem }

// Initialize finds the crowds of batched generators.
func (s *Scatter) Initialize(w *arche.World) {
	s.batch = true
	s.rows(w, isBatched, func(c *Crowd) func(i0, i1 int) { return c.batched.Scatter })
}

// Generate is the system that copies the agents' controls and styles to their rows, starts
// windows of motion that are due, and requests those that are needed next.
type Generate struct {
	system
	gram generic.Filter2[ecs.Slot, ecs.GramStyle]
	mar  generic.Filter2[ecs.Slot, ecs.MARStyle]
}

// Initialize finds the crowds of generators of windows.
func (s *Generate) Initialize(w *arche.World) {
	s.gram, s.mar = *generic.NewFilter2[ecs.Slot, ecs.GramStyle](), *generic.NewFilter2[ecs.Slot, ecs.MARStyle]()
	s.system.Initialize(w)
	s.keep(isWindowed)
}

// Update collects, commits and requests.
func (s *Generate) Update(w *arche.World) {
	for _, c := range s.crowds {
		if c.closed {
			continue
		}
		c.gen.collect(w)
		s.styles(w, c)
		if err := c.gen.generate(c.frozen[:c.Rows.Len()]); err != nil {
			s.fail(err)
		}
	}
}

// styles copies the styles of c's agents to their rows.
func (s *Generate) styles(w *arche.World, c *Crowd) {
	if c.styled != nil {
		styles := c.styled.Styles()
		clear(styles)
		for q := s.gram.Query(w); q.Next(); {
			if slot, style := q.Get(); c.Rows.Holds(q.Entity(), slot) {
				styles[slot.Row] = generator.Style{Index: style.Style, Weight: style.Weight}
			}
		}
	}
	if c.restyle == nil {
		return
	}
	clear(c.restyle.stylist.Weights[:c.Rows.Len()*len(c.restyle.db.Styles)])
	clear(c.restyle.styled[:c.Rows.Len()])
	for q := s.mar.Query(w); q.Next(); {
		if slot, style := q.Get(); c.Rows.Holds(q.Entity(), slot) && c.rates[slot.Row].want == EveryTick {
			c.restyle.want(slot.Row, style)
		}
	}
	if c.styled != nil {
		for row, cadences := 0, c.styled.Cadences(); row < c.Rows.Len(); row++ {
			cadences[row] = c.restyle.paces[row].often
		}
	}
}

// Sample is the system that advances all agents by a tick and writes the poses of those that update.
type Sample struct{ rowSystem }

// Initialize finds all crowds.
func (s *Sample) Initialize(w *arche.World) {
	s.rows(w, every, func(c *Crowd) func(r0, r1 int) { return c.sample })
}

// sample samples rows r0 to r1−1, and has restarts eased.
func (c *Crowd) sample(r0, r1 int) {
	c.gen.sample(&c.Poses, r0, r1)
	for r := r0; r < r1; r++ {
		if c.Restarted[r] {
			c.Restarted[r] = false
			c.Inertial.Jump(r)
		}
	}
}

// Blend is the system that inertializes jumps in the poses.
type Blend struct{ rowSystem }

// Initialize finds all crowds.
func (s *Blend) Initialize(w *arche.World) {
	s.rows(w, every, func(c *Crowd) func(r0, r1 int) { return c.blend })
}

// Ground is the system that puts the poses on the ground and locks their feet. After it
// only heads and arms move.
type Ground struct{ rowSystem }

// Initialize finds all crowds.
func (s *Ground) Initialize(w *arche.World) {
	s.rows(w, every, func(c *Crowd) func(r0, r1 int) { return c.ground })
}

// Publish is the system that writes the grounded poses as bone transforms, beside those of
// the tick before.
type Publish struct{ rowSystem }

// Initialize finds all crowds.
func (s *Publish) Initialize(w *arche.World) {
	s.rows(w, every, func(c *Crowd) func(r0, r1 int) { return c.publish })
}
