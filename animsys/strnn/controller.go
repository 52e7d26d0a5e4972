package strnn

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"mannequin/animsys/feature"
	"mannequin/animsys/internal/linsolve"
	"mannequin/netruntime"
)

// Controller continues motions with control, in batches: the body follows a wanted motion, standing
// feet stay in place and bones keep their length (Wang et al. 2019, sec. 4.2.3 and 5.4). The paper
// tunes the network's weights for each window, as FineTuner does. Controller searches for latent
// values instead: it samples some futures and improves the best by a few Gauss–Newton steps. It
// belongs to one goroutine; only NewController allocates.
type Controller struct {
	Weights ControlWeights

	m        *Model
	predict  *Predictor
	pool     *netruntime.Pool
	batch    int
	samples  int       // maximum number of samples at a time
	latent   []float32 // (batch, samples, Latent)
	next     []float32 // (batch, samples, Predict, columns)
	best     []search  // by motion
	scratch  []searchScratch
	cost     controlCost
	made     []float32 // (n, Predict, columns) next of Run
	seen     []float32 // (n, Encode, columns) seen of Run
	n, count int       // current number of motions and samples
	choose   func(worker, i int)
	descend  func(worker, i int)
	give     func(worker, i int)
}

// search is the state of the search for one motion.
type search struct {
	z, tried []float32 // (Latent) the best values, and those to try next
	rows     []float32 // (Predict, columns) frames of the best values
	cost     float64
	damp     float64
	rand     rand.PCG
}

// searchScratch is the scratch of a worker.
type searchScratch struct {
	controlScratch
	dirs    [][]float32 // by latent value: derivative of the frames, (Predict, columns)
	h       []float64   // (Latent, Latent)
	g       []float64   // (Latent)
	cleanup *cleanup
}

// ControllerOptions are the options of NewController.
type ControllerOptions struct {
	Batch      int               // maximum number of motions, at least 1
	Samples    int               // maximum number of samples for each; 0: 8
	Workers    int               // goroutines, at least 1
	Open       netruntime.Opener // opens sessions; nil: on the CPU
	BF16       bool              // see netruntime.SessionOptions
	SkipFilter bool              // see PredictorOptions
}

// NewController returns a controller. It fails for a model without latent values.
func (m *Model) NewController(o ControllerOptions) (*Controller, error) {
	if m.Net == nil {
		return nil, errZeroModel
	}
	o.Samples = cmp.Or(o.Samples, 8)
	if o.Batch < 1 || o.Samples < 1 || o.Workers < 1 {
		return nil, fmt.Errorf("strnn: a controller of %d motions with %d samples on %d workers: want at least one of each",
			o.Batch, o.Samples, o.Workers)
	}
	if m.Latent == 0 {
		return nil, fmt.Errorf("strnn: model %q has no latent values to control: it predicts one future only", m.Net.Meta().Name)
	}
	c := &Controller{Weights: DefaultControlWeights(), m: m, batch: o.Batch, samples: max(o.Samples, m.Latent+1)}
	var err error
	if c.predict, err = m.NewPredictor(PredictorOptions{Batch: o.Batch, Samples: c.samples, Workers: o.Workers,
		Open: o.Open, BF16: o.BF16, SkipFilter: o.SkipFilter}); err != nil {
		return nil, err
	}
	size := m.Predict * m.Layout.Columns()
	c.latent, c.next = make([]float32, o.Batch*c.samples*m.Latent), make([]float32, o.Batch*c.samples*size)
	for range o.Batch {
		c.best = append(c.best, search{z: make([]float32, m.Latent), tried: make([]float32, m.Latent), rows: make([]float32, size)})
	}
	c.pool = netruntime.NewPool(o.Workers)
	for range c.pool.Workers() {
		s := searchScratch{controlScratch: m.newControlScratch(), h: make([]float64, m.Latent*m.Latent),
			g: make([]float64, m.Latent), cleanup: m.newCleanup()}
		for range m.Latent {
			s.dirs = append(s.dirs, make([]float32, size))
		}
		c.scratch = append(c.scratch, s)
	}
	c.choose, c.descend, c.give = c.chooseOne, c.descendOne, c.giveOne
	return c, nil
}

// Close ends the controller's workers.
func (c *Controller) Close() error {
	if c.pool == nil {
		return nil
	}
	c.pool.Close()
	return c.predict.Close()
}

