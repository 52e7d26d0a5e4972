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

// Synth is the recipe of the networks that make motion from a few parameters of
// each frame: three convolutions from them to the hidden values of a motion
// manifold (Holden, Saito and Komura 2016, sec. 6). The parameters are columns
// of the frames themselves: for locomotion the body's motion and the contacts,
// for punches and kicks the places of hands and feet.
type Synth struct {
	Manifold *netruntime.Net `json:"-"`    // whose hidden values are made; it stays as it is
	Kind     string          `json:"kind"` // "locomotion", "punch" or "kick": which columns are given, see manifold.Model.Columns

	Hidden [2]int  `json:"hidden"` // channels of the first two layers; the paper has 64 and 128
	Widths [3]int  `json:"widths"` // of the filters in frames; the paper has 45, 25 and 15
	Keep   float32 `json:"keep"`   // dropout's retention probability, of each layer's input, in (0, 1]
	L1     float64 `json:"-"`      // weight of the mean of the weights' magnitudes

	Training `json:"-"`
}

// Kinds are what Synth can be of.
var Kinds = []string{"locomotion", "punch", "kick"}

// DefaultSynth returns our recipe without data.
func DefaultSynth() Synth {
	return Synth{Kind: "locomotion", Hidden: [2]int{64, 128}, Widths: [3]int{45, 25, 15}, Keep: 0.9, L1: 0.01, Training: Training{
		Jitter: true, ClipNorm: 1, Epochs: 40, Batch: 4, Seed: 1,
		AdamW: train.AdamW{Rate: 5e-4, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
	}}
}

// check reports the first field that is out of range.
func (m *Synth) check() error {
	switch {
	case !slices.Contains(Kinds, m.Kind):
		return fmt.Errorf("recipes: no kind of motion is called %q: want %s", m.Kind, strings.Join(Kinds, ", "))
	case m.Manifold == nil:
		return errors.New("recipes: the manifold is missing")
	case m.Train.Length%2 != 0:
		return fmt.Errorf("recipes: windows of %d frames, want an even number: hidden values are for two", m.Train.Length)
	}
	return nil
}

// decoder is a manifold's decoder for the tape, with weights that stay.
type decoder struct {
	w, b  *grad.Param
	width int
}

// frozen finds the decoder in the manifold that Manifold.model makes.
func frozen(m *manifold.Model) (*decoder, error) {
	w, ok := m.Net.Tensor("encoder.weight")
	b, too := m.Net.Tensor("decoder.bias")
	if !ok || !too || len(w.Shape) != 3 || w.Shape[0] != m.Units || w.Shape[1] != m.Layout.Columns() {
		return nil, fmt.Errorf("recipes: model %q has no decoder with the weights of its encoder: train one with mannequin train manifold", m.Net.Meta().Name)
	}
	units, cols, width := w.Shape[0], w.Shape[1], w.Shape[2]
	d := &decoder{grad.NewParam("decoder.weight", units, width*cols), grad.NewParam("decoder.bias", 1, cols), width}
	copy(d.w.Val, taps(w.Data, units, cols, width))
	copy(d.b.Val, b.Data)
	d.w.Frozen, d.b.Frozen = true, true
	return d, nil
}

// forward returns the normalised frames of hidden values h, (batch·length/2,
// units).
func (d *decoder) forward(t *grad.Tape, h *grad.Mat, length int) *grad.Mat {
	return t.ConvT(t.Depool(h, 2, false, 0), length, d.w, d.b, d.width, true)
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
	dec, err := frozen(base)
	if err != nil {
		return nil, err
	}
	// The networks speak the manifold's normalisation.
	mean, std := base.Normalisation()
	m.Train.Mean, m.Train.Std, m.HeldOut.Mean, m.HeldOut.Std = mean, std, mean, std
	columns, err := base.Columns(m.Kind)
	if err != nil {
		return nil, err
	}
	net := newConvNet([]int{len(columns), m.Hidden[0], m.Hidden[1], base.Units}, m.Widths[:], m.Seed)
	batch := m.windows()
	job := &train.Job{
		Params: net.params(),
		Loss: func(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
			x, mask, set := batch.fill(t, rows, isHeldOut)
			keep, smooth := m.Keep, grad.Hash(key, 1<<32)
			if isHeldOut {
				keep, smooth = 1, 0
			}
			given := batch.given(t, x, set, columns, smooth)
			h := t.ReLU(t.MaxPool(net.forward(t, given, set.Length, keep, key), set.Length))
			return maskedMSE(t, dec.forward(t, h, set.Length), x, mask)
		},
		L1: m.L1 / float64(count(net.weights())), Penalised: net.weights(),
	}
	return m.train(ctx, batch, m.recipe(), job, func(best trained) (*netruntime.Net, error) {
		return m.model(base, net, columns, best)
	})
}

// recipe returns the beginning of the checkpoint key.
func (m *Synth) recipe() []any {
	return []any{fields{"network": "synth", "schema": m.Train.Layout.Hash()}, fields{"manifold": netHash(m.Manifold)}, m, fields{"jitter": m.Jitter, "l1": m.L1}}
}

// model makes the network that a model file holds: raw parameters in, raw frames
// out, by way of the value "hidden".
func (m *Synth) model(base *manifold.Model, net convNet, columns []int, best trained) (*netruntime.Net, error) {
	mean, std := base.Normalisation()
	pick := func(v []float32) (out []float32) {
		for _, c := range columns {
			out = append(out, v[c])
		}
		return out
	}
	last := net[len(net)-1].name
	nodes := []netruntime.Node{{Name: "normalised", Op: netruntime.OpNormalize, In: []string{"x"}}}
	nodes = append(nodes, net.nodes("normalised", "relu")...)
	nodes = append(nodes,
		netruntime.Node{Name: "hidden", Op: netruntime.OpMaxPool, In: []string{last}},
		netruntime.Node{Name: "spread", Op: netruntime.OpDepool, In: []string{"hidden"}},
		netruntime.Node{Name: "decoder", Op: netruntime.OpConv, In: []string{"spread"}, Tied: true, Flip: true},
		netruntime.Node{Name: "y", Op: netruntime.OpDenormalize, In: []string{"decoder"}})
	w, _ := base.Net.Tensor("encoder.weight")
	b, _ := base.Net.Tensor("decoder.bias")
	tensors := slices.Concat(normTensors("normalised.", pick(mean), pick(std)), []netruntime.Tensor{
		{Name: "decoder.weight", Shape: w.Shape, Data: w.Data}, {Name: "decoder.bias", Shape: b.Shape, Data: b.Data},
	}, normTensors("y.", mean, std), net.tensors(best.weights))
	meta, err := m.meta("synth", "human-"+m.Kind, best, &netruntime.Graph{Inputs: []netruntime.Input{{Name: "x", Channels: len(columns)}}, Nodes: nodes, Outputs: []string{"y"}}, m)
	if err != nil {
		return nil, err
	}
	meta.Extra[manifold.KeyKind] = m.Kind
	if err := manifold.Describe(&meta, m.Train.Layout, m.Train.Skeleton); err != nil {
		return nil, err
	}
	return netruntime.New(meta, tensors)
}

// cardFields returns what the model card says besides the recipe.
func (m *Synth) cardFields() fields {
	return fields{"Given": map[string]string{
		"locomotion": "the body's motion over the ground and the contacts of heels and toes",
		"punch":      "the places of the hands", "kick": "the places of the feet",
	}[m.Kind]}
}
