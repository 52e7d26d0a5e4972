package resident

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
)

// Crowd is agents of one model that live on the GPU. It belongs to one goroutine. An agent has a number from 0 to Capacity−1 from Add to
// Remove.
type Crowd struct {
	opt    Options
	motion motion
	rig    generator.Rig
	gpu    *device // nil: the processor
	cpu    moving  // nil: the GPU

	goals []control.Goal // (capacity)
	alive []bool
	words []float32 // (capacity in whole workgroups, goalLen) of the tick
	used  int       // one past the highest number of an agent
	roots []Root    // (capacity)
	born  []int     // (capacity) the tick before which an agent came
	row   []float32 // a packed row

	tick   int         // the next
	saved  []float32   // (capacity, rowLen) states at the beginning of tick since
	since  int         // tick that saved is of
	played [][]float32 // words of the ticks since, from the first
	spare  [][]float32
	came   []arrival // since
	closed bool
	there  func(agent int) // notes where an agent is that the processor has moved
	err    error           // the processor could not take over from the GPU: nothing moves the agents any more

	spareRows [][]float32 // of arrivals
}

// arrival is an agent that came before a tick.
type arrival struct {
	tick, agent int
	row         []float32
}

// Root is where an agent is as of the last tick.
type Root struct {
	At       m3.Xform // on flat ground, +Z ahead, world space
	Hips     float32  // height of its hips, m: on flat ground, and the ground's there
	Velocity m3.Vec3  // m/s
	Restored int      // how often it went back to a good pose: see mann.Batch.Restored; people do not
}

var (
	errClosed  = errors.New("resident: the crowd is closed")
	errNoState = errors.New("resident: the state is nil")
)

// Device returns the name of the GPU on which agents live, or "" for the processor.
func (c *Crowd) Device() string {
	if c.gpu == nil {
		return ""
	}
	return c.gpu.work.Device()
}

// Capacity returns the most agents.
func (c *Crowd) Capacity() int { return c.opt.Capacity }

// StateLen returns the float32s of an agent's state.
func (c *Crowd) StateLen() int { return len(c.row) }

// Has reports whether there is an agent of a number.
func (c *Crowd) Has(agent int) bool { return agent >= 0 && agent < len(c.alive) && c.alive[agent] }

// open returns an error if nothing moves agents.
func (c *Crowd) open() error {
	if c.closed || c.motion == nil {
		return errClosed
	}
	return c.err
}

func (c *Crowd) has(agent int) error {
	if err := c.open(); err != nil {
		return err
	}
	if !c.Has(agent) {
		return fmt.Errorf("resident: there is no agent %d", agent)
	}
	return nil
}

// Add puts an agent at rest at a place, and returns its number.
func (c *Crowd) Add(at feature.Place) (agent int, err error) {
	if err := c.open(); err != nil {
		return 0, err
	}
	if err := generator.Placeable(at.Pos, at.Yaw); err != nil {
		return 0, fmt.Errorf("resident: %w", err)
	}
	if err := c.motion.bring(at); err != nil {
		return 0, err
	}
	return c.enter(control.Goal{})
}

// Adopt adds an agent in a state that the generator's Save or animsys.Crowd.SaveMotion wrote, and returns its number. Nothing follows it in st.
// origin is where the origin of the state's space lies, m. It is an error if the agent follows a path: paths are not known here.
func (c *Crowd) Adopt(st *generator.State, origin m3.Vec3) (agent int, err error) {
	if err := c.open(); err != nil {
		return 0, err
	}
	if st == nil {
		return 0, errNoState
	}
	st.Rewind()
	goal, err := c.motion.restore(st)
	if err != nil {
		return 0, fmt.Errorf("resident: %w", err)
	}
	if err := generator.Placeable(c.motion.root(0).At.Pos.Add(origin.Flat()), 0); err != nil {
		c.motion.leave()
		return 0, fmt.Errorf("resident: %w", err)
	}
	c.motion.shift(origin.Flat())
	return c.enter(goal)
}

