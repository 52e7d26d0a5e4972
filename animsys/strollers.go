package animsys

import (
	"errors"
	"fmt"
	"runtime"

	"mannequin/animsys/feature"
	"mannequin/animsys/latent"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// StrollersOptions configure strollers.
type StrollersOptions struct {
	Capacity int            // most of them at a time, at least 1
	Terrain  *terrain.Field // the ground they walk on; required
	Roles    *ik.Roles      // the skeleton's roles; nil derives them from the shipped people's joint names
	Workers  int            // goroutines that share the rows; 0 means one per CPU

	Open netruntime.Opener // what computes the networks; nil is the processor
	BF16 bool              // see netruntime.SessionOptions

	Every, From int // in which of the ticks people's turns come: see latent.StreamOptions
}

// Strollers is the resource that holds the agents of a model of latent: each has a
// latent.Sliders, the component that says how they walk. They always walk, from the
// moment they are spawned, and show within half a second, and the ticks of Every, what a
// slider says. It belongs to the goroutine that owns the world.
//
// The network runs beside the ticks, for those whose clip will go on.
type Strollers struct {
	Bodies
	Stream *latent.Stream

	contact []uint8 // per leg: the contact of its tip
	sliders generic.Map1[latent.Sliders]
}

// NewStrollers makes strollers of a model and the network that tells how its clips go
// on, and adds them to w as a resource.
func NewStrollers(w *arche.World, m *latent.Model, next *netruntime.Net, opt StrollersOptions) (*Strollers, error) {
	if m == nil {
		return nil, fmt.Errorf("animsys: strollers without a model")
	}
	if err := stage(w, opt.Capacity, opt.Terrain); err != nil {
		return nil, err
	}
	res := generic.NewResource[Strollers](w)
	if res.Has() {
		return nil, fmt.Errorf("animsys: the world has Strollers already")
	}
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	roles, err := rolesOf(opt.Roles, m.Skel, ik.HumanRoles)
	if err != nil {
		return nil, err
	}
	s := &Strollers{sliders: generic.NewMap1[latent.Sliders](w)}
	if s.Stream, err = m.NewStream(next, latent.StreamOptions{People: opt.Capacity, Workers: opt.Workers, Open: opt.Open, BF16: opt.BF16, Every: opt.Every, From: opt.From}); err != nil {
		return nil, err
	}
	if err := s.open(w, m.Skel, opt.Terrain, ik.DefaultHuman(), roles, opt.Capacity, opt.Workers); err != nil {
		return nil, errors.Join(err, s.Stream.Close())
	}
	if _, s.contact, err = contactsOf(m.Layout, m.Skel, roles); err != nil { // after open, which checks the roles
		return nil, errors.Join(err, s.Close())
	}
	s.Ground.Contacts = make([]bool, len(s.Ground.Feet))
	s.follow(s.Stream.Still)
	s.enlist()
	res.Add(s)
	return s, nil
}

// Close stops all workers. Closing twice is harmless; systems pass closed strollers
// by.
func (s *Strollers) Close() error {
	if !s.close() {
		return nil
	}
	return s.Stream.Close()
}

// Spawn adds someone who walks as people do on average at pos, whose height is
// dropped, with heading yaw in radians. The entity has an ecs.Slot and a
// latent.Sliders, for you to set; add tags of your own. It fails when all rows are
// taken, while the world is locked, and for places that are not finite.
func (s *Strollers) Spawn(pos m3.Vec3, yaw float32) (arche.Entity, error) {
	if err := s.canSpawn(pos, yaw); err != nil {
		return arche.Entity{}, err
	}
	e := s.sliders.New()
	err := s.add(e, func(row int) {
		s.Stream.Add(feature.Place{Pos: pos, Yaw: yaw})
		*s.sliders.Get(e) = s.Stream.Sliders[row]
		s.show(row, row+1)
	})
	if err != nil {
		return arche.Entity{}, err
	}
	return e, nil
}

// Despawn removes someone and the entity, between ticks or in a system before
// Pick or after Skin. Another may take over the row.
func (s *Strollers) Despawn(e arche.Entity) error {
	row, _, err := s.remove(e)
	if err == nil {
		s.Stream.Remove(row)
	}
	return err
}

// Place moves someone to pos with heading yaw, where they walk on.
func (s *Strollers) Place(e arche.Entity, pos m3.Vec3, yaw float32) error {
	row, err := s.row(e, pos, yaw)
	if err != nil {
		return err
	}
	s.Stream.Place(row, feature.Place{Pos: pos, Yaw: yaw})
	s.show(row, row+1)
	s.moved(row)
	return nil
}

// show fetches roots, poses and contacts of the rows from r0 up to r1.
func (s *Strollers) show(r0, r1 int) {
	for r := r0; r < r1; r++ {
		if s.Stream.Leapt(r) {
			s.Inertial.Jump(r)
		}
		s.Stream.Pose(r, s.Pos[r*s.joints:(r+1)*s.joints], s.Rot[r*s.joints:(r+1)*s.joints])
		s.stand(r, s.Stream.Where(r), s.Stream.Stands(r), s.contact)
	}
}

// Continue gathers the entities' sliders, and has those go on to the next clip whose
// turn it is.
type Continue struct{ gathering[latent.Sliders] }

// Initialize finds the strollers.
func (c *Continue) Initialize(w *arche.World) {
	if res := generic.NewResource[Strollers](w); res.Has() {
		s := res.Get()
		c.on(w, &s.Bodies, s.Stream.Sliders, s.Stream.Continue)
	}
}

// Stroll goes on by a frame and poses everyone.
type Stroll struct{ spread }

// Initialize finds the strollers.
func (t *Stroll) Initialize(w *arche.World) {
	if res := generic.NewResource[Strollers](w); res.Has() {
		s := res.Get()
		t.on(&s.Bodies, func(r0, r1 int) {
			s.Stream.Advance(r0, r1)
			s.eachStep(r0, r1, s.show)
		})
	}
}
