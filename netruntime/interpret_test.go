package netruntime

import (
	"math"
	"slices"
)

// array is a value (batch, length, channels) of the reference interpreter.
type array struct {
	batch, length, channels int
	data                    []float64
}

func newArray(batch, length, channels int) array {
	return array{batch, length, channels, make([]float64, batch*length*channels)}
}

// at returns the channels of a frame, or zeros outside the sequence.
func (a array) at(b, t int) []float64 {
	if t < 0 || t >= a.length {
		return make([]float64, a.channels)
	}
	return a.data[(b*a.length+t)*a.channels:][:a.channels]
}

// each returns an array of f(frame).
func (a array) each(channels int, f func(b, t int, dst, x []float64)) array {
	out := newArray(a.batch, a.length, channels)
	for b := range a.batch {
		for t := range a.length {
			f(b, t, out.at(b, t), a.at(b, t))
		}
	}
	return out
}

func activated(act string, v float64) float64 {
	switch act {
	case "elu":
		if v > 0 {
			return v
		}
		return math.Expm1(v)
	case "relu":
		if v < 0 {
			return 0
		}
	case "sigmoid":
		return 1 / (1 + math.Exp(-v))
	case "tanh":
		return math.Tanh(v)
	}
	return v
}

// interpret computes a graph in float64, operation by operation, by the comments of the constants.
// It is slow and shares nothing with the executor.
func interpret(n *Net, in [][]float32, batch, length int) [][]float64 {
	g := n.Graph()
	tensors := map[string]Tensor{}
	for _, t := range n.Tensors() {
		tensors[t.Name] = t
	}
	values := map[string]array{}
	for i, x := range g.Inputs {
		l := length
		if x.Once {
			l = 1
		}
		a := newArray(batch, l, x.Channels)
		for j := range a.data {
			a.data[j] = float64(in[i][j])
		}
		values[x.Name] = a
	}
	for i := range g.Nodes {
		node := &g.Nodes[i]
		tensor := func(role string) Tensor {
			t, ok := tensors[node.Tensor(role)]
			if !ok {
				panic(role)
			}
			return t
		}
		var x []array
		for _, name := range node.In {
			x = append(x, values[name])
		}
		for name, v := range interpretNode(node, tensor, x) {
			values[node.Name+name] = v
		}
	}
	var out [][]float64
	for _, name := range g.Outputs {
		out = append(out, values[name].data)
	}
	return out
}

