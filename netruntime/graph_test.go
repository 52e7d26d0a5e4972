package netruntime

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

// smallGraph is a network with tensors of most kinds, in a small file.
func smallGraph() *Net {
	m := newMaker(1)
	x := m.node(Node{Op: OpNormalize, In: []string{m.input("x", 2, false)}, Tensors: map[string]string{"mean": "x.mean", "std": "x.std"}}, 0, 0)
	c := m.node(Node{Name: "c", Op: OpConv, In: []string{x}, Act: "relu"}, 2, 3)
	b := m.node(Node{Name: "b", Op: OpBatchNorm, In: []string{c}}, 0, 0)
	p := m.node(Node{Name: "p", Op: OpMaxPool, In: []string{b}}, 0, 0)
	l := m.node(Node{Name: "l", Op: OpLSTM, In: []string{p}, Reverse: true}, 1, 0)
	d := m.node(Node{Name: "d", Op: OpDense, In: []string{l}, Tied: true}, 2, 0)
	return m.net(d, "l.c")
}

// longGraph lengthens by 2·5·3 between convolutions.
func longGraph() *Net {
	m := newMaker(2)
	x := m.input("x", 3, false)
	for i, factor := range []int{0, 5, 3} {
		c := m.node(Node{Op: OpConv, In: []string{x}, Act: "relu"}, 4, 3+2*i)
		x = m.node(Node{Op: OpDepool, In: []string{c}, Factor: factor}, 0, 0)
	}
	return m.net(m.node(Node{Op: OpConv, In: []string{x}}, 3, 9), x)
}

func TestGraphFiles(t *testing.T) {
	t.Run("small", func(t *testing.T) { testGraphFile(t, smallGraph()) })
	t.Run("long", func(t *testing.T) { testGraphFile(t, longGraph()) })
}

// Files with depoolings by 2 are the same as before there were factors.
func TestFactorTwoIsNone(t *testing.T) {
	file := func(factor int) []byte {
		m := newMaker(1)
		return encoded(t, m.net(m.node(Node{Op: OpDepool, In: []string{m.input("x", 2, false)}, Factor: factor}, 0, 0)))
	}
	if two := file(2); !bytes.Equal(two, file(0)) || bytes.Contains(two, []byte("factor")) {
		t.Error("a factor of 2 is written")
	}
	if !bytes.Contains(file(3), []byte("factor")) {
		t.Error("a factor of 3 is not written")
	}
}

func testGraphFile(t *testing.T, n *Net) {
	for _, encode := range []func(*Net) []byte{
		func(n *Net) []byte { return encoded(t, n) },
		func(n *Net) []byte {
			var b bytes.Buffer
			must.Do(t, n.EncodeBF16(&b))
			return b.Bytes()
		},
	} {
		b := encode(n)
		got := must.Get(Decode(b))(t)
		if !reflect.DeepEqual(got.Graph(), n.Graph()) || !reflect.DeepEqual(got.Meta(), n.Meta()) {
			t.Fatal("another graph")
		}
		if again := encode(got); !bytes.Equal(again, b) {
			t.Fatal("encoding twice gives other bytes")
		}
	}
	// Statistics keep their precision.
	_, entries, _, err := parse(bf16File(t, n))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		want := typeF32
		if strings.HasSuffix(e.name, ".weight") || strings.HasSuffix(e.name, ".recurrent") {
			want = typeBF16
		}
		if e.dtype != want {
			t.Errorf("%s is stored as %s", e.name, e.dtype)
		}
	}
}

func bf16File(t testing.TB, n *Net) []byte {
	var b bytes.Buffer
	must.Do(t, n.EncodeBF16(&b))
	return b.Bytes()
}

func TestMANNGraph(t *testing.T) {
	z := odd
	n := z.net(t, 2)
	// The graph that the tensors imply equals the graph of a graph file.
	g := n.Graph()
	same := must.Get(New(Meta{Arch: "graph", Graph: g}, n.Tensors()))(t)
	x := randomRows(1, 5*z.in)
	a, b := make([]float32, 5*z.out), make([]float32, 5*z.out)
	must.Do(t, open(t, n, 5, 1).Run(a, x, 5))
	must.Do(t, open(t, same, 5, 1).Run(b, x, 5))
	if different(a, b) >= 0 {
		t.Fatal("another network")
	}
	g.Nodes[0].In[0] = "spoiled"
	if reflect.DeepEqual(g, n.Graph()) {
		t.Fatal("Graph does not copy")
	}
}

