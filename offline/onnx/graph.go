package onnx

import (
	"fmt"
	"slices"
)

// ref is a tensor of a graph under construction. 0 is none.
type ref int

// operation is a node under construction.
type operation struct {
	op    string
	in    []ref
	out   []ref
	attrs []attribute
}

// constant is an initialiser: data is []float32 or []int.
type constant struct {
	at   ref
	dims []int
	data any
}

// builder collects a graph's operations. Names are chosen when its inputs and outputs are known.
type builder struct {
	hints     []string // by ref
	ops       []operation
	constants []constant
	made      map[source]ref // constants by source
}

// source identifies a constant: a tensor or node, and the change made to it.
type source struct{ name, form string }

func newBuilder() *builder {
	return &builder{hints: []string{""}, made: map[source]ref{}}
}

func (b *builder) tensor(hint string) ref {
	b.hints = append(b.hints, hint)
	return ref(len(b.hints) - 1)
}

// op adds an operation with one result.
func (b *builder) op(op, hint string, in []ref, attrs ...attribute) ref {
	out := b.tensor(hint)
	b.ops = append(b.ops, operation{op, in, []ref{out}, attrs})
	return out
}

// constant adds an initialiser, once for each source.
func (b *builder) constant(name, form string, dims []int, data func() any) ref {
	s := source{name, form}
	if b.made[s] == 0 {
		hint := name
		if form != "" {
			hint += "." + form
		}
		r := b.tensor(hint)
		b.constants = append(b.constants, constant{r, dims, data()})
		b.made[s] = r
	}
	return b.made[s]
}

func (b *builder) ints(v ...int) ref {
	return b.constant(fmt.Sprint(v), "ints", []int{len(v)}, func() any { return v })
}

func (b *builder) floats(name, form string, v []float32) ref {
	return b.constant(name, form, []int{len(v)}, func() any { return v })
}

// port is an input or output of the graph.
type port struct {
	name string
	at   ref
	axes []any
}

// finish removes what no output needs, names everything and returns the GraphProto.
func (b *builder) finish(name string, inputs, outputs []port) message {
	names := make([]string, len(b.hints))
	taken := map[string]bool{}
	for _, p := range slices.Concat(inputs, outputs) {
		names[p.at] = p.name
		taken[p.name] = true
	}
	needed := make([]bool, len(b.hints))
	for r, n := range names {
		needed[r] = n != ""
	}
	var ops []operation
	for _, o := range slices.Backward(b.ops) {
		if slices.ContainsFunc(o.out, func(r ref) bool { return needed[r] }) {
			for _, r := range o.in {
				needed[r] = true
			}
			ops = append(ops, o)
		}
	}
	for r, hint := range b.hints {
		if r == 0 || !needed[r] || names[r] != "" {
			continue
		}
		n := hint
		for i := 2; n == "" || taken[n]; i++ {
			n = fmt.Sprintf("%s.%d", hint, i)
		}
		names[r] = n
		taken[n] = true
	}
	text := func(refs []ref) []string {
		out := make([]string, len(refs))
		for i, r := range refs {
			out[i] = names[r]
		}
		return out
	}
	var m message
	for _, o := range slices.Backward(ops) {
		m.bytes(1, nodeProto(o.op, text(o.in), text(o.out), o.attrs))
	}
	m.text(2, name)
	for _, c := range b.constants {
		if needed[c.at] {
			m.bytes(5, tensorProto(names[c.at], c.dims, c.data))
		}
	}
	for _, p := range inputs {
		m.bytes(11, valueProto(p.name, p.axes...))
	}
	for _, p := range outputs {
		m.bytes(12, valueProto(p.name, p.axes...))
	}
	return m
}
