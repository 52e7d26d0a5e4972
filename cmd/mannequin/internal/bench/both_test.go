//go:build cuda && webgpu

package bench

import (
	"encoding/json"
	"strings"
	"testing"

	"mannequin/cmd/mannequin/internal/doctor"
	"mannequin/internal/testing/testcli"
	"mannequin/netruntime/cuda"
	"mannequin/netruntime/webgpu"
)

// TestBothBackends: a program with both tags finds both GPUs, and times networks on each.
func TestBothBackends(t *testing.T) {
	any, err := webgpu.Device()
	if err != nil {
		t.Skip("no GPU, and no software driver of one: ", err)
	}
	code, out, errs := mannequin("bench", "--model", testcli.Dog(t), "--agents", "3", "--backend", "all", "--json")
	var r struct {
		CPU     []cpuRow
		CUDA    gpuReport
		WebGPU  webgpuReport
		Missing map[string]string
	}
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("code %d, %v: %s%s", code, err, out, errs)
	}
	nvidia, err := cuda.Device()
	if err != nil {
		t.Fatal(err)
	}
	if len(r.CPU) != 1 || r.CUDA.Device != nvidia || len(r.CUDA.Rows) != 3 || r.WebGPU.Device != any || len(r.WebGPU.Rows) < 1 || len(r.Missing) > 0 {
		t.Errorf("%+v", r)
	}
	if _, out, _ := testcli.Run(testcli.Root(doctor.New()), "doctor"); !strings.Contains(out, nvidia) || !strings.Contains(out, any) {
		t.Errorf("doctor does not name %s and %s: %s", nvidia, any, out)
	}
}
