package netruntime

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mannequin/internal/testing/must"
	"mannequin/netruntime/internal/kernel"
)

// cutting finds by recursion the nodes of a part from some values to others.
type cutting struct {
	from    map[string]*Node // by every name of a result
	given   []string
	used    map[string]bool  // the given values that are used
	nodes   map[string]*Node // the computed nodes
	missing []string         // the graph's inputs that are needed but not given
}

func cut(g *Graph, given, outputs []string) *cutting {
	c := &cutting{from: map[string]*Node{}, given: given, used: map[string]bool{}, nodes: map[string]*Node{}}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		for _, name := range results(n) {
			c.from[name] = n
		}
	}
	for _, name := range outputs {
		c.visit(name)
	}
	return c
}

func results(n *Node) []string {
	if n.Op == OpLSTM {
		return []string{n.Name, n.Name + ".h", n.Name + ".c"}
	}
	return []string{n.Name}
}

func (c *cutting) visit(name string) {
	n := c.from[name]
	switch {
	case slices.Contains(c.given, name):
		c.used[name] = true
	case n == nil:
		c.missing = append(c.missing, name)
	case c.nodes[n.Name] == nil:
		c.nodes[n.Name] = n
		for _, in := range n.In {
			c.visit(in)
		}
	}
}

// conflict reports whether a given value would also be computed.
func (c *cutting) conflict() bool {
	for _, n := range c.nodes {
		if slices.ContainsFunc(results(n), func(r string) bool { return c.used[r] }) {
			return true
		}
	}
	return false
}

// lookAt returns n with other outputs.
func lookAt(t Test, n *Net, outputs []string) *Net {
	g := n.Graph()
	g.Outputs = outputs
	return must.Get(New(Meta{Arch: "graph", Graph: g}, n.Tensors()))(t)
}

// run computes a network's outputs with two workers.
func run(t Test, n *Net, in [][]float32, batch, length int, bf16 bool) [][]float32 {
	s := must.Get(n.NewSession(SessionOptions{Batch: batch, Length: length, Workers: 2, BF16: bf16}))(t)
	defer s.Close()
	out, _ := arrays(n, 0, batch, length)
	must.Do(t, s.RunSequences(out, in, batch, length))
	return out
}

