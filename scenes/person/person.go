// Package person is the scene of a person whom the player steers: stairs, a ramp, a gap to jump over, a corridor, a crowd to walk
// through, and boxes to carry.
package person

import (
	"errors"
	"fmt"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/animsys/matching"
	"mannequin/animsys/retarget"
	"mannequin/ecs"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/internal/statehash"
	"mannequin/scenes"
	"mannequin/scenes/internal/player"
	"mannequin/scenes/internal/steer"
	"mannequin/scenes/world"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Options configure the scene. Agents are the people on the plaza, of the same character; twelve are usual. The terrain is level.
type Options struct {
	world.Options
	Character *matching.File // of a person; required

	// Styles and Transfers are the styles that the player may choose, of ecs.MARStyle and of ecs.GramStyle, if the
	// character has their skeleton; nil: there are none.
	Styles    *mar.Database
	Transfers []*manifold.StyleTransfer
}

// mostAgents is how many people the plaza holds.
const mostAgents = 40

// GroundSize is the width of the terrain, m.
const GroundSize = 120

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	world.World
	Crowd *animsys.Crowd

	of     *matching.Character
	own    *retarget.Character // the character in its own size
	player *player.Player
	hero   arche.Entity
	roam   *steer.Roam
	looks  generic.Map1[ecs.LookAt]
	moods  generic.Map1[ecs.MARStyle]
	grams  generic.Map1[ecs.GramStyle]
	hands  carrier
	styles []string // of the player: none, those of Options.Styles, and those of Options.Transfers
	mar    int      // of Options.Styles
	style  int      // 0 is none
	styled bool     // the key
	blocks []hud.Block
}

var (
	_ scenes.Scene  = (*Scene)(nil)
	_ scenes.Traced = (*Scene)(nil)
	_ scenes.Saver  = (*Scene)(nil)
)

// New builds the scene.
func New(opt Options) (*Scene, error) {
	if opt.Character == nil || opt.Character.Character() == nil {
		return nil, errors.New("person: Options.Character is missing")
	}
	of := opt.Character.Character()
	if len(of.Roles.Legs) != 2 {
		return nil, fmt.Errorf("person: the character %s has %d legs: want a person's two", of.Name, len(of.Roles.Legs))
	}
	var err error
	if opt.Terrain, err = terrain.Flat(terrain.Grid{Size: GroundSize, Cell: 0.5}); err != nil {
		return nil, err
	}
	if err := opt.Complete("person", 12, func(int) float32 { return GroundSize }); err != nil {
		return nil, err
	}
	if opt.Agents > mostAgents {
		return nil, fmt.Errorf("person: %d agents: the plaza holds %d", opt.Agents, mostAgents)
	}
	s := &Scene{of: of}
	s.Init(&opt.Options)
	if err := s.start(&opt); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Scene) start(opt *Options) (err error) {
	if s.own, err = s.of.Sized(); err != nil {
		return fmt.Errorf("person: %w", err)
	}
	ground, obstructs := &terrain.Decks{Base: s.Terrain}, &control.Obstacles{}
	if err := errors.Join(ground.Set(floors()...), obstructs.Set(obstacles()...)); err != nil {
		return err
	}
	// Steps and ramps are climbed, terraces are not. A person who walks over an edge falls.
	setting := animsys.Options{
		Ground: ground, Walls: &terrain.Edges{Ground: ground, Rise: 0.35, Walls: obstructs}, Characters: []*retarget.Character{s.own},
	}
	if opt.Styles != nil && opt.Styles.Fits(s.of.Skel) == nil {
		setting.Styles, setting.Known = opt.Styles, opt.Styles.InStyle(neutral)
	}
	if _, err := manifold.NewPoseStyler(opt.Transfers, s.of.Skel, 0); err == nil {
		setting.Transfers = opt.Transfers
	}
	stream, err := opt.Character.NewStream(matching.StreamOptions{Capacity: 1 + opt.Agents, Workers: opt.Workers, BF16: opt.BF16, Open: opt.Open, Nearest: opt.Nearest})
	if err != nil {
		return err
	}
	p, err := world.Add(&s.World, stream, setting, nil, func(row int) [3]float32 { return scenes.Clothes(row, s.Seed) })
	if err != nil {
		return err
	}
	s.Crowd, p.Own, p.Roles = p.Crowd, s.own, &s.of.Roles
	s.looks, s.moods, s.grams = generic.NewMap1[ecs.LookAt](&s.ECS), generic.NewMap1[ecs.MARStyle](&s.ECS), generic.NewMap1[ecs.GramStyle](&s.ECS)
	s.player = player.New(&s.ECS, s.of, s.own.Scale)
	s.roam = s.company()
	if err := s.Start(s.player, s.roam); err != nil {
		return err
	}
	for i := range 1 + opt.Agents {
		at, yaw := startAt, float32(0)
		if i > 0 {
			at, yaw = world.Sunflower(i)
			at = at.Add(plazaAt)
		}
		e, err := s.roam.Spawn(at, yaw)
		if err != nil {
			return err
		}
		if err := s.Crowd.SetCharacter(e, s.own); err != nil {
			return err
		}
		s.looks.Add(e)
	}
	s.hero = s.Crowd.Entity(0)
	s.player.Crowd, s.player.Hero = s.Crowd, s.hero
	s.hands.open(s)
	s.styles = []string{""}
	s.moods.Add(s.hero)
	s.grams.Add(s.hero)
	if setting.Styles != nil {
		s.mar = len(setting.Styles.Styles)
		s.styles = append(s.styles, setting.Styles.Styles...)
	}
	for _, t := range setting.Transfers {
		s.styles = append(s.styles, "gram "+t.Name)
	}
	s.blocks = still()
	return nil
}

