package animsys

import (
	"slices"

	"mannequin/animsys/skel"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Aim has those look who carry an ecs.LookAt, and those people reach who carry an
// ecs.Reach: where they really stand, after Ground, so that eyes and hands meet what
// they aim at. It turns heads, necks, arms and people's spines; hips and legs stay.
// Skeletons that have neither the dogs' nor the people's joint names are passed by.
type Aim struct {
	all     []*Bodies
	work    []func(worker, i int)
	looks   generic.Filter2[ecs.Slot, ecs.LookAt]
	reaches generic.Filter2[ecs.Slot, ecs.Reach]
}

// Initialize finds all bodies.
func (s *Aim) Initialize(w *arche.World) {
	s.looks, s.reaches = *generic.NewFilter2[ecs.Slot, ecs.LookAt](), *generic.NewFilter2[ecs.Slot, ecs.Reach]()
	res := generic.NewResource[cast](w)
	if !res.Has() {
		return
	}
	for _, b := range res.Get().all {
		if b.aims != nil {
			s.all, s.work = append(s.all, b), append(s.work, b.grains(b.aim))
		}
	}
}

// Update gathers where everyone looks and reaches, and turns them there.
func (s *Aim) Update(w *arche.World) {
	for _, b := range s.all {
		clear(b.aims.look)
		clear(b.aims.reach)
	}
	for q := s.looks.Query(w); q.Next(); {
		slot, look := q.Get()
		for _, b := range s.all {
			if b.Rows.Holds(q.Entity(), slot) {
				b.aims.look[slot.Row] = *look
			}
		}
	}
	for q := s.reaches.Query(w); q.Next(); {
		slot, reach := q.Get()
		for _, b := range s.all {
			if b.Rows.Holds(q.Entity(), slot) {
				b.aims.reach[slot.Row] = *reach
			}
		}
	}
	for i, b := range s.all {
		b.split(b.Rows.Len(), s.work[i])
	}
}

// Finalize has nothing to do: the bodies are closed by their owners.
func (s *Aim) Finalize(*arche.World) {}

// aims is what Aim needs of bodies. Methods of a nil one do nothing.
type aims struct {
	gaze *ik.Gaze
	arms *ik.Arms // nil: dogs

	look  []ecs.LookAt      // (rows) gathered
	reach []ecs.Reach       // (rows)
	sight []ik.GazeState    // (rows)
	grips [][2]ik.HandState // (rows)
}

// newAims returns those of a skeleton, or nil where it is neither a dog's nor a
// person's.
func newAims(sk *skel.Skeleton, tree *ik.Tree, n int) *aims {
	a := &aims{look: make([]ecs.LookAt, n), reach: make([]ecs.Reach, n), sight: make([]ik.GazeState, n), grips: make([][2]ik.HandState, n)}
	var err error
	if slices.Contains(sk.Names, "Tail") {
		if a.gaze, err = ik.DogGaze(tree, sk.Names, sk.Offsets); err != nil {
			return nil
		}
	} else {
		if a.gaze, err = ik.HumanGaze(tree, sk.Names); err != nil {
			return nil
		}
		if a.arms, err = ik.HumanArms(tree, sk.Names); err != nil || a.arms.Validate() != nil {
			a.arms = nil
		}
	}
	if a.gaze.Validate() != nil {
		return nil
	}
	return a
}

// forget has row look and reach anew.
func (a *aims) forget(row int) {
	if a != nil {
		a.sight[row], a.grips[row] = ik.GazeState{}, [2]ik.HandState{}
	}
}

// copy makes row the same as row last.
func (a *aims) copy(row, last int) {
	if a != nil {
		a.sight[row], a.grips[row] = a.sight[last], a.grips[last]
	}
}

// aim turns those rows from r0 up to r1 that take a step.
func (b *Bodies) aim(r0, r1 int) {
	a := b.aims
	for r := r0; r < r1; r++ {
		if !b.steps(r) {
			continue
		}
		dt := b.Ground.DT * float32(b.rates[r].span)
		m := b.Ground.Model[r*b.joints:][:b.joints]
		if a.arms != nil {
			l, h := &a.reach[r].Left, &a.reach[r].Right
			a.arms.Lean(m, [2]m3.Vec3{l.Target, h.Target}, [2]float32{l.Weight, h.Weight}, dt, &a.grips[r])
		}
		ahead := b.Roots[r].Rot.Rotate(m3.V(0, 0, 1))
		a.gaze.Turn(m, m3.YawOf(ahead), a.look[r].Target, a.look[r].Weight, dt, &a.sight[r])
		if a.arms != nil { // after the head, with which the shoulders turn a little
			a.arms.Bend(m, &a.grips[r])
		}
	}
}
