package manifold

import (
	"errors"
	"fmt"

	"mannequin/netruntime"
)

// Actor makes motion of the whole body from the places of hands or feet: punches
// and kicks (Holden et al. 2016, sec. 8). It belongs to one goroutine.
type Actor struct {
	Weight float32 // of the squared distance of each given place, in the edit's cost; NewActor sets 1

	model   *Model
	net     netruntime.Session
	editor  *Editor
	columns []int // of the given places
	batch   int
	length  int
	stand   []float32
	want    []float32
	weight  []float32
	in, out [][]float32
}

// NewActor returns an actor of a network that mannequin train synth makes, of the
// kind punch or kick. A *SchemaError tells where it does not fit the model.
func (m *Model) NewActor(net *netruntime.Net, o EditorOptions) (*Actor, error) {
	kind := net.Meta().Extra[KeyKind]
	columns, err := m.Columns(kind)
	if err != nil {
		return nil, &SchemaError{net.Meta().Name, []string{err.Error()}}
	}
	if kind == "locomotion" {
		return nil, &SchemaError{net.Meta().Name, []string{"it makes locomotion: see NewWalker"}}
	}
	if err := m.fits(net, len(columns), m.Layout.Columns()); err != nil {
		return nil, err
	}
	a := &Actor{Weight: 1, model: m, columns: columns, batch: o.Batch, length: o.Length}
	if a.editor, err = m.NewEditor(o); err != nil {
		return nil, err
	}
	open := o.Open
	if open == nil {
		open = (*netruntime.Net).NewSession
	}
	if a.net, err = open(net, netruntime.SessionOptions{Batch: o.Batch, Length: o.Length, Workers: o.Workers}); err != nil {
		return nil, errors.Join(err, a.editor.Close())
	}
	n := o.Batch * o.Length
	a.stand = make([]float32, n*len(m.Layout.Contacts))
	a.want, a.weight = make([]float32, n*m.Layout.Columns()), make([]float32, n*m.Layout.Columns())
	a.in, a.out = make([][]float32, 1), make([][]float32, 1)
	return a, nil
}

// Given returns how many values of a frame are given: x, y and z of each joint,
// in the order of Model.Columns, in the body's frame, m.
func (a *Actor) Given() int { return len(a.columns) }

// Close ends its workers.
func (a *Actor) Close() error { return errors.Join(a.net.Close(), a.editor.Close()) }

// Act writes into rows, (batch, length, columns) raw, the motions in which the
// joints go where given says, (batch, length, Given()). iterations are those of
// the edit that takes them there, holds standing feet, and bones; 0 leaves it
// out. Filters reach about a second to both sides: beyond the first and last
// frame they see zeros.
func (a *Actor) Act(rows, given []float32, batch, length, iterations int) (EditReport, error) {
	cols, n := a.model.Layout.Columns(), len(a.model.Layout.Contacts)
	frames := batch * length
	switch {
	case batch < 1 || batch > a.batch || length < 2 || length%2 != 0 || length > a.length:
		return EditReport{}, fmt.Errorf("manifold: %d acts of %d frames, the actor is for up to %d of %d, an even number", batch, length, a.batch, a.length)
	case len(given) != frames*len(a.columns) || len(rows) != frames*cols:
		return EditReport{}, fmt.Errorf("manifold: %d values of motion from %d given, want %d from %d", len(rows), len(given), frames*cols, frames*len(a.columns))
	}
	a.in[0], a.out[0] = given, rows
	if err := a.net.RunSequences(a.out, a.in, batch, length); err != nil || iterations == 0 {
		return EditReport{}, err
	}
	for f := range frames {
		row := rows[f*cols:][:cols]
		for i := range n {
			a.stand[f*n+i] = 0
			if row[a.model.Layout.Contact(i)] > 0.5 {
				a.stand[f*n+i] = 1
			}
		}
		for i, c := range a.columns {
			a.want[f*cols+c], a.weight[f*cols+c] = given[f*len(a.columns)+i], a.Weight
		}
	}
	return a.editor.Run(&Edit{Batch: batch, Length: length, Rows: rows, Stand: a.stand[:frames*n],
		Want: a.want[:frames*cols], Weight: a.weight[:frames*cols], Iterations: iterations})
}
