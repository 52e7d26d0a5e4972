package world

import (
	"errors"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/resident"
	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/scenes/internal/overlay"
	"mannequin/scenes/internal/steer"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Pack is a world of dogs.
type Pack struct {
	World
	Dogs  *mann.Controller
	Crowd *animsys.Crowd

	Experts overlay.Experts // how the network of row 0 blends its experts

	path   [feature.TrajPoints]m3.Vec3
	warned bool
}

// Init makes a world with opt, which is complete, for at most n dogs. far are networks for distant
// dogs: see mann.ControllerOptions. setting is as in Add.
func (p *Pack) Init(opt *Options, m *mann.Model, far []*mann.Model, n int, setting animsys.Options) error {
	if m == nil {
		return errors.New("scenes: Options.Model is missing")
	}
	p.World.Init(opt)
	var err error
	if p.Dogs, err = m.NewController(mann.ControllerOptions{Capacity: n, LOD: far, Workers: opt.Workers, BF16: opt.BF16, Open: opt.Open}); err != nil {
		return err
	}
	dogs, err := Add(&p.World, p.Dogs, setting, p.ahead, func(row int) [3]float32 {
		return p.coat(p.Crowd.Entity(row))
	})
	if err != nil {
		return err
	}
	p.Crowd = dogs.Crowd
	p.Experts.Step(p.Dogs.Experts(), 0, 0)
	return nil
}

// coat returns the colour of a dog.
func (p *Pack) coat(e arche.Entity) [3]float32 { return scenes.Coat(p.Seed + uint64(e.ID())) }

// Herd returns a system that makes dogs wander about on the terrain, keep apart, and make way for the
// dog that the player controls.
func (p *Pack) Herd() *steer.Roam {
	goals := generic.NewMap1[control.Goal](&p.ECS)
	r := steer.NewRoam(p.Crowd, p.Seed, func(row int, goal *control.Goal) { *goals.Get(p.Crowd.Entity(row)) = *goal })
	herd := steer.NewHerd(p.Terrain, p.Crowd.Capacity())
	herd.Velocity = p.Dogs.Velocity
	r.Radius, r.Avoid = 8, herd
	return r
}

// NewFar moves those dogs of a pack to a GPU that are farther from the camera than beyond, m. It steers by roam, which is not yet in a schedule. opt
// needs neither capacity nor ground. It returns nil if there is no GPU for them: see World.NewFar.
func (p *Pack) NewFar(roam *steer.Roam, beyond float32, opt resident.Options) (*Far, error) {
	goals := generic.NewMap1[control.Goal](&p.ECS)
	f, err := p.World.NewFar(p.Populations[0], FarOptions{
		Beyond: beyond, GPU: opt,
		Open:  func(o resident.Options) (*resident.Crowd, error) { return resident.New(p.Dogs.Model, o) },
		Ready: func(row int) bool { return p.Dogs.Stride(row) == 1 },
		Goal:  func(e arche.Entity, g control.Goal) { *goals.Get(e) = g },
	})
	if f != nil {
		roam.Roots, roam.Control = f.Gather, f.SetGoal
	}
	return f, err
}

// Spawn adds n dogs of a herd around the origin, each looking its own way. The innermost room
// places stay free. far, which may be nil, gets to know them.
func (p *Pack) Spawn(r *steer.Roam, n, room int, far *Far) error {
	for i := range n {
		e, err := r.Spawn(Sunflower(room + i))
		if err != nil {
			return err
		}
		if far != nil {
			far.Add(p.coat(e))
		}
	}
	return nil
}

// Saves marks a scenes.Saver.
func (p *Pack) Saves() {}

// Tick runs one tick. It warns once if the watchdog restored a dog.
func (p *Pack) Tick() error {
	if err := p.World.Tick(); err != nil {
		return err
	}
	p.Experts.Step(p.Dogs.Gating(0), 1, 0)
	if p.Log == nil || p.warned {
		return nil
	}
	if n := p.Dogs.TotalRestored(); n > 0 {
		p.warned = true
		p.Log.Warn("a dog left the range of its network's training data and went back to its last good pose; later ones are only counted", "restored", n)
	}
	return nil
}

// Hash returns the hash of all dogs.
func (p *Pack) Hash() uint64 { return p.Crowd.Hash() }

// DrawPath appends the planned path of a row, on the terrain, to dst.Path.
func (p *Pack) DrawPath(dst *scenes.Frame, row int) {
	n := p.Dogs.Trajectory(row, p.path[:])
	for _, q := range p.path[feature.TrajRoot:n] {
		dst.Path = append(dst.Path, m3.V(q.X, p.Terrain.Height(q.X, q.Z), q.Z))
	}
}

// ahead appends every fifth point of what DrawPath draws.
func (p *Pack) ahead(dst []m3.Vec3, row int) []m3.Vec3 {
	const every = 5
	n := p.Dogs.Trajectory(row, p.path[:])
	for i := feature.TrajRoot + every; i < n; i += every {
		dst = append(dst, p.path[i])
	}
	return dst
}
