// Package teststrnn makes a predictor of people's motion for tests: a small random network that
// keeps a person near the rest pose and walks it ahead, with latent values for speed and direction.
// Except for the skeleton, nothing here is learned or copied from recordings.
package teststrnn

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testgen"
	"mannequin/internal/testing/testnet"
	"mannequin/models/human"
	"mannequin/netruntime"
)

// Sizes of the network.
const (
	Encode, Predict = 8, 8 // frames
	Latent          = 3
	Manner          = 2 // values of a manner's code
	units           = 12
)

// Speed is the person's approximate walking speed, m/s.
const Speed = 1.2

// Options are the features of the network.
type Options struct {
	Once   bool // only one continuation: no latent values
	Plain  bool // no linear filters: frames are differences from zero
	Filter bool // a residual network
	Guide  bool // a guide, which reads only turns
	Manner bool // codes of manners, from the speed ahead and its deviation
}

// Burst is a turn, in rad/s, for which the network with a guide gives values that are not finite,
// within a second of the request. Turns of up to 0.4 rad/s do not.
const Burst = strnn.MaxTurn

// Net returns the network.
func Net(t testing.TB, o Options) *netruntime.Net {
	t.Helper()
	net := must.Get(human.Open())(t)
	was := net.Meta()
	p, differ := feature.ReadPerson(was.Schema, was.SchemaHash, was.Skeleton)
	if p == nil {
		t.Fatal(differ)
	}
	b := &builder{rng: rand.New(rand.NewPCG(5, 6)), mean: testgen.Rest(p, Speed)}
	latent := Latent
	if o.Once {
		latent = 0
	}
	manner := 0
	if o.Manner {
		manner = Manner
	}
	b.network(o, max(1, latent), manner)
	meta := netruntime.Meta{Name: "made", Arch: "graph", Graph: &b.graph, Extra: map[string]string{}}
	if !o.Plain {
		meta.Extra[strnn.KeyScale] = string(must.Get(json.Marshal(b.scale()))(t))
	}
	must.Do(t, strnn.Describe(&meta, p, Encode, Predict, latent))
	if o.Manner {
		meta.Extra[strnn.KeyManner] = strconv.Itoa(manner)
	}
	if o.Guide {
		meta.Extra[strnn.KeyGuide] = must.Get(guide(p.Layout).Encode())(t)
	}
	return must.Get(netruntime.New(meta, b.tensors))(t)
}

// guide returns a guide that sets the first latent value by the turn in the last frame.
func guide(l *feature.Motion) *strnn.Guide {
	n := strnn.GuideInputs(l)
	g := &strnn.Guide{Mean: make([]float32, n), Scale: slices.Repeat([]float32{1}, n), Bias: make([]float32, Latent), Weight: make([]float32, 4*n*Latent)}
	g.Weight[(n-5)*Latent] = 3
	return g
}

// Model returns the network as a predictor.
func Model(t testing.TB, o Options) *strnn.Model {
	t.Helper()
	return must.Get(strnn.NewModel(Net(t, o)))(t)
}

// Seen returns past frames for a prediction, (n, Encode, columns) raw, near the rest pose.
func Seen(t testing.TB, n int, seed uint64) []float32 {
	t.Helper()
	m := Model(t, Options{})
	mean, _ := m.Net.Tensor("mean")
	rng := rand.New(rand.NewPCG(7, seed))
	cols := len(mean.Data)
	rows := make([]float32, n*Encode*cols)
	for at := 0; at < len(rows); at += cols {
		copy(rows[at:], mean.Data)
		for c := range m.Layout.Contact(0) {
			rows[at+c] += 0.01 * float32(rng.NormFloat64())
		}
	}
	return rows
}

// builder builds a graph.
type builder struct {
	rng     *rand.Rand
	mean    []float32
	graph   netruntime.Graph
	tensors []netruntime.Tensor
}

// scale is Linear.Scale.
func (b *builder) scale() []float32 {
	s := make([]float32, Encode+Predict)
	for f := range s {
		s[f] = 0.3
		if f >= Encode {
			s[f] = float32(f-Encode+1) / Predict
		}
	}
	return s
}

