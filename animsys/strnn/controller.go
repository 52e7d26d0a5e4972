package strnn

import (
	"fmt"
	"math"
	"math/rand/v2"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
)

// Controller goes on from motions such that they do what they are asked to, in batches:
// where the body goes, and that standing feet stand and bones keep their length (Wang et
// al. 2019, sec. 4.2.3 and 5.4). The paper tunes the network's weights for each window of
// frames, which FineTuner does; this looks for the latent values with which the network
// does it as it is: some ways are drawn, and from the best one a few steps of Gauss and
// Newton go on. It belongs to one goroutine; nothing but NewController allocates.
type Controller struct {
	Weights ControlWeights

	m        *Model
	predict  *Predictor
	pool     *netruntime.Pool
	batch    int
	ways     int         // most ways at a time
	latent   []float32   // (batch, ways, Latent)
	next     []float32   // (batch, ways, Predict, columns)
	best     []searching // by motion
	scratch  []searchScratch
	cost     controlCost
	made     []float32 // (n, Predict, columns) Run's next
	seen     []float32 // (n, Encode, columns) and its seen
	n, count int       // motions and ways of the present turn
	choose   func(worker, i int)
	descend  func(worker, i int)
	give     func(worker, i int)
}

// searching is where the search for one motion stands.
type searching struct {
	z, tried []float32 // (Latent) the best ones, and those that are tried
	rows     []float32 // (Predict, columns) what the best ones make
	cost     float64
	damp     float64
	rand     rand.PCG
}

// searchScratch is what a worker needs.
type searchScratch struct {
	controlScratch
	dirs   [][]float32 // by latent value: how frames change with it, (Predict, columns)
	h      []float64   // (Latent, Latent)
	g      []float64   // (Latent)
	settle *settling
}

// ControllerOptions say what a controller is for.
type ControllerOptions struct {
	Batch      int               // most motions at a time, at least 1
	Samples    int               // most ways drawn for each; 0 is 8
	Workers    int               // goroutines, at least 1
	Open       netruntime.Opener // what computes networks; nil is the processor
	BF16       bool              // see netruntime.SessionOptions
	SkipFilter bool              // see PredictorOptions
}

