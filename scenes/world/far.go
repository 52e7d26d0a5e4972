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

// The settings of dogs that go to the GPU and come back.
const (
	handed = 16   // most dogs that go or prepare for it, and most that come, in a tick
	slack  = 1.08 // dogs go at this many times the distance at which they come, so that none goes and comes all the time
	nobody = -1   // instead of a dog's number, or an agent's
)

// Far is the dogs of a pack that are far from the camera: they live on a GPU (package resident). All dogs have numbers, in the order in which
// they were spawned, and keep them wherever they live. Far is also the system that takes the tick of those on the GPU: it comes after the one
// that steers, and before those of animsys, so that the GPU works while the processor does.
type Far struct {
	steer.Passive
	pack   *Pack
	gpu    *resident.Crowd
	beyond float32 // m

	dogs  []packDog
	roots []m3.Xform // (dogs) on flat ground
	rows  []int      // (rows of the pack's crowd) numbers of the dogs

	agents []int        // (agents of gpu) numbers of the dogs, or nobody
	hips   []m3.Xform   // (agents)
	tints  [][3]float32 // (agents)
	away   int          // dogs on the GPU

	state generator.State // of the one that goes or comes
	all   []int           // agents, for Draw
	err   error           // the first
}

// packDog is a dog of a pack with its number.
type packDog struct {
	entity arche.Entity // of the pack's crowd
	agent  int          // of the GPU; nobody: it is in the crowd
	tint   [3]float32
}

// NewFar moves those dogs of a pack to a GPU that are farther from the camera than beyond, m. It steers by roam, which is not yet in a schedule. opt
// needs neither capacity nor ground. It returns nil if there is no GPU for them, as opt.Log has said: then all dogs stay.
func (p *Pack) NewFar(roam *steer.Roam, beyond float32, opt resident.Options) (*Far, error) {
	if !(beyond > 0) || !m3.Finite(beyond) {
		return nil, fmt.Errorf("scenes: dogs farther than %g m live on the GPU: want more than 0", beyond)
	}
	n := p.Crowd.Capacity()
	opt.Capacity, opt.Ground, opt.Workers = n, p.Terrain, p.Workers
	gpu, err := resident.New(p.Dogs.Model, opt)
	if err != nil {
		return nil, err
	}
	if gpu.Device() == "" {
		return nil, gpu.Close()
	}
	f := &Far{pack: p, gpu: gpu, beyond: beyond}
	stay := roam.Control
	roam.Roots = f.gather
	roam.Control = func(dog int, g *control.Goal) {
		if a := f.dogs[dog].agent; a != nobody {
			f.err = cmp.Or(f.err, gpu.SetGoal(a, *g))
		} else if row, ok := p.Crowd.Row(f.dogs[dog].entity); ok {
			stay(row, g)
		}
	}
	return f, nil
}

// Begin gives all dogs that have been spawned their numbers, once.
func (f *Far) Begin() {
	dogs := f.pack.Populations[0]
	for row := range dogs.Agents() {
		f.dogs = append(f.dogs, packDog{entity: dogs.Entity(row), agent: nobody, tint: dogs.Tint(row)})
		f.rows = append(f.rows, row)
	}
	f.roots = make([]m3.Xform, len(f.dogs))
	dogs.Tint = func(row int) [3]float32 { return f.dogs[f.rows[row]].tint } // an agent that comes back is another entity
}

// Away returns the number of dogs on the GPU, and Device the GPU's name: "" once it is lost.
func (f *Far) Away() int      { return f.away }
func (f *Far) Device() string { return f.gpu.Device() }

// Move lets dogs go and come by their distance from the input's camera. Call it before the tick, after ApplyLOD. All come back from a GPU that is
// lost.
func (f *Far) Move(in *scenes.Input) error {
	lost, gone, come := f.gpu.Device() == "", 0, 0
	for i := range f.dogs {
		d := &f.dogs[i]
		switch away := d.agent != nobody; {
		case away && come < handed && (lost || in.Watched && f.distance(d, in.Eye) < f.beyond):
			if err := f.bring(i); err != nil {
				return err
			}
			come++
		case !away && !lost && gone < handed && in.Watched && f.distance(d, in.Eye) > slack*f.beyond:
			if err := f.send(i); err != nil {
				return err
			}
			gone++
		}
	}
	return nil
}

// distance returns how far a dog is from a place.
func (f *Far) distance(d *packDog, from m3.Vec3) float32 {
	var at m3.Vec3
	if d.agent != nobody {
		at = f.gpu.Root(d.agent).At.Pos
	} else {
		at = f.pack.Crowd.Root(d.entity).Pos
	}
	at.Y = f.pack.Terrain.Height(at.X, at.Z)
	return at.Dist(from)
}

