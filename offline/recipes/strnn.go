package recipes

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/netruntime"
	"mannequin/offline/train"
)

// STRNN is the recipe of the spatio-temporal recurrent network (Wang, Ho, Shum and Zhu 2019). From
// Encode frames, 30 per second, it makes the same frames again, backward in time, and Predict more.
// Linear, Latent, Manner, Chain, Distance, Corrupt, Stretch and NormEnd are our additions. Without them,
// and with the values given as the paper's, it is the paper's network.
type STRNN struct {
	Encode, Predict int             `json:"-"` // frames; the paper has 20 and 20
	Start           *netruntime.Net `json:"-"` // initial weights, normalisation and filters, of a file without or with manners; nil: weights are drawn

	Units       int     `json:"units"`        // of the temporal network; the paper has 512
	FilterUnits int     `json:"filter_units"` // of the residual network's hidden layers; the paper has 512
	Spatial     bool    `json:"spatial"`      // false: the temporal network alone
	Filter      bool    `json:"filter"`       // with the residual network
	Ahead       bool    `json:"ahead"`        // only what comes is learnt, from Start: the predictor, the latent values and manners. Encoder, decoders and residual network stay
	Tune        float64 `json:"tune"`         // share of the epochs, the last ones, in which only the filter learns: the paper's hybrid training

	Linear bool    `json:"linear"` // the network learns the differences from frames by a linear filter
	Latent int     `json:"latent"` // values that select one of the possible continuations; 0: the mean of all
	Manner int     `json:"manner"` // values of the code of how the person moves; 0: the network knows only the frames it sees
	KL     float64 `json:"kl"`     // weight of their divergence from the prior, in nats, per squared error of all values of the predicted frames
	Mean   float64 `json:"mean"`   // share of the windows that continue in the mean: with the prior's means as latent values
	Chain  int     `json:"chain"`  // times in a row that a motion is continued, each time from the predicted frames

	// Distance is the weight of the distance of predicted joints in metres. With 0, squared errors in
	// deviations count, as in the paper.
	Distance float64 `json:"distance"`
	// Horizon is the weight of the squared accelerations of the network's frames (eq. 7).
	Horizon float64 `json:"horizon"`
	// Noise is the deviation of the noise on the given frames, and the share of the epochs after which
	// it has fallen to 0. The paper has 0.1, less 0.001 every epoch.
	Noise [2]float64 `json:"noise"`
	// Corrupt are the largest deviations of the noise on additional frames that are only reconstructed:
	// on joints and the body's motion, and on contacts. The paper has none.
	Corrupt [2]float64 `json:"corrupt"`
	// Stretch is the largest change of tempo, as a share.
	Stretch float64 `json:"stretch"`
	// NormEnd is the share of the epochs after which batch normalisation uses the running statistics, as
	// at run time. 1 is never, as in the paper.
	NormEnd float64 `json:"norm_end"`
	Keep    float32 `json:"keep"` // dropout's retention probability; the paper has 0.9
	L2      float64 `json:"l2"`   // weight of the mean square of the parameters

	Training `json:"-"`
}

// DefaultSTRNN returns our recipe without data.
func DefaultSTRNN() STRNN {
	return STRNN{Encode: 20, Predict: 20, Units: 384, FilterUnits: 256, Spatial: true, Filter: true, Tune: 0.12,
		Linear: true, Latent: 16, Manner: 16, KL: 1.8, Mean: 0.5, Chain: 2,
		Distance: 5, Horizon: 0.1, Noise: [2]float64{0.05, 0.9}, Corrupt: [2]float64{0.35, 5}, Stretch: 0.15, NormEnd: 0.3, Keep: 0.9,
		Training: Training{
			Jitter: true, ClipNorm: 1, Epochs: 36, Batch: 24, Seed: 1,
			AdamW: train.AdamW{Rate: 5e-4, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Decay: 0.02},
		}}
}

// PaperSTRNN returns the paper's recipe without data, as far as sec. 4.2.4 gives it. The paper
// first trains its residual network to reproduce its input. Ours adds its output to its input, so
// it does not need that.
func PaperSTRNN() STRNN {
	m := DefaultSTRNN()
	m.Linear, m.Latent, m.Manner, m.Chain, m.Corrupt, m.Stretch, m.Distance, m.NormEnd = false, 0, 0, 1, [2]float64{}, 0, 0, 1
	m.Units, m.FilterUnits, m.Horizon, m.Noise, m.Keep, m.L2 = 512, 512, 1, [2]float64{0.1, 1}, 0.9, 0.01
	m.AdaDelta = &train.AdaDelta{Rate: 1, Rho: 0.95, Eps: 1e-8}
	m.Jitter, m.Epochs, m.Batch = false, 100, 32
	return m
}

// Frames returns the number of frames, at 60 per second, that a window of recordings must have.
func (m *STRNN) Frames() int {
	n := m.Encode + m.Chain*m.Predict
	return int((1+m.Stretch)*float64(2*n)) + 2
}