func TestLength(t *testing.T) {
	g := smallGraph().Graph()
	for value, want := range map[string]int{"x": 12, "c": 12, "p": 6, "l": 6, "d": 6, "l.h": 1, "l.c": 1} {
		if got, err := g.Length(value, 12); err != nil || got != want {
			t.Errorf("length of %s is %d (%v), want %d", value, got, err, want)
		}
	}
	long := &Graph{Inputs: []Input{{Name: "x", Channels: 1}}, Outputs: []string{"c"}, Nodes: []Node{
		{Name: "a", Op: OpMaxPool, In: []string{"x"}}, {Name: "b", Op: OpDepool, In: []string{"a"}, Factor: 5},
		{Name: "c", Op: OpDepool, In: []string{"b"}, Factor: 6}}}
	for value, want := range map[string]int{"a": 2, "b": 10, "c": 60} {
		if got, err := long.Length(value, 4); err != nil || got != want {
			t.Errorf("length of %s is %d (%v), want %d", value, got, err, want)
		}
	}
	must.Fail(long.Length("b", 3))(t, "5/2 of the run")
	for value, length := range map[string]int{"nothing": 12, "p": 11, "x": 0, "l": -2} {
		if got, err := g.Length(value, length); err == nil {
			t.Errorf("%s has length %d of %d", value, got, length)
		}
	}
}

