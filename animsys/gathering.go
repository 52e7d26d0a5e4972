package animsys

import (
	"mannequin/ecs"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// gathering is what the systems have in common that gather what entities are asked for, in a
// component C, and have those go on whose turn it is.
type gathering[C any] struct {
	bodies *Bodies
	asked  []C // (rows) of their stream
	goOn   func() error
	filter generic.Filter2[ecs.Slot, C]
	fault  generic.Resource[ecs.Fault]
}

// on says whose turns they are, where the stream has what they are asked for, and what has
// those go on.
func (t *gathering[C]) on(w *arche.World, b *Bodies, asked []C, goOn func() error) {
	t.bodies, t.asked, t.goOn = b, asked, goOn
	t.filter = *generic.NewFilter2[ecs.Slot, C]()
	t.fault = generic.NewResource[ecs.Fault](w)
}

// Update gathers and runs the networks.
func (t *gathering[C]) Update(w *arche.World) {
	b := t.bodies
	if b == nil || b.closed {
		return
	}
	for q := t.filter.Query(w); q.Next(); {
		slot, ask := q.Get()
		if b.Rows.Holds(q.Entity(), slot) {
			t.asked[slot.Row] = *ask
		}
	}
	if err := t.goOn(); err != nil {
		t.fault.Get().Err = err
	}
}

// Finalize has nothing to do: the agents are closed by their owner.
func (t *gathering[C]) Finalize(*arche.World) {}