// NewController returns a controller with the memory that it takes. It is an error if the
// model goes on in one way only.
func (m *Model) NewController(o ControllerOptions) (*Controller, error) {
	if o.Samples == 0 {
		o.Samples = 8
	}
	if o.Batch < 1 || o.Samples < 1 || o.Workers < 1 {
		return nil, fmt.Errorf("strnn: a controller of %d motions with %d draws on %d workers: want at least one of each", o.Batch, o.Samples, o.Workers)
	}
	if m.Latent == 0 {
		return nil, fmt.Errorf("strnn: model %q goes on from a motion in one way only: it has no latent values to look for", m.Net.Meta().Name)
	}
	c := &Controller{Weights: DefaultControlWeights(), m: m, batch: o.Batch, ways: max(o.Samples, m.Latent+1)}
	var err error
	if c.predict, err = m.NewPredictor(PredictorOptions{Batch: o.Batch, Samples: c.ways, Workers: o.Workers, Open: o.Open, BF16: o.BF16, SkipFilter: o.SkipFilter}); err != nil {
		return nil, err
	}
	size := m.Predict * m.Layout.Columns()
	c.latent, c.next = make([]float32, o.Batch*c.ways*m.Latent), make([]float32, o.Batch*c.ways*size)
	for range o.Batch {
		c.best = append(c.best, searching{z: make([]float32, m.Latent), tried: make([]float32, m.Latent), rows: make([]float32, size)})
	}
	c.pool = netruntime.NewPool(o.Workers)
	for range c.pool.Workers() {
		s := searchScratch{controlScratch: m.newControlScratch(), h: make([]float64, m.Latent*m.Latent), g: make([]float64, m.Latent), settle: m.newSettling()}
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
	c.pool.Close()
	return c.predict.Close()
}

// Control is what motions shall do in the frames to come.
type Control struct {
	Body    []float32    // (n, Predict, feature.MotionLen) the motion that the body shall have, raw
	Stand   []float32    // (n, Predict, contacts) how much each contact shall stand, 0 to 1; nil: as much as the motion that is found says itself
	Pose    [2][]float32 // (columns) a frame that those to come shall be like, and the weights of the squared differences; nil: none
	Samples int          // ways drawn, from 1 to the controller's
	Latents []float32    // (n, Draws, Latent) the latent values of ways, in place of those drawn; nil: drawn
	Steps   int          // most steps from the best of them
	Spread  float32      // deviation of the latent values that are drawn
	Exact   bool         // what the body still lacks at the end is spread over the frames
	CleanUp bool         // frames that are found are made a person's: see PredictorOptions. Those that cannot be, and a FineTuner's, stay as they are
	Seed    uint64       // of what is drawn
	Stop    func() bool  // asked before each step: a budget of time, for instance; nil is never
}

// body returns the motion that the body of motion i shall have.
func (j *Control) body(m *Model, i int) []float32 {
	return j.Body[i*m.Predict*feature.MotionLen:][:m.Predict*feature.MotionLen]
}

// check reports what does not suit n motions.
func (j *Control) check(m *Model, next []float32, n int) error {
	frames := n * m.Predict
	if len(next) != frames*m.Layout.Columns() || len(j.Body) != frames*feature.MotionLen || j.Stand != nil && len(j.Stand) != frames*len(m.Layout.Contacts) {
		return fmt.Errorf("strnn: control of %d motions with %d values to come, %d of the bodies' motion and %d of contacts: want %d, %d and %d or none",
			n, len(next), len(j.Body), len(j.Stand), frames*m.Layout.Columns(), frames*feature.MotionLen, frames*len(m.Layout.Contacts))
	}
	if cols := m.Layout.Columns(); j.Pose[0] != nil && (len(j.Pose[0]) != cols || len(j.Pose[1]) != cols) {
		return fmt.Errorf("strnn: control towards a frame of %d values with %d weights: want %d of both", len(j.Pose[0]), len(j.Pose[1]), cols)
	}
	return nil
}

// stepWidth is by how much latent values are changed to see what that does.
const stepWidth = 0.25

// latentMost bounds latent values: prior draws are hardly ever beyond.
const latentMost = 3

// Run writes the frames that follow, (n, Predict, columns) raw, those of n motions,
// (n, Encode, columns) raw, and returns the mean cost of a motion. A motion's result has
// the same bits alone or among others, but for its place among them, by which is drawn
// where Ways are not given.
func (c *Controller) Run(next, seen []float32, n int, job *Control) (cost float64, err error) {
	m := c.m
	if err := job.check(m, next, n); err != nil {
		return 0, err
	}
	if job.Samples < 1 || job.Samples > c.ways || job.Steps < 0 || !(job.Spread >= 0) {
		return 0, fmt.Errorf("strnn: control with %d draws of spread %g and %d steps: want 1 to %d draws, no less than 0, and no less than 0 steps", job.Samples, job.Spread, job.Steps, c.ways)
	}
	if job.Latents != nil && len(job.Latents) != n*job.Samples*m.Latent {
		return 0, fmt.Errorf("strnn: control of %d motions in %d ways of %d latent values in all: want %d", n, job.Samples, len(job.Latents), n*job.Samples*m.Latent)
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
	if err := c.turn(c.choose); err != nil {
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
		if err := c.turn(c.descend); err != nil {
			return 0, err
		}
	}
	if job.Steps > 0 { // what the last step led to
		c.count = 1
		for i := range n {
			copy(c.latent[i*m.Latent:][:m.Latent], c.best[i].tried)
		}
		if err := c.turn(c.choose); err != nil {
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

// giveOne writes what was found for motion i.
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
		if c.scratch[worker].settle.run(to, was, want) {
			return
		}
		copy(to, c.best[i].rows)
	}
	if want != nil {
		m.bring(to, want)
	}
}

// turn computes c.count ways of each motion, and has f look at each motion's.
func (c *Controller) turn(f func(worker, i int)) error {
	m := c.m
	size := m.Predict * m.Layout.Columns()
	if err := c.predict.Next(c.next[:c.n*c.count*size], c.latent[:c.n*c.count*m.Latent], c.n, c.count); err != nil {
		return err
	}
	c.pool.Run(c.n, f)
	return nil
}

// way returns latent values and frames of way w of motion i.
func (c *Controller) way(i, w int) (z, rows []float32) {
	size, k := c.m.Predict*c.m.Layout.Columns(), i*c.count+w
	return c.latent[k*c.m.Latent:][:c.m.Latent], c.next[k*size:][:size]
}

// take keeps way w of motion i if it costs less than the best one before.
func (c *Controller) take(s *searchScratch, i, w int) bool {
	z, rows := c.way(i, w)
	b := &c.best[i]
	cost := c.cost.at(&s.controlScratch, i, rows, z)
	if !(cost < b.cost) {
		if !math.IsInf(b.cost, 1) {
			return false
		}
		cost = b.cost // none yet: better these frames than those of the motion before
	}
	b.cost = cost
	copy(b.z, z)
	copy(b.rows, rows)
	return true
}

// chooseOne keeps the best of the ways of motion i.
func (c *Controller) chooseOne(worker, i int) {
	s := &c.scratch[worker]
	for w := range c.count {
		c.take(s, i, w)
	}
	copy(c.best[i].tried, c.best[i].z)
}

// descendOne makes a step from the values tried for motion i, whose neighbours in each
// direction are the other ways. After one that led up they are shorter.
func (c *Controller) descendOne(worker, i int) {
	s, b := &c.scratch[worker], &c.best[i]
	if c.take(s, i, 0) {
		b.damp = max(1e-6, b.damp/4)
	} else if b.cost < math.Inf(1) {
		b.damp *= 8
	}
	z, rows := c.way(i, 0)
	n := c.m.Latent
	for k, dir := range s.dirs {
		_, to := c.way(i, k+1)
		for v := range dir {
			dir[v] = (to[v] - rows[v]) / stepWidth
		}
	}
	for k := range n { // the gradient is what take left
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
	if !solve(s.h, s.g, n) {
		return
	}
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

// solve writes into x what a, (n, n) symmetric, times it is x, by Cholesky's factors,
// which take a's place. It returns false where a is not positive definite.
func solve(a, x []float64, n int) bool {
	if !factor(a, n) {
		return false
	}
	substitute(a, x, n)
	return true
}

// factor writes Cholesky's factors of a, (n, n) symmetric, in its place. It returns false
// where a is not positive definite.
func factor(a []float64, n int) bool {
	for i := range n {
		for j := range i + 1 {
			sum := a[i*n+j]
			left, right := a[i*n:][:j], a[j*n:][:j]
			for k, v := range left {
				sum -= v * right[k]
			}
			if i == j {
				if !(sum > 0) {
					return false
				}
				a[i*n+i] = math.Sqrt(sum)
			} else {
				a[i*n+j] = sum / a[j*n+j]
			}
		}
	}
	return true
}

// substitute writes into x what the matrix with the factors a times it is x.
func substitute(a, x []float64, n int) {
	for i := range n {
		for k := range i {
			x[i] -= a[i*n+k] * x[k]
		}
		x[i] /= a[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			x[i] -= a[k*n+i] * x[k]
		}
		x[i] /= a[i*n+i]
	}
}