// TestRandomParts cuts random graphs at random values of one length, and compares both sides of the
// cut with the whole.
func TestRandomParts(t *testing.T) {
	made := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		n, factor := randomGraph(t, true, anyFactor)
		kinds := kernel.Kinds()
		defer kernel.Force(kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")])()
		g, values := n.Graph(), n.Values()
		once := func(v Value) bool { return v.Length(8*factor) == 1 }
		at := rapid.SampledFrom(values).Draw(t, "length of")
		var candidates, given, outs []string
		channels := map[string]Value{}
		for _, v := range values {
			channels[v.Name] = v
			if once(v) || v.Length(8*factor) == at.Length(8*factor) {
				candidates = append(candidates, v.Name)
			}
		}
		for _, name := range candidates {
			if rapid.Bool().Draw(t, "given") {
				given = append(given, name)
			}
		}
		for _, v := range values {
			if !slices.Contains(given, v.Name) && rapid.IntRange(0, 2).Draw(t, "output") == 0 {
				outs = append(outs, v.Name)
			}
		}
		if len(outs) == 0 {
			t.Skip("everything is given")
		}
		c := cut(g, given, outs)
		if len(c.missing) > 0 && !slices.ContainsFunc(c.missing, func(name string) bool { return slices.Contains(outs, name) || !slices.Contains(candidates, name) }) {
			given = append(given, c.missing...)
			slices.Sort(given)
			given = slices.Compact(given)
			c = cut(g, given, outs)
		}
		given = slices.DeleteFunc(given, func(name string) bool { return !c.used[name] })
		p, err := n.Part(given, outs)
		if len(c.missing) > 0 || c.conflict() {
			var e *GraphError
			if !errors.As(err, &e) || len(given) > 0 && !c.conflict() && !slices.Contains(c.missing, e.Node) {
				t.Fatalf("from %q to %q of %+v, where %q are missing: %v", given, outs, g, c.missing, err)
			}
			made["refused"]++
			return
		}
		if err != nil {
			t.Fatalf("from %q to %q of %+v: %v", given, outs, g, err)
		}

		if got := p.Graph(); len(got.Nodes) != len(c.nodes) || len(got.Inputs) != len(given) || !slices.Equal(got.Outputs, outs) {
			t.Fatalf("from %q to %q of %+v: %+v", given, outs, g, got)
		}
		takes := map[string]bool{}
		for _, node := range c.nodes {
			for _, role := range roles[node.Op] {
				takes[node.Tensor(role.role)] = true
			}
		}
		for _, x := range p.tensors {
			if &x.Data[0] != &n.data(x.Name)[0] {
				t.Fatalf("tensor %q is a copy", x.Name)
			}
			delete(takes, x.Name)
		}
		if len(takes) > 0 {
			t.Fatalf("tensors %v are missing", takes)
		}

		// A run of the whole shows the values at the cut and after it.
		whole := lookAt(t, n, slices.Concat(given, outs))
		batch, length := rapid.IntRange(1, 5).Draw(t, "batch"), factor*rapid.IntRange(1, 5).Draw(t, "length")
		_, x := arrays(whole, 1, batch, length)
		want := run(t, whole, x, batch, length, false)
		frames := 1
		for _, name := range given {
			if v := channels[name]; !once(v) {
				frames = v.Length(length)
				made["in time"]++
			}
		}
		for i, in := range p.Graph().Inputs {
			v := channels[in.Name]
			if in.Channels != v.Channels || in.Once != once(v) || p.Values()[i].Length(frames) != v.Length(length) {
				t.Fatalf("%q of %+v became %+v", v.Name, g, in)
			}
		}
		same(t, fmt.Sprintf("from %q to %q of %+v", given, outs, g), p, run(t, p, want[:len(given)], batch, frames, false), want[len(given):])
		made["part"]++

		// Before the cut.
		var inputs [][]float32
		var names []string
		before := slices.DeleteFunc(slices.Clone(given), func(name string) bool { return c.from[name] == nil })
		need := cut(g, nil, before).missing
		for i, in := range g.Inputs {
			if slices.Contains(need, in.Name) {
				names, inputs = append(names, in.Name), append(inputs, x[i])
			}
		}
		if len(before) == 0 {
			return
		}
		e, err := n.Part(names, before)
		if err != nil {
			t.Fatalf("from %q to %q of %+v: %v", names, before, g, err)
		}
		shown := run(t, lookAt(t, n, before), x, batch, length, false)
		same(t, fmt.Sprintf("from %q to %q of %+v", names, before, g), e, run(t, e, inputs, batch, length, false), shown)
		made["before"]++
	})
	for _, what := range []string{"part", "in time", "before", "refused"} {
		if made[what] == 0 {
			t.Errorf("no graph was cut such that it counts as %q: %v", what, made)
		}
	}
	t.Log(made)
}

// same compares a part's outputs with the whole's, bit for bit unless the part may fuse operations
// that the whole does not: a depooling or a batch norm with a reader that is not in the part.
func same(t *rapid.T, what string, p *Net, got, want [][]float32) {
	fuses := slices.ContainsFunc(p.Graph().Nodes, func(n Node) bool { return n.Op == OpDepool || n.Op == OpBatchNorm })
	for i := range want {
		wide := make([]float64, len(want[i]))
		for j, v := range want[i] {
			wide[j] = float64(v)
		}
		if at := different(got[i], want[i]); at >= 0 && !fuses {
			t.Fatalf("%s: output %d is %g at %d, of the whole %g", what, i, got[i][at], at, want[i][at])
		}
		if e := relative(got[i], wide); !(e <= 2e-4) {
			t.Fatalf("%s: output %d is off by %g", what, i, e)
		}
	}
}

// coder is an autoencoder with a pooled hidden value, heavy enough for every way of computing
// products.
func coder() *Net {
	m := newMaker(4)
	x := m.node(Node{Name: "x_norm", Op: OpNormalize, In: []string{m.input("x", 37, false)}, Tensors: map[string]string{"mean": "mean", "std": "std"}}, 0, 0)
	a := m.node(Node{Name: "encoder", Op: OpConv, In: []string{x}, Act: "relu", Flip: true}, 101, 9)
	h := m.node(Node{Name: "hidden", Op: OpMaxPool, In: []string{a}}, 0, 0)
	u := m.node(Node{Name: "depooled", Op: OpDepool, In: []string{h}}, 0, 0)
	d := m.node(Node{Name: "decoder", Op: OpConv, In: []string{u}, Flip: true}, 37, 9)
	return m.net(m.node(Node{Name: "y", Op: OpDenormalize, In: []string{d}, Tensors: map[string]string{"mean": "mean", "std": "std"}}, 0, 0))
}

