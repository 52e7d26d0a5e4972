//go:build webgpu

package bench

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mannequin/cmd/mannequin/internal/doctor"
	"mannequin/internal/command"
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
	if n := len(r.Rows); n != 2 && n != 4 || r.Device != name {
		t.Fatalf("%+v", r)
	}
	for i, row := range r.Rows {
		most := 1e-4
		if len(r.Rows) == 4 && i%2 == 1 {
			most = 0.01
		}
		if (row.Kernel == "webgpu_f16") != (most > 1e-4) || !(row.Error <= most) || !(row.MS > 0) || !(row.CPUMS > 0) || !slices.Contains([]int{1, 33}, row.Batch) {
			t.Errorf("%+v", row)
		}
	}
	if _, out, _ := testcli.Run(testcli.Root(doctor.New()), "doctor"); !strings.Contains(out, name) {
		t.Errorf("doctor does not name %s: %s", name, out)
	}
}

// TestWebGPUBenchResident: dogs and people that live on the GPU are timed beside their networks and the processor's crowd.
func TestWebGPUBenchResident(t *testing.T) {
	name, err := webgpu.Device()
	if err != nil {
		t.Skip("no GPU, and no software driver of one: ", err)
	}
	for _, of := range []struct {
		flag, name string
		up         int
	}{{"--model", testcli.Dog(t), 32}, {"--character", "hero", 48}} {
		code, out, errs := mannequin("bench", "resident", of.flag, of.name, "--agents", "2,5", "--ticks", "3", "--json")
		var r residentReport
		if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
			t.Fatalf("code %d, %v: %s%s", code, err, out, errs)
		}
		if len(r.Rows) != 2 || r.Device != name {
			t.Fatalf("%+v", r)
		}
		for _, row := range r.Rows {
			if min(row.TickMS, row.TickMinMS, row.FlatOutMS, row.SubmitMS, row.BonesMS, row.NetworkMS, row.CPUMS) <= 0 || row.TickMinMS > row.TickMS || row.Up != of.up || row.Down < 32 || row.Allocs >= 2 {
				t.Errorf("%+v", row)
			}
		}
	}
	if code, _, _ := mannequin("bench", "resident", "--character", "nobody"); code == 0 {
		t.Error("nobody is timed")
	}
	if code, _, _ := mannequin("bench", "resident", "--agents", "0"); code != command.ExitUsage {
		t.Errorf("no agents: code %d", code)
	}
}
