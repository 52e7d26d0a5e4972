package onnx

import (
	"fmt"
	"slices"

	"mannequin/netruntime"
)

// exporter builds an ONNX graph from a network's.
type exporter struct {
	*builder
	tensors map[string]netruntime.Tensor
	form    Form
	flat    bool // no operation over time
	twoD    bool // convolutions over two axes
	values  map[string]*value
	depools map[string]*value // depooled value → what it was
}

func export(g *netruntime.Graph, tensors map[string]netruntime.Tensor, form Form, name string) (message, error) {
	e := &exporter{
		builder: newBuilder(), tensors: tensors, form: form, flat: true, twoD: form[formConv] != "1d",
		values: map[string]*value{}, depools: map[string]*value{},
	}
	for _, n := range g.Nodes {
		switch n.Op {
		case netruntime.OpConv, netruntime.OpMaxPool, netruntime.OpDepool, netruntime.OpLSTM:
			e.flat = false
		}
	}
	var inputs, outputs []port
	for _, in := range g.Inputs {
		v := &value{name: in.Name, channels: in.Channels, length: length{once: in.Once}}
		v.at[frames] = e.tensor(in.Name)
		e.values[in.Name] = v
		inputs = append(inputs, port{in.Name, v.at[frames], e.axes(v)})
	}
	for i := range g.Nodes {
		if err := e.node(&g.Nodes[i]); err != nil {
			return nil, fmt.Errorf("node %q: %w", g.Nodes[i].Name, err)
		}
	}
	for _, name := range g.Outputs {
		v, ok := e.values[name]
		if !ok {
			return nil, fmt.Errorf("there is no value %q to put out", name)
		}
		if slices.ContainsFunc(g.Inputs, func(in netruntime.Input) bool { return in.Name == name }) {
			return nil, fmt.Errorf("output %q is an input: in ONNX an output is computed", name)
		}
		outputs = append(outputs, port{name, e.in(v, frames), e.axes(v)})
	}
	return e.finish(name, inputs, outputs), nil
}

// length is that of a value: 2^doubled times the run's, or 1 frame.
type length struct {
	doubled int
	once    bool
}

// axes returns the declared sizes of v's axes.
func (e *exporter) axes(v *value) []any {
	name := "length"
	switch d := v.length.doubled; {
	case e.flat:
		return []any{"batch", v.channels}
	case v.length.once:
		return []any{"batch", 1, v.channels}
	case d > 0:
		name = fmt.Sprintf("length_times_%d", 1<<d)
	case d < 0:
		name = fmt.Sprintf("length_over_%d", 1<<-d)
	}
	return []any{"batch", name, v.channels}
}

// role returns a node's tensor.
func (e *exporter) role(n *netruntime.Node, role string) (netruntime.Tensor, error) {
	name := n.Tensor(role)
	t, ok := e.tensors[name]
	if !ok {
		return t, fmt.Errorf("tensor %q is missing", name)
	}
	return t, nil
}
