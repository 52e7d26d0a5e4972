package recipes

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
	"mannequin/offline/train"
)

// STRNN is the recipe of the spatio-temporal recurrent network (Wang, Ho, Shum and Zhu
// 2019): from Encode frames, 30 per second, to the same again, backwards in time, and
// Predict more.
type STRNN struct {
	Encode, Predict int     // frames; the paper has 20 and 20
	Units           int     // of the temporal network; the paper has 512
	Spatial         bool    // false: the temporal network alone
	Offset          bool    // frames are made as differences from the last one seen
	Filter          bool    // with the residual network
	Tune            float64 // share of the epochs, the last ones, in which it alone learns; the paper's hybrid training
	Horizon         float64 // weight in the loss of the squared accelerations of what is made (eq. 7)
	Noise, NoiseEnd float64 // deviation of the noise on the frames that go in, in deviations, and the share of the epochs after which it has fallen to 0; the paper has 0.1, less 0.001 every epoch
	Keep            float32 // dropout's retention probability; the paper has 0.9
	L2              float64 // weight of the mean of the parameters' squares

	Learning
}

// DefaultSTRNN returns our recipe without data.
func DefaultSTRNN() STRNN {
	return STRNN{Encode: 20, Predict: 20, Units: 512, Spatial: true, Offset: true, Filter: true, Tune: 0.25, Horizon: 0.1, Noise: 0.1, NoiseEnd: 0.8, Keep: 0.9, Learning: Learning{
		Jitter: true, ClipNorm: 1, Epochs: 60, Batch: 32, Seed: 1,
		AdamW: train.AdamW{Rate: 5e-4, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
	}}
}

// Run trains and writes the model.
func (m *STRNN) Run(ctx context.Context) (*train.Report, error) {
	groups, err := strnn.GroupsOf(m.Train.Layout)
	if err != nil {
		return nil, err
	}
	net := newSTRNN(groups, m.Train.Layout.Columns(), m.Units, m.Spatial, m.Filter, m.Seed)
	w := m.windows()
	l := &strnnLoss{m: m, net: net, batch: w}
	job := &train.Job{Params: net.params(), Loss: l.loss, Parts: l.told, Begin: l.begin}
	return m.learn(ctx, w, m.recipe(), job, func(best [][]float32, r *train.Report, recipe, hash string) (*netruntime.Net, error) {
		return m.model(net, best, r, recipe, hash)
	})
}

// recipe names everything but the data that shapes the result.
func (m *STRNN) recipe() any {
	return struct {
		Network string     `json:"network"`
		Schema  string     `json:"schema"`
		Frames  [2]int     `json:"frames"`
		Units   int        `json:"units"`
		Spatial bool       `json:"spatial"`
		Offset  bool       `json:"offset"`
		Filter  bool       `json:"filter"`
		Tune    float64    `json:"tune"`
		Horizon float64    `json:"horizon"`
		Noise   [2]float64 `json:"noise"`
		Keep    float32    `json:"keep"`
		Epochs  int        `json:"epochs"`
		Jitter  bool       `json:"jitter"`
		learnt
	}{"strnn", m.Train.Layout.Hash(), [2]int{m.Encode, m.Predict}, m.Units, m.Spatial, m.Offset, m.Filter, m.Tune, m.Horizon, [2]float64{m.Noise, m.NoiseEnd}, m.Keep, m.Epochs, m.Jitter, m.learnt()}
}

// model makes the network that a model file holds.
func (m *STRNN) model(net *strnnNet, weights [][]float32, r *train.Report, recipe, hash string) (*netruntime.Net, error) {
	cols := m.Train.Layout.Columns()
	metrics := motionMetrics(m.Train, m.HeldOut, r)
	mj, err := json.Marshal(metrics)
	if err != nil {
		return nil, err
	}
	inputs, nodes, outputs := net.nodes(m.Offset)
	tensors := append([]netruntime.Tensor{{Name: "mean", Shape: []int{cols}, Data: m.Train.Mean}, {Name: "std", Shape: []int{cols}, Data: m.Train.Std}}, net.tensors(weights)...)
	if m.Offset {
		tensors = append(tensors, netruntime.Tensor{Name: "none", Shape: []int{cols}, Data: make([]float32, cols)})
	}
	src := sourceOfMotion(m.Train, "human-strnn")
	meta := netruntime.Meta{
		Name: src.name, Arch: "graph", Data: src.data, License: src.license,
		Graph: &netruntime.Graph{Inputs: inputs, Nodes: nodes, Outputs: outputs},
		Card:  "", Metrics: string(mj), CreatedBy: "mannequin train strnn",
		Extra: map[string]string{"recipe": recipe, "data_hash": hash},
	}
	person, err := feature.NewPerson(m.Train.Layout, m.Train.Skeleton)
	if err != nil {
		return nil, fmt.Errorf("recipes: %w", err)
	}
	if err := strnn.Describe(&meta, person, m.Encode, m.Predict, m.Offset); err != nil {
		return nil, err
	}
	return netruntime.New(meta, tensors)
}

type strnnLoss struct {
	m     *STRNN
	net   *strnnNet
	batch *windows
	noise float64
	tunes bool // the filter alone learns
	parts [4]float64
	raw   []float32
}

func (l *strnnLoss) begin(epoch int) {
	l.tunes = l.m.Filter && float64(epoch) >= (1-l.m.Tune)*float64(l.m.Epochs)
	for _, p := range l.net.temporal() {
		if !strings.HasSuffix(p.Name, ".mean") && !strings.HasSuffix(p.Name, ".var") {
			p.Frozen = l.tunes
		}
	}
	l.noise = 0
	if end := l.m.NoiseEnd * float64(l.m.Epochs); end > 0 {
		l.noise = max(0, l.m.Noise*(1-float64(epoch)/end))
	}
}

// frames fills a batch with frames, 30 per second: (batch·(encode+predict), columns)
// normalised.
func (l *strnnLoss) frames(t *grad.Tape, rows []int32, isHeldOut bool) *grad.Mat {
	set := l.batch.train
	if isHeldOut {
		set = l.batch.heldOut
	}
	cols, n := set.Layout.Columns(), l.m.Encode+l.m.Predict
	x := t.Const(len(rows)*n, cols)
	if len(l.raw) < set.Length*cols {
		l.raw = make([]float32, set.Length*cols)
	}
	for i, r := range rows {
		at := set.Windows[r]
		set.Window(l.raw, int(at.Clip), int(at.From)+l.batch.shift(r, set, isHeldOut))
		strnn.Halve(x.Val[i*n*cols:][:n*cols], l.raw, set.Layout)
	}
	return x
}

func (l *strnnLoss) loss(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
	m := l.m
	n := m.Encode + m.Predict
	all := l.frames(t, rows, isHeldOut)
	seen := t.Frames(all, n, 0, m.Encode)
	s := &strnnPass{train: !isHeldOut, keep: m.Keep, key: key}
	if isHeldOut || l.tunes {
		s.keep, s.train = 1, false
	}
	if isHeldOut {
	} else if l.noise > 0 {
		noise := t.Const(seen.Rows, seen.Cols)
		for i := range noise.Val {
			noise.Val[i] = float32(l.noise * normal(grad.Hash(key, uint64(2*i)+1<<40), grad.Hash(key, uint64(2*i+1)+1<<40)))
		}
		seen = t.Add(seen, noise)
	}
	y := l.net.forward(t, seen, m.Encode, m.Predict, s)
	if m.Offset {
		y = t.Add(y, l.last(t, seen, len(rows)))
	}
	if m.Filter && (l.tunes || isHeldOut) {
		made := t.Frames(y, n, m.Encode, n)
		fixed := l.net.filtered(t, t.Join(len(rows), seen, made), n)
		y = t.Join(len(rows), t.Frames(y, n, 0, m.Encode), t.Frames(fixed, n, m.Encode, n))
	}
	miss := t.Sub(y, all)
	square := t.Mul(miss, miss)
	before, after := t.Mean(t.Frames(square, n, 0, m.Encode)), t.Mean(t.Frames(square, n, m.Encode, n))
	bend := t.Diff(t.Diff(y, n), n-1)
	if isHeldOut {
		k := float64(len(rows))
		l.parts[0] += k * float64(before.Val[0])
		l.parts[1] += k * float64(after.Val[0])
		l.parts[3] += k
		still := 0.0
		cols := all.Cols
		for i := range rows {
			for f := m.Encode; f < n; f++ {
				for c := range cols {
					d := float64(all.Val[(i*n+f)*cols+c] - all.Val[(i*n+m.Encode-1)*cols+c])
					still += d * d / float64(m.Predict*cols)
				}
			}
		}
		l.parts[2] += still
	}
	return t.WeightedSum(grad.Term{Loss: before, Weight: 0.5}, grad.Term{Loss: after, Weight: 0.5}, grad.Term{Loss: t.Mean(t.Mul(bend, bend)), Weight: float32(m.Horizon)})
}

// last returns the last frame of each motion seen, for every frame that is made.
func (l *strnnLoss) last(t *grad.Tape, seen *grad.Mat, batch int) *grad.Mat {
	frame := t.Frames(seen, l.m.Encode, l.m.Encode-1, l.m.Encode)
	parts := make([]*grad.Mat, l.m.Encode+l.m.Predict)
	for i := range parts {
		parts[i] = frame
	}
	return t.Join(batch, parts...)
}

func (l *strnnLoss) told() map[string]float64 {
	n := max(1, l.parts[3])
	p := map[string]float64{"decoded": l.parts[0] / n, "predicted": l.parts[1] / n, "zero velocity": l.parts[2] / n}
	l.parts = [4]float64{}
	return p
}

var _ = dataset.Rate
