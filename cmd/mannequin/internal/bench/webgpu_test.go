//go:build webgpu

package bench

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mannequin/cmd/mannequin/internal/doctor"
	"mannequin/internal/testing/testcli"
	"mannequin/netruntime/webgpu"
)

// TestWebGPUBench: the report is whole, and the GPU's outputs are the processor's. doctor names the
// device.
func TestWebGPUBench(t *testing.T) {
	name, err := webgpu.Device()
	if err != nil {
		t.Skip("no GPU, and no software driver of one: ", err)
	}
	model := testcli.Dog(t)
	code, out, errs := mannequin("bench", "--model", model, "--agents", "1,33", "--backend", "webgpu", "--json")
	var r webgpuReport
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("code %d, %v: %s%s", code, err, out, errs)
	}
	if len(r.Rows) != 2 || r.Device != name {
		t.Fatalf("%+v", r)
	}
	for _, row := range r.Rows {
		if !(row.Error <= 1e-4) || !(row.MS > 0) || !(row.CPUMS > 0) || !slices.Contains([]int{1, 33}, row.Batch) {
			t.Errorf("%+v", row)
		}
	}
	if _, out, _ := testcli.Run(testcli.Root(doctor.New()), "doctor"); !strings.Contains(out, name) {
		t.Errorf("doctor does not name %s: %s", name, out)
	}
}
