package strnn

import (
	"fmt"
	"math"
	"math/rand/v2"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/internal/pool"
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
	pool     *pool.Pool
	batch    int
	ways     int         // most ways at a time
	latent   []float32   // (batch, ways, Latent)
	next     []float32   // (batch, ways, Predict, columns)
	best     []searching // by motion
	scratch  []controlScratch
	job      *Control
	n, count int // motions and ways of the present turn
	choose   func(worker, i int)
	descend  func(worker, i int)
}

// ControlWeights are what a controller minimises: a sum over frames of squares in
// metres, metres per frame and radians, and of squares of latent values.
type ControlWeights struct {
	Place  float32 // of how far the body is from where it shall be, m²
	Turn   float32 // of how far it is turned from that, radians²
	Slide  float32 // of how far each standing contact moves in a frame, m²
	Bone   float32 // of the difference of each bone's length, m²
	Latent float32 // of each latent value
}

// DefaultControlWeights are those with which the figures of docs/strnn.md were measured.
func DefaultControlWeights() ControlWeights {
	return ControlWeights{Place: 1, Turn: 0.3, Slide: 2, Bone: 0.05, Latent: 0.001}
}

// searching is where the search for one motion stands.
type searching struct {
	z, tried []float32 // (Latent) the best ones, and those that are tried
	rows     []float32 // (Predict, columns) what the best ones make
	cost     float64
	damp     float64
	rand     rand.PCG
}

// controlScratch is what a worker needs.
type controlScratch struct {
	cost feature.Cost
	grad []float32   // (Predict, columns)
	dirs [][]float32 // by latent value: how frames change with it, (Predict, columns)
	half []float32   // (Predict, columns) the Hessian's product with one
	h    []float64   // (Latent, Latent)
	g    []float64   // (Latent)
	way  []float32   // (Predict, feature.MotionLen) how far the body is from where it shall be: x, z and yaw
}

// ControllerOptions say what a controller is for.
type ControllerOptions struct {
	Batch   int               // most motions at a time, at least 1
	Draws   int               // most ways drawn for each; 0 is 8
	Workers int               // goroutines, at least 1
	Open    netruntime.Opener // what computes networks; nil is the processor
	BF16    bool              // see netruntime.SessionOptions
}

// NewController returns a controller with the memory that it takes. It is an error if the
// model goes on in one way only.
func (m *Model) NewController(o ControllerOptions) (*Controller, error) {
	if o.Draws == 0 {
		o.Draws = 8
	}
	if o.Batch < 1 || o.Draws < 1 || o.Workers < 1 {
		return nil, fmt.Errorf("strnn: a controller of %d motions with %d draws on %d workers: want at least one of each", o.Batch, o.Draws, o.Workers)
	}
	if m.Latent == 0 {
		return nil, fmt.Errorf("strnn: model %q goes on from a motion in one way only: it has no latent values to look for", m.Net.Meta().Name)
	}
	c := &Controller{Weights: DefaultControlWeights(), m: m, batch: o.Batch, ways: max(o.Draws, m.Latent+1)}
	var err error
	if c.predict, err = m.NewPredictor(PredictorOptions{Batch: o.Batch, Ways: c.ways, Workers: o.Workers, Open: o.Open, BF16: o.BF16}); err != nil {
		return nil, err
	}
	size := m.Predict * m.Layout.Columns()
	c.latent, c.next = make([]float32, o.Batch*c.ways*m.Latent), make([]float32, o.Batch*c.ways*size)
	for range o.Batch {
		c.best = append(c.best, searching{z: make([]float32, m.Latent), tried: make([]float32, m.Latent), rows: make([]float32, size)})
	}
	c.pool = pool.New(o.Workers)
	for range c.pool.Workers() {
		s := controlScratch{grad: make([]float32, size), half: make([]float32, size), way: make([]float32, m.Predict*feature.MotionLen),
			h: make([]float64, m.Latent*m.Latent), g: make([]float64, m.Latent),
			cost: feature.Cost{Person: m.Person, DT: 1.0 / Rate, Frames: m.Predict, Stand: make([]float32, m.Predict*len(m.Layout.Contacts))}}
		for range m.Latent {
			s.dirs = append(s.dirs, make([]float32, size))
		}
		c.scratch = append(c.scratch, s)
	}
	c.choose, c.descend = c.chooseOne, c.descendOne
	return c, nil
}

// Close ends the controller's workers.
func (c *Controller) Close() error {
	c.pool.Close()
	return c.predict.Close()
}

