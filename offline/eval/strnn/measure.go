package strnn

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/offline/dataset"
	"mannequin/offline/eval"
	"mannequin/offline/metrics"
)

// forecasts measures predictions of the mean future.
func (r *Report) forecasts() (err error) {
	r.Forecast, err = r.forecastsOf(r.held)
	return err
}

// forecastsOf measures predictions on a set: of joints that stay in place, of rivals, of parts, and of
// the model, last.
func (r *Report) forecastsOf(set *dataset.MotionSet) (all []Forecast, err error) {
	for _, p := range append([]predictor{{name: "zero velocity", prefix: r.model.Encode, p: metrics.StandStill{Layout: r.model.Layout}}}, r.of...) {
		f, err := metrics.MeasureForecast(p.p, set, p.prefix)
		if err != nil {
			return nil, err
		}
		all = append(all, Forecast{p.name, f})
	}
	return all, nil
}

// lastFrames is the number of measured frames at the end of long motion.
const lastFrames = 1000

// rolloutPrefix is the number of recorded frames that a long motion follows.
const rolloutPrefix = 2 * strnn.Rate

// rollouts continues motions for a long time, with drawn futures. All of them together are compared
// with all recordings, and each with its own recorded prefix: who keeps walking moves less than all
// recordings, with their boxers and dancers.
func (r *Report) rollouts() error {
	r.Recorded = metrics.LivelinessOf(r.train)
	for _, p := range r.of {
		begin := time.Now()
		rows, err := r.roll(p, r.opt.Prefixes, rolloutPrefix, r.opt.Frames)
		if err != nil {
			return err
		}
		took := time.Since(begin)
		m := metrics.MeasureRollouts(rows, r.model.Layout, r.opt.Prefixes, rolloutPrefix, lastFrames)
		e := Rollouts{Name: p.name, Frames: r.opt.Frames, Still: m.Whole.Still, Jerk: m.Whole.Jerk / r.Recorded.Jerk, Finite: m.Whole.Finite,
			Rate: float64(r.opt.Prefixes*r.opt.Frames) / took.Seconds(), Variance: variance(m.All, r.Recorded)}
		r.Begun = variance(m.AllBegun, r.Recorded)
		e.Narrowest, e.Widest = slices.Min(e.Variance), slices.Max(e.Variance)
		for i, one := range m.Each {
			v := variance(one, m.Begun[i])
			slices.Sort(v)
			e.Each = append(e.Each, v[len(v)/2])
		}
		e.Kept = slices.Min(e.Each)
		r.Rollouts = append(r.Rollouts, e)
	}
	return nil
}

// roll continues evenly spread prefixes of the held-out recordings: see metrics.Roll. Motions of a predictor that draws
// are as predict shows them: cleaned up, and trunk, head and arms move more. If they cannot be cleaned up, the mean future is measured as it is.
func (r *Report) roll(p predictor, motions, prefix, frames int) ([]float32, error) {
	if p.shown == nil {
		return metrics.Roll(p.p, r.held, motions, prefix, frames)
	}
	p.shown.SetSampling(r.opt.Seed, r.opt.Spread)
	rows, err := metrics.Roll(p.shown, r.held, motions, prefix, frames)
	if errors.Is(err, strnn.ErrUnusable) {
		return metrics.Roll(p.p, r.held, motions, prefix, frames)
	}
	if err != nil {
		return nil, err
	}
	for n, rest := len(rows)/motions, rows; len(rest) > 0; rest = rest[n:] {
		r.model.Enliven(rest[:n], prefix)
	}
	return rows, nil
}

// variance returns the variance of each joint ÷ that before.
func variance(v, before metrics.Liveliness) (out []float64) {
	for j := range v.Variance {
		out = append(out, v.Variance[j]/before.Variance[j])
	}
	return out
}

// nearestPrefixes is the number of prefixes for the manifold distance, for each long motion.
const nearestPrefixes = 3

// nearest measures the distance of predicted motion from the training recordings, and for comparison
// that of held-out recordings.
func (r *Report) nearest() error {
	manifold := metrics.NewManifold(r.train)
	cols, prefixes := r.model.Layout.Columns(), nearestPrefixes*r.opt.Prefixes
	for _, p := range r.of {
		rows, err := r.roll(p, prefixes, p.prefix, metrics.ManifoldFrames)
		if err != nil {
			return err
		}
		n, sum := (p.prefix+metrics.ManifoldFrames)*cols, 0.0
		for i := range prefixes {
			d, err := manifold.Distance(rows[i*n:][p.prefix*cols:n], r.opt.Threads)
			if err != nil {
				return err
			}
			sum += d / float64(prefixes)
		}
		r.Nearest = append(r.Nearest, Nearest{p.name, sum})
	}
	sum, clips := 0.0, 0
	for c := range r.held.Clips[:len(r.held.Clips)/2] {
		clip := &r.held.Clips[c]
		rows := make([]float32, min(clip.Frames/2, metrics.ManifoldFrames)*cols)
		strnn.HalveRate(rows, clip.Rows, r.model.Layout)
		if d, err := manifold.Distance(rows, r.opt.Threads); err == nil { // long enough
			sum, clips = sum+d, clips+1
		}
	}
	r.Nearest = append(r.Nearest, Nearest{"recordings held out", sum / float64(max(1, clips))})
	return nil
}

