package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/offline/baseline"
	"mannequin/offline/dataset"
	"mannequin/offline/metrics"
)

// evalSTRNNOptions are the flags of eval strnn.
type evalSTRNNOptions struct {
	model    string
	data     []string
	heldOut  []string
	rivals   []string
	parts    []string
	frames   int
	prefixes int
	seconds  float64
	draws    int
	steps    int
	tune     bool
	spread   float32
	seed     uint64
	threads  int
	manifold string
	motions  int
	rates    bool
	h36m     string
	asJSON   bool
}

func newEvalSTRNN() *cobra.Command {
	o := evalSTRNNOptions{spread: 1.4, seed: 1}
	c := &cobra.Command{
		Use:   "strnn --data DIR",
		Short: "Measure predictions of people's motion, far ahead, and under control",
		Long: `Measure a spatio-temporal recurrent network (Wang, Ho, Shum and Zhu 2019) on
recordings held out from training, each figure beside the bar that it has to reach:

  how far predicted joints are from recorded ones, 80 to 560 ms ahead, beside those
  that stay where they are and those of rivals
  how far 200 frames that are made of a prefix, as predict draws them, are from the
  recordings that were learnt from (the paper's manifold distance, eq. 12 and 13)
  what becomes of motion that goes on for 20,000 frames: how much joints vary, how
  long nothing moves, how it jerks
  how well people go along paths, by latent values that are looked for, and with
  --tune by the paper's tuning of weights for each window, which is slow
  how noise is taken off and gaps are filled, beside a convolutional autoencoder
  how many frames a second are made
  with --h36m how far off it is on walks of Human3.6M's subject 5, whom nobody was
  trained on

Rivals are files of train recurrent or train strnn: --rival NAME=FILE, several times.
Parts of the network, to see what each is for, are given likewise: --part NAME=FILE.
Errors need not beat theirs; manifold distances are held against that of the part
temporal-39-1, the paper's temporal network alone, which predicts single frames.
docs/strnn.md defines every figure.`,
		Example: `  mannequin eval strnn --data data/cmu-locomotion --data data/cmu-actions
  mannequin eval strnn --model strnn.safetensors --data data/cmu-locomotion --rival lstm3=lstm3.safetensors --part temporal-39-1=temporal.safetensors --json
  mannequin eval strnn --model strnn.safetensors --data data/cmu-locomotion --h36m data/h36m`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.threads < 1 || o.threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", o.threads)
			case o.frames < 1000 || o.frames > 1e6:
				return command.Usagef("--frames is %d, want 1000 to 1000000", o.frames)
			case o.prefixes < 1 || o.prefixes > 1000:
				return command.Usagef("--prefixes is %d, want 1 to 1000", o.prefixes)
			case o.motions < 0 || o.motions > 1e5:
				return command.Usagef("--motions is %d, want 0 to 100000", o.motions)
			case !(o.seconds >= 1 && o.seconds <= 3600):
				return command.Usagef("--seconds is %g, want 1 to 3600", o.seconds)
			case o.draws < 1 || o.draws > 100 || o.steps < 0 || o.steps > 100:
				return command.Usagef("--draws %d --steps %d: want 1 to 100, and 0 to 100", o.draws, o.steps)
			case !(o.spread >= 0 && o.spread <= 3):
				return command.Usagef("--spread is %g, want 0 to 3", o.spread)
			}
			r, err := evalSTRNN(cmd.Context(), o)
			if err != nil {
				return err
			}
			if o.asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			return r.print(cmd.OutOrStdout())
		},
	}
	p := c.Flags()
	p.StringVar(&o.model, "model", "human-strnn", "a shipped model's `name`, or a model file of train strnn")
	p.StringArrayVar(&o.data, "data", nil, "`folder` of the recordings that it was trained on; may stand several times")
	p.StringSliceVar(&o.heldOut, "held-out", nil, "`patterns` of the recordings that it has not seen (default: as train strnn)")
	p.StringArrayVar(&o.rivals, "rival", nil, "`NAME=FILE` of another predictor to measure beside it; may stand several times")
	p.StringArrayVar(&o.parts, "part", nil, "`NAME=FILE` of a part of the network; may stand several times")
	p.IntVar(&o.frames, "frames", 20000, "frames that motion goes on for")
	p.IntVar(&o.prefixes, "prefixes", 10, "motions that do")
	p.Float64Var(&o.seconds, "seconds", 10, "for how long people go along paths")
	p.IntVar(&o.draws, "draws", 8, "ways drawn for each window under control")
	p.IntVar(&o.steps, "steps", 1, "steps of Gauss and Newton from the best of them")
	p.BoolVar(&o.tune, "tune", false, "measure the paper's tuning of weights, too")
	p.Float32Var(&o.spread, "spread", o.spread, "deviation of the latent values that are drawn: more than 1, since what they leave unsaid is not drawn")
	p.Uint64Var(&o.seed, "seed", o.seed, "of what is drawn")
	p.StringVar(&o.manifold, "manifold", "human", "a shipped model's `name`, or a model file: the autoencoder that noise is also taken off with")
	p.IntVar(&o.motions, "motions", 512, "motions that noise is taken off; 0: none")
	p.BoolVar(&o.rates, "rates", true, "measure how many frames a second are made, too")
	p.StringVar(&o.h36m, "h36m", "", "`folder` of Human3.6M's exponential maps, S5_*.txt: predictions of subject 5 are measured, too")
	p.IntVar(&o.threads, "threads", runtime.GOMAXPROCS(0), "workers")
	p.BoolVar(&o.asJSON, "json", false, "print the report as JSON")
	must(c.MarkFlagRequired("data"))
	return c
}

