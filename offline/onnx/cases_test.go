package onnx

import (
	"fmt"
	"math/rand/v2"

	"mannequin/netruntime"
)

// testNet is a graph with random tensors.
type testNet struct {
	graph   netruntime.Graph
	tensors []netruntime.Tensor
	rng     *rand.Rand
}

// role returns a node's tensor, or nothing where it has none of that role.
func (n *testNet) role(node netruntime.Node, role string) array {
	name := node.Tensors[role]
	if name == "" {
		name = node.Name + "." + role
	}
	for _, t := range n.tensors {
		if t.Name == name {
			a := array{dims: t.Shape}
			for _, v := range t.Data {
				a.data = append(a.data, float64(v))
			}
			return a
		}
	}
	return array{}
}

func (n *testNet) byName() map[string]netruntime.Tensor {
	m := map[string]netruntime.Tensor{}
	for _, t := range n.tensors {
		m[t.Name] = t
	}
	return m
}

// tensor adds numbers around mean.
func (n *testNet) tensor(name string, mean, scale float64, shape ...int) {
	t := netruntime.Tensor{Name: name, Shape: shape, Data: make([]float32, size(shape))}
	for i := range t.Data {
		t.Data[i] = float32(mean + scale*(2*n.rng.Float64()-1))
	}
	n.tensors = append(n.tensors, t)
}

func (n *testNet) input(name string, channels int, once bool) {
	n.graph.Inputs = append(n.graph.Inputs, netruntime.Input{Name: name, Channels: channels, Once: once})
}

// add adds a node with tensors for its roles that are not named in Tensors: i
// and o are the channels before and after, k experts or taps.
func (n *testNet) add(node netruntime.Node, i, o, k int) {
	shape := map[string][]int{"weight": {o, i}, "recurrent": {4 * o, o}, "bias": {o}}
	switch {
	case node.Op == netruntime.OpBlend:
		shape["weight"], shape["bias"] = []int{k, o, i}, []int{k, o}
	case node.Op == netruntime.OpConv && node.Tied:
		shape["weight"] = []int{i, o, k}
	case node.Op == netruntime.OpConv:
		shape["weight"] = []int{o, i, k}
	case node.Op == netruntime.OpLSTM:
		shape["weight"], shape["bias"] = []int{4 * o, i}, []int{4 * o}
	case node.Tied:
		shape["weight"] = []int{i, o}
	}
	for _, role := range roles[node.Op] {
		if node.Tensors[role] != "" {
			continue
		}
		name, dims, mean := node.Name+"."+role, shape[role], 0.0
		if dims == nil {
			dims = []int{i}
		}
		if role == "var" || role == "std" {
			mean = 1.2
		}
		n.tensor(name, mean, 0.7, dims...)
		if role == "std" {
			n.tensors[len(n.tensors)-1].Data[0] = 0
		}
	}
	n.graph.Nodes = append(n.graph.Nodes, node)
}

// testCase is a network and the lengths of a run.
type testCase struct {
	name   string
	net    testNet
	length int
}