// TestGraphRejects breaks one thing at a time.
func TestGraphRejects(t *testing.T) {
	node := func(g *Graph, name string) *Node {
		return &g.Nodes[slices.IndexFunc(g.Nodes, func(n Node) bool { return n.Name == name })]
	}
	tensor := func(ts []Tensor, name string) *Tensor {
		return &ts[slices.IndexFunc(ts, func(t Tensor) bool { return t.Name == name })]
	}
	long := strings.Repeat("n", maxName+1)
	for want, spoil := range map[string]func(g *Graph, ts []Tensor){
		"0 inputs":                        func(g *Graph, _ []Tensor) { g.Inputs = nil },
		"0 outputs":                       func(g *Graph, _ []Tensor) { g.Outputs = nil },
		"at most 4096 each":               func(g *Graph, _ []Tensor) { g.Nodes = make([]Node, maxNodes+1) },
		`"x": input of 0 channels`:        func(g *Graph, _ []Tensor) { g.Inputs[0].Channels = 0 },
		`"x": input of 1048577`:           func(g *Graph, _ []Tensor) { g.Inputs[0].Channels = maxChannels + 1 },
		`name "" of 0 bytes`:              func(g *Graph, _ []Tensor) { g.Inputs[0].Name = "" },
		"of 129 bytes":                    func(g *Graph, _ []Tensor) { node(g, "c").Name = long },
		"cannot be printed":               func(g *Graph, _ []Tensor) { node(g, "c").Name = "a\u202eb" },
		`"x": two values`:                 func(g *Graph, _ []Tensor) { node(g, "c").Name = "x" },
		`"l.c": two values`:               func(g *Graph, _ []Tensor) { node(g, "d").Name = "l.c" },
		`operation "lstn"`:                func(g *Graph, _ []Tensor) { node(g, "l").Op = "lstn" },
		`activation "gelu"`:               func(g *Graph, _ []Tensor) { node(g, "c").Act = "gelu" },
		`"c": conv of 2 operands`:         func(g *Graph, _ []Tensor) { node(g, "c").In = []string{"x", "x"} },
		`"p": max_pool of 0 operands`:     func(g *Graph, _ []Tensor) { node(g, "p").In = nil },
		`"l": lstm of 2 operands`:         func(g *Graph, _ []Tensor) { node(g, "l").In = []string{"p", "p"} },
		`"l": first state "p" has length`: func(g *Graph, _ []Tensor) { node(g, "l").In = []string{"p", "p", "p"} },
		`"b": operand "p" is not`:         func(g *Graph, _ []Tensor) { node(g, "b").In[0] = "p" },
		`"p": act is not an option`:       func(g *Graph, _ []Tensor) { node(g, "p").Act = "elu" },
		`"d": flip is not an option`:      func(g *Graph, _ []Tensor) { node(g, "d").Flip = true },
		`"l": tied is not an option`:      func(g *Graph, _ []Tensor) { node(g, "l").Tied = true },
		`"d": reverse is not an option`:   func(g *Graph, _ []Tensor) { node(g, "d").Reverse = true },
		`"d": columns is not an option`:   func(g *Graph, _ []Tensor) { node(g, "d").Columns = []int{0} },
		`"p": factor is not an option`:    func(g *Graph, _ []Tensor) { node(g, "p").Factor = 3 },
		`"d": depool by a factor of 1`: func(g *Graph, _ []Tensor) {
			*node(g, "d") = Node{Name: "d", Op: OpDepool, In: []string{"p"}, Factor: 1}
		},
		`"d": depool by a factor of -3`: func(g *Graph, _ []Tensor) {
			*node(g, "d") = Node{Name: "d", Op: OpDepool, In: []string{"p"}, Factor: -3}
		},
		`"d": depool by a factor of 17`: func(g *Graph, _ []Tensor) {
			*node(g, "d") = Node{Name: "d", Op: OpDepool, In: []string{"p"}, Factor: 17}
		},
		`"d": act names no activation`: func(g *Graph, _ []Tensor) { *node(g, "d") = Node{Name: "d", Op: OpAct, In: []string{"l"}} },
		`"d": select of 0 columns`:     func(g *Graph, _ []Tensor) { *node(g, "d") = Node{Name: "d", Op: OpSelect, In: []string{"l"}} },
		`there is no channel 1`: func(g *Graph, _ []Tensor) {
			*node(g, "d") = Node{Name: "d", Op: OpSelect, In: []string{"l"}, Columns: []int{1}}
		},
		`there is no channel -1`: func(g *Graph, _ []Tensor) {
			*node(g, "d") = Node{Name: "d", Op: OpSelect, In: []string{"l"}, Columns: []int{-1}}
		},
		`operands "l" and "x" have other`:                          func(g *Graph, _ []Tensor) { *node(g, "d") = Node{Name: "d", Op: OpConcat, In: []string{"l", "x"}} },
		`add of "p" of 2 channels and "l" of 1`:                    func(g *Graph, _ []Tensor) { *node(g, "d") = Node{Name: "d", Op: OpAdd, In: []string{"p", "l"}} },
		`"d": max_pool of "l.h"`:                                   func(g *Graph, _ []Tensor) { *node(g, "d") = Node{Name: "d", Op: OpMaxPool, In: []string{"l.h"}} },
		`tensors: dense has no "gamma"`:                            func(g *Graph, _ []Tensor) { node(g, "d").Tensors = map[string]string{"gamma": "c.weight"} },
		`tensors: bias has the name`:                               func(g *Graph, _ []Tensor) { node(g, "d").Tensors = map[string]string{"bias": ""} },
		`"y": output, but`:                                         func(g *Graph, _ []Tensor) { g.Outputs[0] = "y" },
		`"l.c": output twice`:                                      func(g *Graph, _ []Tensor) { g.Outputs[0] = "l.c" },
		`tensor "y": it is missing, node "d" needs it as its bias`: func(g *Graph, _ []Tensor) { node(g, "d").Tensors = map[string]string{"bias": "y"} },
		`tensor "b.var": variance 1 is -1`:                         func(_ *Graph, ts []Tensor) { tensor(ts, "b.var").Data[1] = -1 },
		`tensor "x.std": deviation 0 is -2`:                        func(_ *Graph, ts []Tensor) { tensor(ts, "x.std").Data[0] = -2 },
		`tensor "l.recurrent": value 2 is NaN`:                     func(_ *Graph, ts []Tensor) { tensor(ts, "l.recurrent").Data[2] = float32(math.NaN()) },
		`tensor "l.weight": value 0 is -Inf`:                       func(_ *Graph, ts []Tensor) { tensor(ts, "l.weight").Data[0] = float32(math.Inf(-1)) },
		`tensor "c.weight": has shape [2 3 2], axis 1 should be 2`: func(_ *Graph, ts []Tensor) { tensor(ts, "c.weight").Shape = []int{2, 3, 2} },
		`tensor "l.weight": 2 gates for a state of 1`: func(_ *Graph, ts []Tensor) {
			shrink(ts, "l.weight", 2, 2)
			shrink(ts, "l.recurrent", 2, 1)
			shrink(ts, "l.bias", 2)
		},
		`tensor "__metadata__": the format reserves this name`:  func(g *Graph, ts []Tensor) { tensor(ts, "d.bias").Name = metadataKey },
		`tensor "d.bias": unknown tensors "d.bias", "d.weight"`: func(g *Graph, _ []Tensor) { *node(g, "d") = Node{Name: "d", Op: OpAct, Act: "elu", In: []string{"l"}} },
		`tensor "b.gamma": channel 1 is scaled by +Inf`: func(_ *Graph, ts []Tensor) {
			tensor(ts, "b.gamma").Data[1], tensor(ts, "b.var").Data[1] = 3e38, 0
		},
		`tensor "b.beta": channel 0 is moved by -Inf`: func(_ *Graph, ts []Tensor) {
			tensor(ts, "b.gamma").Data[0], tensor(ts, "b.mean").Data[0], tensor(ts, "b.var").Data[0] = 1e30, 1e30, 1
		},
	} {
		n := smallGraph()
		g, ts := n.Graph(), n.Tensors()
		spoil(g, ts)
		_, err := New(Meta{Arch: "graph", Graph: g}, ts)
		var ge *GraphError
		var te *TensorError
		var ue *UnsupportedError
		switch {
		case err == nil || !errors.As(err, &ge) && !errors.As(err, &te) && !errors.As(err, &ue):
			t.Errorf("error %v, want one with %s", err, want)
		case !strings.Contains(err.Error(), want):
			t.Errorf("error %v, want one with %s", err, want)
		}
	}
	for want, meta := range map[string]Meta{
		"without a graph": {Arch: "graph"},
		"leave it out":    {Arch: "mann", Graph: smallGraph().Graph()},
	} {
		must.Fail(New(meta, nil))(t, want)
	}
}

