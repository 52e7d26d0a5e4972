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
