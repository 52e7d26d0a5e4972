package grad

import (
	"cmp"
	"fmt"
	"slices"

	"mannequin/netruntime"
)

// binding turns a graph into a Network, node by node.
type binding struct {
	*Network
	index    map[string]int // values by name
	tensors  map[string]netruntime.Tensor
	param    map[string]*Param // by tensor
	constant map[string]bool   // tensors that are statistics
	err      error             // the first error of the node's tensors
}

func newBinding(n *netruntime.Net) *binding {
	b := &binding{
		Network: &Network{net: n, values: n.Values(), inputs: len(n.Graph().Inputs)},
		index:   map[string]int{}, tensors: map[string]netruntime.Tensor{}, param: map[string]*Param{}, constant: map[string]bool{},
	}
	b.mats = make([]*Mat, len(b.values))
	for i, v := range b.values {
		b.index[v.Name] = i
	}
	for _, t := range n.Tensors() {
		b.tensors[t.Name] = t
	}
	return b
}

func (b *binding) add(node *netruntime.Node) error {
	n := networkNode{in: make([]*Mat, len(node.In)), to: b.index[node.Name]}
	for _, name := range node.In {
		n.from = append(n.from, b.index[name])
	}
	var err error
	if n.run, err = b.operation(node); err == nil {
		err = b.err
	}
	if err != nil {
		return fmt.Errorf("node %q: %w", node.Name, err)
	}
	b.nodes = append(b.nodes, n)
	return nil
}

var acts = map[string]func(t *Tape, x *Mat) *Mat{
	"":     func(_ *Tape, x *Mat) *Mat { return x },
	"elu":  (*Tape).ELU,
	"relu": (*Tape).ReLU, "sigmoid": (*Tape).Sigmoid, "tanh": (*Tape).Tanh,
}

// operation returns the function that computes the node on a tape.
func (b *binding) operation(node *netruntime.Node) (operation, error) {
	act, ok := acts[node.Act]
	if !ok {
		return nil, fmt.Errorf("the tape has no activation %q", node.Act)
	}
	switch node.Op {
	case netruntime.OpDense:
		w, c, dense := b.weights(node, "weight"), b.weights(node, "bias"), (*Tape).Dense
		if node.Tied {
			dense = (*Tape).DenseT
		}
		return func(t *Tape, in []*Mat, _ int) *Mat { return act(t, dense(t, in[0], w, c)) }, nil
	case netruntime.OpBlend:
		w, c := b.weights(node, "weight"), b.weights(node, "bias")
		return func(t *Tape, in []*Mat, _ int) *Mat { return act(t, t.Blend(in[0], in[1], w, c)) }, nil
	case netruntime.OpConv:
		w, c, conv := b.weights(node, "weight"), b.weights(node, "bias"), (*Tape).Conv
		if node.Tied {
			conv = (*Tape).ConvT
		}
		width, flip := b.tensors[w.Name].Shape[2], node.Flip
		return func(t *Tape, in []*Mat, length int) *Mat { return act(t, conv(t, in[0], length, w, c, width, flip)) }, nil
	case netruntime.OpLSTM:
		return b.lstm(node), nil
	case netruntime.OpBatchNorm:
		gamma, beta := b.weights(node, "gamma"), b.weights(node, "beta")
		stats := &BatchStats{Mean: b.statistic(node, "mean"), Var: b.statistic(node, "var")}
		return func(t *Tape, in []*Mat, _ int) *Mat { return act(t, t.BatchNorm(in[0], gamma, beta, stats, false)) }, nil
	case netruntime.OpNormalize:
		return b.normalize(node), nil
	case netruntime.OpDenormalize:
		mean, std := b.statistic(node, "mean"), b.deviation(node)
		return func(t *Tape, in []*Mat, _ int) *Mat { return t.Affine(in[0], std, mean) }, nil
	case netruntime.OpMaxPool:
		return func(t *Tape, in []*Mat, length int) *Mat { return t.MaxPool(in[0], length) }, nil
	case netruntime.OpDepool:
		times := node.Times()
		return func(t *Tape, in []*Mat, _ int) *Mat { return t.Depool(in[0], times, false, 0) }, nil
	case netruntime.OpAct:
		return func(t *Tape, in []*Mat, _ int) *Mat { return act(t, in[0]) }, nil
	case netruntime.OpSoftmax:
		return func(t *Tape, in []*Mat, _ int) *Mat { return t.Softmax(in[0]) }, nil
	case netruntime.OpConcat:
		return func(t *Tape, in []*Mat, _ int) *Mat { return t.Concat(in...) }, nil
	case netruntime.OpSelect:
		columns := node.Columns
		return func(t *Tape, in []*Mat, _ int) *Mat { return t.Gather(in[0], columns) }, nil
	case netruntime.OpAdd:
		return func(t *Tape, in []*Mat, _ int) *Mat {
			sum := in[0]
			for _, x := range in[1:] {
				sum = t.Add(sum, x)
			}
			return sum
		}, nil
	}
	return nil, fmt.Errorf("the tape has no operation %q", node.Op)
}

