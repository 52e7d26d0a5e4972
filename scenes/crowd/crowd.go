// Package crowd is the scene of dogs and people of every generator. They walk between spots, along
// lanes and in packs, avoid rocks and each other, and are added and removed.
package crowd

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"mannequin/animsys/keypose"
	"mannequin/animsys/latent"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/mar"
	"mannequin/animsys/matching"
	"mannequin/animsys/resident"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/hud"
	"mannequin/internal/statehash"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/world"

	arche "github.com/mlange-42/arche/ecs"
)

// Options configure the scene. 100 agents are usual. Agents without a network stay away.
type Options struct {
	world.Options
	Room  int     // largest number of agents at a time, at least Agents; 0 is half as many again
	Churn float32 // agents that are added, and as many removed, per second

	Dog *mann.Model
	Far []*mann.Model // for distant dogs: see mann.ControllerOptions

	Latent *latent.Model
	Next   *netruntime.Net // see latent.Model.NewStream

	STRNN *strnn.Model // with a guide

	People    *manifold.Networks
	Styles    *mar.Database             // of ecs.MARStyle; nil is none
	Transfers []*manifold.StyleTransfer // of ecs.GramStyle

	Keypose *keypose.Model // of people who perform on their spots

	Character *matching.File // of animals or people of mannequin make, who go beside the others

	// Beyond is the distance from the camera from which on those of Character live on a GPU, m; 0: none does. GPU says on which, and Bind if
	// that draws them; the scene sets capacity and ground. Without a GPU, as if it is nil, all stay on the processor.
	Beyond float32
	GPU    *resident.Options
}

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	world.World
	populations []*population
	place       *place
	steer       *steering
	rng         *rand.Rand
	tick        int
	want        int // number of agents that is asked for
	room        int
	churn       float32 // per tick
	due         float32 // agents to replace
	born        int
	pack        arche.Entity // the leader of the last pack
	inPack      int
	watched     arche.Entity // the zero entity: all of them
	pressed     bool
	panel       hud.Panel
	asked       bool // for a GPU
}

var (
	_ scenes.Scene  = (*Scene)(nil)
	_ scenes.Traced = (*Scene)(nil)
	_ scenes.Saver  = (*Scene)(nil)

	_ scenes.Resident = (*Scene)(nil)
)

// New builds the scene.
func New(opt Options) (*Scene, error) {
	if err := opt.Complete("crowd", 100, GroundSize); err != nil {
		return nil, err
	}
	if opt.Room == 0 {
		opt.Room = min(opt.Agents+opt.Agents/2+8, world.MaxAgents)
	}
	switch {
	case opt.Room < opt.Agents || opt.Room > world.MaxAgents:
		return nil, fmt.Errorf("crowd: room for %d of %d agents: want all of them, and at most %d", opt.Room, opt.Agents, world.MaxAgents)
	case !(opt.Churn >= 0 && opt.Churn <= 1000):
		return nil, fmt.Errorf("crowd: Options.Churn %g: want 0 to 1000 agents per second", opt.Churn)
	}
	s := &Scene{want: opt.Agents, room: opt.Room, churn: opt.Churn / scenes.TickRate, rng: rand.New(rand.NewPCG(opt.Seed, 11))}
	var err error
	if s.place, err = newPlace(opt.Terrain, opt.Agents, opt.Seed); err != nil {
		return nil, err
	}
	opt.Terrain = s.place.field
	s.Init(&opt.Options)
	if err = s.open(&opt); err == nil {
		s.steer = &steering{s: s}
		systems := []ecs.System{s.steer}
		for _, p := range s.populations {
			if p.far != nil {
				systems = append(systems, p.far)
			}
		}
		err = s.Start(systems...)
	}
	for err == nil && s.Agents() < s.want {
		err = s.add()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.panel = hud.Panel{Title: "crowd", Sliders: []hud.Slider{
		{Label: "agents", Value: float32(s.want), Min: 1, Max: float32(s.room), Whole: true},
		{Label: "come and go, 1/s", Value: opt.Churn, Min: 0, Max: 100, Whole: true},
	}}
	return s, nil
}

// Saves marks a scenes.Saver.
func (s *Scene) Saves() {}

// Step runs one tick.
func (s *Scene) Step(in scenes.Input) error {
	if i := s.panel.Turn(in.Touch); i == 0 {
		s.want = int(s.panel.Sliders[0].Value + 0.5)
	} else if i == 1 {
		s.churn = s.panel.Sliders[1].Value / scenes.TickRate
	}
	if err := s.churnAgents(); err != nil {
		return err
	}
	switch {
	case in.Reset:
		s.watched = arche.Entity{}
	case in.Jump && !s.pressed:
		s.watched = s.next()
	}
	s.pressed = in.Jump
	s.ApplyLOD(&in, s.watched)
	for _, p := range s.populations {
		if p.far != nil {
			if err := p.far.Move(&in, s.watched); err != nil {
				return err
			}
		}
	}
	if err := s.Tick(); err != nil {
		return err
	}
	for _, p := range s.populations {
		if p.far != nil && p.far.Err() != nil {
			return p.far.Err()
		}
	}
	return nil
}

// Agents returns the number of agents, wherever they live.
func (s *Scene) Agents() (n int) {
	for _, p := range s.populations {
		n += p.size()
	}
	return n
}

// OnGPU returns the number of agents on the GPU, and its name.
func (s *Scene) OnGPU() (agents int, device string) {
	for _, p := range s.populations {
		if p.far != nil && p.far.Device() != "" {
			return p.far.Away(), p.far.Device()
		}
	}
	return 0, ""
}

// Close stops the workers, and leaves the GPU.
func (s *Scene) Close() error {
	err := s.World.Close()
	for _, p := range s.populations {
		if p.far != nil {
			err = errors.Join(err, p.far.Close())
		}
	}
	return err
}

// watchedRow returns the row of p that is watched, −1 if it is none of them.
func (s *Scene) watchedRow(p *population) int {
	if row, ok := p.Row(s.watched); ok && !s.watched.IsZero() {
		return row
	}
	return -1
}

// next returns the agent after the one that is watched.
func (s *Scene) next() arche.Entity {
	found := s.watched.IsZero()
	var first arche.Entity
	for _, p := range s.populations {
		for row := range p.Agents() {
			e := p.Entity(row)
			if found {
				return e
			}
			if first.IsZero() {
				first = e
			}
			found = e == s.watched
		}
	}
	return first
}

// Hash returns the hash of all agents, of what the panel asks for, and of the selection.
func (s *Scene) Hash() uint64 {
	h := statehash.New.Int(s.want).Floats(s.churn).Uint(uint64(s.watched.ID()))
	for _, p := range s.populations {
		if p.far != nil {
			h = h.Uint(p.far.Hash(p.Hash()))
		} else {
			h = h.Uint(p.Hash())
		}
	}
	return uint64(h)
}
