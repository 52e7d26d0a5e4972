package recipes

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"mannequin/animsys/feature"
	"mannequin/animsys/latent"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
	"mannequin/offline/train"
)

// Latent is the recipe of the variational autoencoder of clips of one second
// (Lüdi 2016, sec. 4.2): three convolutions over time, each followed by pooling,
// and a dense layer into the mean and the logarithm of the variance of so many
// latent values; and the same backwards.
type Latent struct {
	Hidden [3]int  // channels of the encoder's layers, and backwards of the decoder's; the thesis has 256, 512, 512
	Widths [3]int  // of the encoder's filters in frames, and backwards of the decoder's; the thesis has 21, 13, 7
	Values int     // latent values; the thesis has 20
	Spread int     // channels between the latent values and the decoder's frames
	Keep   float32 // dropout's retention probability, of what goes into the encoder's layers, in (0, 1]; the thesis has 0.8
	L1     float64 // weight of the mean of the weights' magnitudes

	// KL is the weight in the loss of the divergence of eq. 4.9 in nats per value of
	// a clip, beside the mean squared error of normalised values: twice the
	// variance of the noise that values are taken to have. In training it comes
	// in along a sigmoid, half of it after Ramp of the epochs.
	KL, Ramp float64

	// Path is the weight in the loss of the squared distance of the body from where
	// it has gone since the clip's start, in deviations of positions, with a metre
	// for a radian: a value of its own motion that is a little off all along leads
	// far away (eq. 4.10 has the same term).
	Path float64
	// Traits is the weight in the loss of the squared distance of the means of the
	// first latent values from latent.Traits of the clip, in their deviations. They
	// are measured, nobody labels anything. 0 leaves it to the divergence what
	// latent values stand for, as the thesis does.
	Traits float64

	// With Jitter clips are played up to Stretch faster or slower, a share, and turn
	// by another amount, with deviation Bend, rad/s, in every epoch.
	Stretch, Bend float64

	Learning
}

// LatentHeldOut are the patterns of the recordings that are held back from training
// on CMU's: those of the other networks, which all go straight, and some of those
// that turn.
var LatentHeldOut = append([]string{"exp_train_walking_extra_walking_23", "exp_train_walking_extra_walking_49"}, dataset.CMUHeldOut...)

