package netruntime

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mannequin/internal/testing/must"
	"mannequin/netruntime/internal/kernel"
)

// TestRandomGraphs draws graphs, options and runs.
func TestRandomGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, factor := randomGraph(t, true, anyFactor)
		kinds := kernel.Kinds()
		defer kernel.Force(kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")])()
		o := SessionOptions{
			Batch: rapid.IntRange(1, 9).Draw(t, "batch"), Length: factor * rapid.IntRange(1, 5).Draw(t, "length"),
			Workers: rapid.IntRange(1, 4).Draw(t, "workers"),
		}
		s := must.Get(n.NewSession(o))(t)
		defer s.Close()
		for range 2 {
			batch, length := rapid.IntRange(1, o.Batch).Draw(t, "sequences"), factor*rapid.IntRange(1, o.Length/factor).Draw(t, "frames")
			out, in := arrays(n, uint64(batch), batch, length)
			must.Do(t, s.RunSequences(out, in, batch, length))
			for i, want := range interpret(n, in, batch, length) {
				if e := relative(out[i], want); !(e <= 1e-4) {
					t.Fatalf("output %d of %+v is off by %g", i, n.Graph(), e)
				}
			}
		}
	})
}

// TestRandomGraphsKeepTheirBits compares the sequences of random runs, one of which may be NaN,
// with runs of one sequence by one worker.
func TestRandomGraphsKeepTheirBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, factor := randomGraph(t, false, anyFactor)
		kinds := kernel.Kinds()
		defer kernel.Force(kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")])()
		o := SessionOptions{
			Batch: rapid.IntRange(1, 60).Draw(t, "batch"), Workers: rapid.IntRange(1, 5).Draw(t, "workers"),
			Length: factor*rapid.IntRange(1, 6).Draw(t, "length") + rapid.IntRange(0, factor-1).Draw(t, "odd"),
			BF16:   rapid.Bool().Draw(t, "bf16"), SkipBelow: rapid.SampledFrom([]float32{0, 0, 0.2}).Draw(t, "skip"),
		}
		s := must.Get(n.NewSession(o))(t)
		defer s.Close()
		o.Batch, o.Workers = 1, 1
		alone := must.Get(n.NewSession(o))(t)
		defer alone.Close()
		for range 2 {
			batch, length := rapid.IntRange(1, s.MaxRows()).Draw(t, "sequences"), factor*rapid.IntRange(1, o.Length/factor).Draw(t, "frames")
			out, in := arrays(n, uint64(batch), batch, length)
			if bad := rapid.IntRange(-1, batch-1).Draw(t, "bad"); bad >= 0 {
				for _, x := range pick(in, batch, bad, 1) {
					for i := range x {
						x[i] = float32(math.NaN())
					}
				}
			}
			must.Do(t, s.RunSequences(out, in, batch, length))
			want, _ := arrays(n, 0, 1, length)
			for q := range batch {
				must.Do(t, alone.RunSequences(want, pick(in, batch, q, 1), 1, length))
				for i, got := range pick(out, batch, q, 1) {
					for j, v := range got {
						if w := want[i][j]; math.Float32bits(v) != math.Float32bits(w) && (v == v || w == w) {
							t.Fatalf("sequence %d of %d, output %d of %+v: value %d is %g, alone %g", q, batch, i, n.Graph(), j, v, w)
						}
					}
				}
			}
		}
	})
}

// anyFactor are the factors of random depoolings.
var anyFactor = []int{0, 0, 2, 3, 5, 7}

