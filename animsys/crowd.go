// Package animsys is the tick: the ECS systems that turn what agents are asked to do into
// poses on the ground. It only joins them up: motion comes from the packages below it,
// footing from package ik, and networks run in package netruntime.
//
// Set up:
//   - [NewCrowd] puts the agents of one generator into a world: mann.Controller,
//     manifold.Stream, latent.Stream, strnn.Stream, keypose.Stream, or your own
//     [mannequin/animsys/generator.Generator]. Crowds may come and go between ticks.
//   - [Systems] is the tick in its order, for ecs.NewSchedule.
//
// Agents:
//   - [Crowd.Spawn], [SpawnWith] and [Crowd.Add] between ticks: before or after Schedule.Step, not in a system.
//   - [Crowd.Place] and [Crowd.Despawn] between ticks, or in a system before SelectLOD or after Publish.
//   - The game may also remove an agent's entity itself. To keep the entity without its agent, remove
//     its ecs.Slot.
//   - The generator's component (control.Goal, manifold.Curve, latent.Sliders,
//     strnn.Steer, keypose.Performance) says what an agent does. Set it before a tick.
//   - ecs.LookAt, ecs.Reach, ecs.Step, ecs.MARStyle and ecs.GramStyle add to it. [Crowd.CanReach] and [Crowd.CanStep]
//     say whether hands and feet can be at a place in a time.
//   - [Crowd.Play] plays clips of your own over it, on all joints or on some; [Crowd.Stop] ends them.
//     [Crowd.TakePose] takes a person into a pose at a place, such as a seat.
//
// Results:
//   - [Crowd.Bones] and [Crowd.Root] of one entity. Crowd.Skel.Names lists the joints in
//     the order of its bones; [mannequin/animsys/skel.Skeleton] has the names of dogs and people.
//   - [Crowd.Events]: feet that came down or up, and markers of clips, in the last tick.
//   - [Crowd.Published] and [Crowd.Interpolate] of all.
//   - [Crowd.Hash] is a checksum of a crowd's state.
//
// Large worlds:
//   - [ShiftOrigin] moves the world's origin to where the player is.
//   - [Crowd.InterpolateFrom] has no rounding that shows, however far the camera is from the origin.
//
// Level of detail:
//   - [Crowd.SetUpdateRate] of one agent, [Crowd.ApplyLOD] by distance ([LODPolicy]).
//     Dogs need networks with longer steps for it: mann.ControllerOptions.LOD.
//
// Lengths are in metres, angles in radians, +Y is up. Heading 0 faces +Z. Headings grow to the
// left: π/2 faces +X.
//
// Four things are called Ground: ik.Ground is the interface of a terrain, Options.Ground the terrain
// of a crowd, Crowd.Ground its foot solver, and [Ground] the system that runs this solver.
//
// The systems of a tick, in order:
//
//	SelectLOD                         all crowds: which agents update in this tick
//	Plan → Gather → Infer → Scatter   batched generators: one network call for all agents
//	Generate → Sample                 the others: request windows of motion, play them
//	Style                             crowds with Options.Styles or Options.Transfers
//	Clips                             crowds that play clips: time and root motion
//	Collide                           crowds with Options.Walls
//	your systems that move agents     see Systems
//	Blend → Layers → Ground → Aim → Publish    all crowds; Layers plays clips
//
// The systems split rows over workers. Results are bit-identical for any number of
// workers. A dog moves identically alone or in a crowd. For generators of windows a
// full batch may delay a window, and the phase at which windows start depends on spawn
// order. An agent of such a generator stands until its first window is ready. A tick
// allocates nothing.
//
// The game calls Schedule.Step [TickRate] (60) times a second: a schedule keeps no time. A game
// with another frame rate accumulates time (mannequin/engine/clock.Fixed) and interpolates; see
// the example of [Crowd.Interpolate].
//
// Agents do not avoid each other. They walk through each other unless the game steers them.
package animsys

