package manifold

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mannequin/netruntime"
)

// StyleTransfer gives motion of one kind the style of a clip by a linear map of its hidden values.
// It approximates a GramOptimizer for the price of one matrix product. At every stationary point of
// the optimizer's cost
//
//	H = Φ(C)·M,   M = (I + 2s/c·(G(H) − G(Φ(S))))⁻¹
//
// and M depends on a motion only through its Gram matrix, which is similar for all motion of a
// kind. A StyleTransfer is immutable and safe to share. A StyleSet keeps several in a file.
// file.
type StyleTransfer struct {
	Name  string // of the style; may be empty
	model *Model
	delta []float32 // (units, units) M − I
}

// BelongsTo reports whether t is a transfer of m itself and so works for motion of m.
func (t *StyleTransfer) BelongsTo(m *Model) bool { return t != nil && t.model == m }

// StyleTransferOptions are the options of NewStyleTransfer.
type StyleTransferOptions struct {
	Weights    *StyleWeights     // of eq. 14; nil: Style.TransferWeights
	Iterations int               // of the optimizer; 0: four times StyleIterations
	Workers    int               // goroutines, at least 1
	Open       netruntime.Opener // opens sessions; nil: on the CPU

	// Step, if not nil, is called after each step of the optimizer and of its edit. It returns
	// whether to continue.
	Step func(done, most int) bool
}

// TransferWeights returns the weights for a transfer. A fifth of the style's weight brings other
// motion nearer to the style than the full weight does (TestTransfer).
func (s *Style) TransferWeights() StyleWeights {
	w := s.Weights()
	w.Style /= 5
	return w
}

// NewStyleTransfer returns a transfer to a style for motion like content, and a report of the
// content's own result. content is (frames, columns) raw, with an even number of frames. It should
// show all movements that the transfer is for, in 10 s or more; the minimum is 4 s. The transfer
// exaggerates what it overfits, and it does not work for other kinds of motion, such as a run if
// the content walks.
func (m *Model) NewStyleTransfer(style *Style, content []float32, o StyleTransferOptions) (*StyleTransfer, StyleReport, error) {
	if m == nil || style == nil || style.model != m {
		return nil, StyleReport{}, errors.New("manifold: a transfer needs a style of this model")
	}
	frames, err := m.frames("a transfer's content", content, 4*Rate)
	if err != nil {
		return nil, StyleReport{}, err
	}
	s, err := m.NewGramOptimizer(GramOptimizerOptions{Batch: 1, Length: frames, Workers: o.Workers, Open: o.Open})
	if err != nil {
		return nil, StyleReport{}, err
	}
	defer s.Close()
	o.Iterations = cmp.Or(o.Iterations, 4*StyleIterations)
	job := &StyleJob{Batch: 1, Length: frames, Rows: append([]float32(nil), content...), Styles: []*Style{style},
		Start: FromContent, Hidden: make([]float32, frames/2*m.Units), Iterations: o.Iterations, Edit: DefaultIterations}
	stopped := false
	if o.Step != nil {
		done := 0
		job.Stop = func() bool {
			done++
			stopped = stopped || !o.Step(done, o.Iterations+DefaultIterations)
			return stopped
		}
	}
	w := style.TransferWeights()
	if o.Weights != nil {
		w = *o.Weights
	}
	if !(w.Content > 0) {
		return nil, StyleReport{}, errors.New("manifold: a transfer needs a weight of the content above 0")
	}
	job.Weights = []StyleWeights{w}
	reports, _, err := s.Run(job)
	if err != nil {
		return nil, StyleReport{}, err
	}
	if stopped {
		return nil, reports[0], errors.New("manifold: the search for a transfer was stopped")
	}
	if reports[0].Failed {
		return nil, reports[0], errors.New("manifold: the content of the transfer has values that are not finite, or too large")
	}
	t := &StyleTransfer{model: m, delta: make([]float32, m.Units*m.Units)}
	g := make([]float64, m.Units*m.Units)
	gramMatrix(g, job.Hidden, m.Units)
	a := mat.NewSymDense(m.Units, nil)
	for i := range m.Units {
		for j := i; j < m.Units; j++ {
			v := 2 * float64(w.Style) / float64(w.Content) * (g[i*m.Units+j] - float64(style.gram[i*m.Units+j]))
			if i == j {
				v++
			}
			a.SetSym(i, j, v)
		}
	}
	var inv mat.Dense
	if err := inv.Inverse(a); err != nil {
		return nil, reports[0], fmt.Errorf("manifold: the style is too far from the content for a transfer: give it less weight: %w", err)
	}
	for i := range m.Units {
		for j := range m.Units {
			v := inv.At(i, j)
			if i == j {
				v--
			}
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, reports[0], errors.New("manifold: the transfer is not finite: give the style less weight")
			}
			t.delta[i*m.Units+j] = float32(v)
		}
	}
	return t, reports[0], nil
}

