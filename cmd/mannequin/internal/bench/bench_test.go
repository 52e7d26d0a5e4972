package bench

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/command"
	"mannequin/internal/testing/testcli"
	"mannequin/netruntime"
)

func TestBench(t *testing.T) {
	code, out, errs := mannequin("bench", "--model", testcli.Dog(t), "--agents", "1,5", "--ticks", "12", "--threads", "2", "--json")
	var r benchReport
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("code %d, %v: %s%s", code, err, out, errs)
	}
	if len(r.Rows) != 2 || r.Rows[1].Agents != 5 || r.Rows[1].Ticks != 12 {
		t.Fatalf("rows %+v", r.Rows)
	}
	for _, row := range r.Rows {
		var names []string
		sum := 0.0
		for _, s := range row.Stages {
			names = append(names, s.Name)
			sum += s.MS
		}
		if want := []string{"Roam", "SelectLOD", "Plan", "Gather", "Infer", "Scatter", "Sample", "Clips", "Collide", "Blend", "Layers", "Ground", "Aim", "Publish"}; !slices.Equal(names, want) {
			t.Errorf("stages %v, want %v", names, want)
		}
		if !(row.TickMinMS > 0) || row.TickMinMS > row.TickMS || math.Abs(row.AgentsPerMS*row.TickMS-float64(row.Agents)) > 1e-6 {
			t.Errorf("times do not fit together: %+v", row)
		}
	}
	for _, bad := range [][]string{{"--ticks", "0"}, {"--agents", "0"}, {"--threads", "-1"}, {"--agents", "x"}} {
		if code, _, _ := mannequin(append([]string{"bench"}, bad...)...); code != command.ExitUsage {
			t.Errorf("%v: code %d", bad, code)
		}
	}
	// The kernel is the one that the network's session reports.
	code, out, errs = mannequin("bench", "--agents", "2", "--ticks", "2", "--bf16", "--json")
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("code %d, %v: %s%s", code, err, out, errs)
	}
	want := netruntime.Kernels()
	if netruntime.HasBF16() {
		want += "_bf16"
	}
	if r.Kernel != want {
		t.Errorf("--bf16 ran on %q, want %q", r.Kernel, want)
	}
	if code, _, _ := mannequin("bench", "--model", "no-such-model"); code != command.ExitFailure {
		t.Errorf("unknown model: code %d", code)
	}
}

// TestBenchAll: the processor is timed, and each GPU is timed or missing for a reason.
func TestBenchAll(t *testing.T) {
	model := testcli.Dog(t)
	code, out, errs := mannequin("bench", "--model", model, "--agents", "5,1", "--backend", "all", "--json")
	var r struct {
		CPU          []cpuRow
		CUDA, WebGPU *struct{ Device string }
		Missing      map[string]string
	}
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("code %d, %v: %s%s", code, err, out, errs)
	}
	if len(r.CPU) != 2 || r.CPU[0].Batch != 1 || !(r.CPU[1].MS > 0) {
		t.Errorf("cpu: %+v", r.CPU)
	}
	if (r.CUDA == nil) != (r.Missing["cuda"] != "") || (r.WebGPU == nil) != (r.Missing["webgpu"] != "") {
		t.Errorf("neither timed nor missing: %s", out)
	}
	if code, out, errs := mannequin("bench", "--model", model, "--agents", "1", "--backend", "all"); code != 0 || !strings.Contains(out, "\ncuda: ") || !strings.Contains(out, "\nwebgpu: ") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	if code, _, errs := mannequin("bench", "--backend", "all", "--ticks", "3"); code != command.ExitUsage {
		t.Errorf("--ticks with --backend all: code %d: %s", code, errs)
	}
}

func TestMedian(t *testing.T) {
	if median([]float64{3, 1, 2}) != 2 || median([]float64{4, 1, 3, 2}) != 2.5 {
		t.Error("median is wrong")
	}
}

func TestBenchPeople(t *testing.T) {
	code, out, errs := mannequin("bench", "people", "--agents", "2", "--seconds", "0.2", "--threads", "2", "--json")
	var r peopleReport
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("code %d, %v: %s%s", code, err, out, errs)
	}
	if !(r.Mean > 0) || r.Median > r.Max || r.P99 > r.Max || len(r.Stages) != 11 || !(r.FlatOut > 0) {
		t.Errorf("%+v", r)
	}
	for _, bad := range [][]string{{"--agents", "0"}, {"--seconds", "0"}, {"--threads", "0"}, {"--iterations", "-1"}, {"x"}} {
		if code, _, _ := mannequin(append([]string{"bench", "people"}, bad...)...); code != command.ExitUsage {
			t.Errorf("%v: code %d", bad, code)
		}
	}
}

// mannequin runs one command line as a user would.
func mannequin(args ...string) (code int, stdout, stderr string) {
	return testcli.Run(testcli.Root(New()), args...)
}
