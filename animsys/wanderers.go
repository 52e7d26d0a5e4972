package animsys

import (
	"errors"
	"fmt"
	"runtime"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// WanderersOptions configure wanderers.
type WanderersOptions struct {
	Capacity int            // most of them at a time, at least 1
	Terrain  *terrain.Field // the ground they walk on; required
	Roles    *ik.Roles      // the skeleton's roles; nil derives them from the shipped people's joint names
	Workers  int            // goroutines that share the rows; 0 means one per CPU

	// Stream says how they go on. Its People are Capacity, and its Workers those of
	// the tick.
	Stream strnn.StreamOptions
}

// Wanderers is the resource that holds the agents of a model of strnn: each has a
// strnn.Wander, the component that says how they are asked to go. They walk when they are
// spawned, and show within 2/3 s, and the ticks of Stream.Every, what they are asked for. It
// belongs to the goroutine that owns the world.
//
// The network runs beside the ticks, for those whose predicted frames will have been played.
type Wanderers struct {
	Bodies
	Stream *strnn.Stream

	contact []uint8 // per leg: the contact of its tip
	wanders generic.Map1[strnn.Wander]
}

// NewWanderers makes wanderers of a model, which needs a guide (see strnn.Model.NewStream),
// and adds them to w as a resource.
func NewWanderers(w *arche.World, m *strnn.Model, opt WanderersOptions) (*Wanderers, error) {
	if m == nil {
		return nil, fmt.Errorf("animsys: wanderers without a model")
	}
	if err := stage(w, opt.Capacity, opt.Terrain); err != nil {
		return nil, err
	}
	res := generic.NewResource[Wanderers](w)
	if res.Has() {
		return nil, fmt.Errorf("animsys: the world has Wanderers already")
	}
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	roles, err := rolesOf(opt.Roles, m.Skel, ik.HumanRoles)
	if err != nil {
		return nil, err
	}
	s := &Wanderers{wanders: generic.NewMap1[strnn.Wander](w)}
	opt.Stream.People, opt.Stream.Workers = opt.Capacity, opt.Workers
	if s.Stream, err = m.NewStream(opt.Stream); err != nil {
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

// Close stops all workers. Closing twice is harmless; systems pass closed wanderers by.
func (s *Wanderers) Close() error {
	if !s.close() {
		return nil
	}
	return s.Stream.Close()
}

// Spawn adds someone who walks at pos, whose height is dropped, with heading yaw in
// radians. The entity has an ecs.Slot and a strnn.Wander, for you to set, which else asks
// them to stand; add tags of your own. It fails when all rows are taken, while the world is
// locked, and for places that are not finite.
func (s *Wanderers) Spawn(pos m3.Vec3, yaw float32) (arche.Entity, error) {
	if err := s.canSpawn(pos, yaw); err != nil {
		return arche.Entity{}, err
	}
	e := s.wanders.New()
	err := s.add(e, func(row int) {
		s.Stream.Add(feature.Place{Pos: pos, Yaw: yaw})
		s.show(row, row+1)
	})
	if err != nil {
		return arche.Entity{}, err
	}
	return e, nil
}

// Despawn removes someone and the entity, between ticks or in a system before Pick or
// after Skin. Another may take over the row.
func (s *Wanderers) Despawn(e arche.Entity) error {
	row, _, err := s.remove(e)
	if err == nil {
		s.Stream.Remove(row)
	}
	return err
}

// Place moves someone to pos with heading yaw, where they go on.
func (s *Wanderers) Place(e arche.Entity, pos m3.Vec3, yaw float32) error {
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
func (s *Wanderers) show(r0, r1 int) {
	for r := r0; r < r1; r++ {
		if s.Stream.Leapt(r) {
			s.Inertial.Jump(r)
		}
		s.Stream.Pose(r, s.Pos[r*s.joints:(r+1)*s.joints], s.Rot[r*s.joints:(r+1)*s.joints])
		s.stand(r, s.Stream.Where(r), s.Stream.Stands(r), s.contact)
	}
}

// Predict gathers what the entities are asked for, and has those go on whose turn it is.
type Predict struct{ gathering[strnn.Wander] }

// Initialize finds the wanderers.
func (c *Predict) Initialize(w *arche.World) {
	if res := generic.NewResource[Wanderers](w); res.Has() {
		s := res.Get()
		c.on(w, &s.Bodies, s.Stream.Wanders, s.Stream.Continue)
	}
}

// Amble goes on by a tick and poses everyone.
type Amble struct{ spread }

// Initialize finds the wanderers.
func (t *Amble) Initialize(w *arche.World) {
	if res := generic.NewResource[Wanderers](w); res.Has() {
		s := res.Get()
		t.on(&s.Bodies, func(r0, r1 int) {
			s.Stream.Advance(r0, r1)
			s.eachStep(r0, r1, s.show)
		})
	}
}
