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
		builder: newBuilder(), tensors: tensors, form: form, flat: isFlat(g), twoD: form[formConv] != "1d",
		values: map[string]*value{}, depools: map[string]*value{},
	}
	var inputs, outputs []port
	for _, in := range g.Inputs {
		v := &value{name: in.Name, channels: in.Channels, length: length{1, 1, in.Once}}
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

// length is the length of a value: num/den times the run's, in lowest terms, or 1 frame.
type length struct {
	num, den int
	once     bool
}

func (l length) times(num, den int) length {
	l.num, l.den = l.num*num, l.den*den
	for l.num%2 == 0 && l.den%2 == 0 {
		l.num, l.den = l.num/2, l.den/2
	}
	return l
}

// axes returns the declared sizes of v's axes.
func (e *exporter) axes(v *value) []any {
	name := "length"
	switch l := v.length; {
	case e.flat:
		return []any{"batch", v.channels}
	case l.once:
		return []any{"batch", 1, v.channels}
	case l.num > 1 && l.den > 1:
		name = fmt.Sprintf("length_times_%d_over_%d", l.num, l.den)
	case l.num > 1:
		name = fmt.Sprintf("length_times_%d", l.num)
	case l.den > 1:
		name = fmt.Sprintf("length_over_%d", l.den)
	}
	return []any{"batch", name, v.channels}
}
