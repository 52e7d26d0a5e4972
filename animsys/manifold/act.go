package manifold

import (
	"errors"
	"fmt"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
)

// Actor makes motion of the whole body from the places of hands or feet: punches
// and kicks (Holden et al. 2016, sec. 8). It belongs to one goroutine.
type Actor struct {
	Weight float32 // of the squared distance of each given place, in the edit's cost; NewActor sets 0.1, which leaves millimetres

	model   *Model
	net     netruntime.Session
	editor  *Editor
	columns []int // of the given places
	feet    bool  // they are those of the joints that have contacts
	body    []float32
	batch   int
	length  int
	stand   []float32
	want    []float32
	weight  []float32
	in, out [][]float32
}

// NewActor returns an actor of a network that mannequin train synth makes, of the
// kind punch or kick. A *feature.SchemaError tells where it does not fit the model.
func (m *Model) NewActor(net *netruntime.Net, o EditorOptions) (*Actor, error) {
	kind := net.Meta().Extra[KeyKind]
	columns, err := m.Columns(kind)
	if err != nil {
		return nil, &feature.SchemaError{Package: "manifold", Model: net.Meta().Name, Diff: []string{err.Error()}}
	}
	if kind == "locomotion" {
		return nil, &feature.SchemaError{Package: "manifold", Model: net.Meta().Name, Diff: []string{"it makes locomotion: see NewWalker"}}
	}
	if err := m.fits(net, len(columns), m.Layout.Columns()); err != nil {
		return nil, err
	}
	a := &Actor{Weight: 0.1, model: m, columns: columns, feet: kind == "kick", batch: o.Batch, length: o.Length}
	if a.editor, err = m.NewEditor(o); err != nil {
		return nil, err
	}
	a.editor.Weights.Bone *= 2 // hands and feet that are given pull harder at bones than standing ones do
	open := o.Open
	if open == nil {
		open = (*netruntime.Net).NewSession
	}
	if a.net, err = open(net, netruntime.SessionOptions{Batch: o.Batch, Length: o.Length, Workers: o.Workers}); err != nil {
		return nil, errors.Join(err, a.editor.Close())
	}
	n := o.Batch * o.Length
	a.stand, a.body = make([]float32, n*len(m.Layout.Contacts)), make([]float32, n*feature.MotionLen)
	a.want, a.weight = make([]float32, n*m.Layout.Columns()), make([]float32, n*m.Layout.Columns())
	a.in, a.out = make([][]float32, 1), make([][]float32, 1)
	return a, nil
}

// Joints returns the joints whose places are given, in order.
func (a *Actor) Joints() (names []string) {
	for i := 0; i < len(a.columns); i += 3 {
		names = append(names, a.model.Layout.Joints[a.columns[i]/3])
	}
	return names
}

// Given returns how many values of a frame are given: x, y and z of each joint,
// in the order of Model.Columns, in the body's frame, m.
func (a *Actor) Given() int { return len(a.columns) }

// Close ends its workers.
func (a *Actor) Close() error { return errors.Join(a.net.Close(), a.editor.Close()) }

// Act writes into rows, (batch, length, columns) raw, the motions in which the
// joints go where given says, (batch, length, Given()). iterations are those of
// the edit that takes them there, holds standing feet, and bones; 0 leaves it
// out, ActIterations are enough. Where feet are given the body moves so that
// those that stand do. Filters reach about a second to both sides: beyond the first and last
// frame they see zeros.
func (a *Actor) Act(rows, given []float32, batch, length, iterations int) (EditReport, error) {
	cols, frames := a.model.Layout.Columns(), batch*length
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
	job := a.ask(rows, given, batch, length)
	job.Iterations = iterations
	return a.editor.Run(&job)
}

// ask returns the edit of what the network has made.
func (a *Actor) ask(rows, given []float32, batch, length int) Edit {
	cols, n, frames := a.model.Layout.Columns(), len(a.model.Layout.Contacts), batch*length
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
	for b := range batch {
		a.carry(a.body[b*length*feature.MotionLen:][:length*feature.MotionLen], rows[b*length*cols:][:length*cols],
			given[b*length*len(a.columns):][:length*len(a.columns)], a.stand[b*length*n:][:length*n])
	}
	return Edit{Batch: batch, Length: length, Rows: rows, Body: a.body[:frames*feature.MotionLen], Stand: a.stand[:frames*n],
		Want: a.want[:frames*cols], Weight: a.weight[:frames*cols]}
}

// ActIterations are the steps of an edit of punches and kicks that bring bones to
// a quarter of a per cent; 40 end below the cost of the 50 steps of Adam in the
// authors' release.
const ActIterations = 80

// trusted is how much the network's motion of a body counts beside a foot that
// stands.
const trusted = 0.05

// carry writes the motion of a body, (frames, feature.MotionLen): that of rows or,
// where feet are given, the motion between that and the one in which those that
// stand do not slide, by least squares.
func (a *Actor) carry(body, rows, given, stand []float32) {
	cols, at, n := a.model.Layout.Columns(), a.model.Layout.Body(), len(a.model.Layout.Contacts)
	frames := len(rows) / cols
	for f := range frames {
		v := body[f*feature.MotionLen:][:feature.MotionLen]
		copy(v, rows[f*cols+at:])
		if !a.feet || f+1 == frames {
			continue
		}
		// Of a foot from p to q, the body's way (x, z) and a small turn w: it slides
		// by q + w·(q.Z, −q.X) + (x, z) − p.
		var m [3][4]float64
		for k := range feature.MotionLen {
			m[k][k], m[k][3] = trusted, trusted*float64(v[k])/Rate
		}
		for i := range n {
			if stand[f*n+i] == 0 {
				continue
			}
			p, q := vec(given[f*len(a.columns):], 3*i), vec(given[(f+1)*len(a.columns):], 3*i)
			for _, r := range [2][4]float64{{1, 0, float64(q.Z), float64(p.X - q.X)}, {0, 1, -float64(q.X), float64(p.Z - q.Z)}} {
				for j := range 3 {
					for k := range r {
						m[j][k] += r[j] * r[k]
					}
				}
			}
		}
		for k, s := range solve3(m) {
			v[k] = float32(s * Rate)
		}
	}
}

// solve3 returns the solution of three equations whose matrix is positive
// definite; the last column is the right side.
func solve3(m [3][4]float64) (x [3]float64) {
	for i := range 3 {
		for j := i + 1; j < 3; j++ {
			s := m[j][i] / m[i][i]
			for k := i; k < 4; k++ {
				m[j][k] -= s * m[i][k]
			}
		}
	}
	for i := 2; i >= 0; i-- {
		x[i] = m[i][3]
		for k := i + 1; k < 3; k++ {
			x[i] -= m[i][k] * x[k]
		}
		x[i] /= m[i][i]
	}
	return x
}
