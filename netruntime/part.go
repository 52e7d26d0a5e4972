package netruntime

import (
	"errors"
	"fmt"
	"slices"
)

// Part returns the part of a network that computes the values outputs from the values inputs, with
// only the operations and tensors that this needs. Values are named as in Values: inputs, nodes'
// results, or an LSTM's last state. For example, the encoder and the decoder of an autoencoder are
// two parts of one network.
//
// The part has arch "graph". Its inputs and outputs are in the order of the arguments and keep
// their names, as do its nodes and tensors. It shares the tensors' memory with n. The length of its
// runs is the length of its inputs. If an input has half of n's frames, a run of length 10 stands
// for 20 frames of n, and an output with all of n's frames has length 20. Inputs that have length 1
// in every run, such as an LSTM's state, are Once; all others must have one length.
//
// The last bits of results can differ from n's. n may fold an operation into its neighbour (a
// depooling into a convolution, a batch norm into the product before it) where the part does not,
// or the reverse.
//
// Meta keeps what is true of any part: name, skeleton, data, licence, card and creator. Schema,
// gating columns, metrics and extra keys describe the rows and results of the whole network. They
// are kept only if inputs and outputs are n's.
//
// The error is a *GraphError that names the value:
//
//   - a value that does not exist, is named twice, or is both input and output;
//   - an input of n that an output depends on and that the part's inputs do not replace;
//   - an input that no output depends on, or whose length differs from the first input's;
//   - one result of an LSTM that is given while another result has to be computed.
func (n *Net) Part(inputs, outputs []string) (*Net, error) {
	if n.bound == nil {
		return nil, errors.New("netruntime: part: the zero Net has no network: make one with New")
	}
	g, err := n.bound.part(inputs, outputs)
	if err != nil {
		return nil, fmt.Errorf("netruntime: part: %w", err)
	}
	meta := n.meta.clone()
	all := n.bound.graph
	if !slices.EqualFunc(all.Inputs, inputs, func(in Input, name string) bool { return in.Name == name }) || !slices.Equal(all.Outputs, outputs) {
		meta = Meta{Name: meta.Name, Skeleton: meta.Skeleton, Data: meta.Data, License: meta.License, Card: meta.Card, CreatedBy: meta.CreatedBy}
	}
	meta.Arch, meta.Graph = archGraph, g
	var tensors []Tensor
	seen := map[string]bool{}
	for i := range g.Nodes {
		for _, s := range roles[g.Nodes[i].Op] {
			name := g.Nodes[i].Tensor(s.role)
			if !seen[name] {
				seen[name] = true
				tensors = append(tensors, n.tensors[n.bound.at[name]])
			}
		}
	}
	p, err := build(meta, tensors, func(i int) ([]float32, error) { return tensors[i].Data, nil })
	if err != nil {
		return nil, fmt.Errorf("netruntime: part: %w", err)
	}
	return p, nil
}

// part returns the graph from inputs to outputs. Validating that graph finds outputs that are named
// twice.
func (b *bound) part(inputs, outputs []string) (*Graph, error) {
	if len(inputs) == 0 || len(outputs) == 0 {
		return nil, graphf("", "%d inputs and %d outputs: both must be at least 1", len(inputs), len(outputs))
	}
	g := &Graph{Outputs: slices.Clone(outputs)}
	given := make([]bool, len(b.values))
	var first *Value // the first input of the run's length
	for _, name := range inputs {
		i, ok := b.index[name]
		switch {
		case !ok:
			return nil, graphf(name, "input, but there is no such value")
		case given[i]:
			return nil, graphf(name, "input twice")
		}
		v := &b.values[i]
		switch {
		case v.span.once:
		case first == nil:
			first = v
		case v.span != first.span:
			return nil, graphf(name, "input of length %v, but %q has length %v: the inputs of a part have one length", v.span, first.Name, first.span)
		}
		given[i] = true
		g.Inputs = append(g.Inputs, Input{name, v.Channels, v.span.once})
	}
	// reason is, by value, an output that needs it, or "".
	reason := make([]string, len(b.values))
	for _, name := range outputs {
		i, ok := b.index[name]
		switch {
		case !ok:
			return nil, graphf(name, "output, but there is no such value")
		case given[i]:
			return nil, graphf(name, "both input and output")
		}
		reason[i] = name
	}
	for i := len(b.nodes) - 1; i >= 0; i-- {
		needed, err := b.needed(&b.nodes[i], given, reason)
		if err != nil {
			return nil, err
		}
		if needed == "" {
			continue
		}
		g.Nodes = append(g.Nodes, *b.nodes[i].Node)
		for _, in := range b.nodes[i].in {
			reason[in] = needed
		}
	}
	slices.Reverse(g.Nodes)
	for i := range b.graph.Inputs {
		if reason[i] != "" && !given[i] {
			return nil, graphf(b.values[i].Name, "output %q depends on this input, which the part's inputs do not replace", reason[i])
		}
	}
	for i := range b.values {
		if given[i] && reason[i] == "" {
			return nil, graphf(b.values[i].Name, "input, but no output depends on it")
		}
	}
	return g.clone(), nil
}

// needed returns an output that needs the node's result, or "".
func (b *bound) needed(n *boundNode, given []bool, reason []string) (string, error) {
	results := 1
	if n.Op == OpLSTM {
		results = 3
	}
	replaced, computed := -1, -1
	for i := n.out; i < n.out+results; i++ {
		switch {
		case given[i]:
			replaced = i
		case reason[i] != "":
			computed = i
		}
	}
	if computed < 0 {
		return "", nil
	}
	if replaced >= 0 {
		return "", graphf(b.values[replaced].Name, "input, but output %q depends on %q, which the same lstm computes",
			reason[computed], b.values[computed].Name)
	}
	return reason[computed], nil
}
