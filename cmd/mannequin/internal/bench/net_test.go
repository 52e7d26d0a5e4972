package bench

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/bench/benchnet"
	"mannequin/internal/command"
)

func TestBenchNet(t *testing.T) {
	code, out, errs := mannequin("bench", "net", "--work", "lstm", "--threads", "2", "--rounds", "1", "--json")
	var rows []map[string]any
	if err := json.Unmarshal([]byte(out), &rows); code != 0 || err != nil {
		t.Fatalf("code %d, %v: %s%s", code, err, out, errs)
	}
	batches := map[float64]bool{}
	for _, r := range rows {
		for _, key := range []string{"work", "batch", "kernel", "threads", "ms_min", "ms_median", "gflops", "peak_fraction", "allocs"} {
			if _, ok := r[key]; !ok {
				t.Fatalf("%v has no %q", r, key)
			}
		}
		low, mid := r["ms_min"].(float64), r["ms_median"].(float64)
		if r["work"] != "lstm" || r["threads"] != 2.0 || r["kernel"] == "" || !(low > 0) || low > mid {
			t.Errorf("row %v", r)
		}
		flop := 0.0
		for _, w := range benchnet.Works() {
			if w.Name == r["work"] {
				flop = w.FLOP * r["batch"].(float64)
			}
		}
		if g := r["gflops"].(float64); math.Abs(g*low*1e6/flop-1) > 1e-9 || !(r["peak_fraction"].(float64) > 0) {
			t.Errorf("%g operations in %v ms: %v", flop, low, r)
		}
		batches[r["batch"].(float64)] = true
	}
	if len(batches) != 3 {
		t.Errorf("batches %v", batches)
	}
	for _, bad := range [][]string{{"--rounds", "0"}, {"--threads", "0"}, {"--work", "soup"}, {"more"}} {
		if code, _, errs := mannequin(append([]string{"bench", "net"}, bad...)...); code != command.ExitUsage {
			t.Errorf("%v: code %d: %s", bad, code, errs)
		}
	}
	if code, out, _ := mannequin("bench", "--help"); code != 0 || !strings.Contains(out, "net ") {
		t.Errorf("the subcommand is not in the help: %s", out)
	}
}

func TestTrainings(t *testing.T) {
	for _, w := range benchnet.Works() {
		runs, closeAll, err := trainings(w, 1)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]int{"mann": {32, 128}, "autoencoder": {8}}[w.Name]
		var batches []int
		for _, r := range runs {
			batches = append(batches, r.Batch)
			if r.FLOP <= 2*w.FLOP*float64(r.Batch) {
				t.Errorf("%s: %g operations, the forward pass alone has %g", r.Work, r.FLOP, w.FLOP*float64(r.Batch))
			}
		}
		if !slices.Equal(batches, want) {
			t.Errorf("%s: batches %v, want %v", w.Name, batches, want)
		}
		closeAll()
	}
	step, end, err := newAutoencoderStep(2, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	if n, err := benchnet.Allocs(step); err != nil || n != 0 {
		t.Errorf("a step allocates %v times, %v", n, err)
	}
}
