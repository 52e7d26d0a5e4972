package manifold

import (
	"errors"
	"fmt"

	"mannequin/netruntime"
	"mannequin/netruntime/grad"
)

// MinStyleFrames is the minimum length of a style clip in frames: half a second, about the width of
// one filter. A good clip shows a whole cycle of the movement.
const MinStyleFrames = 30

// StyleIterations is the number of optimizer steps after which little changes. The cost is then far
// below what the paper's 250 steps of Adam reach.
const StyleIterations = 60

// Style is the style of a clip: its Gram matrix, the mean over time of the products of its hidden
// values (Holden et al. 2016, eq. 15). It is immutable.
type Style struct {
	model *Model
	gram  []float32 // (units, units)
}

// NewStyle returns the style of a clip, rows (frames, columns) raw. The number of frames must be
// even and at least MinStyleFrames.
func (m *Model) NewStyle(rows []float32, workers int) (*Style, error) {
	if m == nil || m.Net == nil {
		return nil, errZeroModel
	}
	if _, err := m.frames("a style clip", rows, MinStyleFrames); err != nil {
		return nil, err
	}
	h, err := m.hiddenValues(rows, workers)
	if err != nil {
		return nil, err
	}
	s := &Style{m, make([]float32, m.Units*m.Units)}
	g := make([]float64, m.Units*m.Units)
	gramMatrix(g, h, m.Units)
	for i, v := range g {
		if s.gram[i] = float32(v); !finite(v) {
			return nil, fmt.Errorf("manifold: the style clip's result is not finite")
		}
	}
	return s, nil
}

// hiddenValues returns the hidden values of rows, (frames, columns) raw, as (frames/2, units). The
// number of frames must be even.
func (m *Model) hiddenValues(rows []float32, workers int) ([]float32, error) {
	cols := m.Layout.Columns()
	frames := len(rows) / cols
	long := frames + 2*margin
	e, err := m.Encoder.NewSession(netruntime.SessionOptions{Batch: 1, Length: long, Workers: workers})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	x, h := make([]float32, long*cols), make([]float32, long/2*m.Units)
	padEnds(x, rows, cols)
	if err := e.RunSequences([][]float32{h}, [][]float32{x}, 1, long); err != nil {
		return nil, err
	}
	return h[margin/2*m.Units:][:frames/2*m.Units], nil
}

// Distance returns the squared distance of two Gram matrices, ‖G − G'‖², as in StyleReport.
func (s *Style) Distance(other *Style) float64 {
	sum := 0.0
	for i, v := range s.gram {
		d := float64(v) - float64(other.gram[i])
		sum += d * d
	}
	return sum
}

// padEnds writes rows into x with the first and the last frame repeated margin times.
func padEnds(x, rows []float32, cols int) {
	copy(x[margin*cols:], rows)
	last := len(rows) - cols
	for f := range margin {
		copy(x[f*cols:], rows[:cols])
		copy(x[margin*cols+len(rows)+f*cols:][:cols], rows[last:])
	}
}

// gramMatrix writes the mean over time of the products of h, (frames, units), into g, (units,
// units).
func gramMatrix(g []float64, h []float32, units int) {
	clear(g)
	n := float64(len(h) / units)
	for ; len(h) > 0; h = h[units:] {
		for i, a := range h[:units] {
			if a == 0 { // three quarters are 0
				continue
			}
			row := g[i*units:][:i+1]
			for j, b := range h[:i+1] {
				row[j] += float64(a) * float64(b) / n
			}
		}
	}
	for i := range units {
		for j := range i {
			g[j*units+i] = g[i*units+j]
		}
	}
}

// StyleWeights are the weights of the two terms of eq. 14.
type StyleWeights struct {
	Style   float32 // s, of the squared distance of the Gram matrices
	Content float32 // c, of the squared distance from the content's hidden values
}

// PaperStyle has the paper's weights. The strength of the style depends on the size of a network's
// hidden values: one term grows with its fourth power, the other with its square. See
// Style.Weights.
var PaperStyle = StyleWeights{Style: 0.01, Content: 1}

// strength is s in units of the content's weight divided by the style's mean square of a hidden
// frame. The distance from the style then falls to a tenth of the content's.
const strength = 32

// Weights returns weights that make the style visible for any size of hidden values.
func (s *Style) Weights() StyleWeights {
	trace := 0.0
	for i := 0; i < len(s.gram); i += s.model.Units + 1 {
		trace += float64(s.gram[i])
	}
	return StyleWeights{Style: float32(strength / max(trace, 1e-6)), Content: 1}
}

// GramOptimizerOptions are the options of NewGramOptimizer.
type GramOptimizerOptions struct {
	Batch   int               // most motions at a time, at least 1
	Length  int               // most frames of a motion, even
	Workers int               // goroutines, at least 1
	Open    netruntime.Opener // opens sessions; nil: on the CPU
}