// enter gives the agent that passes through the motion a number.
func (c *Crowd) enter(goal control.Goal) (agent int, err error) {
	defer c.motion.leave()
	if err := check(&goal); err != nil {
		return 0, err
	}
	for agent = 0; agent < len(c.alive) && c.alive[agent]; agent++ {
	}
	if agent == len(c.alive) {
		return 0, fmt.Errorf("resident: all %d places of the crowd are taken", agent)
	}
	if err := c.settle(); err != nil { // it writes where agents were
		return 0, err
	}
	row := c.row
	if c.gpu != nil {
		row = c.newRow() // the processor needs it after a loss of the GPU
	}
	c.motion.pack(row, 0)
	if c.gpu != nil {
		c.came = append(c.came, arrival{c.tick, agent, row})
		if err := c.gpu.put(agent, row); err != nil {
			if err := c.lost(); err != nil {
				return 0, err
			}
		}
	} else if err := c.cpu.unpack(agent, row); err != nil {
		return 0, err
	}
	c.roots[agent] = c.rooted(c.motion, 0)
	c.goals[agent], c.alive[agent], c.born[agent], c.used = goal, true, c.tick, max(c.used, agent+1)
	return agent, nil
}

// newRow returns a row for an arrival.
func (c *Crowd) newRow() []float32 {
	n := len(c.spareRows)
	if n == 0 {
		return make([]float32, len(c.row))
	}
	row := c.spareRows[n-1]
	c.spareRows = c.spareRows[:n-1]
	return row
}

// rooted returns where an agent is.
func (c *Crowd) rooted(m moving, agent int) Root {
	r := m.root(agent)
	pos, _ := m.pose(agent)
	r.Hips += c.opt.Ground.Height(pos[0].X, pos[0].Z)
	return r
}

// check returns an error for a goal that is not known here.
func check(g *control.Goal) error {
	if g.Path != nil {
		return errors.New("resident: goals with a Path are not known on the GPU: steer by Turn and Crowd.Root")
	}
	return nil
}

// Remove takes an agent out. Its number is the next that Add gives away, or a lower one.
func (c *Crowd) Remove(agent int) error {
	if err := c.has(agent); err != nil {
		return err
	}
	c.alive[agent] = false
	for c.used > 0 && !c.alive[c.used-1] {
		c.used--
	}
	return nil
}

// SetGoal says what an agent does from the next tick on. Goals with a Path are an error.
func (c *Crowd) SetGoal(agent int, g control.Goal) error {
	if err := c.has(agent); err != nil {
		return err
	}
	if err := check(&g); err != nil {
		return err
	}
	c.goals[agent] = g
	return nil
}

// Goal returns what an agent does.
func (c *Crowd) Goal(agent int) control.Goal {
	if !c.Has(agent) {
		return control.Goal{}
	}
	return c.goals[agent]
}

// Step takes a tick. On the GPU it waits for the tick before, and returns when the work is submitted. An error is one of the processor's
// network. If the processor cannot take over from a GPU that is lost, as for want of memory, this and all later calls return that error.
func (c *Crowd) Step() error {
	if err := c.open(); err != nil {
		return err
	}
	size := c.motion.goalLen()
	for i := range c.used {
		words := c.words[i*size:][:size]
		if clear(words); c.alive[i] {
			c.motion.putGoal(words, &c.goals[i])
		}
	}
	clear(c.words[c.used*size:])
	if c.gpu == nil {
		c.tick++
		return c.stepHere(c.words)
	}
	if err := c.settle(); err != nil {
		return err
	}
	if c.gpu == nil {
		c.tick++
		return c.stepHere(c.words)
	}
	if c.used == 0 {
		c.tick++
		c.forget()
		return nil
	}
	c.keep()
	err := c.gpu.step(c.words, c.used, c.tick%c.opt.Every == c.opt.Every-1)
	c.tick++
	if err != nil {
		return c.lost()
	}
	return nil
}

// keep notes the goals of the tick, for the processor.
func (c *Crowd) keep() {
	var words []float32
	if n := len(c.spare); n > 0 {
		words, c.spare = c.spare[n-1], c.spare[:n-1]
	} else {
		words = make([]float32, len(c.words))
	}
	copy(words, c.words)
	c.played = append(c.played, words)
}

// settle waits for the last tick on the GPU, and takes over where agents are and the copy of their states, if it made one.
func (c *Crowd) settle() error {
	if err := c.open(); err != nil {
		return err
	}
	if c.gpu == nil || !c.gpu.pending {
		return nil
	}
	copied, err := c.gpu.collect(c.roots, c.saved, c.used)
	if err != nil {
		return c.lost()
	}
	if copied {
		c.forget()
	}
	return nil
}

