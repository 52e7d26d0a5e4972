package mann

import (
	"errors"
	"fmt"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
)

// ControllerOptions configure a controller.
type ControllerOptions struct {
	Capacity int // largest number of agents, at least 1
	Workers  int // goroutines that share the network; 0 lets generator.Workers choose

	// LOD holds models for agents that update less often: like the controller's model,
	// but with steps of 2 and of 4 ticks.
	LOD []*Model

	// The network's shortcuts: see netruntime.SessionOptions.
	BF16      bool
	SkipBelow float32
	Open      netruntime.Opener // what computes the networks; nil is the processor
}

// Controller drives quadrupeds by their goals, one network call per tick and step
// length: the generator of quadrupeds. It is a [generator.Batched].
type Controller struct {
	Batch

	goals    []control.Goal // (rows)
	agents   int
	sessions [feature.MaxStride + 1]netruntime.Session // by stride
	x, y     []float32                                 // (batch, inputs) and (batch, outputs), raw
	due      []int32                                   // rows of this tick's batch, by stride
	until    [feature.MaxStride + 1]int                // where in due those of each stride end
	seen     []int                                     // (rows) Restored as of the last tick
	closed   bool
}

var (
	_ generator.Generator[control.Goal] = (*Controller)(nil)
	_ generator.Batched                 = (*Controller)(nil)
)

