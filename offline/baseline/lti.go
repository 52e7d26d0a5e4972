package baseline

import (
	"cmp"
	"fmt"
	"runtime"

	"gonum.org/v1/gonum/mat"

	"mannequin/netruntime"
)

// LTIOptions are the options of [FitLTI]. The zero value is the paper's form.
type LTIOptions struct {
	MaxOrder   int     // highest order tried, from 0 on; 0: 8, less with short data
	Horizon    int     // frames of past and of future in a window of the subspace method, above MaxOrder; 0: see FitLTI
	Pose       bool    // a degree of freedom's inputs are itself, as in the paper, and components of the whole pose
	Components int     // principal components of the input's pose, for steps and, with Pose, poses; 0: 8
	MaxPole    float64 // largest magnitude of a pole, below 1; 0: 0.99
	Workers    int     // goroutines; 0: one per processor
}

// folds is the number of parts in the cross-validation that chooses orders.
const folds = 3

// LTI holds linear time-invariant systems, one for each degree of freedom and one for the logarithm
// of steps, after Hsu, Pulli and Popović 2005.
type LTI struct {
	dofs    int
	meanX   []float64 // (dofs)
	meanY   []float64 // (dofs)
	poses   []*system // (dofs)
	pose    *basis
	meanLog float64
	steps   *system
	clock   clock
}

