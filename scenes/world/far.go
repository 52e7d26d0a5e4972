package world

import (
	"cmp"
	"fmt"
	"math"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/resident"
	"mannequin/engine/m3"
	"mannequin/internal/statehash"
	"mannequin/scenes"
	"mannequin/scenes/internal/steer"

	arche "github.com/mlange-42/arche/ecs"
)

// The settings of agents that go to the GPU and come back.
const (
	handed = 16   // most agents that go or prepare for it, and most that come, in a tick
	slack  = 1.08 // agents go at this many times the distance at which they come, so that none goes and comes all the time
	nobody = -1   // instead of an agent's number
)

// Far is the agents of a population that are far from the camera: they live on a GPU (package resident). All agents have numbers, in the order in
// which Add gets them, and keep them wherever they live. Far is also the system that takes the tick of those on the GPU: it comes after the one
// that steers, and before those of animsys, so that the GPU works while the processor does.
type Far struct {
	steer.Passive
	opt  FarOptions
	near *Population
	gpu  *resident.Crowd

	all   []farAgent
	roots []m3.Xform // (all) on flat ground
	rows  []int      // (rows of near) numbers of the agents

	numbers []int        // (agents of gpu) numbers, or nobody
	hips    []m3.Xform   // (agents of gpu)
	tints   [][3]float32 // (agents of gpu)
	away    int          // agents on the GPU

	state generator.State // of the one that goes or comes
	asked []int           // agents of gpu, for Draw
	err   error           // the first
}

// FarOptions say which agents of a population live on a GPU.
type FarOptions struct {
	Beyond float32                                         // how far from the camera, m; above 0
	Open   func(resident.Options) (*resident.Crowd, error) // opens their crowd there
	GPU    resident.Options                                // for Open; capacity, ground and workers are the population's
	Ready  func(row int) bool                              // whether a row that updates in each tick can go; nil: it can
	Goal   func(e arche.Entity, g control.Goal)            // sets the goal of an agent of the population
}

// farAgent is an agent with its number.
type farAgent struct {
	entity arche.Entity // in the population
	agent  int          // of the GPU; nobody: it is in the population
	tint   [3]float32
}

// NewFar moves agents of a population to a GPU. It returns nil if there is no GPU for them, as the log of o.GPU has said: then all stay.
func (w *World) NewFar(p *Population, o FarOptions) (*Far, error) {
	if !(o.Beyond > 0) || !m3.Finite(o.Beyond) {
		return nil, fmt.Errorf("scenes: agents farther than %g m live on the GPU: want more than 0", o.Beyond)
	}
	o.GPU.Capacity, o.GPU.Ground, o.GPU.Workers = p.Capacity(), w.Terrain, w.Workers
	gpu, err := o.Open(o.GPU)
	if err != nil {
		return nil, err
	}
	if gpu.Device() == "" {
		return nil, gpu.Close()
	}
	f := &Far{opt: o, near: p, gpu: gpu}
	p.Tint = func(row int) [3]float32 { return f.all[f.rows[row]].tint } // an agent that comes back is another entity
	return f, nil
}

// Add gives the agent that the population has got last the next number.
func (f *Far) Add(tint [3]float32) {
	row := f.near.Agents() - 1
	f.rows = append(f.rows, len(f.all))
	f.all = append(f.all, farAgent{entity: f.near.Entity(row), agent: nobody, tint: tint})
	f.roots = append(f.roots, f.near.Roots[row])
}

// Remove takes out an agent. The last number becomes this one.
func (f *Far) Remove(number int) error {
	d, last := f.all[number], len(f.all)-1
	if d.agent != nobody {
		if err := f.gpu.Remove(d.agent); err != nil {
			return err
		}
		f.leave(d.agent)
	} else if err := f.despawn(d.entity); err != nil {
		return err
	}
	moved := f.all[last]
	f.all[number], f.roots[number] = moved, f.roots[last]
	f.all, f.roots = f.all[:last], f.roots[:last]
	if number == last {
		return nil
	}
	if moved.agent != nobody {
		f.numbers[moved.agent] = number
	} else if row, ok := f.near.Row(moved.entity); ok {
		f.rows[row] = number
	}
	return nil
}

// despawn takes an agent out of the population.
func (f *Far) despawn(e arche.Entity) error {
	row, ok := f.near.Row(e)
	if !ok {
		return fmt.Errorf("scenes: agent %v is gone", e)
	}
	if err := f.near.Despawn(e); err != nil {
		return err
	}
	last := len(f.rows) - 1 // the crowd has put its last row there, too
	f.rows[row], f.rows = f.rows[last], f.rows[:last]
	return nil
}

// leave notes that an agent of the GPU is gone.
func (f *Far) leave(agent int) {
	f.numbers[agent], f.hips[agent] = nobody, nowhere
	f.away--
}

// SetGoal says what an agent does, wherever it lives.
func (f *Far) SetGoal(number int, g *control.Goal) {
	if a := f.all[number].agent; a != nobody {
		f.err = cmp.Or(f.err, f.gpu.SetGoal(a, *g))
	} else {
		f.opt.Goal(f.all[number].entity, *g)
	}
}

// Len returns the number of agents, Away that of those on the GPU, and Device the GPU's name: "" once it is lost.
func (f *Far) Len() int       { return len(f.all) }
func (f *Far) Away() int      { return f.away }
func (f *Far) Device() string { return f.gpu.Device() }

