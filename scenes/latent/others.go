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
	"mannequin/scenes/internal/steer"
	"mannequin/scenes/world"

	"github.com/mlange-42/arche/generic"
)

// others are the people who walk about by themselves.
type others struct{ world.World }

// The settings of the others.
const (
	nearest   = 5   // radius of the innermost ring on which they begin, m
	ringGap   = 2   // from one ring to the next, m
	roomEach  = 2.5 // along a ring, m
	homeRange = 6   // distance from where they began at which they turn back, m
	slowest   = 0.9 // m/s
	fastest   = 1.6
)

// newOthers returns the others, around the origin. They keep off the body.
func newOthers(opt *Options, b *body) (*others, error) {
	o := &others{}
	o.Init(&opt.Options)
	stream, err := opt.Model.NewStream(opt.Next, latent.StreamOptions{Capacity: opt.Agents, Workers: opt.Workers, Open: opt.Open, BF16: opt.BF16})
	if err != nil {
		return nil, err
	}
	people, err := world.Add(&o.World, stream, animsys.Options{}, overlay.Places(stream.Preview, 3), func(row int) [3]float32 { return scenes.Clothes(row, 2) })
	if err == nil {
		err = o.start(people.Crowd, opt, b)
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// bearings are components that make people differ.
var bearings = []string{"lean", "bend"}

// start starts the world and puts the people on rings around the origin, from where they walk away, each
// with their own bearing.
func (o *others) start(people *animsys.Crowd, opt *Options, b *body) error {
	steering, err := opt.Model.NewSteering(opt.Next, opt.Workers)
	if err != nil {
		return err
	}
	sliders := generic.NewMap1[latent.Sliders](&o.ECS)
	roam := steer.NewRoam(people, opt.Seed, func(row int, goal *control.Goal) {
		steering.Steer(sliders.Get(people.Entity(row)), goal.Turn*control.MaxTurn, goal.Speed)
	})
	roam.Radius, roam.Rest, roam.Slowest, roam.Fastest = homeRange, 0, slowest, fastest
	if !opt.NoAvoidance {
		avoid := steer.NewPeople(opt.Terrain, opt.Agents, steer.OnSliders)
		avoid.Character = b.walks
		roam.Avoid = avoid
	}
	looks := generic.NewMap1[ecs.LookAt](&o.ECS)
	roam.Looks = func(row int) *ecs.LookAt { return looks.Get(people.Entity(row)) }
	if err := o.Start(roam); err != nil {
		return err
	}
	for ring := float32(nearest); o.Agents() < opt.Agents; ring += ringGap {
		places := int(2 * math.Pi * ring / roomEach)
		for k := 0; k < places && o.Agents() < opt.Agents; k++ {
			sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(places))
			at, row := m3.V(ring*float32(sin), 0, ring*float32(cos)), o.Agents()
			e, err := roam.Spawn(at, m3.YawOf(at))
			if err != nil {
				return err
			}
			looks.Add(e)
			for i, name := range bearings {
				sliders.Get(e).Set(opt.Model.Components.Index(name), 1.5*float32(math.Sin(float64((i+2)*row)+float64(opt.Seed))))
			}
		}
	}
	return nil
}
