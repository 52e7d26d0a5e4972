package onnx

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// encoded returns a case as a file and as the reader sees it.
func (c *testCase) encoded(t *testing.T, form Form) ([]byte, *readModel) {
	t.Helper()
	form = must.Get(form.resolve())(t)
	g := must.Get(export(&c.net.graph, c.net.byName(), form, c.name))(t)
	file := modelProto(g, nil)
	m := must.Get(read(file))(t)
	return file, m
}

// flat reports whether m's values have two axes.
func (m *readModel) flat() bool { return len(m.axes[m.inputs[0]]) == 2 }

// shaped returns an array as the model wants it: a flat one takes rows.
func (m *readModel) shaped(a array) array {
	if m.flat() {
		return array{[]int{a.dims[0] * a.dims[1], a.dims[2]}, a.data}
	}
	return a
}

// TestEveryOperation reads each exported graph back and computes it by ONNX's
// definitions in float64, beside the network's own definitions.
func TestEveryOperation(t *testing.T) {
	for _, c := range cases() {
		for _, form := range FormsOf(&c.net.graph) {
			_, m := c.encoded(t, form)
			for _, batch := range []int{1, 3} {
				in := c.inputs(batch)
				want := c.net.twin(in)
				for name, a := range in {
					in[name] = m.shaped(a)
				}
				got, err := m.eval(in)
				if err != nil {
					t.Fatalf("%s %v: %v", c.name, form, err)
				}
				for _, name := range c.net.graph.Outputs {
					w := m.shaped(want[name])
					if !slices.Equal(got[name].dims, w.dims) {
						t.Fatalf("%s %v: %s has shape %v, want %v", c.name, form, name, got[name].dims, w.dims)
					}
					// Constants that the exporter computes are rounded to float32.
					for i, v := range got[name].data {
						if !(math.Abs(v-w.data[i]) <= 2e-6) {
							t.Fatalf("%s %v: %s[%d] = %v, want %v", c.name, form, name, i, v, w.data[i])
						}
					}
					m.checkAxes(t, name, w.dims, batch, c.length)
				}
			}
		}
	}
}

// checkAxes compares declared with actual sizes.
func (m *readModel) checkAxes(t *testing.T, name string, dims []int, batch, length int) {
	t.Helper()
	sizes := map[string]int{"batch": batch, "length": length, "length_over_2": length / 2, "length_times_2": 2 * length, "length_times_4": 4 * length,
		"length_times_15": 15 * length, "length_times_3_over_2": 3 * length / 2}
	axes := m.axes[name]
	if len(axes) != len(dims) || axes[0] != "batch" {
		t.Fatalf("%s is declared as %v", name, axes)
	}
	for i, a := range axes {
		n, fixed := a.(int)
		if !fixed {
			n = sizes[a.(string)]
		}
		if n != dims[i] {
			t.Fatalf("%s is declared as %v, and is %v", name, axes, dims)
		}
	}
}

// TestNoNeedlessTransposes counts them at the edges of convolutions; flat graphs have none.
func TestNoNeedlessTransposes(t *testing.T) {
	want := map[string]int{"autoencoder": 2, "conv 3 flip false tied false": 2, "dense relu": 0, "lstm from rest, reverse false": 2,
		"add over time": 4 /* x, b, y and z */}
	for _, c := range cases() {
		n, known := want[c.name]
		if !known {
			continue
		}
		delete(want, c.name)
		_, m := c.encoded(t, nil)
		got := 0
		for _, node := range m.nodes {
			if node.op == "Transpose" {
				got++
			}
		}
		if got != n {
			t.Errorf("%s: %d transposes, want %d", c.name, got, n)
		}
	}
	if len(want) > 0 {
		t.Errorf("no such cases: %v", want)
	}
}

func TestForms(t *testing.T) {
	for _, f := range []Form{{"blend": "soup"}, {"dance": "1d"}} {
		if _, err := f.resolve(); err == nil {
			t.Errorf("%v is accepted", f)
		}
	}
	f, err := Form{"depool": "plain"}.resolve()
	if err != nil || f["blend"] != "outputs" || f["depool"] != "plain" || f["conv"] != "2d" {
		t.Errorf("%v, %v", f, err)
	}
}

func TestFormsOf(t *testing.T) {
	want := map[string]int{"dense relu": 1, "blend": 3, "conv 1 flip false tied false": 3, "autoencoder": 6}
	for _, c := range cases() {
		forms := FormsOf(&c.net.graph)
		if n, known := want[c.name]; known && len(forms) != n {
			t.Errorf("%s: %v", c.name, forms)
		}
		delete(want, c.name)
	}
	if len(want) > 0 {
		t.Errorf("no such cases: %v", want)
	}
}

func TestAnInputIsNoOutput(t *testing.T) {
	g := netruntime.Graph{Inputs: []netruntime.Input{{Name: "x", Channels: 1}}, Outputs: []string{"x"}}
	if _, err := export(&g, nil, nil, "copy"); err == nil || !strings.Contains(err.Error(), `"x"`) {
		t.Errorf("error %v", err)
	}
}
