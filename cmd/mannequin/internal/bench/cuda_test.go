//go:build cuda

package bench

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mannequin/cmd/mannequin/internal/doctor"
	"mannequin/internal/testing/fakecuda"
	"mannequin/internal/testing/testcli"
)

func TestMain(m *testing.M) { fakecuda.Main(m) }

// TestCUDABench: the report is whole, and the GPU's outputs are the processor's.
func TestCUDABench(t *testing.T) {
	model := testcli.Dog(t)
	for _, test := range []struct {
		args    []string
		batches []int
	}{
		{[]string{"bench", "--model", model, "--agents", "1,33"}, []int{1, 33}},
		{[]string{"bench", "net", "--work", "lstm"}, []int{1, 16, 256}},
	} {
		if test.args[1] == "net" && !fakecuda.Device() {
			continue // too much for a processor
		}
		code, out, errs := mannequin(append(test.args, "--backend", "cuda", "--json")...)
		var r gpuReport
		if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
			t.Fatalf("code %d, %v: %s%s", code, err, out, errs)
		}
		if len(r.Peaks) != 3 || len(r.Rows) != 3*len(test.batches) {
			t.Fatalf("%+v", r)
		}
		for _, row := range r.Rows {
			bar := map[string]float64{"fp32": 1e-4, "tf32": 5e-3, "bf16": 0.05}[string(row.Precision)]
			if !(row.Error <= bar) || !(row.MS > 0) || !(row.CPUMS > 0) || !slices.Contains(test.batches, row.Batch) {
				t.Errorf("%+v", row)
			}
		}
	}
	if _, out, _ := testcli.Run(testcli.Root(doctor.New()), "doctor"); !strings.Contains(out, "Fake CUDA Device") && !fakecuda.Device() {
		t.Errorf("doctor does not name the device: %s", out)
	}
}