// Control is what motions shall do in the frames to come.
type Control struct {
	Body   []float32   // (n, Predict, feature.MotionLen) the motion that the body shall have, raw
	Stand  []float32   // (n, Predict, contacts) how much each contact shall stand, 0 to 1; nil: as much as the motion that is found says itself
	Draws  int         // ways drawn, from 1 to the controller's
	Steps  int         // most steps from the best of them
	Spread float32     // deviation of the latent values that are drawn
	Exact  bool        // what the body still lacks at the end is spread over the frames
	Seed   uint64      // of what is drawn
	Stop   func() bool // asked before each step: a budget of time, for instance; nil is never
}

// stepWidth is by how much latent values are changed to see what that does.
const stepWidth = 0.25

// latentMost bounds latent values: prior draws are hardly ever beyond.
const latentMost = 3

// Run writes the frames that follow, (n, Predict, columns) raw, those of n motions,
// (n, Encode, columns) raw, and returns the mean cost of a motion. A motion's result has
// the same bits alone or among others, but for its place among them, by which is drawn.
func (c *Controller) Run(next, seen []float32, n int, job *Control) (cost float64, err error) {
	m := c.m
	size, frames := m.Predict*m.Layout.Columns(), n*m.Predict
	switch {
	case len(next) != n*size || len(job.Body) != frames*feature.MotionLen || job.Stand != nil && len(job.Stand) != frames*len(m.Layout.Contacts):
		return 0, fmt.Errorf("strnn: control of %d motions with %d values to come, %d of the bodies' motion and %d of contacts: want %d, %d and %d or none", n, len(next), len(job.Body), len(job.Stand), n*size, frames*feature.MotionLen, frames*len(m.Layout.Contacts))
	case job.Draws < 1 || job.Draws > c.ways || job.Steps < 0 || !(job.Spread >= 0):
		return 0, fmt.Errorf("strnn: control with %d draws of spread %g and %d steps: want 1 to %d draws, no less than 0, and no less than 0 steps", job.Draws, job.Spread, job.Steps, c.ways)
	}
	if err := c.predict.See(seen, n); err != nil {
		return 0, err
	}
	c.job, c.n, c.count = job, n, job.Draws
	for i := range n {
		b := &c.best[i]
		b.cost, b.damp = math.Inf(1), 1e-3
		b.rand.Seed(job.Seed, uint64(i))
		r := rand.New(&b.rand)
		for k := range job.Draws * m.Latent {
			c.latent[i*job.Draws*m.Latent+k] = job.Spread * float32(r.NormFloat64())
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
		to := next[i*size:][:size]
		copy(to, c.best[i].rows)
		if job.Exact {
			m.bring(to, job.Body[i*m.Predict*feature.MotionLen:][:m.Predict*feature.MotionLen])
		}
		cost += c.best[i].cost / float64(max(1, n))
	}
	return cost, nil
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
func (c *Controller) take(s *controlScratch, i, w int) bool {
	z, rows := c.way(i, w)
	b := &c.best[i]
	cost := c.cost(s, i, rows, z)
	if !(cost < b.cost) {
		return false
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
// direction are the other ways. A step that led up is made again, shorter.
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
	c.cost(s, i, rows, z)
	for k := range n {
		s.g[k] = dot(s.grad, s.dirs[k]) + 2*float64(c.Weights.Latent)*float64(z[k])
	}
	for k := range n {
		c.product(s, i, rows, s.dirs[k])
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

// cost returns that of frames that latent values z made of motion i, and writes the
// gradient along the frames into s.grad.
func (c *Controller) cost(s *controlScratch, i int, rows, z []float32) float64 {
	m, l := c.m, c.m.Layout
	cols, contacts := l.Columns(), len(l.Contacts)
	s.cost.Weights = feature.CostWeights{Slide: c.Weights.Slide, Bone: c.Weights.Bone}
	want := c.job.Body[i*m.Predict*feature.MotionLen:][:m.Predict*feature.MotionLen]
	s.cost.Body = want
	if c.job.Stand != nil {
		copy(s.cost.Stand, c.job.Stand[i*m.Predict*contacts:][:m.Predict*contacts])
	} else {
		for f := range m.Predict {
			for k := range contacts {
				s.cost.Stand[f*contacts+k] = min(max(rows[f*cols+l.Contact(k)], 0), 1)
			}
		}
	}
	total := s.cost.At(s.grad, rows, nil) + c.path(s, rows, want, s.grad, nil)
	for _, v := range z {
		total += float64(c.Weights.Latent) * float64(v) * float64(v)
	}
	return total
}

// product writes the Hessian's product with dir into s.half.
func (c *Controller) product(s *controlScratch, i int, rows, dir []float32) {
	want := c.job.Body[i*c.m.Predict*feature.MotionLen:][:c.m.Predict*feature.MotionLen]
	s.cost.At(s.half, rows, dir)
	c.path(s, rows, want, s.half, dir)
}

// path adds to grad the gradient of the cost of where the body is in each frame and
// where it shall be, or the Hessian's product with dir, and returns the cost. What is
// linear in the body's motion is meant: as it would go where it heads as it shall.
func (c *Controller) path(s *controlScratch, rows, want, grad, dir []float32) float64 {
	cols, body := c.m.Layout.Columns(), c.m.Layout.Body()
	const dt = 1.0 / Rate
	var x, z, turn float32 // from where it shall be, seen from the start
	yaw, total := float32(0), 0.0
	frames := c.m.Predict
	for f := range frames {
		v, w := rows[f*cols+body:][:feature.MotionLen], want[f*feature.MotionLen:][:feature.MotionLen]
		var d [feature.MotionLen]float32
		for k := range d {
			if d[k] = v[k] - w[k]; dir != nil {
				d[k] = dir[f*cols+body+k]
			}
		}
		way := m3.YawQuat(yaw).Rotate(m3.V(d[feature.MotionX], 0, d[feature.MotionZ]))
		x, z, turn = x+dt*way.X, z+dt*way.Z, turn+dt*d[feature.MotionYaw]
		yaw += dt * w[feature.MotionYaw]
		s.way[f*3], s.way[f*3+1], s.way[f*3+2] = x, z, turn
		total += float64(c.Weights.Place)*float64(x*x+z*z) + float64(c.Weights.Turn)*float64(turn*turn)
	}
	x, z, turn = 0, 0, 0
	for f := frames - 1; f >= 0; f-- {
		yaw -= dt * want[f*feature.MotionLen+feature.MotionYaw]
		x, z, turn = x+s.way[f*3], z+s.way[f*3+1], turn+s.way[f*3+2]
		back := m3.YawQuat(-yaw).Rotate(m3.V(x, 0, z))
		g := grad[f*cols+body:][:feature.MotionLen]
		g[feature.MotionX] += 2 * c.Weights.Place * dt * back.X
		g[feature.MotionZ] += 2 * c.Weights.Place * dt * back.Z
		g[feature.MotionYaw] += 2 * c.Weights.Turn * dt * turn
	}
	return total
}

// bring spreads over the frames what the body's motion still lacks at their end.
func (m *Model) bring(rows, want []float32) {
	cols, body := m.Layout.Columns(), m.Layout.Body()
	const dt = 1.0 / Rate
	turn := float32(0)
	for f := range m.Predict {
		turn += want[f*feature.MotionLen+feature.MotionYaw] - rows[f*cols+body+feature.MotionYaw]
	}
	for f := range m.Predict {
		rows[f*cols+body+feature.MotionYaw] += turn / float32(m.Predict)
	}
	var is, shall feature.Place
	for f := range m.Predict {
		is, shall = is.Advance(rows[f*cols+body:], dt), shall.Advance(want[f*feature.MotionLen:], dt)
	}
	step := shall.Pos.Sub(is.Pos).Scale(1 / (dt * float32(m.Predict)))
	at := feature.Place{}
	for f := range m.Predict {
		v := rows[f*cols+body:][:feature.MotionLen]
		by := m3.YawQuat(-at.Yaw).Rotate(step)
		at = at.Advance(v, dt)
		v[feature.MotionX] += by.X
		v[feature.MotionZ] += by.Z
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
	for i := range n {
		for j := range i + 1 {
			sum := a[i*n+j]
			for k := range j {
				sum -= a[i*n+k] * a[j*n+k]
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
	return true
}

// Lead writes the motion that a body which stands at from shall have, (len(to),
// feature.MotionLen) raw, so that frame by frame it is at to, and what it is off at first
// is gone at the end.
func Lead(body []float32, from feature.Place, start feature.Place, to []feature.Place) {
	off, turn := from.Pos.Sub(start.Pos), m3.WrapAngle(from.Yaw-start.Yaw)
	at := from
	for f, p := range to {
		left := float32(f+1) / float32(len(to))
		left = 1 - left*left*(3-2*left)
		p.Pos, p.Yaw = p.Pos.Add(off.Scale(left)), p.Yaw+turn*left
		way := m3.YawQuat(-at.Yaw).Rotate(p.Pos.Sub(at.Pos))
		v := body[f*feature.MotionLen:][:feature.MotionLen]
		v[feature.MotionX], v[feature.MotionZ], v[feature.MotionYaw] = way.X*Rate, way.Z*Rate, m3.WrapAngle(p.Yaw-at.Yaw)*Rate
		at = p
	}
}
