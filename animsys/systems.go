package animsys

import (
	"mannequin/animsys/generator"
	"mannequin/ecs"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Systems returns the tick in its order, for all crowds that the world has at each tick. Put systems
// that control agents before them, and systems that read poses after them. They need an ecs.Schedule,
// and do nothing in a world without one.
//
// moves are systems of the game that decide how far agents may go. They run after [Collide]: ask
// Crowd.RootMotion how far an agent goes, and change that with Crowd.Nudge.
func Systems(moves ...ecs.System) []ecs.System {
	motion := []ecs.System{&SelectLOD{}, &Plan{}, &Gather{}, &Infer{}, &Scatter{}, &Generate{}, &Sample{}, &Style{}, &Clips{}, &Collide{}}
	return append(append(motion, moves...), &Blend{}, &Layers{}, &Ground{}, &Aim{}, &Publish{})
}

// grain is how many rows a worker takes at a time.
const grain = 4

// work is what is done with rows r0 to r1−1, or with entries of a batch, on several workers at once.
// It touches nothing outside its rows. The functions are bound once, so that a tick allocates nothing.
type work struct {
	plan, gather, scatter                                func(i0, i1 int) // entries of the batch
	sample, collide, blend, layer, ground, turn, publish func(r0, r1 int)

	n    int // rows of the present split
	do   func(r0, r1 int)
	part func(worker, i int)
}

func (w *work) bind(c *Crowd) {
	if c.batched != nil {
		w.plan, w.gather, w.scatter = c.batched.Plan, c.batched.Gather, c.batched.Scatter
	}
	w.sample, w.collide, w.blend, w.layer, w.ground, w.turn, w.publish = c.sample, c.collide, c.blend, c.layer, c.ground, c.aim, c.publish
	w.part = func(_, i int) { w.do(i*grain, min((i+1)*grain, w.n)) }
}

func (c *Crowd) legs() int { return len(c.Ground.Rig.Roles.Legs) }

// split spreads n rows, or entries of a batch, over the workers.
func (c *Crowd) split(n int, do func(r0, r1 int)) {
	c.work.n, c.work.do = n, do
	c.pool.Run((n+grain-1)/grain, c.work.part)
}

// splitRows spreads all rows over the workers.
func (c *Crowd) splitRows(do func(r0, r1 int)) { c.split(c.rows.Len(), do) }

// system does one thing with each crowd of a world.
type system struct {
	do         func(c *Crowd) error
	registries generic.Resource[registry]
	fault      generic.Resource[ecs.Fault]
}

// start is called by Initialize.
func (s *system) start(w *arche.World, do func(c *Crowd) error) {
	s.registries, s.fault = generic.NewResource[registry](w), generic.NewResource[ecs.Fault](w)
	if s.fault.Has() {
		s.do = do
	}
}

// Update runs the system.
func (s *system) Update(*arche.World) {
	if s.do == nil || !s.registries.Has() {
		return
	}
	r := s.registries.Get()
	if err := r.claim("Step"); err != nil {
		s.fail(err)
		return
	}
	defer r.release()
	for _, c := range r.all {
		if err := s.do(c); err != nil {
			s.fail(err)
		}
	}
}

func (s *system) fail(err error) {
	if f := s.fault.Get(); f.Err == nil {
		f.Err = err
	}
}

// Finalize does nothing.
func (s *system) Finalize(*arche.World) {}

// collect copies the components of c's agents that have one to dst, by row, and takes their places
// into the rows' own spaces.
func collect[T any](c *Crowd, from *generic.Map1[T], dst []T) {
	for row := range c.rows.Len() {
		if e := c.rows.Entity(row); c.world.Alive(e) {
			if component := from.Get(e); component != nil {
				dst[row] = *component
				shift(&dst[row], c.anchors[row].Neg())
				scale(&dst[row], 1/c.units[row])
			}
		}
	}
}

// Plan is the system that copies the agents' controls to their rows and plans their trajectories.
type Plan struct{ system }

// Initialize prepares the system.
func (s *Plan) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error {
		if c.batched != nil {
			c.gen.collect()
			c.split(c.batch, c.work.plan)
		}
		return nil
	})
}

