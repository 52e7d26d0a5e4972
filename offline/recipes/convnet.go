package recipes

import (
	"fmt"
	"math"

	"mannequin/netruntime"
	"mannequin/netruntime/grad"
)

// convLayer is a convolution over time.
type convLayer struct {
	name           string // of its node in a model file
	in, out, width int
	w, b           *grad.Param
}

// convNet is a stack of convolutions over time with rectified values between
// them.
type convNet []convLayer

// newConvNet draws the weights of a stack whose values have channels[0],
// channels[1], … channels and whose filters have widths frames: uniform by
// fan-in and fan-out, as in Xavier's draw. Biases are zero.
func newConvNet(channels, widths []int, seed uint64) convNet {
	var n convNet
	for l, width := range widths {
		name := fmt.Sprintf("conv%d", l+1)
		in, out := channels[l], channels[l+1]
		c := convLayer{name, in, out, width, grad.NewParam(name+".weight", out, width*in), grad.NewParam(name+".bias", 1, out)}
		uniform(c.w.Val, math.Sqrt(6/float64(width*(in+out))), grad.Hash(seed, uint64(l)))
		n = append(n, c)
	}
	return n
}

// named gives the layers names of their own: prefix1, prefix2, …; prefix where
// there is one layer.
func (n convNet) named(prefix string) convNet {
	for l := range n {
		c := &n[l]
		if c.name = prefix; len(n) > 1 {
			c.name = fmt.Sprintf("%s%d", prefix, l+1)
		}
		c.w.Name, c.b.Name = c.name+".weight", c.name+".bias"
	}
	return n
}

func (n convNet) params() (out []*grad.Param) {
	for _, c := range n {
		out = append(out, c.w, c.b)
	}
	return out
}

func (n convNet) weights() (out []*grad.Param) {
	for _, c := range n {
		out = append(out, c.w)
	}
	return out
}

// forward runs the stack on x, (batch·length, channels). What goes into each
// layer is dropped out with keep.
func (n convNet) forward(t *grad.Tape, x *grad.Mat, length int, keep float32, key uint64) *grad.Mat {
	for l, c := range n {
		if l > 0 {
			x = t.ReLU(x)
		}
		x = t.Conv(t.Dropout(x, keep, grad.Hash(key, uint64(l))), length, c.w, c.b, c.width, false)
	}
	return x
}

// nodes returns the stack's operations for a model file, from the value called
// from; the last one's name is last's, and act is done on its result.
func (n convNet) nodes(from, act string) (nodes []netruntime.Node) {
	return n.actNodes(from, "relu", act)
}

// actNodes is nodes, with between between the layers.
func (n convNet) actNodes(from, between, act string) (nodes []netruntime.Node) {
	for l, c := range n {
		node := netruntime.Node{Name: c.name, Op: netruntime.OpConv, In: []string{from}, Act: between}
		if l == len(n)-1 {
			node.Act = act
		}
		nodes, from = append(nodes, node), c.name
	}
	return nodes
}

// tensors returns weights, in the order of params, as a model file holds them.
func (n convNet) tensors(weights [][]float32) (out []netruntime.Tensor) {
	for l, c := range n {
		out = append(out,
			netruntime.Tensor{Name: c.name + ".weight", Shape: []int{c.out, c.in, c.width}, Data: filters(weights[2*l], c.out, c.in, c.width)},
			netruntime.Tensor{Name: c.name + ".bias", Shape: []int{c.out}, Data: weights[2*l+1]})
	}
	return out
}

// taps is the inverse of filters: a convolution's weights as grad.Tape.Conv
// wants them, (out, width·in), from those of a model file, (out, in, width).
func taps(w []float32, out, in, width int) []float32 {
	dst := make([]float32, len(w))
	for o := range out {
		for k := range width {
			for i := range in {
				dst[(o*width+k)*in+i] = w[(o*in+i)*width+k]
			}
		}
	}
	return dst
}
