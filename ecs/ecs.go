// Package ecs is what mannequin adds to an Arche world, by task:
//
// Run systems
//   - A schedule of systems with a fixed step: [NewSchedule], [Schedule.Step]
//   - The time in the world, and errors of systems: [Clock], [Fault]
//
// Add to what an agent does
//   - Turn its head: [LookAt]
//   - Take its hands and feet to places: [Reach], [Step]
//   - Change its style: [MARStyle], [GramStyle]
//
// Keep data of your own by row
//   - Compact rows for entities whose data lives in flat slices: [NewRows], [Rows.Add],
//     [Rows.Remove], [Rows.Sweep]
//
// An agent of an animsys.Crowd has a [Slot], which names its row in the crowd's slices, and
// the component of its generator: control.Goal, manifold.Curve, latent.Sliders, strnn.Steer
// or keypose.Performance. Rows are compact, so that one network call serves the rows 0 to n−1.
package ecs

import (
	"fmt"
	"sync/atomic"

	"mannequin/engine/m3"

	"github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Slot is the component that gives an entity its row. Rows write it. A game may remove it, as it may
// remove the entity: the row is free again after the next Rows.Sweep.
type Slot struct{ Row int32 }

// Alive reports whether e lives in w. It is World.Alive for any entity: for one of another world, or
// from before World.Reset, that panics or is wrong.
func Alive(w *ecs.World, e ecs.Entity) (alive bool) {
	defer func() {
		if recover() != nil {
			alive = false
		}
	}()
	if e.IsZero() || !w.Alive(e) {
		return false
	}
	_ = w.Mask(e) // panics for the next entity in the place of a removed one, of which World.Alive is true already
	return true
}

// MARStyle is the component that translates a person's motion frame by frame into a style
// of animsys.Options.Styles, or into a blend of them (Xia et al. 2015). Without it, or with
// the zero value, the agent moves in its own style.
type MARStyle struct {
	// Weights of the database's styles, in its order, 0 to 1 each. The rest up to 1 is the
	// agent's own style. Weights beyond the database's styles are ignored.
	Weights [MaxStyles]float32
}

// MaxStyles is the largest number of styles of a MARStyle.
const MaxStyles = 16

// GramStyle is the component that gives a person a style of Holden et al. 2016: of animsys.Options.Transfers,
// pose by pose, which shows within 0.3 s; or, for people on curves in crowds without these, the next windows of motion
// a style of manifold.StreamOptions.Styles, which shows after about a second.
type GramStyle struct {
	Style  int     // index of the style; an index that does not exist is no style
	Weight float32 // 0 to 2; 0 is none
}

// LookAt is the component that turns an agent's head toward a place, with the neck and, for
// people, the spine. Without it, or with the zero value, the head follows the motion.
type LookAt struct {
	Target m3.Vec3 // world space, m
	Weight float32 // 0 to 1 looks straight at the target; changes are eased
}

// Shift moves the target by by, m.
func (l *LookAt) Shift(by m3.Vec3) { l.Target = l.Target.Add(by) }

// Scale multiplies the target by by, for a space with another unit of length.
func (l *LookAt) Scale(by float32) { l.Target = l.Target.Scale(by) }

// Reach is the component that takes a person's hands to places. Without it, or with the
// zero value, they follow the motion.
type Reach struct{ Left, Right Hand }

// Hand is the target of one hand of a Reach.
type Hand struct {
	Target m3.Vec3 // of the knuckles, world space, m
	Weight float32 // 0, not at all, to 1, all of the way there; changes are eased

	// Seconds, if not 0, is the time in which the hand arrives, from the tick on in which Weight or Seconds
	// has changed from 0, or Seconds to another time, or, of a hand that is there, Target by more than 12 cm.
	// animsys.Crowd.CanReach says whether it can.
	Seconds float32
}

// Shift moves both targets by by, m.
func (r *Reach) Shift(by m3.Vec3) {
	r.Left.Target, r.Right.Target = r.Left.Target.Add(by), r.Right.Target.Add(by)
}

// Scale multiplies both targets by by; see [LookAt.Scale].
func (r *Reach) Scale(by float32) {
	r.Left.Target, r.Right.Target = r.Left.Target.Scale(by), r.Right.Target.Scale(by)
}

// Step is the component that takes a person's feet to places: onto a stool, over a log, against a ball.
// Without it, or with the zero value, they follow the motion. One foot at a time is lifted, and the body
// moves over the other.
type Step struct{ Left, Right Foot }

// Foot is the target of one foot of a Step.
type Foot struct {
	Target m3.Vec3 // of the sole under the ball of the foot, world space, m
	Weight float32 // 0 to 1 of the way there; changes are eased
	Lift   float32 // how much higher than a straight way the foot goes in the middle of its way, m

	// Seconds, if not 0, is the time in which the foot arrives; see Hand.Seconds. animsys.Crowd.CanStep
	// says whether it can.
	Seconds float32
}

// Shift moves both targets by by, m.
func (s *Step) Shift(by m3.Vec3) {
	s.Left.Target, s.Right.Target = s.Left.Target.Add(by), s.Right.Target.Add(by)
}

// Scale multiplies targets and lifts by by; see [LookAt.Scale].
func (s *Step) Scale(by float32) {
	for _, f := range [2]*Foot{&s.Left, &s.Right} {
		f.Target, f.Lift = f.Target.Scale(by), f.Lift*by
	}
}

// Clock is the resource that holds the world's time.
type Clock struct {
	Tick int64   // ticks finished so far
	DT   float32 // seconds per tick

	stepping uint32 // 1 within Schedule.Step; any goroutine may ask
}

// InTick reports whether a system is asking: whether the world's Schedule.Step is running.
func (c *Clock) InTick() bool { return atomic.LoadUint32(&c.stepping) != 0 }

// Fault is the resource in which systems leave errors, because Arche's systems return none.
// The schedule stops at the first error.
type Fault struct{ Err error }

// Rows assigns compact rows to entities. It belongs to the world that it was made for.
type Rows struct {
	world *ecs.World
	slots generic.Map1[Slot]
	held  []ecs.Entity // row → entity
}

// NewRows returns rows for up to capacity entities of w; a negative capacity is 0.
func NewRows(w *ecs.World, capacity int) *Rows {
	return &Rows{world: w, slots: generic.NewMap1[Slot](w), held: make([]ecs.Entity, 0, max(capacity, 0))}
}

// Len returns the number of rows in use: 0 to Len−1.
func (r *Rows) Len() int { return len(r.held) }

// Cap returns the largest number of rows.
func (r *Rows) Cap() int { return cap(r.held) }

// Entity returns the entity in a row below Len. The world may have removed it since the last Sweep.
func (r *Rows) Entity(row int) ecs.Entity { return r.held[row] }

// Row returns e's row, and whether it has one in these rows. e may be any entity.
func (r *Rows) Row(e ecs.Entity) (int, bool) {
	slot := r.slot(e)
	if slot == nil || slot.Row < 0 || int(slot.Row) >= len(r.held) || r.held[slot.Row] != e {
		return 0, false
	}
	return int(slot.Row), true
}

// slot returns e's slot, or nil.
func (r *Rows) slot(e ecs.Entity) *Slot {
	if !Alive(r.world, e) {
		return nil
	}
	return r.slots.Get(e)
}

// Has reports whether the entity in a row below Len is alive and has its Slot.
func (r *Rows) Has(row int) bool {
	slot := r.slot(r.held[row])
	return slot != nil && int(slot.Row) == row
}

// Add gives e a Slot with the next free row, which it returns. It fails if all rows are
// taken, if e is dead or has a Slot already, and while the world is locked by a query.
func (r *Rows) Add(e ecs.Entity) (int, error) {
	if err := r.open(e, "add"); err != nil {
		return 0, err
	}
	slot := r.slots.Get(e)
	if slot != nil && slot.Row >= 0 {
		return 0, fmt.Errorf("ecs: entity %v has row %d already", e, slot.Row)
	}
	row := len(r.held)
	if row == cap(r.held) {
		return 0, fmt.Errorf("ecs: all %d rows are taken", row)
	}
	if slot == nil {
		r.slots.Assign(e, &Slot{int32(row)})
	} else {
		slot.Row = int32(row)
	}
	r.held = append(r.held, e)
	return row, nil
}

// Remove gives e's row to the entity in the last row, so that rows stay compact. The caller
// copies the data of row last to row row. It fails if e is dead or has no row, and while
// the world is locked by a query.
func (r *Rows) Remove(e ecs.Entity) (row, last int, err error) {
	if err := r.open(e, "remove"); err != nil {
		return 0, 0, err
	}
	row, ok := r.Row(e)
	if !ok {
		return 0, 0, fmt.Errorf("ecs: entity %v has no row here", e)
	}
	r.slots.Remove(e)
	return row, r.drop(row), nil
}

// drop gives row to the entity in the last row, which it returns.
func (r *Rows) drop(row int) (last int) {
	last = len(r.held) - 1
	if row < last && r.Has(last) {
		r.slots.Get(r.held[last]).Row = int32(row)
	}
	r.held[row] = r.held[last]
	r.held = r.held[:last]
	return last
}

// Sweep frees the rows of entities that the world has removed, or that have lost their Slot, as
// Remove does: after each, it calls moved, which copies the data of row last to row row.
func (r *Rows) Sweep(moved func(row, last int)) {
	for row := len(r.held) - 1; row >= 0; row-- {
		if !r.Has(row) {
			moved(row, r.drop(row))
		}
	}
}

// Clear takes all rows back, to be given anew. Entities keep their Slots, with row −1, until Add gives
// them a row. It does not touch entities that the world has removed.
func (r *Rows) Clear() {
	for row := range r.held {
		if r.Has(row) {
			r.slots.Get(r.held[row]).Row = -1
		}
	}
	r.held = r.held[:0]
}

func (r *Rows) open(e ecs.Entity, what string) error {
	if r.world == nil {
		return fmt.Errorf("ecs: cannot %s rows: they were not made by NewRows", what)
	}
	if r.world.IsLocked() {
		return fmt.Errorf("ecs: cannot %s rows within a query: do it between ticks", what)
	}
	if !Alive(r.world, e) {
		return fmt.Errorf("ecs: entity %v is dead, or of another world", e)
	}
	return nil
}