func shrink(ts []Tensor, name string, shape ...int) {
	for i := range ts {
		if ts[i].Name == name {
			n := 1
			for _, d := range shape {
				n *= d
			}
			ts[i].Shape, ts[i].Data = shape, ts[i].Data[:n]
		}
	}
}

// Values that are too wide, too many or too long are refused before anything of that size exists.
func TestGraphBounds(t *testing.T) {
	wide := func(nodes, operands int) *Graph {
		g := &Graph{Inputs: []Input{{Name: "x", Channels: maxChannels / 2}}, Outputs: []string{"x"}}
		for i := range nodes {
			n := Node{Name: fmt.Sprint("n", i), Op: OpConcat}
			for range operands {
				n.In = append(n.In, "x")
			}
			g.Nodes = append(g.Nodes, n)
		}
		return g
	}
	deep := &Graph{Inputs: []Input{{Name: "x", Channels: 1}}, Outputs: []string{"x"}}
	for i := range maxHalvings + 1 {
		name := "x"
		if i > 0 {
			name = fmt.Sprint("n", i-1)
		}
		deep.Nodes = append(deep.Nodes, Node{Name: fmt.Sprint("n", i), Op: OpDepool, In: []string{name}})
	}
	for want, g := range map[string]*Graph{
		"1572864 channels, at most": wide(1, 3),
		"channels in all values":    wide(100, 1),
		"no more than 256 times":    deep,
	} {
		must.Fail(New(Meta{Arch: "graph", Graph: g}, nil))(t, want)
	}
}