// evalSTRNNReport is what the command prints.
type evalSTRNNReport struct {
	Model    string             `json:"model"`
	Horizons []float64          `json:"horizons_s"`
	Forecast []evalForecast     `json:"forecast"` // standing still, rivals, parts, and the model, last
	Nearest  []evalNearest      `json:"manifold_distance"`
	Recorded metrics.Liveliness `json:"recorded"` // the recordings learnt from
	Rollouts []evalRollouts     `json:"rollouts"` // rivals, parts, and the model, last
	Control  []evalControl      `json:"control"`
	Noise    []evalSTRNNNoise   `json:"noise,omitempty"`
	Gaps     []evalSTRNNGap     `json:"gaps,omitempty"`
	Rates    []evalSTRNNRate    `json:"rates,omitempty"`
	H36M     []evalH36M         `json:"h36m,omitempty"` // by action
	Bars     evalBars           `json:"bars"`
	model    *strnn.Model       // under test
	train    *dataset.Motion    //
	held     *dataset.Motion    //
	of       []evalPredictor    // rivals, parts, and the model, last
	opt      evalSTRNNOptions
}

// evalPredictor is what goes on from motions.
type evalPredictor struct {
	name   string
	part   bool
	prefix int // frames it sees
	p      metrics.Extender
	draws  interface {
		Draw(seed uint64, spread float32)
	} // nil: it goes on in one way only
	close func() error
}

// evalForecast is how far off predictions are.
type evalForecast struct {
	Name string `json:"name"`
	metrics.Forecast
}

// evalNearest is how far what is made is from what was recorded.
type evalNearest struct {
	Name     string  `json:"name"`
	Distance float64 `json:"distance"` // deviations
}

// evalRollouts is what becomes of long motion.
type evalRollouts struct {
	Name      string    `json:"name"`
	Frames    int       `json:"frames"`
	Variance  []float64 `json:"variance"` // of each joint, over the last frames of all motions, in those of the recordings
	Each      []float64 `json:"each"`     // of each motion: the median over joints
	Still     float64   `json:"still_s"`
	Jerk      float64   `json:"jerk"` // 99.9th percentile, in that of the recordings
	Finite    bool      `json:"finite"`
	Rate      float64   `json:"frames_per_second"`
	Narrowest float64   `json:"narrowest"`
	Widest    float64   `json:"widest"`
}

// evalControl is how well people go along paths.
type evalControl struct {
	Name string `json:"name"`
	metrics.Controlled
}

// evalSTRNNRate is how many frames a second are made.
type evalSTRNNRate struct {
	Motions int     `json:"motions"`
	Control bool    `json:"control"`
	BF16    bool    `json:"bf16"`
	Rate    float64 `json:"frames_per_second"`
}