// DefaultLatent returns our recipe without data. The thesis' decoder takes 120
// million multiplications a clip; this one takes 30 million, half of which the
// runtime leaves out because depooled frames are equal.
func DefaultLatent() Latent {
	return Latent{Hidden: [3]int{128, 192, 256}, Widths: [3]int{21, 13, 7}, Values: 20, Spread: 64, Keep: 1, L1: 0.01, KL: 0.1, Ramp: 0.15, Path: 0.5, Traits: 0.2, Stretch: 0.12, Bend: 0.15, Learning: Learning{
		Jitter: true, ClipNorm: 1, Epochs: 120, Batch: 16, Seed: 1,
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
	}
	return nil
}

// latentNet is the trainable form of the autoencoder.
type latentNet struct {
	encoder convNet
	code    convLayer // of all frames together: a dense layer (eq. 4.4, 4.5)
	start   [2]*grad.Param
	decoder convNet // the first layer, over all frames, stands for flat† of eq. 4.6
	values  int
}

// steepness of the sigmoid, in shares of the epochs: it rises from 12 to 88 % in
// 0.1 of them.
const steepness = 40

func newLatentNet(m *Latent) *latentNet {
	cols, h, w := m.Train.Layout.Columns(), m.Hidden, m.Widths
	n := &latentNet{values: m.Values,
		encoder: newConvNet([]int{cols, h[0], h[1], h[2]}, w[:], grad.Hash(m.Seed, 1)).named("encoder"),
		decoder: newConvNet([]int{m.Spread, h[2], h[1], h[0], cols}, []int{2*latent.Coarse - 1, w[2], w[1], w[0]}, grad.Hash(m.Seed, 2)).named("decoder"),
		code:    newConvNet([]int{h[2], 2 * m.Values}, []int{latent.Coarse}, grad.Hash(m.Seed, 3)).named("code")[0],
		start:   [2]*grad.Param{grad.NewParam("start.weight", m.Spread, m.Values), grad.NewParam("start.bias", 1, m.Spread)},
	}
	// Depooling by 8 leaves an eighth of each value, and the filters sum over
	// the 8 frames: 8 times the variance keeps theirs.
	uniform(n.start[0].Val, math.Sqrt(8*6/float64(m.Values+m.Spread)), grad.Hash(m.Seed, 4))
	return n
}

func (n *latentNet) params() []*grad.Param {
	p := append(n.encoder.params(), n.code.w, n.code.b, n.start[0], n.start[1])
	return append(p, n.decoder.params()...)
}

func (n *latentNet) weights() []*grad.Param {
	return append(append(n.encoder.weights(), n.code.w, n.start[0]), n.decoder.weights()...)
}

// encode returns mean and logarithm of the variance of the latent values of x,
// (batch·Padded, columns) normalised: (batch, values) each.
func (n *latentNet) encode(t *grad.Tape, x *grad.Mat, keep float32, key uint64) (mean, logVar *grad.Mat) {
	length := latent.Padded
	for l, c := range n.encoder {
		x = t.Conv(t.Dropout(x, keep, grad.Hash(key, uint64(l))), length, c.w, c.b, c.width, false)
		x = t.ReLU(t.MaxPool(x, length))
		length /= 2
	}
	code := t.Dense(t.Reshape(x, x.Rows/length, length*x.Cols), n.code.w, n.code.b)
	return t.Columns(code, 0, n.values), t.Columns(code, n.values, 2*n.values)
}

// decode returns the normalised frames, (batch·Padded, columns), of latent values
// z, (batch, values).
func (n *latentNet) decode(t *grad.Tape, z *grad.Mat) *grad.Mat {
	x := t.Depool(t.Dense(z, n.start[0], n.start[1]), latent.Coarse, false, 0)
	length := latent.Coarse
	for l, c := range n.decoder {
		if l > 0 {
			x = t.Depool(x, 2, false, 0)
			length *= 2
		}
		x = t.Conv(x, length, c.w, c.b, c.width, false)
		if l > 0 && l < len(n.decoder)-1 {
			x = t.ReLU(x)
		}
	}
	return x
}

// sample returns mean + ε·deviation, where ε is standard normal noise that key
// draws (eq. 4.7).
func sample(t *grad.Tape, mean, logVar *grad.Mat, key uint64) *grad.Mat {
	noise := t.Const(mean.Rows, mean.Cols)
	for i := range noise.Val {
		noise.Val[i] = float32(normal(grad.Hash(key, uint64(2*i)), grad.Hash(key, uint64(2*i+1))))
	}
	return t.Add(mean, t.Mul(noise, t.Exp(t.Scale(logVar, 0.5))))
}

// divergence returns the mean over the batch of the divergence of the normal
// distributions from the standard one, in nats (eq. 4.9).
func divergence(t *grad.Tape, mean, logVar *grad.Mat) *grad.Mat {
	one := t.Const(1, 1)
	one.Val[0] = 1
	k := 0.5 / float32(mean.Rows)
	return t.WeightedSum(grad.Term{Loss: t.SumSquares(mean), Weight: k}, grad.Term{Loss: t.Sum(t.Exp(logVar)), Weight: k},
		grad.Term{Loss: t.Sum(logVar), Weight: -k}, grad.Term{Loss: one, Weight: -k * float32(len(mean.Val))})
}

// clips fills a batch with whole clips: x, (batch·Padded, columns) normalised, whose
// last frame is held, and their traits, (batch, traits) in deviations. In training
// they are varied.
func (l *latentLoss) clips(t *grad.Tape, rows []int32, isHeldOut bool) (x, traits *grad.Mat) {
	set := l.batch.train
	if isHeldOut {
		set = l.batch.heldOut
	}
	cols, seen := set.Layout.Columns(), len(l.traits.of)
	x, traits = t.Const(len(rows)*latent.Padded, cols), t.Const(len(rows), seen)
	for i, r := range rows {
		at := set.Windows[r]
		from := int(at.From) + l.batch.shift(r, set, isHeldOut)
		l.raw = append(l.raw[:0], set.Clips[at.Clip].Rows[from*cols:][:latent.Frames*cols]...)
		if l.batch.key != 0 && !isHeldOut {
			l.m.vary(l.raw, set, &set.Clips[at.Clip], from, grad.Hash(l.batch.key, uint64(r)+1<<33))
		}
		for k, trait := range l.traits.of {
			traits.Val[i*seen+k] = float32((trait.Of(l.raw) - l.traits.mean[k]) / l.traits.std[k])
		}
		for f := range latent.Padded {
			row := l.raw[min(f, latent.Frames-1)*cols:][:cols]
			for k, v := range row {
				x.Val[(i*latent.Padded+f)*cols+k] = (v - set.Mean[k]) / set.Std[k]
			}
		}
	}
	return x, traits
}

// vary changes a clip, rows raw, which begins at frame from of the recording it is of:
// it is played up to Stretch faster or slower, and turns by another amount, normally
// distributed with deviation Bend, rad/s. So few recordings turn that a network would
// guess the turn from who walks. key draws both.
func (m *Latent) vary(rows []float32, set *dataset.Motion, clip *dataset.MotionClip, from int, key uint64) {
	cols, body := set.Layout.Columns(), set.Layout.Body()
	by := 1 + m.Stretch*(2*share01(grad.Hash(key, 0))-1)
	by = min(by, float64(clip.Frames-1-from)/(latent.Frames-1)) // as long as the recording goes on
	bend := m.Bend * normal(grad.Hash(key, 1), grad.Hash(key, 2))
	for f := range latent.Frames {
		at := float64(from) + by*float64(f)
		g := min(int(at), clip.Frames-1)
		s := float32(at - float64(g))
		a, b := clip.Rows[g*cols:][:cols], clip.Rows[min(g+1, clip.Frames-1)*cols:][:cols]
		row := rows[f*cols:][:cols]
		for k := range row {
			row[k] = a[k] + s*(b[k]-a[k])
			if k >= body && k < body+feature.MotionLen {
				row[k] *= float32(by)
			}
		}
		for i := range set.Layout.Contacts {
			c := set.Layout.Contact(i)
			row[c] = float32(math.Round(float64(row[c])))
		}
		row[body+feature.MotionYaw] += float32(bend)
	}
}

// normal returns a value of the standard normal distribution from random bits (Box and
// Muller).
func normal(a, b uint64) float64 {
	return math.Sqrt(-2*math.Log(1-share01(a))) * math.Cos(2*math.Pi*share01(b))
}

// pathWeights returns the weights of a dense layer, without bias, that adds up the
// body's motion, (Frames·MotionLen) normalised as set's: where it is after each
// frame, as if it faced the same way all along, in deviations of positions. A radian
// counts as a metre.
func pathWeights(set *dataset.Motion) [2]*grad.Param {
	n, body := latent.Frames*feature.MotionLen, set.Layout.Body()
	w, b := grad.NewParam("path.weight", n, n), grad.NewParam("path.bias", 1, n)
	for i := range n {
		for k := i % feature.MotionLen; k <= i; k += feature.MotionLen {
			w.Val[i*n+k] = set.Std[body+k%feature.MotionLen] / dataset.Rate / set.Std[0]
		}
	}
	w.Frozen, b.Frozen = true, true
	return [2]*grad.Param{w, b}
}

// traitTargets are traits in units of the recordings' deviations from their mean.
type traitTargets struct {
	of        []latent.Trait
	mean, std []float64
}

func newTraitTargets(set *dataset.Motion) (*traitTargets, error) {
	of, err := latent.Traits(set.Layout)
	if err != nil {
		return nil, err
	}
	v := &traitTargets{of: of, mean: make([]float64, len(of)), std: make([]float64, len(of))}
	n, cols := float64(len(set.Windows)), set.Layout.Columns()
	for k, trait := range of {
		square := 0.0
		for _, w := range set.Windows {
			x := trait.Of(set.Clips[w.Clip].Rows[int(w.From)*cols:])
			v.mean[k] += x / n
			square += x * x / n
		}
		if v.std[k] = math.Sqrt(max(0, square-v.mean[k]*v.mean[k])); v.std[k] < 1e-6 {
			v.std[k] = 1 // all clips share it
		}
	}
	return v, nil
}

// latentLoss is the loss of a network, and what it needs to be computed.
type latentLoss struct {
	m      *Latent
	net    *latentNet
	batch  *windows
	path   [2]*grad.Param
	traits *traitTargets
	ramp   float64    // the present weight of the divergence
	parts  [3]float64 // of the held-out loss: sums of error and divergence, clips
	raw    []float32  // a clip
}

func (m *Latent) lossOf(net *latentNet) (*latentLoss, error) {
	traits, err := newTraitTargets(m.Train)
	if err != nil {
		return nil, err
	}
	if m.Traits > 0 && len(traits.of) > m.Values {
		return nil, fmt.Errorf("recipes: %d latent values for %d traits, want as many or more", m.Values, len(traits.of))
	}
	return &latentLoss{m: m, net: net, batch: m.windows(), path: pathWeights(m.Train), traits: traits}, nil
}

// full is the weight of the divergence in nats at the end.
func (l *latentLoss) full() float64 {
	return l.m.KL / float64(latent.Frames*l.m.Train.Layout.Columns())
}

// begin sets the weight of the divergence of an epoch.
func (l *latentLoss) begin(epoch int) {
	l.ramp = l.full() / (1 + math.Exp(-steepness*((float64(epoch)+0.5)/float64(l.m.Epochs)-l.m.Ramp)))
}

// loss is train.Job.Loss.
func (l *latentLoss) loss(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
	m, keep, weight := l.m, l.m.Keep, l.ramp
	if isHeldOut {
		keep, weight = 1, l.full() // the same for all epochs, or the first would be the best
	}
	x, want := l.clips(t, rows, isHeldOut)
	mean, logVar := l.net.encode(t, x, keep, key)
	y := l.net.decode(t, sample(t, mean, logVar, grad.Hash(key, 1<<32)))
	given := func(x *grad.Mat) *grad.Mat { return t.Frames(x, latent.Padded, 0, latent.Frames) }
	miss := t.Sub(given(y), given(x))
	square, kl := t.Mean(t.Mul(miss, miss)), divergence(t, mean, logVar)
	if isHeldOut {
		n := float64(len(rows))
		l.parts = [3]float64{l.parts[0] + n*float64(square.Val[0]), l.parts[1] + n*float64(kl.Val[0]), l.parts[2] + n}
	}
	terms := []grad.Term{{Loss: square, Weight: 1}, {Loss: kl, Weight: float32(weight)}}
	if m.Path > 0 {
		body := m.Train.Layout.Body()
		steps := t.Reshape(t.Columns(miss, body, body+feature.MotionLen), len(rows), latent.Frames*feature.MotionLen)
		off := t.Dense(steps, l.path[0], l.path[1])
		terms = append(terms, grad.Term{Loss: t.SumSquares(off), Weight: float32(m.Path) / float32(len(miss.Val))})
	}
	if m.Traits > 0 {
		terms = append(terms, grad.Term{Loss: t.MSE(t.Columns(mean, 0, want.Cols), want), Weight: float32(m.Traits)})
	}
	return t.WeightedSum(terms...)
}

// told returns the parts of the held-out loss since it was last asked for them.
func (l *latentLoss) told() map[string]float64 {
	n := max(1, l.parts[2])
	parts := map[string]float64{"squared error": l.parts[0] / n, "divergence in nats": l.parts[1] / n}
	l.parts = [3]float64{}
	return parts
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
		Params: net.params(), Loss: l.loss, Parts: l.told, Begin: l.begin,
		L1: m.L1 / float64(count(net.weights())), Penalised: net.weights(),
	}
	return m.learn(ctx, l.batch, m.recipe(), job, func(best [][]float32, r *train.Report, recipe, hash string) (*netruntime.Net, error) {
		return m.model(net, best, r, recipe, hash)
	})
}