// Gather is the system that writes the network's inputs of all agents that update.
type Gather struct{ system }

// Initialize prepares the system.
func (s *Gather) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error {
		if c.batched != nil {
			c.split(c.batch, c.work.gather)
		}
		return nil
	})
}

// Infer is the system that runs each network once for all agents that update.
type Infer struct{ system }

// Initialize prepares the system.
func (s *Infer) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error {
		if c.batched != nil {
			return c.batched.Infer()
		}
		return nil
	})
}

// Scatter is the system that turns the network's outputs into root motion and poses.
type Scatter struct{ system }

// Initialize prepares the system.
func (s *Scatter) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error {
		if c.batched != nil {
			c.split(c.batch, c.work.scatter)
		}
		return nil
	})
}

// Generate is the system that copies the agents' controls and styles to their rows, starts
// windows of motion that are due, and requests those that are needed next.
type Generate struct{ system }

// Initialize prepares the system.
func (s *Generate) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error {
		if c.batched != nil {
			return nil
		}
		c.gen.collect()
		c.styles()
		return c.gen.generate(c.frozen[:c.rows.Len()])
	})
}

// styles copies the styles of the agents to their rows.
func (c *Crowd) styles() {
	if c.styled != nil || c.poseStyles != nil {
		var own []generator.Style // of the generator
		if c.poseStyles == nil {
			own = c.styled.Styles()
		}
		for row := range c.rows.Len() {
			var style generator.Style
			if e := c.rows.Entity(row); c.world.Alive(e) {
				if g := c.components.gram.Get(e); g != nil {
					style = generator.Style{Index: g.Style, Weight: g.Weight}
				}
			}
			if c.poseStyles != nil {
				c.poseStyles.want(row, style)
			} else {
				own[row] = style
			}
		}
	}
	if c.restyle == nil {
		return
	}
	clear(c.restyle.stylist.Weights[:c.rows.Len()*len(c.restyle.db.Styles)])
	clear(c.restyle.styled[:c.rows.Len()])
	for row := range c.rows.Len() {
		if e := c.rows.Entity(row); c.world.Alive(e) && c.rates[row].want == EveryTick {
			if style := c.components.mar.Get(e); style != nil {
				c.restyle.want(int32(row), style)
			}
		}
	}
	if c.styled != nil {
		for row, cadences := 0, c.styled.Cadences(); row < c.rows.Len(); row++ {
			cadences[row] = c.restyle.paces[row].often
		}
	}
}

// Sample is the system that advances all agents by a tick and writes the poses of those that update.
type Sample struct{ system }

// Initialize prepares the system.
func (s *Sample) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error { c.splitRows(c.work.sample); return nil })
}

// sample samples rows r0 to r1−1, and has restarts eased.
func (c *Crowd) sample(r0, r1 int) {
	c.gen.sample(&c.Poses, r0, r1)
	for r := r0; r < r1; r++ {
		if c.Restarted[r] {
			c.Restarted[r] = false
			c.Inertial.Jump(r)
			c.restyle.jump(r)
		}
	}
}

// Blend is the system that inertializes jumps in the poses.
type Blend struct{ system }

// Initialize prepares the system.
func (s *Blend) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error { c.splitRows(c.work.blend); return nil })
}

// Ground is the system that puts the poses on the ground, locks their feet, and takes the feet of people
// with an ecs.Step to their targets. After it only heads and arms move.
type Ground struct{ system }

// Initialize prepares the system.
func (s *Ground) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error {
		if a := c.aims; a != nil && a.arms != nil {
			clear(a.step)
			collect(c, &c.components.step, a.step)
		}
		c.splitRows(c.work.ground)
		return nil
	})
}

// Publish is the system that writes the grounded poses as bone transforms, beside those of
// the tick before, and collects the tick's events.
type Publish struct{ system }

// Initialize prepares the system.
func (s *Publish) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error { c.splitRows(c.work.publish); c.report(); return nil })
}
