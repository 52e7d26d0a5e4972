package crowd

import (
	"errors"
	"fmt"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/keypose"
	"mannequin/animsys/keypose/routines"
	"mannequin/animsys/latent"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/scenes/internal/overlay"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// kind is all who are moved by the same generator: how they come, how they go, and how
// they are told where to go.
type kind struct {
	name   string
	share  int // of a hundred
	crowd  *animsys.Crowd
	spawn  func(at m3.Vec3, yaw float32, m *mind) (arche.Entity, error)
	tell   func(e arche.Entity, row int, m *mind, w wish) // what to do
	born   func(e arche.Entity, m *mind)                  // sets what they keep all their life
	minds  []mind                                         // (rows)
	ahead  func(dst []m3.Vec3, row int) []m3.Vec3         // where they are about to go; nil: nobody knows
	marks  *overlay.Overlay
	laned  bool // they go along lanes
	stays  bool // they stay where they are
	dogs   bool
	glance float32 // s ahead for which they look out for rocks: longer, the later they do as they are told
}

// wish is where someone wants to go now.
type wish struct {
	ahead m3.Vec3 // unit, on the ground
	speed float32 // m/s, 0 is to stand
	rest  control.Action
}

// Agents' shares of a hundred, by generator.
const (
	dogShare       = 50
	strollerShare  = 26
	wandererShare  = 8
	peopleShare    = 10
	performerShare = 6
)

// authors is how many different ways there are to perform a routine.
const authors = 8

// How fast who goes, m/s.
const (
	strollSlow, strollFast = 0.9, 2.2
	wanderSlow, wanderFast = 1.0, 1.6
	laneSlow, laneFast     = 1.1, 1.9
)

// open makes room for those of each kind whose networks there are, by their shares.
func (s *Scene) open(o *Options) error {
	offers := []struct {
		there bool
		share int
		open  func(o *Options, n int) error
	}{
		{o.Dog != nil, dogShare, s.openDogs},
		{o.Latent != nil && o.Next != nil, strollerShare, s.openStrollers},
		{o.STRNN != nil, wandererShare, s.openWanderers},
		{o.People != nil, peopleShare, s.openPeople},
		{o.Keypose != nil, performerShare, s.openPerformers},
	}
	all := 0
	for _, k := range offers {
		if k.there {
			all += k.share
		}
	}
	if all == 0 {
		return fmt.Errorf("crowd: Options has no network: want a dog's, or people's")
	}
	for _, k := range offers {
		if k.there {
			if err := k.open(o, (o.Room*k.share+all-1)/all+2); err != nil {
				return err
			}
		}
	}
	for _, k := range s.kinds {
		k.minds = make([]mind, k.crowd.Rows.Cap())
		k.marks = overlay.New(overlay.Of(k.crowd, s.place.field, k.ahead))
	}
	return nil
}

// inhabit makes the crowd of a generator.
func inhabit[C any](s *Scene, o *Options, g generator.Generator[C], opt animsys.Options) (*animsys.Crowd, error) {
	opt.Ground, opt.Workers = s.place.field, o.Workers
	c, err := animsys.NewCrowd(&s.World, g, opt)
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return c, nil
}

// openDogs makes dogs, who go in packs.
func (s *Scene) openDogs(o *Options, n int) error {
	dogs, err := o.Dog.NewController(mann.ControllerOptions{Capacity: n, Workers: o.Workers, BF16: o.BF16, Open: o.Open, LOD: o.Far})
	if err != nil {
		return err
	}
	c, err := inhabit(s, o, dogs, animsys.Options{})
	if err != nil {
		return err
	}
	goals := generic.NewMap1[control.Goal](&s.World)
	s.kinds = append(s.kinds, &kind{name: "dogs", glance: 0.8, share: dogShare, crowd: c, spawn: anyone(c.Spawn), dogs: true,
		tell: func(e arche.Entity, row int, m *mind, w wish) {
			yaw := c.Roots[row].Rot.Yaw()
			g := control.Goal{Action: w.rest}
			if w.speed > 0 {
				g = control.Goal{Action: control.Move, Move: m3.V(0, 0, 1), Speed: w.speed, Turn: control.Steer(yaw, m3.YawOf(w.ahead))}
			}
			*goals.Get(e) = g
		}})
	return nil
}

// openStrollers makes people who walk by sliders.
func (s *Scene) openStrollers(o *Options, n int) error {
	stream, err := o.Latent.NewStream(o.Next, latent.StreamOptions{People: n, Workers: o.Workers, BF16: o.BF16, Open: o.Open, Every: 5})
	if err != nil {
		return err
	}
	c, err := inhabit(s, o, stream, animsys.Options{})
	if err != nil {
		return err
	}
	steering, err := o.Latent.NewSteering(o.Next, max(o.Workers, 1))
	if err != nil {
		return errors.Join(err, c.Close())
	}
	sliders := generic.NewMap1[latent.Sliders](&s.World)
	bearing := [...]int{o.Latent.Components.Index("lean"), o.Latent.Components.Index("bend")}
	s.kinds = append(s.kinds, &kind{name: "on sliders", ahead: overlay.Places(stream.Preview, 10), glance: 1.2, share: strollerShare, crowd: c, spawn: anyone(c.Spawn),
		born: func(e arche.Entity, m *mind) {
			for _, k := range bearing {
				sliders.Get(e).Set(k, 1.5*(2*m.uniform()-1))
			}
		},
		tell: func(e arche.Entity, row int, m *mind, w wish) {
			yaw := c.Roots[row].Rot.Yaw()
			steering.Steer(sliders.Get(e), m3.Clamp(m3.WrapAngle(m3.YawOf(w.ahead)-yaw), -1, 1)*control.MaxTurn, m3.Clamp(w.speed, strollSlow, strollFast))
		}})
	return nil
}

// openWanderers makes people whose motion is predicted.
func (s *Scene) openWanderers(o *Options, n int) error {
	every := 2 // a divisor of the ticks of a window, 2·Predict
	if o.STRNN.Predict%2 == 0 {
		every = 4
	}
	stream, err := o.STRNN.NewStream(strnn.StreamOptions{People: n, Workers: o.Workers, Seed: o.Seed, BF16: o.BF16, Open: o.Open, Every: every, From: 1})
	if err != nil {
		return err
	}
	c, err := inhabit(s, o, stream, animsys.Options{})
	if err != nil {
		return err
	}
	wanders := generic.NewMap1[strnn.Steer](&s.World)
	s.kinds = append(s.kinds, &kind{name: "predicted", ahead: overlay.Places(stream.Preview, 3), glance: 1.8, share: wandererShare, crowd: c, spawn: anyone(c.Spawn),
		tell: func(e arche.Entity, row int, m *mind, w wish) {
			yaw := c.Roots[row].Rot.Yaw()
			ask := strnn.Steer{}
			if w.speed > 0 {
				ask = strnn.Steer{Speed: m3.Clamp(w.speed, wanderSlow, wanderFast), Turn: control.Steer(yaw, m3.YawOf(w.ahead)) * strnn.MaxTurn}
			}
			*wanders.Get(e) = ask
		}})
	return nil
}

// openPeople makes people who go along lanes.
func (s *Scene) openPeople(o *Options, n int) error {
	stream, err := o.People.NewStream(manifold.StreamOptions{People: n, Styles: o.Transfers, Open: o.Open, BF16: o.BF16})
	if err != nil {
		return err
	}
	c, err := inhabit(s, o, stream, animsys.Options{Styles: o.Styles, Known: o.Styles.InStyle("neutral")})
	if err != nil {
		return err
	}
	curves := generic.NewMap1[manifold.Curve](&s.World)
	mar, gram := generic.NewMap1[ecs.MARStyle](&s.World), generic.NewMap1[ecs.GramStyle](&s.World)
	s.kinds = append(s.kinds, &kind{name: "on lanes", ahead: overlay.Places(stream.Preview, 10), share: peopleShare, crowd: c, spawn: anyone(c.Spawn), laned: true,
		born: func(e arche.Entity, m *mind) {
			*curves.Get(e) = manifold.Curve{Path: s.place.lanes[m.lane], Start: m.start, Speed: m.pace}
			switch pick := m.bits() % 3; {
			case pick == 1 && o.Styles != nil:
				style := ecs.MARStyle{}
				style.Weights[m.bits()%uint64(len(o.Styles.Styles))] = 1
				mar.Assign(e, &style)
			case pick == 2 && len(o.Transfers) > 0:
				gram.Assign(e, &ecs.GramStyle{Style: int(m.bits() % uint64(len(o.Transfers))), Weight: 1})
			}
		},
		tell: func(e arche.Entity, row int, m *mind, w wish) {
			if curve := curves.Get(e); (curve.Speed > 0) != (w.speed > 0) {
				curve.Speed = w.speed
			}
		}})
	return nil
}

// anyone has who comes be like all others of the kind.
func anyone(spawn func(at m3.Vec3, yaw float32) (arche.Entity, error)) func(m3.Vec3, float32, *mind) (arche.Entity, error) {
	return func(at m3.Vec3, yaw float32, _ *mind) (arche.Entity, error) { return spawn(at, yaw) }
}

// openPerformers makes those who stand on their spots and wave, point, clap, talk.
func (s *Scene) openPerformers(o *Options, n int) error {
	stream, err := o.Keypose.NewStream(keypose.StreamOptions{People: n, Workers: o.Workers, BF16: o.BF16, Open: o.Open, Every: 8, From: 4})
	if err != nil {
		return err
	}
	c, err := inhabit(s, o, stream, animsys.Options{})
	if err != nil {
		return err
	}
	k := &kind{name: "performing", share: performerShare, crowd: c, stays: true}
	s.kinds = append(s.kinds, k)
	names := routines.Names()
	written := make([][]*keypose.PoseLoop, authors)
	for i := range written {
		author, err := routines.NewAuthor(o.Keypose.Layout, o.Seed+uint64(i))
		if err != nil {
			return err
		}
		for _, n := range names {
			r, err := author.Write(n)
			if err != nil {
				return err
			}
			written[i] = append(written[i], r)
		}
	}
	parts := generic.NewMap1[keypose.Performance](&s.World)
	any := func(m *mind) keypose.Performance {
		mine := written[m.look%authors]
		return keypose.Performance{Loop: mine[m.bits()%uint64(len(mine))], Speed: 0.85 + 0.3*m.uniform()}
	}
	k.spawn = func(at m3.Vec3, yaw float32, m *mind) (arche.Entity, error) {
		part := any(m)
		part.Start = 10 * float64(m.uniform())
		return animsys.SpawnWith(c, at, yaw, part)
	}
	k.tell = func(e arche.Entity, row int, m *mind, w wish) {
		if m.left <= 0 {
			m.left = 4 + 8*m.uniform()
			*parts.Get(e) = any(m)
		}
	}
	return nil
}

// count words that there are n.
func (k *kind) count(n int) string {
	if k.dogs {
		return scenes.Count(n, "dog", "dogs")
	}
	return fmt.Sprintf("%d %s", n, k.name)
}

// who words who e is.
func (k *kind) who(e arche.Entity) string {
	if k.dogs {
		return fmt.Sprintf("dog %d", e.ID())
	}
	return fmt.Sprintf("person %d, %s", e.ID(), k.name)
}

// tint returns the colour of coat or clothes.
func (k *kind) tint(m *mind) [3]float32 {
	if k.dogs {
		return scenes.Coat(m.look)
	}
	return scenes.Clothes(int(m.look%1024), 0)
}
