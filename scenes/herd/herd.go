// Package herd is the scene of a herd of dogs that wander about on hills.
package herd

import (
	"errors"
	"fmt"

	"mannequin/animsys"
	"mannequin/animsys/mann"
	"mannequin/animsys/resident"
	"mannequin/ecs"
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

	// Beyond is the distance from the camera from which on dogs live on a GPU, m; 0: none does. GPU says on which, and Bind if that draws
	// them; the scene sets capacity and ground. Without a GPU, as if it is nil, all dogs stay on the processor.
	Beyond float32
	GPU    *resident.Options
}

// GroundSize returns the width of the terrain for a herd, m.
func GroundSize(agents int) float32 { return world.SunflowerSize(agents, 20) }

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	world.Pack
	far   *world.Far // nil: all dogs are on the processor
	asked bool       // for a GPU
}

var (
	_ scenes.Scene    = (*Scene)(nil)
	_ scenes.Traced   = (*Scene)(nil)
	_ scenes.Saver    = (*Scene)(nil)
	_ scenes.Resident = (*Scene)(nil)
)

// New builds the scene: the dogs stand around the origin and face in different directions.
func New(opt Options) (*Scene, error) {
	if err := opt.Complete("herd", 50, GroundSize); err != nil {
		return nil, err
	}
	s := &Scene{asked: opt.Beyond != 0}
	err := s.Init(&opt.Options, opt.Model, opt.Far, opt.Agents, animsys.Options{})
	if err == nil {
		err = s.start(&opt)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Scene) start(opt *Options) (err error) {
	roam := s.Herd()
	systems := []ecs.System{roam}
	if s.asked && opt.GPU != nil {
		if s.far, err = s.NewFar(roam, opt.Beyond, *opt.GPU); err != nil {
			return err
		}
	}
	if s.far != nil {
		systems = append(systems, s.far)
	}
	if err = s.Start(systems...); err == nil {
		err = s.Spawn(roam, opt.Agents, 0, s.far)
	}
	return err
}

// Step runs one tick. Only the input's camera matters.
func (s *Scene) Step(in scenes.Input) error {
	s.ApplyLOD(&in, arche.Entity{})
	if s.far == nil {
		return s.Tick()
	}
	if err := s.far.Move(&in, arche.Entity{}); err != nil {
		return err
	}
	if err := s.Tick(); err != nil {
		return err
	}
	return s.far.Err()
}

// Hash returns the hash of all dogs.
func (s *Scene) Hash() uint64 {
	if s.far == nil {
		return s.Pack.Hash()
	}
	return s.far.Hash(s.Pack.Hash())
}

// OnGPU returns the number of dogs on the GPU, and its name.
func (s *Scene) OnGPU() (dogs int, device string) {
	if s.far == nil || s.far.Device() == "" {
		return 0, ""
	}
	return s.far.Away(), s.far.Device()
}

// Close stops the workers, and leaves the GPU.
func (s *Scene) Close() error {
	err := s.Pack.Close()
	if s.far != nil {
		err = errors.Join(err, s.far.Close())
	}
	return err
}

// Frame describes what to draw. The focus is the middle of the herd.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.Terrain)
	s.Draw(dst, alpha)
	if s.far != nil {
		s.far.Draw(dst)
	}
	var mid m3.Vec3
	n := 0
	add := func(hips m3.Vec3) {
		if hips.Finite() {
			mid, n = mid.Add(hips), n+1
		}
	}
	for i := range dst.Casts {
		for r := range dst.Casts[i].Len() {
			add(dst.Casts[i].Of(r)[0].Pos)
		}
	}
	for i := range dst.Far {
		for _, hips := range dst.Far[i].Hips {
			add(hips.Pos)
		}
	}
	dst.Focus, dst.Heading, dst.Seat = mid.Scale(1/float32(max(n, 1))), 0, scenes.Overlook(n)
	s.DrawOverlays(dst, 0, -1, false, alpha)
	line := scenes.Count(n, "dog", "dogs")
	switch away, device := s.OnGPU(); {
	case device != "":
		line += fmt.Sprintf(": %d near, %d far ones on the GPU, %s", n-away, away, device)
	case s.asked:
		line += ", all on the processor: there is no GPU for those far away"
	}
	dst.HUD = append(dst.HUD, line)
}
