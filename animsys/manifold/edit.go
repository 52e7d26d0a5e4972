package manifold

import (
	"fmt"
	"math"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// EditorOptions are the options of NewEditor.
type EditorOptions struct {
	Batch   int               // maximum number of motions, at least 1
	Length  int               // maximum number of frames, even
	Workers int               // goroutines, at least 1
	Open    netruntime.Opener // opens sessions; nil: on the CPU
}

// Editor changes motions so that they meet constraints and stay on the manifold (Holden et al.
// 2016, sec. 7.1). It descends along the gradient of the constraints' cost in the space of hidden
// values. It belongs to one goroutine.
//
// The method is conjugate gradients (Polak and Ribière) in the frames themselves, with K as the
// metric (kernel.go). It takes the same path as a descent in hidden values, for one convolution a
// step. With Edit.Calm or CalmLimbs the metric is S·K·S, where S (calm.go) smooths changes. The curvature
// of the cost along the direction gives the step length.
type Editor struct {
	Weights feature.CostWeights

	model     *Model
	kernel    netruntime.Session
	pool      *netruntime.Pool
	batch     int
	length    int
	x         []float32         // (batch, length, columns) current frames
	grad      []float32         // gradient of the cost at x
	last      []float32         // gradient of the previous step
	dir       []float32         // search direction
	z         []float32         // K·grad, and the Hessian's product with dir
	calm      []float32         // K·S·grad
	smoothers [2]changeSmoother // of Edit.Calm and CalmLimbs
	smoother  *changeSmoother   // of the current run; nil: none
	body      []float32         // (batch, length, feature.MotionLen)
	loose     []float32         // (batch, length, contacts) weights of Edit.Loosen
	loosened  bool              // costs are by these weights
	places    [][]m3.Vec3       // by worker: (contacts, length) places of contacts
	state     []editState
	run       netruntime.Sequences

	job                  *Edit // of the current run
	begin, next, loosen  func(worker, b int)
	calmGrad, calmChange func(worker, b int)

	centring   []*feature.Centring // by worker
	uncentred  []float32           // of the current call of centre,
	frames     int                 // and the values per motion there
	centreEach func(worker, b int)
}

// editState is the state of one motion's descent.
type editState struct {
	cost     float64 // at x
	gradNorm float64 // gradient · K·gradient of the previous step
	step     float64 // length of the last step along dir
	done     bool
}

// NewEditor returns an editor for motions of the model. It fails if the decoder is not linear in
// its hidden values.
func (m *Model) NewEditor(o EditorOptions) (*Editor, error) {
	if m == nil || m.Net == nil {
		return nil, errZeroModel
	}
	if err := checkSize("an editor", o.Batch, o.Length, o.Workers); err != nil {
		return nil, err
	}
	k, err := m.kernel()
	if err != nil {
		return nil, err
	}
	e := &Editor{Weights: m.person.DefaultWeights(), model: m, batch: o.Batch, length: o.Length}
	if e.kernel, err = o.Open.Session(k, netruntime.SessionOptions{Batch: o.Batch, Length: o.Length / 2, Workers: o.Workers}); err != nil {
		return nil, err
	}
	e.smoothers = [...]changeSmoother{m.newSmoother(false), m.newSmoother(true)}
	e.pool = netruntime.NewPool(o.Workers)
	n := o.Batch * o.Length * m.Layout.Columns()
	for _, v := range []*[]float32{&e.x, &e.grad, &e.last, &e.dir, &e.z, &e.calm} {
		*v = make([]float32, n)
	}
	e.body = make([]float32, o.Batch*o.Length*feature.MotionLen)
	e.loose = make([]float32, o.Batch*o.Length*len(m.Layout.Contacts))
	e.state = make([]editState, o.Batch)
	e.begin = func(_, b int) { e.start(e.job, b) }
	e.calmGrad = func(_, b int) { e.smoother.run(e.part(e.z, e.job, b), e.part(e.grad, e.job, b)) }
	e.calmChange = func(_, b int) { e.smoother.run(e.part(e.z, e.job, b), e.part(e.calm, e.job, b)) }
	e.next = func(_, b int) { e.step(e.job, b) }
	e.loosen = func(worker, b int) { e.loosenMotion(e.job, b, e.places[worker]) }
	for range e.pool.Workers() {
		e.places = append(e.places, make([]m3.Vec3, o.Length))
		e.centring = append(e.centring, m.Layout.NewCentring(o.Length, Rate))
	}
	e.centreEach = func(worker, b int) { e.centring[worker].Run(e.uncentred[b*e.frames:][:e.frames]) }
	return e, nil
}

// Close stops the editor's workers.
func (e *Editor) Close() error {
	if e.pool == nil {
		return nil
	}
	e.pool.Close()
	return e.kernel.Close()
}

// Edit is one call of Editor.Run: a batch of motions of equal length and their constraints.
type Edit struct {
	Batch, Length int       // motions, and frames of each: even, at most the editor's
	Rows          []float32 // (Batch, Length, columns) raw; changed in place

	// Body is the wanted motion of the body, (Batch, Length, feature.MotionLen) raw; nil: that of
	// Rows. The result has it exactly, with poses to match.
	Body []float32
	// Stand is the weight with which each contact stays in place from this frame to the next, 0 to
	// 1, (Batch, Length, contacts). Values below 0 count as 0; nil: none.
	Stand []float32
	// Level is the share of Stand for heights, (Batch, Length, contacts): a foot that rolls off the
	// ground rises while it stays in place. Nil: 1. See feature.Motion.Level.
	Level []float32
	// Loosen is a speed, m/s. The edit measures how fast contacts slide after each quarter of the steps. A
	// contact that slides at this speed gets half its weight, a faster one less. A foot that steps slowly while
	// its contacts are on then steps, and does not creep all the time. Use Loosen for motions whose feet hardly
	// slide: in others, contacts that should be held would lose their weight, too. 0: all keep their full weight.
	Loosen float32
	// Want and Weight add Weight·(Rows − Want)² to the cost for each value, (Batch, Length,
	// columns): positions in metres; nil: none. See Model.AddTargets.
	Want, Weight []float32

	Calm       bool        // changes of all joints but those of the legs are smooth: below some 6 Hz
	CalmLimbs  bool        // changes of arms, thighs and knees are smooth: below some 11 Hz; not with Calm
	Iterations int         // maximum number of steps; see DefaultIterations
	Stop       func() bool // called after each step, for a time budget; nil: never stops
}

// EditReport describes the result of an edit.
type EditReport struct {
	Before, After float64 // mean cost of a frame
	Steps         int
	Failed        int // motions with values that are not finite; they are unchanged
}

// Run edits the motions. A motion's result is bit-identical alone or in a batch. A motion with
// values that are not finite is unchanged.
func (e *Editor) Run(job *Edit) (EditReport, error) { return e.runParts(job, false) }

// descend takes the motions up to steps steps. It reports whether Edit.Stop ended that.
func (e *Editor) descend(job *Edit, steps int) (r EditReport, ended bool, err error) {
	cols := e.model.Layout.Columns()
	copy(e.x[:job.Batch*job.Length*cols], job.Rows)
	e.copyBody(job)
	e.pool.Run(job.Batch, e.begin)
	frames := float64(job.Batch * job.Length)
	for _, s := range e.state[:job.Batch] {
		if s.done {
			r.Failed++
		} else {
			r.Before += s.cost / frames
		}
	}
	for r.Steps < steps && r.Failed < job.Batch && !ended {
		if err := e.spread(job); err != nil {
			return r, false, err
		}
		e.pool.Run(job.Batch, e.next)
		r.Steps++
		ended = job.Stop != nil && job.Stop()
	}
	for b, s := range e.state[:job.Batch] {
		if finite(s.cost) {
			r.After += s.cost / frames
			copy(job.Rows[b*job.Length*cols:], e.part(e.x, job, b))
			e.writeBody(job, b)
		}
	}
	return r, ended, nil
}

// centre centres a batch of motions of length frames in the body's frame.
func (e *Editor) centre(rows []float32, batch, length int) {
	e.uncentred, e.frames = rows, length*e.model.Layout.Columns()
	e.pool.Run(batch, e.centreEach)
	e.uncentred = nil
}

// spread computes z, the product of the metric with grad.
func (e *Editor) spread(job *Edit) error {
	n := job.Batch * job.Length * e.model.Layout.Columns()
	if e.smoother == nil {
		return e.run.Run(e.kernel, e.z[:n], e.grad[:n], job.Batch, job.Length/2)
	}
	e.pool.Run(job.Batch, e.calmGrad)
	if err := e.run.Run(e.kernel, e.calm[:n], e.z[:n], job.Batch, job.Length/2); err != nil {
		return err
	}
	e.pool.Run(job.Batch, e.calmChange)
	return nil
}

// start computes the cost of motion b and its gradient.
func (e *Editor) start(job *Edit, b int) {
	s, c := &e.state[b], e.costOf(job, b)
	*s = editState{cost: c.At(e.part(e.grad, job, b), e.part(e.x, job, b), nil)}
	s.done = !finite(s.cost)
}

// step takes motion b one step: grad is the gradient at x, z is the metric's product with it.
func (e *Editor) step(job *Edit, b int) {
	s := &e.state[b]
	if s.done {
		return
	}
	x, g, last, d, z := e.part(e.x, job, b), e.part(e.grad, job, b), e.part(e.last, job, b), e.part(e.dir, job, b), e.part(e.z, job, b)
	decline := dot(g, z)
	if !(decline > 0) || math.IsInf(decline, 0) {
		s.done = true
		return
	}
	beta := 0.0
	if s.gradNorm > 0 {
		beta = max(0, (decline-dot(last, z))/s.gradNorm)
	}
	s.gradNorm = decline
	slope := 0.0
	for i, v := range z {
		d[i] = float32(beta)*d[i] - v
		if s.step == 0 {
			d[i] = -v
		}
		slope += float64(g[i]) * float64(d[i])
	}
	if slope >= 0 {
		for i, v := range z {
			d[i] = -v
		}
		slope = -decline
	}
	copy(last, g)
	c := e.costOf(job, b)
	curve := c.At(z, x, d) // half the second derivative along d
	step := -slope / (2 * curve)
	if !(curve > 0) || math.IsInf(step, 0) {
		s.done = true
		return
	}
	// Bones bend the parabola of the cost a little, so a step that is too long is halved.
	for try := 0; ; try++ {
		axpy(x, d, step)
		cost := c.At(g, x, nil)
		if cost <= s.cost {
			s.cost, s.step = cost, step
			return
		}
		axpy(x, d, -step)
		if try == 4 {
			c.At(g, x, nil)
			s.done = s.step == 0 // also along the steepest descent
			s.step = 0
			return
		}
		step /= 2
	}
}

func axpy(x, d []float32, step float64) {
	for i, v := range d {
		x[i] += float32(step) * v
	}
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i, v := range a {
		sum += float64(v) * float64(b[i])
	}
	return sum
}

// part returns motion b of a buffer of the editor.
func (e *Editor) part(v []float32, job *Edit, b int) []float32 {
	n := job.Length * e.model.Layout.Columns()
	return v[b*n : (b+1)*n : (b+1)*n]
}

func (e *Editor) costOf(job *Edit, b int) feature.Cost {
	c := feature.Cost{Person: e.model.person, Weights: e.Weights, DT: 1.0 / Rate, Frames: job.Length}
	cut := func(v []float32, n int) []float32 {
		if v == nil {
			return nil
		}
		return v[b*job.Length*n:][:job.Length*n]
	}
	c.Body = cut(e.body, feature.MotionLen)
	stand := job.Stand
	if e.loosened {
		stand = e.loose
	}
	c.Stand, c.Level = cut(stand, len(e.model.Layout.Contacts)), cut(job.Level, len(e.model.Layout.Contacts))
	c.Want, c.Weight = cut(job.Want, e.model.Layout.Columns()), cut(job.Weight, e.model.Layout.Columns())
	return c
}

// copyBody keeps the wanted motion of the bodies.
func (e *Editor) copyBody(job *Edit) {
	if job.Body != nil {
		copy(e.body[:job.Batch*job.Length*feature.MotionLen], job.Body)
		return
	}
	e.model.copyBody(e.body, job.Rows)
}

// writeBody writes the wanted motion of motion b's body into its rows.
func (e *Editor) writeBody(job *Edit, b int) {
	cols, at := e.model.Layout.Columns(), e.model.Layout.Body()
	for f := b * job.Length; f < (b+1)*job.Length; f++ {
		copy(job.Rows[f*cols+at:], e.body[f*feature.MotionLen:][:feature.MotionLen])
	}
}

func (e *Editor) check(job *Edit) error {
	if err := checkBatch("motions", job.Batch, job.Length, e.batch, e.length); err != nil {
		return err
	}
	return job.check(e.model)
}

// checkBatch reports a batch that is not one of 1 to most motions of an even number of frames, at
// most longest.
func checkBatch(what string, batch, length, most, longest int) error {
	if batch < 1 || batch > most || length < 2 || length%2 != 0 || length > longest {
		return fmt.Errorf("manifold: %d %s of %d frames: want up to %d of up to %d, an even number", batch, what, length, most, longest)
	}
	return nil
}

// checkSize reports options for no motions, an odd number of frames or no workers.
func checkSize(what string, batch, length, workers int) error {
	if batch < 1 || length < 2 || length%2 != 0 || workers < 1 {
		return fmt.Errorf("manifold: %s of %d motions of %d frames on %d workers: want at least one motion and worker, and an even number of frames",
			what, batch, length, workers)
	}
	return nil
}

// check reports slices whose lengths do not fit.
func (job *Edit) check(m *Model) error {
	frames := job.Batch * job.Length
	for _, v := range []struct {
		name     string
		values   []float32
		n        int
		optional bool
	}{
		{"Rows", job.Rows, m.Layout.Columns(), false},
		{"Body", job.Body, feature.MotionLen, true},
		{"Stand", job.Stand, len(m.Layout.Contacts), true},
		{"Level", job.Level, len(m.Layout.Contacts), true},
		{"Want", job.Want, m.Layout.Columns(), true},
		{"Weight", job.Weight, m.Layout.Columns(), true},
	} {
		if len(v.values) != frames*v.n && !(v.optional && v.values == nil) {
			return fmt.Errorf("manifold: Edit.%s has %d values, %d frames of %d values have %d", v.name, len(v.values), frames, v.n, frames*v.n)
		}
	}
	if !(job.Loosen >= 0) || math.IsInf(float64(job.Loosen), 0) {
		return fmt.Errorf("manifold: Edit.Loosen is %g m/s, want 0 or more", job.Loosen)
	}
	if job.Calm && job.CalmLimbs {
		return fmt.Errorf("manifold: Edit.Calm and Edit.CalmLimbs are both set: set one or none")
	}
	if (job.Want == nil) != (job.Weight == nil) {
		return fmt.Errorf("manifold: Edit.Want and Edit.Weight go together: set both or none")
	}
	return nil
}