// NewController returns a controller without agents. The model's step is one tick.
func (m *Model) NewController(o ControllerOptions) (*Controller, error) {
	if m.Layout == nil {
		return nil, errZeroModel
	}
	if o.Capacity < 1 {
		return nil, fmt.Errorf("mann: ControllerOptions.Capacity is %d: want at least 1", o.Capacity)
	}
	if step := m.Layout.Step(); step != 1 {
		return nil, fmt.Errorf("mann: model %q steps %d ticks at a time: it belongs into ControllerOptions.LOD, beside one that steps a tick", m.name(), step)
	}
	n := o.Capacity
	c := &Controller{Batch: *NewBatch(m, n), goals: make([]control.Goal, n), seen: make([]int, n), due: make([]int32, 0, n)}
	session := netruntime.SessionOptions{Batch: n, Workers: generator.Workers(o.Workers, n), BF16: o.BF16, SkipBelow: o.SkipBelow}
	var err error
	if c.sessions[1], err = o.Open.Session(m.Net, session); err != nil {
		return nil, err
	}
	for _, far := range o.LOD {
		if err := c.addLOD(far, o.Open, session); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	if c.x, err = netruntime.Buffer(c.sessions[1], n*m.Layout.Inputs()); err == nil {
		c.y, err = netruntime.Buffer(c.sessions[1], n*m.Layout.Outputs())
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// addLOD has agents step by the stride of m, too.
func (c *Controller) addLOD(m *Model, open netruntime.Opener, o netruntime.SessionOptions) error {
	step := m.Layout.Step()
	if step != 2 && step != 4 {
		return fmt.Errorf("mann: ControllerOptions.LOD: model %q steps %d ticks at a time, want 2 or 4", m.name(), step)
	}
	if err := c.AddStride(m); err != nil {
		return fmt.Errorf("mann: ControllerOptions.LOD: %w", err)
	}
	var err error
	c.sessions[step], err = open.Session(m.Net, o)
	return err
}

// Close ends the network sessions.
func (c *Controller) Close() (err error) {
	c.closed, c.x, c.y = true, nil, nil
	for _, s := range c.sessions {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// Controls returns the goal of each row, (capacity), to change before Plan.
func (c *Controller) Controls() []control.Goal { return c.goals }

// Rig returns the model's skeleton with a dog's legs; see [generator.Generator].
func (c *Controller) Rig(roles *ik.Roles) (generator.Rig, error) {
	if c.Model == nil {
		return generator.Rig{}, errors.New("mann: the zero Controller has no rig: make one with Model.NewController")
	}
	rig, err := generator.NewRig(c.Model.Skel, ik.DefaultDog(), roles, ik.DogRoles)
	if err != nil {
		return rig, err
	}
	rig.Turn, rig.Move = maxTurns(rig.Skel, slices.Concat(rig.Ground.Rig.Roles.Legs...)), hipsPush
	rig.Body = c.Model.body()
	rig.Identity = "mann " + c.Model.name()
	for stride, m := range c.models {
		if m != nil && m != c.Model {
			rig.Identity += fmt.Sprintf(", in steps of %d %s", stride, m.name())
		}
	}
	return rig, nil
}

// Jumps returns the accelerations above which poses of a network count as jumping: see [generator.Rig]. Of other bodies than dogs
// all but the spine and the neck are limbs.
func Jumps(s *skel.Skeleton, roles ik.Roles) (turn []float32, move float32) {
	var limbs []int
	for j := range s.Parents {
		if !slices.Contains(roles.Spine, j) && j != roles.Neck {
			limbs = append(limbs, j)
		}
	}
	return maxTurns(s, limbs), hipsPush
}

// Accelerations that bodies do not reach, m/s²: recorded dogs stay below them in 99 of
// 100 frames (limbs in 98), apart from faults of the recording.
const (
	hipsPush = 45
	bodyPush = 25
	limbPush = 100
)

// maxTurns returns the angular accelerations above which joints count as jumping,
// (joints), rad/s²: those that accelerate the end of the joint's longest bone, at least
// 5 cm away, by limbPush in limbs and by bodyPush elsewhere.
func maxTurns(s *skel.Skeleton, limbs []int) []float32 {
	bone, turn := make([]float32, s.Len()), make([]float32, s.Len())
	for j, p := range s.Parents {
		turn[j] = bodyPush
		if p >= 0 {
			bone[p] = max(bone[p], s.Offsets[j].Len())
		}
	}
	for _, j := range limbs {
		turn[j] = limbPush
	}
	for j := range turn {
		turn[j] /= max(bone[j], 0.05)
	}
	return turn
}

// Add puts an agent at rest at a place and returns its row.
func (c *Controller) Add(at feature.Place, goal *control.Goal) (row int, err error) {
	if c.Model == nil {
		return 0, errZeroController
	}
	if c.agents == c.Capacity() {
		return 0, fmt.Errorf("mann: all %d rows of the controller are taken", c.agents)
	}
	row = c.agents
	c.agents++
	if c.goals[row] = (control.Goal{}); goal != nil {
		c.goals[row] = *goal
	}
	c.Place(row, at)
	return row, nil
}

// Place puts row at rest at a place.
func (c *Controller) Place(row int, at feature.Place) {
	c.Reset(row, at.Pos, at.Yaw)
	c.seen[row] = 0
}

// Shift moves all places of a row; see [generator.Generator].
func (c *Controller) Shift(row int, by m3.Vec3) { c.Batch.shift(row, by) }

// Turn turns all places and directions of a row; see [generator.Turner].
func (c *Controller) Turn(row int, by m3.Turn) { c.Batch.turn(row, by) }

// Save writes the state of a row; see [generator.Generator].
func (c *Controller) Save(st *generator.State, row int) { c.visit(st, row) }

// Restore adds an agent in a saved state; see [generator.Generator].
func (c *Controller) Restore(st *generator.State) (row int, err error) {
	if c.Model == nil {
		return 0, errZeroController
	}
	if row = c.agents; row == c.Capacity() {
		return 0, fmt.Errorf("mann: all %d rows of the controller are taken", row)
	}
	c.visit(st, row)
	if err := c.restored(st, row); err != nil {
		return 0, fmt.Errorf("mann: %w", err)
	}
	c.agents++
	return row, nil
}

func (c *Controller) visit(st *generator.State, row int) {
	c.Batch.visit(st, row)
	generator.Goal(st, &c.goals[row])
	st.Int(&c.seen[row])
}

// Remove takes a row out. The last row becomes this one.
func (c *Controller) Remove(row int) {
	c.agents--
	if last := c.agents; row != last {
		c.Copy(row, last)
		c.goals[row], c.seen[row] = c.goals[last], c.seen[last]
	}
}

// Select chooses the rows that step in this tick, ordered by stride, and returns their
// number. strides, (rows), are the ticks of each row's step; 0 is none.
func (c *Controller) Select(strides []uint8) int {
	c.due = c.due[:0]
	for stride := 1; stride <= feature.MaxStride; stride++ {
		if c.HasStride(stride) {
			for r, s := range strides {
				if int(s) == stride {
					c.due = append(c.due, int32(r))
					c.SetStride(r, stride)
				}
			}
		}
		c.until[stride] = len(c.due)
	}
	return len(c.due)
}

// Plan bends the trajectories of entries i0 to i1−1 of the batch toward their goals.
func (c *Controller) Plan(i0, i1 int) {
	for _, r := range c.due[i0:i1] {
		c.planRow(&c.goals[r], int(r))
	}
}

// Gather writes the network's inputs of entries i0 to i1−1 of the batch.
func (c *Controller) Gather(i0, i1 int) {
	if c.Model == nil {
		return
	}
	n := c.Model.Layout.Inputs()
	for i := i0; i < i1; i++ {
		c.gather(c.x[i*n:][:n], int(c.due[i]))
	}
}

// Infer runs the network of each stride once.
func (c *Controller) Infer() error {
	if c.Model == nil {
		return errZeroController
	}
	in, out := c.Model.Layout.Inputs(), c.Model.Layout.Outputs()
	for stride := 1; stride <= feature.MaxStride; stride++ {
		from, to := c.until[stride-1], c.until[stride]
		if to > from {
			if err := c.sessions[stride].Run(c.y[from*out:to*out], c.x[from*in:to*in], to-from); err != nil {
				return err
			}
		}
	}
	return nil
}

// Scatter moves the agents of entries i0 to i1−1 of the batch by the network's outputs.
func (c *Controller) Scatter(i0, i1 int) {
	if c.Model == nil {
		return
	}
	n := c.Model.Layout.Outputs()
	for i := i0; i < i1; i++ {
		c.advanceRow(c.y[i*n:][:n], int(c.due[i]))
	}
}

// Generate does nothing: the motion of a tick is made by Plan, Gather, Infer and Scatter.
func (c *Controller) Generate([]bool) error { return nil }

// Sample writes the poses of rows r0 to r1−1 that update.
func (c *Controller) Sample(p *generator.Poses, r0, r1 int) { p.Pose(c, r0, r1) }

// Pose writes the pose of a row. It restarts if the row went back to a good pose.
func (c *Controller) Pose(p *generator.Poses, row int) {
	p.Roots[row] = c.Root(row)
	pos, rot := p.Joints(row, c.joints)
	from, turns := c.Batch.Pose(row)
	copy(pos, from)
	copy(rot, turns)
	if n := c.Restored(row); n != c.seen[row] {
		c.seen[row], p.Restarted[row] = n, true
	}
}

// Experts returns the gating of all agents as of the last tick: see netruntime.Session.
func (c *Controller) Experts() []float32 {
	if c.sessions[1] == nil {
		return nil
	}
	return c.sessions[1].Gating()
}

// TotalRestored returns how often all agents went back to a good pose, since they were added or
// placed, because the network failed them or led them out of its training data's range.
func (c *Controller) TotalRestored() (n int) {
	for r := range c.agents {
		n += c.Restored(r)
	}
	return n
}

// Gating returns the weight of each expert for row in the last tick, (experts), valid
// until the next; nil if row did not update in it, or if the session does not say.
func (c *Controller) Gating(row int) []float32 {
	i := slices.Index(c.due, int32(row))
	if i < 0 || c.closed {
		return nil
	}
	stride := 1
	for i >= c.until[stride] {
		stride++
	}
	from, to := c.until[stride-1], c.until[stride]
	all := c.sessions[stride].Gating()
	n := len(all) / (to - from)
	return all[(i-from)*n : (i-from+1)*n]
}
