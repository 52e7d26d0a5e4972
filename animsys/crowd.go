// Package animsys is the tick: the ECS systems that turn what agents want into
// grounded poses. It is glue; the work is done by its sub-packages, ik and
// netruntime.
//
// A [Crowd] is the resource that holds the bulk data of all agents that share a
// model of mann, one row each, [People] of all that share one of manifold,
// [Strollers] of all that share one of latent, [Wanderers] of all that share one of
// strnn, and [Performers] of all that share one of keypose. A world has one of them, or
// more.
// [Systems] returns the tick in its order:
//
//	Pick                              all: whose turn it is to take a step, see [Bodies.SetRate]
//	Plan → Gather → Infer → Scatter   dogs: the network once for all who take one
//	Windows → Play → Restyle          people: windows of motion, made by another goroutine
//	Continue → Stroll                 strollers: the network for those whose clip goes on
//	Predict → Amble                   wanderers: the network for those whose frames have been played
//	Rehearse → Perform                performers: the network for those whose window has been played
//	Blend → Ground → Aim → Skin       all
//
// The systems spread rows over workers. An agent's result is the same bits for any
// number of workers, and a dog's alone or among others; people's, too, but that
// windows wait for their turn where more are asked for at once than a batch holds, and
// that strollers and wanderers begin in another place of their step.
// A tick allocates nothing.
//
//	crowd, err := animsys.NewCrowd(&world, model, animsys.Options{Capacity: 64, Terrain: field})
//	schedule, err := ecs.NewSchedule(&world, 1.0/mann.Rate, animsys.Systems()...)
//	dog, err := crowd.Spawn(m3.V(0, 0, 0), 0)
//	for { err = schedule.Step() } // at 60 Hz
package animsys

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
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
	Far      []*mann.Model  // for agents at the rates Half and Quarter: the like of the model that go by 2 and by 4 ticks at a time; see Bodies.SetRate

	// The network's shortcuts: see netruntime.SessionOptions.
	BF16      bool
	SkipBelow float32
	Open      netruntime.Opener // what computes the network; nil is the processor
}

// Crowd is the resource that holds the agents of a model of mann. Its slices are
// indexed by row; rows 0 to Rows.Len()−1 are in use. It belongs to the goroutine
// that owns the world.
type Crowd struct {
	Bodies
	Batch   *mann.Batch
	Session netruntime.Session

	Goals []control.Goal // (rows) gathered from the entities by Plan
	X, Y  []float32      // (rows, inputs) and (rows, outputs) of the network, raw, one after the other of those agents that take a step

	inputs, outputs int
	far             [Quarter + 1]netruntime.Session // by stride, but for 1, whose is Session
	due             []int32                         // rows that take a step in this tick, by stride
	until           [Quarter + 1]int                // where in due those of each stride end
	restored        []int                           // (rows) Batch.Restored as of the last tick
	agents          generic.Map1[control.Goal]
}