func (b *builder) tensor(name string, scale float64, shape ...int) {
	b.tensors = append(b.tensors, testnet.Random(b.rng, scale, name, shape...))
}

func (b *builder) node(n netruntime.Node) string {
	b.graph.Nodes = append(b.graph.Nodes, n)
	return n.Name
}

// lstm adds a layer of in inputs, and base more inputs with small weights.
func (b *builder) lstm(name string, in, base int, reverse bool, operands ...string) string {
	b.tensor(name+".weight", 1/math.Sqrt(float64(in)), 4*units, in)
	w := &b.tensors[len(b.tensors)-1]
	wide := make([]float32, 4*units*(in+base))
	for i := range wide {
		if r, c := i/(in+base), i%(in+base); c < in {
			wide[i] = w.Data[r*in+c]
		} else {
			wide[i] = w.Data[(r+c)%len(w.Data)] / 300
		}
	}
	w.Shape[1], w.Data = in+base, wide
	b.tensor(name+".recurrent", 1/math.Sqrt(units), 4*units, units)
	b.tensor(name+".bias", 0.1, 4*units)
	return b.node(netruntime.Node{Name: name, Op: netruntime.OpLSTM, In: operands, Reverse: reverse})
}

// network builds a network whose frames stay near mean, with a deviation of 5 cm per joint.
func (b *builder) network(o Options, latent, manner int) {
	cols := len(b.mean)
	std := testnet.Constant(0.05, "std", cols)
	for i := cols - 4 - feature.MotionLen; i < cols-4; i++ {
		std.Data[i] = 3 // m/s, rad/s
	}
	b.tensors = []netruntime.Tensor{{Name: "mean", Shape: []int{cols}, Data: b.mean}, std}
	shared := map[string]string{"mean": "mean", "std": "std"}
	raw := shared
	b.graph.Inputs = []netruntime.Input{{Name: strnn.ValueX, Channels: cols}, {Name: strnn.ValueClock, Channels: 1}, {Name: strnn.ValueLatent, Channels: latent + manner}}
	if !o.Plain {
		raw = map[string]string{"mean": "none", "std": "std"}
		b.tensors = append(b.tensors, testnet.Constant(0, "none", cols), b.linear())
		b.tensor(strnn.ValueLinear+".bias", 0, (Encode+Predict)*cols)
		b.graph.Inputs = append(b.graph.Inputs, netruntime.Input{Name: strnn.ValueBase, Channels: cols})
		b.node(netruntime.Node{Name: "base.normalised", Op: netruntime.OpNormalize, In: []string{strnn.ValueBase}, Tensors: shared})
	}
	b.node(netruntime.Node{Name: "normalised", Op: netruntime.OpNormalize, In: []string{strnn.ValueX}, Tensors: shared})
	b.lstm("encoder", cols, 0, false, "normalised")
	b.tensor("out.weight", 1/math.Sqrt(units), cols, units)
	b.tensor("out.bias", 0.1, cols)
	out := map[string]string{"weight": "out.weight", "bias": "out.bias"}
	for i, name := range []string{strnn.ValueBefore, strnn.ValueAfter} {
		from, in, base := strnn.ValueClock, 1, 0
		if i == 1 {
			from, in = strnn.ValueLatent, latent+manner
		}
		if !o.Plain {
			from, base = b.node(netruntime.Node{Name: name + ".in", Op: netruntime.OpConcat, In: []string{from, "base.normalised"}}), cols
		}
		b.lstm(name+".units", in, base, i == 0, from, strnn.ValueState[0], strnn.ValueState[1])
		b.node(netruntime.Node{Name: name + ".out", Op: netruntime.OpDense, In: []string{name + ".units"}, Tensors: out})
		made := name + ".out"
		if i == 1 && o.Guide {
			made = b.burst(made, latent+manner)
		}
		b.graph.Outputs = append(b.graph.Outputs, b.node(netruntime.Node{Name: name, Op: netruntime.OpDenormalize, In: []string{made}, Tensors: raw}))
	}
	if !o.Once {
		b.graph.Inputs = append(b.graph.Inputs, netruntime.Input{Name: strnn.ValueH, Channels: units + manner})
		dense := func(name, from, act string, in, out int) {
			b.tensor(name+".weight", 0.3/math.Sqrt(float64(in)), out, in)
			b.tensor(name+".bias", 0.1, out)
			b.node(netruntime.Node{Name: name, Op: netruntime.OpDense, In: []string{from}, Act: act})
		}
		dense(strnn.ValuePrior, strnn.ValueH, "elu", units+manner, 4)
		dense(strnn.ValueMean, strnn.ValuePrior, "", 4, latent)
		dense(strnn.ValueLogVar, strnn.ValuePrior, "", 4, latent)
		b.graph.Outputs = append(b.graph.Outputs, strnn.ValueMean, strnn.ValueLogVar)
	}
	if manner > 0 {
		b.graph.Inputs = append(b.graph.Inputs, netruntime.Input{Name: strnn.ValueManner, Channels: 2 * cols})
		code := testnet.Constant(0, strnn.ValueCode+".weight", manner, 2*cols)
		ahead := cols - 4 - feature.MotionLen + feature.MotionZ
		code.Data[ahead], code.Data[2*cols+cols+ahead] = 1, 1
		b.tensors = append(b.tensors, code, testnet.Constant(0, strnn.ValueCode+".bias", manner))
		b.graph.Outputs = append(b.graph.Outputs, b.node(netruntime.Node{Name: strnn.ValueCode, Op: netruntime.OpDense, In: []string{strnn.ValueManner}, Act: "tanh"}))
	}
	if !o.Plain {
		b.graph.Inputs = append(b.graph.Inputs, netruntime.Input{Name: strnn.ValuePast, Channels: Encode})
		b.graph.Outputs = append(b.graph.Outputs, b.node(netruntime.Node{Name: strnn.ValueLinear, Op: netruntime.OpDense, In: []string{strnn.ValuePast}}))
	}
	if o.Filter {
		b.graph.Inputs = append(b.graph.Inputs, netruntime.Input{Name: strnn.ValueZ, Channels: cols})
		b.node(netruntime.Node{Name: "noisy", Op: netruntime.OpNormalize, In: []string{strnn.ValueZ}, Tensors: shared})
		b.tensor("filter.weight", 0.02, cols, cols, 3)
		b.tensor("filter.bias", 0.02, cols)
		b.node(netruntime.Node{Name: "filter", Op: netruntime.OpConv, In: []string{"noisy"}})
		b.node(netruntime.Node{Name: "sum", Op: netruntime.OpAdd, In: []string{"noisy", "filter"}})
		b.graph.Outputs = append(b.graph.Outputs, b.node(netruntime.Node{Name: strnn.ValueFiltered, Op: netruntime.OpDenormalize, In: []string{"sum"}, Tensors: shared}))
	}
}

