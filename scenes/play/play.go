// Package play is the scene of a character of your own, which the player steers, on any number of legs: a database for
// motion matching, or networks that have learned one.
package play

import (
	"errors"
	"fmt"
	"strings"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/matching"
	"mannequin/animsys/retarget"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/internal/statehash"
	"mannequin/scenes"
	"mannequin/scenes/course"
	"mannequin/scenes/internal/player"
	"mannequin/scenes/internal/steer"
	"mannequin/scenes/world"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
)

// Options configure the scene. There are no other agents. On level ground the character is in the yard of the course,
// with ramps, stairs, walls and pillars.
type Options struct {
	world.Options
	Character *matching.File // required
}

// GroundSize is the width of the terrain, m.
const GroundSize = 120

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	world.World
	Crowd *animsys.Crowd

	stream matching.Player
	of     *matching.Character
	own    *retarget.Character // the character in its own size
	player *player.Player
	hero   arche.Entity
	start  m3.Vec3
	height float32 // of its highest joint at rest, m
	long   float32 // from its middle to the farthest joint, m
	blocks []hud.Block
}

var (
	_ scenes.Scene  = (*Scene)(nil)
	_ scenes.Traced = (*Scene)(nil)
)

// New builds the scene.
func New(opt Options) (*Scene, error) {
	if opt.Character == nil || opt.Character.Character() == nil {
		return nil, errors.New("play: Options.Character is missing")
	}
	if err := opt.Complete("play", 0, func(int) float32 { return GroundSize }); err != nil {
		return nil, err
	}
	s := &Scene{of: opt.Character.Character()}
	s.Init(&opt.Options)
	if err := s.open(opt.Character, &opt.Options); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Scene) open(file *matching.File, on *world.Options) (err error) {
	if s.own, err = s.of.Sized(); err != nil {
		return fmt.Errorf("play: %w", err)
	}
	s.height, s.long = world.Extent(s.own)
	opt := animsys.Options{Characters: []*retarget.Character{s.own}}
	if s.Terrain.MaxSlope() == 0 {
		floors, obstacles, blocks, start := course.Yard()
		ground, walls := &terrain.Decks{Base: s.Terrain}, &control.Obstacles{}
		if err := errors.Join(ground.Set(floors...), walls.Set(obstacles...)); err != nil {
			return err
		}
		// Steps and ramps are climbed, ledges are not.
		opt.Ground, opt.Walls = ground, &terrain.Edges{Ground: ground, Rise: 0.35, Walls: walls}
		s.blocks, s.start = blocks, start
	}
	s.stream, err = file.NewStream(matching.StreamOptions{Capacity: 1, Open: on.Open, Nearest: on.Nearest})
	if err != nil {
		return err
	}
	p, err := world.Add(&s.World, s.stream, opt, nil, func(int) [3]float32 {
		if len(s.of.Roles.Legs) == 2 {
			return scenes.Clothes(0, s.Seed)
		}
		return scenes.Coat(s.Seed)
	})
	if err != nil {
		return err
	}
	s.Crowd, p.Own, p.Roles = p.Crowd, s.own, &s.of.Roles
	s.player = player.New(&s.ECS, s.of, s.own.Scale)
	if err := s.Start(s.player); err != nil {
		return err
	}
	if s.hero, err = s.Crowd.Spawn(s.start, 0); err != nil {
		return err
	}
	s.player.Crowd, s.player.Hero = s.Crowd, s.hero
	return s.Crowd.SetCharacter(s.hero, s.own)
}

// Step runs one tick. Reset puts the character back to the start; so does leaving the terrain.
func (s *Scene) Step(in scenes.Input) error {
	if in.Reset || steer.Inside(s.Terrain, s.Crowd.Roots[0].Pos) < 0 {
		if err := s.Crowd.Place(s.hero, s.start, 0); err != nil {
			return err
		}
		s.player.Release()
	}
	s.player.Input = in
	return s.Tick()
}

// Hash returns the hash of the character and of what is asked of it.
func (s *Scene) Hash() uint64 {
	return uint64(s.player.Hash(statehash.Hash(s.World.Hash())))
}

// Frame describes what to draw.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.Terrain)
	dst.Blocks = append(dst.Blocks, s.blocks...)
	s.Draw(dst, alpha)
	c := &dst.Casts[0]
	dst.Focus, dst.Heading, dst.InWorld = c.Of(0)[0].Pos, s.Crowd.Roots[0].Rot.Yaw(), true
	dst.Focus.Y += max(0.65*s.height-s.own.Rest[0].Pos.Y, 0) // short legs and a large head
	dst.Seat = scenes.Seat{Distance: 0.8 + max(2.2*s.height, 2.2*s.long), Pitch: 0.24}
	shown := dst.Show
	dst.Show &^= inOwnUnit
	s.DrawOverlays(dst, 0, 0, false, alpha)
	dst.Show, dst.Has = shown, dst.Has&^inOwnUnit
	s.player.Texts(dst)
	dst.HUD = append(dst.HUD, fmt.Sprintf("%s: %.2f m/s, %s", s.name(), s.Speed, s.shows()))
}

// shows returns what is played.
func (s *Scene) shows() string {
	recorded, ok := s.stream.(*matching.Stream)
	if !ok {
		return "by networks"
	}
	clip, at := recorded.Clip(0)
	return fmt.Sprintf("%s at %.1f s", clip, float32(at)/matching.TickRate)
}

// inOwnUnit are the overlays of places in the agent's own space, whose unit is the character's size.
const inOwnUnit = hud.Velocities | hud.Targets

// name returns the character's name.
func (s *Scene) name() string {
	if s.of.Name == "" {
		return "your character"
	}
	return strings.ToValidUTF8(s.of.Name, "?")
}

// Autopilot returns the input of a recording without a player: up the ramp and back, slower and faster, a look ahead
// while it walks sideways, and what the character can do.
func Autopilot() scenes.Script {
	type in = scenes.Input
	return scenes.Script{
		{Seconds: 0.5},
		{Seconds: 5, Input: in{Forward: 1, Gait: scenes.Pace}},
		{Seconds: 1.5, Input: in{Forward: -1}},
		{Seconds: 2.5, Input: in{Forward: -0.4, Side: -0.9, Gait: scenes.Trot}},
		{Seconds: 1, Input: in{Side: 1}},
		{Seconds: 0.05, Input: in{Lock: true}},
		{Seconds: 1.2, Input: in{Forward: 1, Gait: scenes.Walk}},
		{Seconds: 1.2, Input: in{Forward: -1}},
		{Seconds: 0.05, Input: in{Lock: true}},
		{Seconds: 2, Input: in{Sit: true}},
		{Seconds: 1},
		{Seconds: 0.8, Input: in{Side: 1, Jump: true}},
	}
}
