package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

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
			return printReport(cmd.OutOrStdout(), r, o.asJSON)
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
	train    *dataset.MotionSet //
	held     *dataset.MotionSet //
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