// Entity returns the entity of an agent; the zero entity if it lives on the GPU.
func (f *Far) Entity(number int) arche.Entity {
	if f.all[number].agent != nobody {
		return arche.Entity{}
	}
	return f.all[number].entity
}

// Move lets agents go and come by their distance from the input's camera. Call it before the tick, after ApplyLOD. The agent keep stays; the zero
// entity is none. All come back from a GPU that is lost.
func (f *Far) Move(in *scenes.Input, keep arche.Entity) error {
	lost, gone, come := f.gpu.Device() == "", 0, 0
	for i := range f.all {
		d := &f.all[i]
		switch away := d.agent != nobody; {
		case away && come < handed && (lost || in.Watched && f.distance(d, in.Eye) < f.opt.Beyond):
			if err := f.bring(i); err != nil {
				return err
			}
			come++
		case !away && !lost && gone < handed && in.Watched && d.entity != keep && f.distance(d, in.Eye) > slack*f.opt.Beyond:
			if err := f.send(i); err != nil {
				return err
			}
			gone++
		}
	}
	return nil
}

// distance returns how far an agent is from a place.
func (f *Far) distance(d *farAgent, from m3.Vec3) float32 {
	var at m3.Vec3
	if d.agent != nobody {
		at = f.gpu.Root(d.agent).At.Pos
	} else {
		at = f.near.Root(d.entity).Pos
	}
	at.Y = f.opt.GPU.Ground.Height(at.X, at.Z)
	return at.Dist(from)
}

// send moves an agent to the GPU, which knows no longer strides: one that updates less often is to end its stride first, which takes up to
// four ticks.
func (f *Far) send(number int) error {
	d := &f.all[number]
	row, ok := f.near.Row(d.entity)
	if !ok {
		return fmt.Errorf("scenes: agent %d is gone", number)
	}
	if f.near.UpdateRateAt(row) != animsys.EveryTick || f.opt.Ready != nil && !f.opt.Ready(row) {
		return f.near.SetUpdateRate(d.entity, animsys.EveryTick)
	}
	origin, err := f.near.SaveMotion(&f.state, d.entity)
	if err != nil {
		return err
	}
	agent, err := f.gpu.Adopt(&f.state, origin)
	if err != nil {
		return err
	}
	if err := f.despawn(d.entity); err != nil {
		return err
	}
	d.agent = agent
	for len(f.numbers) <= agent {
		f.numbers, f.hips, f.tints = append(f.numbers, nobody), append(f.hips, nowhere), append(f.tints, d.tint)
	}
	f.numbers[agent], f.tints[agent] = number, d.tint
	f.away++
	return nil
}

// nowhere is where agents are that do not exist.
var nowhere = m3.Xform{Pos: m3.V(float32(math.NaN()), 0, 0), Rot: m3.Ident}

// bring moves an agent back to the population.
func (f *Far) bring(number int) error {
	d := &f.all[number]
	if err := f.gpu.Save(&f.state, d.agent); err != nil {
		return err
	}
	entity, err := f.near.SpawnSaved(&f.state, m3.Vec3{})
	if err != nil {
		return err
	}
	if err := f.gpu.Remove(d.agent); err != nil {
		return err
	}
	f.leave(d.agent)
	d.entity, d.agent = entity, nobody
	f.rows = append(f.rows, number)
	return nil
}

// Gather returns where all agents are, by number. It waits for the GPU's last tick.
func (f *Far) Gather() []m3.Xform {
	for row, number := range f.rows {
		f.roots[number] = f.near.Roots[row]
	}
	for a, number := range f.numbers {
		if number != nobody {
			r := f.gpu.Root(a)
			f.roots[number] = r.At
			f.hips[a] = m3.Xform{Pos: m3.V(r.At.Pos.X, r.Hips, r.At.Pos.Z), Rot: r.At.Rot}
		}
	}
	return f.roots
}

// Update submits a tick of the agents on the GPU.
func (f *Far) Update(*arche.World) {
	if f.away > 0 {
		f.err = cmp.Or(f.err, f.gpu.Step())
	}
}

// Err returns the first error.
func (f *Far) Err() error { return f.err }

// Draw adds the agents on the GPU to dst, as of the last tick. The renderer culls them by where they were one tick before, so that nothing waits
// for the GPU. If it does not draw from the GPU's memory their bones are read.
func (f *Far) Draw(dst *scenes.Frame) {
	if f.away == 0 {
		return
	}
	if buffer := f.gpu.Matrices().OpenGL(); buffer != 0 {
		dst.Far = append(dst.Far, scenes.Far{Skel: f.near.Skel, Matrices: buffer, Hips: f.hips, Tint: f.tints})
		return
	}
	cast := dst.Cast(f.near.Skel)
	f.asked = f.asked[:0]
	for a, number := range f.numbers {
		if number != nobody {
			f.asked, cast.Tint = append(f.asked, a), append(cast.Tint, f.tints[a])
		}
	}
	var err error
	cast.Bones, err = f.gpu.Bones(cast.Bones, f.asked...)
	f.err = cmp.Or(f.err, err)
}

// Hash returns the hash of all agents, with that of the population. It waits for the GPU.
func (f *Far) Hash(near uint64) uint64 {
	h := statehash.Hash(near)
	for a, number := range f.numbers {
		if h = h.Int(number); number != nobody {
			r := f.gpu.Root(a)
			h = h.Floats(r.At.Pos.X, r.Hips, r.At.Pos.Z, r.At.Rot.Y, r.At.Rot.W)
		}
	}
	return uint64(h)
}

// Close leaves the GPU.
func (f *Far) Close() error { return f.gpu.Close() }
