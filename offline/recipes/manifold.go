package recipes

import (
	"context"
	"fmt"
	"math"

	"mannequin/animsys/manifold"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/train"
)

// Manifold is the recipe of the motion manifold: an autoencoder of one convolution over time
// with tied weights. All other networks of Holden, Saito and Komura 2016 work on its hidden
// values (sec. 5).
type Manifold struct {
	Hidden int     `json:"hidden"`           // units; the paper has 256
	Width  int     `json:"width"`            // of the filters in frames, odd; the paper has 25
	Keep   float32 `json:"keep"`             // dropout's retention probability, of the input, in (0, 1]; the paper has 0.8
	Random float32 `json:"random_depooling"` // share of the steps that depool at random, whole values to one of two frames; the paper has 1
	Smooth float32 `json:"smooth"`           // weight in the loss of the error in the second differences of positions; the paper has none
	L1     float64 `json:"-"`                // weight of the mean magnitude of the weights; see DefaultManifold

	Training `json:"-"`
}

// DefaultManifold returns our recipe without data. It depools at random in fewer steps than the
// paper and drops out less. Instead, the second differences of positions count, which halves the
// error and is smoother (docs/manifold.md compares). The paper's sparsity of 0.1 is for sums over
// batches of unknown size; 0.01 of the mean magnitude is the sparsity of the authors' release.
func DefaultManifold() Manifold {
	return Manifold{Hidden: 256, Width: 25, Keep: 0.9, Random: 0.3, Smooth: 5, L1: 0.01, Training: Training{
		Jitter: true, ClipNorm: 1, Epochs: 80, Batch: 4, Seed: 1, AdamW: train.Adam(6e-4),
	}}
}

// manifoldNet is the trainable form of the autoencoder. The encoder and the decoder share w.
type manifoldNet struct {
	columns, hidden, width int
	w                      *grad.Param // (hidden, width·columns)
	b, bOut                *grad.Param
}

// newManifoldNet draws the weights, uniform by fan-in and fan-out as in Xavier's draw.
func newManifoldNet(columns, hidden, width int, seed uint64) *manifoldNet {
	n := &manifoldNet{columns, hidden, width,
		grad.NewParam("encoder.weight", hidden, width*columns), grad.NewParam("encoder.bias", 1, hidden),
		grad.NewParam("decoder.bias", 1, columns)}
	uniform(n.w.Val, math.Sqrt(6/float64(width*(columns+hidden))), grad.Hash(seed, 0))
	return n
}

func (n *manifoldNet) params() []*grad.Param { return []*grad.Param{n.w, n.b, n.bOut} }

// forward returns the reconstruction of x, (batch·length, columns) normalised. random depools
// at random; key seeds that and the dropout.
func (n *manifoldNet) forward(t *grad.Tape, x *grad.Mat, length int, keep float32, random bool, key uint64) *grad.Mat {
	h := t.Dropout(x, keep, grad.Hash(key, 0))
	h = t.ReLU(t.MaxPool(t.Conv(h, length, n.w, n.b, n.width, false), length))
	return n.decode(t, h, length, random, key)
}

// decode returns the frames, (batch·length, columns) normalised, of hidden values h,
// (batch·length/2, hidden).
func (n *manifoldNet) decode(t *grad.Tape, h *grad.Mat, length int, random bool, key uint64) *grad.Mat {
	return t.ConvT(t.Depool(h, 2, random, grad.Hash(key, 1)), length, n.w, n.bOut, n.width, true)
}

// frozenManifold returns the autoencoder of a model that Manifold has made, with fixed weights.
func frozenManifold(m *manifold.Model) (*manifoldNet, error) {
	w, ok := m.Net.Tensor("encoder.weight")
	b, hasBias := m.Net.Tensor("encoder.bias")
	bOut, hasBiasOut := m.Net.Tensor("decoder.bias")
	if !ok || !hasBias || !hasBiasOut || len(w.Shape) != 3 || w.Shape[0] != m.Units || w.Shape[1] != m.Layout.Columns() {
		return nil, fmt.Errorf("recipes: model %q has no decoder with the weights of its encoder: train one with mannequin train manifold",
			m.Net.Meta().Name)
	}
	n := newManifoldNet(w.Shape[1], w.Shape[0], w.Shape[2], 0)
	copy(n.w.Val, taps(w.Data, n.hidden, n.columns, n.width))
	copy(n.b.Val, b.Data)
	copy(n.bOut.Val, bOut.Data)
	for _, p := range n.params() {
		p.Frozen = true
	}
	return n, nil
}