// interpretNode returns the node's results by the suffix of their names.
func interpretNode(n *Node, tensor func(role string) Tensor, in []array) map[string]array {
	x := in[0]
	one := func(a array) map[string]array { return map[string]array{"": a} }
	var last string
	var t Tensor
	at := func(role string, i ...int) float64 {
		if role != last {
			last, t = role, tensor(role)
		}
		j := 0
		for axis, k := range i {
			j = j*t.Shape[axis] + k
		}
		return float64(t.Data[j])
	}
	deviation := func(c int) float64 {
		if s := at("std", c); s != 0 {
			return s
		}
		return 1
	}
	switch n.Op {
	case OpDense:
		weight := func(o, i int) float64 { return at("weight", o, i) }
		if n.Tied {
			weight = func(o, i int) float64 { return at("weight", i, o) }
		}
		return one(x.each(len(tensor("bias").Data), func(_, _ int, y, x []float64) {
			for o := range y {
				y[o] = at("bias", o)
				for i, v := range x {
					y[o] += weight(o, i) * v
				}
				y[o] = activated(n.Act, y[o])
			}
		}))
	case OpBlend:
		omega := in[1]
		return one(x.each(tensor("bias").Shape[1], func(b, t int, y, x []float64) {
			for o := range y {
				for k, w := range omega.at(b, t) {
					sum := at("bias", k, o)
					for i, v := range x {
						sum += at("weight", k, o, i) * v
					}
					y[o] += w * sum
				}
				y[o] = activated(n.Act, y[o])
			}
		}))
	case OpConv:
		width := tensor("weight").Shape[2]
		weight := func(o, i, w int) float64 {
			if n.Flip {
				w = width - 1 - w
			}
			if n.Tied {
				o, i = i, o
			}
			return at("weight", o, i, w)
		}
		return one(x.each(len(tensor("bias").Data), func(b, t int, y, _ []float64) {
			for o := range y {
				y[o] = at("bias", o)
				for w := range width {
					for i, v := range x.at(b, t+w-(width-1)/2) {
						y[o] += weight(o, i, w) * v
					}
				}
				y[o] = activated(n.Act, y[o])
			}
		}))
	case OpMaxPool:
		y := newArray(x.batch, x.length/2, x.channels)
		for b := range y.batch {
			for t := range y.length {
				for c := range y.channels {
					y.at(b, t)[c] = max(x.at(b, 2*t)[c], x.at(b, 2*t+1)[c])
				}
			}
		}
		return one(y)
	case OpDepool:
		y := newArray(x.batch, n.Times()*x.length, x.channels)
		for b := range y.batch {
			for t := range y.length {
				for c := range y.channels {
					y.at(b, t)[c] = x.at(b, t/n.Times())[c] / float64(n.Times())
				}
			}
		}
		return one(y)
	case OpLSTM:
		return interpretLSTM(n, len(tensor("bias").Data)/4, at, in)
	case OpBatchNorm:
		return one(x.each(x.channels, func(_, _ int, y, x []float64) {
			for c, v := range x {
				y[c] = activated(n.Act, (v-at("mean", c))/math.Sqrt(at("var", c)+1e-5)*at("gamma", c)+at("beta", c))
			}
		}))
	case OpAct:
		return one(x.each(x.channels, func(_, _ int, y, x []float64) {
			for c, v := range x {
				y[c] = activated(n.Act, v)
			}
		}))
	case OpSoftmax:
		return one(x.each(x.channels, func(_, _ int, y, x []float64) {
			top, sum := slices.Max(x), 0.0
			for _, v := range x {
				sum += math.Exp(v - top)
			}
			for c, v := range x {
				y[c] = math.Exp(v-top) / sum
			}
		}))
	case OpConcat:
		channels := 0
		for _, a := range in {
			channels += a.channels
		}
		return one(x.each(channels, func(b, t int, y, _ []float64) {
			for _, a := range in {
				y = y[copy(y, a.at(b, t)):]
			}
		}))
	case OpSelect:
		return one(x.each(len(n.Columns), func(_, _ int, y, x []float64) {
			for i, c := range n.Columns {
				y[i] = x[c]
			}
		}))
	case OpAdd:
		return one(x.each(x.channels, func(b, t int, y, _ []float64) {
			for _, a := range in {
				for c, v := range a.at(b, t) {
					y[c] += v
				}
			}
		}))
	case OpNormalize:
		return one(x.each(x.channels, func(_, _ int, y, x []float64) {
			for c, v := range x {
				y[c] = (v - at("mean", c)) / deviation(c)
			}
		}))
	case OpDenormalize:
		return one(x.each(x.channels, func(_, _ int, y, x []float64) {
			for c, v := range x {
				y[c] = v*deviation(c) + at("mean", c)
			}
		}))
	}
	panic(n.Op)
}

func interpretLSTM(n *Node, units int, at func(role string, i ...int) float64, in []array) map[string]array {
	x := in[0]
	seq, lastH, lastC := newArray(x.batch, x.length, units), newArray(x.batch, 1, units), newArray(x.batch, 1, units)
	for b := range x.batch {
		h, c := make([]float64, units), make([]float64, units)
		if len(in) == 3 {
			copy(h, in[1].at(b, 0))
			copy(c, in[2].at(b, 0))
		}
		for step := range x.length {
			t := step
			if n.Reverse {
				t = x.length - 1 - step
			}
			gates := make([]float64, 4*units)
			for g := range gates {
				gates[g] = at("bias", g)
				for i, v := range x.at(b, t) {
					gates[g] += at("weight", g, i) * v
				}
				for i, v := range h {
					gates[g] += at("recurrent", g, i) * v
				}
			}
			next := make([]float64, units)
			for u := range units {
				i, f, g, o := gates[u], gates[units+u], gates[2*units+u], gates[3*units+u]
				c[u] = activated("sigmoid", f)*c[u] + activated("sigmoid", i)*math.Tanh(g)
				next[u] = activated("sigmoid", o) * math.Tanh(c[u])
			}
			h = next
			copy(seq.at(b, t), h)
		}
		copy(lastH.at(b, 0), h)
		copy(lastC.at(b, 0), c)
	}
	return map[string]array{"": seq, ".h": lastH, ".c": lastC}
}
