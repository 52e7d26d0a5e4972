package onnx

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
	"mannequin/netruntime"
)

// net returns the case as a network, with metadata.
func (c *testCase) build(t *testing.T) *netruntime.Net {
	t.Helper()
	n, err := netruntime.New(netruntime.Meta{
		Arch: "graph", Name: c.name, License: "CC0", SchemaHash: "abc", Graph: &c.net.graph,
	}, c.net.tensors)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return n
}

// within reports whether two numbers agree to 1e-5, relative above 1.
func within(got, want float64) bool { return math.Abs(got-want) <= 1e-5*max(1, math.Abs(want)) }

func narrow(a array) []float32 {
	out := make([]float32, len(a.data))
	for i, v := range a.data {
		out[i] = float32(v)
	}
	return out
}

// TestSessionComputesTheSame computes every case in a session and, by ONNX's
// definitions, from the exported file.
func TestSessionComputesTheSame(t *testing.T) {
	const batch = 3
	for _, c := range cases() {
		n := c.build(t)
		file := must.Get(Marshal(n, nil))(t)
		m := must.Get(read(file))(t)
		in := c.inputs(batch)
		var x, y [][]float32
		for _, i := range c.net.graph.Inputs {
			x = append(x, narrow(in[i.Name]))
			in[i.Name] = m.shaped(in[i.Name])
		}
		want := must.Get(m.eval(in))(t)
		for _, name := range c.net.graph.Outputs {
			y = append(y, make([]float32, len(want[name].data)))
		}
		s := must.Get(n.NewSession(netruntime.SessionOptions{Batch: batch, Length: c.length, Workers: 1}))(t)
		if err := s.RunSequences(y, x, batch, c.length); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		s.Close()
		for i, name := range c.net.graph.Outputs {
			for j, v := range y[i] {
				if w := want[name].data[j]; !within(float64(v), w) {
					t.Fatalf("%s: %s[%d] = %v, ONNX says %v", c.name, name, j, v, w)
				}
			}
		}
	}
}

// rawInputs returns rows spread like the network's training data.
func rawInputs(n *netruntime.Net, rows int) []float32 {
	mean, _ := n.Tensor("x_mean")
	std, _ := n.Tensor("x_std")
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([]float32, rows*n.Inputs())
	for i := range x {
		c := i % n.Inputs()
		x[i] = mean.Data[c] + std.Data[c]*float32(rng.NormFloat64())
	}
	return x
}

// TestDog exports a whole model file's network in every form of its blends.
func TestDog(t *testing.T) {
	const rows = 3
	n := testdog.Net(t)
	x, y := rawInputs(n, rows), make([]float32, rows*n.Outputs())
	s := must.Get(n.NewSession(netruntime.SessionOptions{Batch: rows, Workers: 1}))(t)
	defer s.Close()
	must.Do(t, s.Run(y, x, rows))
	for _, form := range Forms()[formBlend] {
		file := must.Get(Marshal(n, Form{formBlend: form}))(t)
		m := must.Get(read(file))(t)
		if len(m.inputs) != 1 || len(m.outputs) != 1 {
			t.Fatalf("inputs %q, outputs %q", m.inputs, m.outputs)
		}
		in := zeros(rows, n.Inputs())
		for i, v := range x {
			in.data[i] = float64(v)
		}
		got := must.Get(m.eval(map[string]array{m.inputs[0]: in}))(t)
		for i, v := range got[m.outputs[0]].data {
			if !within(float64(y[i]), v) {
				t.Fatalf("%s: output %d is %v, ONNX says %v", form, i, y[i], v)
			}
		}
	}
}

func TestHeader(t *testing.T) {
	c := cases()[0]
	file := must.Get(Marshal(c.build(t), nil))(t)
	m := must.Get(read(file))(t)
	if m.ir != 8 || m.opset != 17 {
		t.Errorf("IR version %d, opset %d", m.ir, m.opset)
	}
	for key, want := range map[string]string{"name": c.name, "arch": "graph", "license": "CC0", "schema_hash": "abc"} {
		if m.metadata[key] != want {
			t.Errorf("%s is %q, want %q", key, m.metadata[key], want)
		}
	}
	if _, ok := m.metadata["data"]; ok {
		t.Error("metadata without a value are there")
	}
	if !slices.Equal(m.axes["x"], []any{"batch", 5}) {
		t.Errorf("axes %v", m.axes["x"])
	}
	if _, err := Marshal(c.build(t), Form{"blend": "soup"}); err == nil {
		t.Error("an unknown form is accepted")
	}
}
