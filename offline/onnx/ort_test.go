//go:build ort

package onnx

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"mannequin/internal/bench/benchnet"
	"mannequin/internal/bench/ort"
	"mannequin/internal/testing/authors"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/netruntime"
)

func loadORT(t *testing.T) {
	t.Helper()
	if os.Getenv("ORT_LIB") == "" {
		t.Skip("ONNX Runtime is absent: set ORT_LIB to the path that scripts/onnxruntime.sh prints")
	}
	must.Do(t, ort.Load())
}

// float32s returns an array's values and dims for ONNX Runtime.
func (a array) ort(name string) ort.Array {
	out := ort.Array{Name: name, Dims: a.dims, Data: make([]float32, len(a.data))}
	for i, v := range a.data {
		out.Data[i] = float32(v)
	}
	return out
}

// TestEveryOperationInORT runs each graph in ONNX Runtime and by its float64 definitions.
func TestEveryOperationInORT(t *testing.T) {
	loadORT(t)
	for _, c := range cases() {
		for _, form := range FormsOf(&c.net.graph) {
			file, m := c.encoded(t, form)
			in := c.inputs(3)
			want := c.net.twin(in)
			var inputs, outputs []ort.Array
			for _, name := range m.inputs {
				inputs = append(inputs, m.shaped(in[name]).ort(name))
			}
			for _, name := range m.outputs {
				w := m.shaped(want[name])
				outputs = append(outputs, zeros(w.dims...).ort(name))
			}
			s, err := ort.New(file, ort.Options{Threads: 1}, inputs, outputs)
			if err != nil {
				t.Errorf("%s %v: %v", c.name, form, err)
				continue
			}
			if err := s.Run(); err != nil {
				t.Errorf("%s %v: %v", c.name, form, err)
			}
			s.Close()
			for i, name := range m.outputs {
				for j, w := range want[name].data {
					if v := float64(outputs[i].Data[j]); !(math.Abs(v-w) <= 1e-5) {
						t.Errorf("%s %v: %s[%d] = %v, want %v", c.name, form, name, j, v, w)
						break
					}
				}
			}
		}
	}
}

// TestNetworksInORT runs whole networks in ONNX Runtime and in our session.
func TestNetworksInORT(t *testing.T) {
	loadORT(t)
	for _, w := range benchnet.Works() {
		t.Run(w.Name, func(t *testing.T) {
			n := must.Get(w.Net(5))(t)
			compareORT(t, n, w.Inputs(n, 3), 3, w.Length)
		})
	}
	t.Run("dog", func(t *testing.T) {
		n := must.Get(models.Open("dog"))(t)
		compareORT(t, n, rawInputs(n, 70), 70, 1)
	})
	t.Run("authors", func(t *testing.T) {
		n, err := authors.Read(filepath.Join(mocapdata.Dir(t), "reference", "mann-2018-04"))
		if err != nil {
			t.Skip(err)
		}
		compareORT(t, n, rawInputs(n, 70), 70, 1)
	})
}

// compareORT compares a network of one input and output, by all forms of its operations.
func compareORT(t *testing.T, n *netruntime.Net, x []float32, batch, length int) {
	g := n.Graph()
	frames := must.Get(g.Length(g.Outputs[0], length))(t)
	s := must.Get(n.NewSession(netruntime.SessionOptions{Batch: batch, Length: length, Workers: 2}))(t)
	defer s.Close()
	want := make([]float32, batch*frames*n.Outputs())
	must.Do(t, s.RunSequences([][]float32{want}, [][]float32{x}, batch, length))
	for _, form := range FormsOf(g) {
		file := must.Get(Marshal(n, form))(t)
		m := must.Get(read(file))(t)
		in, out := []int{batch, length, n.Inputs()}, []int{batch, frames, n.Outputs()}
		if m.flat() {
			in, out = []int{batch, n.Inputs()}, []int{batch, n.Outputs()}
		}
		got := make([]float32, len(want))
		peer := must.Get(ort.New(file, ort.Options{Threads: 2, Spin: true},
			[]ort.Array{{Name: m.inputs[0], Dims: in, Data: x}}, []ort.Array{{Name: m.outputs[0], Dims: out, Data: got}}))(t)
		err := peer.Run()
		peer.Close()
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i, w := range want {
			if !within(float64(got[i]), float64(w)) {
				t.Fatalf("%v: output %d is %v, ours %v", form, i, got[i], w)
			}
			worst = max(worst, math.Abs(float64(got[i])-float64(w)))
		}
		t.Logf("%v: largest difference %.2g", form, worst)
	}
}
