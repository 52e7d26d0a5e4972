package manifold

import (
	"errors"
	"fmt"

	"mannequin/animsys/feature"
	"mannequin/animsys/internal/linsolve"
	"mannequin/netruntime"
)

// ActionSynthesizer makes motion of the whole body from the positions of hands or feet: punches and
// kicks (Holden et al. 2016, sec. 8). It belongs to one goroutine.
type ActionSynthesizer struct {
	Weight float32 // of the squared distance of each given position, in the edit's cost; NewActionSynthesizer sets 0.1, which leaves millimetres

	model  *Model
	net    netruntime.Session
	editor *Editor
	inputs []int // of the given positions
	feet   bool  // whether they are those of the contacts' joints
	body   []float32
	batch  int
	length int
	stand  []float32
	want   []float32
	weight []float32
	run    netruntime.Sequences
}

// NewActionSynthesizer returns a synthesizer of a network of mannequin train synth, of kind punch
// or kick. A *feature.SchemaError reports how it does not fit the model.
func (m *Model) NewActionSynthesizer(net *netruntime.Net, o EditorOptions) (*ActionSynthesizer, error) {
	if m == nil || m.Net == nil || net == nil {
		return nil, errZeroModel
	}
	kind := net.Meta().Extra[KeyKind]
	columns, err := m.Columns(kind)
	if err != nil {
		return nil, &feature.SchemaError{Package: "manifold", Model: net.Meta().Name, Diff: []string{err.Error()}}
	}
	if kind == "locomotion" {
		return nil, &feature.SchemaError{Package: "manifold", Model: net.Meta().Name, Diff: []string{"it makes locomotion: see NewWalker"}}
	}
	if err := m.checkNet(net, len(columns), m.Layout.Columns()); err != nil {
		return nil, err
	}
	a := &ActionSynthesizer{Weight: 0.1, model: m, inputs: columns, feet: kind == "kick", batch: o.Batch, length: o.Length}
	if a.editor, err = m.NewEditor(o); err != nil {
		return nil, err
	}
	a.editor.Weights.Bone *= 2 // given hands and feet pull harder at bones than standing ones do
	if a.net, err = o.Open.Session(net, netruntime.SessionOptions{Batch: o.Batch, Length: o.Length, Workers: o.Workers}); err != nil {
		return nil, errors.Join(err, a.editor.Close())
	}
	n := o.Batch * o.Length
	a.stand, a.body = make([]float32, n*len(m.Layout.Contacts)), make([]float32, n*feature.MotionLen)
	a.want, a.weight = make([]float32, n*m.Layout.Columns()), make([]float32, n*m.Layout.Columns())
	return a, nil
}

// Joints returns the joints whose positions are given, in order.
func (a *ActionSynthesizer) Joints() (names []string) {
	for i := 0; i < len(a.inputs); i += 3 {
		names = append(names, a.model.Layout.Joints[a.inputs[i]/3])
	}
	return names
}

// Inputs returns the number of given values per frame: x, y and z of each joint, in the order of
// Model.Columns, in the body's frame, m.
func (a *ActionSynthesizer) Inputs() int { return len(a.inputs) }

// Close stops its workers.
func (a *ActionSynthesizer) Close() error {
	if a.net == nil {
		return nil
	}
	return errors.Join(a.net.Close(), a.editor.Close())
}

// Run writes motions into rows, (batch, length, columns) raw, whose joints follow given, (batch,
// length, Inputs()). iterations are those of the edit that meets the positions, contacts and bone
// lengths; 0 leaves it out, ActionIterations are enough. If feet are given, the body moves so that
// standing feet do not slide. Filters reach about a second to both sides and see zeros beyond the
// first and last frame.
func (a *ActionSynthesizer) Run(rows, given []float32, batch, length, iterations int) (EditReport, error) {
	cols, frames := a.model.Layout.Columns(), batch*length
	if err := checkBatch("motions", batch, length, a.batch, a.length); err != nil {
		return EditReport{}, err
	}
	if len(given) != frames*len(a.inputs) || len(rows) != frames*cols {
		return EditReport{}, fmt.Errorf("manifold: %d values of motion and %d given ones, want %d and %d",
			len(rows), len(given), frames*cols, frames*len(a.inputs))
	}
	if err := a.run.Run(a.net, rows, given, batch, length); err != nil || iterations == 0 {
		return EditReport{}, err
	}
	job := a.newEdit(rows, given, batch, length)
	job.Iterations = iterations
	return a.editor.Run(&job)
}

// newEdit returns the edit of the network's output.
func (a *ActionSynthesizer) newEdit(rows, given []float32, batch, length int) Edit {
	cols, n, frames := a.model.Layout.Columns(), len(a.model.Layout.Contacts), batch*length
	for f := range frames {
		row := rows[f*cols:][:cols]
		for i := range n {
			a.stand[f*n+i] = 0
			if row[a.model.Layout.Contact(i)] > 0.5 {
				a.stand[f*n+i] = 1
			}
		}
		for i, c := range a.inputs {
			a.want[f*cols+c], a.weight[f*cols+c] = given[f*len(a.inputs)+i], a.Weight
		}
	}
	for b := range batch {
		a.solveBody(a.body[b*length*feature.MotionLen:][:length*feature.MotionLen], rows[b*length*cols:][:length*cols],
			given[b*length*len(a.inputs):][:length*len(a.inputs)], a.stand[b*length*n:][:length*n])
	}
	return Edit{Batch: batch, Length: length, Rows: rows, Body: a.body[:frames*feature.MotionLen], Stand: a.stand[:frames*n],
		Want: a.want[:frames*cols], Weight: a.weight[:frames*cols]}
}

// ActionIterations is the number of edit steps that bring bones to a quarter of a per cent. 40 end
// below the cost of the 50 steps of Adam in the authors' release.
const ActionIterations = 80

// trusted is the weight of the network's body motion; a standing foot weighs 1.
const trusted = 0.05

// solveBody writes the motion of a body, (frames, feature.MotionLen). Without given feet it is that
// of rows. Otherwise it is a least-squares solution between that and the motion for which standing
// feet do not slide.
func (a *ActionSynthesizer) solveBody(body, rows, given, stand []float32) {
	cols, at, n := a.model.Layout.Columns(), a.model.Layout.Body(), len(a.model.Layout.Contacts)
	frames := len(rows) / cols
	for f := range frames {
		v := body[f*feature.MotionLen:][:feature.MotionLen]
		copy(v, rows[f*cols+at:])
		if !a.feet || f+1 == frames {
			continue
		}
		// For a foot from p to q, a body's step (x, z) and a small turn w, the foot slides by q +
		// w·(q.Z, −q.X) + (x, z) − p.
		var m [3][4]float64
		for k := range feature.MotionLen {
			m[k][k], m[k][3] = trusted, trusted*float64(v[k])/Rate
		}
		for i := range n {
			if stand[f*n+i] == 0 {
				continue
			}
			p, q := vec(given[f*len(a.inputs):], 3*i), vec(given[(f+1)*len(a.inputs):], 3*i)
			for _, r := range [2][4]float64{{1, 0, float64(q.Z), float64(p.X - q.X)}, {0, 1, -float64(q.X), float64(p.Z - q.Z)}} {
				for j := range 3 {
					for k := range r {
						m[j][k] += r[j] * r[k]
					}
				}
			}
		}
		for k, s := range linsolve.Three(m) {
			v[k] = float32(s * Rate)
		}
	}
}
