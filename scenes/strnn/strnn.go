// Package strnn is the scene of a crowd that wanders on predicted motion: a recurrent network
// continues the motion of each person under control (Wang, Ho, Shum and Zhu 2019).
package strnn

import (
	"errors"
	"fmt"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/scenes/internal/overlay"
	"mannequin/scenes/internal/steer"
	"mannequin/scenes/world"

	"github.com/mlange-42/arche/generic"
)

// Options configure the scene. 50 agents are usual.
type Options struct {
	world.Options
	Model *strnn.Model // with a guide: see strnn.Model.NewStream; required

	// Stream has the settings of the prediction: Draws, Steps and Spread. The rest follows from the
	// scene.
	Stream strnn.StreamOptions
}

// Speeds are the speeds that the player can ask for, m/s.
var Speeds = [...]float32{scenes.KeepGait: 0, scenes.Walk: 1, scenes.Pace: 1.25, scenes.Trot: 1.5, scenes.Canter: 1.75}

var help = []string{
	"1 2 3 4: walk slowly to fast    A D: turn    X: stand",
	"V: the network chooses the way",
	"Space: release this person and select the next   R: restart",
}

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	world.World
	People *animsys.Crowd

	roam    *steer.Roam
	avoid   *steer.People
	wanders generic.Map1[strnn.Steer]
}

var (
	_ scenes.Scene  = (*Scene)(nil)
	_ scenes.Traced = (*Scene)(nil)
)

// The settings of steering.
const (
	homeRange = 8    // distance from where they began at which people turn back, m
	resting   = 0.15 // share of the walks that a rest follows
	slowest   = 1.0  // m/s
	fastest   = 1.6
)

// GroundSize returns the width of the terrain for a number of people, m.
func GroundSize(people int) float32 { return world.SunflowerSize(people, 2*homeRange) }

// New builds the scene: all walk, and stay near where they began.
func New(opt Options) (*Scene, error) {
	if err := opt.Complete("strnn", 50, GroundSize); err != nil {
		return nil, err
	}
	if opt.Model == nil {
		return nil, fmt.Errorf("strnn: Options.Model is missing")
	}
	s := &Scene{}
	s.Init(&opt.Options)
	settings := opt.Stream
	settings.Capacity, settings.Seed, settings.Workers, settings.Open, settings.BF16 = opt.Agents, opt.Seed, opt.Workers, opt.Open, opt.BF16
	stream, err := opt.Model.NewStream(settings)
	if err != nil {
		return nil, err
	}
	people, err := world.Add(&s.World, stream, animsys.Options{}, overlay.Places(stream.Preview, 3), func(row int) [3]float32 { return scenes.Clothes(row, s.Seed) })
	if err == nil {
		s.People, s.wanders = people.Crowd, generic.NewMap1[strnn.Steer](&s.ECS)
		err = s.start()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// start starts the world and adds the people.
func (s *Scene) start() error {
	s.avoid = steer.NewPeople(s.Terrain, s.Options.Agents, steer.Predicted)
	s.roam = steer.NewRoam(s.People, s.Seed, func(row int, goal *control.Goal) {
		want := strnn.Steer{}
		if goal.Action == control.Move {
			want = strnn.Steer{Speed: goal.Speed, Turn: goal.Turn * strnn.MaxTurn}
		}
		*s.wander(row) = want
	})
	s.roam.Radius, s.roam.Rest, s.roam.Slowest, s.roam.Fastest = homeRange, resting, slowest, fastest
	if !s.NoAvoidance {
		s.roam.Avoid = s.avoid
	}
	looks := generic.NewMap1[ecs.LookAt](&s.ECS)
	s.roam.Looks = func(row int) *ecs.LookAt { return looks.Get(s.People.Entity(row)) }
	if err := s.Start(s.roam); err != nil {
		return err
	}
	for i := range s.Options.Agents {
		e, err := s.roam.Spawn(outward(i))
		if err != nil {
			return err
		}
		looks.Add(e)
		s.wander(i).Speed = slowest
	}
	return nil
}

// outward returns the place and heading of person i. They walk away from each other, because they begin
// in the middle of a walk.
func outward(i int) (m3.Vec3, float32) {
	at, _ := world.Sunflower(i)
	return at, m3.YawOf(at)
}

// wander returns the control of a row.
func (s *Scene) wander(row int) *strnn.Steer { return s.wanders.Get(s.People.Entity(row)) }

// Step runs one tick. The player's person does not wander.
func (s *Scene) Step(in scenes.Input) error {
	if in.Turn != 0 || in.Gait != scenes.KeepGait || in.Sit || in.Stand {
		s.roam.Led = s.Selected
	}
	if s.roam.Led >= 0 {
		w := s.wander(s.Selected)
		w.Turn = in.Turn * strnn.MaxTurn
		switch {
		case in.Sit:
			w.Speed, w.Free = 0, false
		case in.Stand:
			w.Free = true
		case in.Gait != scenes.KeepGait:
			w.Speed, w.Free = in.Gait.Speed(Speeds[:], w.Speed), false
		}
	}
	if s.SelectNext(&in) {
		s.roam.Led = -1
	}
	if in.Reset {
		for i := range s.Agents() {
			at, yaw := outward(i)
			if err := s.People.Place(s.People.Entity(i), at, yaw); err != nil {
				return err
			}
		}
	}
	return s.Tick()
}

// Frame describes what to draw. The focus is the selected person.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.Terrain)
	dst.Seat = scenes.Behind(s.Agents())
	dst.Help = append(dst.Help, help...)
	s.DrawSelected(dst, alpha)
	line := fmt.Sprintf("%s; watching: person %d; ", scenes.Count(s.Agents(), "person", "people"), s.Selected+1)
	if w := s.wander(s.Selected); w.Free {
		line += "free: the network chooses"
	} else {
		line += fmt.Sprintf("asked: %.1f m/s and %.1f rad/s", w.Speed, w.Turn)
	}
	dst.HUD = append(dst.HUD, line+fmt.Sprintf(", actual: %.1f m/s", s.Speed))
}
