package main

import (
	"encoding/binary"
	"errors"
	"math"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	dogfree "mannequin/models/dog-free"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Input is what a player does in a tick.
type Input struct{ Turn, Speed int8 }

const pack = 10 // dogs of a player

// Game is two packs of dogs. What happens in a tick follows from the state and the inputs alone.
type Game struct {
	world    arche.World
	crowd    *animsys.Crowd
	schedule *ecs.Schedule
	goals    generic.Map1[control.Goal]

	breath [2]float32 // of each pack, 0 to 1: state of the game itself
}

// NewGame returns the game before its first tick.
func NewGame() (*Game, error) {
	net, err := dogfree.Open()
	if err != nil {
		return nil, err
	}
	model, err := mann.NewModel(net)
	if err != nil {
		return nil, err
	}
	controller, err := model.NewController(mann.ControllerOptions{Capacity: 2 * pack})
	if err != nil {
		return nil, err
	}
	g := &Game{world: arche.NewWorld(), breath: [2]float32{1, 1}}
	if g.crowd, err = animsys.NewCrowd(&g.world, controller, animsys.Options{Ground: ik.Level(0)}); err != nil {
		return nil, err
	}
	if g.schedule, err = ecs.NewSchedule(&g.world, 1.0/animsys.TickRate, animsys.Systems()...); err != nil {
		return nil, errors.Join(err, g.crowd.Close())
	}
	g.goals = generic.NewMap1[control.Goal](&g.world)
	for i := range 2 * pack {
		if _, err := g.crowd.Spawn(m3.V(float32(i%pack), 0, float32(i/pack)*4), 0); err != nil {
			return nil, errors.Join(err, g.crowd.Close())
		}
	}
	return g, nil
}

// Step plays a tick.
func (g *Game) Step(in [2]Input) error {
	for player := range g.breath {
		speed := max(float32(in[player].Speed)/32, 0) // m/s
		g.breath[player] = min(max(g.breath[player]+0.002*(1-speed), 0.2), 1)
	}
	for row := range g.crowd.Agents() {
		player := row / pack
		*g.goals.Get(g.crowd.Entity(row)) = control.Goal{Move: m3.V(0, 0, 1), Turn: float32(in[player].Turn) / 127,
			Speed: max(float32(in[player].Speed)/32, 0) * g.breath[player], Action: control.Move}
	}
	return g.schedule.Step()
}

// Save appends the state to dst: the game's own, and that of the crowd.
func (g *Game) Save(dst []byte) ([]byte, error) {
	for _, v := range g.breath {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return g.crowd.Save(dst)
}

// Restore makes the state that of a save.
func (g *Game) Restore(save []byte) error {
	if len(save) < 8 {
		return errors.New("the save ends early")
	}
	for i := range g.breath {
		g.breath[i] = math.Float32frombits(binary.LittleEndian.Uint32(save[4*i:]))
	}
	return g.crowd.Restore(save[8:])
}

// Hash returns a checksum of what is seen.
func (g *Game) Hash() uint64 { return g.crowd.Hash() }

// Close ends the game.
func (g *Game) Close() error { return g.crowd.Close() }
