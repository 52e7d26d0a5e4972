// Package course is the scene of an obstacle course: the player's dog among walls, ramps, stairs and
// ledges, people in a corridor, and a platform with riders.
package course

import (
	"errors"
	"fmt"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/strnn"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/internal/statehash"
	"mannequin/scenes"
	"mannequin/scenes/internal/steer"
	"mannequin/scenes/internal/yard"
	"mannequin/scenes/quadruped"
	"mannequin/scenes/world"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Options configure the scene. Agents are the people in the corridor; three are usual. The terrain
// is level.
type Options struct {
	world.Options
	Dog    *mann.Model   // required
	Far    []*mann.Model // for a distant dog: see mann.ControllerOptions
	People *strnn.Model  // with a guide: see strnn.Model.NewStream; required
}

// GroundSize is the width of the terrain, m.
const GroundSize = 120

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	world.Pack
	People *animsys.Crowd

	decks  *terrain.Decks
	floors []terrain.Deck // the first is the platform
	tick   int
	drive  *quadruped.Drive
	dog    arche.Entity
	steers generic.Map1[strnn.Steer]
	blocks []hud.Block // that stand still
}

var (
	_ scenes.Scene  = (*Scene)(nil)
	_ scenes.Traced = (*Scene)(nil)
)

// New builds the scene.
func New(opt Options) (*Scene, error) {
	if opt.Dog == nil || opt.People == nil {
		return nil, errors.New("course: Options.Dog or Options.People is missing")
	}
	var err error
	if opt.Terrain, err = terrain.Flat(terrain.Grid{Size: GroundSize, Cell: 0.5}); err != nil {
		return nil, err
	}
	if err := opt.Complete("course", 3, func(int) float32 { return GroundSize }); err != nil {
		return nil, err
	}
	s := &Scene{decks: &terrain.Decks{}, floors: allFloors()}
	if err := s.start(&opt); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Scene) start(opt *Options) error {
	walls := &control.Obstacles{}
	if err := errors.Join(s.decks.Set(s.floors...), walls.Set(obstacles()...)); err != nil {
		return err
	}
	// Steps and ramps are climbed, ledges are not. Who goes over an edge falls.
	setting := animsys.Options{Ground: s.decks, Walls: &terrain.Edges{Ground: s.decks, Rise: 0.35, Walls: walls}}
	if err := s.Init(&opt.Options, opt.Dog, opt.Far, 1, setting); err != nil {
		return err
	}
	stream, err := opt.People.NewStream(strnn.StreamOptions{Capacity: riders + opt.Agents, Seed: opt.Seed, Workers: opt.Workers, Open: opt.Open, BF16: opt.BF16})
	if err != nil {
		return err
	}
	people, err := world.Add(&s.World, stream, setting, nil, func(row int) [3]float32 { return scenes.Clothes(row, s.Seed) })
	if err != nil {
		return err
	}
	s.People, s.steers = people.Crowd, generic.NewMap1[strnn.Steer](&s.ECS)
	s.drive = quadruped.NewDrive(&s.ECS)
	if err := s.Start(s.drive, &corridor{scene: s}); err != nil {
		return err
	}
	if s.dog, err = s.Crowd.Spawn(startAt, 0); err != nil {
		return err
	}
	s.drive.Dog = s.dog
	for i := range riders {
		at := platform.At.Add(m3.V(float32(i)-0.5, 0, 0.9))
		if _, err := s.People.Spawn(at, 3); err != nil {
			return err
		}
	}
	for i := range opt.Agents {
		if _, err := s.People.Spawn(m3.V(corridorX, 0, -corridorLong+3+float32(i)*(2*corridorLong-6)/float32(max(opt.Agents-1, 1))), 0); err != nil {
			return err
		}
	}
	s.blocks = still()
	return nil
}

// Step runs one tick. Reset puts the dog back to the start.
func (s *Scene) Step(in scenes.Input) error {
	if in.Reset || steer.Inside(s.Terrain, s.Crowd.Roots[0].Pos) < 0 {
		if err := s.Crowd.Place(s.dog, startAt, 0); err != nil {
			return err
		}
	}
	s.drive.Input = in
	s.tick++
	lift := &s.floors[0]
	was := lift.At
	lift.At.X = platform.At.X + swing(float32(s.tick)/scenes.TickRate)
	lift.Moved = lift.At.Sub(was)
	if err := s.decks.Set(s.floors...); err != nil {
		return err
	}
	s.ApplyLOD(&in, s.dog)
	return s.Tick()
}

// Hash returns the hash of the dog, the people, the platform and the chosen gait.
func (s *Scene) Hash() uint64 {
	return uint64(statehash.Hash(s.Pack.Hash()).Int(int(s.People.Hash())).Int(s.tick).Int(s.drive.Gait()))
}

// Frame describes what to draw.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.Terrain)
	dst.Blocks = append(dst.Blocks, s.blocks...)
	now := s.floors[0]
	now.At = now.At.Sub(now.Moved.Scale(1 - alpha))
	dst.Blocks = append(dst.Blocks, yard.DeckBlock(&now, yard.Wood))
	s.Draw(dst, alpha)
	dst.Focus = dst.Casts[0].Of(0)[0].Pos
	dst.Heading = s.Crowd.Roots[0].Rot.Yaw()
	s.DrawOverlays(dst, 0, 0, false, alpha)
	s.drive.Texts(dst)
	dst.HUD = append(dst.HUD, fmt.Sprintf("height of the floor: %.2f m", s.Crowd.Ground.Body[0].Floor()))
}

// corridor is the system that leads people up and down the corridor. Walls do the rest.
type corridor struct {
	steer.Passive
	scene *Scene
	back  []bool // (people) on the way to the corridor's low end
}

// Update sets the people's controls.
func (c *corridor) Update(*arche.World) {
	p := c.scene.People
	for len(c.back) < p.Agents() {
		c.back = append(c.back, len(c.back)%2 == 1)
	}
	for row := riders; row < p.Agents(); row++ {
		at := p.Roots[row]
		if m3.Abs(at.Pos.Z) > corridorLong-2 {
			c.back[row] = at.Pos.Z > 0
		}
		to := m3.V(2*(corridorX-at.Pos.X), 0, 4)
		if c.back[row] {
			to.Z = -to.Z
		}
		off := m3.WrapAngle(m3.YawOf(to) - at.Rot.Yaw())
		*c.scene.steers.Get(p.Entity(row)) = strnn.Steer{Speed: 1.2 - 0.4*min(m3.Abs(off), 1), Turn: m3.Clamp(1.5*off, -strnn.MaxTurn, strnn.MaxTurn)}
	}
}

// Autopilot returns the input of a recording without a player: up the ramp, over on the platform, down
// the stairs, and along the wall of the corridor.
func Autopilot() scenes.Script {
	type in = scenes.Input
	return scenes.Script{
		{Seconds: 0.8},
		{Seconds: 7.7, Input: in{Forward: 1, Gait: scenes.Pace}},
		{Seconds: 1.5, Input: in{Forward: 1, Turn: -1}},
		{Seconds: 1.8, Input: in{Forward: 1}},
		{Seconds: 6.2},
		{Seconds: 1.9, Input: in{Forward: 1}},
		{Seconds: 1.5, Input: in{Forward: 1, Turn: -1}},
		{Seconds: 5, Input: in{Forward: 1}},
		{Seconds: 1, Input: in{Forward: 1, Turn: 0.6}},
		{Seconds: 9, Input: in{Forward: 1}},
		{Seconds: 2, Input: in{Sit: true}},
	}
}
