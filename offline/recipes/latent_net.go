package recipes

import (
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/latent"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
)

// latentNet is the trainable form of the autoencoder.
type latentNet struct {
	encoder convNet
	code    convLayer      // over all frames, so a dense layer (eq. 4.4, 4.5)
	start   [2]*grad.Param // weight and bias of the dense layer after the latent values
	decoder convNet        // the first layer, over all frames, stands for flat† of eq. 4.6
	values  int
}

// steepness is the slope of the divergence's sigmoid per share of the epochs: it rises from 12 to
// 88 % in a tenth of them.
const steepness = 40

func newLatentNet(m *Latent) *latentNet {
	cols, h, w := m.Train.Layout.Columns(), m.Hidden, m.Widths
	n := &latentNet{values: m.Values,
		encoder: newConvNet([]int{cols, h[0], h[1], h[2]}, w[:], grad.Hash(m.Seed, 1)).named("encoder"),
		decoder: newConvNet([]int{m.Spread, h[2], h[1], h[0], cols}, []int{2*latent.Coarse - 1, w[2], w[1], w[0]},
			grad.Hash(m.Seed, 2)).named("decoder"),
		code:  newConvNet([]int{h[2], 2 * m.Values}, []int{latent.Coarse}, grad.Hash(m.Seed, 3)).named("code")[0],
		start: [2]*grad.Param{grad.NewParam("start.weight", m.Spread, m.Values), grad.NewParam("start.bias", 1, m.Spread)},
	}
	// Depooling by 8 leaves an eighth of each value, and the filters sum over the 8 frames. 8 times
	// the variance makes up for that.
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

// encode returns the mean and the logarithm of the variance of the latent values, (batch, values)
// each, of x, (batch·Padded, columns) normalised.
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

// decode returns the normalised frames, (batch·Padded, columns), of latent values z, (batch,
// values).
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

// nodes returns the operations of a model file.
func (n *latentNet) nodes() []netruntime.Node {
	first := node("normalised", netruntime.OpNormalize, "x")
	first.Tensors = ownStats
	nodes := []netruntime.Node{first}
	add := func(name, op, act, from string) {
		nodes = append(nodes, netruntime.Node{Name: name, Op: op, In: []string{from}, Act: act})
	}
	next := func(name, op, act string) { add(name, op, act, nodes[len(nodes)-1].Name) }
	for l, c := range n.encoder {
		next(c.name, netruntime.OpConv, "relu")
		next(fmt.Sprintf("pool%d", l+1), netruntime.OpMaxPool, "")
	}
	next(n.code.name, netruntime.OpConv, "")
	for i, name := range []string{"mean", "logvar"} {
		add(name, netruntime.OpSelect, "", n.code.name)
		for k := range n.values {
			half := &nodes[len(nodes)-1]
			half.Columns = append(half.Columns, i*n.values+k)
		}
	}
	add("start", netruntime.OpDense, "", "z")
	for k := 1; k < latent.Coarse; k *= 2 {
		next(fmt.Sprintf("spread%d", 2*k), netruntime.OpDepool, "")
	}
	for l, c := range n.decoder {
		act := ""
		if l > 0 {
			next(fmt.Sprintf("depool%d", l), netruntime.OpDepool, "")
			if l < len(n.decoder)-1 {
				act = "relu"
			}
		}
		next(c.name, netruntime.OpConv, act)
	}
	next("y", netruntime.OpDenormalize, "")
	nodes[len(nodes)-1].Tensors = ownStats
	return nodes
}

// tensors returns weights, in the order of params, as a model file holds them.
func (n *latentNet) tensors(weights [][]float32) []netruntime.Tensor {
	encoder := append(slices.Clone(n.encoder), n.code)
	e := 2 * len(encoder)
	return slices.Concat(encoder.tensors(weights[:e]), []netruntime.Tensor{
		{Name: "start.weight", Shape: []int{n.start[0].Rows, n.start[0].Cols}, Data: weights[e]},
		{Name: "start.bias", Shape: []int{n.start[1].Cols}, Data: weights[e+1]},
	}, n.decoder.tensors(weights[e+2:]))
}

// frozenDecoder returns the decoder of a model that Latent has made, with fixed weights.
func frozenDecoder(m *latent.Model) (*latentNet, error) {
	other := fmt.Errorf("recipes: model %q has no decoder of the kind that mannequin train latent makes", m.Net.Meta().Name)
	w, ok := m.Net.Tensor("start.weight")
	b, hasBias := m.Net.Tensor("start.bias")
	if !ok || !hasBias || len(w.Shape) != 2 || w.Shape[1] != m.Values || len(b.Data) != w.Shape[0] {
		return nil, other
	}
	channels, widths := []int{w.Shape[0]}, []int{}
	for i := range 4 {
		c, ok := m.Net.Tensor(fmt.Sprintf("decoder%d.weight", i+1))
		if !ok || len(c.Shape) != 3 {
			return nil, other
		}
		channels, widths = append(channels, c.Shape[0]), append(widths, c.Shape[2])
	}
	n := &latentNet{values: m.Values, decoder: newConvNet(channels, widths, 0).named("decoder"),
		start: [2]*grad.Param{grad.NewParam("start.weight", w.Shape[0], m.Values), grad.NewParam("start.bias", 1, w.Shape[0])}}
	if channels[4] != m.Layout.Columns() || n.decoder.copyTensors(m.Net) != nil {
		return nil, other
	}
	copy(n.start[0].Val, w.Data)
	copy(n.start[1].Val, b.Data)
	for _, p := range append(n.decoder.params(), n.start[:]...) {
		p.Frozen = true
	}
	return n, nil
}

// sample returns mean + ε·deviation (eq. 4.7). ε is standard normal noise that key draws.
func sample(t *grad.Tape, mean, logVar *grad.Mat, key uint64) *grad.Mat {
	noise := t.Const(mean.Rows, mean.Cols)
	for i := range noise.Val {
		noise.Val[i] = float32(normal(grad.Hash(key, uint64(2*i)), grad.Hash(key, uint64(2*i+1))))
	}
	return t.Add(mean, t.Mul(noise, t.Exp(t.Scale(logVar, 0.5))))
}

// divergence returns the mean over the batch of the divergence of the normal distributions from the
// standard one, in nats (eq. 4.9).
func divergence(t *grad.Tape, mean, logVar *grad.Mat) *grad.Mat {
	one := t.Const(1, 1)
	one.Val[0] = 1
	k := 0.5 / float32(mean.Rows)
	return t.WeightedSum(grad.Term{Loss: t.SumSquares(mean), Weight: k}, grad.Term{Loss: t.Sum(t.Exp(logVar)), Weight: k},
		grad.Term{Loss: t.Sum(logVar), Weight: -k}, grad.Term{Loss: one, Weight: -k * float32(len(mean.Val))})
}
