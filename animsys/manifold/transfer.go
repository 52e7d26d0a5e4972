package manifold

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
)

// Transfer gives motion of one kind the style of a clip by a linear map of its
// hidden values: what a Stylist would find for it, at the price of a product. At
// every stationary point of a stylist's cost
//
//	H = Φ(C)·M,   M = (I + 2s/c·(G(H) − G(Φ(S))))⁻¹
//
// and M depends on a motion only through its Gram matrix: other motion of the kind
// has nearly the same. It is immutable and safe to share; Transfers keeps some in a
// file.
type StyleTransfer struct {
	Name  string // of the style; may be empty
	model *Model
	less  []float32 // (units, units) M − I
}

// Of reports whether t is of m itself, and so gives those a style that m moves.
func (t *StyleTransfer) BelongsTo(m *Model) bool { return t != nil && t.model == m }

// TransferOptions say how a transfer is found.
type StyleTransferOptions struct {
	Weights    *StyleWeights     // of eq. 14; nil is Style.TransferWeights
	Iterations int               // of the stylist; 0 means four times StyleIterations
	Workers    int               // goroutines, at least 1
	Open       netruntime.Opener // what computes networks; nil is the processor

	// Step is called after each step of the stylist and of its edit, and says whether to
	// go on; nil goes on.
	Step func(done, most int) bool
}

// TransferWeights are those of a transfer to the style: a fifth of the style's weight
// leaves other motion nearer to the style than all of it (TestTransfer).
func (s *Style) TransferWeights() StyleWeights {
	w := s.Weights()
	w.Style /= 5
	return w
}

// NewTransfer returns the transfer from motion like content, (frames, columns) raw,
// an even number of frames, to a style, and how near the content itself comes to
// that. The content should show all that the transfer shall be for, in 10 s or
// more; 4 s is the least. What it learns by heart it does too much to others, and to
// motion that is not like the content, a run where that walks, anything.
func (m *Model) NewStyleTransfer(style *Style, content []float32, o StyleTransferOptions) (*StyleTransfer, StyleReport, error) {
	if style == nil || style.model != m {
		return nil, StyleReport{}, errors.New("manifold: a transfer needs a style of this model")
	}
	cols := m.Layout.Columns()
	frames := len(content) / cols
	if frames < 4*Rate || frames%2 != 0 || len(content) != frames*cols {
		return nil, StyleReport{}, fmt.Errorf("manifold: %d values are no motion to learn a transfer of: want frames of %d, an even number of at least %d", len(content), cols, 4*Rate)
	}
	s, err := m.NewGramOptimizer(GramOptimizerOptions{Batch: 1, Length: frames, Workers: o.Workers, Open: o.Open})
	if err != nil {
		return nil, StyleReport{}, err
	}
	defer s.Close()
	if o.Iterations == 0 {
		o.Iterations = 4 * StyleIterations
	}
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
		return nil, reports[0], errors.New("manifold: the motion to learn a transfer of has values that are not finite, or too large")
	}
	t := &StyleTransfer{model: m, less: make([]float32, m.Units*m.Units)}
	g := make([]float64, m.Units*m.Units)
	gramOf(g, job.Hidden, m.Units)
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
		return nil, reports[0], fmt.Errorf("manifold: the style is too far from the motion for a transfer, give it less weight: %w", err)
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
			t.less[i*m.Units+j] = float32(v)
		}
	}
	return t, reports[0], nil
}

// apply adds weight times what the transfer changes to hidden values h, (frames,
// units), through sum, (units).
func (t *StyleTransfer) apply(h, sum []float32, weight float32) {
	n := t.model.Units
	for ; len(h) > 0; h = h[n:] {
		row := h[:n]
		clear(sum)
		for i, v := range row {
			if v == 0 { // three of four are
				continue
			}
			for j, m := range t.less[i*n:][:n] {
				sum[j] += v * m
			}
		}
		for j, v := range sum {
			row[j] += weight * v
		}
	}
}

// Styled is the style of someone in a stream: a share Weight, 0 to 2, of a transfer
// to it from motion like theirs, of the stream's model. The zero value has none,
// and so has a transfer of another model or a weight that is not a number.
type WeightedStyle struct {
	Transfer *StyleTransfer
	Weight   float32
}