// apply adds weight times the transfer's change to hidden values h, (frames, units). sum, (units),
// is scratch.
func (t *StyleTransfer) apply(h, sum []float32, weight float32) {
	n := t.model.Units
	for ; len(h) > 0; h = h[n:] {
		row := h[:n]
		clear(sum)
		for i, v := range row {
			if v == 0 { // three quarters are 0
				continue
			}
			for j, m := range t.delta[i*n:][:n] {
				sum[j] += v * m
			}
		}
		for j, v := range sum {
			row[j] += weight * v
		}
	}
}

// WeightedStyle is the style of an agent in a stream: a transfer with a weight from 0 to 2. The
// zero value is no style. So is a transfer of another model, or a weight that is not a number.
type WeightedStyle struct {
	Transfer *StyleTransfer
	Weight   float32
}

// validStyle returns s with its weight in range, or no style if s is not for m.
func (m *Model) validStyle(s WeightedStyle) WeightedStyle {
	const most = 2
	if !s.Transfer.BelongsTo(m) || !(s.Weight > 0) {
		return WeightedStyle{}
	}
	s.Weight = min(s.Weight, most)
	return s
}

// Restyle returns rows, (frames, columns) raw, in a style: the joints move differently, the body as
// before. The number of frames must be even. Then an edit of the given iterations keeps contacts
// and bone lengths; 0 leaves it out. Restyle fails if the style is of another model or if a value
// of the result is not finite.
func (m *Model) Restyle(rows []float32, s WeightedStyle, iterations, workers int) ([]float32, error) {
	cols := m.Layout.Columns()
	frames, err := m.frames("a motion", rows, 2)
	if err != nil {
		return nil, err
	}
	if s = m.validStyle(s); s.Transfer == nil {
		return nil, errors.New("manifold: restyling wants a transfer of this model and a weight above 0")
	}
	length := frames + 2*margin
	r, err := m.newRestyler(1, length, workers, nil)
	if err != nil {
		return nil, err
	}
	defer r.close()
	padEnds(r.frames, rows, cols)
	if err := r.encodeFrames(1, length); err != nil {
		return nil, err
	}
	s.Transfer.apply(r.hidden, r.sum[0], s.Weight)
	if err := r.decodeHidden(1, length); err != nil {
		return nil, err
	}
	out, contacts := slices.Clone(rows), len(m.Layout.Contacts)
	stand := make([]float32, frames*contacts)
	for f := range frames {
		row := out[f*cols:][:cols]
		copy(row[:m.Layout.Body()], r.frames[(margin+f)*cols:])
		for _, v := range row {
			if !finite(float64(v)) {
				return nil, fmt.Errorf("manifold: frame %d of the motion in the style has values that are not finite: give it less weight", f)
			}
		}
		for i := range contacts {
			stand[f*contacts+i] = min(max(row[m.Layout.Contact(i)], 0), 1)
		}
	}
	if iterations == 0 {
		return out, nil
	}
	job := &Edit{Batch: 1, Length: frames, Rows: out, Body: m.bodyMotion(out), Stand: stand, Iterations: iterations}
	if err := m.editOnce(job, workers); err != nil {
		return nil, err
	}
	return out, nil
}

// restyler gives styles to windows. It belongs to a maker.
type restyler struct {
	*coder                // of the windows with a style
	body, stand []float32 // of the same windows, for a stream
	sum         [][]float32
	windows     []int // indices of those windows
}

func (m *Model) newRestyler(batch, length, workers int, open netruntime.Opener) (*restyler, error) {
	c, err := m.newCoder(batch, length, workers, open)
	if err != nil {
		return nil, err
	}
	r := &restyler{coder: c, windows: make([]int, 0, batch)}
	for range workers {
		r.sum = append(r.sum, make([]float32, m.Units))
	}
	return r, nil
}

// coder encodes and decodes batches of frames.
type coder struct {
	encode, decode netruntime.Session
	frames         []float32 // (batch, length, columns)
	hidden         []float32 // (batch, length/2, units)
	run            netruntime.Sequences
	columns, units int
}

func (m *Model) newCoder(batch, length, workers int, open netruntime.Opener) (*coder, error) {
	c := &coder{columns: m.Layout.Columns(), units: m.Units}
	var err error
	if c.encode, err = open.Session(m.Encoder, netruntime.SessionOptions{Batch: batch, Length: length, Workers: workers}); err != nil {
		return nil, err
	}
	if c.decode, err = open.Session(m.Decoder, netruntime.SessionOptions{Batch: batch, Length: length / 2, Workers: workers}); err != nil {
		return nil, errors.Join(err, c.encode.Close())
	}
	c.frames, c.hidden = make([]float32, batch*length*c.columns), make([]float32, batch*length/2*c.units)
	return c, nil
}

func (c *coder) close() error { return errors.Join(c.encode.Close(), c.decode.Close()) }

// encodeFrames encodes the first n motions of length frames.
func (c *coder) encodeFrames(n, length int) error {
	return c.run.Run(c.encode, c.hidden[:n*length/2*c.units], c.frames[:n*length*c.columns], n, length)
}

// decodeHidden decodes the first n motions to length frames.
func (c *coder) decodeHidden(n, length int) error {
	return c.run.Run(c.decode, c.frames[:n*length*c.columns], c.hidden[:n*length/2*c.units], n, length/2)
}
