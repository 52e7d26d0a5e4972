package recipes

import (
	"math"

	"mannequin/animsys/latent"
	"mannequin/netruntime/grad"
)

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