// neutral is the style in which recordings are.
const neutral = "neutral"

// company returns the system of the people on the plaza, who stroll, look at each other, and keep off each other and the player.
func (s *Scene) company() *steer.Roam {
	goals := generic.NewMap1[control.Goal](&s.ECS)
	r := steer.NewRoam(s.Crowd, s.Seed, func(row int, want *control.Goal) {
		g := control.Goal{}
		if want.Action == control.Move {
			g = control.Goal{Action: control.Move, Move: m3.V(0, 0, 1), Speed: want.Speed, Turn: want.Turn}
		}
		*goals.Get(s.Crowd.Entity(row)) = g
	})
	r.Radius, r.Led, r.Slowest, r.Fastest = 5, 0, 0.9, 1.5
	r.Avoid = steer.NewPeople(s.Terrain, s.Crowd.Capacity(), steer.Person)
	if s.Crowd.Skel.Index("Head") >= 0 {
		r.Looks = func(row int) *ecs.LookAt { return s.looks.Get(s.Crowd.Entity(row)) }
	}
	return r
}

// Saves reports that distant people update less often.
func (*Scene) Saves() {}

// Step runs one tick. Reset puts the person back to the start.
func (s *Scene) Step(in scenes.Input) error {
	if in.Reset || steer.Inside(s.Terrain, s.Crowd.Roots[0].Pos) < 0 {
		if err := s.Crowd.Place(s.hero, startAt, 0); err != nil {
			return err
		}
		s.player.Release()
		s.hands.reset()
	}
	s.chooseStyle(&in)
	s.hands.act(s, in.Stand)
	in.Lie, in.Stand = false, false // these keys choose styles and take boxes
	s.player.Input = in
	s.ApplyLOD(&in, s.hero)
	if err := s.Tick(); err != nil {
		return err
	}
	s.hands.move(s)
	return nil
}

// chooseStyle changes to the next style when the player presses the key.
func (s *Scene) chooseStyle(in *scenes.Input) {
	if next := in.Lie && !s.styled && len(s.styles) > 1; next {
		s.style = (s.style + 1) % len(s.styles)
		w, g := s.moods.Get(s.hero), s.grams.Get(s.hero)
		*w, *g = ecs.MARStyle{}, ecs.GramStyle{}
		switch {
		case s.style > s.mar:
			*g = ecs.GramStyle{Style: s.style - s.mar - 1, Weight: 1}
		case s.style > 0:
			w.Weights[s.style-1] = 1
		}
	}
	s.styled = in.Lie
}

// Hash returns the hash of the people, of what is asked of the player's and of what it carries.
func (s *Scene) Hash() uint64 {
	return uint64(s.hands.hash(s.player.Hash(statehash.Hash(s.World.Hash()).Int(s.style).Bool(s.styled))))
}

// Frame describes what to draw.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.Terrain)
	dst.Blocks = append(dst.Blocks, s.blocks...)
	s.hands.draw(dst, alpha)
	s.Draw(dst, alpha)
	const eyes, far = 0.45, 4.2 // m, of the camera above the hips, and behind
	dst.Focus, dst.Heading, dst.InWorld = dst.Casts[0].Of(0)[0].Pos, s.Crowd.Roots[0].Rot.Yaw(), true
	dst.Focus.Y += eyes
	dst.Seat = scenes.Seat{Distance: far, Pitch: 0.24}
	s.DrawOverlays(dst, 0, 0, false, alpha)
	s.player.Texts(dst)
	if s.hands.able() {
		dst.Help, dst.GamepadHelp = append(dst.Help, "V: take a box, let go of it"), append(dst.GamepadHelp, "Y: take a box, let go of it")
	}
	if len(s.styles) > 1 {
		dst.Help, dst.GamepadHelp = append(dst.Help, "C: next style"), append(dst.GamepadHelp, "X: next style")
	}
	dst.HUD = append(dst.HUD, fmt.Sprintf("%.2f m/s", s.Speed))
	if s.style > 0 {
		dst.HUD = append(dst.HUD, "style: "+s.styles[s.style])
	}
	if s.hands.missed != "" {
		dst.HUD = append(dst.HUD, s.hands.missed)
	}
}

// Autopilot returns the input of a recording without a player: up the stairs, over the gap, down the ramp, back through the crowd, a
// turn at a run, sideways, a crouch and a jump.
func Autopilot() scenes.Script {
	type in = scenes.Input
	const run = scenes.Canter
	return scenes.Script{
		{Seconds: 1},
		{Seconds: 2.4, Input: in{Forward: 1, Gait: scenes.Pace}},
		{Seconds: 2.6, Input: in{Forward: 1}},
		{Seconds: 1.15, Input: in{Forward: 1, Gait: run}},
		{Seconds: 0.3, Input: in{Forward: 1, Jump: true}},
		{Seconds: 4.6, Input: in{Forward: 1, Gait: scenes.Trot}},
		{Seconds: 1.2, Input: in{Side: 1, Gait: run}},
		{Seconds: 3.6, Input: in{Forward: -1}},
		{Seconds: 0.8, Input: in{Forward: 1}},
		{Seconds: 0.05, Input: in{Lock: true}},
		{Seconds: 1.2, Input: in{Side: 1, Gait: scenes.Pace}},
		{Seconds: 1.2, Input: in{Side: -1}},
		{Seconds: 0.05, Input: in{Lock: true}},
		{Seconds: 1.5, Input: in{Own: 1}},
		{Seconds: 1.5, Input: in{Own: 1, Forward: -1}},
		{Seconds: 1},
		{Seconds: 0.2, Input: in{Jump: true}},
		{Seconds: 1.5},
	}
}
