package recipes

import (
	"fmt"
	"math"

	"mannequin/netruntime/grad"
)

// mannNet is the trainable form of the mode-adaptive network (Zhang, Starke et
// al. 2018, sec. 4): a gating network of three dense layers that ends in a
// softmax over the experts, and a motion network of three layers whose weights
// are the mixture of the experts'.
type mannNet struct {
	inputs, outputs       int
	experts               int
	hidden, gatingHidden  int
	columns               []int // of the input that the gating network reads
	gatingW, gatingB      [3]*grad.Param
	expertW, expertB      [3]*grad.Param // weights stacked as grad.Tape.Blend wants them
	gatingSize, motionOut [4]int         // layer widths, input first
}

func newMANNNet(inputs, outputs, experts, hidden, gatingHidden int, columns []int) *mannNet {
	n := &mannNet{inputs: inputs, outputs: outputs, experts: experts, hidden: hidden, gatingHidden: gatingHidden, columns: columns,
		gatingSize: [4]int{len(columns), gatingHidden, gatingHidden, experts},
		motionOut:  [4]int{inputs, hidden, hidden, outputs}}
	for l := range 3 {
		in, out := n.gatingSize[l], n.gatingSize[l+1]
		n.gatingW[l] = grad.NewParam(fmt.Sprintf("gating.%d.weight", l), out, in)
		n.gatingB[l] = grad.NewParam(fmt.Sprintf("gating.%d.bias", l), 1, out)
		in, out = n.motionOut[l], n.motionOut[l+1]
		n.expertW[l] = grad.NewParam(fmt.Sprintf("experts.%d.weight", l), experts*in, out)
		n.expertB[l] = grad.NewParam(fmt.Sprintf("experts.%d.bias", l), experts, out)
	}
	return n
}

// params lists everything to train, always in the same order.
func (n *mannNet) params() []*grad.Param {
	var out []*grad.Param
	for l := range 3 {
		out = append(out, n.gatingW[l], n.gatingB[l])
	}
	for l := range 3 {
		out = append(out, n.expertW[l], n.expertB[l])
	}
	return out
}

// init draws the weights: experts from U(±√(6/(out·in))), a product and so far
// below Xavier, gating from Xavier's U(±√(6/(in+out))); biases are zero.
func (n *mannNet) init(seed uint64) {
	for l := range 3 {
		in, out := float64(n.gatingSize[l]), float64(n.gatingSize[l+1])
		uniform(n.gatingW[l].Val, math.Sqrt(6/(in+out)), grad.Hash(seed, uint64(l)))
		clear(n.gatingB[l].Val)
		in, out = float64(n.motionOut[l]), float64(n.motionOut[l+1])
		uniform(n.expertW[l].Val, math.Sqrt(6/(in*out)), grad.Hash(seed, uint64(3+l)))
		clear(n.expertB[l].Val)
	}
}

func uniform(dst []float32, bound float64, key uint64) {
	for i := range dst {
		u := float64(grad.Hash(key, uint64(i))>>11) / (1 << 53) // [0, 1)
		dst[i] = float32(bound * (2*u - 1))
	}
}

// forward returns the outputs (rows, outputs) and the gating (rows, experts)
// for the inputs x (rows, inputs), all normalised. keep is dropout's: of the
// inputs and hidden layers of both networks; key seeds it.
func (n *mannNet) forward(t *grad.Tape, x *grad.Mat, keep float32, key uint64) (y, omega *grad.Mat) {
	site := uint64(0)
	drop := func(m *grad.Mat) *grad.Mat {
		site++
		return t.Dropout(m, keep, grad.Hash(key, site))
	}
	h := drop(t.Gather(x, n.columns))
	h = drop(t.ELU(t.Dense(h, n.gatingW[0], n.gatingB[0])))
	h = drop(t.ELU(t.Dense(h, n.gatingW[1], n.gatingB[1])))
	omega = t.Softmax(t.Dense(h, n.gatingW[2], n.gatingB[2]))
	y = drop(x)
	y = drop(t.ELU(t.Blend(y, omega, n.expertW[0], n.expertB[0])))
	y = drop(t.ELU(t.Blend(y, omega, n.expertW[1], n.expertB[1])))
	return t.Blend(y, omega, n.expertW[2], n.expertB[2]), omega
}

// expertTensor returns the weights of layer l as model files hold them:
// (K, out, in), from the stacked transposes in w.
func (n *mannNet) expertTensor(l int, w []float32) []float32 {
	in, out := n.motionOut[l], n.motionOut[l+1]
	dst := make([]float32, len(w))
	for k := range n.experts {
		src, d := w[k*in*out:][:in*out], dst[k*in*out:][:in*out]
		for i := range in {
			for o := range out {
				d[o*in+i] = src[i*out+o]
			}
		}
	}
	return dst
}
