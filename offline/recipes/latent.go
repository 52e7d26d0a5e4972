package recipes

import (
	"context"
	"fmt"

	"mannequin/animsys/feature"
	"mannequin/animsys/latent"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
	"mannequin/offline/train"
)

// Latent is the recipe of the variational autoencoder of clips of one second
// (Lüdi 2016, sec. 4.2): three convolutions over time, each followed by pooling,
// and a dense layer into the mean and the logarithm of the variance of so many
// latent values; and the same backwards.
type Latent struct {
	Hidden [3]int  `json:"hidden"` // channels of the encoder's layers, and backwards of the decoder's; the thesis has 256, 512, 512
	Widths [3]int  `json:"widths"` // of the encoder's filters in frames, and backwards of the decoder's; the thesis has 21, 13, 7
	Values int     `json:"values"` // latent values; the thesis has 20
	Spread int     `json:"spread"` // channels between the latent values and the decoder's frames
	Keep   float32 `json:"keep"`   // dropout's retention probability, of what goes into the encoder's layers, in (0, 1]; the thesis has 0.8
	L1     float64 `json:"-"`      // weight of the mean of the weights' magnitudes

	// KL is the weight in the loss of the divergence of eq. 4.9 in nats per value of
	// a clip, beside the mean squared error of normalised values: twice the
	// variance of the noise that values are taken to have. In training it comes
	// in along a sigmoid, half of it after Ramp of the epochs.
	KL   float64 `json:"kl"`
	Ramp float64 `json:"ramp"`

	// Path is the weight in the loss of the squared distance of the body from where
	// it has gone since the clip's start, in deviations of positions, with a metre
	// for a radian: a value of its own motion that is a little off all along leads
	// far away (eq. 4.10 has the same term).
	Path float64 `json:"path"`
	// Traits is the weight in the loss of the squared distance of the means of the
	// first latent values from latent.Traits of the clip, in their deviations. They
	// are measured, nobody labels anything. 0 leaves it to the divergence what
	// latent values stand for, as the thesis does.
	Traits float64 `json:"traits"`

	// With Jitter clips are played up to Stretch faster or slower, a share, and turn
	// by another amount, with deviation Bend, rad/s, in every epoch.
	Stretch float64 `json:"stretch"`
	Bend    float64 `json:"bend"`

	Training `json:"-"`
}

// LatentHeldOut are the patterns of the recordings that are held back from training
// on CMU's: those of the other networks, which all go straight, and some of those
// that turn.
var LatentHeldOut = append([]string{"exp_train_walking_extra_walking_23", "exp_train_walking_extra_walking_49"}, dataset.CMUHeldOut...)

