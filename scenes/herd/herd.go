// Package herd is the scene of a herd of dogs that wander about on hills.
package herd

import (
	"errors"

	"mannequin/animsys"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/scenes/world"

	arche "github.com/mlange-42/arche/ecs"
)

// Options configure the scene. 50 agents are usual.
type Options struct {
	world.Options
	Model *mann.Model   // required
	Far   []*mann.Model // for distant dogs: see mann.ControllerOptions
}

// GroundSize returns the width of the terrain for a herd, m.
func GroundSize(agents int) float32 { return world.SunflowerSize(agents, 20) }

// Scene is the running scene; it is a scenes.Scene.
type Scene struct{ world.Pack }

var (
	_ scenes.Scene  = (*Scene)(nil)
	_ scenes.Traced = (*Scene)(nil)
	_ scenes.Saver  = (*Scene)(nil)
)

// New builds the scene: the dogs stand around the origin and face in different directions.
func New(opt Options) (*Scene, error) {
	if err := opt.Complete("herd", 50, GroundSize); err != nil {
		return nil, err
	}
	s := &Scene{}
	err := s.Init(&opt.Options, opt.Model, opt.Far, opt.Agents, animsys.Options{})
	if err == nil {
		roam := s.Herd()
		if err = s.Start(roam); err == nil {
			err = s.Spawn(roam, opt.Agents, 0)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Step runs one tick. Only the input's camera matters.
func (s *Scene) Step(in scenes.Input) error {
	s.ApplyLOD(&in, arche.Entity{})
	return s.Tick()
}

// Frame describes what to draw. The focus is the middle of the herd.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.Terrain)
	s.Draw(dst, alpha)
	dogs := &dst.Casts[0]
	var mid m3.Vec3
	for r := range dogs.Len() {
		mid = mid.Add(dogs.Of(r)[0].Pos.Scale(1 / float32(dogs.Len())))
	}
	dst.Focus, dst.Heading, dst.Seat = mid, 0, scenes.Overlook(dogs.Len())
	s.DrawOverlays(dst, 0, -1, false, alpha)
	dst.HUD = append(dst.HUD, scenes.Count(dogs.Len(), "dog", "dogs"))
}