// TestEncoderAndDecoder checks that the parts of an autoencoder, one after the other, give the bits
// of the whole, also through model files.
func TestEncoderAndDecoder(t *testing.T) {
	n := coder()
	e := must.Get(n.Part([]string{"x"}, []string{"hidden"}))(t)
	d := must.Get(n.Part([]string{"hidden"}, []string{"y"}))(t)
	for _, c := range []struct {
		net     *Net
		value   string
		frames  int // of a run of 6
		tensors []string
	}{
		{e, "hidden", 3, []string{"mean", "std", "encoder.weight", "encoder.bias"}},
		{d, "y", 12, []string{"decoder.weight", "decoder.bias", "mean", "std"}},
	} {
		if l, err := c.net.Graph().Length(c.value, 6); err != nil || l != c.frames {
			t.Errorf("%d frames of %s in a run of 6 (%v), want %d", l, c.value, err, c.frames)
		}
		var names []string
		for _, x := range c.net.Tensors() {
			names = append(names, x.Name)
		}
		if !slices.Equal(names, c.tensors) {
			t.Errorf("tensors %q, want %q", names, c.tensors)
		}
	}
	if _, err := d.Graph().Length("y", 5); err != nil {
		t.Errorf("a decoder's runs need not be of even length: %v", err)
	}
	eachType(t, func(t *testing.T, bf16 bool) {
		const batch, length = 7, 22
		_, x := arrays(n, 3, batch, length)
		want := run(t, n, x, batch, length, bf16)
		for _, again := range []bool{false, true} {
			e, d := e, d
			if again {
				e, d = stored(t, e), stored(t, d)
			}
			h := run(t, e, x, batch, length, bf16)
			got := run(t, d, h, batch, length/2, bf16)
			if at := different(got[0], want[0]); at >= 0 {
				t.Errorf("from files %v: value %d is %g, of the whole %g", again, at, got[0][at], want[0][at])
			}
		}
		// The whole computes the depooling within the convolution, with sums of its taps.
		last := must.Get(n.Part([]string{"depooled"}, []string{"y"}))(t)
		depooled := run(t, lookAt(t, n, []string{"depooled", "y"}), x, batch, length, bf16)
		wide := make([]float64, len(want[0]))
		for i, v := range want[0] {
			wide[i] = float64(v)
		}
		if e := relative(run(t, last, depooled[:1], batch, length, bf16)[0], wide); !(e <= tolerance(bf16)) {
			t.Errorf("from the depooled values: off by %g", e)
		}
	})
}

// stored sends a network through a model file.
func stored(t *testing.T, n *Net) *Net {
	var b bytes.Buffer
	must.Do(t, n.Encode(&b))
	out := must.Get(Decode(b.Bytes()))(t)
	return out
}

// TestPartOfMANN cuts out the gating network, and the experts with weights as an input.
func TestPartOfMANN(t *testing.T) {
	n := odd.net(t, 2)
	const rows = 9
	x := randomRows(1, rows*odd.in)
	s := openWith(t, n, SessionOptions{Batch: rows, Workers: 1})
	y := make([]float32, rows*odd.out)
	must.Do(t, s.Run(y, x, rows))
	gate := must.Get(n.Part([]string{"x"}, []string{"gating", "x_norm"}))(t)
	out := run(t, gate, [][]float32{x}, rows, 1, false)
	if at := different(out[0], s.Gating()); at >= 0 {
		t.Errorf("gating weight %d is %g, of the whole %g", at, out[0][at], s.Gating()[at])
	}
	experts := must.Get(n.Part([]string{"gating", "x_norm"}, []string{"y"}))(t)
	if got := run(t, experts, out, rows, 1, false)[0]; different(got, y) >= 0 {
		t.Errorf("output %d differs", different(got, y))
	}
	if m := experts.Meta(); m.Arch != "graph" || m.GatingColumns != nil || m.SchemaHash != "" {
		t.Errorf("metadata of a part: %+v", m)
	}
}