// Control is the wanted motion of the next frames.
type Control struct {
	Body    []float32    // (n, Predict, feature.MotionLen) wanted motion of the body, raw
	Stand   []float32    // (n, Predict, contacts) weight of each contact, 0 to 1; nil: the predicted contacts
	Pose    [2][]float32 // (columns) a frame that the prediction should resemble, and the weights of the squared differences; nil: none
	Samples int          // number of samples, from 1 to the controller's
	Latents []float32    // (n, Samples, Latent) latent values of the samples; nil: drawn
	Steps   int          // maximum number of steps from the best of them
	Spread  float32      // deviation of drawn latent values
	Exact   bool         // distribute the remaining error of the body's end place over the frames
	CleanUp bool         // clean frames up: see PredictorOptions. Unusable frames, and a FineTuner's, stay as they are
	Seed    uint64       // of the drawn values
	Stop    func() bool  // called before each step, for a time budget; nil: never stops
}

// body returns the wanted motion of motion i's body.
func (j *Control) body(m *Model, i int) []float32 {
	return j.Body[i*m.Predict*feature.MotionLen:][:m.Predict*feature.MotionLen]
}

// check reports slices whose lengths do not fit n motions.
func (j *Control) check(m *Model, next []float32, n int) error {
	frames := n * m.Predict
	if len(next) != frames*m.Layout.Columns() || len(j.Body) != frames*feature.MotionLen ||
		j.Stand != nil && len(j.Stand) != frames*len(m.Layout.Contacts) {
		return fmt.Errorf("strnn: control of %d motions with %d output values, %d of body motion and %d of contacts: want %d, %d and %d or none",
			n, len(next), len(j.Body), len(j.Stand), frames*m.Layout.Columns(), frames*feature.MotionLen, frames*len(m.Layout.Contacts))
	}
	if cols := m.Layout.Columns(); j.Pose[0] != nil && (len(j.Pose[0]) != cols || len(j.Pose[1]) != cols) {
		return fmt.Errorf("strnn: Control.Pose has %d values and %d weights: want %d of both", len(j.Pose[0]), len(j.Pose[1]), cols)
	}
	return nil
}

// stepWidth is the finite difference of latent values.
const stepWidth = 0.25

// latentMost bounds latent values: the prior is hardly ever beyond.
const latentMost = 3

// Run writes the frames that follow n motions: next, (n, Predict, columns) raw, after seen, (n,
// Encode, columns) raw. It returns the mean cost per motion. A motion's result is bit-identical
// alone or in a batch, except that drawn samples depend on its index.
func (c *Controller) Run(next, seen []float32, n int, job *Control) (cost float64, err error) {
	m := c.m
	if err := job.check(m, next, n); err != nil {
		return 0, err
	}
	if job.Samples < 1 || job.Samples > c.samples || job.Steps < 0 || !(job.Spread >= 0) {
		return 0, fmt.Errorf("strnn: control with %d samples of spread %g and %d steps: want 1 to %d samples, and at least 0 of the others",
			job.Samples, job.Spread, job.Steps, c.samples)
	}
	if job.Latents != nil && len(job.Latents) != n*job.Samples*m.Latent {
		return 0, fmt.Errorf("strnn: control of %d motions with %d samples and Latents of %d values in all: want %d",
			n, job.Samples, len(job.Latents), n*job.Samples*m.Latent)
	}
	if err := c.predict.Observe(seen, n); err != nil {
		return 0, err
	}
	copy(c.latent, job.Latents)
	c.cost = controlCost{m, c.Weights, job}
	c.n, c.count = n, job.Samples
	for i := range n {
		b := &c.best[i]
		b.cost, b.damp = math.Inf(1), 1e-3
		if job.Latents != nil {
			continue
		}
		b.rand.Seed(job.Seed, uint64(i))
		r := rand.New(&b.rand)
		for k := range job.Samples * m.Latent {
			c.latent[i*job.Samples*m.Latent+k] = job.Spread * float32(r.NormFloat64())
		}
	}
	if err := c.evaluate(c.choose); err != nil {
		return 0, err
	}
	c.count = m.Latent + 1
	for range job.Steps {
		if job.Stop != nil && job.Stop() {
			break
		}
		for i := range n {
			for w := range c.count {
				z := c.latent[(i*c.count+w)*m.Latent:][:m.Latent]
				if copy(z, c.best[i].tried); w > 0 {
					z[w-1] += stepWidth
				}
			}
		}
		if err := c.evaluate(c.descend); err != nil {
			return 0, err
		}
	}
	if job.Steps > 0 { // the result of the last step
		c.count = 1
		for i := range n {
			copy(c.latent[i*m.Latent:][:m.Latent], c.best[i].tried)
		}
		if err := c.evaluate(c.choose); err != nil {
			return 0, err
		}
	}
	for i := range n {
		cost += c.best[i].cost / float64(max(1, n))
	}
	c.made, c.seen = next, seen
	c.pool.Run(n, c.give)
	c.made, c.seen = nil, nil
	return cost, nil
}

