package manifold

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/internal/linsolve"
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
type StyleTransfer struct {
	Name  string // of the style; may be empty
	model *Model
	delta []float32 // (units + 1, units) from hidden values, and a constant 1, to their change

	person *feature.Person // of poses
	poses  []float32       // (values + 1, values) from a pose's places of joints, and 1, to a move, m, and turns, rad; nil: see FitPoses
}

// BelongsTo reports whether t is a transfer of m itself and so works for motion of m.
func (t *StyleTransfer) BelongsTo(m *Model) bool { return t != nil && t.model == m }

// StyleTransferOptions are the options of NewStyleTransfer.
type StyleTransferOptions struct {
	Weights    *StyleWeights     // of eq. 14; nil: Style.TransferWeights
	Iterations int               // of the optimizer; 0: four times StyleIterations
	Workers    int               // goroutines, at least 1
	Open       netruntime.Opener // opens sessions; nil: on the CPU

	// Step, if not nil, is called after each step of the optimizer. It returns whether to continue.
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
		Start: FromContent, Hidden: make([]float32, frames/2*m.Units), Iterations: o.Iterations}
	stopped := false
	if o.Step != nil {
		done := 0
		job.Stop = func() bool {
			done++
			stopped = stopped || !o.Step(done, o.Iterations)
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
	// H changes by Δ = M − I. At the end of the descent H itself has changed by just that.
	x := s.content[:frames/2*m.Units]
	change := job.Hidden
	for i, v := range x {
		change[i] -= v
	}
	t, err := m.fitTransfer(x, change)
	return t, reports[0], err
}

// StylePair is one movement without a style and in it, frame by frame: (frames, columns) raw, of an
// even number of frames.
type StylePair struct{ Plain, Styled []float32 }

// NewPairedTransfer returns the transfer that changes plain motions into styled ones, found from
// pairs of them. Only the poses of styled motions count: their bodies' motion and contacts are taken
// from the plain ones.
func (m *Model) NewPairedTransfer(pairs []StylePair, workers int) (*StyleTransfer, error) {
	if m == nil || m.Net == nil {
		return nil, errZeroModel
	}
	cols, poses := m.Layout.Columns(), m.Layout.Body()
	var x, change []float32
	for i, p := range pairs {
		if _, err := m.frames(fmt.Sprintf("plain motion %d", i), p.Plain, 2); err != nil {
			return nil, err
		}
		if len(p.Styled) != len(p.Plain) {
			return nil, fmt.Errorf("manifold: styled motion %d has %d values, its plain one %d: want as many", i, len(p.Styled), len(p.Plain))
		}
		styled := slices.Clone(p.Plain)
		for f := 0; f < len(styled); f += cols {
			copy(styled[f:f+poses], p.Styled[f:])
		}
		from, e1 := m.hiddenValues(p.Plain, workers)
		to, e2 := m.hiddenValues(styled, workers)
		if err := errors.Join(e1, e2); err != nil {
			return nil, err
		}
		for k, v := range from {
			to[k] -= v
		}
		x, change = append(x, from...), append(change, to...)
	}
	return m.fitTransfer(x, change)
}

// ridgeShare is the penalty of a transfer's squared values, as a share of the mean square of a
// hidden value.
const ridgeShare = 0.1

// fitTransfer returns the ridge regression, with a constant, of a change on hidden values x, both
// (frames, units). Directions that x hardly shows change hardly.
func (m *Model) fitTransfer(x, change []float32) (*StyleTransfer, error) {
	u, n := m.Units, m.Units+1
	a, b := make([]float64, n*n), make([]float64, n*u)
	row := make([]float64, n)
	row[u] = 1
	for f := range len(x) / u {
		for i, v := range x[f*u:][:u] {
			row[i] = float64(v)
		}
		for i, v := range row {
			if v == 0 { // three quarters are 0
				continue
			}
			for j := range i + 1 {
				a[i*n+j] += v * row[j]
			}
			to := b[i*u:][:u]
			for j, c := range change[f*u:][:u] {
				to[j] += v * float64(c)
			}
		}
	}
	trace := 0.0
	for i := range u {
		trace += a[i*n+i]
	}
	for i := range u {
		a[i*n+i] += ridgeShare*trace/float64(u) + 1e-12
	}
	if !linsolve.Factor(a, n, 0) {
		return nil, errors.New("manifold: the content of the transfer has no motion that a style could be fitted to")
	}
	linsolve.Substitute(a, b, n, u)
	t := &StyleTransfer{model: m, delta: make([]float32, n*u)}
	for i, v := range b {
		if t.delta[i] = float32(v); !finite(v) {
			return nil, errors.New("manifold: the transfer is not finite: give the style less weight")
		}
	}
	return t, nil
}

// apply replaces hidden values h, (frames, units), with weight times the transfer's change of them.
// sum, (units), is scratch.
func (t *StyleTransfer) apply(h, sum []float32, weight float32) {
	n := t.model.Units
	for ; len(h) > 0; h = h[n:] {
		row := h[:n]
		copy(sum, t.delta[n*n:])
		for i, v := range row {
			if v == 0 { // three quarters are 0
				continue
			}
			for j, m := range t.delta[i*n:][:n] {
				sum[j] += v * m
			}
		}
		for j, v := range sum {
			row[j] = weight * v
		}
	}
}

// WeightedStyle is the style of an agent in a stream: a transfer with a weight from 0 to 2. The
// zero value is no style. So is a transfer of another model, or a weight that is not a number.
type WeightedStyle struct {
	Transfer *StyleTransfer
	Weight   float32
}

const mostWeight = 2

// validStyle returns s with its weight in range, or no style if s is not for m.
func (m *Model) validStyle(s WeightedStyle) WeightedStyle {
	if !s.Transfer.BelongsTo(m) || !(s.Weight > 0) {
		return WeightedStyle{}
	}
	s.Weight = min(s.Weight, mostWeight)
	return s
}

// Restyle returns rows, (frames, columns) raw, in a style: the joints move differently, the body as
// before. The number of frames must be even. Then an edit of the given iterations keeps contacts
// and bone lengths; 0 leaves it out. Restyle fails if the style is of another model or if a value
// of the result is not finite.
func (m *Model) Restyle(rows []float32, s WeightedStyle, iterations, workers int) ([]float32, error) {
	frames, err := m.frames("a motion", rows, 2)
	if err != nil {
		return nil, err
	}
	cols := m.Layout.Columns()
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
	r.addChange(out, 0, margin, length)
	stand := make([]float32, frames*contacts)
	for f := range frames {
		row := out[f*cols:][:cols]
		for _, v := range row {
			if !finite(float64(v)) {
				return nil, fmt.Errorf("manifold: frame %d of the motion in the style has values that are not finite: give it less weight", f)
			}
		}
		for i := range contacts {
			stand[f*contacts+i] = min(max(row[m.Layout.Contact(i)], 0), 1)
		}
	}
	r.hold[0].run(out, rows, stand)
	if iterations == 0 {
		return out, nil
	}
	level := make([]float32, len(stand))
	m.Layout.Level(level, rows, Rate)
	job := &Edit{Batch: 1, Length: frames, Rows: out, Body: m.bodyMotion(out), Stand: stand, Level: level, Loosen: DefaultLoosen, Iterations: iterations}
	if err := m.editOnce(job, workers); err != nil {
		return nil, err
	}
	return out, nil
}

// restyler gives styles to windows. It belongs to a maker.
type restyler struct {
	*coder                // of the windows with a style
	styled      []float32 // the same windows in their styles, for a stream
	body, stand []float32 // of the same windows, for a stream
	sum         [][]float32
	windows     []int     // indices of those windows
	rest        []float32 // (length, columns) decoded hidden values of 0
	poses       int       // columns of joints
	hold        []*holder // by worker
}

// addChange adds the decoded change of frames first and on of motion i to the poses of rows, (frames,
// columns).
func (r *restyler) addChange(rows []float32, i, first, length int) {
	for f := range len(rows) / r.columns {
		from := (first + f) * r.columns
		change, rest := r.frames[i*length*r.columns+from:], r.rest[from:]
		for c := range r.poses {
			rows[f*r.columns+c] += change[c] - rest[c]
		}
	}
}

func (m *Model) newRestyler(batch, length, workers int, open netruntime.Opener) (*restyler, error) {
	c, err := m.newCoder(batch, length, workers, open)
	if err != nil {
		return nil, err
	}
	r := &restyler{coder: c, poses: m.Layout.Body(), windows: make([]int, 0, batch)}
	if err := r.decodeHidden(1, length); err != nil {
		return nil, errors.Join(err, c.close())
	}
	r.rest = slices.Clone(r.frames[:length*c.columns])
	for range workers {
		r.sum = append(r.sum, make([]float32, m.Units))
		r.hold = append(r.hold, newHolder(m.person, length))
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
