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

// Recurrent is the recipe of the networks that predict the next frame from all before,
// frame by frame, with which STRNN is compared (Fragkiadaki, Levine, Felsen and Malik
// 2015): "lstm3", three layers of long short-term memory, and "erd", two of them
// between an encoder and a decoder of fully connected layers.
type Recurrent struct {
	Kind    string  `json:"-"`
	Units   int     `json:"units"`   // of a layer of memory; the paper has 1000
	Frames  int     `json:"frames"`  // of a sequence to learn from, 30 per second
	Noise   float64 `json:"noise"`   // deviation of the noise on the frames that go in, at the end of training: it grows from 0
	Stretch float64 `json:"stretch"` // see STRNN

	Training `json:"-"`
}

// Window is how many frames at 60 per second a window of recordings must have.
func (m *Recurrent) Window() int { return int((1+m.Stretch)*float64(2*m.Frames)) + 2 }

// RecurrentKinds are what Recurrent can be of.
var RecurrentKinds = []string{"lstm3", "erd"}

// DefaultRecurrent returns our recipe without data.
func DefaultRecurrent() Recurrent {
	return Recurrent{Kind: "lstm3", Units: 512, Frames: 40, Noise: 0.3, Stretch: 0.15, Training: Training{
		Jitter: true, ClipNorm: 1, Epochs: 30, Batch: 32, Seed: 1,
		AdamW: train.AdamW{Rate: 5e-4, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
	}}
}

// recurrentNet is the trainable form.
type recurrentNet struct {
	before, after []*fcLayer // rectified but for the last one after
	memory        []*lstmWeight
	units         int
}

func newRecurrent(kind string, columns, units int, seed uint64) *recurrentNet {
	n := &recurrentNet{units: units}
	in, layers := columns, 3
	linear := func(to *[]*fcLayer, name string, from, out int) {
		l := newLinear(name, from, out, grad.Hash(seed, uint64(len(n.before)+len(n.after))+1))
		*to = append(*to, &l)
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

func (n *recurrentNet) params() (out []*grad.Param) {
	for _, l := range slices.Concat(n.before, n.after) {
		out = append(out, l.params()...)
	}
	for _, m := range n.memory {
		out = append(out, m.wx, m.wh, m.b)
	}
	return out
}

// forward returns the frames that follow each of x, (batch·length, columns) normalised.
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
	w := m.windows()
	l := &recurrentLoss{m: m, net: net, batch: w}
	job := &train.Job{Params: net.params(), Loss: l.loss, Begin: l.begin}
	return m.train(ctx, w, m.recipe(), job, func(best trained) (*netruntime.Net, error) {
		return m.model(net, best)
	})
}

type recurrentLoss struct {
	m     *Recurrent
	net   *recurrentNet
	batch *windows
	noise float64
}

func (l *recurrentLoss) begin(epoch int) {
	l.noise = l.m.Noise * float64(epoch) / float64(max(1, l.m.Epochs-1))
}

func (l *recurrentLoss) loss(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
	n := l.m.Frames
	all := l.batch.frames(t, rows, isHeldOut, n, l.m.Stretch)
	x := t.Frames(all, n, 0, n-1)
	if !isHeldOut {
		addNoise(x.Val, l.noise, key)
	}
	return t.MSE(l.net.forward(t, x, n-1), t.Frames(all, n, 1, n))
}

// recipe returns the beginning of the checkpoint key.
func (m *Recurrent) recipe() []any {
	return []any{fields{"network": m.Kind, "schema": m.Train.Layout.Hash()}, m, fields{"epochs": m.Epochs, "jitter": m.Jitter}}
}

// model makes the network that a model file holds: frames "x", and the states "h1",
// "c1", … of each layer before them, to the frames "y" after each, and the states.
func (m *Recurrent) model(net *recurrentNet, best trained) (*netruntime.Net, error) {
	cols := m.Train.Layout.Columns()
	shared := map[string]string{"mean": "mean", "std": "std"}
	g := &netruntime.Graph{Inputs: []netruntime.Input{{Name: "x", Channels: cols}}, Outputs: []string{"y"}}
	add := func(n netruntime.Node) string {
		g.Nodes = append(g.Nodes, n)
		return n.Name
	}
	at := add(netruntime.Node{Name: "normalised", Op: netruntime.OpNormalize, In: []string{"x"}, Tensors: shared})
	for _, l := range net.before {
		at = add(netruntime.Node{Name: l.name, Op: netruntime.OpDense, In: []string{at}, Act: "relu"})
	}
	for i := range net.memory {
		h, c := fmt.Sprintf("h%d", i+1), fmt.Sprintf("c%d", i+1)
		g.Inputs = append(g.Inputs, netruntime.Input{Name: h, Channels: net.units, Once: true}, netruntime.Input{Name: c, Channels: net.units, Once: true})
		at = add(netruntime.Node{Name: fmt.Sprintf("memory%d", i+1), Op: netruntime.OpLSTM, In: []string{at, h, c}})
		g.Outputs = append(g.Outputs, at+".h", at+".c")
	}
	for i, l := range net.after {
		act := "relu"
		if i == len(net.after)-1 {
			act = ""
		}
		at = add(netruntime.Node{Name: l.name, Op: netruntime.OpDense, In: []string{at}, Act: act})
	}
	add(netruntime.Node{Name: "y", Op: netruntime.OpDenormalize, In: []string{at}, Tensors: shared})
	tensors := normTensors("", m.Train.Mean, m.Train.Std)
	for i, p := range net.params() {
		shape := []int{p.Rows, p.Cols}
		if p.Rows == 1 {
			shape = shape[1:]
		}
		tensors = append(tensors, netruntime.Tensor{Name: p.Name, Shape: shape, Data: best.weights[i]})
	}
	meta, err := m.meta("recurrent", "human-"+m.Kind, best, g, nil)
	if err != nil {
		return nil, err
	}
	return netruntime.New(meta, tensors)
}
