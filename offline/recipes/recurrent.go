package recipes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/train"
)

// Recurrent is the recipe of the networks with which STRNN is compared. They predict the next frame
// from all frames before (Fragkiadaki, Levine, Felsen and Malik 2015). "lstm3" is three layers of
// long short-term memory, "erd" two of them between an encoder and a decoder of fully connected
// layers.
type Recurrent struct {
	Kind    string  `json:"-"`
	Units   int     `json:"units"`   // of a layer of memory; the paper has 1000
	Frames  int     `json:"frames"`  // of a training sequence, 30 per second
	Noise   float64 `json:"noise"`   // final deviation of the noise on the frames that go in; it grows from 0
	Stretch float64 `json:"stretch"` // see STRNN

	Training `json:"-"`
}

// Window returns the number of frames, at 60 per second, that a window of recordings must have.
func (m *Recurrent) Window() int { return int((1+m.Stretch)*float64(2*m.Frames)) + 2 }

// RecurrentKinds are the kinds of Recurrent.
var RecurrentKinds = []string{"lstm3", "erd"}

// DefaultRecurrent returns our recipe without data.
func DefaultRecurrent() Recurrent {
	return Recurrent{Kind: "lstm3", Units: 512, Frames: 40, Noise: 0.3, Stretch: 0.15, Training: Training{
		Jitter: true, ClipNorm: 1, Epochs: 30, Batch: 32, Seed: 1, AdamW: train.Adam(5e-4),
	}}
}

// recurrentNet is the trainable form.
type recurrentNet struct {
	before, after []*fcLayer // rectified, except the last one of after
	memory        []*lstmWeight
	units         int
}

func newRecurrent(kind string, columns, units int, seed uint64) *recurrentNet {
	n := &recurrentNet{units: units}
	in, layers := columns, 3
	linear := func(to *[]*fcLayer, name string, from, out int) {
		*to = append(*to, newLinear(name, from, out, grad.Hash(seed, uint64(len(n.before)+len(n.after))+1)))
	}
	if kind == "erd" {
		linear(&n.before, "encoder1", columns, 500)
		linear(&n.before, "encoder2", 500, 500)
		in, layers = 500, 2
	}
	for i := range layers {
		n.memory = append(n.memory, newLSTM(fmt.Sprintf("memory%d", i+1), in, units, grad.Hash(seed, uint64(i)+20)))
		in = units
	}
	if kind == "erd" {
		linear(&n.after, "decoder1", units, 500)
		linear(&n.after, "decoder2", 500, 100)
		in = 100
	}
	linear(&n.after, "out", in, columns)
	return n
}

func (n *recurrentNet) params() []*grad.Param {
	return append(paramsOf(slices.Concat(n.before, n.after)...), paramsOf(n.memory...)...)
}

// forward returns the frame after each of x, (batch·length, columns) normalised.
func (n *recurrentNet) forward(t *grad.Tape, x *grad.Mat, length int) *grad.Mat {
	for _, l := range n.before {
		x = t.ReLU(t.Dense(x, l.w, l.b))
	}
	for _, m := range n.memory {
		x, _, _ = t.LSTM(x, length, m.wx, m.wh, m.b, nil, nil, false)
	}
	for i, l := range n.after {
		if x = t.Dense(x, l.w, l.b); i < len(n.after)-1 {
			x = t.ReLU(x)
		}
	}
	return x
}

// Run trains and writes the model.
func (m *Recurrent) Run(ctx context.Context) (*train.Report, error) {
	if !slices.Contains(RecurrentKinds, m.Kind) {
		return nil, fmt.Errorf("recipes: no recurrent network is called %q: want %s", m.Kind, strings.Join(RecurrentKinds, ", "))
	}
	net := newRecurrent(m.Kind, m.Train.Layout.Columns(), m.Units, m.Seed)
	batch, noise := m.windows(), 0.0
	job := &train.Job{
		Params: net.params(),
		Begin:  func(epoch int) { noise = m.Noise * float64(epoch) / float64(max(1, m.Epochs-1)) },
		Loss: func(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
			n := m.Frames
			all := batch.frames(t, rows, isHeldOut, n, m.Stretch)
			x := t.Frames(all, n, 0, n-1)
			if !isHeldOut {
				addNoise(x.Val, noise, key)
			}
			return t.MSE(net.forward(t, x, n-1), t.Frames(all, n, 1, n))
		},
	}
	return m.train(ctx, batch, m.recipe(), job, func(best trained) (*netruntime.Net, error) { return m.model(net, best) })
}

// recipe returns the beginning of the checkpoint key.
func (m *Recurrent) recipe() []any {
	return []any{fields{"network": m.Kind, "schema": m.Train.Layout.Hash()}, m, fields{"epochs": m.Epochs, "jitter": m.Jitter}}
}

// model makes the network of the model file. It takes frames "x" and the states "h1", "c1", … of
// each layer before them, and returns the frame "y" after each and the states after them.
func (m *Recurrent) model(net *recurrentNet, best trained) (*netruntime.Net, error) {
	g := &netruntime.Graph{Inputs: []netruntime.Input{{Name: "x", Channels: m.Train.Layout.Columns()}}, Outputs: []string{"y"}}
	at := "x"
	add := func(n netruntime.Node) {
		g.Nodes, at = append(g.Nodes, n), n.Name
	}
	dense := func(l *fcLayer, act string) {
		add(netruntime.Node{Name: l.name, Op: netruntime.OpDense, In: []string{at}, Act: act})
	}
	add(netruntime.Node{Name: "normalised", Op: netruntime.OpNormalize, In: []string{at}, Tensors: ownStats})
	for _, l := range net.before {
		dense(l, "relu")
	}
	for i := range net.memory {
		h, c := fmt.Sprintf("h%d", i+1), fmt.Sprintf("c%d", i+1)
		for _, name := range []string{h, c} {
			g.Inputs = append(g.Inputs, netruntime.Input{Name: name, Channels: net.units, Once: true})
		}
		add(node(fmt.Sprintf("memory%d", i+1), netruntime.OpLSTM, at, h, c))
		g.Outputs = append(g.Outputs, at+".h", at+".c")
	}
	last := len(net.after) - 1
	for _, l := range net.after[:last] {
		dense(l, "relu")
	}
	dense(net.after[last], "")
	add(netruntime.Node{Name: "y", Op: netruntime.OpDenormalize, In: []string{at}, Tensors: ownStats})
	meta, err := m.meta("recurrent", "human-"+m.Kind, best, g, nil)
	if err != nil {
		return nil, err
	}
	return netruntime.New(meta, append(normTensors("", m.Train.Mean, m.Train.Std), rowTensors(net.params(), best.weights)...))
}