func TestDecodeGraphRejects(t *testing.T) {
	for want, s := range map[string]string{
		"want the start of an object": `[]`,
		"unexpected EOF":              `{"inputs":[`,
		"after the object":            `{} {}`,
		`unknown key "input"`:         `{"input":[]}`,
		`unknown key "Inputs"`:        `{"Inputs":[]}`,
		`key "inputs" twice`:          `{"inputs":[],"inputs":[]}`,
		"want the start of a list":    `{"nodes":{}}`,
		`unknown key "op2"`:           `{"nodes":[{"op2":"x"}]}`,
		`unknown key "chanels"`:       `{"inputs":[{"chanels":1}]}`,
		"cannot unmarshal":            `{"inputs":[{"channels":1.5}]}`,
		"list of more than 4096":      `{"nodes":[` + strings.Repeat("{},", maxNodes) + `{}]}`,
		"more than 8 tensors":         `{"nodes":[{"tensors":{"a":"","b":"","c":"","d":"","e":"","f":"","g":"","h":"","i":""}}]}`,
		"at most 1048576":             strings.Repeat(" ", maxGraphJSON+1),
	} {
		_, err := decodeGraph(s)
		var g *GraphError
		if !errors.As(err, &g) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: error %v, want %s", s, err, want)
		}
	}
}

// TestGraphJSON checks that decodeGraph reads the output of encoding/json.
func TestGraphJSON(t *testing.T) {
	for _, c := range graphCases() {
		b := must.Get(json.Marshal(c.net.Graph()))(t)
		g, err := decodeGraph(string(b))
		if err != nil || !reflect.DeepEqual(g.clone(), c.net.Graph()) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestDecodeNamesTheTensor breaks the header and the data of one tensor.
func TestDecodeNamesTheTensor(t *testing.T) {
	good := encoded(t, smallGraph())
	kv, _, _, err := parse(good)
	if err != nil {
		t.Fatal(err)
	}
	delete(kv, keyChecksum)
	for want, spoil := range map[string]func(e []entry, data []byte) []byte{
		"data type":      func(e []entry, d []byte) []byte { e[3].dtype = "I64"; return d },
		"its data begin": func(e []entry, d []byte) []byte { e[3].lo -= 4; return d },
		"too large":      func(e []entry, d []byte) []byte { e[3].shape = []int{math.MaxInt, math.MaxInt}; return d },
		"takes 12 bytes": func(e []entry, d []byte) []byte { e[3].shape = []int{3}; return d },
		"section has":    func(e []entry, d []byte) []byte { return d[:e[3].lo+2] },
		"value 0 is NaN": func(e []entry, d []byte) []byte { copy(d[e[3].lo:], "\xff\xff\xff\xff"); return d },
		"is missing":     func(e []entry, d []byte) []byte { e[3].name = "other"; return d },
	} {
		_, entries, data, err := parse(slices.Clone(good))
		if err != nil {
			t.Fatal(err)
		}
		name := entries[3].name
		data = spoil(entries, data)
		head := must.Get(header(kv, entries))(t)
		_, err = Decode(append(file(string(head), 0), data...))
		var te *TensorError
		var fe *FormatError
		if !errors.As(err, &te) || !errors.As(err, &fe) || te.Tensor != name || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q with %s", err, name, want)
		}
	}
}

// A file may not have a result of no channels.
func TestDecodeRefusesNoChannels(t *testing.T) {
	kv, err := (&Meta{Arch: "graph", Graph: &Graph{
		Inputs: []Input{{Name: "x", Channels: 2}}, Nodes: []Node{{Name: "d", Op: OpDense, In: []string{"x"}}}, Outputs: []string{"d"},
	}}).strings(nil)
	if err != nil {
		t.Fatal(err)
	}
	head := must.Get(header(kv, []entry{{name: "d.weight", dtype: typeF32, shape: []int{0, 2}}, {name: "d.bias", dtype: typeF32, shape: []int{0}}}))(t)
	_, err = Decode(file(string(head), 0))
	var te *TensorError
	if !errors.As(err, &te) || te.Tensor != "d.weight" {
		t.Errorf("error %v, want one about d.weight", err)
	}
}
