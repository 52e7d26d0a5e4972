package animsys

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"mannequin/ecs"
	"mannequin/ik"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// registry is the resource that lists the open crowds of a world.
type registry struct {
	all  []*Crowd
	busy atomic.Bool // see claim
}

// registryOf returns the registry of w, which it adds if there is none.
func registryOf(w *arche.World) *registry {
	res := generic.NewResource[registry](w)
	if !res.Has() {
		res.Add(&registry{})
	}
	return res.Get()
}

// usable reports what keeps a crowd of generator gen from being made. The generator may be a
// nil pointer, if the game has ignored the error of the call that makes it.
func usable(w *arche.World, gen any, ground ik.Ground) error {
	if w == nil {
		return errors.New("animsys: NewCrowd: the world is nil")
	}
	if v := reflect.ValueOf(gen); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return errors.New("animsys: NewCrowd: the generator is nil: look at the error of the call that made it")
	}
	if w.IsLocked() {
		return errors.New("animsys: cannot make a crowd within a query: do it between ticks")
	}
	if ground == nil {
		return errors.New("animsys: Options.Ground is missing: ik.Level(0) is level ground")
	}
	if v, ok := ground.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// claim marks the crowds of a world as in use, until release. It returns an error if they are: then
// another goroutine uses them, or a generator or ground that a system calls.
func (r *registry) claim(what string) error {
	if !r.busy.CompareAndSwap(false, true) {
		return fmt.Errorf("animsys: %s: %w", what, ecs.ErrBusy)
	}
	return nil
}

func (r *registry) release() { r.busy.Store(false) }

// claimBetween is claim for calls that belong between ticks of w.
func (r *registry) claimBetween(w *arche.World, what string) error {
	if err := r.claim(what); err != nil {
		return err
	}
	if err := betweenTicks(w, what); err != nil {
		r.release()
		return err
	}
	return nil
}

// betweenTicks returns an error within a tick of w.
func betweenTicks(w *arche.World, what string) error {
	if clock := generic.NewResource[ecs.Clock](w); clock.Has() && clock.Get().InTick() {
		return &tickError{what}
	}
	return nil
}

// tickError is the error of a call within a tick that belongs between ticks. It counts as ecs.ErrBusy,
// because it may come from another goroutine.
type tickError struct{ what string }

func (e *tickError) Error() string {
	return "animsys: " + e.what + ": a tick is running: call it before or after Schedule.Step, not in a system"
}

func (e *tickError) Is(target error) bool { return target == ecs.ErrBusy }

// sweep frees the rows of agents that the game has removed.
func (r *registry) sweep() {
	for _, c := range r.all {
		c.sweep()
	}
}

// drop takes c off the list. A system that is going through the old list is not disturbed.
func (r *registry) drop(c *Crowd) {
	r.all = slices.DeleteFunc(slices.Clone(r.all), func(o *Crowd) bool { return o == c })
}

// claim is registry.claim for an open crowd, and an error for any other.
func (c *Crowd) claim(what string) error {
	if c.registry == nil {
		return fmt.Errorf("animsys: %s: the crowd was not made by NewCrowd", what)
	}
	if err := c.registry.claim(what); err != nil {
		return err
	}
	var err error
	switch res := generic.NewResource[registry](c.world); {
	case c.closed:
		err = errors.New("the crowd is closed")
	case !res.Has() || res.Get() != c.registry:
		err = errors.New("the world has lost its crowds, as after World.Reset: close them and make others")
	}
	if err != nil {
		c.registry.release()
		return fmt.Errorf("animsys: %s: %w", what, err)
	}
	return nil
}

// claimBetween is claim for calls that belong between ticks.
func (c *Crowd) claimBetween(what string) error {
	if err := c.claim(what); err != nil {
		return err
	}
	if err := betweenTicks(c.world, what); err != nil {
		c.registry.release()
		return err
	}
	return nil
}