func evalSTRNN(ctx context.Context, o evalSTRNNOptions) (*evalSTRNNReport, error) {
	net, err := models.Open(o.model)
	if err != nil {
		return nil, err
	}
	r := &evalSTRNNReport{Model: o.model, Horizons: metrics.Horizons[:], opt: o}
	if r.model, err = strnn.New(net); err != nil {
		return nil, err
	}
	if r.train, r.held, err = dataset.BuildMotion(o.data, dataset.MotionOptions{Layout: r.model.Layout, HeldOut: o.heldOut, Length: 2, Whole: true, Hop: 1 << 20, Workers: o.threads}); err != nil {
		return nil, err
	}
	if len(r.held.Clips) == 0 {
		return nil, errors.New("no recording is held out: name some with --held-out")
	}
	if err := r.openH36M(); err != nil { // before anything that takes long
		return nil, err
	}
	defer func() {
		for _, p := range r.of {
			p.close()
		}
	}()
	for _, of := range []struct {
		flag  string
		names []string
	}{{"rival", o.rivals}, {"part", o.parts}, {"model", []string{o.model + "=" + o.model}}} {
		for _, v := range of.names {
			name, file, ok := strings.Cut(v, "=")
			if !ok {
				return nil, command.Usagef("--%s is %q, want NAME=FILE", of.flag, v)
			}
			p, err := r.predictor(name, file)
			if err != nil {
				return nil, err
			}
			p.part = of.flag == "part"
			r.of = append(r.of, p)
		}
	}
	for _, stage := range []func() error{r.forecasts, r.forecastH36M, r.rollouts, r.nearest, r.controls, r.cleans, r.rates} {
		if ctx.Err() != nil {
			return nil, errors.New("interrupted, nothing measured")
		}
		if err := stage(); err != nil {
			return nil, err
		}
	}
	r.Bars = r.bars()
	return r, nil
}

// predictor opens a model file of either kind.
func (r *evalSTRNNReport) predictor(name, file string) (evalPredictor, error) {
	net, err := models.Open(file)
	if err != nil {
		return evalPredictor{}, err
	}
	if net.Meta().Extra[strnn.KeyEncode] == "" {
		p, err := baseline.NewRecurrent(net, r.model.Encode, r.opt.threads)
		if err != nil {
			return evalPredictor{}, fmt.Errorf("%s: %w", file, err)
		}
		return evalPredictor{name: name, prefix: r.model.Encode, p: p, close: p.Close}, nil
	}
	m, err := strnn.New(net)
	if err != nil {
		return evalPredictor{}, err
	}
	p, err := m.NewPredictor(strnn.PredictorOptions{Batch: max(32, nearestPrefixes*r.opt.prefixes), Workers: r.opt.threads})
	if err != nil {
		return evalPredictor{}, err
	}
	e := evalPredictor{name: name, prefix: m.Encode, p: p, close: p.Close}
	if m.Latent > 0 {
		e.draws = p
	}
	return e, nil
}

// forecasts measures predictions in the mean of all ways.
func (r *evalSTRNNReport) forecasts() (err error) {
	r.Forecast, err = r.forecastsOf(r.held)
	return err
}

// forecastsOf measures predictions on a set, of standing still, of rivals, of
// parts, and of the model, last.
func (r *evalSTRNNReport) forecastsOf(set *dataset.Motion) (all []evalForecast, err error) {
	for _, p := range append([]evalPredictor{{name: "zero velocity", prefix: r.model.Encode, p: metrics.StandStill{Layout: r.model.Layout}}}, r.of...) {
		f, err := metrics.MeasureForecast(p.p, set, p.prefix)
		if err != nil {
			return nil, err
		}
		all = append(all, evalForecast{p.name, f})
	}
	return all, nil
}

// last is how many frames at the end of long motion are looked at.
const lastFrames = 1000

