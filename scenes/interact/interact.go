// Package interact is the scene of people who touch things: they sit on a bench, pick a box up, step on a
// stool and over a log, hold on to a bar and press buttons.
package interact

import (
	"errors"
	"fmt"
	"math"

	"mannequin/animsys"
	"mannequin/animsys/keypose"
	"mannequin/animsys/manifold"
	"mannequin/ecs"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/internal/statehash"
	"mannequin/scenes"
	"mannequin/scenes/world"
	"mannequin/terrain"

	"github.com/mlange-42/arche/generic"
)

// Options configure the scene. Five agents are usual, one for each task; more do the same again. The
// terrain is level.
type Options struct {
	world.Options
	Networks *manifold.Networks // required
	Poses    *keypose.Model     // required
}

// apart is the distance between people, m.
const apart = 2.2

// GroundSize returns the width of the terrain for a number of people, m.
func GroundSize(people int) float32 { return apart*float32(people) + 40 }

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	world.World
	People *animsys.Crowd

	between *keypose.Inbetweener
	reach   generic.Map1[ecs.Reach]
	step    generic.Map1[ecs.Step]
	looks   generic.Map1[ecs.LookAt]
	all     []person
	tick    int
	follows bool        // the camera follows the selected person
	blocks  []hud.Block // that stand still
}

var (
	_ scenes.Scene  = (*Scene)(nil)
	_ scenes.Traced = (*Scene)(nil)
)

var help = []string{"Space: follow a person, and then the next    R: see all"}

// New builds the scene.
func New(opt Options) (*Scene, error) {
	if opt.Networks == nil || opt.Poses == nil {
		return nil, errors.New("interact: Options.Networks or Options.Poses is missing")
	}
	var err error
	if opt.Terrain, err = terrain.Flat(terrain.Grid{Size: GroundSize(opt.Agents), Cell: 0.5}); err != nil {
		return nil, err
	}
	if err := opt.Complete("interact", len(tasks), GroundSize); err != nil {
		return nil, err
	}
	s := &Scene{}
	s.Init(&opt.Options)
	if err := s.start(&opt); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Scene) start(opt *Options) (err error) {
	if s.between, err = opt.Poses.NewInbetweener(keypose.InbetweenerOptions{}); err != nil {
		return err
	}
	stream, err := opt.Networks.NewStream(manifold.StreamOptions{Capacity: opt.Agents, Workers: opt.Workers, Open: opt.Open, BF16: opt.BF16})
	if err != nil {
		return err
	}
	people, err := world.Add(&s.World, stream, animsys.Options{}, nil, func(row int) [3]float32 { return scenes.Clothes(row, s.Seed) })
	if err != nil {
		return err
	}
	s.People = people.Crowd
	s.reach, s.step, s.looks = generic.NewMap1[ecs.Reach](&s.ECS), generic.NewMap1[ecs.Step](&s.ECS), generic.NewMap1[ecs.LookAt](&s.ECS)
	if err := s.Start(); err != nil {
		return err
	}
	for i := range opt.Agents {
		at := m3.V(apart*(float32(i)-0.5*float32(opt.Agents-1)), 0, 0)
		at.Y = s.Terrain.Height(at.X, at.Z)
		p := person{at: at, task: tasks[i%len(tasks)], tick: -startTicks - 20*i}
		if p.entity, err = s.People.Spawn(at, 0); err != nil {
			return err
		}
		s.reach.Add(p.entity)
		s.step.Add(p.entity)
		s.looks.Add(p.entity)
		p.box = p.place(boxAt)
		s.all = append(s.all, p)
		s.blocks = append(s.blocks, p.still()...)
	}
	return nil
}

// Close ends the scene.
func (s *Scene) Close() error {
	if s.between != nil {
		s.between.Close()
	}
	return s.World.Close()
}

// Step runs one tick. People do their tasks whatever the player does.
func (s *Scene) Step(in scenes.Input) error {
	for i := range s.all {
		if err := s.all[i].act(s); err != nil {
			return fmt.Errorf("interact: person %d: %w", i+1, err)
		}
	}
	s.tick++
	if s.SelectNext(&in) {
		s.follows = true
	}
	s.follows = s.follows && !in.Reset
	if err := s.Tick(); err != nil {
		return err
	}
	for i := range s.all {
		s.all[i].carry(s)
	}
	return nil
}

// Hash returns the hash of the people and of what they carry.
func (s *Scene) Hash() uint64 {
	h := statehash.Hash(s.World.Hash()).Int(s.tick)
	for i := range s.all {
		h = h.Int(int(math.Float32bits(s.all[i].box.X))).Int(int(math.Float32bits(s.all[i].box.Y))).Int(int(math.Float32bits(s.all[i].box.Z)))
	}
	return uint64(h)
}

// Frame describes what to draw.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.Terrain)
	dst.Seat = scenes.Seat{Distance: 3.2 + 1.1*float32(len(s.all)), Pitch: 0.16, Yaw: math.Pi - 0.3, Overview: true}
	dst.Blocks = append(dst.Blocks, s.blocks...)
	for i := range s.all {
		if p := &s.all[i]; p.task.name == "box" {
			dst.Blocks = append(dst.Blocks, hud.Block{At: p.box.Add(m3.V(0, boxSize/2, 0)), Width: boxSize, Depth: boxSize, Height: boxSize, Colour: wood, Loose: true})
		}
	}
	dst.Help = append(dst.Help, help...)
	if dst.HUD = append(dst.HUD, scenes.Count(len(s.all), "person", "people")); s.follows {
		s.DrawSelected(dst, alpha)
		dst.HUD = append(dst.HUD, fmt.Sprintf("watching: person %d, with the task %s", s.Selected+1, s.all[s.Selected].task.name))
		return
	}
	s.Draw(dst, alpha)
	s.DrawOverlays(dst, 0, -1, false, alpha)
	dst.Focus, dst.Heading = m3.V(0, 0.8, 0), 0
}

// seat returns the pose of a person who sits, of the crowd's skeleton.
func (s *Scene) seat(p *person) animsys.PoseTarget {
	sk, to := s.People.Skel, s.People.PoseOf(p.entity)
	to.Pos[0] = p.place(m3.V(0, seatHigh+hipsOverSeat, -benchBack))
	to.Rot[0] = m3.Ident
	turn := func(joint string, axis m3.Vec3, angle float32) { to.Rot[sk.Index(joint)] = m3.AxisAngle(axis, angle) }
	for i, side := range []string{"Left", "Right"} {
		out := float32(1 - 2*i)
		turn(side+"UpLeg", m3.V(1, 0, 0), -1.5)
		turn(side+"Leg", m3.V(1, 0, 0), 1.45)
		turn(side+"Foot", m3.V(1, 0, 0), 0)
		turn(side+"Arm", m3.V(0, 0, 1), -1.25*out)
		to.Rot[sk.Index(side+"Arm")] = m3.AxisAngle(m3.V(1, 0, 0), -0.45).Mul(to.Rot[sk.Index(side+"Arm")])
		turn(side+"ForeArm", m3.V(0, 1, 0), -0.75*out)
	}
	return to
}
