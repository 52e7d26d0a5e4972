package resident

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime/webgpu"
	"mannequin/terrain"
)

// DefaultEvery is Options.Every if that is 0: half a second.
const DefaultEvery = 30

// Bounds of Options: a million agents take some 10 GB, and the goals of a minute are kept for each.
const (
	MaxCapacity = 1 << 20
	MaxEvery    = 60 * generator.TickRate
)

// Options are the options of a crowd.
type Options struct {
	Capacity int       // most agents, 1 to MaxCapacity; of more than 65,535 all live on the processor
	Ground   ik.Ground // a *terrain.Field or an ik.Level; required
	Roles    *ik.Roles // the skeleton's roles; nil derives them from joint names

	// Bind has the joints of the drawn mesh in its bind pose, such as body.Body.Bind. Matrices then move the vertices of that mesh. nil: each
	// matrix is its bone's transform.
	Bind []m3.Xform

	// Every is the ticks from one copy of all states to the next, at most MaxEvery; 0 is DefaultEvery. If the GPU is lost, the processor goes on from the last
	// copy and takes the ticks since with the goals that they had, at most as many, before the next tick. A copy has 10 KB a dog, and 3 KB
	// a person.
	Every int

	Workers int           // goroutines that share the networks on the processor; 0 lets generator.Workers choose
	Log     *slog.Logger  // receives a line on what agents live on, and one if the GPU is lost; nil is slog.Default()
	Timeout time.Duration // the longest wait for the GPU, after which it counts as lost; 0 is ten seconds

	// F16 computes the networks in float16 where the GPU offers it, and keeps their weights so: see webgpu.Options. After a loss of the GPU, and
	// in OpenGL, it is float32.
	F16 bool

	// OpenGL lets agents live in a context of OpenGL 4.3, which then draws them: see mannequin/engine/g3n.NewCompute. All calls of the crowd
	// belong to the thread that has the context. nil is WebGPU. It needs the build tag webgpu, too, for the compiler of the kernels.
	OpenGL webgpu.OpenGL
}

// newCrowd returns a crowd without agents of a motion.
func newCrowd(o Options, open func() (motion, error)) (*Crowd, error) {
	o.Log, o.Every = cmp.Or(o.Log, slog.Default()), cmp.Or(o.Every, DefaultEvery)
	switch {
	case o.Capacity < 1 || o.Capacity > MaxCapacity:
		return nil, fmt.Errorf("resident: Options.Capacity is %d: want at least 1, at most %d", o.Capacity, MaxCapacity)
	case o.Every < 1 || o.Every > MaxEvery:
		return nil, fmt.Errorf("resident: Options.Every is %d: want at least 1, at most %d", o.Every, MaxEvery)
	case o.Workers < 0:
		return nil, fmt.Errorf("resident: Options.Workers is %d: want at least 1, or 0", o.Workers)
	case o.Ground == nil:
		return nil, errors.New("resident: Options.Ground is missing")
	}
	field, err := fieldOf(o.Ground)
	if err != nil {
		return nil, err
	}
	m, err := open()
	if err != nil {
		return nil, fmt.Errorf("resident: %w", err)
	}
	c := &Crowd{opt: o, motion: m}
	c.there = func(agent int) { c.roots[agent] = c.rooted(c.cpu, agent) }
	if err := c.begin(field); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return c, nil
}

// begin prepares a crowd whose motion is open.
func (c *Crowd) begin(field *terrain.Field) (err error) {
	o, m := &c.opt, c.motion
	if c.rig, err = m.rig(o.Roles); err != nil {
		return fmt.Errorf("resident: %w", err)
	}
	joints, n := m.skeleton().Len(), o.Capacity
	if o.Bind != nil && len(o.Bind) != joints {
		return fmt.Errorf("resident: Options.Bind has %d joints, the model %d", len(o.Bind), joints)
	}
	_, size, err := m.shader(make([]places, len(m.networks())))
	if err != nil {
		return fmt.Errorf("resident: %w", err)
	}
	c.goals, c.alive, c.roots, c.born, c.row = make([]control.Goal, n), make([]bool, n), make([]Root, n), make([]int, n), make([]float32, size)
	c.words = make([]float32, inGroups(n)*group*m.goalLen())
	if c.gpu, err = openDevice(c, field); err != nil {
		o.Log.Warn("no GPU, the processor moves the agents that should live there", "err", err)
		return c.onProcessor()
	}
	c.saved = make([]float32, n*size)
	o.Log.Info("agents live on the GPU", "device", c.gpu.work.Device())
	return nil
}

// inGroups returns the number of workgroups for n threads.
func inGroups(n int) int { return (n + group - 1) / group }

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