// rollouts has motions go on for long, in ways that are drawn.
func (r *evalSTRNNReport) rollouts() error {
	r.Recorded = metrics.LivelinessOf(r.train)
	for _, p := range r.of {
		if p.draws != nil {
			p.draws.Draw(r.opt.seed, r.opt.spread)
		}
		begin := time.Now()
		rows, err := metrics.Roll(p.p, r.held, r.opt.prefixes, p.prefix, r.opt.frames)
		if err != nil {
			return err
		}
		took := time.Since(begin)
		m := metrics.MeasureRollouts(rows, r.model.Layout, r.opt.prefixes, p.prefix, lastFrames)
		e := evalRollouts{Name: p.name, Frames: r.opt.frames, Still: m.Whole.Still, Jerk: m.Whole.Jerk / r.Recorded.Jerk, Finite: m.Whole.Finite,
			Rate: float64(r.opt.prefixes*r.opt.frames) / took.Seconds(), Variance: r.variance(m.All)}
		e.Narrowest, e.Widest = slices.Min(e.Variance), slices.Max(e.Variance)
		for _, one := range m.Each {
			v := r.variance(one)
			slices.Sort(v)
			e.Each = append(e.Each, v[len(v)/2])
		}
		r.Rollouts = append(r.Rollouts, e)
	}
	return nil
}

// variance returns that of each joint in that of the recordings.
func (r *evalSTRNNReport) variance(v metrics.Liveliness) (out []float64) {
	for j := range v.Variance {
		out = append(out, v.Variance[j]/r.Recorded.Variance[j])
	}
	return out
}

// nearestPrefixes is of how many prefixes the manifold distance is, for each motion that
// goes on for long.
const nearestPrefixes = 3

// nearest measures how far what is made is from what was learnt from, and for
// comparison how far other recordings are.
func (r *evalSTRNNReport) nearest() error {
	manifold := metrics.NewManifold(r.train)
	cols, prefixes := r.model.Layout.Columns(), nearestPrefixes*r.opt.prefixes
	for _, p := range r.of {
		if p.draws != nil {
			p.draws.Draw(r.opt.seed, predictSpread)
		}
		rows, err := metrics.Roll(p.p, r.held, prefixes, p.prefix, metrics.ManifoldFrames)
		if err != nil {
			return err
		}
		n, sum := (p.prefix+metrics.ManifoldFrames)*cols, 0.0
		for i := range prefixes {
			d, err := manifold.Distance(rows[i*n:][p.prefix*cols:n], r.opt.threads)
			if err != nil {
				return err
			}
			sum += d / float64(prefixes)
		}
		r.Nearest = append(r.Nearest, evalNearest{p.name, sum})
	}
	sum, clips := 0.0, 0
	for c := range r.held.Clips[:len(r.held.Clips)/2] {
		clip := &r.held.Clips[c]
		rows := make([]float32, min(clip.Frames/2, metrics.ManifoldFrames)*cols)
		strnn.Halve(rows, clip.Rows, r.model.Layout)
		if d, err := manifold.Distance(rows, r.opt.threads); err == nil { // long enough
			sum, clips = sum+d, clips+1
		}
	}
	r.Nearest = append(r.Nearest, evalNearest{"recordings held out", sum / float64(max(1, clips))})
	return nil
}

// Of people under control.
const (
	controlPeople = 32
	controlSpeed  = 1.2 // m/s
)

// controls has people go along paths.
func (r *evalSTRNNReport) controls() error {
	if r.model.Latent == 0 {
		return nil
	}
	c, err := r.model.NewController(strnn.ControllerOptions{Batch: controlPeople, Draws: r.opt.draws, Workers: r.opt.threads})
	if err != nil {
		return err
	}
	defer c.Close()
	for _, v := range []struct {
		name string
		job  strnn.Control
	}{
		{"none", strnn.Control{Draws: 1}},
		{fmt.Sprintf("best of %d ways", r.opt.draws), strnn.Control{Draws: r.opt.draws}},
		{fmt.Sprintf("best of %d, %d steps", r.opt.draws, r.opt.steps), strnn.Control{Draws: r.opt.draws, Steps: r.opt.steps}},
		{"the same, exact", strnn.Control{Draws: r.opt.draws, Steps: r.opt.steps, Exact: true}},
		{"the same, settled", strnn.Control{Draws: r.opt.draws, Steps: r.opt.steps, Exact: true, Settle: true}},
	} {
		v.job.Spread = r.opt.spread
		m, err := metrics.MeasureControlled(c, r.model, r.held, controlPeople, r.opt.seconds, controlSpeed, v.job)
		if err != nil {
			return err
		}
		r.Control = append(r.Control, evalControl{v.name, m})
	}
	if !r.opt.tune {
		return nil
	}
	t, err := r.model.NewFineTuner(r.opt.threads)
	if err != nil {
		return err
	}
	defer t.Close()
	m, err := metrics.MeasureControlled(t, r.model, r.held, tunedPeople, r.opt.seconds, controlSpeed, strnn.Control{Steps: tuneSteps})
	if err != nil {
		return err
	}
	r.Control = append(r.Control, evalControl{fmt.Sprintf("%d steps of tuning weights", tuneSteps), m})
	return nil
}

