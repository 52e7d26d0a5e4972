package onnx

import (
	"math"
	"slices"

	"mannequin/netruntime"
)

// twin computes a graph in float64 as netruntime's operations are defined.
// Values are (batch, length, channels).
func (n *testNet) twin(inputs map[string]array) map[string]array {
	v := map[string]array{}
	for name, a := range inputs {
		v[name] = a
	}
	for _, node := range n.graph.Nodes {
		x := v[node.In[0]]
		batch, length, ch := x.dims[0], x.dims[1], x.dims[2]
		act := func(a array) array {
			return a.apply(map[string]func(float64) float64{
				"":     func(v float64) float64 { return v },
				"elu":  func(v float64) float64 { return math.Max(v, math.Expm1(math.Min(v, 0))) },
				"relu": func(v float64) float64 { return math.Max(v, 0) }, "sigmoid": sigmoid, "tanh": math.Tanh,
			}[node.Act])
		}
		fill := func(length, channels int, f func(b, t, c int) float64) array {
			out := zeros(batch, length, channels)
			for i := range out.data {
				out.data[i] = f(i/channels/length, i/channels%length, i%channels)
			}
			return act(out)
		}
		weight, bias := n.role(node, "weight"), n.role(node, "bias")
		var y array
		switch node.Op {
		case netruntime.OpDense:
			w := func(o, i int) float64 { return weight.get(o, i) }
			outs := len(bias.data)
			if node.Tied {
				w = func(o, i int) float64 { return weight.get(i, o) }
			}
			y = fill(length, outs, func(b, t, o int) float64 {
				sum := bias.data[o]
				for i := range ch {
					sum += w(o, i) * x.get(b, t, i)
				}
				return sum
			})
		case netruntime.OpBlend:
			omega := v[node.In[1]]
			y = fill(length, bias.dims[1], func(b, t, o int) float64 {
				sum := 0.0
				for k := range bias.dims[0] {
					z := bias.get(k, o)
					for i := range ch {
						z += weight.get(k, o, i) * x.get(b, t, i)
					}
					sum += omega.get(b, t, k) * z
				}
				return sum
			})
		case netruntime.OpConv:
			width := weight.dims[2]
			y = fill(length, len(bias.data), func(b, t, o int) float64 {
				sum := bias.data[o]
				for w := range width {
					s, tap := t+w-(width-1)/2, w
					if s < 0 || s >= length {
						continue
					}
					if node.Flip {
						tap = width - 1 - w
					}
					for i := range ch {
						if node.Tied {
							sum += weight.get(i, o, tap) * x.get(b, s, i)
						} else {
							sum += weight.get(o, i, tap) * x.get(b, s, i)
						}
					}
				}
				return sum
			})
		case netruntime.OpMaxPool:
			y = fill(length/2, ch, func(b, t, c int) float64 { return math.Max(x.get(b, 2*t, c), x.get(b, 2*t+1, c)) })
		case netruntime.OpDepool:
			by := node.Times()
			y = fill(by*length, ch, func(b, t, c int) float64 { return x.get(b, t/by, c) / float64(by) })
		case netruntime.OpLSTM:
			y = n.twinLSTM(node, v)
		case netruntime.OpBatchNorm:
			gamma, beta, mean, variance := n.role(node, "gamma"), n.role(node, "beta"), n.role(node, "mean"), n.role(node, "var")
			y = fill(length, ch, func(b, t, c int) float64 {
				return (x.get(b, t, c)-mean.data[c])/math.Sqrt(variance.data[c]+1e-5)*gamma.data[c] + beta.data[c]
			})
		case netruntime.OpAct:
			y = act(x)
		case netruntime.OpSoftmax:
			y = fill(length, ch, func(b, t, c int) float64 {
				sum := 0.0
				for i := range ch {
					sum += math.Exp(x.get(b, t, i))
				}
				return math.Exp(x.get(b, t, c)) / sum
			})
		case netruntime.OpConcat:
			var from [][2]int // value and channel
			for i, name := range node.In {
				for c := range v[name].dims[2] {
					from = append(from, [2]int{i, c})
				}
			}
			y = fill(length, len(from), func(b, t, c int) float64 { return v[node.In[from[c][0]]].get(b, t, from[c][1]) })
		case netruntime.OpSelect:
			y = fill(length, len(node.Columns), func(b, t, c int) float64 { return x.get(b, t, node.Columns[c]) })
		case netruntime.OpAdd:
			y = fill(length, ch, func(b, t, c int) float64 {
				sum := 0.0
				for _, name := range node.In {
					sum += v[name].get(b, t, c)
				}
				return sum
			})
		case netruntime.OpNormalize, netruntime.OpDenormalize:
			mean, std := n.role(node, "mean"), n.role(node, "std")
			y = fill(length, ch, func(b, t, c int) float64 {
				s := std.data[c]
				if s == 0 {
					s = 1
				}
				if node.Op == netruntime.OpNormalize {
					return (x.get(b, t, c) - mean.data[c]) / s
				}
				return x.get(b, t, c)*s + mean.data[c]
			})
		}
		v[node.Name] = y
	}
	return v
}

func (n *testNet) twinLSTM(node netruntime.Node, v map[string]array) array {
	x, w, r, bias := v[node.In[0]], n.role(node, "weight"), n.role(node, "recurrent"), n.role(node, "bias")
	batch, length, hidden := x.dims[0], x.dims[1], r.dims[1]
	y, h, c := zeros(batch, length, hidden), zeros(batch, 1, hidden), zeros(batch, 1, hidden)
	if len(node.In) > 1 {
		copy(h.data, v[node.In[1]].data)
		copy(c.data, v[node.In[2]].data)
	}
	for i := range length {
		t := i
		if node.Reverse {
			t = length - 1 - i
		}
		before := array{h.dims, slices.Clone(h.data)}
		for b := range batch {
			for j := range hidden {
				var gate [4]float64
				for g := range gate {
					row := g*hidden + j
					gate[g] = bias.data[row]
					for k := range x.dims[2] {
						gate[g] += w.get(row, k) * x.get(b, t, k)
					}
					for k := range hidden {
						gate[g] += r.get(row, k) * before.get(b, 0, k)
					}
				}
				at := b*hidden + j
				c.data[at] = sigmoid(gate[1])*c.data[at] + sigmoid(gate[0])*math.Tanh(gate[2])
				h.data[at] = sigmoid(gate[3]) * math.Tanh(c.data[at])
				y.data[(b*length+t)*hidden+j] = h.data[at]
			}
		}
	}
	v[node.Name+".h"], v[node.Name+".c"] = h, c
	return y
}