// People under control.
const (
	controlPeople = 32
	controlSpeed  = 1.2 // m/s
)

// controls measures people along paths.
func (r *Report) controls() error {
	if r.model.Latent == 0 {
		return nil
	}
	c, err := r.model.NewController(strnn.ControllerOptions{Batch: controlPeople, Samples: r.opt.Draws, Workers: r.opt.Threads})
	if err != nil {
		return err
	}
	defer c.Close()
	for _, v := range []struct {
		name string
		job  strnn.Control
	}{
		{"none", strnn.Control{Samples: 1}},
		{fmt.Sprintf("best of %d ways", r.opt.Draws), strnn.Control{Samples: r.opt.Draws}},
		{fmt.Sprintf("best of %d, %d steps", r.opt.Draws, r.opt.Steps), strnn.Control{Samples: r.opt.Draws, Steps: r.opt.Steps}},
		{"the same, exact", strnn.Control{Samples: r.opt.Draws, Steps: r.opt.Steps, Exact: true}},
		{"the same, settled", strnn.Control{Samples: r.opt.Draws, Steps: r.opt.Steps, Exact: true, CleanUp: true}},
	} {
		v.job.Spread = r.opt.Spread
		m, err := metrics.MeasureControlled(c, r.model, r.held, controlPeople, r.opt.Seconds, controlSpeed, v.job)
		if err != nil {
			return err
		}
		r.Control = append(r.Control, Control{v.name, m})
	}
	if !r.opt.Tune {
		return nil
	}
	t, err := r.model.NewFineTuner(r.opt.Threads)
	if err != nil {
		return err
	}
	defer t.Close()
	m, err := metrics.MeasureControlled(t, r.model, r.held, tunedPeople, r.opt.Seconds, controlSpeed, strnn.Control{Steps: tuneSteps})
	if err != nil {
		return err
	}
	r.Control = append(r.Control, Control{fmt.Sprintf("%d steps of tuning weights", tuneSteps), m})
	return nil
}

// People whose windows the weights are tuned for.
const (
	tunedPeople = 4
	tuneSteps   = 20
)

// rates measures frames per second.
func (r *Report) rates() error {
	if !r.opt.Rates {
		return nil
	}
	m := r.model
	size, encode := m.Predict*m.Layout.Columns(), m.Encode*m.Layout.Columns()
	const motions, prefixes = 256, 32
	seen, next, body := make([]float32, motions*encode), make([]float32, motions*size), make([]float32, motions*m.Predict*feature.MotionLen)
	rows, err := metrics.Roll(metrics.StandStill{Layout: m.Layout}, r.held, prefixes, m.Encode, 0)
	if err != nil {
		return err
	}
	for at := 0; at < len(seen); at += len(rows) {
		copy(seen[at:], rows)
	}
	for _, v := range []struct{ control, bf16 bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
		if v.control && m.Latent == 0 {
			continue
		}
		n := motions
		var run, close func() error
		if v.control {
			n = 64
			c, err := m.NewController(strnn.ControllerOptions{Batch: n, Samples: r.opt.Draws, Workers: r.opt.Threads, BF16: v.bf16})
			if err != nil {
				return err
			}
			run = func() error {
				_, err := c.Run(next[:n*size], seen[:n*encode], n, &strnn.Control{Body: body[:n*m.Predict*feature.MotionLen], Samples: r.opt.Draws, Steps: r.opt.Steps, Spread: r.opt.Spread})
				return err
			}
			close = c.Close
		} else {
			p, err := m.NewPredictor(strnn.PredictorOptions{Batch: n, Workers: r.opt.Threads, BF16: v.bf16})
			if err != nil {
				return err
			}
			run = func() error { return p.Predict(next, seen, nil, n) }
			close = p.Close
		}
		best, err := eval.Fastest(8, run)
		if err := errors.Join(err, close()); err != nil {
			return err
		}
		r.Rates = append(r.Rates, Rate{n, v.control, v.bf16, float64(n*m.Predict) / best.Seconds()})
	}
	return nil
}