// giveOne writes the result for motion i.
func (c *Controller) giveOne(worker, i int) {
	m, job := c.m, c.cost.job
	cols := m.Layout.Columns()
	to, was := c.made[i*m.Predict*cols:][:m.Predict*cols], c.seen[i*m.Encode*cols:][:m.Encode*cols]
	copy(to, c.best[i].rows)
	var want []float32
	if job.Exact {
		want = job.body(m, i)
	}
	if job.CleanUp {
		if c.scratch[worker].cleanup.run(to, was, want) {
			return
		}
		copy(to, c.best[i].rows)
	}
	if want != nil {
		m.correctEnd(to, want)
	}
}

// evaluate predicts c.count samples of each motion and calls f for each motion.
func (c *Controller) evaluate(f func(worker, i int)) error {
	m := c.m
	size := m.Predict * m.Layout.Columns()
	if err := c.predict.Next(c.next[:c.n*c.count*size], c.latent[:c.n*c.count*m.Latent], c.n, c.count); err != nil {
		return err
	}
	c.pool.Run(c.n, f)
	return nil
}

// sample returns latent values and frames of sample w of motion i.
func (c *Controller) sample(i, w int) (z, rows []float32) {
	size, k := c.m.Predict*c.m.Layout.Columns(), i*c.count+w
	return c.latent[k*c.m.Latent:][:c.m.Latent], c.next[k*size:][:size]
}

// keep keeps sample w of motion i if it costs less than the best one.
func (c *Controller) keep(s *searchScratch, i, w int) bool {
	z, rows := c.sample(i, w)
	b := &c.best[i]
	cost := c.cost.at(&s.controlScratch, i, rows, z)
	if !(cost < b.cost) {
		if !math.IsInf(b.cost, 1) {
			return false
		}
		cost = b.cost // none yet: better than the frames of the motion before
	}
	b.cost = cost
	copy(b.z, z)
	copy(b.rows, rows)
	return true
}

// chooseOne keeps the best sample of motion i.
func (c *Controller) chooseOne(worker, i int) {
	s := &c.scratch[worker]
	for w := range c.count {
		c.keep(s, i, w)
	}
	copy(c.best[i].tried, c.best[i].z)
}

// descendOne takes a Gauss–Newton step from the values tried for motion i. The other samples are
// their neighbours in each direction. After an ascending step the damping grows.
func (c *Controller) descendOne(worker, i int) {
	s, b := &c.scratch[worker], &c.best[i]
	if c.keep(s, i, 0) {
		b.damp = max(1e-6, b.damp/4)
	} else if b.cost < math.Inf(1) {
		b.damp *= 8
	}
	z, rows := c.sample(i, 0)
	n := c.m.Latent
	for k, dir := range s.dirs {
		_, to := c.sample(i, k+1)
		for v := range dir {
			dir[v] = (to[v] - rows[v]) / stepWidth
		}
	}
	for k := range n { // keep has left the gradient
		s.g[k] = dot(s.grad, s.dirs[k]) + 2*float64(c.Weights.Latent)*float64(z[k])
	}
	for k := range n {
		c.cost.product(&s.controlScratch, i, rows, s.dirs[k])
		for j := range n {
			s.h[k*n+j] = dot(s.half, s.dirs[j])
		}
	}
	trace := 0.0
	for k := range n {
		s.h[k*n+k] += 2 * float64(c.Weights.Latent)
		trace += s.h[k*n+k] / float64(n)
	}
	for k := range n {
		s.h[k*n+k] += b.damp * trace
	}
	if !linsolve.Factor(s.h, n, 0) {
		return
	}
	linsolve.Substitute(s.h, s.g, n, 1)
	for k := range n {
		b.tried[k] = min(max(z[k]-float32(s.g[k]), -latentMost), latentMost)
	}
}

func dot(a, b []float32) float64 {
	sum := float32(0)
	for i, v := range a {
		sum += v * b[i]
	}
	return float64(sum)
}
