package recipes

import (
	"fmt"
	"math"
	"slices"

	"mannequin/netruntime"
	"mannequin/netruntime/grad"
)

// convLayer is a convolution over time.
type convLayer struct {
	name           string // of its node in a model file
	in, out, width int    // channels, channels, frames
	w, b           *grad.Param
}

// convNet is a stack of convolutions over time with rectified values between them.
type convNet []convLayer

// newConvNet draws the weights of a stack. Its values have channels[0], channels[1], …
// channels, and its filters have widths frames. Weights are uniform by fan-in and fan-out, as
// in Xavier's draw; biases are zero.
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

// named renames the layers to prefix1, prefix2, …; a single layer to prefix.
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

// weights returns the parameters without the biases.
func (n convNet) weights() (out []*grad.Param) {
	for _, c := range n {
		out = append(out, c.w)
	}
	return out
}

// forward runs the stack on x, (batch·length, channels), with dropout on the input of each
// layer.
func (n convNet) forward(t *grad.Tape, x *grad.Mat, length int, keep float32, key uint64) *grad.Mat {
	for l, c := range n {
		if l > 0 {
			x = t.ReLU(x)
		}
		x = t.Conv(t.Dropout(x, keep, grad.Hash(key, uint64(l))), length, c.w, c.b, c.width, false)
	}
	return x
}

// last returns the name of the last layer.
func (n convNet) last() string { return n[len(n)-1].name }

// nodes returns the stack's operations for a model file. from is the name of the input, between
// the activation between the layers, and act the activation of the last one.
func (n convNet) nodes(from, between, act string) (nodes []netruntime.Node) {
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

// node returns an operation of a model file.
func node(name, op string, in ...string) netruntime.Node {
	return netruntime.Node{Name: name, Op: op, In: in}
}

// ownStats are the tensors of a normalisation by the mean and the deviation of the frames.
var ownStats = map[string]string{"mean": "mean", "std": "std"}

// pipeline returns the graph of a network with one input "x" and one output "y", both raw. The
// nodes begin with the value "normalised", and the last one is denormalised. stats names the
// tensors of both normalisations; nil: each has its own.
func pipeline(channels int, stats map[string]string, nodes ...netruntime.Node) *netruntime.Graph {
	first, last := node("normalised", netruntime.OpNormalize, "x"), node("y", netruntime.OpDenormalize, nodes[len(nodes)-1].Name)
	first.Tensors, last.Tensors = stats, stats
	return &netruntime.Graph{Inputs: []netruntime.Input{{Name: "x", Channels: channels}},
		Nodes: slices.Concat([]netruntime.Node{first}, nodes, []netruntime.Node{last}), Outputs: []string{"y"}}
}

// copyTensors copies the weights that tensors has written to a model file.
func (n convNet) copyTensors(from *netruntime.Net) error {
	for l, c := range n {
		w, _ := from.Tensor(c.w.Name)
		b, _ := from.Tensor(c.b.Name)
		if l == 0 && len(w.Shape) == 3 && w.Shape[1] < c.in {
			w.Data = widened(w.Data, c.out, w.Shape[1]*c.width, (c.in-w.Shape[1])*c.width) // they do nothing yet
		}
		if len(w.Data) != len(c.w.Val) || len(b.Data) != len(c.b.Val) {
			return fmt.Errorf("recipes: model %q has %d weights and %d biases in %s, want %d and %d",
				from.Meta().Name, len(w.Data), len(b.Data), c.name, len(c.w.Val), len(c.b.Val))
		}
		copy(c.w.Val, taps(w.Data, c.out, c.in, c.width))
		copy(c.b.Val, b.Data)
	}
	return nil
}

// filters returns a convolution's weights as model files hold them, (out, in, width), from weights
// as grad.Tape.Conv takes them, (out, width·in).
func filters(w []float32, out, in, width int) []float32 { return swapped(w, out, width, in) }

// taps is the inverse of filters.
func taps(w []float32, out, in, width int) []float32 { return swapped(w, out, in, width) }

// swapped returns the transposes of the n matrices (rows, cols) in w.
func swapped(w []float32, n, rows, cols int) []float32 {
	dst := make([]float32, len(w))
	for at := 0; at < n*rows*cols; at += rows * cols {
		for r := range rows {
			for c := range cols {
				dst[at+c*rows+r] = w[at+r*cols+c]
			}
		}
	}
	return dst
}
