// Package strnn is the scene of a crowd that wanders on predicted motion: a recurrent
// network goes on from what everybody has done, as they are asked to (Wang, Ho, Shum and
// Zhu 2019).
package strnn

import (
	"errors"
	"fmt"
	"math"

	"mannequin/animsys"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/internal/statehash"
	"mannequin/scenes"
	"mannequin/scenes/internal/marks"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Options configure the scene.
type Options struct {
	Model   *strnn.Model   // with a guide: see strnn.Model.NewStream; required
	Agents  int            // people, at most MaxAgents; 0 means 50
	Terrain *terrain.Field // around the origin, GroundSize wide; nil makes hills from Seed
	Seed    uint64         // of where they go
	Workers int            // goroutines that share the rows; 0 means one per CPU

	// Stream says how they go on: Draws, Steps, Spread, Open and BF16. The rest follows
	// from the scene.
	Stream strnn.StreamOptions
}

// MaxAgents is the most people in the scene.
const MaxAgents = 4096

// Speeds are what the player may have someone do, m/s.
var Speeds = [...]float32{scenes.KeepGait: 0, scenes.Walk: 1, scenes.Pace: 1.25, scenes.Trot: 1.5, scenes.Canter: 1.75}

var help = []string{
	"1 2 3 4: it walks slowly to fast    A D: it turns    X: it stands",
	"V: it goes where the network goes",
	"Space: the next one, this one wanders again   R: from the start",
}

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	World    arche.World
	People   *animsys.Crowd
	stream   *strnn.Stream
	Schedule *ecs.Schedule
	Terrain  *terrain.Field

	mingle  *mingle
	all     []arche.Entity
	wanders generic.Map1[strnn.Wander]
	about   generic.Map1[ecs.Wander]
	marks   *marks.Marks
	watched int
	pressed bool
	seed    uint64
}

var (
	_ scenes.Scene  = (*Scene)(nil)
	_ scenes.Traced = (*Scene)(nil)
)

// spacing is about the distance between neighbours at the start, m.
const spacing = 2.2

// start returns the place and heading of person i: a sunflower's seeds, evenly spread
// however many there are.
func start(i int) (m3.Vec3, float32) {
	const golden = 2.39996323
	r, a := spacing*0.6*m3.Sqrt(float32(i)), golden*float32(i)
	return m3.V(r*m3.Sin(a), 0, r*m3.Cos(a)), m3.WrapAngle(3 * a)
}

// GroundSize returns how wide a terrain must be for so many people, m.
func GroundSize(people int) float32 {
	last, _ := start(people)
	return max(80, 2*last.Len()+4*homeRange)
}

// New builds the scene: everyone walks, and stays about where they began.
func New(opt Options) (*Scene, error) {
	if opt.Agents == 0 {
		opt.Agents = 50
	}
	switch {
	case opt.Agents < 1 || opt.Agents > MaxAgents:
		return nil, fmt.Errorf("strnn: %d people: want 1 to %d", opt.Agents, MaxAgents)
	case opt.Model == nil:
		return nil, fmt.Errorf("strnn: Options.Model is missing")
	}
	s := &Scene{World: arche.NewWorld(), Terrain: opt.Terrain, seed: opt.Seed}
	if s.Terrain == nil {
		var err error
		if s.Terrain, err = terrain.Hills(terrain.Grid{Size: GroundSize(opt.Agents), Cell: 0.5}, terrain.HillsOptions{Seed: opt.Seed, Wavelength: 14, MaxSlope: 15 * math.Pi / 180}); err != nil {
			return nil, err
		}
	}
	var err error
	opt.Stream.Seed = opt.Seed
	opt.Stream.People, opt.Stream.Workers = opt.Agents, opt.Workers
	if s.stream, err = opt.Model.NewStream(opt.Stream); err != nil {
		return nil, err
	}
	if s.People, err = animsys.NewCrowd(&s.World, s.stream, animsys.Options{Ground: s.Terrain, Workers: opt.Workers}); err != nil {
		return nil, errors.Join(err, s.stream.Close())
	}
	s.mingle = newMingle(s.People, s.stream, s.Terrain, opt.Seed)
	if s.Schedule, err = ecs.NewSchedule(&s.World, 1.0/scenes.TickRate, append([]ecs.System{s.mingle}, animsys.Systems()...)...); err != nil {
		return nil, errors.Join(err, s.People.Close())
	}
	s.marks = marks.New(marks.Of(s.People, s.Terrain, marks.Places(s.stream.Ahead, 3)))
	s.wanders, s.about = generic.NewMap1[strnn.Wander](&s.World), generic.NewMap1[ecs.Wander](&s.World)
	for i := range opt.Agents {
		at, yaw := start(i)
		e, err := s.People.Spawn(at, yaw)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.wanders.Get(e).Speed = slowest
		s.about.Assign(e, &ecs.Wander{})
		s.mingle.wander.Reset(i, opt.Seed+uint64(i), at)
		s.all = append(s.all, e)
	}
	return s, nil
}

// Step runs one tick. Whom the player tells how to go does not wander meanwhile.
func (s *Scene) Step(in scenes.Input) error {
	e := s.all[s.watched]
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
	if in.Jump && !s.pressed {
		if s.about.Get(e) == nil {
			s.about.Assign(e, &ecs.Wander{})
		}
		s.watched = (s.watched + 1) % len(s.all)
	}
	s.pressed = in.Jump
	if in.Reset {
		for i, e := range s.all {
			at, yaw := start(i)
			if err := s.People.Place(e, at, yaw); err != nil {
				return err
			}
		}
	}
	if err := s.Schedule.Step(); err != nil {
		return err
	}
	s.marks.Step(s.People.Agents())
	return nil
}

// Hash sums up everyone, and who is watched.
func (s *Scene) Hash() uint64 {
	return uint64(statehash.Hash(s.People.Hash()).Int(s.watched))
}

// Frame describes what to draw. The focus is the one who is watched.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.Terrain)
	dst.Seat = scenes.Behind(len(s.all))
	dst.Help = append(dst.Help, help...)
	c := dst.Cast(s.People.Skel)
	c.Bones = s.People.Interpolate(c.Bones, alpha)
	for i := range s.all {
		c.Tint = append(c.Tint, scenes.Clothes(i, s.seed))
	}
	row, _ := s.People.Rows.Row(s.all[s.watched])
	dst.Focus = c.Of(row)[0].Pos
	dst.Heading = s.People.Roots[row].Rot.Yaw()
	s.marks.Watched(dst, c.Bones, row)
	s.marks.Draw(dst, c.Bones, row, alpha)
	w := s.wanders.Get(s.all[s.watched])
	about := fmt.Sprintf("%s; watching: person %d, who ", scenes.Count(c.Len(), "person", "people"), s.watched+1)
	if w.Free {
		about += "goes where the network goes"
	} else {
		about += fmt.Sprintf("shall go %.1f m/s and turn %.1f rad/s", w.Speed, w.Turn)
	}
	dst.HUD = append(dst.HUD, about)
}

// Stages returns the names of the tick's systems: see scenes.Traced.
func (s *Scene) Stages() []string { return s.Schedule.Names() }

// Trace has f called as each system begins: see scenes.Traced.
func (s *Scene) Trace(f func(stage int)) { s.Schedule.Trace = f }

// Close stops the scene's workers.
func (s *Scene) Close() error {
	s.Schedule.Close()
	return s.People.Close()
}
