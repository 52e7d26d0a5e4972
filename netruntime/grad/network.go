package grad

import (
	"errors"
	"fmt"
	"slices"

	"mannequin/netruntime"
	"mannequin/netruntime/internal/kernel"
)

// Network is a [netruntime.Net] on a tape: its weights are parameters, and its graph is a list of
// operations. A program can fine-tune the weights at run time and restore the originals, or freeze
// them all and descend along the gradients of inputs.
//
// The net itself never changes. Means, deviations and variances are constants of the Network, so a
// batch normalisation computes the same as in sessions.
//
// A Network belongs to one goroutine. It may run several times in a pass, also on its own outputs.
// Gradients are then sums over all runs.
type Network struct {
	net     *netruntime.Net
	values  []netruntime.Value // inputs, then the nodes' results, as in Net.Values
	inputs  int                // number of inputs among the values
	outputs []int              // indices of values
	nodes   []networkNode
	params  []*Param
	first   [][]float32 // by parameter: the net's weights
	mats    []*Mat      // by value: results of the current run

	// Outputs of all runs of a pass.
	tape *Tape
	pass uint64
	out  []*Mat
}

// networkNode is an operation with its operands and its result as indices of values.
type networkNode struct {
	from []int
	in   []*Mat // memory for the operands
	to   int
	run  operation
}

// operation computes a node. The first operand is sequences of length frames.
type operation func(t *Tape, in []*Mat, length int) *Mat

// NewNetwork returns n with parameters that are copies of its weights, none of them frozen. The
// error names a node that the tape cannot compute, or a tensor that several nodes share in
// incompatible ways.
func NewNetwork(n *netruntime.Net) (*Network, error) {
	g := n.Graph()
	if len(g.Outputs) == 0 {
		return nil, errors.New("grad: network: the zero Net has no outputs: read one with netruntime.Open")
	}
	b := newBinding(n)
	for i := range g.Nodes {
		if err := b.add(&g.Nodes[i]); err != nil {
			return nil, fmt.Errorf("grad: network: %w", err)
		}
	}
	for _, name := range g.Outputs {
		b.outputs = append(b.outputs, b.index[name])
	}
	for _, t := range n.Tensors() {
		if p := b.param[t.Name]; p != nil {
			b.params, b.first = append(b.params, p), append(b.first, slices.Clone(p.Val))
		}
	}
	return b.Network, nil
}

// Params returns the parameters, with the names and in the order of the net's tensors. Nodes that
// share a tensor share its parameter.
//
// A convolution's parameter has the layout of [Tape.Conv], a mixture's that of [Tape.Blend], all
// others that of the net.
func (n *Network) Params() []*Param { return slices.Clone(n.params) }

// Restore resets the parameters to the net's weights. Do not call it between Forward and Backward.
func (n *Network) Restore() {
	for i, p := range n.params {
		copy(p.Val, n.first[i])
	}
}

// Net returns a copy of the original net with the parameters' current values: to run in sessions,
// or to write to a file. It is an error if a value is not finite.
func (n *Network) Net() (*netruntime.Net, error) {
	now := map[string]*Param{}
	for _, p := range n.params {
		now[p.Name] = p
	}
	tensors := n.net.Tensors()
	for i := range tensors {
		switch t, p := &tensors[i], now[tensors[i].Name]; {
		case p == nil:
		case len(t.Shape) == 3:
			swapAxes(t.Data, p.Val, t.Shape[0], t.Shape[2], t.Shape[1])
		default:
			copy(t.Data, p.Val)
		}
	}
	net, err := netruntime.New(n.net.Meta(), tensors)
	if err != nil {
		return nil, fmt.Errorf("grad: network: %w", err)
	}
	return net, nil
}

// Forward runs the net on inputs and returns its outputs, both in the graph's order. A value of the
// graph is a matrix (batch·frames, channels). [netruntime.Value.Length] gives its frames for a run
// of the given length; inputs that are Once have 1, so they are (batch, channels). Forward panics
// on inputs of other shapes, and on lengths that cannot be halved as often as the net does.
//
// The returned slice is valid until the Network runs in another pass. An output that is an input of
// the graph is the same matrix.
func (n *Network) Forward(t *Tape, length int, inputs ...*Mat) []*Mat {
	n.check(length, inputs)
	copy(n.mats, inputs)
	for i := range n.nodes {
		node := &n.nodes[i]
		for j, v := range node.from {
			node.in[j] = n.mats[v]
		}
		n.mats[node.to] = node.run(t, node.in, n.values[node.from[0]].Length(length))
	}
	if n.tape != t || n.pass != t.pass {
		n.tape, n.pass, n.out = t, t.pass, n.out[:0]
	}
	at := len(n.out)
	for _, v := range n.outputs {
		n.out = append(n.out, n.mats[v])
	}
	return n.out[at:len(n.out):len(n.out)]
}

func (n *Network) check(length int, inputs []*Mat) {
	if length < 1 || len(inputs) != n.inputs {
		panic(fmt.Sprintf("grad: Network: a run of length %d with %d inputs, want %d inputs", length, len(inputs), n.inputs))
	}
	batch := 0
	for i, x := range inputs {
		v := &n.values[i]
		frames := v.Length(length)
		if x.Cols != v.Channels || x.Rows%frames != 0 || i > 0 && x.Rows/frames != batch {
			panic(fmt.Sprintf("grad: Network: input %q is %d×%d, want %d channels of sequences of %d frames, the same number in every input",
				v.Name, x.Rows, x.Cols, v.Channels, frames))
		}
		batch = x.Rows / frames
	}
}

// swapAxes writes src (a, b, c) as dst (a, c, b). From a file to the tape, it turns filters (out,
// in, width) into the taps of Conv, and experts (K, out, in) into the transposed experts of Blend.
func swapAxes(dst, src []float32, a, b, c int) {
	for i := range a {
		at := i * b * c
		kernel.Transpose(dst[at:], b, src[at:], c, b, c)
	}
}