// check reports the first field that is out of range.
func (m *Manifold) check() error {
	switch {
	case m.Hidden < 1 || m.Hidden > 1<<14:
		return fmt.Errorf("recipes: %d hidden units, want 1 to 16384", m.Hidden)
	case m.Width < 1 || m.Width > 255 || m.Width%2 == 0:
		return fmt.Errorf("recipes: filters of %d frames, want an odd number up to 255: the decoder mirrors them", m.Width)
	case m.Train.Length%2 != 0:
		return fmt.Errorf("recipes: windows of %d frames, want an even number: the autoencoder halves them", m.Train.Length)
	}
	return nil
}

// Run trains and writes the model.
func (m *Manifold) Run(ctx context.Context) (*train.Report, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	net := newManifoldNet(m.Train.Layout.Columns(), m.Hidden, m.Width, m.Seed)
	batch := m.windows()
	job := &train.Job{
		Params: net.params(),
		Loss: func(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
			x, mask, set := batch.fill(t, rows, isHeldOut)
			random := !isHeldOut && share01(grad.Hash(key, 2)) < float64(m.Random)
			y := net.forward(t, x, set.Length, dropout(m.Keep, isHeldOut), random, key)
			loss := maskedMSE(t, y, x, mask)
			if m.Smooth == 0 {
				return loss
			}
			miss := t.Columns(t.Mul(t.Sub(y, x), mask), 0, set.Layout.Body())
			bend := t.Diff(t.Diff(miss, set.Length), set.Length-1)
			return t.WeightedSum(grad.Term{Loss: loss, Weight: 1}, grad.Term{Loss: t.Mean(t.Mul(bend, bend)), Weight: m.Smooth})
		},
		L1: m.L1 / float64(len(net.w.Val)), Penalised: []*grad.Param{net.w},
	}
	return m.train(ctx, batch, m.recipe(), job, func(best trained) (*netruntime.Net, error) { return m.model(net, best) })
}

// recipe returns the beginning of the checkpoint key.
func (m *Manifold) recipe() []any {
	return []any{fields{"network": "manifold", "schema": m.Train.Layout.Hash()}, m, fields{"jitter": m.Jitter, "l1": m.L1}}
}

// model makes the network of the model file: raw frames in and out, by way of the value
// "hidden" at half the rate.
func (m *Manifold) model(net *manifoldNet, best trained) (*netruntime.Net, error) {
	decoder := netruntime.Node{Name: "decoder", Op: netruntime.OpConv, In: []string{"spread"}, Tied: true, Flip: true,
		Tensors: map[string]string{"weight": "encoder.weight"}}
	g := pipeline(net.columns, ownStats,
		netruntime.Node{Name: "encoder", Op: netruntime.OpConv, In: []string{"normalised"}, Act: "relu"},
		node("hidden", netruntime.OpMaxPool, "encoder"),
		node("spread", netruntime.OpDepool, "hidden"), decoder)
	meta, err := m.meta("manifold", "human", best, g, m)
	if err != nil {
		return nil, err
	}
	if err := manifold.Describe(&meta, m.Train.Layout, m.Train.Skeleton); err != nil {
		return nil, err
	}
	return netruntime.New(meta, append(normTensors("", m.Train.Mean, m.Train.Std), []netruntime.Tensor{
		{Name: "encoder.weight", Shape: []int{net.hidden, net.columns, net.width},
			Data: filters(best.weights[0], net.hidden, net.columns, net.width)},
		{Name: "encoder.bias", Shape: []int{net.hidden}, Data: best.weights[1]},
		{Name: "decoder.bias", Shape: []int{net.columns}, Data: best.weights[2]},
	}...))
}