import (
	"errors"
	"fmt"
	"slices"

	"mannequin/animsys/blend"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/layer"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// TickRate is the steps per second of a schedule with crowds: 60.
const TickRate = generator.TickRate

// Options configure a crowd.
type Options struct {
	Ground  ik.Ground       // what the agents stand on, your own or a terrain.Field; required
	Roles   *ik.Roles       // the skeleton's roles; nil derives them from joint names
	Walls   generator.Walls // what the agents cannot walk through, your own or control.Obstacles; nil is nothing
	Workers int             // goroutines that share the rows; 0 lets generator.Workers choose

	// Styles are the styles that ecs.MARStyle weights, at most ecs.MaxStyles. The database
	// has the generator's skeleton. nil: no styles.
	Styles *mar.Database
	Style  mar.Options // parameters of the translation
	Known  mar.Label   // the style that the generator's motion has, see mar.Database.InStyle; none is slower

	// Transfers are the styles that ecs.GramStyle chooses from. They change one pose at a time and work for people of any
	// generator. nil: the generator uses its own styles if it has some, such as manifold.StreamOptions.Styles.
	Transfers []*manifold.StyleTransfer

	// Characters are those that SetCharacter can give to agents, for motion of the generator's skeleton.
	Characters []*retarget.Character
}

// Crowd holds the agents of one generator, one row each: the poses that the
// generator makes, and what the tick's later stages make of them. Slices are indexed
// by row; rows 0 to Agents()−1 are in use. A world can have several crowds. A
// crowd belongs to the goroutine that owns the world. Calls from another return ecs.ErrBusy where
// they can be told.
type Crowd struct {
	Skel            *skel.Skeleton
	Ground          ik.Legged       // the ground solver, whose settings may change between ticks; what its Validate refuses is not used
	Inertial        *blend.Inertial // what smooths jumps in poses, whose settings may change as well
	Roots           []m3.Xform      // (rows) where agents stand and face; see Root
	generator.Poses                 // in the rows' own spaces; see Anchor

	rows       ecs.Rows
	components components
	gen        untyped
	batched    generator.Batched // nil for generators of windows
	styled     generator.Styled  // nil for generators without styles of their own
	batch      int               // agents of this tick's batch
	restyle    *restyle          // nil without Options.Styles
	poseStyles *poseStyles       // nil without Options.Transfers
	work       work

	last, now []m3.Xform    // (rows, joints) published poses, in the rows' own spaces
	shown     []m3.Xform    // (rows, joints) now, in world space
	anchors   []m3.Vec3     // (rows) see Anchor
	units     []float32     // (rows) of the rows' own spaces, m: 1, or as SetCharacter has it
	cast      cast          // characters of their own
	aims      *aims         // nil for a skeleton without a known head
	layers    *layer.Player // nil before the first Play
	marks     []layer.Mark  // of this tick
	tips      []int         // (legs) the joints at their ends
	footings  []footing     // (rows, legs)
	changed   []uint8       // (rows) a bit for each leg whose contact has changed in this tick
	events    []Event       // of the last tick
	fresh     []bool        // (rows) the agent was placed elsewhere: last is no pose to come from
	pacing
	joints   int
	world    *arche.World
	registry *registry
	walls    generator.Surroundings // spaces are at the height of the floor
	pool     *netruntime.Pool
	saving   saving
	leaving  leaving
	closed   bool
}

// components are the optional components of agents.
type components struct {
	slot  generic.Map1[ecs.Slot]
	look  generic.Map1[ecs.LookAt]
	reach generic.Map1[ecs.Reach]
	step  generic.Map1[ecs.Step]
	mar   generic.Map1[ecs.MARStyle]
	gram  generic.Map1[ecs.GramStyle]
}

// registerComponents registers all components with w, which cannot be done within a query.
func registerComponents(w *arche.World) components {
	return components{generic.NewMap1[ecs.Slot](w), generic.NewMap1[ecs.LookAt](w), generic.NewMap1[ecs.Reach](w), generic.NewMap1[ecs.Step](w),
		generic.NewMap1[ecs.MARStyle](w), generic.NewMap1[ecs.GramStyle](w)}
}

// untyped is a Generator without its type of control.
type untyped struct {
	// spawn adds a row and gives e its component; the zero entity makes one.
	spawn    func(e arche.Entity, at feature.Place, control any) (arche.Entity, int, error)
	collect  func() // components to Controls
	place    func(row int, at feature.Place)
	shift    func(row int, by m3.Vec3)
	turn     func(row int, by m3.Turn) // nil: agents keep their headings
	remove   func(row int)
	generate func(frozen []bool) error
	sample   func(p *generator.Poses, r0, r1 int)
	pose     func(p *generator.Poses, row int)
	close    func() error

	// save writes a row and the component of its entity e. restore adds a row, and gives its component
	// to e, or to a new entity if e is zero.
	save    func(st *generator.State, row int, e arche.Entity)
	restore func(st *generator.State, e arche.Entity) (arche.Entity, int, error)
	wears   func(e arche.Entity) bool // whether e, which is alive, has the component

	// saveMotion writes a row as the generator does, with the component of its entity e. restoreMotion adds such a row and a new entity.
	saveMotion    func(st *generator.State, row int, e arche.Entity)
	restoreMotion func(st *generator.State) (arche.Entity, int, error)

	shiftControl    func(row int, by m3.Vec3)
	shiftComponents func(by m3.Vec3) // the controls of all agents
}

// NewCrowd makes a crowd of the generator's agents and adds it to w. The crowd owns
// the generator from then on, and closes it. Crowds are made before the schedule or between
// ticks, not in a system and not within a query.
func NewCrowd[C any](w *arche.World, g generator.Generator[C], opt Options) (*Crowd, error) {
	if err := usable(w, g, opt.Ground); err != nil {
		return nil, err
	}
	r := registryOf(w)
	if err := r.claimBetween(w, "NewCrowd"); err != nil {
		return nil, err
	}
	defer r.release()
	c := &Crowd{world: w, registry: r}
	rig, err := g.Rig(opt.Roles)
	if err != nil {
		return nil, err
	}
	if err := c.open(rig, g.Capacity(), opt); err != nil {
		return nil, err
	}
	bind(c, g)
	r.all = append(r.all[:len(r.all):len(r.all)], c)
	return c, nil
}

// bind connects c to its generator and to the components of its agents.
func bind[C any](c *Crowd, g generator.Generator[C]) {
	w, controls := c.world, g.Controls()
	made := generic.NewMap1[C](w)
	c.gen = untyped{
		place: g.Place, shift: g.Shift, remove: g.Remove, generate: g.Generate, sample: g.Sample, pose: g.Pose, close: g.Close,
		spawn: func(e arche.Entity, at feature.Place, control any) (arche.Entity, int, error) {
			begin, ok := control.(*C)
			if control != nil && !ok {
				return arche.Entity{}, 0, fmt.Errorf("an agent of this crowd is controlled by a %T, not by a %T", begin, control)
			}
			had := false
			if !e.IsZero() {
				if own := made.Get(e); own != nil {
					begin, had = &[]C{*own}[0], true
				}
			}
			row, err := g.Add(at, begin)
			switch {
			case err != nil:
				return arche.Entity{}, 0, err
			case e.IsZero():
				e = made.NewWith(&controls[row])
			case !had:
				made.Assign(e, &controls[row])
			}
			return e, row, nil
		},
		save: func(st *generator.State, row int, e arche.Entity) {
			own, was := made.Get(e), controls[row]
			has := own != nil
			if st.Bool(&has); has {
				controls[row] = *own // in world space, as it is
			}
			g.Save(st, row)
			controls[row] = was
		},
		restore: func(st *generator.State, e arche.Entity) (arche.Entity, int, error) {
			var has bool
			st.Bool(&has)
			row, err := g.Restore(st)
			if err != nil {
				return e, row, err
			}
			if e.IsZero() {
				e = w.NewEntity()
			}
			switch own := made.Get(e); {
			case has && own != nil:
				*own = controls[row]
			case has:
				made.Assign(e, &controls[row])
			case own != nil:
				made.Remove(e)
			}
			return e, row, nil
		},
		saveMotion: func(st *generator.State, row int, e arche.Entity) {
			was := controls[row]
			if own := made.Get(e); own != nil {
				controls[row] = *own // in world space, as it is
			}
			g.Save(st, row)
			controls[row] = was
		},
		restoreMotion: func(st *generator.State) (arche.Entity, int, error) {
			row, err := g.Restore(st)
			if err != nil {
				return arche.Entity{}, 0, err
			}
			return made.NewWith(&controls[row]), row, nil
		},
		wears:           func(e arche.Entity) bool { return made.Get(e) != nil },
		collect:         func() { collect(c, &made, controls) },
		shiftControl:    func(row int, by m3.Vec3) { shift(&controls[row], by) },
		shiftComponents: func(by m3.Vec3) { shiftComponents(c, &made, by) },
	}
	if t, ok := g.(generator.Turner); ok {
		c.gen.turn = t.Turn
	}
	c.batched, _ = g.(generator.Batched)
	if walled, ok := g.(generator.Walled); ok && c.walls.Walls != nil {
		walled.SetWalls(c.walls)
	}
	c.styled, _ = g.(generator.Styled)
	c.work.bind(c)
}

// open makes room for n agents.
func (c *Crowd) open(rig generator.Rig, n int, opt Options) (err error) {
	if rig.Ground.Rig == nil {
		return errors.New("animsys: the generator's rig has no legs: see generator.NewRig")
	}
	joints := rig.Skel.Len()
	c.rows, c.components = *ecs.NewRows(c.world, n), registerComponents(c.world)
	c.Skel, c.Ground, c.joints = rig.Skel, rig.Ground, joints
	c.Poses = generator.Poses{
		Update: make([]bool, n), Roots: make([]m3.Xform, n), Pos: make([]m3.Vec3, n*joints), Rot: make([]m3.Quat, n*joints),
		Restarted: make([]bool, n), Going: make([]ik.Going, n), Contacts: rig.Contacts,
	}
	c.Inertial = blend.NewInertial(n, rig.Skel.Parents)
	c.Inertial.Turn, c.Inertial.Move = rig.Turn, rig.Move
	c.pacing = pacing{rates: make([]rated, n), frozen: make([]bool, n), strides: make([]uint8, n), late: rig.Late}
	c.last, c.now, c.fresh = make([]m3.Xform, n*joints), make([]m3.Xform, n*joints), make([]bool, n)
	c.shown, c.anchors, c.Roots = make([]m3.Xform, n*joints), make([]m3.Vec3, n), make([]m3.Xform, n)
	c.walls = generator.Surroundings{Walls: opt.Walls, Body: rig.Body, Spaces: make([]generator.Space, n)}
	c.units = slices.Repeat([]float32{1}, n)
	c.Ground.Anchors, c.Ground.Units = c.anchors, c.units
	c.Ground.Ground, c.Ground.DT = opt.Ground, 1.0/generator.TickRate
	c.Ground.Pos, c.Ground.Rot, c.Ground.Model = c.Pos, c.Rot, make([]m3.Xform, n*joints)
	c.Ground.Goings = c.Poses.Going
	c.Ground.Feet, c.Ground.Body = make([]ik.Foot, n*c.legs()), make([]ik.Body, n)
	c.leaving = newLeaving(joints, c.legs())
	if rig.Contacts != nil {
		c.Stand = make([]bool, len(c.Ground.Feet))
		c.Ground.Contacts = c.Stand
	}
	if err := c.Ground.Validate(); err != nil {
		return err
	}
	c.tune()
	if c.restyle, err = newRestyle(rig, n, &opt); err != nil {
		return err
	}
	c.aims = newAims(rig.Skel, &c.Ground, n)
	c.footings, c.changed, c.events = make([]footing, n*c.legs()), make([]uint8, n), make([]Event, 0, n*(c.legs()+limbs))
	for _, leg := range c.Ground.Rig.Roles.Legs {
		c.tips = append(c.tips, int(leg[len(leg)-1]))
	}
	c.pool = netruntime.NewPool(min(generator.Workers(opt.Workers, n), n/grain+1))
	if c.poseStyles, err = newPoseStyles(c, &rig, n, &opt); err != nil {
		c.pool.Close()
		return errors.Join(err, c.restyle.close())
	}
	if err := c.cast.open(c, opt.Characters, n); err != nil {
		return err
	}
	c.saving.open(c, rig, &opt)
	return nil
}

// Close stops the crowd's workers and its generator, and takes the crowd out of its world. The entities
// of its agents stay: Crowd.Add takes them into another crowd. A closed crowd has no agents and no room
// for any: its methods return an error, or what they return for an entity that is not in the crowd. Its
// fields and Published keep what they had. The zero Crowd has no agents either. Closing twice is harmless.
func (c *Crowd) Close() error {
	if c.closed || c.pool == nil { // the zero Crowd has nothing to close
		return nil
	}
	if c.registry == nil {
		return nil
	}
	if err := c.registry.claim("Close"); err != nil {
		return err
	}
	c.closed, c.rows, c.events = true, ecs.Rows{}, nil
	c.registry.drop(c)
	c.registry.release()
	c.pool.Close()
	return errors.Join(c.gen.close(), c.restyle.close())
}

// Spawn adds an agent at pos with heading yaw in radians. The height of pos chooses the floor of an
// ik.Floors, and is ignored otherwise. Its bones are there at once. The entity has an ecs.Slot and the generator's component with
// its default: change it through generic.NewMap1 or a query, and add components of your
// own. Spawn fails if the crowd is full or closed, within a tick, while the world is locked by a
// query, and for places that are not finite.
//
// A dog moves in the next tick. An agent of a generator of windows stands first. With the defaults
// of manifold.StreamOptions a person stands for 0.9 s: 24 ticks until its window starts, and 30
// that blend into it. A spawn between two requests (every 8 ticks) adds up to 7. If more windows
// are needed than StreamOptions.Batch, the rest wait for the next requests, 8 ticks each. Agents
// that were spawned first in a tick come first: behind 19 others the last of a stream of 20
// stands for 1.7 s. To shorten that, raise Batch up to Capacity, or spawn the agents that the
// player watches first and the others some ticks later.
func (c *Crowd) Spawn(pos m3.Vec3, yaw float32) (arche.Entity, error) {
	return c.spawn("Spawn", arche.Entity{}, pos, yaw, nil)
}

// SpawnWith is Crowd.Spawn for an agent that begins with the given control, which is
// of the type of the crowd's component.
func SpawnWith[C any](c *Crowd, pos m3.Vec3, yaw float32, control C) (arche.Entity, error) {
	return c.spawn("SpawnWith", arche.Entity{}, pos, yaw, &control)
}

// Add is Crowd.Spawn for an entity of the game. If it has the generator's component, the agent begins
// with that. It is an error if the entity is dead, or an agent already.
func (c *Crowd) Add(e arche.Entity, pos m3.Vec3, yaw float32) error {
	if e.IsZero() {
		return errors.New("animsys: Add: the zero entity")
	}
	_, err := c.spawn("Add", e, pos, yaw, nil)
	return err
}

// spawn adds an agent with entity e, or with a new one if e is zero.
func (c *Crowd) spawn(what string, e arche.Entity, pos m3.Vec3, yaw float32, control any) (arche.Entity, error) {
	if err := c.claimBetween(what); err != nil {
		return arche.Entity{}, err
	}
	defer c.registry.release()
	if c.world.IsLocked() {
		return arche.Entity{}, fmt.Errorf("animsys: %s: a query has locked the world: do it between ticks", what)
	}
	if err := placeable(pos, yaw); err != nil {
		return arche.Entity{}, err
	}
	c.registry.sweep()
	own := !e.IsZero()
	if own && !ecs.Alive(c.world, e) {
		return arche.Entity{}, fmt.Errorf("animsys: %s: entity %v is dead, or of another world", what, e)
	}
	if own && c.components.slot.Get(e) != nil {
		for _, o := range c.registry.all {
			if _, ok := o.rows.Row(e); ok {
				return arche.Entity{}, fmt.Errorf("animsys: %s: entity %v is an agent already", what, e)
			}
		}
		c.components.slot.Remove(e) // of a crowd that is closed
	}
	anchor := anchorOf(pos)
	e, row, err := c.gen.spawn(e, feature.Place{Pos: pos.Sub(anchor), Yaw: yaw}, control)
	if err != nil {
		return arche.Entity{}, fmt.Errorf("animsys: %w", err)
	}
	if _, err := c.rows.Add(e); err != nil {
		c.gen.remove(row)
		if !own {
			c.world.RemoveEntity(e)
		}
		return arche.Entity{}, err
	}
	c.Inertial.Reset(row)
	c.begin(row, anchor, pos.Y, false)
	return e, nil
}

// begin shows a new agent, whose generator and inertialization have it in a row around an anchor, on the floor nearest to height y, world space. One
// that is moving goes on from how it is shown, others stand.
func (c *Crowd) begin(row int, anchor m3.Vec3, y float32, moving bool) {
	c.anchors[row], c.units[row] = anchor, 1
	c.cast.dress(row, noCharacter)
	c.gen.shiftControl(row, anchor.Neg())
	c.start(row)
	c.gen.pose(&c.Poses, row)
	if c.Restarted[row] {
		c.Restarted[row] = false
		c.Inertial.Jump(row)
	}
	pos, rot := c.Poses.Joints(row, c.joints)
	c.Inertial.Shown(row, c.Poses.Roots[row], pos, rot)
	c.forget(row, y)
	c.aims.forget(row)
	c.tune()
	if moving {
		c.solvers[EveryTick].Begin(row, row+1)
	} else {
		c.solvers[EveryTick].Run(row, row+1)
		c.forget(row, y)
	}
	c.fresh[row] = false
	copy(c.now[row*c.joints:(row+1)*c.joints], c.Ground.Model[row*c.joints:])
	copy(c.last[row*c.joints:(row+1)*c.joints], c.now[row*c.joints:])
	c.expose(row)
}

// Despawn removes an agent and its entity, between ticks or in a system before
// SelectLOD or after Publish. The last row's agent moves to its row. It fails if e is no agent of
// this crowd, if the crowd is closed, and while the world is locked by a query.
func (c *Crowd) Despawn(e arche.Entity) error {
	if err := c.claim("Despawn"); err != nil {
		return err
	}
	defer c.registry.release()
	c.sweep()
	row, last, err := c.rows.Remove(e)
	if err != nil {
		return err
	}
	c.world.RemoveEntity(e)
	c.vacate(row, last)
	return nil
}

// sweep frees the rows of agents that the game has removed.
func (c *Crowd) sweep() { c.rows.Sweep(c.vacate) }

// vacate moves the last row's agent to a row that is free.
func (c *Crowd) vacate(row, last int) {
	c.gen.remove(row)
	c.restyle.move(row, last)
	c.poseStyles.move(row, last)
	if c.layers != nil {
		c.layers.Move(row, last)
	}
	if row == last {
		return
	}
	c.Inertial.Copy(row, last)
	c.aims.copy(row, last)
	n, legs := c.joints, c.legs()
	copy(c.Ground.Feet[row*legs:(row+1)*legs], c.Ground.Feet[last*legs:])
	c.Ground.Body[row] = c.Ground.Body[last]
	copy(c.footings[row*legs:(row+1)*legs], c.footings[last*legs:])
	c.changed[row] = 0
	copy(c.last[row*n:(row+1)*n], c.last[last*n:])
	copy(c.now[row*n:(row+1)*n], c.now[last*n:])
	copy(c.Ground.Model[row*n:(row+1)*n], c.Ground.Model[last*n:(last+1)*n])
	c.Poses.Roots[row], c.fresh[row], c.rates[row], c.anchors[row], c.units[row] = c.Poses.Roots[last], c.fresh[last], c.rates[last], c.anchors[last], c.units[last]
	c.cast.copy(row, last)
	c.expose(row)
}

// Place moves an agent to pos with heading yaw, at once and without a way. Its posture
// stays and eases into what the generator makes there.
func (c *Crowd) Place(e arche.Entity, pos m3.Vec3, yaw float32) error {
	if err := c.claim("Place"); err != nil {
		return err
	}
	defer c.registry.release()
	row, ok := c.rows.Row(e)
	if !ok {
		return fmt.Errorf("animsys: entity %v is not in this crowd", e)
	}
	if err := placeable(pos, yaw); err != nil {
		return err
	}
	anchor := anchorOf(pos)
	c.reanchor(row, anchor)
	c.gen.place(row, feature.Place{Pos: c.in(row, pos), Yaw: yaw})
	c.restyle.forget(row)
	c.gen.pose(&c.Poses, row)
	c.Restarted[row] = false
	c.Inertial.Put(row)
	c.forget(row, pos.Y)
	if c.layers != nil {
		c.layers.Place(row, c.Poses.Roots[row])
	}
	c.expose(row)
	c.fresh[row], c.rates[row].left = true, 0
	c.rates[row].rate = min(c.rates[row].rate, EveryTick) // a lower one waits for its turn
	return nil
}

// forget clears what the ground solver and events remember of row, which stands on the floor nearest to height y,
// world space.
func (c *Crowd) forget(row int, y float32) {
	clear(c.Ground.Feet[row*c.legs() : (row+1)*c.legs()])
	c.Ground.Body[row] = ik.BodyOn(y / c.units[row])
	clear(c.footings[row*c.legs() : (row+1)*c.legs()])
}

// Agents returns the number of agents. Agents whose entities the game has removed leave first.
func (c *Crowd) Agents() int {
	c.settle()
	return c.rows.Len()
}

// settle frees the rows of agents that the game has removed, unless another goroutine uses the crowd.
func (c *Crowd) settle() {
	if c.claim("") == nil {
		c.sweep()
		c.registry.release()
	}
}

// Capacity returns the largest number of agents.
func (c *Crowd) Capacity() int { return c.rows.Cap() }

// Row returns e's row, and whether e is an agent of this crowd.
func (c *Crowd) Row(e arche.Entity) (int, bool) { return c.rows.Row(e) }

// Entity returns the entity of the agent in a row, or the zero entity for a row that no agent has. It is
// dead if the game has removed it since the last call of Agents, Interpolate or Step.
func (c *Crowd) Entity(row int) arche.Entity {
	if !c.has(row) {
		return arche.Entity{}
	}
	return c.rows.Entity(row)
}

// has reports whether an agent has the row.
func (c *Crowd) has(row int) bool { return uint(row) < uint(c.rows.Len()) }

// Bones returns the world transforms of e's joints as of the last tick or its
// spawning, grounded; nil if e is not in this crowd. They alias the crowd and change
// with the next tick. Of an agent with a character of its own they are the character's.
func (c *Crowd) Bones(e arche.Entity) []m3.Xform {
	row, ok := c.rows.Row(e)
	if !ok {
		return nil
	}
	return c.BonesAt(row)
}

// Root returns where e stands and faces, to steer by: its place on flat ground, with +Z
// ahead, as of the last tick; the zero Xform if e is not in this crowd. Its Y is 0 on any
// terrain: for the height take the hips of Bones.
func (c *Crowd) Root(e arche.Entity) m3.Xform {
	row, ok := c.rows.Row(e)
	if !ok {
		return m3.Xform{}
	}
	return c.Roots[row]
}

// BonesAt is Bones for the agent in a row; nil for a row that no agent has.
func (c *Crowd) BonesAt(row int) []m3.Xform {
	if !c.has(row) {
		return nil
	}
	if own := c.cast.bones(c.cast.shown, row); own != nil {
		return own
	}
	return c.shown[row*c.joints : (row+1)*c.joints]
}

// Published returns the poses of the tick before the last and of the last, (capacity,
// joints) each, in the agents' own spaces: see Anchor. They alias the crowd, for good. Both
// are the same for an agent that was placed elsewhere in the last tick.
func (c *Crowd) Published() (last, now []m3.Xform) { return c.last, c.now }

// Interpolate writes all agents' joints a fraction alpha in [0, 1] of the way from
// the tick before the last to the last into dst, (agents, joints), growing it if it
// is too small, and returns it. The joints of the agent in row r begin at r·Skel.Len();
// Row returns an entity's row. Joints rotate and hips move straight, so that bones
// keep their lengths. Agents with a character of their own have the crowd's joints here, too: see
// InterpolateCharacter.
func (c *Crowd) Interpolate(dst []m3.Xform, alpha float32) []m3.Xform {
	return c.InterpolateFrom(dst, alpha, m3.Vec3{})
}

// InterpolateFrom is Interpolate in the space of a camera at eye, world space, whose axes are the
// world's: what is near the camera has no rounding errors that show, however far both are from
// the origin.
func (c *Crowd) InterpolateFrom(dst []m3.Xform, alpha float32, eye m3.Vec3) []m3.Xform {
	c.settle()
	if alpha = m3.Clamp(alpha, 0, 1); !m3.Finite(alpha) {
		alpha = 1
	}
	n := c.rows.Len() * c.joints
	dst = slices.Grow(dst[:0], n)[:n]
	for row := range c.rows.Len() {
		i, k := row*c.joints, (row+1)*c.joints
		c.Skel.Interpolate(dst[i:k], c.last[i:k], c.now[i:k], alpha)
		toMetres(dst[i:k], c.units[row])
		move(dst[i:k], c.anchors[row].Sub(eye))
	}
	return dst
}
