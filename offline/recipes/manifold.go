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

// Manifold is the recipe of the motion manifold: an autoencoder of one
// convolution over time with tied weights, whose hidden values every other
// network of Holden, Saito and Komura 2016 speaks in (sec. 5).
type Manifold struct {
	Hidden int     `json:"hidden"`           // units; the paper has 256
	Width  int     `json:"width"`            // of the filters in frames, odd; the paper has 25
	Keep   float32 `json:"keep"`             // dropout's retention probability, of the input, in (0, 1]; the paper has 0.8
	Random float32 `json:"random_depooling"` // share of the steps that give a hidden value whole to one of its two frames, picked at random, and none to the other; the paper has 1
	Smooth float32 `json:"smooth"`           // weight in the loss of the error in the second differences of positions; the paper has none
	L1     float64 `json:"-"`                // weight of the mean of the weights' magnitudes; see DefaultManifold

	Training `json:"-"`
}

// DefaultManifold returns our recipe without data. It spreads hidden values at
// random in fewer of the steps than the paper and drops out less, and asks
// positions to bend as they do in place of that: half of the error, and smoother
// (docs/manifold.md has the comparison). The
// paper's sparsity of 0.1 is for sums over batches of unknown size; 0.01 of the
// mean magnitude is that of the authors' release.
func DefaultManifold() Manifold {
	return Manifold{Hidden: 256, Width: 25, Keep: 0.9, Random: 0.3, Smooth: 5, L1: 0.01, Training: Training{
		Jitter: true, ClipNorm: 1, Epochs: 80, Batch: 4, Seed: 1,
		AdamW: train.AdamW{Rate: 6e-4, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
	}}
}

// manifoldNet is the trainable form of the autoencoder.
type manifoldNet struct {
	columns, hidden, width int
	w                      *grad.Param // (hidden, width·columns), shared by encoder and decoder
	b, bOut                *grad.Param
}

func newManifoldNet(columns, hidden, width int, seed uint64) *manifoldNet {
	n := &manifoldNet{columns, hidden, width,
		grad.NewParam("encoder.weight", hidden, width*columns), grad.NewParam("encoder.bias", 1, hidden), grad.NewParam("decoder.bias", 1, columns)}
	// Uniform by fan-in and fan-out, as in Xavier's draw.
	uniform(n.w.Val, math.Sqrt(6/float64(width*(columns+hidden))), grad.Hash(seed, 0))
	return n
}

func (n *manifoldNet) params() []*grad.Param { return []*grad.Param{n.w, n.b, n.bOut} }

// forward returns the reconstruction of x, (batch·length, columns), normalised,
// in training with dropout that key seeds, and random where values go whole to
// one of two frames.
func (n *manifoldNet) forward(t *grad.Tape, x *grad.Mat, length int, keep float32, random bool, key uint64) *grad.Mat {
	h := t.Dropout(x, keep, grad.Hash(key, 0))
	h = t.ReLU(t.MaxPool(t.Conv(h, length, n.w, n.b, n.width, false), length))
	h = t.Depool(h, 2, random, grad.Hash(key, 1))
	return t.ConvT(h, length, n.w, n.bOut, n.width, true)
}

// check reports the first field that is out of range.
func (m *Manifold) check() error {
	switch {
	case m.Hidden < 1 || m.Hidden > 1<<14:
		return fmt.Errorf("recipes: %d hidden units, want 1 to 16384", m.Hidden)
	case m.Width < 1 || m.Width > 255 || m.Width%2 == 0:
		return fmt.Errorf("recipes: filters of %d frames, want an odd number up to 255: those of the decoder are their mirror image", m.Width)
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
	cols := m.Train.Layout.Columns()
	net := newManifoldNet(cols, m.Hidden, m.Width, m.Seed)
	batch := m.windows()
	job := &train.Job{
		Params: net.params(),
		Loss: func(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
			x, mask, set := batch.fill(t, rows, isHeldOut)
			keep, random := m.Keep, share01(grad.Hash(key, 2)) < float64(m.Random)
			if isHeldOut {
				keep, random = 1, false
			}
			y := net.forward(t, x, set.Length, keep, random, key)
			loss := maskedMSE(t, y, x, mask)
			if m.Smooth == 0 {
				return loss
			}
			positions := set.Layout.Body()
			miss := t.Columns(t.Mul(t.Sub(y, x), mask), 0, positions)
			bend := t.Diff(t.Diff(miss, set.Length), set.Length-1)
			return t.WeightedSum(grad.Term{Loss: loss, Weight: 1}, grad.Term{Loss: t.Mean(t.Mul(bend, bend)), Weight: m.Smooth})
		},
		L1: m.L1 / float64(len(net.w.Val)), Penalised: []*grad.Param{net.w},
	}
	return m.train(ctx, batch, m.recipe(), job, func(best trained) (*netruntime.Net, error) {
		return m.model(net, best)
	})
}

// recipe returns the beginning of the checkpoint key.
func (m *Manifold) recipe() []any {
	return []any{fields{"network": "manifold", "schema": m.Train.Layout.Hash()}, m, fields{"jitter": m.Jitter, "l1": m.L1}}
}

// model makes the network that a model file holds: raw frames in, raw frames
// out, by way of the value "hidden", at half the frames.
func (m *Manifold) model(net *manifoldNet, best trained) (*netruntime.Net, error) {
	shared := map[string]string{"mean": "mean", "std": "std"}
	graph := &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: "x", Channels: net.columns}},
		Nodes: []netruntime.Node{
			{Name: "normalised", Op: netruntime.OpNormalize, In: []string{"x"}, Tensors: shared},
			{Name: "encoder", Op: netruntime.OpConv, In: []string{"normalised"}, Act: "relu"},
			{Name: "hidden", Op: netruntime.OpMaxPool, In: []string{"encoder"}},
			{Name: "spread", Op: netruntime.OpDepool, In: []string{"hidden"}},
			{Name: "decoder", Op: netruntime.OpConv, In: []string{"spread"}, Tied: true, Flip: true, Tensors: map[string]string{"weight": "encoder.weight"}},
			{Name: "y", Op: netruntime.OpDenormalize, In: []string{"decoder"}, Tensors: shared},
		},
		Outputs: []string{"y"},
	}
	meta, err := m.meta("manifold", "human", best, graph, m)
	if err != nil {
		return nil, err
	}
	if err := manifold.Describe(&meta, m.Train.Layout, m.Train.Skeleton); err != nil {
		return nil, err
	}
	return netruntime.New(meta, append(normTensors("", m.Train.Mean, m.Train.Std), []netruntime.Tensor{
		{Name: "encoder.weight", Shape: []int{net.hidden, net.columns, net.width}, Data: filters(best.weights[0], net.hidden, net.columns, net.width)},
		{Name: "encoder.bias", Shape: []int{net.hidden}, Data: best.weights[1]},
		{Name: "decoder.bias", Shape: []int{net.columns}, Data: best.weights[2]},
	}...))
}