// randomGraph draws a graph, and a number of which its lengths must be multiples. If blends are
// tame, their weights sum to 1, because products of products soon have few correct digits.
func randomGraph(t *rapid.T, tame bool, by []int) (n *Net, factor int) {
	m := newMaker(rapid.Uint64Range(0, 1000).Draw(t, "seed"))
	type value struct {
		name string
		span
	}
	values := []value{{m.input("x", rapid.IntRange(1, 9).Draw(t, "channels"), false), asRun}}
	if rapid.Bool().Draw(t, "once") {
		values = append(values, value{m.input("s", rapid.IntRange(1, 9).Draw(t, "channels"), true), single})
	}
	any := func() value { return values[rapid.IntRange(0, len(values)-1).Draw(t, "operand")] }
	acts := []string{"", "elu", "relu", "sigmoid", "tanh"}
	factor = 1
	for range rapid.IntRange(1, 9).Draw(t, "nodes") {
		x := any()
		node := Node{Op: rapid.SampledFrom([]string{OpDense, OpBlend, OpConv, OpMaxPool, OpDepool, OpDepool, OpConv, OpLSTM, OpBatchNorm,
			OpAct, OpSoftmax, OpConcat, OpSelect, OpAdd, OpNormalize, OpDenormalize}).Draw(t, "op"), In: []string{x.name}}
		alike := func(f func(v value) bool) []value {
			var out []value
			for _, v := range values {
				if v.span == x.span && f(v) {
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
		next := value{span: x.span}
		channels := rapid.IntRange(1, 40).Draw(t, "out")
		if rapid.IntRange(0, 7).Draw(t, "large") == 7 {
			channels += 180 // shared by columns
		}
		switch node.Op {
		case OpDense:
			node.Tied = rapid.Bool().Draw(t, "tied")
		case OpConv:
			node.Tied, node.Flip = rapid.Bool().Draw(t, "tied"), rapid.Bool().Draw(t, "flip")
		case OpBlend:
			omega := rapid.SampledFrom(alike(func(value) bool { return true })).Draw(t, "omega").name
			if tame {
				omega = m.node(Node{Op: OpSoftmax, In: []string{omega}}, 0, 0)
				values = append(values, value{omega, x.span})
			}
			node.In = append(node.In, omega)
		case OpConcat, OpAdd:
			for range rapid.IntRange(0, 2).Draw(t, "more") {
				node.In = append(node.In, rapid.SampledFrom(alike(func(v value) bool {
					return node.Op == OpConcat || m.channels[v.name] == m.channels[x.name]
				})).Draw(t, "operand").name)
			}
		case OpMaxPool, OpDepool:
			next.span = next.scaled(1, 2)
			if node.Op == OpDepool {
				node.Factor = rapid.SampledFrom(by).Draw(t, "factor")
				next.span = x.scaled(node.Times(), 1)
			}
			if x.once || next.num > 15 || next.den > 4 {
				continue
			}
			factor = max(factor, next.den)
		case OpLSTM:
			node.Reverse = rapid.Bool().Draw(t, "reverse")
			if i := slices.IndexFunc(values, func(v value) bool { return v.once }); i >= 0 && rapid.Bool().Draw(t, "state") {
				h := values[i+rapid.IntRange(0, len(values)-1-i).Draw(t, "h")]
				if !h.once {
					h = values[i]
				}
				channels = m.channels[h.name]
				node.In = append(node.In, h.name, rapid.SampledFrom(slices.DeleteFunc(slices.Clone(values), func(v value) bool {
					return !v.once || m.channels[v.name] != channels
				})).Draw(t, "c").name)
			}
		case OpSelect:
			for range rapid.IntRange(1, 4).Draw(t, "columns") {
				node.Columns = append(node.Columns, rapid.IntRange(0, m.channels[x.name]-1).Draw(t, "column"))
			}
		}
		next.name = m.node(node, channels, rapid.IntRange(1, 6).Draw(t, "width"))
		values = append(values, next)
		if node.Op == OpLSTM {
			values = append(values, value{next.name + ".h", single}, value{next.name + ".c", single})
		}
	}
	outputs := []string{values[len(values)-1].name}
	if v := any(); v.name != outputs[0] {
		outputs = append(outputs, v.name)
	}
	return m.net(outputs...), factor
}