// FitLTI identifies the systems from pairs of at least two frames: A and C by a subspace method, B
// and D by a ridge regression of the simulated output. A system gives the difference from its own
// input, so that the ridge pulls toward the input and not toward a still pose. The class of systems
// is the same, because D may pass the input through. Windows never reach across pairs. Poles
// outside the unit circle are reflected into it.
//
// Order, ridge and first state (0, or the state of an input that never changed before) are the
// simplest whose squared error on held-out data is within 5 % of the best. The data is cut into
// three parts, pairs or pieces of the only pair, and each is held out once. Order 0 is a gain and
// an offset. For steps the error is of their running sum, the time.
//
// The default horizon is 20 for one input and 10 for more, at least MaxOrder + 2, and less with
// short data. Data too short for an order or a horizon in o is an error. Default orders and
// horizons, and the ones of steps, are lowered instead.
func FitLTI(pairs []Pair, o LTIOptions) (*LTI, error) {
	dofs, err := checkPairs(pairs)
	if err != nil {
		return nil, err
	}
	if o.MaxOrder < 0 || o.MaxOrder > 50 || o.Horizon < 0 || o.Horizon > 200 || o.Components < 0 {
		return nil, fmt.Errorf("baseline: MaxOrder is %d, Horizon %d, Components %d: want orders of 0 to 50, horizons of 0 to 200 "+
			"and no negative number", o.MaxOrder, o.Horizon, o.Components)
	}
	o.MaxPole = cmp.Or(o.MaxPole, defaultMaxPole)
	if !(o.MaxPole > 0 && o.MaxPole < 1) {
		return nil, fmt.Errorf("baseline: MaxPole is %v, want more than 0 and less than 1", o.MaxPole)
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	strict := o.MaxOrder != 0 || o.Horizon != 0
	o.MaxOrder = cmp.Or(o.MaxOrder, 8)
	o.Components = cmp.Or(o.Components, 8)
	if o.Horizon != 0 && o.Horizon <= o.MaxOrder {
		return nil, fmt.Errorf("baseline: Horizon is %d frames, want more than MaxOrder, %d", o.Horizon, o.MaxOrder)
	}
	m := &LTI{dofs: dofs, meanX: columnMeans(pairs, false), meanY: columnMeans(pairs, true), poses: make([]*system, dofs)}
	if m.pose, err = fitBasis(pairs, o.Components); err != nil {
		return nil, err
	}
	inputs := 1
	scores := make([]*mat.Dense, len(pairs)) // nil without Pose
	if o.Pose {
		inputs += len(m.pose.variance)
		for i, p := range pairs {
			scores[i] = m.pose.scores(p.X)
		}
	}
	s, err := o.search(pairs, inputs, strict)
	if err != nil {
		return nil, err
	}
	pool := netruntime.NewPool(min(o.Workers, dofs))
	defer pool.Close()
	pool.Run(dofs, func(_, d int) { m.poses[d] = s.identify(m.records(pairs, scores, d), inputs) })
	return m, m.fitSteps(pairs, o)
}

// fitSteps identifies the system of steps. Its inputs are the whole pose and its velocity.
func (m *LTI) fitSteps(pairs []Pair, o LTIOptions) error {
	logs := logSteps(pairs)
	for _, l := range logs {
		for _, v := range l {
			m.meanLog += v
		}
	}
	m.meanLog /= float64(countFrames(pairs))
	var records []record
	for i, p := range pairs {
		rec := record{u: m.pose.moving(p.X).RawMatrix().Data, y: make([]float64, len(logs[i]))}
		for t, v := range logs[i] {
			rec.y[t] = v - m.meanLog
		}
		records = append(records, rec)
	}
	drives := 2 * len(m.pose.variance)
	s, err := o.search(pairs, drives, false)
	if err != nil {
		return err
	}
	s.summed = true
	m.steps = s.identify(records, drives)
	m.clock = fitClock(logs, func(i int) []float64 { return m.stepLogs(records[i].u, len(records[i].y)) })
	return nil
}

func (m *LTI) stepLogs(u []float64, frames int) []float64 {
	y := make([]float64, frames)
	m.steps.simulate(y, u)
	for t := range y {
		y[t] += m.meanLog
	}
	return y
}

// search returns the settings for systems of some inputs. It lowers the horizon and, unless strict,
// the order until there are enough windows to hold some out.
func (o LTIOptions) search(pairs []Pair, inputs int, strict bool) (search, error) {
	s := search{maxOrder: o.MaxOrder, horizon: o.Horizon, folds: folds, radius: o.MaxPole}
	if s.horizon == 0 {
		s.horizon = 10
		if inputs == 1 {
			s.horizon = 20
		}
		s.horizon = max(s.horizon, o.MaxOrder+2)
	}
	least := 2 // only order 0 fits it
	if strict {
		least = min(o.MaxOrder+2, s.horizon)
		if o.Horizon != 0 {
			least = o.Horizon
		}
	}
	for s.horizon > least && !s.canHoldOut(pairs, inputs) {
		s.horizon--
	}
	if !strict {
		s.maxOrder = min(s.maxOrder, s.horizon-2)
	}
	if have, need := countWindows(pairs, s.horizon), windowColumns(s.horizon, inputs); s.maxOrder > 0 && have < need {
		return s, fmt.Errorf("baseline: LTI of order %d with %d inputs needs %d windows of %d frames, the %d pairs have %d: "+
			"record more, or lower MaxOrder, Horizon or Components", s.maxOrder, inputs, need, 2*s.horizon, len(pairs), have)
	}
	if have, need := countFrames(pairs), 2*(inputs+1); have < need {
		return s, fmt.Errorf("baseline: LTI with %d inputs needs %d frames, the %d pairs have %d: "+
			"record more, or lower Components", inputs, need, len(pairs), have)
	}
	return s, nil
}

func countWindows(pairs []Pair, horizon int) int {
	n := 0
	for _, p := range pairs {
		n += windowCount(span{to: len(p.Step)}, horizon)
	}
	return n
}

// canHoldOut reports whether there are enough windows for a cross-validation.
func (s search) canHoldOut(pairs []Pair, inputs int) bool {
	records := make([]record, len(pairs))
	for i, p := range pairs {
		records[i].y = p.Step // for its length
	}
	if len(records) > 1 {
		s.folds = min(s.folds, len(records))
	}
	return s.enough(s.spans(records), inputs)
}

// records returns a degree of freedom's data: its own input and the scores that are not nil.
func (m *LTI) records(pairs []Pair, scores []*mat.Dense, d int) []record {
	out := make([]record, len(pairs))
	for i, p := range pairs {
		out[i] = record{u: m.drive(p.X, scores[i], d), y: make([]float64, len(p.Step))}
		for t := range out[i].y {
			out[i].y[t] = p.Y.At(t, d) - m.meanY[d] - (p.X.At(t, d) - m.meanX[d])
		}
	}
	return out
}

// drive returns the inputs of degree of freedom d: (frames, 1 or 1 + components).
func (m *LTI) drive(x, scores *mat.Dense, d int) []float64 {
	frames, _ := x.Dims()
	var u []float64
	for t := range frames {
		u = append(u, x.At(t, d)-m.meanX[d])
		if scores != nil {
			u = append(u, scores.RawRowView(t)...)
		}
	}
	return u
}

// Translate simulates the systems on x, (frames, dofs).
func (m *LTI) Translate(x *mat.Dense) (*mat.Dense, []float64, error) {
	if err := checkInput(x, m.dofs); err != nil {
		return nil, nil, err
	}
	frames, _ := x.Dims()
	scores := m.pose.scores(x)
	y := mat.NewDense(frames, m.dofs, nil)
	column := make([]float64, frames)
	for d, sys := range m.poses {
		var s *mat.Dense
		if sys.m > 1 {
			s = scores
		}
		sys.simulate(column, m.drive(x, s, d))
		for t, v := range column {
			y.Set(t, d, v+m.meanY[d]+x.At(t, d)-m.meanX[d])
		}
	}
	step := m.stepLogs(m.pose.moving(x).RawMatrix().Data, frames)
	m.clock.steps(step)
	return y, step, nil
}

// Orders returns the orders of the systems: of each degree of freedom, (dofs), and of the steps.
func (m *LTI) Orders() (poses []int, steps int) {
	for _, s := range m.poses {
		poses = append(poses, s.n)
	}
	return poses, m.steps.n
}

func columnMeans(pairs []Pair, outputs bool) []float64 {
	_, dofs := pairs[0].X.Dims()
	mean := make([]float64, dofs)
	for _, p := range pairs {
		x := p.X
		if outputs {
			x = p.Y
		}
		for t := range p.Step {
			for j, v := range x.RawRowView(t) {
				mean[j] += v
			}
		}
	}
	for j := range mean {
		mean[j] /= float64(countFrames(pairs))
	}
	return mean
}