// recipe names everything but the data that shapes the result.
func (m *Latent) recipe() any {
	return struct {
		Network string  `json:"network"`
		Schema  string  `json:"schema"`
		Hidden  [3]int  `json:"hidden"`
		Widths  [3]int  `json:"widths"`
		Values  int     `json:"values"`
		Spread  int     `json:"spread"`
		Keep    float32 `json:"keep"`
		KL      float64 `json:"kl"`
		Ramp    float64 `json:"ramp"`
		Path    float64 `json:"path"`
		Traits  float64 `json:"traits"`
		Stretch float64 `json:"stretch"`
		Bend    float64 `json:"bend"`
		Epochs  int     `json:"epochs"`
		Jitter  bool    `json:"jitter"`
		L1      float64 `json:"l1"`
		learnt
	}{"latent", m.Train.Layout.Hash(), m.Hidden, m.Widths, m.Values, m.Spread, m.Keep, m.KL, m.Ramp, m.Path, m.Traits, m.Stretch, m.Bend, m.Epochs, m.Jitter, m.L1, m.learnt()}
}

// model makes the network that a model file holds: raw frames in, raw frames out.
// Its two halves have an input each: the encoder the frames "x" of one clip, the
// decoder the latent values "z".
func (m *Latent) model(net *latentNet, weights [][]float32, r *train.Report, recipe, hash string) (*netruntime.Net, error) {
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
	tensors := append([]netruntime.Tensor{{Name: "mean", Shape: []int{cols}, Data: m.Train.Mean}, {Name: "std", Shape: []int{cols}, Data: m.Train.Std}}, net.encoder.tensors(weights[:e])...)
	tensors = append(tensors, convNet{net.code}.tensors(weights[e:e+2])...)
	tensors = append(tensors, netruntime.Tensor{Name: "start.weight", Shape: []int{m.Spread, m.Values}, Data: weights[e+2]}, netruntime.Tensor{Name: "start.bias", Shape: []int{m.Spread}, Data: weights[e+3]})
	tensors = append(tensors, net.decoder.tensors(weights[d:])...)

	metrics := motionMetrics(m.Train, m.HeldOut, r)
	mj, err := json.Marshal(metrics)
	if err != nil {
		return nil, err
	}
	src := sourceOfMotion(m.Train, "human-latent")
	meta := netruntime.Meta{
		Name: src.name, Arch: "graph", Data: src.data, License: src.license,
		Graph: &netruntime.Graph{
			Inputs: []netruntime.Input{{Name: "x", Channels: cols}, {Name: "z", Channels: m.Values}},
			Nodes:  nodes, Outputs: []string{"mean", "logvar", "y"}},
		Card: m.card(src, metrics), Metrics: string(mj), CreatedBy: "mannequin train latent",
		Extra: map[string]string{"recipe": recipe, "data_hash": hash},
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

// components finds those of the clips to train on.
func (m *Latent) components(net *netruntime.Net) (*latent.Components, error) {
	model, err := latent.New(net)
	if err != nil {
		return nil, err
	}
	traits, err := latent.Traits(model.Layout)
	if err != nil {
		return nil, err
	}
	z, rows, err := EncodeClips(model, m.Train, m.Threads)
	if err != nil {
		return nil, err
	}
	var names []string
	seen := mat.NewDense(len(rows), len(traits), nil)
	frames := mat.NewDense(len(rows), len(rows[0]), nil)
	cols := m.Train.Layout.Columns()
	for t, trait := range traits {
		names = append(names, trait.Name)
		for i, clip := range rows {
			seen.Set(i, t, trait.Of(clip))
		}
	}
	for i, clip := range rows {
		for k, v := range clip {
			frames.Set(i, k, float64(v/m.Train.Std[k%cols]))
		}
	}
	return latentComponents(names, z, frames, seen)
}

// EncodeClips returns the means of the latent values of a set's windows, (clips,
// values), and their frames, (latent.Frames, columns) raw each.
func EncodeClips(model *latent.Model, set *dataset.Motion, workers int) (z *mat.Dense, rows [][]float32, err error) {
	const batch = 64
	cols := set.Layout.Columns()
	size := latent.Frames * cols
	coder, err := model.NewCoder(latent.CoderOptions{Batch: batch, Workers: workers})
	if err != nil {
		return nil, nil, err
	}
	defer coder.Close()
	z = mat.NewDense(len(set.Windows), model.Values, nil)
	mean, clips := make([]float32, batch*model.Values), make([]float32, batch*size)
	for at := 0; at < len(set.Windows); at += batch {
		n := min(batch, len(set.Windows)-at)
		for i, w := range set.Windows[at : at+n] {
			clip := set.Clips[w.Clip].Rows[int(w.From)*cols:][:size]
			copy(clips[i*size:], clip)
			rows = append(rows, clip)
		}
		if err := coder.Encode(mean[:n*model.Values], nil, clips[:n*size], n); err != nil {
			return nil, nil, err
		}
		for i := range n {
			for k := range model.Values {
				z.Set(at+i, k, float64(mean[i*model.Values+k]))
			}
		}
	}
	return z, rows, nil
}

// card is the model card.
func (m *Latent) card(src source, k mannMetrics) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("# %s\n\nMakes a second of human motion, %d frames, from %d latent values: a variational autoencoder of convolutions over time (Lüdi 2016, sec. 4.2).\n\n",
		src.name, latent.Frames, m.Values)
	p("## Data and licence\n\nTrained on %s: %d frames, half of them mirrored. Held back from training: %s.\n\nLicence of the weights: %s.\n\n",
		src.data, k.Rows, heldOutNames(m.HeldOut), src.license)
	p("## Training\n\nMean squared error of normalised frames and %g times the divergence per value; Adam (rate %g), one cosine of the rate over %d epochs; batch %d, dropout retention %g, sparsity %g, seed %d. These are the weights after epoch %d, whose held-out loss was the lowest: %.4f, %.4f before training.\n\n",
		m.KL, m.AdamW.Rate, m.Epochs, m.Batch, m.Keep, m.L1, m.Seed, k.Epoch, k.HeldOut, k.HeldOutBefore)
	p("## Limits\n\nIt knows level ground and the motions of its data. %s\n", src.limits)
	return b.String()
}
