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

// Latent is the recipe of the variational autoencoder of clips of one second (Lüdi 2016, sec.
// 4.2). Three convolutions over time, each followed by pooling, and a dense layer lead to the mean
// and the logarithm of the variance of each latent value. The decoder mirrors them.
type Latent struct {
	Hidden [3]int  `json:"hidden"` // channels of the encoder's layers; the decoder has them in reverse; the thesis has 256, 512, 512
	Widths [3]int  `json:"widths"` // of the encoder's filters in frames; the decoder has them in reverse; the thesis has 21, 13, 7
	Values int     `json:"values"` // latent values; the thesis has 20
	Spread int     `json:"spread"` // channels between the latent values and the decoder's frames
	Keep   float32 `json:"keep"`   // dropout's retention probability, of the inputs of the encoder's layers, in (0, 1]; the thesis has 0.8
	L1     float64 `json:"-"`      // weight of the mean magnitude of the weights

	// KL is the weight in the loss of the divergence of eq. 4.9 in nats per value of a clip, beside
	// the mean squared error of normalised values: twice the variance of the noise that values are
	// assumed to have. In training it rises along a sigmoid to half of that after Ramp of the
	// epochs.
	KL   float64 `json:"kl"`
	Ramp float64 `json:"ramp"`

	// Path is the weight in the loss of the squared distance of the body from its recorded path
	// since the start of the clip, in deviations of positions; a radian counts as a metre. Small
	// errors in the body's motion that last for the whole clip lead far away (eq. 4.10 has the same
	// term).
	Path float64 `json:"path"`
	// Traits is the weight in the loss of the squared distance of the means of the first latent
	// values from latent.Traits of the clip, in their deviations. Traits are measured, not
	// labelled. With 0 the divergence alone decides the meaning of latent values, as in the thesis.
	Traits float64 `json:"traits"`

	// With Jitter, clips are played up to Stretch faster or slower, a share, and turn by another
	// amount, with deviation Bend in rad/s, in every epoch.
	Stretch float64 `json:"stretch"`
	Bend    float64 `json:"bend"`

	Training `json:"-"`
}

// LatentHeldOut are the patterns of the held-out recordings of CMU: dataset.HeldOut, which all
// go straight, and two that turn.
var LatentHeldOut = append([]string{"exp_train_walking_extra_walking_23", "exp_train_walking_extra_walking_49"}, dataset.HeldOut...)

// LatentClips returns the options that cut the recordings in dirs into clips that overlap by 31
// frames (Lüdi 2016, sec. 3.2). If neither heldOut nor the first folder says which recordings are
// held out, [LatentHeldOut] does.
func LatentClips(dirs, only, heldOut []string, repeat, workers int) (dataset.MotionOptions, error) {
	if heldOut == nil {
		src, err := dataset.ReadSource(dirs[0])
		if err != nil {
			return dataset.MotionOptions{}, err
		}
		if src == nil {
			heldOut = LatentHeldOut
		}
	}
	return dataset.MotionOptions{Only: only, HeldOut: heldOut, Repeat: repeat, Workers: workers, Whole: true,
		Length: latent.Frames, Hop: latent.Frames - 31, Shortest: latent.Frames}, nil
}

// DefaultLatent returns our recipe without data. The thesis's decoder takes 107 million
// multiplications a clip. This one takes 30 million; the runtime leaves out half of them, because
// depooled frames are equal.
func DefaultLatent() Latent {
	return Latent{Hidden: [3]int{128, 192, 256}, Widths: [3]int{21, 13, 7}, Values: 20, Spread: 64, Keep: 1, L1: 0.01,
		KL: 0.1, Ramp: 0.15, Path: 0.5, Traits: 0.2, Stretch: 0.12, Bend: 0.15,
		Training: Training{Jitter: true, ClipNorm: 1, Epochs: 110, Batch: 16, Seed: 1, AdamW: train.Adam(1e-3)}}
}

// check reports the first field that is out of range.
func (m *Latent) check() error {
	for i := range 3 {
		if m.Hidden[i] < 1 || m.Hidden[i] > 1<<12 || m.Widths[i] < 1 || m.Widths[i] > 61 {
			return fmt.Errorf("recipes: layer %d has %d channels and filters of %d frames, want 1 to 4096 and 1 to 61",
				i+1, m.Hidden[i], m.Widths[i])
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
		return fmt.Errorf("recipes: windows of %d frames with margins of %d, want %d without margins",
			m.Train.Length, m.Train.Margin, latent.Frames)
	case len(m.Train.Windows) <= m.Values:
		return fmt.Errorf("recipes: %d clips for %d components: want more clips or fewer latent values", len(m.Train.Windows), m.Values)
	}
	return nil
}

// Run trains and writes the model.
func (m *Latent) Run(ctx context.Context) (*train.Report, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	net := newLatentNet(m)
	l, err := newLatentLoss(m, net)
	if err != nil {
		return nil, err
	}
	job := &train.Job{
		Params: net.params(), Loss: l.loss, Losses: l.losses, Begin: l.begin,
		L1: m.L1 / float64(count(net.weights())), Penalised: net.weights(),
	}
	return m.train(ctx, l.batch, m.recipe(), job, func(best trained) (*netruntime.Net, error) { return m.model(net, best) })
}

// recipe returns the beginning of the checkpoint key.
func (m *Latent) recipe() []any {
	return []any{fields{"network": "latent", "schema": m.Train.Layout.Hash()}, m,
		fields{"epochs": m.Epochs, "jitter": m.Jitter, "l1": m.L1}}
}

// model makes the network of the model file, for raw frames. Its two halves have an input each: the
// encoder the frames "x" of a clip, the decoder the latent values "z".
func (m *Latent) model(net *latentNet, best trained) (*netruntime.Net, error) {
	g := &netruntime.Graph{Inputs: []netruntime.Input{{Name: "x", Channels: m.Train.Layout.Columns()}, {Name: "z", Channels: m.Values}},
		Nodes: net.nodes(), Outputs: []string{"mean", "logvar", "y"}}
	tensors := append(normTensors("", m.Train.Mean, m.Train.Std), net.tensors(best.weights)...)
	meta, err := m.meta("latent", "human-latent", best, g, m)
	if err != nil {
		return nil, err
	}
	person, err := feature.NewPerson(m.Train.Layout, m.Train.Skeleton)
	if err != nil {
		return nil, fmt.Errorf("recipes: %w", err)
	}
	components := make([][]float32, m.Values) // for now, each value is a component
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

// cardFields returns the values of the model card that are not fields of the recipe.
func (m *Latent) cardFields() fields { return fields{"Frames": latent.Frames} }