// suits returns s with a weight that can be, or none where it is not for m.
func (m *Model) suits(s WeightedStyle) WeightedStyle {
	const most = 2
	if !s.Transfer.BelongsTo(m) || !(s.Weight > 0) {
		return WeightedStyle{}
	}
	s.Weight = min(s.Weight, most)
	return s
}

// Restyle returns rows, (frames, columns) raw, in a style: the joints move otherwise,
// the body as it did. frames must be even. Then the motion is edited, so that feet
// stand where and when they did and bones keep their length; iterations are those of
// the edit, 0 leaves it out. It is an error if the style is none of this model's, and
// if the motion's values leave the range of numbers.
func (m *Model) Restyle(rows []float32, s WeightedStyle, iterations, workers int) ([]float32, error) {
	cols := m.Layout.Columns()
	frames := len(rows) / cols
	if frames == 0 || frames%2 != 0 || len(rows) != frames*cols {
		return nil, fmt.Errorf("manifold: %d values are no even number of frames of %d", len(rows), cols)
	}
	if s = m.suits(s); s.Transfer == nil {
		return nil, errors.New("manifold: a motion to restyle wants a transfer of this model and a weight above 0")
	}
	length := frames + 2*margin
	r, err := m.newRestyler(1, length, workers, nil)
	if err != nil {
		return nil, err
	}
	defer r.close()
	hold(r.frames, rows, cols)
	if err := r.encode.RunSequences([][]float32{r.hidden}, [][]float32{r.frames}, 1, length); err != nil {
		return nil, err
	}
	s.Transfer.apply(r.hidden, r.sum[0], s.Weight)
	if err := r.decode.RunSequences([][]float32{r.frames}, [][]float32{r.hidden}, 1, length/2); err != nil {
		return nil, err
	}
	out, contacts := slices.Clone(rows), len(m.Layout.Contacts)
	stand, body := make([]float32, frames*contacts), make([]float32, frames*feature.MotionLen)
	for f := range frames {
		row := out[f*cols:][:cols]
		copy(row[:m.Layout.Body()], r.frames[(margin+f)*cols:])
		for _, v := range row {
			if !finite(float64(v)) {
				return nil, fmt.Errorf("manifold: frame %d of the motion in the style has values that are not finite: give it less weight", f)
			}
		}
		copy(body[f*feature.MotionLen:][:feature.MotionLen], row[m.Layout.Body():])
		for i := range contacts {
			stand[f*contacts+i] = min(max(row[m.Layout.Contact(i)], 0), 1)
		}
	}
	if iterations == 0 {
		return out, nil
	}
	e, err := m.NewEditor(EditorOptions{Batch: 1, Length: frames, Workers: workers})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	if _, err := e.Run(&Edit{Batch: 1, Length: frames, Rows: out, Body: body, Stand: stand, Iterations: iterations}); err != nil {
		return nil, err
	}
	return out, nil
}

// restyler gives styles to windows. It belongs to a maker.
type restyler struct {
	encode, decode netruntime.Session
	frames, hidden []float32 // of the windows that have a style
	body, stand    []float32 // the same, of a stream's
	sum            [][]float32
	which          []int // those windows
	in, out        [][]float32
}

func (m *Model) newRestyler(batch, length, workers int, open netruntime.Opener) (*restyler, error) {
	if open == nil {
		open = (*netruntime.Net).NewSession
	}
	r := &restyler{which: make([]int, 0, batch), in: make([][]float32, 1), out: make([][]float32, 1)}
	var err error
	if r.encode, err = open(m.Encoder, netruntime.SessionOptions{Batch: batch, Length: length, Workers: workers}); err != nil {
		return nil, err
	}
	if r.decode, err = open(m.Decoder, netruntime.SessionOptions{Batch: batch, Length: length / 2, Workers: workers}); err != nil {
		return nil, errors.Join(err, r.encode.Close())
	}
	r.frames, r.hidden = make([]float32, batch*length*m.Layout.Columns()), make([]float32, batch*length/2*m.Units)
	for range workers {
		r.sum = append(r.sum, make([]float32, m.Units))
	}
	return r, nil
}

func (r *restyler) close() error { return errors.Join(r.encode.Close(), r.decode.Close()) }
