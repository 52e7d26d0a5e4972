package strnn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mannequin/animsys/strnn"
	"mannequin/models"
	"mannequin/offline/baseline"
	"mannequin/offline/dataset"
	"mannequin/offline/eval"
	"mannequin/offline/metrics"
	"mannequin/offline/retarget"
)

// Options are the flags of eval strnn.
type Options struct {
	Model    string
	Data     []string
	HeldOut  []string
	Reading  retarget.Reading // how recordings are read
	Rivals   []string
	Parts    []string
	Frames   int
	Prefixes int
	Seconds  float64
	Draws    int
	Steps    int
	Tune     bool
	Spread   float32
	Seed     uint64
	Threads  int
	Manifold string
	Motions  int
	Rates    bool
	H36m     string
	Seeds    int // of each person that goes on; 0: none
}

// Report is the result.
type Report struct {
	Model    string             `json:"model"`
	Horizons []float64          `json:"horizons_s"`
	Forecast []Forecast         `json:"forecast"` // standing still, rivals, parts, and the model, last
	Nearest  []Nearest          `json:"manifold_distance"`
	Recorded metrics.Liveliness `json:"recorded"` // the recordings learnt from
	Begun    []float64          `json:"begun"`    // variance of each joint in the recorded frames that long motions follow ÷ the recordings'
	Rollouts []Rollouts         `json:"rollouts"` // rivals, parts, and the model, last
	GoingOn  GoingOn            `json:"going_on"`
	Control  []Control          `json:"control"`
	Noise    []Noise            `json:"noise,omitempty"`
	Gaps     []Gap              `json:"gaps,omitempty"`
	Rates    []Rate             `json:"rates,omitempty"`
	H36M     []H36M             `json:"h36m,omitempty"` // by action
	Bars     eval.Bars          `json:"bars"`
	model    *strnn.Model       // under test
	train    *dataset.MotionSet //
	held     *dataset.MotionSet //
	of       []predictor        // rivals, parts, and the model, last
	opt      Options
}

// predictor is a network that continues motions.
type predictor struct {
	name   string
	part   bool
	prefix int // frames it sees
	p      metrics.Extender
	shown  sampler // what predict shows; nil: it predicts a single future
	close  func() error
}

// Forecast is the error of predictions.
type Forecast struct {
	Name string `json:"name"`
	metrics.Forecast
}

// Nearest is the distance of predicted motion from recordings.
type Nearest struct {
	Name     string  `json:"name"`
	Distance float64 `json:"distance"` // deviations
}

// Rollouts are long motions of a predictor.
type Rollouts struct {
	Name      string    `json:"name"`
	Frames    int       `json:"frames"`
	Variance  []float64 `json:"variance"` // of each joint, over the last frames of all motions ÷ the recordings'
	Each      []float64 `json:"each"`     // of each motion ÷ that of the recorded frames that it follows: the median over joints
	Still     float64   `json:"still_s"`
	Jerk      float64   `json:"jerk"` // 99.9th percentile ÷ the recordings'
	Finite    bool      `json:"finite"`
	Rate      float64   `json:"frames_per_second"`
	Narrowest float64   `json:"narrowest"`
	Widest    float64   `json:"widest"`
	Kept      float64   `json:"kept"` // the least of Each
}

// Control is the result of people along paths.
type Control struct {
	Name string `json:"name"`
	metrics.Controlled
}

// Rate is a rate of frames.
type Rate struct {
	Motions int     `json:"motions"`
	Control bool    `json:"control"`
	BF16    bool    `json:"bf16"`
	Rate    float64 `json:"frames_per_second"`
}

// Measure measures a network.
func Measure(ctx context.Context, o Options) (*Report, error) {
	m, err := models.OpenAs(o.Model, strnn.NewModel)
	if err != nil {
		return nil, err
	}
	r := &Report{Model: o.Model, Horizons: metrics.Horizons[:], model: m, opt: o}
	if r.train, r.held, err = dataset.BuildMotion(o.Data, dataset.MotionOptions{Layout: r.model.Layout, HeldOut: o.HeldOut, Read: o.Reading, Length: 2, Whole: true, Hop: 1 << 20, Workers: o.Threads}); err != nil {
		return nil, err
	}
	if len(r.held.Clips) == 0 {
		return nil, errors.New("no recording is held out: name some with --held-out")
	}
	if err := r.openH36M(); err != nil { // before the long stages
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
	}{{"rival", o.Rivals}, {"part", o.Parts}, {"model", []string{o.Model + "=" + o.Model}}} {
		for _, v := range of.names {
			name, file, ok := strings.Cut(v, "=")
			if !ok {
				return nil, fmt.Errorf("%s %q: want NAME=FILE", of.flag, v)
			}
			p, err := r.predictor(name, file)
			if err != nil {
				return nil, err
			}
			p.part = of.flag == "part"
			r.of = append(r.of, p)
		}
	}
	if err := eval.Stages(ctx, r.forecasts, r.forecastH36M, r.goingOn, r.rollouts, r.nearest, r.controls, r.cleans, r.rates); err != nil {
		return nil, err
	}
	r.Bars = r.bars()
	return r, nil
}

// predictor opens a model file of either kind.
func (r *Report) predictor(name, file string) (predictor, error) {
	net, err := models.Open(file)
	if err != nil {
		return predictor{}, err
	}
	if net.Meta().Extra[strnn.KeyEncode] == "" {
		p, err := baseline.NewRecurrent(net, r.model.Encode, r.opt.Threads)
		if err != nil {
			return predictor{}, fmt.Errorf("%s: %w", file, err)
		}
		return predictor{name: name, prefix: r.model.Encode, p: p, close: p.Close}, nil
	}
	m, err := strnn.NewModel(net)
	if err != nil {
		return predictor{}, err
	}
	o := strnn.PredictorOptions{Batch: max(32, nearestPrefixes*r.opt.Prefixes), Draws: PredictDraws, Workers: r.opt.Threads}
	p, err := m.NewPredictor(o)
	if err != nil {
		return predictor{}, err
	}
	e := predictor{name: name, prefix: m.Encode, p: p, close: p.Close}
	if m.Latent == 0 {
		return e, nil
	}
	o.CleanUp = true
	shown, err := m.NewPredictor(o)
	if err != nil {
		return predictor{}, errors.Join(err, p.Close())
	}
	e.shown, e.close = shown, func() error { return errors.Join(p.Close(), shown.Close()) }
	return e, nil
}

// How mannequin predict draws, by which people keep doing what they do: the deviation of latent values,
// and the number of draws for each window.
const (
	PredictSpread = 1.85
	PredictDraws  = 16
)
