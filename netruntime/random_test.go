package netruntime

import (
	"testing"

	"pgregory.net/rapid"

	"mannequin/internal/kernel"
)

// TestRandomGraphs makes up graphs, options and runs.
func TestRandomGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, factor := randomGraph(t)
		kinds := kernel.Kinds()
		defer kernel.Force(kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")])()
		o := SessionOptions{
			Batch: rapid.IntRange(1, 9).Draw(t, "batch"), Length: factor * rapid.IntRange(1, 5).Draw(t, "length"),
			Workers: rapid.IntRange(1, 4).Draw(t, "workers"),
		}
		s, err := n.NewSession(o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for range 2 {
			batch, length := rapid.IntRange(1, o.Batch).Draw(t, "sequences"), factor*rapid.IntRange(1, o.Length/factor).Draw(t, "frames")
			out, in := arrays(n, uint64(batch), batch, length)
			if err := s.RunSequences(out, in, batch, length); err != nil {
				t.Fatal(err)
			}
			for i, want := range interpret(n, in, batch, length) {
				if e := relative(out[i], want); !(e <= 1e-4) {
					t.Fatalf("output %d of %+v is off by %g", i, n.Graph(), e)
				}
			}
		}
	})
}

// randomGraph draws a graph, and a number that its lengths must be multiples of.
func randomGraph(t *rapid.T) (n *Net, factor int) {
	m := newMaker(rapid.Uint64Range(0, 1000).Draw(t, "seed"))
	type value struct {
		name    string
		doubled int
		once    bool
	}
	values := []value{{m.input("x", rapid.IntRange(1, 9).Draw(t, "channels"), false), 0, false}}
	if rapid.Bool().Draw(t, "once") {
		values = append(values, value{m.input("s", rapid.IntRange(1, 9).Draw(t, "channels"), true), 0, true})
	}
	any := func() value { return values[rapid.IntRange(0, len(values)-1).Draw(t, "operand")] }
	acts := []string{"", "elu", "relu", "sigmoid", "tanh"}
	halvings := 0
	for range rapid.IntRange(1, 9).Draw(t, "nodes") {
		x := any()
		node := Node{Op: rapid.SampledFrom([]string{OpDense, OpBlend, OpConv, OpMaxPool, OpDepool, OpDepool, OpConv, OpLSTM, OpBatchNorm,
			OpAct, OpSoftmax, OpConcat, OpSelect, OpAdd, OpNormalize, OpDenormalize}).Draw(t, "op"), In: []string{x.name}}
		alike := func(f func(v value) bool) []value {
			var out []value
			for _, v := range values {
				if v.doubled == x.doubled && v.once == x.once && f(v) {
					out = append(out, v)
				}
			}
			return out
		}
		switch node.Op {
		case OpDense, OpBlend, OpConv, OpBatchNorm:
			node.Act = rapid.SampledFrom(acts).Draw(t, "act")
		case OpAct:
			node.Act = rapid.SampledFrom(acts[1:]).Draw(t, "act")
		}
		next := value{doubled: x.doubled, once: x.once}
		switch node.Op {
		case OpDense:
			node.Tied = rapid.Bool().Draw(t, "tied")
		case OpConv:
			node.Tied, node.Flip = rapid.Bool().Draw(t, "tied"), rapid.Bool().Draw(t, "flip")
		case OpBlend:
			node.In = append(node.In, rapid.SampledFrom(alike(func(value) bool { return true })).Draw(t, "omega").name)
		case OpConcat, OpAdd:
			for range rapid.IntRange(0, 2).Draw(t, "more") {
				node.In = append(node.In, rapid.SampledFrom(alike(func(v value) bool {
					return node.Op == OpConcat || m.channels[v.name] == m.channels[x.name]
				})).Draw(t, "operand").name)
			}
		case OpMaxPool, OpDepool:
			if x.once || max(x.doubled, -x.doubled) == 2 {
				continue
			}
			next.doubled++
			if node.Op == OpMaxPool {
				next.doubled -= 2
			}
			halvings = max(halvings, -next.doubled)
		case OpLSTM:
			node.Reverse = rapid.Bool().Draw(t, "reverse")
		case OpSelect:
			for range rapid.IntRange(1, 4).Draw(t, "columns") {
				node.Columns = append(node.Columns, rapid.IntRange(0, m.channels[x.name]-1).Draw(t, "column"))
			}
		}
		next.name = m.node(node, rapid.IntRange(1, 40).Draw(t, "out"), rapid.IntRange(1, 6).Draw(t, "width"))
		values = append(values, next)
		if node.Op == OpLSTM {
			values = append(values, value{next.name + ".h", 0, true}, value{next.name + ".c", 0, true})
		}
	}
	outputs := []string{values[len(values)-1].name}
	if v := any(); v.name != outputs[0] {
		outputs = append(outputs, v.name)
	}
	return m.net(outputs...), 1 << halvings
}