// Of people whose windows the weights are tuned for.
const (
	tunedPeople = 4
	tuneSteps   = 20
)

// rates measures how many frames a second are made.
func (r *evalSTRNNReport) rates() error {
	if !r.opt.rates {
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
			c, err := m.NewController(strnn.ControllerOptions{Batch: n, Draws: r.opt.draws, Workers: r.opt.threads, BF16: v.bf16})
			if err != nil {
				return err
			}
			run = func() error {
				_, err := c.Run(next[:n*size], seen[:n*encode], n, &strnn.Control{Body: body[:n*m.Predict*feature.MotionLen], Draws: r.opt.draws, Steps: r.opt.steps, Spread: r.opt.spread})
				return err
			}
			close = c.Close
		} else {
			p, err := m.NewPredictor(strnn.PredictorOptions{Batch: n, Workers: r.opt.threads, BF16: v.bf16})
			if err != nil {
				return err
			}
			run = func() error { return p.Predict(next, seen, nil, n) }
			close = p.Close
		}
		best, err := fastest(run)
		if err := errors.Join(err, close()); err != nil {
			return err
		}
		r.Rates = append(r.Rates, evalSTRNNRate{n, v.control, v.bf16, float64(n*m.Predict) / best.Seconds()})
	}
	return nil
}

// fastest returns how long run takes at least.
func fastest(run func() error) (best time.Duration, err error) {
	for i := range 8 {
		begin := time.Now()
		if err := run(); err != nil {
			return 0, err
		}
		if took := time.Since(begin); i == 1 || took < best {
			best = took
		}
	}
	return best, nil
}

// bars compares the report's figures with their bars.
func (r *evalSTRNNReport) bars() evalBars {
	var b evalBars
	ours, still := r.Forecast[len(r.Forecast)-1], r.Forecast[0]
	for h, s := range r.Horizons {
		at := fmt.Sprintf("%.0f ms", 1000*s)
		best := 0.0
		for i, of := range r.of[:len(r.of)-1] {
			if f := &r.Forecast[i+1]; !of.part && (best == 0 || f.Body[h] < best) {
				best = f.Body[h]
			}
		}
		b.most("error of joints over the best rival's", at, over(ours.Body[h], best), 0.8)
	}
	for h, s := range r.Horizons[1:] {
		b.most("error of joints over that of standing still", fmt.Sprintf("%.0f ms", 1000*s), over(ours.Body[h+1], still.Body[h+1]), 1)
	}
	o := &r.Rollouts[len(r.Rollouts)-1]
	b.least("joints' variance over the recordings'", "narrowest", &o.Narrowest, 0.6)
	b.most("joints' variance over the recordings', at most", "widest", &o.Widest, 1.6)
	b.most("longest time in which nothing moves, s", "", &o.Still, 3)
	b.most("99.9th percentile of jerk over the recordings'", "", &o.Jerk, 2)
	for i, of := range r.of {
		if of.part && of.name == temporalName {
			b.most("manifold distance over that of the temporal network alone", "", over(r.Nearest[len(r.of)-1].Distance, r.Nearest[i].Distance), 0.7)
		}
	}
	for i := range r.Control {
		if strings.Contains(r.Control[i].Name, "steps") {
			b.most("distance from the path, mean cm", r.Control[i].Name, &r.Control[i].Mean, 5)
		}
	}
	r.cleanBars(&b)
	for i := range r.Rates {
		if v := &r.Rates[i]; v.BF16 {
			if v.Control {
				b.least("frames a second under control", "bfloat16", &v.Rate, 1200)
			} else {
				b.least("frames a second", "bfloat16", &v.Rate, 40000)
			}
		}
	}
	return b
}

