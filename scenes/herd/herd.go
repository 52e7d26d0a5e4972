// Package herd is the scene of a herd of dogs that wander about on hills.
package herd

import (
	"fmt"
	"log/slog"

	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/internal/park"
	"mannequin/terrain"
)

// Options configure the scene.
type Options struct {
	Model   *mann.Model    // required
	Far     []*mann.Model  // for dogs far away: see mann.ControllerOptions
	Agents  int            // dogs, at most MaxAgents; 0 means 50
	Terrain *terrain.Field // around the origin; nil makes hills from Seed
	Seed    uint64
	Workers int               // goroutines for the network and the rows; 0 means one per CPU
	BF16    bool              // the network in bfloat16 where the processor has it: see netruntime.SessionOptions
	Open    netruntime.Opener // what computes the network; nil is the processor
	Log     *slog.Logger      // told once if a dog leaves the range of its network's training data; nil: nobody
}

// MaxAgents is the most dogs in one herd.
const MaxAgents = 4096

// GroundSize returns how wide a terrain must be, m, for a herd of so many dogs.
func GroundSize(agents int) float32 { return park.Size(agents) }

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	park.Park
	roam *Roam
}

var (
	_ scenes.Scene  = (*Scene)(nil)
	_ scenes.Traced = (*Scene)(nil)
	_ scenes.Saver  = (*Scene)(nil)
)

// New builds the scene: the dogs stand around the origin, each looking its own
// way.
func New(opt Options) (*Scene, error) {
	if opt.Agents == 0 {
		opt.Agents = 50
	}
	if opt.Agents < 1 || opt.Agents > MaxAgents {
		return nil, fmt.Errorf("herd: %d dogs: want 1 to %d", opt.Agents, MaxAgents)
	}
	s := &Scene{Park: park.Park{Log: opt.Log}}
	s.roam = NewRoam(&s.Park, opt.Agents, opt.Seed)
	crowd := park.Options{Terrain: opt.Terrain, ControllerOptions: mann.ControllerOptions{Capacity: opt.Agents, LOD: opt.Far, Workers: opt.Workers, BF16: opt.BF16, Open: opt.Open}}
	if err := s.Open(opt.Model, crowd, opt.Seed, s.roam); err != nil {
		return nil, err
	}
	if err := s.roam.Spawn(opt.Agents, 0); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Step runs one tick; the player has no part in it, but for where it is watched from.
func (s *Scene) Step(in scenes.Input) error {
	s.Watch(&in, -1)
	return s.Park.Step()
}

// Frame describes what to draw. The focus is the herd's middle.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	s.Draw(dst, alpha)
	dogs := &dst.Casts[0]
	var mid m3.Vec3
	for r := range dogs.Len() {
		mid = mid.Add(dogs.Of(r)[0].Pos.Scale(1 / float32(dogs.Len())))
	}
	dst.Focus, dst.Heading, dst.Seat = mid, 0, scenes.Overlook(dogs.Len())
	dst.HUD = append(dst.HUD, scenes.Count(dogs.Len(), "dog", "dogs"))
}
