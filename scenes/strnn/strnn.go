// Package strnn is the scene of a crowd that wanders on predicted motion: a recurrent
// network goes on from what everybody has done, as they are asked to (Wang, Ho, Shum and
// Zhu 2019).
package strnn

import (
	"errors"
	"fmt"

	"mannequin/animsys"
	"mannequin/animsys/strnn"
	"mannequin/internal/statehash"
	"mannequin/scenes"
	"mannequin/scenes/internal/overlay"
	"mannequin/scenes/world"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Options configure the scene. 50 agents are usual.
type Options struct {
	world.Options
	Model *strnn.Model // with a guide: see strnn.Model.NewStream; required

	// Stream has the settings of the prediction: Draws, Steps and Spread. The rest follows from the scene.
	Stream strnn.StreamOptions
}

// Speeds are what the player may have someone do, m/s.
var Speeds = [...]float32{scenes.KeepGait: 0, scenes.Walk: 1, scenes.Pace: 1.25, scenes.Trot: 1.5, scenes.Canter: 1.75}

var help = []string{
	"1 2 3 4: it walks slowly to fast    A D: it turns    X: it stands",
	"V: it goes where the network goes",
	"Space: the next one, this one wanders again   R: from the start",
}

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	world.World
	People *animsys.Crowd

	mingle  *mingle
	wanders generic.Map1[strnn.Steer]
	about   generic.Map1[scenes.Wander]
}

var (
	_ scenes.Scene  = (*Scene)(nil)
	_ scenes.Traced = (*Scene)(nil)
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
	settings.People, settings.Seed, settings.Workers, settings.Open, settings.BF16 = opt.Agents, opt.Seed, opt.Workers, opt.Open, opt.BF16
	stream, err := opt.Model.NewStream(settings)
	if err != nil {
		return nil, err
	}
	people, err := world.Add(&s.World, stream, animsys.Options{}, overlay.Places(stream.Preview, 3), func(row int) [3]float32 { return scenes.Clothes(row, s.Seed) })
	if err == nil {
		s.People = people.Crowd
		s.mingle = newMingle(s.People, stream, s.Terrain, opt.Seed)
		s.wanders, s.about = generic.NewMap1[strnn.Steer](&s.ECS), generic.NewMap1[scenes.Wander](&s.ECS)
		err = s.Start(s.mingle)
	}
	for i := 0; i < opt.Agents && err == nil; i++ {
		at, yaw := world.Sunflower(i)
		var e arche.Entity
		if e, err = s.People.Spawn(at, yaw); err == nil {
			s.wanders.Get(e).Speed = slowest
			s.about.Assign(e, &scenes.Wander{})
			s.mingle.wander.Reset(i, opt.Seed+uint64(i), at)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// entity returns the entity of a row.
func (s *Scene) entity(row int) arche.Entity { return s.People.Rows.Entity(row) }

// Step runs one tick. A person whom the player controls does not wander.
func (s *Scene) Step(in scenes.Input) error {
	e := s.entity(s.Selected)
	if led := in.Turn != 0 || in.Gait != scenes.KeepGait || in.Sit || in.Stand; led && s.about.Get(e) != nil {
		s.about.Remove(e)
	}
	if s.about.Get(e) == nil {
		w := s.wanders.Get(e)
		w.Turn = in.Turn * strnn.MaxTurn
		switch {
		case in.Sit:
			w.Speed, w.Free = 0, false
		case in.Stand:
			w.Free = true
		case in.Gait != scenes.KeepGait:
			w.Speed, w.Free = Speeds[in.Gait], false
		}
	}
	if s.SelectNext(&in) && s.about.Get(e) == nil {
		s.about.Assign(e, &scenes.Wander{})
	}
	if in.Reset {
		for i := range s.Agents() {
			at, yaw := world.Sunflower(i)
			if err := s.People.Place(s.entity(i), at, yaw); err != nil {
				return err
			}
		}
	}
	return s.Tick()
}

// Hash returns the hash of all people and of the selection.
func (s *Scene) Hash() uint64 {
	return uint64(statehash.Hash(s.People.Hash()).Int(s.Selected))
}

// Frame describes what to draw. The focus is the selected person.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.Terrain)
	dst.Seat = scenes.Behind(s.Agents())
	dst.Help = append(dst.Help, help...)
	s.DrawSelected(dst, alpha)
	line := fmt.Sprintf("%s; watching: person %d, who ", scenes.Count(s.Agents(), "person", "people"), s.Selected+1)
	if w := s.wanders.Get(s.entity(s.Selected)); w.Free {
		line += "goes where the network goes"
	} else {
		line += fmt.Sprintf("shall go %.1f m/s and turn %.1f rad/s", w.Speed, w.Turn)
	}
	dst.HUD = append(dst.HUD, line)
}