func TestPartMeta(t *testing.T) {
	full := Meta{Name: "name", Schema: "schema", SchemaHash: "hash", Skeleton: "skeleton", GatingColumns: []int{0}, Data: "data",
		License: "license", Card: "card", Metrics: "metrics", CreatedBy: "creator", Extra: map[string]string{"k": "v"}}
	c := coder()
	full.Arch, full.Graph = "graph", c.Graph()
	n := must.Get(New(full, c.Tensors()))(t)
	whole := must.Get(n.Part([]string{"x"}, []string{"y"}))(t)
	if got := whole.Meta(); !reflect.DeepEqual(got, n.Meta()) {
		t.Errorf("the whole as a part has %+v", got)
	}
	d := must.Get(n.Part([]string{"hidden"}, []string{"y"}))(t)
	want := Meta{Name: "name", Arch: "graph", Skeleton: "skeleton", Data: "data", License: "license", Card: "card", CreatedBy: "creator"}
	got := d.Meta()
	got.Graph = nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("a part has %+v, want %+v", got, want)
	}
}

func TestPartErrors(t *testing.T) {
	m := newMaker(1)
	x, s := m.input("x", 3, false), m.input("s", 4, true)
	half := m.node(Node{Name: "half", Op: OpMaxPool, In: []string{x}}, 0, 0)
	m.node(Node{Name: "double", Op: OpDepool, In: []string{half}}, 0, 0)
	m.node(Node{Name: "both", Op: OpConcat, In: []string{x, "double"}}, 0, 0)
	m.node(Node{Name: "lstm", Op: OpLSTM, In: []string{"both", s, s}}, 4, 0)
	m.node(Node{Name: "last", Op: OpDense, In: []string{"lstm.h"}}, 2, 0)
	m.node(Node{Name: "y", Op: OpDense, In: []string{"lstm"}}, 2, 0)
	n := m.net("y", "last")
	for _, c := range []struct {
		in, out string
		node    string // "-" if there is no error
		say     string
	}{
		{"x s", "y", "-", ""},
		{"both s", "y last lstm.c", "-", ""},
		{"lstm.h", "last", "-", ""},
		{"double x s", "y", "-", ""},
		{"x z", "y", "z", "input, but there is no such value"},
		{"x s", "y z", "z", "output, but there is no such value"},
		{"x s x", "y", "x", "input twice"},
		{"x s", "y y", "y", "output twice"},
		{"x s y", "last y", "y", "both input and output"},
		{"x", "double last", "s", `output "last" depends on this input`},
		{"both", "y", "s", `output "y" depends on this input`},
		{"half s", "lstm", "x", `output "lstm" depends on this input`},
		{"x s", "double", "s", "no output depends on it"},
		{"both s half", "y", "half", `input of length 1/2 of the run's, but "both" has length 1 times the run's`},
		{"half x s", "y", "x", `input of length 1 times the run's, but "half" has length 1/2 of the run's`},
		{"x s lstm", "y lstm.h", "lstm", `output "lstm.h" depends on "lstm.h", which the same lstm computes`},
		{"x s lstm.h", "y last", "lstm.h", `output "y" depends on "lstm", which the same lstm computes`},
		{"", "y", "", "0 inputs and 1 outputs"},
		{"x", "", "", "1 inputs and 0 outputs"},
	} {
		p, err := n.Part(strings.Fields(c.in), strings.Fields(c.out))
		if c.node == "-" {
			if err != nil || p == nil {
				t.Errorf("from %s to %s: %v", c.in, c.out, err)
			}
			continue
		}
		var e *GraphError
		if !errors.As(err, &e) || e.Node != c.node || !strings.Contains(err.Error(), c.say) || p != nil {
			t.Errorf("from %s to %s: %v, want %q of %q", c.in, c.out, err, c.say, c.node)
		}
	}

	// The length of n may allow more halvings than another value's length.
	deep := newMaker(1)
	v := deep.input("x", 1, false)
	for range 5 {
		v = deep.node(Node{Op: OpMaxPool, In: []string{v}}, 0, 0)
	}
	low := v
	for range 9 {
		v = deep.node(Node{Op: OpDepool, In: []string{v}}, 0, 0)
	}
	var e *GraphError
	if _, err := deep.net(v).Part([]string{low}, []string{v}); !errors.As(err, &e) || !strings.Contains(err.Error(), "no more than 256 times") {
		t.Errorf("nine doublings: %v", err)
	}
}