// check reports the first field that is out of range.
func (m *STRNN) check() error {
	for _, share := range []float64{m.Mean, m.Tune, m.Noise[1], m.NormEnd} {
		if !(share >= 0 && share <= 1) {
			return fmt.Errorf("recipes: Mean, Tune, the end of Noise or NormEnd is %g, want a share from 0 to 1", share)
		}
	}
	switch {
	case m.Encode < 2 || m.Predict < 1 || max(m.Encode, m.Predict) > 240:
		return fmt.Errorf("recipes: %d frames seen and %d to come, want 2 to 240 and 1 to 240", m.Encode, m.Predict)
	case m.Chain < 1 || m.Chain > 16:
		return fmt.Errorf("recipes: a chain of %d, want 1 to 16", m.Chain)
	case m.Ahead && m.Start == nil:
		return fmt.Errorf("recipes: only what comes is learnt, without a network to start from: want Start")
	case m.Units < 1 || m.FilterUnits < 1 || max(m.Units, m.FilterUnits) > 8192:
		return fmt.Errorf("recipes: %d units, and %d in the residual network, want 1 to 8192", m.Units, m.FilterUnits)
	case m.Latent < 0 || m.Manner < 0 || max(m.Latent, m.Manner) > 1024:
		return fmt.Errorf("recipes: %d latent values and %d of manners, want 0 to 1024", m.Latent, m.Manner)
	case m.Manner > 0 && m.Latent == 0:
		return fmt.Errorf("recipes: %d values of manners without latent values, want both or neither", m.Manner)
	case !(m.Stretch >= 0 && m.Stretch < 1):
		return fmt.Errorf("recipes: Stretch is %g, want 0 to below 1", m.Stretch)
	case m.Train.Margin != 0 || m.Train.Length < m.Frames():
		return fmt.Errorf("recipes: windows of %d frames with margins of %d, want at least %d without margins",
			m.Train.Length, m.Train.Margin, m.Frames())
	}
	return nil
}

// Run trains and writes the model.
func (m *STRNN) Run(ctx context.Context) (*train.Report, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	l, err := newSTRNNLoss(m)
	if err != nil {
		return nil, err
	}
	if m.Ahead {
		m.Tune = 0
	}
	tune := int(math.Round(m.Tune * float64(m.Epochs)))
	if m.Filter && tune > 0 && tune < m.Epochs && m.Steps == 0 && m.Schedule == (train.WarmRestarts{}) {
		m.Stages = train.Stages{m.Epochs - tune, tune}
	}
	params := l.net.params()
	job := &train.Job{Params: params, Loss: l.loss, Losses: l.losses, Begin: l.begin, L2: m.L2 / float64(count(params))}
	return m.train(ctx, l.batch, m.recipe(), job, func(best trained) (*netruntime.Net, error) { return m.model(l, best) })
}

// recipe returns the beginning of the checkpoint key.
func (m *STRNN) recipe() []any {
	parts := []any{fields{"network": "strnn", "schema": m.Train.Layout.Hash()}, fields{"frames": [2]int{m.Encode, m.Predict}}, m,
		fields{"epochs": m.Epochs, "jitter": m.Jitter}}
	if m.Start != nil {
		parts = append(parts, fields{"start": netHash(m.Start)})
	}
	return parts
}

// model makes the network of the model file.
func (m *STRNN) model(l *strnnLoss, best trained) (*netruntime.Net, error) {
	tensors := append(normTensors("", m.Train.Mean, m.Train.Std), l.net.tensors(best.weights)...)
	meta, err := m.meta("strnn", "human-strnn", best, l.net.graph(l.linear), m)
	if err != nil {
		return nil, err
	}
	person, err := feature.NewPerson(m.Train.Layout, m.Train.Skeleton)
	if err != nil {
		return nil, fmt.Errorf("recipes: %w", err)
	}
	if err := strnn.Describe(&meta, person, m.Encode, m.Predict, m.Latent); err != nil {
		return nil, err
	}
	if m.Manner > 0 {
		meta.Extra[strnn.KeyManner] = strconv.Itoa(m.Manner)
		for i, name := range mannerStats {
			tensors = append(tensors, netruntime.Tensor{Name: name, Shape: []int{2 * m.Train.Layout.Columns()}, Data: l.manners[i]})
		}
	}
	if m.Linear {
		zeros := func(name string, n int) netruntime.Tensor {
			return netruntime.Tensor{Name: name, Shape: []int{n}, Data: make([]float32, n)}
		}
		cols := m.Train.Layout.Columns()
		tensors = append(tensors, zeros("none", cols), l.linear.Tensor(), zeros(strnn.ValueLinear+".bias", (m.Encode+m.Predict)*cols))
		scale, err := json.Marshal(l.linear.Scale)
		if err != nil {
			return nil, err
		}
		meta.Extra[strnn.KeyScale] = string(scale)
	}
	return netruntime.New(meta, tensors)
}
