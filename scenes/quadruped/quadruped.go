// Package quadruped is the scene of a dog that the player controls, alone or among a herd.
package quadruped

import (
	"errors"
	"fmt"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/internal/statehash"
	"mannequin/scenes"
	"mannequin/scenes/herd"
	"mannequin/scenes/internal/steer"
	"mannequin/scenes/world"

	arche "github.com/mlange-42/arche/ecs"
)

// Options configure the scene. Agents are the other dogs, which wander about; none is usual.
type Options struct {
	world.Options
	Model *mann.Model   // required
	Far   []*mann.Model // for distant dogs: see mann.ControllerOptions
}

// Speeds of the gaits in m/s.
var Speeds = [...]float32{
	scenes.Walk: control.WalkSpeed, scenes.Pace: control.PaceSpeed, scenes.Trot: control.TrotSpeed, scenes.Canter: control.CanterSpeed,
}

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	world.Pack
	drive *Drive
	dog   arche.Entity
}

var (
	_ scenes.Scene  = (*Scene)(nil)
	_ scenes.Traced = (*Scene)(nil)
	_ scenes.Saver  = (*Scene)(nil)
)

// elbowRoom is the number of dogs' places around the player's dog that stay free at the start:
// about 3 m.
const elbowRoom = 6

// New builds the scene: the player's dog at the origin, the herd around it.
func New(opt Options) (*Scene, error) {
	if err := opt.Complete("quadruped", 0, func(n int) float32 { return herd.GroundSize(1 + n) }); err != nil {
		return nil, err
	}
	s := &Scene{}
	err := s.Init(&opt.Options, opt.Model, opt.Far, 1+opt.Agents, animsys.Options{})
	if err == nil {
		err = s.start(opt.Agents)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// start starts the world with the player's dog and n others.
func (s *Scene) start(n int) (err error) {
	roam := s.Herd()
	roam.Led = 0
	s.drive = NewDrive(&s.ECS)
	if err = s.Start(s.drive, roam); err != nil {
		return err
	}
	if s.dog, err = s.Crowd.Spawn(m3.Vec3{}, 0); err != nil {
		return err
	}
	s.drive.Dog = s.dog
	return s.Spawn(roam, n, elbowRoom, nil)
}

// Step runs one tick. A dog that leaves the terrain starts again in its middle.
func (s *Scene) Step(in scenes.Input) error {
	if in.Reset || steer.Inside(s.Terrain, s.Crowd.Roots[0].Pos) < 0 {
		if err := s.Crowd.Place(s.dog, m3.Vec3{}, 0); err != nil {
			return err
		}
	}
	s.drive.Input = in
	s.ApplyLOD(&in, s.dog)
	return s.Tick()
}

// Hash returns the hash of all dogs and of the chosen gait.
func (s *Scene) Hash() uint64 {
	return uint64(statehash.Hash(s.Pack.Hash()).Int(s.drive.Gait()))
}

// Frame describes what to draw.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.Terrain)
	s.Draw(dst, alpha)
	s.DrawPath(dst, 0)
	dst.Focus = dst.Casts[0].Of(0)[0].Pos
	dst.Heading = s.Crowd.Roots[0].Rot.Yaw()
	s.DrawOverlays(dst, 0, 0, false, alpha)
	s.Experts.Draw(dst)
	s.drive.Texts(dst)
	dst.HUD = append(dst.HUD, fmt.Sprintf("does: %s, %.2f m/s", s.doing(), s.Dogs.Velocity(0).Len()))
}

// doing names the action with the largest weight.
func (s *Scene) doing() string {
	best := control.Idle
	for a := range control.NumActions {
		if s.Dogs.Weight(0, a) > s.Dogs.Weight(0, best) {
			best = a
		}
	}
	return best.String()
}

// Autopilot returns the input of a recording without a player. Its first ten seconds show a walk, a
// trot through a bend, a jump and a sit; then come the other gaits, a sidestep and lying down.
func Autopilot() scenes.Script {
	type in = scenes.Input
	return scenes.Script{
		{Seconds: 2, Input: in{Forward: 1, Gait: scenes.Walk}},
		{Seconds: 2.6, Input: in{Forward: 1, Turn: 1, Gait: scenes.Trot}}, // back to the herd
		{Seconds: 0.9, Input: in{Forward: 1}},
		{Seconds: 0.7, Input: in{Forward: 1, Jump: true}},
		{Seconds: 0.6, Input: in{Forward: 1, Gait: scenes.Pace}},
		{Seconds: 4.2, Input: in{Sit: true}},
		{Seconds: 2, Input: in{Forward: 1, Turn: -1}},
		{Seconds: 3, Input: in{Forward: 1, Gait: scenes.Canter}},
		{Seconds: 2, Input: in{Forward: 1, Turn: 1, Gait: scenes.Pace}},
		{Seconds: 2, Input: in{Forward: 0.6, Side: 0.8}},
		{Seconds: 5, Input: in{Lie: true}},
		{Seconds: 1, Input: in{Forward: 1, Gait: scenes.Walk}},
	}
}
