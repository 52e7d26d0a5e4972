package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mannequin/animsys/manifold"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/train"
)

// Synth is the recipe of the networks that make motion from a few parameters of each frame:
// three convolutions to the hidden values of a motion manifold (Holden, Saito and Komura 2016,
// sec. 6). The parameters are columns of the frames themselves: for locomotion the body's motion
// and the contacts, for punches and kicks the positions of hands and feet.
type Synth struct {
	Manifold *netruntime.Net `json:"-"`    // makes the frames from hidden values; it stays as it is
	Kind     string          `json:"kind"` // "locomotion", "punch" or "kick": selects the parameters, see manifold.Model.Columns

	Start *netruntime.Net `json:"-"` // initial weights, of as many hidden channels; it may lack the manner; nil: they are drawn

	Hidden [2]int  `json:"hidden"`           // channels of the first two layers; the paper has 64 and 128
	Widths [3]int  `json:"widths"`           // of the filters in frames; the paper has 45, 25 and 15
	Keep   float32 `json:"keep"`             // dropout's retention probability, of each layer's input, in (0, 1]
	Manner int     `json:"manner,omitempty"` // values that say how the person moves, further inputs; 0 unless Kind is "locomotion"
	L1     float64 `json:"-"`                // weight of the mean magnitude of the weights

	Tempo
	Training `json:"-"`
}

// Kinds are the kinds of Synth.
var Kinds = []string{"locomotion", "punch", "kick"}

// DefaultSynth returns our recipe without data.
func DefaultSynth() Synth {
	return Synth{Kind: "locomotion", Hidden: [2]int{64, 128}, Widths: [3]int{45, 25, 15}, Keep: 0.9, Manner: 6, L1: 0.01, Tempo: Tempo{Stretch: 0.2, Reverse: 0.1}, Training: Training{
		Jitter: true, ClipNorm: 1, Epochs: 40, Batch: 4, Seed: 1, AdamW: train.Adam(5e-4),
	}}
}

// check reports the first field that is out of range.
func (m *Synth) check() error {
	switch {
	case !slices.Contains(Kinds, m.Kind):
		return fmt.Errorf("recipes: no kind of motion is called %q: want %s", m.Kind, strings.Join(Kinds, ", "))
	case m.Manner != 0 && m.Kind != "locomotion":
		return fmt.Errorf("recipes: a %s has no manner", m.Kind)
	case m.Manner < 0:
		return fmt.Errorf("recipes: a manner of %d values, want 0 or more", m.Manner)
	case m.Manifold == nil:
		return errors.New("recipes: the manifold is missing")
	case m.Train.Length%2 != 0:
		return fmt.Errorf("recipes: windows of %d frames, want an even number: a hidden value is for two frames", m.Train.Length)
	}
	return m.Tempo.check()
}

// Run trains and writes the model.
func (m *Synth) Run(ctx context.Context) (*train.Report, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	base, err := manifold.NewModel(m.Manifold)
	if err != nil {
		return nil, err
	}
	if got, want := m.Train.Layout.Hash(), base.Layout.Hash(); got != want {
		return nil, fmt.Errorf("recipes: the recordings' frames have schema %s, the manifold's %s", got, want)
	}
	decoder, err := frozenManifold(base)
	if err != nil {
		return nil, err
	}
	// The network uses the manifold's normalisation.
	mean, std := base.Normalisation()
	m.Train.Mean, m.Train.Std, m.HeldOut.Mean, m.HeldOut.Std = mean, std, mean, std
	columns, err := base.Columns(m.Kind)
	if err != nil {
		return nil, err
	}
	how, err := newManners(m.Manner, m.Train, m.HeldOut)
	if err != nil {
		return nil, err
	}
	net := newConvNet([]int{len(columns) + m.Manner, m.Hidden[0], m.Hidden[1], base.Units}, m.Widths[:], m.Seed)
	if m.Start != nil {
		if err := net.copyTensors(m.Start); err != nil {
			return nil, err
		}
	}
	batch := m.windows()
	batch.tempo = m.Tempo
	job := &train.Job{
		Params: net.params(),
		Loss: func(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
			x, mask, set := batch.fill(t, rows, isHeldOut)
			given := how.beside(t, batch.given(t, x, set, columns, isHeldOut, key), batch, rows, isHeldOut)
			h := t.ReLU(t.MaxPool(net.forward(t, given, set.Length, dropout(m.Keep, isHeldOut), key), set.Length))
			return maskedMSE(t, decoder.decode(t, h, set.Length, false, 0), x, mask)
		},
		L1: m.L1 / float64(count(net.weights())), Penalised: net.weights(),
	}
	return m.train(ctx, batch, m.recipe(), job, func(best trained) (*netruntime.Net, error) { return m.model(base, net, how, columns, best) })
}

// recipe returns the beginning of the checkpoint key.
func (m *Synth) recipe() []any {
	parts := []any{fields{"network": "synth", "schema": m.Train.Layout.Hash()}, fields{"manifold": netHash(m.Manifold)}, m,
		fields{"jitter": m.Jitter, "l1": m.L1}}
	if m.Start != nil {
		parts = append(parts, fields{"start": netHash(m.Start)})
	}
	return parts
}

// model makes the network of the model file: raw parameters in, raw frames out, by way of the
// value "hidden".
func (m *Synth) model(base *manifold.Model, net convNet, how *manners, columns []int, best trained) (*netruntime.Net, error) {
	g := pipeline(len(columns)+m.Manner, nil, append(net.nodes("normalised", "relu", "relu"),
		node("hidden", netruntime.OpMaxPool, net.last()),
		node("spread", netruntime.OpDepool, "hidden"),
		netruntime.Node{Name: "decoder", Op: netruntime.OpConv, In: []string{"spread"}, Tied: true, Flip: true})...)
	meta, err := m.meta("synth", "human-"+m.Kind, best, g, m)
	if err != nil {
		return nil, err
	}
	meta.Extra[manifold.KeyKind] = m.Kind
	if err := manifold.Describe(&meta, m.Train.Layout, m.Train.Skeleton); err != nil {
		return nil, err
	}
	mean, std := base.Normalisation()
	w, _ := base.Net.Tensor("encoder.weight")
	b, _ := base.Net.Tensor("decoder.bias")
	w.Name, b.Name = "decoder.weight", "decoder.bias"
	means, stds := how.stats(pick(mean, columns), pick(std, columns))
	return netruntime.New(meta, slices.Concat(normTensors("normalised.", means, stds),
		[]netruntime.Tensor{w, b}, normTensors("y.", mean, std), net.tensors(best.weights)))
}

// cardFields returns the values of the model card that are not fields of the recipe.
func (m *Synth) cardFields() fields {
	given := map[string]string{
		"locomotion": "the body's motion over the ground and the contacts of heels and toes",
		"punch":      "the positions of the hands", "kick": "the positions of the feet",
	}[m.Kind]
	if m.Manner > 0 {
		given += fmt.Sprintf(", and from %d values that say how the person moves", m.Manner)
	}
	return fields{"Given": given}
}