// send moves a dog to the GPU, which knows no longer strides: a dog that updates less often is to end its stride first, which takes up to
// four ticks.
func (f *Far) send(dog int) error {
	d, crowd := &f.dogs[dog], f.pack.Crowd
	row, ok := crowd.Row(d.entity)
	if !ok {
		return fmt.Errorf("scenes: dog %d is gone", dog)
	}
	if crowd.UpdateRateAt(row) != animsys.EveryTick || f.pack.Dogs.Stride(row) != 1 {
		return crowd.SetUpdateRate(d.entity, animsys.EveryTick)
	}
	origin, err := crowd.SaveMotion(&f.state, d.entity)
	if err != nil {
		return err
	}
	agent, err := f.gpu.Adopt(&f.state, origin)
	if err != nil {
		return err
	}
	if err := crowd.Despawn(d.entity); err != nil {
		return err
	}
	d.agent = agent
	last := len(f.rows) - 1 // the crowd has put its last row there, too
	f.rows[row], f.rows = f.rows[last], f.rows[:last]
	for len(f.agents) <= d.agent {
		f.agents, f.hips, f.tints = append(f.agents, nobody), append(f.hips, nowhere), append(f.tints, d.tint)
	}
	f.agents[d.agent], f.tints[d.agent] = dog, d.tint
	f.away++
	return nil
}

// nowhere is where agents are that do not exist.
var nowhere = m3.Xform{Pos: m3.V(float32(math.NaN()), 0, 0), Rot: m3.Ident}

// bring moves a dog back to the pack's crowd.
func (f *Far) bring(dog int) error {
	d := &f.dogs[dog]
	if err := f.gpu.Save(&f.state, d.agent); err != nil {
		return err
	}
	entity, err := f.pack.Crowd.SpawnSaved(&f.state, m3.Vec3{})
	if err != nil {
		return err
	}
	if err := f.gpu.Remove(d.agent); err != nil {
		return err
	}
	f.agents[d.agent], f.hips[d.agent] = nobody, nowhere
	d.entity, d.agent = entity, nobody
	f.rows = append(f.rows, dog)
	f.away--
	return nil
}

// gather returns where all dogs are. It waits for the GPU's last tick.
func (f *Far) gather() []m3.Xform {
	for row, dog := range f.rows {
		f.roots[dog] = f.pack.Crowd.Roots[row]
	}
	for a, dog := range f.agents {
		if dog != nobody {
			r := f.gpu.Root(a)
			f.roots[dog] = r.At
			f.hips[a] = m3.Xform{Pos: m3.V(r.At.Pos.X, r.Hips, r.At.Pos.Z), Rot: r.At.Rot}
		}
	}
	return f.roots
}

// Update submits a tick of the dogs on the GPU.
func (f *Far) Update(*arche.World) {
	if f.away > 0 {
		f.err = cmp.Or(f.err, f.gpu.Step())
	}
}

// Err returns the first error.
func (f *Far) Err() error { return f.err }

// Draw adds the dogs on the GPU to dst, as of the last tick. The renderer culls them by where they were one tick before, so that nothing waits
// for the GPU. If it does not draw from the GPU's memory their bones are read.
func (f *Far) Draw(dst *scenes.Frame) {
	if f.away == 0 {
		return
	}
	if buffer := f.gpu.Matrices().OpenGL(); buffer != 0 {
		dst.Far = append(dst.Far, scenes.Far{Skel: f.pack.Crowd.Skel, Matrices: buffer, Hips: f.hips, Tint: f.tints})
		return
	}
	cast := dst.Cast(f.pack.Crowd.Skel)
	f.all = f.all[:0]
	for a, dog := range f.agents {
		if dog != nobody {
			f.all, cast.Tint = append(f.all, a), append(cast.Tint, f.tints[a])
		}
	}
	var err error
	cast.Bones, err = f.gpu.Bones(cast.Bones, f.all...)
	f.err = cmp.Or(f.err, err)
}

// Hash returns the hash of all dogs. It waits for the GPU.
func (f *Far) Hash(pack uint64) uint64 {
	h := statehash.Hash(pack)
	for a, dog := range f.agents {
		if h = h.Int(dog); dog != nobody {
			r := f.gpu.Root(a)
			h = h.Floats(r.At.Pos.X, r.Hips, r.At.Pos.Z, r.At.Rot.Y, r.At.Rot.W)
		}
	}
	return uint64(h)
}

// Close leaves the GPU.
func (f *Far) Close() error { return f.gpu.Close() }
