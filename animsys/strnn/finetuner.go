package strnn

import (
	"errors"
	"fmt"
	"math"

	"mannequin/netruntime/grad"
)

// FineTuner continues motions with control as the paper does (Wang et al. 2019, sec. 5.4). For each
// window it tunes the weights of encoder and predictor by a few steps of AdaDelta, then restores
// them. It belongs to one goroutine.
type FineTuner struct {
	Weights ControlWeights // Latent is not used

	m         *Model
	predictor *Predictor // for likely latent values and the linear filters
	net       *grad.Network
	pool      *grad.Pool
	tape      *grad.Tape
	means     [][2][]float32 // by parameter: AdaDelta's means of squared gradients and steps
	scratch   controlScratch
	rows      []float32 // (Predict, columns) current prediction
	best      []float32 // (Predict, columns) prediction of the lowest cost
}

// Constants of AdaDelta (sec. 4.2.4).
const (
	tuneRate = 1
	tuneRho  = 0.95
	tuneEps  = 1e-8
)

// NewFineTuner returns a fine-tuner.
func (m *Model) NewFineTuner(workers int) (*FineTuner, error) {
	if m.Net == nil {
		return nil, errZeroModel
	}
	if workers < 1 {
		return nil, fmt.Errorf("strnn: a fine-tuner on %d workers: want at least one", workers)
	}
	part, err := m.Net.Part(m.inputs(ValueX, ValueLatent), []string{ValueAfter})
	if err != nil {
		return nil, err
	}
	net, err := grad.NewNetwork(part)
	if err != nil {
		return nil, err
	}
	cols := m.Layout.Columns()
	t := &FineTuner{Weights: DefaultControlWeights(), m: m, net: net, scratch: m.newControlScratch(),
		rows: make([]float32, m.Predict*cols), best: make([]float32, m.Predict*cols)}
	for _, p := range net.Params() {
		t.means = append(t.means, [2][]float32{make([]float32, len(p.Val)), make([]float32, len(p.Val))})
	}
	if t.predictor, err = m.NewPredictor(PredictorOptions{Batch: 1, Workers: 1}); err != nil {
		return nil, err
	}
	t.pool = grad.NewPool(workers)
	t.tape = grad.NewTape(t.pool)
	return t, nil
}

// Close stops the fine-tuner's workers.
func (t *FineTuner) Close() error {
	if t.pool == nil {
		return nil
	}
	t.pool.Close()
	return t.predictor.Close()
}

// Run is Controller.Run, one motion after the other. It ignores the job's Samples, Latents, Spread,
// Seed and CleanUp; Steps are tuning steps.
func (t *FineTuner) Run(next, seen []float32, n int, job *Control) (cost float64, err error) {
	m := t.m
	if err := job.check(m, next, n); err != nil {
		return 0, err
	}
	size, encode := m.Predict*m.Layout.Columns(), m.Encode*m.Layout.Columns()
	if len(seen) != n*encode || job.Steps < 0 {
		return 0, fmt.Errorf("strnn: %d motions of %d values with %d tuning steps: want %d values, and at least 0 steps",
			n, len(seen), job.Steps, n*encode)
	}
	if m.Predict != m.Encode {
		return 0, errors.New("strnn: fine-tuning needs a model that predicts as many frames as it sees")
	}
	for i := range n {
		was := seen[i*encode:][:encode]
		if err := t.predictor.Observe(was, 1); err != nil {
			return 0, err
		}
		least := t.tune(was, i, job)
		to := next[i*size:][:size]
		copy(to, t.best)
		if job.Exact {
			m.correctEnd(to, job.body(m, i))
		}
		cost += least / float64(max(1, n))
	}
	return cost, nil
}

// tune searches for the frames that follow seen and returns their cost.
func (t *FineTuner) tune(seen []float32, i int, job *Control) float64 {
	m := t.m
	t.net.Restore()
	for _, mean := range t.means {
		clear(mean[0])
		clear(mean[1])
	}
	c, least := controlCost{m, t.Weights, job}, math.Inf(1)
	for step := 0; ; step++ {
		tape := t.tape
		tape.Reset()
		x, z := tape.Const(m.Encode, m.Layout.Columns()), tape.Const(m.Predict, m.latents())
		copy(x.Val, seen)
		clear(z.Val)
		for f := range m.Predict {
			copy(z.Val[f*z.Cols:], t.predictor.likely[0])
		}
		in := []*grad.Mat{x, z}
		if m.Linear != nil {
			in = append(in, tape.Const(m.Predict, m.Layout.Columns()))
			copy(in[2].Val, t.predictor.base)
		}
		y := t.net.Forward(tape, m.Encode, in...)[0]
		if copy(t.rows, y.Val); m.Linear != nil {
			copy(t.rows, t.predictor.base)
			m.Linear.Add(t.rows, y.Val, m.Encode)
		}
		if cost := c.at(&t.scratch, i, t.rows, nil); cost < least || step == 0 { // always take the first, rather than the frames of the motion before
			least = cost
			copy(t.best, t.rows)
		}
		if step == job.Steps || job.Stop != nil && job.Stop() {
			return least
		}
		g := tape.Const(y.Rows, y.Cols)
		if copy(g.Val, t.scratch.grad); m.Linear != nil {
			clear(g.Val)
			m.Linear.Add(g.Val, t.scratch.grad, m.Encode)
		}
		tape.Backward(tape.Sum(tape.Mul(y, g)))
		for k, p := range t.net.Params() {
			grad.AdaDelta(p.Val, p.Grad, t.means[k][0], t.means[k][1], tuneRate, tuneRho, tuneEps)
		}
	}
}
