package recipes

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/netruntime"
	"mannequin/offline/train"
)

// STRNN is the recipe of the spatio-temporal recurrent network (Wang, Ho, Shum and Zhu
// 2019): from Encode frames, 30 per second, to the same again, backwards in time, and
// Predict more. Linear, Latent, Chain, Distance, Corrupt, Stretch and NormEnd are additions of ours:
// without them, and with the values that are said to be the paper's, it is the paper's.
type STRNN struct {
	Encode, Predict int `json:"-"`     // frames; the paper has 20 and 20
	Units           int `json:"units"` // of the temporal network; the paper has 512

	FilterUnits int `json:"filter_units"` // of the residual network's hidden layers; the paper has 512

	Spatial bool    `json:"spatial"` // false: the temporal network alone
	Filter  bool    `json:"filter"`  // with the residual network
	Tune    float64 `json:"tune"`    // share of the epochs, the last ones, in which the filter alone learns: the paper's hybrid training

	Linear bool    `json:"linear"` // frames are learnt as differences from what a linear filter says
	Latent int     `json:"latent"` // values that tell in which of the ways it may go on a motion does; 0: it goes on in the mean of all
	KL     float64 `json:"kl"`     // weight of the divergence of these values, in nats, from a normal distribution, per squared error of all values of the frames to come
	Mean   float64 `json:"mean"`   // share of the windows that go on in the mean of all ways, at latent values of 0
	Chain  int     `json:"chain"`  // times in a row that motions go on, each time from what was made

	Distance float64    `json:"distance"` // joints to come are wrong by so much per metre that they are off; 0: by the squares of their values in deviations, as in the paper
	Horizon  float64    `json:"horizon"`  // weight in the loss of the squared accelerations of what is made (eq. 7)
	Noise    [2]float64 `json:"noise"`    // deviation of the noise on the frames that go in, in deviations, and the share of the epochs after which it has fallen to 0; the paper has 0.1, less 0.001 every epoch
	Corrupt  [2]float64 `json:"corrupt"`  // greatest deviations of the noise on joints and the body's motion, and on contacts, of more frames, that are only made again; the paper has none
	Stretch  float64    `json:"stretch"`  // how much faster or slower recordings are played at most, as a share
	NormEnd  float64    `json:"norm_end"` // share of the epochs after which batch normalisation goes by running statistics, as it will; 1: never, as in the paper
	Keep     float32    `json:"keep"`     // dropout's retention probability; the paper has 0.9
	L2       float64    `json:"l2"`       // weight of the mean of the parameters' squares

	Training `json:"-"`
}

// DefaultSTRNN returns our recipe without data.
func DefaultSTRNN() STRNN {
	return STRNN{Encode: 20, Predict: 20, Units: 384, FilterUnits: 256, Spatial: true, Filter: true, Tune: 0.12,
		Linear: true, Latent: 16, KL: 1.8, Mean: 0.5, Chain: 2,
		Distance: 5, Horizon: 0.1, Noise: [2]float64{0.05, 0.9}, Corrupt: [2]float64{0.35, 5}, Stretch: 0.15, NormEnd: 0.3, Keep: 0.9,
		Training: Training{
			Jitter: true, ClipNorm: 1, Epochs: 36, Batch: 24, Seed: 1,
			AdamW: train.AdamW{Rate: 5e-4, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Decay: 0.02},
		}}
}

// PaperSTRNN returns the paper's recipe without data, as far as the paper tells it: sec.
// 4.2.4. Its residual network is trained before the rest is known, to give back what it
// gets; ours adds what it makes to what it gets, and need not be.
func PaperSTRNN() STRNN {
	m := DefaultSTRNN()
	m.Linear, m.Latent, m.Chain, m.Corrupt, m.Stretch, m.Distance, m.NormEnd = false, 0, 1, [2]float64{}, 0, 0, 1
	m.Units, m.FilterUnits, m.Horizon, m.Noise, m.Keep, m.L2 = 512, 512, 1, [2]float64{0.1, 1}, 0.9, 0.01
	m.AdaDelta = &train.AdaDelta{Rate: 1, Rho: 0.95, Eps: 1e-8}
	m.Jitter, m.Epochs, m.Batch = false, 100, 32
	return m
}