// NewCrowd makes a crowd for a model and adds it to w as a resource.
func NewCrowd(w *arche.World, m *mann.Model, opt Options) (*Crowd, error) {
	if m == nil {
		return nil, fmt.Errorf("animsys: a crowd without a model")
	}
	if err := stage(w, opt.Capacity, opt.Terrain); err != nil {
		return nil, err
	}
	res := generic.NewResource[Crowd](w)
	if res.Has() {
		return nil, fmt.Errorf("animsys: the world has a Crowd already")
	}
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	roles, err := rolesOf(opt.Roles, m.Skel, ik.DogRoles)
	if err != nil {
		return nil, err
	}
	n := opt.Capacity
	if step := m.Layout.Step(); step != 1 {
		return nil, fmt.Errorf("animsys: model %q goes by %d ticks at a time: it is one for Options.Far, beside one that goes by one", m.Net.Meta().Name, step)
	}
	c := &Crowd{Batch: mann.NewBatch(m, n), Goals: make([]control.Goal, n), restored: make([]int, n), due: make([]int32, 0, n), inputs: m.Layout.Inputs(), outputs: m.Layout.Outputs(), agents: generic.NewMap1[control.Goal](w)}
	if opt.Open == nil {
		opt.Open = (*netruntime.Net).NewSession
	}
	session := netruntime.SessionOptions{Batch: n, Workers: opt.Workers, BF16: opt.BF16, SkipBelow: opt.SkipBelow}
	if c.Session, err = opt.Open(m.Net, session); err != nil {
		return nil, err
	}
	for _, f := range opt.Far {
		if err := c.addFar(f, opt.Open, session); err != nil {
			return nil, errors.Join(err, c.closeSessions())
		}
	}
	for _, b := range []struct {
		of    *[]float32
		width int
	}{{&c.X, c.inputs}, {&c.Y, c.outputs}} {
		if *b.of, err = netruntime.Buffer(c.Session, n*b.width); err != nil {
			return nil, errors.Join(err, c.closeSessions())
		}
	}
	if err := c.open(w, m.Skel, opt.Terrain, ik.DefaultDog(), roles, n, opt.Workers); err != nil {
		return nil, errors.Join(err, c.closeSessions())
	}
	c.finest, c.picked = c.finestRate, c.line
	c.Inertial.Turn, c.Inertial.Move = c.bounds(m.Skel), hipsPush
	c.enlist()
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

// Close stops the crowd's workers and its network session. Closing twice is
// harmless; systems pass a closed crowd by.
func (c *Crowd) Close() error {
	if !c.close() {
		return nil
	}
	c.X, c.Y = nil, nil
	return c.closeSessions()
}

func (c *Crowd) closeSessions() error {
	err := c.Session.Close()
	for _, s := range c.far {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// addFar has agents go by the stride of m, too.
func (c *Crowd) addFar(m *mann.Model, open netruntime.Opener, o netruntime.SessionOptions) error {
	step := m.Layout.Step()
	if step != int(Half) && step != int(Quarter) {
		return fmt.Errorf("animsys: Options.Far: model %q goes by a stride of %d, want %d or %d", m.Net.Meta().Name, step, Half, Quarter)
	}
	if err := c.Batch.AddStride(m); err != nil {
		return fmt.Errorf("animsys: Options.Far: %w", err)
	}
	var err error
	c.far[step], err = open(m.Net, o)
	return err
}

// finestRate returns the rate that row has who is asked for r: the next higher one that
// the crowd has a network for.
func (c *Crowd) finestRate(_ int, r Rate) Rate {
	for r > Full && !c.Batch.Has(int(r)) {
		r /= 2
	}
	return r
}

// line puts those who take a step in a line, by stride.
func (c *Crowd) line() {
	c.due = c.due[:0]
	for stride := Full; stride <= Quarter; stride++ {
		if c.Batch.Has(int(stride)) {
			for r := range c.Rows.Len() {
				if c.steps(r) && c.rates[r].rate == stride {
					c.due = append(c.due, int32(r))
					c.Batch.SetStride(r, int(stride))
				}
			}
		}
		c.until[stride] = len(c.due)
	}
}

// Gating returns how much of each expert the network was for row in the last tick,
// (experts), valid until the next; nil where row took no step in it, or where the network's
// session does not say.
func (c *Crowd) Gating(row int) []float32 {
	i := slices.Index(c.due, int32(row))
	if i < 0 || c.closed {
		return nil
	}
	stride := Full
	for i >= c.until[stride] {
		stride++
	}
	from, to := c.until[stride-1], c.until[stride]
	all := c.session(stride).Gating()
	n := len(all) / (to - from)
	return all[(i-from)*n : (i-from+1)*n]
}

// session returns that of a stride's network.
func (c *Crowd) session(stride Rate) netruntime.Session {
	if stride == Full {
		return c.Session
	}
	return c.far[stride]
}

// infer runs the networks.
func (c *Crowd) infer() error {
	for stride := Full; stride <= Quarter; stride++ {
		from, to := c.until[stride-1], c.until[stride]
		if to > from {
			if err := c.session(stride).Run(c.Y[from*c.outputs:to*c.outputs], c.X[from*c.inputs:to*c.inputs], to-from); err != nil {
				return err
			}
		}
	}
	return nil
}

// Spawn adds an agent at rest at pos, whose height is dropped, with heading yaw
// in radians; its bones stand there at once. The entity has an ecs.Slot and a
// control.Goal; add tags of your own. It fails when the crowd is full, while the
// world is locked, and for places that are not finite.
func (c *Crowd) Spawn(pos m3.Vec3, yaw float32) (arche.Entity, error) {
	if err := c.canSpawn(pos, yaw); err != nil {
		return arche.Entity{}, err
	}
	e := c.agents.New()
	err := c.add(e, func(row int) {
		c.Batch.Reset(row, pos, yaw)
		c.restored[row] = 0
		c.take(row)
	})
	if err != nil {
		return arche.Entity{}, err
	}
	return e, nil
}

// Despawn removes an agent and its entity, between ticks or in a system before
// Pick or after Skin. Another agent may take over its row.
func (c *Crowd) Despawn(e arche.Entity) error {
	row, last, err := c.remove(e)
	if err == nil && row != last {
		c.Batch.Copy(row, last)
		c.restored[row] = c.restored[last]
	}
	return err
}

// Place moves an agent to pos with heading yaw, at rest. It keeps its posture,
// which eases into rest.
func (c *Crowd) Place(e arche.Entity, pos m3.Vec3, yaw float32) error {
	row, err := c.row(e, pos, yaw)
	if err != nil {
		return err
	}
	c.Batch.Reset(row, pos, yaw)
	c.Roots[row], c.restored[row] = c.Batch.Root(row), 0
	c.moved(row)
	return nil
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