func (b *binding) lstm(node *netruntime.Node) operation {
	wx, wh, c := b.weights(node, "weight"), b.weights(node, "recurrent"), b.weights(node, "bias")
	last, reverse := b.mats[b.index[node.Name]+1:][:2], node.Reverse // values "<node>.h" and "<node>.c"
	return func(t *Tape, in []*Mat, length int) (y *Mat) {
		var h0, c0 *Mat
		if len(in) == 3 {
			h0, c0 = in[1], in[2]
		}
		y, last[0], last[1] = t.LSTM(in[0], length, wx, wh, c, h0, c0, reverse)
		return y
	}
}

// normalize subtracts the mean first, as sessions do: in x/std − mean/std, a mean of many
// deviations would cost precision.
func (b *binding) normalize(node *netruntime.Node) operation {
	v, inverse := b.statistic(node, "mean"), b.deviation(node)
	mean := &Param{Name: node.Tensor("mean"), Rows: 1, Cols: len(v), Val: v, Frozen: true}
	for i, s := range inverse {
		inverse[i] = 1 / s
	}
	return func(t *Tape, in []*Mat, _ int) *Mat { return t.Affine(t.Bias(in[0], mean, -1), inverse, nil) }
}

// weights returns the parameter of a node for a role. Nodes that share a tensor get the same one.
func (b *binding) weights(node *netruntime.Node, role string) *Param {
	t := b.tensors[node.Tensor(role)]
	rows, cols := 1, t.Shape[0]
	switch len(t.Shape) {
	case 2:
		rows, cols = t.Shape[0], t.Shape[1]
	case 3:
		rows, cols = t.Shape[0], t.Shape[1]*t.Shape[2]
		if node.Op == netruntime.OpBlend {
			rows, cols = t.Shape[0]*t.Shape[2], t.Shape[1]
		}
	}
	p := b.param[t.Name]
	if p == nil {
		p = NewParam(t.Name, rows, cols)
		b.param[t.Name] = p
		if len(t.Shape) == 3 {
			swapAxes(p.Val, t.Data, t.Shape[0], t.Shape[1], t.Shape[2])
		} else {
			copy(p.Val, t.Data)
		}
	}
	if p.Rows != rows || p.Cols != cols {
		b.fail("tensor %q holds both filters and experts, which the tape lays out in two ways", t.Name)
	}
	b.checkUse(t.Name)
	return p
}

// statistic returns a copy of the values of a node for a role. No training changes them.
func (b *binding) statistic(node *netruntime.Node, role string) []float32 {
	t := b.tensors[node.Tensor(role)]
	b.constant[t.Name] = true
	b.checkUse(t.Name)
	return slices.Clone(t.Data)
}

// deviation returns the deviations for normalisation, with 1 in place of 0.
func (b *binding) deviation(node *netruntime.Node) []float32 {
	std := b.statistic(node, "std")
	for i, s := range std {
		std[i] = cmp.Or(s, 1)
	}
	return std
}

// checkUse refuses a tensor that is both trained and constant.
func (b *binding) checkUse(tensor string) {
	if b.constant[tensor] && b.param[tensor] != nil {
		b.fail("tensor %q is a weight of one node and a statistic of another", tensor)
	}
}

func (b *binding) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}