// Frames is how many frames at 60 per second a window of recordings must have.
func (m *STRNN) Frames() int {
	n := m.Encode + m.Chain*m.Predict
	return int((1+m.Stretch)*float64(2*n)) + 2
}

// check reports the first field that is out of range.
func (m *STRNN) check() error {
	switch {
	case m.Encode < 2 || m.Predict < 1 || max(m.Encode, m.Predict) > 240:
		return fmt.Errorf("recipes: %d frames seen and %d to come, want 2 to 240 and 1 to 240", m.Encode, m.Predict)
	case m.Chain < 1 || m.Chain > 16:
		return fmt.Errorf("recipes: motions go on %d times, want 1 to 16", m.Chain)
	case m.Units < 1 || m.FilterUnits < 1 || max(m.Units, m.FilterUnits) > 8192:
		return fmt.Errorf("recipes: %d units, and %d in the residual network, want 1 to 8192", m.Units, m.FilterUnits)
	case m.Latent < 0 || m.Latent > 1024:
		return fmt.Errorf("recipes: %d latent values, want 0 to 1024", m.Latent)
	case !(m.Mean >= 0 && m.Mean <= 1) || !(m.Tune >= 0 && m.Tune <= 1) || !(m.Noise[1] >= 0 && m.Noise[1] <= 1) || !(m.NormEnd >= 0 && m.NormEnd <= 1):
		return fmt.Errorf("recipes: shares of %g, %g, %g and %g, want 0 to 1", m.Mean, m.Tune, m.Noise[1], m.NormEnd)
	case !(m.Stretch >= 0 && m.Stretch < 1):
		return fmt.Errorf("recipes: a stretch by %g, want 0 up to 1", m.Stretch)
	case m.Train.Margin != 0 || m.Train.Length < m.Frames():
		return fmt.Errorf("recipes: windows of %d frames with margins of %d, want at least %d without", m.Train.Length, m.Train.Margin, m.Frames())
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
	if tune := int(math.Round(m.Tune * float64(m.Epochs))); m.Filter && tune > 0 && tune < m.Epochs && m.Steps == 0 && m.Schedule == (train.WarmRestarts{}) {
		m.Stages = train.Stages{m.Epochs - tune, tune}
	}
	job := &train.Job{Params: l.net.params(), Loss: l.loss, Losses: l.losses, Begin: l.begin, L2: m.L2 / float64(count(l.net.params()))}
	return m.train(ctx, l.batch, m.recipe(), job, func(best trained) (*netruntime.Net, error) {
		return m.model(l, best)
	})
}

// recipe returns the beginning of the checkpoint key.
func (m *STRNN) recipe() []any {
	return []any{fields{"network": "strnn", "schema": m.Train.Layout.Hash()}, fields{"frames": [2]int{m.Encode, m.Predict}}, m, fields{"epochs": m.Epochs, "jitter": m.Jitter}}
}

// model makes the network that a model file holds.
func (m *STRNN) model(l *strnnLoss, best trained) (*netruntime.Net, error) {
	cols := m.Train.Layout.Columns()
	inputs, nodes, outputs := l.net.nodes(l.linear)
	tensors := append(normTensors("", m.Train.Mean, m.Train.Std), l.net.tensors(best.weights)...)
	if m.Linear {
		tensors = append(tensors, netruntime.Tensor{Name: "none", Shape: []int{cols}, Data: make([]float32, cols)},
			l.linear.Tensor(), netruntime.Tensor{Name: strnn.ValueLinear + ".bias", Shape: []int{(m.Encode + m.Predict) * cols}, Data: make([]float32, (m.Encode+m.Predict)*cols)})
	}
	meta, err := m.meta("strnn", "human-strnn", best, &netruntime.Graph{Inputs: inputs, Nodes: nodes, Outputs: outputs}, m)
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
	if m.Linear {
		scale, err := json.Marshal(l.linear.Scale)
		if err != nil {
			return nil, err
		}
		meta.Extra[strnn.KeyScale] = string(scale)
	}
	return netruntime.New(meta, tensors)
}
