package netruntime

import (
	"fmt"
	"slices"
	"strconv"
)

// archMANN is the mode-adaptive network for quadruped control (Zhang, Starke
// et al. 2018, sec. 6): a gating network blends the weights of K experts,
//
//	ω = softmax(G2·ELU(G1·ELU(G0·x̂[gating columns])))
//	y = Φ2(ELU(Φ1(ELU(Φ0(x̂)))))     Φl(h) = Σ_k ω_k (W_lk·h + b_lk)
//
// with biases in every G and x̂, y normalised column by column. With
// Meta.Residual some of the outputs are what is added to some of the inputs.
// Its files carry no graph: the tensors and the metadata imply it.
const archMANN = "mann"

// mannGraph returns the network's graph.
func mannGraph(meta *Meta, tensors []Tensor) (*Graph, error) {
	i := slices.IndexFunc(tensors, func(t Tensor) bool { return t.Name == "x_mean" })
	switch {
	case i < 0:
		return nil, tensorf("x_mean", "it is missing: architecture %q needs it", archMANN)
	case len(tensors[i].Shape) != 1 || tensors[i].Shape[0] < 1 || tensors[i].Shape[0] > maxChannels:
		return nil, tensorf("x_mean", "has shape %v, want 1 axes of 1 to %d", tensors[i].Shape, maxChannels)
	case len(meta.GatingColumns) == 0:
		return nil, fmt.Errorf("gating_columns lists no inputs")
	}
	in := tensors[i].Shape[0]
	for _, c := range meta.GatingColumns {
		if c < 0 || c >= in {
			return nil, fmt.Errorf("gating_columns: there is no input %d, the network has %d", c, in)
		}
	}
	const omega = "gating"
	g := &Graph{
		Inputs: []Input{{Name: "x", Channels: in}},
		Nodes: []Node{
			{Name: "x_norm", Op: OpNormalize, In: []string{"x"}, Tensors: map[string]string{"mean": "x_mean", "std": "x_std"}},
			{Name: "gating.x", Op: OpSelect, In: []string{"x_norm"}, Columns: slices.Clone(meta.GatingColumns)},
			{Name: "gating.0", Op: OpDense, In: []string{"gating.x"}, Act: "elu"},
			{Name: "gating.1", Op: OpDense, In: []string{"gating.0"}, Act: "elu"},
			{Name: "gating.2", Op: OpDense, In: []string{"gating.1"}},
			{Name: omega, Op: OpSoftmax, In: []string{"gating.2"}},
			{Name: "experts.0", Op: OpBlend, In: []string{"x_norm", omega}, Act: "elu"},
			{Name: "experts.1", Op: OpBlend, In: []string{"experts.0", omega}, Act: "elu"},
			{Name: "experts.2", Op: OpBlend, In: []string{"experts.1", omega}},
			{Name: "y", Op: OpDenormalize, In: []string{"experts.2"}, Tensors: map[string]string{"mean": "y_mean", "std": "y_std"}},
		},
		Outputs: []string{"y"},
	}
	if meta.Residual == nil {
		return g, nil
	}
	i = slices.IndexFunc(tensors, func(t Tensor) bool { return t.Name == "y_mean" })
	if i < 0 || len(tensors[i].Shape) != 1 {
		return nil, tensorf("y_mean", "it is missing or has more than one axis: architecture %q needs it", archMANN)
	}
	return g, meta.Residual.extend(g, in, tensors[i].Shape[0])
}

// Residual says which outputs the network gives as a change of inputs: output
// Out+i is input In+i plus what the last layer says, for i < Len.
type Residual struct {
	In  int `json:"in"`
	Out int `json:"out"`
	Len int `json:"len"`
}

// extend appends the sum to the graph of a network of so many inputs and outputs.
func (r *Residual) extend(g *Graph, inputs, outputs int) error {
	if r.Len < 1 || r.In < 0 || r.Out < 0 || r.In > inputs-r.Len || r.Out > outputs-r.Len {
		return fmt.Errorf("residual adds %d inputs from %d on to the outputs from %d on: the network has %d and %d", r.Len, r.In, r.Out, inputs, outputs)
	}
	last := &g.Nodes[len(g.Nodes)-1]
	last.Name, last.Tensors = "change", map[string]string{"mean": "y_mean", "std": "y_std"}
	columns := func(from, to int) []int {
		c := make([]int, to-from)
		for i := range c {
			c[i] = from + i
		}
		return c
	}
	node := func(name, op string, in ...string) *Node {
		g.Nodes = append(g.Nodes, Node{Name: name, Op: op, In: in})
		return &g.Nodes[len(g.Nodes)-1]
	}
	var parts []string
	part := func(name string, from, to int) {
		if from < to {
			node(name, OpSelect, "change").Columns = columns(from, to)
			parts = append(parts, name)
		}
	}
	part("before", 0, r.Out)
	node("from", OpSelect, "x").Columns = columns(r.In, r.In+r.Len)
	node("by", OpSelect, "change").Columns = columns(r.Out, r.Out+r.Len)
	node("changed", OpAdd, "from", "by")
	parts = append(parts, "changed")
	part("after", r.Out+r.Len, outputs)
	node("y", OpConcat, parts...)
	return nil
}

// mannSizes returns what the tensors' shapes say.
func mannSizes(b *bound) map[string]string {
	of := func(name string) string { return strconv.Itoa(b.values[b.index[name]].Channels) }
	return map[string]string{"experts": of("gating"), "hidden": of("experts.0"), "gating_hidden": of("gating.0")}
}
