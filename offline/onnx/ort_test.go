//go:build ort

package onnx

import (
	"math"
	"os"
	"testing"

	"mannequin/internal/ort"
)

func loadORT(t *testing.T) {
	t.Helper()
	if os.Getenv("ORT_LIB") == "" {
		t.Skip("ONNX Runtime is absent: set ORT_LIB to the path that scripts/onnxruntime.sh prints")
	}
	if err := ort.Load(); err != nil {
		t.Fatal(err)
	}
}

// float32s returns an array's values and dims for ONNX Runtime.
func (a array) ort(name string) ort.Array {
	out := ort.Array{Name: name, Dims: a.dims, Data: make([]float32, len(a.data))}
	for i, v := range a.data {
		out.Data[i] = float32(v)
	}
	return out
}

// TestEveryOperationInORT runs each exported graph in ONNX Runtime, beside the
// network's definitions in float64.
func TestEveryOperationInORT(t *testing.T) {
	loadORT(t)
	for _, c := range cases() {
		for _, form := range formsOf() {
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
