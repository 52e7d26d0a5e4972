package resident

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
	"mannequin/netruntime/webgpu"
	"mannequin/terrain"
)

// DefaultEvery is Options.Every if that is 0: half a second.
const DefaultEvery = 30

// Options are the options of a crowd.
type Options struct {
	Capacity int       // most agents, at least 1
	Ground   ik.Ground // a *terrain.Field or an ik.Level; required
	Roles    *ik.Roles // the skeleton's roles; nil derives them from joint names

	// Bind has the joints of the drawn mesh in its bind pose, such as body.Body.Bind. Matrices then move the vertices of that mesh. nil: each
	// matrix is its bone's transform.
	Bind []m3.Xform

	// Every is the ticks from one copy of all states to the next, 0 is DefaultEvery. If the GPU is lost, the processor goes on from the last
	// copy and takes the ticks since with the goals that they had, at most as many, before the next tick. A copy has 10 KB a dog.
	Every int

	Workers int           // goroutines that share the network on the processor; 0 lets generator.Workers choose
	Log     *slog.Logger  // receives a line on what agents live on, and one if the GPU is lost; nil is slog.Default()
	Timeout time.Duration // the longest wait for the GPU, after which it counts as lost; 0 is ten seconds

	// OpenGL lets agents live in a context of OpenGL 4.3, which then draws them: see mannequin/engine/g3n.NewCompute. All calls of the crowd
	// belong to the thread that has the context. nil is WebGPU. It needs the build tag webgpu, too, for the compiler of the kernels.
	OpenGL webgpu.OpenGL
}

// Crowd is agents of one model that live on the GPU. It belongs to one goroutine. An agent has a number from 0 to Capacity−1 from Add to
// Remove.
type Crowd struct {
	opt    Options
	model  *mann.Model
	rig    generator.Rig
	porter *mann.Controller // of one row, which states pass through
	shader *mann.Shader
	gpu    *device    // nil: the processor
	cpu    *processor // nil: the GPU

	goals []control.Goal // (capacity)
	alive []bool
	words []float32 // (capacity, mann.GoalLen) of the tick
	used  int       // one past the highest number of an agent
	roots []Root    // (capacity)
	born  []int     // (capacity) the tick before which an agent came
	row   []float32 // a packed row

	tick   int         // the next
	saved  []float32   // (capacity, RowLen) states at the beginning of tick savedAt
	since  int         // tick that saved is of
	played [][]float32 // words of the ticks since, from the first
	spare  [][]float32
	came   []arrival // since
	closed bool
	err    error // the processor could not take over from the GPU: nothing moves the agents any more
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
	Restored int      // how often it went back to a good pose: see mann.Batch.Restored
}

// New returns a crowd without agents. The model's step is one tick.
func New(m *mann.Model, o Options) (*Crowd, error) {
	o.Log, o.Every = cmp.Or(o.Log, slog.Default()), cmp.Or(o.Every, DefaultEvery)
	switch {
	case o.Capacity < 1:
		return nil, fmt.Errorf("resident: Options.Capacity is %d: want at least 1", o.Capacity)
	case o.Every < 1:
		return nil, fmt.Errorf("resident: Options.Every is %d: want at least 1", o.Every)
	case o.Workers < 0:
		return nil, fmt.Errorf("resident: Options.Workers is %d: want at least 1, or 0", o.Workers)
	case o.Ground == nil:
		return nil, errors.New("resident: Options.Ground is missing")
	}
	field, err := fieldOf(o.Ground)
	if err != nil {
		return nil, err
	}
	c := &Crowd{opt: o, model: m}
	if c.porter, err = m.NewController(mann.ControllerOptions{Capacity: 1, Workers: 1}); err != nil {
		return nil, fmt.Errorf("resident: %w", err)
	}
	if c.rig, err = c.porter.Rig(o.Roles); err != nil {
		return nil, errors.Join(fmt.Errorf("resident: %w", err), c.porter.Close())
	}
	joints := m.Skel.Len()
	if o.Bind != nil && len(o.Bind) != joints {
		return nil, errors.Join(fmt.Errorf("resident: Options.Bind has %d joints, the model %d", len(o.Bind), joints), c.porter.Close())
	}
	n := o.Capacity
	c.goals, c.alive, c.words, c.roots = make([]control.Goal, n), make([]bool, n), make([]float32, n*mann.GoalLen), make([]Root, n)
	c.born = make([]int, n)
	if c.shader, err = c.porter.NewShader(0, 0); err != nil {
		return nil, errors.Join(err, c.porter.Close())
	}
	c.row = make([]float32, c.shader.RowLen)
	if c.gpu, err = openDevice(c, field); err != nil {
		o.Log.Warn("no GPU, the processor moves the agents that should live there", "err", err)
		if err := c.onProcessor(); err != nil {
			return nil, errors.Join(err, c.porter.Close())
		}
		return c, nil
	}
	c.saved = make([]float32, n*c.shader.RowLen)
	o.Log.Info("agents live on the GPU", "device", c.gpu.work.Device())
	return c, nil
}

