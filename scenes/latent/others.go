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
	"mannequin/scenes/internal/marks"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// others are the people who walk about by themselves.
type others struct {
	world    arche.World
	crowd    *animsys.Crowd
	schedule *ecs.Schedule
	marks    *marks.Marks
}

const (
	nearest  = 5   // of the rings on which they begin, m
	ringGap  = 2   // from one ring to the next, m
	roomEach = 2.5 // along a ring, m
)

// newOthers returns n of them, around the origin.
func newOthers(n int, opt *Options) (_ *others, err error) {
	o := &others{world: arche.NewWorld()}
	stream, err := opt.Model.NewStream(opt.Next, latent.StreamOptions{People: n, Workers: opt.Workers, Open: opt.Open, BF16: opt.BF16})
	if err != nil {
		return nil, err
	}
	if o.crowd, err = animsys.NewCrowd(&o.world, stream, animsys.Options{Ground: opt.Terrain, Workers: opt.Workers}); err != nil {
		return nil, errors.Join(err, stream.Close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.crowd.Close())
		}
	}()
	about, err := newAbout(o.crowd, opt)
	if err != nil {
		return nil, err
	}
	if o.schedule, err = ecs.NewSchedule(&o.world, 1.0/scenes.TickRate, append([]ecs.System{about}, animsys.Systems()...)...); err != nil {
		return nil, err
	}
	o.marks = marks.New(marks.Of(o.crowd, opt.Terrain, marks.Places(stream.Ahead, 3)))
	for ring := float32(nearest); o.crowd.Agents() < n; ring += ringGap {
		places := int(2 * math.Pi * ring / roomEach)
		for k := 0; k < places && o.crowd.Agents() < n; k++ {
			sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(places))
			at := m3.V(ring*float32(sin), 0, ring*float32(cos))
			if err := about.spawn(&o.world, at, m3.WrapAngle(float32(7*k)+ring)); err != nil {
				return nil, err
			}
		}
	}
	return o, nil
}

// step runs one tick.
func (o *others) step() error {
	if err := o.schedule.Step(); err != nil {
		return err
	}
	o.marks.Step(o.crowd.Agents())
	return nil
}

func (o *others) close() error {
	o.schedule.Close()
	return o.crowd.Close()
}

// about is the system that has strollers with an ecs.Wander walk about where they
// began: it sets their sliders.
type about struct {
	crowd    *animsys.Crowd
	model    *latent.Model
	wander   *control.Wander
	steering *latent.Steering
	seed     uint64
	goals    []control.Goal // (rows)
	filter   generic.Filter3[ecs.Slot, latent.Sliders, ecs.Wander]
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
	wander, sliders := generic.NewMap1[ecs.Wander](w), generic.NewMap1[latent.Sliders](w)
	wander.Assign(e, &ecs.Wander{})
	a.wander.Reset(row, a.seed+uint64(row), at)
	for i, name := range bearings {
		sliders.Get(e).Ask(a.model.Components.Index(name), 1.5*float32(math.Sin(float64((i+2)*row)+float64(a.seed))))
	}
	return nil
}

// bearings are components that make people differ.
var bearings = []string{"lean", "bend"}

// Initialize builds the filter.
func (a *about) Initialize(*arche.World) {
	a.filter = *generic.NewFilter3[ecs.Slot, latent.Sliders, ecs.Wander]()
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