// GramOptimizer gives motions the style of a clip (Holden et al. 2016, sec. 7.2). For hidden values
// H it minimises
//
//	s·‖G(Φ(S)) − G(H)‖² + c·‖Φ(C) − H‖²,   G(H) = mean over time of Hₜ·Hₜᵀ
//
// where S is the style clip and C the content, the motion to change. Both terms are means over
// time, so the strength of the style does not depend on the length of a motion. Afterwards the
// motion is edited (sec. 7.1): the body moves as before, the contacts and the bone lengths stay. A
// GramOptimizer belongs to one goroutine. That may be a background goroutine with a time budget
// (StyleJob.Stop).
//
// The method is conjugate gradients. Along a line the cost is a polynomial of fourth degree, so
// each step goes to its exact minimum.
type GramOptimizer struct {
	Editor *Editor // of the edit afterwards; its weights may be changed

	model         *Model
	batch, length int
	tapes         *grad.Pool
	tape, line    *grad.Tape
	pool          *netruntime.Pool

	*coder             // with margins around the motions
	content  []float32 // (batch, length/2, units) Φ(C)
	h        []float32 // current hidden values of each motion
	grad     []float32 // gradient of the cost at h
	last     []float32 // gradient of the previous step
	dir      []float32 // search direction
	stand    []float32
	level    []float32   // of the content, as Edit.Level
	original []float32   // original rows
	scratch  [][]float64 // (batch)(units, units)
	state    []styleState

	edit      Edit
	job       *StyleJob // of the current run
	input     *grad.Mat // h, an input of tape
	gram      *grad.Mat // G(h)
	probe     *grad.Mat // dir of all motions, then h + dir
	probeGram *grad.Mat // Gram matrices of probe
	tasks     styleTasks
	reports   []StyleReport
}

// StyleJob is one call of GramOptimizer.Run: a batch of motions of equal length.
type StyleJob struct {
	Batch, Length int       // motions, and frames of each: even, at most the optimizer's
	Rows          []float32 // (Batch, Length, columns) raw, the contents; changed in place
	Styles        []*Style  // (Batch), or one for all
	// Weights are the weights of each motion, or one for all; nil: those of Style.Weights.
	Weights []StyleWeights

	// Start is the starting point of the descent. White noise has deviation 1 and is the same for
	// all motions; Seed selects it.
	Start StyleStart
	Seed  uint64
	// Hidden holds hidden values to start from and receives the result, (Batch, Length/2, units).
	// It may be nil. A descent that Stop ended can continue from there, with the contents in Rows
	// again.
	Hidden []float32

	Iterations int         // maximum number of steps, at least 1; see StyleIterations
	Edit       int         // maximum number of steps of the edit; see DefaultIterations; 0: no edit
	Stop       func() bool // called after each step of both, for a time budget; nil: never stops
}

// StyleStart is the starting point of a descent. The minimum is the same for all; from the content
// it takes half as many steps.
type StyleStart uint8

// Starting points.
const (
	FromNoise   StyleStart = iota // white noise, as in the paper
	FromContent                   // Φ(C)
	FromHidden                    // StyleJob.Hidden
)

// StyleReport describes the result for one motion.
type StyleReport struct {
	Before, After float64 // eq. 14 at the start and the end of the descent
	Content       float64 // second term at the end, without c
	Steps         int
	Failed        bool // a value is not finite, or too large; the motion is unchanged

	// Squared distances of Gram matrices from the style's: of the content, of the hidden values
	// found, and of the encoded final motion.
	GramContent, GramHidden, GramResult float64
}

// Ratio returns GramResult/GramContent: how much of the distance from the style is left. It is 1 if
// GramContent is 0.
func (r *StyleReport) Ratio() float64 {
	if r.GramContent == 0 {
		return 1
	}
	return r.GramResult / r.GramContent
}

// NewGramOptimizer returns an optimizer for motions of the model. It fails if the decoder is not
// linear in its hidden values.
func (m *Model) NewGramOptimizer(o GramOptimizerOptions) (*GramOptimizer, error) {
	e, err := m.NewEditor(EditorOptions(o))
	if err != nil {
		return nil, err
	}
	s := &GramOptimizer{Editor: e, model: m, batch: o.Batch, length: o.Length}
	if s.coder, err = m.newCoder(o.Batch, o.Length+2*margin, o.Workers, o.Open); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	s.tapes, s.pool = grad.NewPool(o.Workers), netruntime.NewPool(o.Workers)
	s.tape, s.line = grad.NewTape(s.tapes), grad.NewTape(s.tapes)
	cols, contacts := m.Layout.Columns(), len(m.Layout.Contacts)
	for v, n := range map[*[]float32]int{
		&s.original: o.Length * cols,
		&s.content:  o.Length / 2 * m.Units, &s.h: o.Length / 2 * m.Units, &s.grad: o.Length / 2 * m.Units,
		&s.last: o.Length / 2 * m.Units, &s.dir: o.Length / 2 * m.Units,
		&s.stand: o.Length * contacts,
		&s.level: o.Length * contacts,
	} {
		*v = make([]float32, o.Batch*n)
	}
	s.state, s.reports = make([]styleState, o.Batch), make([]StyleReport, o.Batch)
	s.scratch = make([][]float64, o.Batch)
	for b := range s.scratch {
		s.scratch[b] = make([]float64, m.Units*m.Units)
	}
	s.bind()
	return s, nil
}