func cases() []testCase {
	type node = netruntime.Node
	const (
		dense, blend, conv, pool, depool = netruntime.OpDense, netruntime.OpBlend, netruntime.OpConv, netruntime.OpMaxPool, netruntime.OpDepool
		lstm, norm, act, softmax         = netruntime.OpLSTM, netruntime.OpBatchNorm, netruntime.OpAct, netruntime.OpSoftmax
		concat, sel, add                 = netruntime.OpConcat, netruntime.OpSelect, netruntime.OpAdd
		normalize, denormalize           = netruntime.OpNormalize, netruntime.OpDenormalize
	)
	var all []testCase
	try := func(name string, length int, outputs []string, build func(n *testNet)) {
		n := testNet{rng: rand.New(rand.NewPCG(7, uint64(len(all))))}
		build(&n)
		n.graph.Outputs = outputs
		all = append(all, testCase{name, n, length})
	}
	in := func(names ...string) []string { return names }
	for _, a := range []string{"", "elu", "relu", "sigmoid", "tanh"} {
		try("dense "+a, 1, in("y"), func(n *testNet) {
			n.input("x", 5, false)
			n.add(node{Name: "y", Op: dense, In: in("x"), Act: a}, 5, 3, 0)
		})
	}
	try("tied dense", 1, in("y"), func(n *testNet) {
		n.input("x", 5, false)
		n.add(node{Name: "h", Op: dense, In: in("x"), Act: "elu"}, 5, 3, 0)
		n.add(node{Name: "y", Op: dense, In: in("h"), Tied: true, Tensors: map[string]string{"weight": "h.weight"}}, 3, 5, 0)
	})
	// Frame by frame: the same nodes in a flat graph, and with frames between
	// convolutions, with a value in another layout.
	for _, time := range []bool{false, true} {
		for _, op := range []struct {
			name string
			out  int
			add  func(n *testNet)
		}{
			{"dense", 3, func(n *testNet) { n.add(node{Name: "y", Op: dense, In: in("a"), Act: "tanh"}, 4, 3, 0) }},
			{"tied dense", 3, func(n *testNet) { n.add(node{Name: "y", Op: dense, In: in("a"), Tied: true}, 4, 3, 0) }},
			{"blend", 3, func(n *testNet) {
				n.add(node{Name: "w", Op: softmax, In: in("b")}, 4, 4, 0)
				n.add(node{Name: "y", Op: blend, In: in("a", "w"), Act: "elu"}, 4, 3, 4)
			}},
			{"batch norm", 4, func(n *testNet) { n.add(node{Name: "y", Op: norm, In: in("a"), Act: "relu"}, 4, 4, 0) }},
			{"act", 4, func(n *testNet) { n.add(node{Name: "y", Op: act, In: in("a"), Act: "sigmoid"}, 4, 4, 0) }},
			{"softmax", 4, func(n *testNet) { n.add(node{Name: "y", Op: softmax, In: in("a")}, 4, 4, 0) }},
			{"concat", 12, func(n *testNet) { n.add(node{Name: "y", Op: concat, In: in("a", "b", "a")}, 4, 12, 0) }},
			{"select", 3, func(n *testNet) { n.add(node{Name: "y", Op: sel, In: in("a"), Columns: []int{3, 0, 3}}, 4, 3, 0) }},
			{"add", 4, func(n *testNet) { n.add(node{Name: "y", Op: add, In: in("a", "b", "a")}, 4, 4, 0) }},
			{"normalize", 4, func(n *testNet) { n.add(node{Name: "y", Op: normalize, In: in("a")}, 4, 4, 0) }},
			{"denormalize", 4, func(n *testNet) { n.add(node{Name: "y", Op: denormalize, In: in("a")}, 4, 4, 0) }},
		} {
			if !time {
				try(op.name, 1, in("y"), func(n *testNet) {
					n.input("a", 4, false)
					n.input("b", 4, false)
					op.add(n)
				})
				continue
			}
			try(op.name+" over time", 6, in("y", "z"), func(n *testNet) {
				n.input("x", 2, false)
				n.input("b", 4, false)
				n.add(node{Name: "a", Op: conv, In: in("x")}, 2, 4, 3)
				op.add(n)
				n.add(node{Name: "z", Op: conv, In: in("y")}, op.out, 2, 3)
			})
		}
	}
	for _, width := range []int{1, 2, 3, 4, 5} {
		for _, flip := range []bool{false, true} {
			for _, tied := range []bool{false, true} {
				name := fmt.Sprintf("conv %d flip %v tied %v", width, flip, tied)
				try(name, 6, in("y"), func(n *testNet) {
					n.input("x", 3, false)
					n.add(node{Name: "y", Op: conv, In: in("x"), Act: "relu", Flip: flip, Tied: tied}, 3, 2, width)
				})
				try(name+" after depool", 4, in("y", "z"), func(n *testNet) {
					n.input("x", 3, false)
					n.add(node{Name: "d", Op: depool, In: in("x")}, 3, 3, 0)
					n.add(node{Name: "y", Op: conv, In: in("d"), Act: "elu", Flip: flip, Tied: tied}, 3, 2, width)
					n.add(node{Name: "z", Op: pool, In: in("y")}, 2, 2, 0)
				})
			}
		}
	}
	try("autoencoder", 8, in("y"), func(n *testNet) {
		n.input("x", 5, false)
		n.add(node{Name: "xn", Op: normalize, In: in("x")}, 5, 5, 0)
		n.add(node{Name: "h", Op: conv, In: in("xn"), Act: "relu", Flip: true}, 5, 4, 7)
		n.add(node{Name: "p", Op: pool, In: in("h")}, 4, 4, 0)
		n.add(node{Name: "d", Op: depool, In: in("p")}, 4, 4, 0)
		n.add(node{Name: "z", Op: conv, In: in("d"), Tied: true, Tensors: map[string]string{"weight": "h.weight"}}, 4, 5, 7)
		n.add(node{Name: "y", Op: denormalize, In: in("z"), Tensors: map[string]string{"mean": "xn.mean", "std": "xn.std"}}, 5, 5, 0)
	})
	try("channels that are padded", 4, in("y"), func(n *testNet) {
		n.input("x", 19, false)
		n.add(node{Name: "h", Op: conv, In: in("x"), Tied: true}, 19, 17, 3)
		n.add(node{Name: "d", Op: depool, In: in("h")}, 17, 17, 0)
		n.add(node{Name: "y", Op: conv, In: in("d")}, 17, 2, 3)
	})
	try("one kernel in many roles", 4, in("y"), func(n *testNet) {
		n.input("x", 4, false)
		of := map[string]string{"weight": "k0.weight", "bias": "k0.bias"}
		convs := func(name, from string) (names []string) {
			for i := range 4 {
				c := node{Name: fmt.Sprint(name, i), Op: conv, In: in(from), Flip: i&1 > 0, Tied: i&2 > 0}
				if name != "k" || i > 0 {
					c.Tensors = of
				}
				n.add(c, 4, 4, 3)
				names = append(names, c.Name)
			}
			return names
		}
		n.add(node{Name: "h", Op: add, In: convs("k", "x")}, 4, 4, 0)
		n.add(node{Name: "d", Op: depool, In: in("h")}, 4, 4, 0)
		n.add(node{Name: "y", Op: concat, In: convs("l", "d")}, 4, 16, 0)
	})
	try("depooled twice, and put out", 3, in("d", "e", "y"), func(n *testNet) {
		n.input("x", 3, false)
		n.add(node{Name: "d", Op: depool, In: in("x")}, 3, 3, 0)
		n.add(node{Name: "e", Op: depool, In: in("d")}, 3, 3, 0)
		n.add(node{Name: "y", Op: conv, In: in("e")}, 3, 2, 5)
	})
	try("depooled by 5 and by 3", 2, in("e", "y"), func(n *testNet) {
		n.input("x", 3, false)
		n.add(node{Name: "d", Op: depool, In: in("x"), Factor: 5}, 3, 3, 0)
		n.add(node{Name: "h", Op: conv, In: in("d"), Act: "relu"}, 3, 4, 7)
		n.add(node{Name: "e", Op: depool, In: in("h"), Factor: 3}, 4, 4, 0)
		n.add(node{Name: "y", Op: conv, In: in("e"), Flip: true}, 4, 2, 9)
	})
	try("half of three times the frames", 4, in("y"), func(n *testNet) {
		n.input("x", 3, false)
		n.add(node{Name: "d", Op: depool, In: in("x"), Factor: 3}, 3, 3, 0)
		n.add(node{Name: "p", Op: pool, In: in("d")}, 3, 3, 0)
		n.add(node{Name: "y", Op: conv, In: in("p")}, 3, 2, 3)
	})
	for _, reverse := range []bool{false, true} {
		try(fmt.Sprintf("lstm reverse %v", reverse), 5, in("y", "y.h", "y.c"), func(n *testNet) {
			n.input("x", 3, false)
			n.input("h0", 4, true)
			n.input("c0", 4, true)
			n.add(node{Name: "y", Op: lstm, In: in("x", "h0", "c0"), Reverse: reverse}, 3, 4, 0)
		})
		try(fmt.Sprintf("lstm from rest, reverse %v", reverse), 5, in("y"), func(n *testNet) {
			n.input("x", 3, false)
			n.add(node{Name: "y", Op: lstm, In: in("x"), Reverse: reverse}, 3, 4, 0)
		})
	}
	try("lstms", 6, in("y", "s"), func(n *testNet) {
		n.input("x", 3, false)
		n.add(node{Name: "c", Op: conv, In: in("x")}, 3, 3, 3)
		n.add(node{Name: "f", Op: lstm, In: in("c")}, 3, 4, 0)
		n.add(node{Name: "b", Op: lstm, In: in("c"), Reverse: true}, 3, 4, 0)
		n.add(node{Name: "fb", Op: concat, In: in("f", "b")}, 4, 8, 0)
		n.add(node{Name: "g", Op: lstm, In: in("fb", "f.h", "b.c")}, 8, 4, 0)
		n.add(node{Name: "y", Op: conv, In: in("g")}, 4, 2, 3)
		n.add(node{Name: "s", Op: add, In: in("f.h", "g.h")}, 4, 4, 0)
	})
	try("a deviation of 0 that is also a bias", 1, in("y"), func(n *testNet) {
		n.input("x", 3, false)
		n.add(node{Name: "n", Op: normalize, In: in("x")}, 3, 3, 0)
		n.add(node{Name: "y", Op: dense, In: in("n"), Tensors: map[string]string{"bias": "n.std"}}, 3, 3, 0)
	})
	try("names that the exporter would take", 4, in("y.product", "y"), func(n *testNet) {
		n.input("x", 3, false)
		n.add(node{Name: "y.product", Op: conv, In: in("x")}, 3, 3, 1)
		n.add(node{Name: "y", Op: dense, In: in("y.product")}, 3, 3, 0)
	})
	return all
}

// inputs returns random values for every input.
func (c *testCase) inputs(batch int) map[string]array {
	out := map[string]array{}
	for _, in := range c.net.graph.Inputs {
		length := c.length
		if in.Once {
			length = 1
		}
		a := zeros(batch, length, in.Channels)
		for i := range a.data {
			a.data[i] = float64(float32(2*c.net.rng.Float64() - 1))
		}
		out[in.Name] = a
	}
	return out
}
