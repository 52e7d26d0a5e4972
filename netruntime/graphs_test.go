package netruntime

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// maker writes graphs with random tensors.
type maker struct {
	g        Graph
	tensors  []Tensor
	channels map[string]int
	r        *rand.Rand
}

func newMaker(seed uint64) *maker {
	return &maker{channels: map[string]int{}, r: rand.New(rand.NewPCG(seed, 3))}
}

func (m *maker) input(name string, channels int, once bool) string {
	m.g.Inputs = append(m.g.Inputs, Input{name, channels, once})
	m.channels[name] = channels
	return name
}

// tensor adds a tensor unless it exists, and returns its name.
func (m *maker) tensor(name string, scale, offset float64, shape ...int) string {
	for _, t := range m.tensors {
		if t.Name == name {
			return name
		}
	}
	n := 1
	for _, d := range shape {
		n *= d
	}
	t := Tensor{Name: name, Shape: shape, Data: make([]float32, n)}
	for i := range t.Data {
		v := m.r.NormFloat64()
		if offset > 0 {
			v = math.Abs(v)
		}
		t.Data[i] = float32(offset + scale*v)
	}
	m.tensors = append(m.tensors, t)
	return name
}

// node adds a node and its tensors. out is the number of channels of a product's or an LSTM's
// result, width the width of a convolution.
func (m *maker) node(n Node, out, width int) string {
	if n.Name == "" {
		n.Name = fmt.Sprintf("n%d", len(m.g.Nodes))
	}
	in := m.channels[n.In[0]]
	shape := func(s ...int) []int {
		if n.Tied {
			s[0], s[1] = s[1], s[0]
		}
		return s
	}
	name := func(role string) string {
		if s, ok := n.Tensors[role]; ok {
			return s
		}
		return n.Name + "." + role
	}
	fan := func(n int) float64 { return 1.2 / math.Sqrt(float64(n)) }
	switch n.Op {
	case OpDense:
		m.tensor(name("weight"), fan(in), 0, shape(out, in)...)
		m.tensor(name("bias"), 0.2, 0, out)
	case OpBlend:
		k := m.channels[n.In[1]]
		m.tensor(name("weight"), fan(in), 0, k, out, in)
		m.tensor(name("bias"), 0.2, 0, k, out)
	case OpConv:
		m.tensor(name("weight"), fan(in*width), 0, shape(out, in, width)...)
		m.tensor(name("bias"), 0.2, 0, out)
	case OpLSTM:
		m.tensor(name("weight"), fan(in), 0, 4*out, in)
		m.tensor(name("recurrent"), fan(out), 0, 4*out, out)
		m.tensor(name("bias"), 0.2, 0, 4*out)
		m.channels[n.Name+".h"], m.channels[n.Name+".c"] = out, out
	case OpBatchNorm:
		m.tensor(name("gamma"), 0.5, 0, in)
		m.tensor(name("beta"), 0.5, 0, in)
		m.tensor(name("mean"), 0.5, 0, in)
		m.tensor(name("var"), 0.5, 0.3, in)
	case OpNormalize, OpDenormalize:
		m.tensor(name("mean"), 0.5, 0, in)
		m.tensor(name("std"), 0.5, 0.3, in)
	}
	switch n.Op {
	case OpDense, OpBlend, OpConv, OpLSTM:
	case OpSelect:
		out = len(n.Columns)
	case OpConcat:
		out = 0
		for _, x := range n.In {
			out += m.channels[x]
		}
	default:
		out = in
	}
	m.channels[n.Name] = out
	m.g.Nodes = append(m.g.Nodes, n)
	return n.Name
}

func (m *maker) net(outputs ...string) *Net {
	m.g.Outputs = outputs
	n, err := New(Meta{Name: "test", Arch: "graph", Graph: &m.g}, m.tensors)
	if err != nil {
		panic(err)
	}
	return n
}

