package animsys

import (
	"errors"
	"fmt"
	"runtime"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// PerformersOptions configure performers.
type PerformersOptions struct {
	Capacity int            // most of them at a time, at least 1
	Terrain  *terrain.Field // the ground they stand on; required
	Roles    *ik.Roles      // the skeleton's roles, of two legs, the left one first; nil derives them from the shipped people's joint names
	Workers  int            // goroutines that share the rows; 0 means one per CPU

	Open netruntime.Opener // what computes the network; nil is the processor
	BF16 bool              // see netruntime.SessionOptions

	Every, From int // in which of the ticks people's turns come: see keypose.StreamOptions
}

// Performers is the resource that holds the agents of a model of keypose: each stands on
// a spot and has a keypose.Part, the component that says what they perform there. It
// belongs to the goroutine that owns the world.
//
// The network runs beside the ticks, for those whose window of motion will have been played.
// A part that is set is taken up within keypose.Latency, and shown from the next key on.
type Performers struct {
	Bodies
	Stream *keypose.Stream

	parts generic.Map1[keypose.Part]
}

// feet are the contacts of the legs, left and right.
var feet = []uint8{0, 1}

// NewPerformers makes performers of a model, and adds them to w as a resource.
func NewPerformers(w *arche.World, m *keypose.Model, opt PerformersOptions) (*Performers, error) {
	if m == nil {
		return nil, fmt.Errorf("animsys: performers without a model")
	}
	if err := stage(w, opt.Capacity, opt.Terrain); err != nil {
		return nil, err
	}
	res := generic.NewResource[Performers](w)
	if res.Has() {
		return nil, fmt.Errorf("animsys: the world has Performers already")
	}
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	roles, err := rolesOf(opt.Roles, m.Layout.Skel, ik.HumanRoles)
	if err != nil {
		return nil, err
	}
	if len(roles.Legs) != keypose.Feet {
		return nil, fmt.Errorf("animsys: performers on %d legs: want %d", len(roles.Legs), keypose.Feet)
	}
	s := &Performers{parts: generic.NewMap1[keypose.Part](w)}
	if s.Stream, err = m.NewStream(keypose.StreamOptions{People: opt.Capacity, Workers: opt.Workers, Open: opt.Open, BF16: opt.BF16, Every: opt.Every, From: opt.From}); err != nil {
		return nil, err
	}
	if err := s.open(w, m.Layout.Skel, opt.Terrain, ik.DefaultHuman(), roles, opt.Capacity, opt.Workers); err != nil {
		return nil, errors.Join(err, s.Stream.Close())
	}
	s.Ground.Contacts = make([]bool, len(s.Ground.Feet))
	s.follow(s.Stream.Still)
	s.enlist()
	res.Add(s)
	return s, nil
}

// Close stops all workers. Closing twice is harmless; systems pass closed performers by.
func (s *Performers) Close() error {
	if !s.close() {
		return nil
	}
	return s.Stream.Close()
}

// Spawn adds someone who stands on the spot pos, whose height is dropped, facing yaw in
// radians, and begins the part's routine so many seconds into it. The entity has an
// ecs.Slot and a keypose.Part, which is part, for you to change; add tags of your own. It
// fails when all rows are taken, while the world is locked, for places that are not
// finite, and for a part without a routine, or of another skeleton.
func (s *Performers) Spawn(pos m3.Vec3, yaw float32, part keypose.Part, from float64) (arche.Entity, error) {
	if err := s.canSpawn(pos, yaw); err != nil {
		return arche.Entity{}, err
	}
	row, err := s.Stream.Add(feature.Place{Pos: pos, Yaw: yaw}, part, from)
	if err != nil {
		return arche.Entity{}, fmt.Errorf("animsys: %w", err)
	}
	e := s.parts.NewWith(&part)
	if err := s.add(e, func(row int) { s.show(row, row+1) }); err != nil {
		s.Stream.Remove(row)
		return arche.Entity{}, err
	}
	return e, nil
}

// Despawn removes someone and the entity, between ticks or in a system before Pick or
// after Skin. Another may take over the row.
func (s *Performers) Despawn(e arche.Entity) error {
	row, _, err := s.remove(e)
	if err == nil {
		s.Stream.Remove(row)
	}
	return err
}

// Place moves someone to the spot pos with heading yaw, where they go on.
func (s *Performers) Place(e arche.Entity, pos m3.Vec3, yaw float32) error {
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
func (s *Performers) show(r0, r1 int) {
	for r := r0; r < r1; r++ {
		s.Stream.Pose(r, s.Pos[r*s.joints:(r+1)*s.joints], s.Rot[r*s.joints:(r+1)*s.joints])
		s.stand(r, s.Stream.Where(r), s.Stream.Stands(r), feet)
	}
}

// Rehearse gathers the entities' parts, and has the motion made of those whose turn it is.
type Rehearse struct{ gathering[keypose.Part] }

// Initialize finds the performers.
func (c *Rehearse) Initialize(w *arche.World) {
	if res := generic.NewResource[Performers](w); res.Has() {
		s := res.Get()
		c.on(w, &s.Bodies, s.Stream.Parts, s.Stream.Continue)
	}
}

// Perform goes on by a frame and poses everyone.
type Perform struct{ spread }

// Initialize finds the performers.
func (t *Perform) Initialize(w *arche.World) {
	if res := generic.NewResource[Performers](w); res.Has() {
		s := res.Get()
		t.on(&s.Bodies, func(r0, r1 int) { s.eachStep(r0, r1, s.show) })
	}
}