// DefaultLatent returns our recipe without data. The thesis' decoder takes 107
// million multiplications a clip; this one takes 30 million, half of which the
// runtime leaves out because depooled frames are equal.
func DefaultLatent() Latent {
	return Latent{Hidden: [3]int{128, 192, 256}, Widths: [3]int{21, 13, 7}, Values: 20, Spread: 64, Keep: 1, L1: 0.01, KL: 0.1, Ramp: 0.15, Path: 0.5, Traits: 0.2, Stretch: 0.12, Bend: 0.15, Training: Training{
		Jitter: true, ClipNorm: 1, Epochs: 110, Batch: 16, Seed: 1,
		AdamW: train.AdamW{Rate: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
	}}
}

// check reports the first field that is out of range.
func (m *Latent) check() error {
	for i := range 3 {
		if m.Hidden[i] < 1 || m.Hidden[i] > 1<<12 || m.Widths[i] < 1 || m.Widths[i] > 61 {
			return fmt.Errorf("recipes: layer %d has %d channels and filters of %d frames, want 1 to 4096 and 1 to 61", i+1, m.Hidden[i], m.Widths[i])
		}
	}
	switch {
	case m.Values < 3 || m.Values > 256 || m.Spread < 1 || m.Spread > 1<<12:
		return fmt.Errorf("recipes: %d latent values that spread to %d, want 3 to 256 and 1 to 4096", m.Values, m.Spread)
	case !(m.KL >= 0 && m.KL <= 1e6 && m.Ramp >= 0 && m.Ramp <= 1):
		return fmt.Errorf("recipes: the divergence weighs %g after %g of the epochs, want 0 to 1000000 and 0 to 1", m.KL, m.Ramp)
	case !(m.Stretch >= 0 && m.Stretch <= 0.5 && m.Bend >= 0 && m.Bend <= 10):
		return fmt.Errorf("recipes: clips are stretched by %g and bent by %g rad/s, want 0 to 0.5 and 0 to 10", m.Stretch, m.Bend)
	case m.Train.Length != latent.Frames || m.Train.Margin != 0:
		return fmt.Errorf("recipes: windows of %d frames with margins of %d, want %d without", m.Train.Length, m.Train.Margin, latent.Frames)
	case len(m.Train.Windows) <= m.Values:
		return fmt.Errorf("recipes: %d clips to find %d components of: want more of them, or fewer latent values", len(m.Train.Windows), m.Values)
	}
	return nil
}

// Run trains and writes the model.
func (m *Latent) Run(ctx context.Context) (*train.Report, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	net := newLatentNet(m)
	l, err := m.lossOf(net)
	if err != nil {
		return nil, err
	}
	job := &train.Job{
		Params: net.params(), Loss: l.loss, Losses: l.losses, Begin: l.begin,
		L1: m.L1 / float64(count(net.weights())), Penalised: net.weights(),
	}
	return m.train(ctx, l.batch, m.recipe(), job, func(best trained) (*netruntime.Net, error) {
		return m.model(net, best)
	})
}

// recipe returns the beginning of the checkpoint key.
func (m *Latent) recipe() []any {
	return []any{fields{"network": "latent", "schema": m.Train.Layout.Hash()}, m, fields{"epochs": m.Epochs, "jitter": m.Jitter, "l1": m.L1}}
}

// model makes the network that a model file holds: raw frames in, raw frames out.
// Its two halves have an input each: the encoder the frames "x" of one clip, the
// decoder the latent values "z".
func (m *Latent) model(net *latentNet, best trained) (*netruntime.Net, error) {
	cols, shared := m.Train.Layout.Columns(), map[string]string{"mean": "mean", "std": "std"}
	nodes := []netruntime.Node{{Name: "normalised", Op: netruntime.OpNormalize, In: []string{"x"}, Tensors: shared}}
	from := "normalised"
	next := func(name, op, act string) {
		nodes, from = append(nodes, netruntime.Node{Name: name, Op: op, In: []string{from}, Act: act}), name
	}
	for l, c := range net.encoder {
		next(c.name, netruntime.OpConv, "relu")
		next(fmt.Sprintf("pool%d", l+1), netruntime.OpMaxPool, "")
	}
	next(net.code.name, netruntime.OpConv, "")
	half := func(name string, first int) {
		n := netruntime.Node{Name: name, Op: netruntime.OpSelect, In: []string{net.code.name}}
		for i := range m.Values {
			n.Columns = append(n.Columns, first+i)
		}
		nodes = append(nodes, n)
	}
	half("mean", 0)
	half("logvar", m.Values)
	from = "z"
	next("start", netruntime.OpDense, "")
	for n := 1; n < latent.Coarse; n *= 2 {
		next(fmt.Sprintf("spread%d", 2*n), netruntime.OpDepool, "")
	}
	for l, c := range net.decoder {
		act := ""
		if l > 0 {
			next(fmt.Sprintf("depool%d", l), netruntime.OpDepool, "")
			if l < len(net.decoder)-1 {
				act = "relu"
			}
		}
		next(c.name, netruntime.OpConv, act)
	}
	nodes = append(nodes, netruntime.Node{Name: "y", Op: netruntime.OpDenormalize, In: []string{from}, Tensors: shared})
	e, d := len(net.encoder.params()), 4+len(net.encoder.params())
	tensors := append(normTensors("", m.Train.Mean, m.Train.Std), net.encoder.tensors(best.weights[:e])...)
	tensors = append(tensors, convNet{net.code}.tensors(best.weights[e:e+2])...)
	tensors = append(tensors, netruntime.Tensor{Name: "start.weight", Shape: []int{m.Spread, m.Values}, Data: best.weights[e+2]}, netruntime.Tensor{Name: "start.bias", Shape: []int{m.Spread}, Data: best.weights[e+3]})
	tensors = append(tensors, net.decoder.tensors(best.weights[d:])...)

	meta, err := m.meta("latent", "human-latent", best, &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: "x", Channels: cols}, {Name: "z", Channels: m.Values}},
		Nodes:  nodes, Outputs: []string{"mean", "logvar", "y"}}, m)
	if err != nil {
		return nil, err
	}
	person, err := feature.NewPerson(m.Train.Layout, m.Train.Skeleton)
	if err != nil {
		return nil, fmt.Errorf("recipes: %w", err)
	}
	components := make([][]float32, m.Values) // for now every value is one
	for k := range components {
		components[k] = make([]float32, m.Values)
		components[k][k] = 1
	}
	same, err := latent.NewComponents(nil, make([]float32, m.Values), components)
	if err != nil {
		return nil, err
	}
	if err := latent.Describe(&meta, person, same); err != nil {
		return nil, err
	}
	whole, err := netruntime.New(meta, tensors)
	if err != nil {
		return nil, err
	}
	found, err := m.components(whole)
	if err != nil {
		return nil, err
	}
	if err := latent.Describe(&meta, person, found); err != nil {
		return nil, err
	}
	return netruntime.New(meta, tensors)
}

// cardFields returns what the model card says besides the recipe.
func (m *Latent) cardFields() fields { return fields{"Frames": latent.Frames} }