// graphCase is a network that the tests run.
type graphCase struct {
	name   string
	net    *Net
	factor int // lengths are multiples of it
}

// graphCases covers every operation, option and fusion, light and heavy (HeavyWeights and more),
// with odd sizes.
func graphCases() []graphCase {
	var cases []graphCase
	add := func(name string, factor int, f func(m *maker) []string) {
		m := newMaker(uint64(len(cases)))
		cases = append(cases, graphCase{name, m.net(f(m)...), factor})
	}
	x := func(m *maker, channels int) string { return m.input("x", channels, false) }
	add("dense", 1, func(m *maker) []string {
		a := m.node(Node{Op: OpDense, In: []string{x(m, 131)}, Act: "tanh"}, 257, 0)
		return []string{m.node(Node{Op: OpDense, In: []string{a}, Act: "relu"}, 7, 0), a}
	})
	add("tied dense", 1, func(m *maker) []string {
		a := m.node(Node{Op: OpDense, In: []string{x(m, 9)}, Act: "sigmoid", Tensors: map[string]string{"weight": "shared"}}, 21, 0)
		return []string{m.node(Node{Op: OpDense, In: []string{a}, Tied: true, Tensors: map[string]string{"weight": "shared"}}, 9, 0)}
	})
	add("blend", 1, func(m *maker) []string {
		n := m.node(Node{Op: OpNormalize, In: []string{x(m, 45)}}, 0, 0)
		s := m.node(Node{Op: OpSelect, In: []string{n}, Columns: []int{4, 0, 44, 4}}, 0, 0)
		w := m.node(Node{Op: OpSoftmax, In: []string{m.node(Node{Op: OpDense, In: []string{s}}, 5, 0)}}, 0, 0)
		a := m.node(Node{Op: OpBlend, In: []string{n, w}, Act: "elu"}, 151, 0)
		b := m.node(Node{Op: OpBlend, In: []string{a, w}}, 50, 0)
		return []string{m.node(Node{Op: OpDenormalize, In: []string{b}}, 0, 0), w}
	})
	for _, width := range []int{1, 2, 5, 8} {
		add("conv", 1, func(m *maker) []string {
			a := m.node(Node{Op: OpConv, In: []string{x(m, 3)}, Act: "relu"}, 5, width)
			return []string{m.node(Node{Op: OpConv, In: []string{a}, Flip: true}, 4, width)}
		})
		add("autoencoder", 2, func(m *maker) []string {
			shared := map[string]string{"weight": "shared"}
			a := m.node(Node{Op: OpConv, In: []string{x(m, 11)}, Act: "relu", Tensors: shared}, 13, width)
			p := m.node(Node{Op: OpMaxPool, In: []string{a}}, 0, 0)
			u := m.node(Node{Op: OpDepool, In: []string{p}}, 0, 0)
			return []string{m.node(Node{Op: OpConv, In: []string{u}, Tied: true, Flip: true, Tensors: shared}, 11, width), p}
		})
	}
	add("heavy autoencoder", 2, func(m *maker) []string {
		a := m.node(Node{Op: OpConv, In: []string{x(m, 37)}, Act: "relu"}, 101, 9)
		p := m.node(Node{Op: OpMaxPool, In: []string{a}}, 0, 0)
		u := m.node(Node{Op: OpDepool, In: []string{p}}, 0, 0)
		c := m.node(Node{Op: OpConv, In: []string{u}}, 37, 9)
		return []string{m.node(Node{Op: OpDenormalize, In: []string{c}}, 0, 0)}
	})
	add("depool read twice", 1, func(m *maker) []string {
		u := m.node(Node{Op: OpDepool, In: []string{x(m, 6)}}, 0, 0)
		a := m.node(Node{Op: OpConv, In: []string{u}}, 6, 3)
		b := m.node(Node{Op: OpConv, In: []string{u}, Act: "tanh"}, 6, 6)
		s := m.node(Node{Op: OpAdd, In: []string{a, b}}, 0, 0)
		v := m.node(Node{Op: OpDepool, In: []string{s}}, 0, 0)
		d := m.node(Node{Op: OpConv, In: []string{v}}, 2, 3)
		return []string{d, m.node(Node{Op: OpAct, Act: "elu", In: []string{v}}, 0, 0), v}
	})
	add("batch norm", 1, func(m *maker) []string {
		a := m.node(Node{Op: OpDense, In: []string{x(m, 8)}}, 9, 0)
		b := m.node(Node{Op: OpBatchNorm, In: []string{a}, Act: "elu"}, 0, 0)
		c := m.node(Node{Op: OpDense, In: []string{b}, Act: "tanh"}, 7, 0)
		d := m.node(Node{Op: OpBatchNorm, In: []string{c}}, 0, 0)
		e := m.node(Node{Op: OpConv, In: []string{d}}, 6, 3)
		f := m.node(Node{Op: OpBatchNorm, In: []string{e}}, 0, 0)
		u := m.node(Node{Op: OpDepool, In: []string{f}}, 0, 0)
		h := m.node(Node{Op: OpConv, In: []string{u}}, 5, 4)
		i := m.node(Node{Op: OpBatchNorm, In: []string{h}, Act: "sigmoid"}, 0, 0)
		return []string{m.node(Node{Op: OpBatchNorm, In: []string{i}}, 0, 0), a, b}
	})
	add("lstm", 1, func(m *maker) []string {
		a := m.node(Node{Op: OpLSTM, In: []string{x(m, 7)}}, 9, 0)
		b := m.node(Node{Op: OpLSTM, In: []string{a}, Reverse: true}, 5, 0)
		return []string{b, a + ".h", b + ".c"}
	})
	add("heavy lstm", 1, func(m *maker) []string {
		x := x(m, 60)
		h, c := m.input("h", 83, true), m.input("c", 83, true)
		a := m.node(Node{Op: OpLSTM, In: []string{x, h, c}}, 83, 0)
		b := m.node(Node{Op: OpLSTM, In: []string{a, a + ".h", a + ".c"}, Reverse: true}, 83, 0)
		d := m.node(Node{Op: OpConv, In: []string{b}}, 3, 3)
		return []string{d, b + ".h", b + ".c", a + ".h"}
	})
	add("groups", 1, func(m *maker) []string {
		x := x(m, 20)
		l := m.node(Node{Op: OpDense, In: []string{m.node(Node{Op: OpSelect, In: []string{x}, Columns: []int{0, 2, 4}}, 0, 0)}, Act: "elu"}, 6, 0)
		r := m.node(Node{Op: OpConv, In: []string{m.node(Node{Op: OpSelect, In: []string{x}, Columns: []int{19, 3}}, 0, 0)}}, 5, 3)
		j := m.node(Node{Op: OpConcat, In: []string{l, r, x}}, 0, 0)
		d := m.node(Node{Op: OpDense, In: []string{j}}, 31, 0)
		s := m.node(Node{Op: OpAdd, In: []string{d, j, d}}, 0, 0)
		return []string{s, x, m.node(Node{Op: OpAdd, In: []string{s}}, 0, 0)}
	})
	add("padded outputs", 1, func(m *maker) []string {
		x := x(m, 4)
		a := m.node(Node{Op: OpSoftmax, In: []string{x}}, 0, 0)
		b := m.node(Node{Op: OpConv, In: []string{a}}, 4, 5)
		l := m.node(Node{Op: OpLSTM, In: []string{b}}, 6, 0)
		c := m.node(Node{Op: OpConv, In: []string{l}, Act: "relu"}, 150, 5)
		d := m.node(Node{Op: OpConv, In: []string{c}}, 80, 3)
		e := m.node(Node{Op: OpConv, In: []string{x}}, 4, 5)
		return []string{a, l, d, e, x}
	})
	return cases
}
