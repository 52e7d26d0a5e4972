// Package crowd is the scene of dogs and people together, moved by every generator that
// there is, who go about between spots, along lanes and in packs, around rocks and each
// other; and who come and go.
package crowd

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"mannequin/animsys"
	"mannequin/animsys/keypose"
	"mannequin/animsys/latent"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/mar"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/internal/statehash"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/internal/grid"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
)

// Options configure the scene. Who has no network does not come.
type Options struct {
	Agents  int            // at most MaxAgents; 0 means 100
	Room    int            // most of them at a time, at least Agents; 0 means half as many again
	Terrain *terrain.Field // around the origin, GroundSize wide; nil makes hills from Seed
	Seed    uint64
	Churn   float32 // so many come and so many go per second
	Workers int     // goroutines that share the rows; 0 means one per CPU
	Open    netruntime.Opener
	BF16    bool // networks in bfloat16 where the processor has it: see netruntime.SessionOptions

	Dog *mann.Model
	Far []*mann.Model // for dogs far away: see mann.ControllerOptions

	Latent *latent.Model
	Next   *netruntime.Net // see latent.Model.NewStream

	STRNN *strnn.Model // with a guide

	People    *manifold.Networks
	Styles    *mar.Database             // nil: nobody has a style of these
	Transfers []*manifold.StyleTransfer // the same

	Keypose *keypose.Model // of those who perform on their spots

	LOD *animsys.LODPolicy // nil is animsys.DefaultLOD
}

// MaxAgents is the most in the scene.
const MaxAgents = 4096

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	World    arche.World
	Schedule *ecs.Schedule

	kinds   []*kind
	place   *place
	steer   *steer
	grid    *grid.Grid
	lod     animsys.LODPolicy
	rng     *rand.Rand
	tick    int
	want    int // agents that there shall be
	room    int
	churn   float32 // per tick
	due     float32 // of those who come and go
	seed    uint64
	born    int
	pack    arche.Entity // the leader of the last pack
	inPack  int
	watched arche.Entity // none: all of them
	pressed bool
	panel   hud.Panel
}

var (
	_ scenes.Scene  = (*Scene)(nil)
	_ scenes.Traced = (*Scene)(nil)
	_ scenes.Saver  = (*Scene)(nil)
)

// New builds the scene.
func New(opt Options) (*Scene, error) {
	if opt.Agents == 0 {
		opt.Agents = 100
	}
	if opt.Room == 0 {
		opt.Room = min(opt.Agents+opt.Agents/2+8, MaxAgents)
	}
	switch {
	case opt.Agents < 1 || opt.Agents > MaxAgents:
		return nil, fmt.Errorf("crowd: %d agents: want 1 to %d", opt.Agents, MaxAgents)
	case opt.Room < opt.Agents || opt.Room > MaxAgents:
		return nil, fmt.Errorf("crowd: room for %d of %d agents: want all of them, and at most %d", opt.Room, opt.Agents, MaxAgents)
	case !(opt.Churn >= 0 && opt.Churn <= 1000):
		return nil, fmt.Errorf("crowd: %g who come and go per second: want 0 to 1000", opt.Churn)
	}
	if opt.Terrain == nil {
		var err error
		if opt.Terrain, err = terrain.Hills(terrain.Grid{Size: GroundSize(opt.Agents), Cell: 0.5}, terrain.HillsOptions{Seed: opt.Seed, Wavelength: 16, MaxSlope: 12 * math.Pi / 180}); err != nil {
			return nil, err
		}
	}
	s := &Scene{World: arche.NewWorld(), want: opt.Agents, room: opt.Room, churn: opt.Churn / scenes.TickRate, seed: opt.Seed, rng: rand.New(rand.NewPCG(opt.Seed, 11)), lod: animsys.DefaultLOD()}
	if opt.LOD != nil {
		s.lod = *opt.LOD
	}
	if err := opt.Terrain.Validate(); err != nil {
		return nil, err
	}
	var err error
	if s.place, err = newPlace(opt.Terrain, opt.Agents, opt.Seed); err != nil {
		return nil, err
	}
	if err := s.open(&opt); err != nil {
		return nil, errors.Join(err, s.closeKinds())
	}
	reach := s.place.radius + edge
	s.steer = &steer{s: s, at: make([]m3.Vec3, opt.Room), v: make([]m3.Vec3, opt.Room)}
	s.grid = grid.New(-reach, -reach, reach, reach, personal, opt.Room)
	if s.Schedule, err = ecs.NewSchedule(&s.World, 1.0/scenes.TickRate, append([]ecs.System{s.steer}, animsys.Systems()...)...); err != nil {
		return nil, errors.Join(err, s.closeKinds())
	}
	for s.Agents() < s.want {
		if err := s.come(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	s.panel = hud.Panel{Title: "crowd", Sliders: []hud.Slider{
		{Label: "agents", Value: float32(s.want), Min: 1, Max: float32(s.room), Whole: true},
		{Label: "come and go, 1/s", Value: opt.Churn, Min: 0, Max: 100, Whole: true},
	}}
	return s, nil
}

func (s *Scene) closeKinds() (err error) {
	for _, k := range s.kinds {
		err = errors.Join(err, k.crowd.Close())
	}
	return err
}

// Close stops the scene's workers.
func (s *Scene) Close() error {
	s.Schedule.Close()
	return s.closeKinds()
}

// Agents returns how many there are.
func (s *Scene) Agents() (n int) {
	for _, k := range s.kinds {
		n += k.crowd.Agents()
	}
	return n
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
	if err := s.comeAndGo(); err != nil {
		return err
	}
	switch {
	case in.Reset:
		s.watched = arche.Entity{}
	case in.Jump && !s.pressed:
		s.watched = s.next()
	}
	s.pressed = in.Jump
	if in.Watched {
		for _, k := range s.kinds {
			k.crowd.ApplyLOD(&s.lod, in.Eye, in.Ahead, in.Saving)
			if s.watchedRow(k) >= 0 {
				if err := k.crowd.SetUpdateRate(s.watched, animsys.EveryTick); err != nil {
					return err
				}
			}
		}
	}
	if err := s.Schedule.Step(); err != nil {
		return err
	}
	for _, k := range s.kinds {
		k.marks.Step(k.crowd.Agents())
	}
	return nil
}

// watchedRow returns the row of k who is watched, −1 where it is none of them.
func (s *Scene) watchedRow(k *kind) int {
	if row, ok := k.crowd.Rows.Row(s.watched); ok && !s.watched.IsZero() {
		return row
	}
	return -1
}

// next returns who is watched after the one who is.
func (s *Scene) next() arche.Entity {
	found := s.watched.IsZero()
	var first arche.Entity
	for _, k := range s.kinds {
		for row := range k.crowd.Agents() {
			e := k.crowd.Rows.Entity(row)
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

// Hash sums up everybody, what the panel asks for, and who is watched.
func (s *Scene) Hash() uint64 {
	h := statehash.New.Int(s.want).Floats(s.churn).Uint(uint64(s.watched.ID()))
	for _, k := range s.kinds {
		h = h.Uint(k.crowd.Hash())
	}
	return uint64(h)
}
