// Package animsys is the tick: the ECS systems that turn goals into grounded
// poses. It is glue; the work is done by its sub-packages, ik and netruntime.
//
// A [Crowd] is the resource that holds the bulk data of all agents that share a
// model, one row each. [Systems] returns the tick in its order:
//
//	Plan → Gather → Infer → Scatter → Blend → Ground → Skin
//
// Infer calls the network once for all agents. The other systems spread rows
// over the crowd's workers. An agent's result is the same bits alone or among
// others and for any number of workers, and a tick allocates nothing.
//
//	crowd, err := animsys.NewCrowd(&world, model, animsys.Options{Capacity: 64, Terrain: field})
//	schedule, err := ecs.NewSchedule(&world, 1.0/mann.Rate, animsys.Systems()...)
//	dog, err := crowd.Spawn(m3.V(0, 0, 0), 0)
//	for { err = schedule.Step() } // at 60 Hz
package animsys

import (
	"fmt"
	"runtime"

	"mannequin/animsys/blend"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/pool"
	"mannequin/netruntime"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Options configure a crowd.
type Options struct {
	Capacity int            // most agents at a time, at least 1
	Terrain  *terrain.Field // the ground they walk on; required
	Roles    *ik.Roles      // the skeleton's roles; nil derives them from the dog's joint names
	Workers  int            // goroutines that share the rows; 0 means one per CPU

	// The network's shortcuts: see netruntime.SessionOptions.
	BF16      bool
	SkipBelow float32
	Open      netruntime.Opener // what computes the network; nil is the processor
}

// Crowd is the resource that all systems of this package work on. Its slices
// are indexed by row; rows 0 to Rows.Len()−1 are in use. It belongs to the
// goroutine that owns the world.
type Crowd struct {
	Rows    *ecs.Rows
	Batch   *mann.Batch
	Session netruntime.Session
	Terrain *terrain.Field

	Goals []control.Goal // (rows) gathered from the entities by Plan
	X, Y  []float32      // (rows, inputs) and (rows, outputs) of the network, raw
	Roots []m3.Xform     // (rows) where each agent stands on flat ground, +Z ahead

	Pos      []m3.Vec3 // (rows, joints) the blended pose's local translations
	Rot      []m3.Quat // (rows, joints) its local rotations
	Inertial *blend.Inertial
	Ground   ik.Legged

	last, now []m3.Xform // (rows, joints) published poses, world space
	fresh     []bool     // (rows) the agent was placed elsewhere: last is no pose to come from
	restored  []int      // (rows) Batch.Restored as of the last tick
	joints    int
	world     *arche.World
	agents    generic.Map1[control.Goal]
	pool      *pool.Pool
}

// NewCrowd makes a crowd for a model and adds it to w as a resource.
func NewCrowd(w *arche.World, m *mann.Model, opt Options) (*Crowd, error) {
	if opt.Capacity < 1 {
		return nil, fmt.Errorf("animsys: a crowd of %d agents: want at least 1", opt.Capacity)
	}
	if opt.Terrain == nil {
		return nil, fmt.Errorf("animsys: Options.Terrain is missing")
	}
	if err := opt.Terrain.Validate(); err != nil {
		return nil, err
	}
	res := generic.NewResource[Crowd](w)
	if res.Has() {
		return nil, fmt.Errorf("animsys: the world has a Crowd already")
	}
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	n, joints := opt.Capacity, m.Skel.Len()
	c := &Crowd{
		Rows: ecs.NewRows(w, n), Batch: mann.NewBatch(m, n), Terrain: opt.Terrain,
		Goals: make([]control.Goal, n), Roots: make([]m3.Xform, n),
		Pos: make([]m3.Vec3, n*joints), Rot: make([]m3.Quat, n*joints), Inertial: blend.NewInertial(n, m.Skel.Parents),
		last: make([]m3.Xform, n*joints), now: make([]m3.Xform, n*joints),
		fresh: make([]bool, n), restored: make([]int, n), joints: joints,
		world: w, agents: generic.NewMap1[control.Goal](w),
	}
	if err := c.ground(m, opt.Roles); err != nil {
		return nil, err
	}
	c.Inertial.Turn, c.Inertial.Move = c.bounds(m.Skel), hipsPush
	var err error
	if opt.Open == nil {
		opt.Open = (*netruntime.Net).NewSession
	}
	if c.Session, err = opt.Open(m.Net, netruntime.SessionOptions{Batch: n, Workers: opt.Workers, BF16: opt.BF16, SkipBelow: opt.SkipBelow}); err != nil {
		return nil, err
	}
	for _, b := range []struct {
		of    *[]float32
		width int
	}{{&c.X, m.Layout.Inputs()}, {&c.Y, m.Layout.Outputs()}} {
		if *b.of, err = netruntime.Buffer(c.Session, n*b.width); err != nil {
			c.Session.Close()
			return nil, err
		}
	}
	c.pool = pool.New(min(opt.Workers, n/grain+1))
	res.Add(c)
	return c, nil
}

// What a body does not do, in m/s²: recorded dogs stay below, but for one frame
// in a hundred (limbs: fifty) and but for faults of the recording.
const (
	hipsPush = 45
	bodyPush = 25
	limbPush = 100
)

// bounds returns the angular accelerations at which joints count as jumping, in
// rad/s²: those that push the end of the joint's longest bone, at least 5 cm
// away, by limbPush, or by bodyPush where it is no leg's.
func (c *Crowd) bounds(s *skel.Skeleton) []float32 {
	bone, turn := make([]float32, s.Len()), make([]float32, s.Len())
	for j, p := range s.Parents {
		turn[j] = bodyPush
		if p >= 0 {
			bone[p] = max(bone[p], s.Offsets[j].Len())
		}
	}
	for _, l := range c.Ground.Rig.Roles.Legs {
		for _, j := range l {
			turn[j] = limbPush
		}
	}
	for j := range turn {
		turn[j] /= max(bone[j], 0.05)
	}
	return turn
}

// ground prepares the ground solver.
func (c *Crowd) ground(m *mann.Model, roles *ik.Roles) error {
	if roles == nil {
		r, err := ik.DogRoles(m.Skel.Names)
		if err != nil {
			return err
		}
		roles = &r
	}
	tree, err := ik.NewTree(m.Skel.Parents)
	if err != nil {
		return err
	}
	rig, err := ik.NewRig(tree, *roles)
	if err != nil {
		return err
	}
	c.Ground = ik.DefaultDog()
	c.Ground.Rig, c.Ground.Ground, c.Ground.DT = rig, c.Terrain, 1.0/mann.Rate
	c.Ground.Pos, c.Ground.Rot = c.Pos, c.Rot
	c.Ground.Model = make([]m3.Xform, len(c.Pos))
	c.Ground.Feet = make([]ik.Foot, c.Rows.Cap()*len(roles.Legs))
	c.Ground.Body = make([]ik.Body, c.Rows.Cap())
	return c.Ground.Validate()
}

// Close stops the crowd's workers and its network session.
func (c *Crowd) Close() error {
	c.pool.Close()
	c.X, c.Y = nil, nil
	return c.Session.Close()
}

// Spawn adds an agent at rest at pos, whose height is dropped, with heading yaw
// in radians; its bones stand there at once. The entity has an ecs.Slot and a
// control.Goal; add tags of your own. It fails when the crowd is full, while the
// world is locked, and for places that are not finite.
func (c *Crowd) Spawn(pos m3.Vec3, yaw float32) (arche.Entity, error) {
	if c.world.IsLocked() {
		return arche.Entity{}, fmt.Errorf("animsys: cannot spawn within a query: do it between ticks")
	}
	if err := placeable(pos, yaw); err != nil {
		return arche.Entity{}, err
	}
	e := c.agents.New()
	row, err := c.Rows.Add(e)
	if err != nil {
		c.world.RemoveEntity(e)
		return arche.Entity{}, err
	}
	c.Inertial.Reset(row)
	c.place(row, pos, yaw)
	c.take(row)
	c.Ground.Run(row, row+1)
	c.forget(row)
	copy(c.Bones(row), c.Ground.Model[row*c.joints:])
	copy(c.last[row*c.joints:(row+1)*c.joints], c.Bones(row))
	return e, nil
}

// Despawn removes an agent and its entity, between ticks or in a system before
// Plan or after Skin. Another agent may take over its row.
func (c *Crowd) Despawn(e arche.Entity) error {
	row, last, err := c.Rows.Remove(e)
	if err != nil {
		return err
	}
	c.world.RemoveEntity(e)
	if row == last {
		return nil
	}
	c.Batch.Copy(row, last)
	c.Inertial.Copy(row, last)
	n, legs := c.joints, len(c.Ground.Feet)/c.Rows.Cap()
	copy(c.Ground.Feet[row*legs:(row+1)*legs], c.Ground.Feet[last*legs:])
	c.Ground.Body[row] = c.Ground.Body[last]
	copy(c.last[row*n:(row+1)*n], c.last[last*n:])
	copy(c.now[row*n:(row+1)*n], c.now[last*n:])
	c.Roots[row], c.fresh[row], c.restored[row] = c.Roots[last], c.fresh[last], c.restored[last]
	return nil
}

// Place moves an agent to pos with heading yaw, at rest. It keeps its posture,
// which eases into rest.
func (c *Crowd) Place(e arche.Entity, pos m3.Vec3, yaw float32) error {
	row, ok := c.Rows.Row(e)
	if !ok {
		return fmt.Errorf("animsys: entity %v is not in this crowd", e)
	}
	if err := placeable(pos, yaw); err != nil {
		return err
	}
	c.Inertial.Jump(row)
	c.place(row, pos, yaw)
	c.fresh[row] = true
	return nil
}

func (c *Crowd) place(row int, pos m3.Vec3, yaw float32) {
	c.Batch.Reset(row, pos, yaw)
	c.Roots[row] = c.Batch.Root(row)
	c.fresh[row], c.restored[row] = false, 0
	c.forget(row)
}

func placeable(pos m3.Vec3, yaw float32) error {
	if !pos.Finite() || !m3.Finite(yaw) || max(m3.Abs(pos.X), m3.Abs(pos.Z)) >= mann.Farthest {
		return fmt.Errorf("animsys: nobody can stand at %v with heading %g: want finite numbers, at most %g m from the origin", pos, yaw, mann.Farthest)
	}
	return nil
}

// forget clears what the ground solver remembers of row's feet.
func (c *Crowd) forget(row int) {
	legs := len(c.Ground.Feet) / c.Rows.Cap()
	clear(c.Ground.Feet[row*legs : (row+1)*legs])
	c.Ground.Body[row] = ik.Body{}
}

// take fetches row's root and pose from the controller.
func (c *Crowd) take(row int) {
	c.Roots[row] = c.Batch.Root(row)
	pos, rot := c.Batch.Pose(row)
	copy(c.Pos[row*c.joints:], pos)
	copy(c.Rot[row*c.joints:], rot)
}

// Restored returns how often the agents have gone back to a good pose, because
// the network failed them or led them out of its training data's range, since
// they were spawned or placed.
func (c *Crowd) Restored() int {
	var n int
	for r := range c.Rows.Len() {
		n += c.Batch.Restored(r)
	}
	return n
}

// Agents returns the number of agents.
func (c *Crowd) Agents() int { return c.Rows.Len() }

// Bones returns the world transforms of all joints of row as of the last tick or
// its spawning, grounded; they alias the crowd and change with the next tick.
func (c *Crowd) Bones(row int) []m3.Xform { return c.now[row*c.joints : (row+1)*c.joints] }

// Interpolate writes all agents' joints a fraction alpha in [0, 1] of the way
// from the tick before the last to the last into dst, (agents, joints), growing
// it where it is too small, and returns it. Joints turn on the way and hips go
// straight; bones keep their lengths.
func (c *Crowd) Interpolate(dst []m3.Xform, alpha float32) []m3.Xform {
	n := c.Rows.Len() * c.joints
	if cap(dst) < n {
		dst = make([]m3.Xform, n)
	}
	dst = dst[:n]
	sk := c.Batch.Model.Skel
	for o := 0; o < n; o += c.joints {
		pose := dst[o : o+c.joints]
		for j, p := range sk.Parents {
			a, b := &c.last[o+j], &c.now[o+j]
			pose[j].Rot = a.Rot.Slerp(b.Rot, alpha)
			if p >= 0 {
				pose[j].Pos = pose[p].Apply(sk.Offsets[j])
			} else {
				pose[j].Pos = a.Pos.Lerp(b.Pos, alpha)
			}
		}
	}
	return dst
}
