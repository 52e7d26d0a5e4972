package latent

import (
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// person returns a skeleton with the layout's joints, each a child of the one before at 10 cm.
func person(t testing.TB) *feature.Person {
	t.Helper()
	layout, sk := feature.Human(), &skel.Skeleton{}
	for i, name := range layout.Joints {
		sk.Names = append(sk.Names, name)
		sk.Parents = append(sk.Parents, int16(i-1))
		sk.Offsets = append(sk.Offsets, m3.V(0.02*float32(i%3), 0.1, 0))
		sk.EndSite = append(sk.EndSite, false)
	}
	p := must.Get(feature.NewPerson(layout, sk))(t)
	return p
}

// Sizes of the made-up network.
const values, channels, width = 6, 12, 5

// parts returns the metadata and tensors of a model file.
func parts(t testing.TB) (netruntime.Meta, []netruntime.Tensor) {
	t.Helper()
	p := person(t)
	cols := p.Layout.Columns()
	rng := rand.New(rand.NewPCG(3, 4))
	var tensors []netruntime.Tensor
	add := func(name string, scale float64, shape ...int) {
		n := 1
		for _, s := range shape {
			n *= s
		}
		d := make([]float32, n)
		for i := range d {
			d[i] = float32(scale * rng.NormFloat64())
		}
		tensors = append(tensors, netruntime.Tensor{Name: name, Shape: shape, Data: d})
	}
	fill := func(name string, v float32) {
		d := make([]float32, cols)
		for i := range d {
			d[i] = v + 0.01*float32(i%7)
		}
		tensors = append(tensors, netruntime.Tensor{Name: name, Shape: []int{cols}, Data: d})
	}
	fill("mean", 0.3)
	fill("std", 0.1)
	shared := map[string]string{"mean": "mean", "std": "std"}
	nodes := []netruntime.Node{{Name: "normalised", Op: netruntime.OpNormalize, In: []string{ValueX}, Tensors: shared}}
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
	conv("code", "", channels, 2*values, Coarse)
	half := func(name string, first int) netruntime.Node {
		n := netruntime.Node{Name: name, Op: netruntime.OpSelect, In: []string{"code"}}
		for i := range values {
			n.Columns = append(n.Columns, first+i)
		}
		return n
	}
	nodes = append(nodes, half(ValueMean, 0), half(ValueLogVar, values))
	from = ValueZ
	next("start", netruntime.OpDense, "")
	add("start.weight", 20, channels, values)
	add("start.bias", 0.5, channels)
	for _, name := range []string{"two", "four", "eight"} {
		next(name, netruntime.OpDepool, "")
	}
	conv("d", "", channels, channels, 2*Coarse-1)
	for i, name := range []string{"e", "f", "g"} {
		next(name+"spread", netruntime.OpDepool, "")
		if i < 2 {
			conv(name, "relu", channels, channels, width)
		} else {
			conv(name, "", channels, cols, width)
		}
	}
	nodes = append(nodes, netruntime.Node{Name: ValueY, Op: netruntime.OpDenormalize, In: []string{from}, Tensors: shared})
	meta := netruntime.Meta{Name: "made", Arch: "graph", Graph: &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: ValueX, Channels: cols}, {Name: ValueZ, Channels: values}}, Nodes: nodes,
		Outputs: []string{ValueMean, ValueLogVar, ValueY}}}
	must.Do(t, Describe(&meta, p, oblique(t)))
	return meta, tensors
}

// oblique returns components that are neither orthogonal nor of length 1.
func oblique(t testing.TB) *Components {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	mean, steps := make([]float32, values), make([][]float32, values)
	for k := range steps {
		mean[k] = float32(rng.NormFloat64())
		steps[k] = make([]float32, values)
		for i := range steps[k] {
			steps[k][i] = float32(0.3 * rng.NormFloat64())
		}
		steps[k][k]++
	}
	c := must.Get(NewComponents([]string{"turn", "step"}, mean, steps))(t)
	return c
}

func made(t testing.TB) *Model {
	t.Helper()
	net := must.Get(netruntime.New(parts(t)))(t)
	m := must.Get(NewModel(net))(t)
	return m
}

func coder(t testing.TB, m *Model, batch, workers int) *Coder {
	t.Helper()
	c := must.Get(m.NewCoder(CoderOptions{Batch: batch, Workers: workers}))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

// noise returns n normally distributed values.
func noise(n int, seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}