// burst adds values that are not finite to a value if the first latent value is beyond 2.
func (b *builder) burst(to string, latent int) string {
	cols := len(b.mean)
	fuse := testnet.Constant(0, "fuse.weight", 1, latent)
	fuse.Data[0] = 1e38
	b.tensors = append(b.tensors, fuse, testnet.Constant(-2e38, "fuse.bias", 1),
		testnet.Constant(3e38, "burst.weight", cols, 1), testnet.Constant(0, "burst.bias", cols))
	b.node(netruntime.Node{Name: "fuse", Op: netruntime.OpDense, In: []string{strnn.ValueLatent}, Act: "relu"})
	b.node(netruntime.Node{Name: "burst", Op: netruntime.OpDense, In: []string{"fuse"}})
	return b.node(netruntime.Node{Name: "bursting", Op: netruntime.OpAdd, In: []string{to, "burst"}})
}

// linear returns filters that reproduce past frames and hold the mean of the last two.
func (b *builder) linear() netruntime.Tensor {
	l := &strnn.Linear{Encode: Encode, Columns: len(b.mean), W: make([]float32, (Encode+Predict)*Encode*len(b.mean))}
	for f := range Encode + Predict {
		for c := range l.Columns {
			at := func(e int) *float32 { return &l.W[(f*Encode+e)*l.Columns+c] }
			if f < Encode {
				*at(f) = 1
			} else {
				*at(Encode - 1), *at(Encode - 2) = 0.5, 0.5
			}
		}
	}
	return l.Tensor()
}