// fieldOf returns the field of heights of a ground.
func fieldOf(g ik.Ground) (*terrain.Field, error) {
	switch g := g.(type) {
	case *terrain.Field:
		if err := g.Validate(); err != nil {
			return nil, fmt.Errorf("resident: Options.Ground: %w", err)
		}
		return g, nil
	case ik.Level:
		h := float32(g)
		return &terrain.Field{Cell: 1, NX: 2, NZ: 2, Y: []float32{h, h, h, h}}, nil
	}
	return nil, fmt.Errorf("resident: Options.Ground is a %T: the GPU takes a *terrain.Field or an ik.Level; for other ground sample its heights into a field", g)
}

var errClosed = errors.New("resident: the crowd is closed")

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
	if c.closed || c.porter == nil {
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
	if _, err := c.porter.Add(at, nil); err != nil {
		return 0, err
	}
	return c.enter(control.Goal{})
}

// Adopt adds an agent in a state that mann.Controller.Save or animsys.Crowd.SaveMotion wrote, and returns its number. origin is where the
// origin of the state's space lies, m. It is an error if the agent follows a path: paths are not known here.
func (c *Crowd) Adopt(st *generator.State, origin m3.Vec3) (agent int, err error) {
	if err := c.open(); err != nil {
		return 0, err
	}
	st.Rewind()
	if _, err := c.porter.Restore(st); err != nil {
		return 0, fmt.Errorf("resident: %w", err)
	}
	goal := c.porter.Controls()[0]
	c.porter.Shift(0, origin.Flat())
	return c.enter(goal)
}

// enter gives the agent in the porter a number.
func (c *Crowd) enter(goal control.Goal) (agent int, err error) {
	defer c.porter.Remove(0)
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
	row := make([]float32, len(c.row))
	c.porter.Pack(row, 0)
	if c.gpu != nil {
		c.came = append(c.came, arrival{c.tick, agent, row})
		if err := c.gpu.put(agent, row); err != nil {
			if err := c.lost(); err != nil {
				return 0, err
			}
		}
	} else if err := c.cpu.batch.Unpack(agent, row); err != nil {
		return 0, err
	}
	root, velocity := c.porter.RootOf(row)
	pos, _ := c.porter.Batch.Pose(0)
	c.roots[agent] = Root{At: root, Velocity: velocity, Hips: pos[0].Y + c.opt.Ground.Height(pos[0].X, pos[0].Z)}
	c.goals[agent], c.alive[agent], c.born[agent], c.used = goal, true, c.tick, max(c.used, agent+1)
	return agent, nil
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
	for i := range c.used {
		words := c.words[i*mann.GoalLen:][:mann.GoalLen]
		if clear(words); c.alive[i] {
			c.shader.PutGoal(words, &c.goals[i])
		}
	}
	clear(c.words[c.used*mann.GoalLen:])
	if c.gpu == nil {
		c.tick++
		return c.cpu.step(c.words, c.roots)
	}
	if err := c.settle(); err != nil {
		return err
	}
	if c.gpu == nil {
		c.tick++
		return c.cpu.step(c.words, c.roots)
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
		}
	}
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
	joints := c.model.Skel.Len()
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

// Save writes the state of an agent into st as mann.Controller.Save does, with its goal: animsys.Crowd.SpawnSaved and Adopt take it, with an
// origin of zero. On the GPU it waits for it.
func (c *Crowd) Save(st *generator.State, agent int) error {
	if err := c.has(agent); err != nil {
		return err
	}
	if err := c.pull(agent); err != nil {
		return err
	}
	if _, err := c.porter.Add(feature.Place{}, &c.goals[agent]); err != nil {
		return err
	}
	defer c.porter.Remove(0)
	if err := c.porter.Unpack(0, c.row); err != nil {
		return err
	}
	st.Reset()
	c.porter.Save(st, 0)
	return st.Err()
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
	c.cpu.batch.Pack(c.row, agent)
	return nil
}

// Close ends the crowd.
func (c *Crowd) Close() error {
	if c.closed || c.porter == nil {
		return nil
	}
	c.closed = true
	clear(c.alive)
	if c.gpu != nil {
		c.gpu.work.Close()
		c.gpu = nil
	}
	return errors.Join(c.porter.Close(), c.cpu.close())
}

// session opens the processor's session for all agents.
func (c *Crowd) session() (netruntime.Session, error) {
	n := c.opt.Capacity
	return c.model.Net.NewSession(netruntime.SessionOptions{Batch: n, Workers: generator.Workers(c.opt.Workers, n)})
}