// forget drops the recorded ticks. The processor would replay them after a loss of the GPU; it does not need them once all states are copied,
// or if there are no agents.
func (c *Crowd) forget() {
	c.spare = append(c.spare, c.played...)
	c.played, c.since = c.played[:0], c.tick
	n := 0
	for _, a := range c.came {
		if a.tick >= c.tick {
			c.came[n] = a
			n++
		} else {
			c.spareRows = append(c.spareRows, a.row)
		}
	}
	clear(c.came[n:])
	c.came = c.came[:n]
}

// Root returns where an agent is as of the last tick; the zero Root if there is none of that number. The first call after a tick waits for
// it.
func (c *Crowd) Root(agent int) Root {
	if c.has(agent) != nil || c.settle() != nil {
		return Root{}
	}
	return c.roots[agent]
}

// Hips writes where the hips of all agents are as of the last tick into dst, (one past the highest number of an agent), growing it if it
// is too small, and returns it: for culling and levels of detail, as g3n.Crowd.UpdateFrom takes them. A number without an agent, and one
// that came after the tick, has no place: NaN. The first call after a tick waits for it.
func (c *Crowd) Hips(dst []m3.Vec3) []m3.Vec3 {
	if c.settle() != nil {
		return dst[:0]
	}
	dst = slices.Grow(dst[:0], c.used)[:c.used]
	nan := float32(math.NaN())
	for i := range dst {
		if r := &c.roots[i]; c.alive[i] && c.born[i] < c.tick {
			dst[i] = m3.V(r.At.Pos.X, r.Hips, r.At.Pos.Z)
		} else {
			dst[i] = m3.V(nan, nan, nan)
		}
	}
	return dst
}

// Bones writes the grounded joints of agents as of the last tick into dst, (agents, joints), in world space, growing it if it is too small,
// and returns it. On the GPU it waits for them.
func (c *Crowd) Bones(dst []m3.Xform, agents ...int) ([]m3.Xform, error) {
	if len(agents) == 0 {
		return dst[:0], nil
	}
	for _, a := range agents {
		if err := c.has(a); err != nil {
			return dst, err
		}
	}
	joints := c.motion.skeleton().Len()
	if n := len(agents) * joints; cap(dst) < n {
		dst = make([]m3.Xform, n)
	} else {
		dst = dst[:n]
	}
	if err := c.settle(); err != nil {
		return dst, err
	}
	if c.gpu != nil {
		err := c.gpu.bones(dst, agents)
		if err == nil {
			for i, a := range agents {
				if c.born[a] == c.tick { // the GPU has not posed it yet
					err = c.stand(dst[i*joints:][:joints], a)
				}
			}
			return dst, err
		}
		if err := c.lost(); err != nil {
			return dst, err
		}
	}
	for i, a := range agents {
		if err := c.stand(dst[i*joints:][:joints], a); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// Save writes the state of an agent into st as animsys.Crowd.SaveMotion does, with its goal: animsys.Crowd.SpawnSaved and Adopt take it, with an
// origin of zero. On the GPU it waits for it.
func (c *Crowd) Save(st *generator.State, agent int) error {
	if err := c.has(agent); err != nil {
		return err
	}
	if st == nil {
		return errNoState
	}
	if err := c.pull(agent); err != nil {
		return err
	}
	if err := c.pass(c.row); err != nil {
		return err
	}
	defer c.motion.leave()
	st.Reset()
	c.motion.save(st, &c.goals[agent])
	return st.Err()
}

// pass lets the agent of a row pass through the motion, until it leaves.
func (c *Crowd) pass(row []float32) error {
	if err := c.motion.bring(feature.Place{}); err != nil {
		return err
	}
	if err := c.motion.unpack(0, row); err != nil {
		c.motion.leave()
		return err
	}
	return nil
}

// pull reads the state of an agent into c.row.
func (c *Crowd) pull(agent int) error {
	if err := c.settle(); err != nil {
		return err
	}
	if c.gpu != nil {
		if c.gpu.row(c.row, agent) == nil {
			return nil
		}
		if err := c.lost(); err != nil {
			return err
		}
	}
	c.cpu.pack(c.row, agent)
	return nil
}

// Close ends the crowd.
func (c *Crowd) Close() error {
	if c.closed || c.motion == nil {
		return nil
	}
	c.closed = true
	clear(c.alive)
	if c.gpu != nil {
		c.gpu.work.Close()
		c.gpu = nil
	}
	err := c.motion.close()
	if c.cpu != nil {
		err = errors.Join(err, c.cpu.end())
	}
	return err
}