// temporalName is the part against which manifold distances are held: the temporal
// network alone, which predicts single frames.
const temporalName = "temporal-39-1"

// printForecasts prints a table seen from the body and one in the world.
func (r *evalSTRNNReport) printForecasts(t *evalTables, whose string, forecasts []evalForecast) {
	head := []string{"cm after"}
	for _, s := range r.Horizons {
		head = append(head, fmt.Sprintf("%.0f ms", 1000*s))
	}
	for _, of := range []string{"seen from the body", "in the world"} {
		rows := []string{cells(head...)}
		for _, f := range forecasts {
			row, values := []string{f.Name}, f.Body
			if of != "seen from the body" {
				values = f.World
			}
			for _, v := range values {
				row = append(row, fmt.Sprintf("%.2f", v))
			}
			rows = append(rows, cells(row...))
		}
		t.section(fmt.Sprintf("How far predicted joints%s are off, %s, after %d prefixes", whose, of, forecasts[0].Prefixes), rows...)
	}
}

func (r *evalSTRNNReport) print(w io.Writer) error {
	t := &evalTables{w: w}
	r.printForecasts(t, "", r.Forecast)
	for _, h := range r.H36M {
		r.printForecasts(t, fmt.Sprintf(" of Human3.6M's %s, %s,", h36mSubject, h.Action), h.Forecast)
	}
	rows := []string{"\tdistance"}
	for _, n := range r.Nearest {
		rows = append(rows, cells(n.Name, fmt.Sprintf("%.2f", n.Distance)))
	}
	t.section(fmt.Sprintf("How far windows of %d frames made of %d prefixes are from the recordings learnt from (manifold distance)", metrics.ManifoldFrames, nearestPrefixes*r.opt.prefixes), rows...)
	rows = []string{"\tvariance of joints: least\tmost\tmedian of each motion\tstill s\tjerk\tfinite\tframes/s"}
	for _, v := range r.Rollouts {
		var each []string
		for _, e := range v.Each {
			each = append(each, fmt.Sprintf("%.2f", e))
		}
		rows = append(rows, cells(v.Name, fmt.Sprintf("%.2f", v.Narrowest), fmt.Sprintf("%.2f", v.Widest), strings.Join(each, " "), fmt.Sprintf("%.1f", v.Still), fmt.Sprintf("%.2f", v.Jerk), fmt.Sprint(v.Finite), fmt.Sprintf("%.0f", v.Rate)))
	}
	t.section(fmt.Sprintf("The last %d of %d frames of %d motions, over the recordings'", lastFrames, r.opt.frames, r.opt.prefixes), rows...)
	rows = []string{"control\tmean cm\tlast second\t95 %\tslide cm/frame\theld feet\tjerk m/s³\tframes/s"}
	for _, c := range r.Control {
		rows = append(rows, cells(c.Name, fmt.Sprintf("%.1f", c.Mean), fmt.Sprintf("%.1f", c.Last), fmt.Sprintf("%.1f", c.P95), fmt.Sprintf("%.2f", c.Slide), fmt.Sprintf("%.2f", c.Held), fmt.Sprintf("%.0f", c.Jerk), fmt.Sprintf("%.0f", c.Rate)))
	}
	if len(r.Control) > 0 {
		t.section(fmt.Sprintf("People along paths for %.0f s at %g m/s", r.Control[0].Seconds, controlSpeed), rows...)
	}
	if len(r.Noise) > 0 {
		r.printCleans(t)
	}
	rows = []string{"motions\tcontrol\tbfloat16\tframes/s"}
	for _, v := range r.Rates {
		rows = append(rows, cells(fmt.Sprint(v.Motions), fmt.Sprint(v.Control), fmt.Sprint(v.BF16), fmt.Sprintf("%.0f", v.Rate)))
	}
	if len(r.Rates) > 0 {
		t.section(fmt.Sprintf("Frames a second on %d threads", r.opt.threads), rows...)
	}
	t.table(fmt.Sprintf("%s in short: %d of %d bars missed, marked *", r.Model, r.Bars.missed(), len(r.Bars)), 0, r.Bars.rows())
	return t.err
}