// Close stops the optimizer's workers.
func (s *GramOptimizer) Close() error {
	if s.pool == nil {
		return nil
	}
	s.tapes.Close()
	s.pool.Close()
	return errors.Join(s.Editor.Close(), s.coder.close())
}

// Run gives the motions their styles. It returns a report for each motion, valid until the next
// run, and a report of the edit. A motion's result is bit-identical alone or in a batch. A motion
// with values that are not finite is unchanged.
func (s *GramOptimizer) Run(job *StyleJob) ([]StyleReport, EditReport, error) {
	var edit EditReport
	if err := s.check(job); err != nil {
		return nil, edit, err
	}
	s.job = job
	defer func() { s.job = nil }()
	copy(s.original, job.Rows)
	if err := s.encodeRows(); err != nil {
		return nil, edit, err
	}
	s.pool.Run(job.Batch, s.tasks.begin)
	s.descend()
	s.pool.Run(job.Batch, s.tasks.margins)
	if err := s.decodeHidden(job.Batch, job.Length+2*margin); err != nil {
		return nil, edit, err
	}
	s.pool.Run(job.Batch, s.tasks.poses)
	if job.Edit > 0 {
		s.edit = Edit{Batch: job.Batch, Length: job.Length, Rows: job.Rows,
			Stand: s.stand[:job.Batch*job.Length*len(s.model.Layout.Contacts)],
			Level: s.level[:job.Batch*job.Length*len(s.model.Layout.Contacts)], Iterations: job.Edit, Stop: job.Stop}
		var err error
		if edit, err = s.Editor.Run(&s.edit); err != nil {
			return nil, edit, err
		}
	}
	if err := s.encodeRows(); err != nil {
		return nil, edit, err
	}
	s.pool.Run(job.Batch, s.tasks.report)
	return s.reports[:job.Batch], edit, nil
}

func (s *GramOptimizer) check(job *StyleJob) error {
	if err := checkBatch("motions", job.Batch, job.Length, s.batch, s.length); err != nil {
		return err
	}
	if n := job.Batch * job.Length * s.model.Layout.Columns(); len(job.Rows) != n {
		return fmt.Errorf("manifold: StyleJob.Rows has %d values, want %d", len(job.Rows), n)
	}
	hidden := job.Batch * job.Length / 2 * s.model.Units
	switch n := len(job.Hidden); {
	case job.Start > FromHidden:
		return fmt.Errorf("manifold: StyleJob.Start is %d, want FromNoise, FromContent or FromHidden", job.Start)
	case job.Start == FromHidden && n != hidden, job.Hidden != nil && n != hidden:
		return fmt.Errorf("manifold: StyleJob.Hidden has %d values, want %d", n, hidden)
	case job.Iterations < 1 || job.Edit < 0:
		return fmt.Errorf("manifold: StyleJob.Iterations is %d and Edit %d: want at least 1 and 0 steps", job.Iterations, job.Edit)
	}
	if len(job.Styles) != 1 && len(job.Styles) != job.Batch {
		return fmt.Errorf("manifold: StyleJob.Styles has %d styles for %d motions: want one for each, or one for all", len(job.Styles), job.Batch)
	}
	for i, st := range job.Styles {
		if st == nil || st.model != s.model {
			return fmt.Errorf("manifold: style %d is not of this optimizer's model", i)
		}
	}
	if n := len(job.Weights); n > 1 && n != job.Batch {
		return fmt.Errorf("manifold: StyleJob.Weights has %d pairs for %d motions: want one for each, one for all, or none", n, job.Batch)
	}
	for i, w := range job.Weights {
		if low, high := min(w.Style, w.Content), max(w.Style, w.Content); !(low >= 0) || !finite(float64(high)) {
			return fmt.Errorf("manifold: StyleJob.Weights %d are %g and %g: want finite ones, not below 0", i, w.Style, w.Content)
		}
		if w.Style == 0 && w.Content == 0 {
			return fmt.Errorf("manifold: StyleJob.Weights %d are both 0", i)
		}
	}
	return nil
}
