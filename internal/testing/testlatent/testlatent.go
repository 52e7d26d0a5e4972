// Package testlatent makes an autoencoder of clips for tests: a small random network that keeps a
// person near the rest pose and moves it ahead. Except for the skeleton, nothing here is learned or
// copied from recordings.
package testlatent

import (
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/latent"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testgen"
	"mannequin/internal/testing/testnet"
	"mannequin/models/human"
	humanlatent "mannequin/models/human-latent"
	humannext "mannequin/models/human-next"
	"mannequin/netruntime"
)

// Sizes of the network.
const (
	Values   = 6 // latent values
	channels = 12
	width    = 5
)

// Speed is the person's approximate walking speed, m/s.
const Speed = 1.2

// Names are the names of the first components.
var Names = []string{"turn", "step", "lead"}

// Model returns the autoencoder. Its components are twice the latent values and have Names.
func Model(t testing.TB) *latent.Model {
	t.Helper()
	net := must.Get(human.Open())(t)
	was := net.Meta()
	p, differ := feature.ReadPerson(was.Schema, was.SchemaHash, was.Skeleton)
	if p == nil {
		t.Fatal(differ)
	}
	steps := make([][]float32, Values)
	for k := range steps {
		steps[k] = make([]float32, Values)
		steps[k][k] = 0.5
	}
	c := must.Get(latent.NewComponents(Names, make([]float32, Values), steps))(t)
	graph, tensors := network(testgen.Rest(p, Speed))
	meta := netruntime.Meta{Name: "made", Arch: "graph", Graph: graph}
	must.Do(t, latent.Describe(&meta, p, c))
	return must.Get(latent.NewModel(must.Get(netruntime.New(meta, tensors))(t)))(t)
}

// network returns a network whose frames stay near mean.
func network(mean []float32) (*netruntime.Graph, []netruntime.Tensor) {
	cols := len(mean)
	rng := rand.New(rand.NewPCG(3, 4))
	tensors := []netruntime.Tensor{{Name: "mean", Shape: []int{cols}, Data: mean}, testnet.Constant(0.05, "std", cols)}
	add := func(name string, scale float64, shape ...int) {
		tensors = append(tensors, testnet.Random(rng, scale, name, shape...))
	}
	shared := map[string]string{"mean": "mean", "std": "std"}
	nodes := []netruntime.Node{{Name: "normalised", Op: netruntime.OpNormalize, In: []string{latent.ValueX}, Tensors: shared}}
	from := "normalised"
	next := func(name, op, act string) {
		nodes, from = append(nodes, netruntime.Node{Name: name, Op: op, In: []string{from}, Act: act}), name
	}
	conv := func(name, act string, in, out, width int) {
		next(name, netruntime.OpConv, act)
		add(name+".weight", 1.5/math.Sqrt(float64(in*width)), out, in, width)
		add(name+".bias", 0.1, out)
	}
	in := cols
	for _, name := range []string{"a", "b", "c"} {
		conv(name, "relu", in, channels, width)
		next(name+"pool", netruntime.OpMaxPool, "")
		in = channels
	}
	conv("code", "", channels, 2*Values, latent.Coarse)
	half := func(name string, first int) netruntime.Node {
		n := netruntime.Node{Name: name, Op: netruntime.OpSelect, In: []string{"code"}}
		for i := range Values {
			n.Columns = append(n.Columns, first+i)
		}
		return n
	}
	nodes = append(nodes, half(latent.ValueMean, 0), half(latent.ValueLogVar, Values))
	from = latent.ValueZ
	next("start", netruntime.OpDense, "")
	add("start.weight", 4, channels, Values)
	add("start.bias", 0.5, channels)
	for _, name := range []string{"two", "four", "eight"} {
		next(name, netruntime.OpDepool, "")
	}
	conv("d", "", channels, channels, 2*latent.Coarse-1)
	for i, name := range []string{"e", "f", "g"} {
		next(name+"spread", netruntime.OpDepool, "")
		if i < 2 {
			conv(name, "relu", channels, channels, width)
		} else {
			conv(name, "", channels, cols, width)
		}
	}
	nodes = append(nodes, netruntime.Node{Name: latent.ValueY, Op: netruntime.OpDenormalize, In: []string{from}, Tensors: shared})
	return &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: latent.ValueX, Channels: cols}, {Name: latent.ValueZ, Channels: Values}}, Nodes: nodes,
		Outputs: []string{latent.ValueMean, latent.ValueLogVar, latent.ValueY},
	}, tensors
}

// Burst is the component that makes Next's answer not finite, if its value is beyond 2 deviations.
const Burst = Values - 1

// Next returns a network that predicts m's next clip: half of the last components, slightly mixed.
func Next(t testing.TB, m *latent.Model) *netruntime.Net {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	v := m.Values
	layer := func(name string, in, out int, scale float64) []netruntime.Tensor {
		return []netruntime.Tensor{testnet.Random(rng, scale, name+".weight", out, in, 1), testnet.Constant(0, name+".bias", out)}
	}
	first, last := layer("first", 3*v, 2*v+1, 0.1), layer("y", 2*v+1, v, 0.1)
	for k := range v { // x = relu(x) − relu(−x)
		first[0].Data[k*3*v+k], first[0].Data[(v+k)*3*v+k] = 1, -1
		last[0].Data[k*(2*v+1)+k], last[0].Data[k*(2*v+1)+v+k] = 0.5, -0.5
	}
	burst := first[0].Data[2*v*3*v:]
	clear(burst)
	burst[v+Burst], first[1].Data[2*v] = 3e38, -3e38
	for k := range v {
		last[0].Data[k*(2*v+1)+2*v] = 1
	}
	meta := netruntime.Meta{Name: "made-next", Arch: "graph", Graph: &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: "x", Channels: 3 * v}}, Outputs: []string{"y"},
		Nodes: []netruntime.Node{{Name: "first", Op: netruntime.OpConv, In: []string{"x"}, Act: "relu"}, {Name: "y", Op: netruntime.OpConv, In: []string{"first"}}}}}
	latent.DescribeNextClip(&meta, m.Net)
	return must.Get(netruntime.New(meta, append(first, last...)))(t)
}

// Shipped returns the shipped latent space, and the network that predicts its next clip.
func Shipped(t testing.TB) (*latent.Model, *netruntime.Net) {
	t.Helper()
	m := must.Get(latent.NewModel(must.Get(humanlatent.Open())(t)))(t)
	return m, must.Get(humannext.Open())(t)
}
