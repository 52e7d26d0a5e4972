package recipes

import (
	"fmt"
	"slices"

	"mannequin/netruntime"
	"mannequin/netruntime/grad"
)

// unet is a U-Net over time (Ronneberger et al. 2015): convolutions at full, half and quarter rate
// and back. The values on the way up are joined with the values of that rate on the way down. At 30
// frames per second a frame sees half a second before and after it, in more detail near than far.
type unet struct {
	in          convNet // at full rate: from the inputs
	half, quart convNet
	up, out     convNet // back at half and at full rate
}

// newUNet draws the weights.
func newUNet(inputs int, channels [3]int, outputs int, seed uint64) *unet {
	a, b, c := channels[0], channels[1], channels[2]
	draw := func(name string, channels, widths []int) convNet {
		seed = grad.Hash(seed, 1)
		return newConvNet(channels, widths, seed).named(name)
	}
	n := &unet{
		in:    draw("full", []int{inputs, a, a}, []int{3, 5}),
		half:  draw("half", []int{a, b}, []int{5}),
		quart: draw("quarter", []int{b, c, c}, []int{5, 5}),
		up:    draw("up", []int{c + b, b}, []int{5}),
		out:   draw("out", []int{b + a, a, outputs}, []int{3, 1}),
	}
	last := n.out[1].w.Val
	for i := range last {
		last[i] *= 0.1 // the first corrections are small
	}
	return n
}

func (n *unet) stacks() []convNet { return []convNet{n.in, n.half, n.quart, n.up, n.out} }

func (n *unet) params() (out []*grad.Param) {
	for _, s := range n.stacks() {
		out = append(out, s.params()...)
	}
	return out
}

// load copies the weights of a model file of the same form, and returns its normalisation.
func (n *unet) load(from *netruntime.Net) (*norm, error) {
	for _, s := range n.stacks() {
		if err := s.copyTensors(from); err != nil {
			return nil, err
		}
	}
	f := &norm{}
	for _, v := range []struct {
		name string
		to   *[]float32
		n    int
	}{
		{"normalised.mean", &f.mean, n.in[0].in}, {"normalised.std", &f.std, n.in[0].in}, {"y.std", &f.out, n.out[1].out},
	} {
		t, _ := from.Tensor(v.name)
		if len(t.Data) != v.n {
			return nil, fmt.Errorf("recipes: model %q has %d values in %q, want %d", from.Meta().Name, len(t.Data), v.name, v.n)
		}
		*v.to = slices.Clone(t.Data)
	}
	return f, nil
}

// forward runs the network on x, (batch·length, inputs), length a multiple of 4.
func (n *unet) forward(t *grad.Tape, x *grad.Mat, length int, keep float32, key uint64) *grad.Mat {
	run := func(s convNet, x *grad.Mat, length int) *grad.Mat {
		return s.forward(t, x, length, 1, 0)
	}
	full := t.ReLU(run(n.in, x, length))
	half := t.ReLU(run(n.half, t.MaxPool(full, length), length/2))
	quarter := t.ReLU(run(n.quart, t.MaxPool(half, length/2), length/4))
	quarter = t.Dropout(quarter, keep, grad.Hash(key, 11))
	half = t.ReLU(run(n.up, t.Concat(t.Depool(quarter, 2, false, 0), half), length/2))
	half = t.Dropout(half, keep, grad.Hash(key, 12))
	return run(n.out, t.Concat(t.Depool(half, 2, false, 0), full), length)
}

// nodes returns the operations of a model file. The input has the name from, the
// output the name to.
func (n *unet) nodes(from, to string) (nodes []netruntime.Node) {
	add := func(name, op string, in ...string) string {
		nodes = append(nodes, node(name, op, in...))
		return name
	}
	stack := func(s convNet, from, act string) string {
		nodes = append(nodes, s.nodes(from, "relu", act)...)
		return s.last()
	}
	full := stack(n.in, from, "relu")
	half := stack(n.half, add("half.pool", netruntime.OpMaxPool, full), "relu")
	quarter := stack(n.quart, add("quarter.pool", netruntime.OpMaxPool, half), "relu")
	half = stack(n.up, add("up.join", netruntime.OpConcat, add("up.spread", netruntime.OpDepool, quarter), half), "relu")
	stack(n.out, add("out.join", netruntime.OpConcat, add("out.spread", netruntime.OpDepool, half), full), "")
	nodes[len(nodes)-1].Name = to
	nodes[len(nodes)-1].Tensors = map[string]string{"weight": n.out.last() + ".weight", "bias": n.out.last() + ".bias"}
	return nodes
}

// tensors returns weights, in the order of params, as a model file holds them.
func (n *unet) tensors(weights [][]float32) (out []netruntime.Tensor) {
	for _, s := range n.stacks() {
		k := 2 * len(s)
		out = append(out, s.tensors(weights[:k])...)
		weights = weights[k:]
	}
	return out
}
