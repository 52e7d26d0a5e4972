package latent

import (
	"errors"
	"math"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/latent"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/scenes/internal/overlay"
	"mannequin/scenes/world"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// others are the people who walk about by themselves.
type others struct {
	world.World
	crowd *animsys.Crowd
}

const (
	nearest  = 5   // of the rings on which they begin, m
	ringGap  = 2   // from one ring to the next, m
	roomEach = 2.5 // along a ring, m
)

// newOthers returns the others, around the origin.
func newOthers(opt *Options) (*others, error) {
	o := &others{}
	o.Init(&opt.Options)
	n := opt.Agents
	stream, err := opt.Model.NewStream(opt.Next, latent.StreamOptions{People: n, Workers: opt.Workers, Open: opt.Open, BF16: opt.BF16})
	if err != nil {
		return nil, err
	}
	people, err := world.Add(&o.World, stream, animsys.Options{}, overlay.Places(stream.Preview, 3), func(row int) [3]float32 { return scenes.Clothes(row, 2) })
	if err == nil {
		o.crowd = people.Crowd
		err = o.populate(opt)
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// populate starts the world and puts the people on rings around the origin.
func (o *others) populate(opt *Options) error {
	about, err := newAbout(o.crowd, opt)
	if err != nil {
		return err
	}
	if err := o.Start(about); err != nil {
		return err
	}
	for ring := float32(nearest); o.Agents() < opt.Agents; ring += ringGap {
		places := int(2 * math.Pi * ring / roomEach)
		for k := 0; k < places && o.Agents() < opt.Agents; k++ {
			sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(places))
			at := m3.V(ring*float32(sin), 0, ring*float32(cos))
			if err := about.spawn(&o.ECS, at, m3.WrapAngle(float32(7*k)+ring)); err != nil {
				return err
			}
		}
	}
	return nil
}

// about is the system that has strollers with a scenes.Wander walk about where they
// began: it sets their sliders.
type about struct {
	crowd    *animsys.Crowd
	model    *latent.Model
	wander   *control.Wander
	steering *latent.Steering
	seed     uint64
	goals    []control.Goal // (rows)
	filter   generic.Filter3[ecs.Slot, latent.Sliders, scenes.Wander]
}

const (
	homeRange = 6   // how far from where they began they stay, m
	slowest   = 0.9 // m/s
	fastest   = 2.2
)

func newAbout(s *animsys.Crowd, opt *Options) (*about, error) {
	steering, err := opt.Model.NewSteering(opt.Next, opt.Workers)
	if err != nil {
		return nil, err
	}
	n := s.Rows.Cap()
	a := &about{crowd: s, model: opt.Model, wander: control.NewWander(n, opt.Seed), steering: steering, seed: opt.Seed, goals: make([]control.Goal, n)}
	a.wander.Radius, a.wander.Rest = homeRange, 0
	return a, nil
}

// spawn brings one more, with a bearing of their own: how they lean, and bend.
func (a *about) spawn(w *arche.World, at m3.Vec3, yaw float32) error {
	row := a.crowd.Agents()
	e, err := a.crowd.Spawn(at, yaw)
	if err != nil {
		return err
	}
	wander, sliders := generic.NewMap1[scenes.Wander](w), generic.NewMap1[latent.Sliders](w)
	wander.Assign(e, &scenes.Wander{})
	a.wander.Reset(row, a.seed+uint64(row), at)
	for i, name := range bearings {
		sliders.Get(e).Set(a.model.Components.Index(name), 1.5*float32(math.Sin(float64((i+2)*row)+float64(a.seed))))
	}
	return nil
}

// bearings are components that make people differ.
var bearings = []string{"lean", "bend"}

// Initialize builds the filter.
func (a *about) Initialize(*arche.World) {
	a.filter = *generic.NewFilter3[ecs.Slot, latent.Sliders, scenes.Wander]()
}

// Update sets the sliders.
func (a *about) Update(w *arche.World) {
	n := a.crowd.Agents()
	a.wander.Update(a.goals, a.crowd.Roots, 1.0/scenes.TickRate, 0, n)
	for q := a.filter.Query(w); q.Next(); {
		slot, sliders, _ := q.Get()
		g := &a.goals[slot.Row]
		a.steering.Steer(sliders, g.Turn*control.MaxTurn, m3.Clamp(g.Speed, slowest, fastest))
	}
}

// Finalize has nothing to do.
func (a *about) Finalize(*arche.World) {}
