//go:build ort

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"mannequin/internal/bench/benchnet"
	"mannequin/internal/command"
	"mannequin/internal/testing/must"
	"mannequin/offline/onnx"
)

func cli(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = command.Run(context.Background(), newRoot(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestFlags(t *testing.T) {
	for _, bad := range [][]string{{"--threads", "0"}, {"--rounds", "2"}, {"--work", "soup"}, {"--form", "conv=soup"}, {"more"}} {
		if code, _, errs := cli(bad...); code != command.ExitUsage {
			t.Errorf("%v: code %d: %s", bad, code, errs)
		}
	}
}

func TestReport(t *testing.T) {
	if os.Getenv("ORT_LIB") == "" {
		t.Skip("ONNX Runtime is absent: set ORT_LIB to the path that scripts/onnxruntime.sh prints")
	}
	code, out, errs := cli("--work", "lstm", "--rounds", "3", "--threads", "1", "--json")
	var r report
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("code %d, %v: %s%s", code, err, out, errs)
	}
	if len(r.Rows) != 3 || !(r.PeakFP32 > 0) {
		t.Fatalf("%+v", r)
	}
	for _, row := range r.Rows {
		for _, o := range row.Ours {
			if !(o.MSMin > 0) || o.MSMin > o.MSMedian || math.Abs(o.RatioMin*o.MSMin-row.Peer.MSMin) > 1e-9 || !(o.Peak > 0) {
				t.Errorf("batch %d: %+v beside %+v", row.Batch, o, row.Peer)
			}
		}
	}
}

// TestFormulations: equal files count once.
func TestFormulations(t *testing.T) {
	for _, w := range benchnet.Works() {
		net := must.Get(w.Net(1))(t)
		files, err := formulations(net, nil)
		if want := map[string]int{"mann": 3, "autoencoder": 6, "regression": 2, "lstm": 1}[w.Name]; err != nil || len(files) != want {
			t.Errorf("%s: %d formulations, %v, want %d", w.Name, len(files), err, want)
		}
		files, err = formulations(net, onnx.Form{"conv": "1d", "blend": "inputs"})
		if want := map[string]int{"mann": 1, "autoencoder": 2, "regression": 1, "lstm": 1}[w.Name]; err != nil || len(files) != want {
			t.Errorf("%s: %d formulations of those, %v, want %d", w.Name, len(files), err, want)
		}
	}
}

func TestDifference(t *testing.T) {
	if d := difference([]float32{3, 4.5}, []float32{3, 4}); math.Abs(d-0.1) > 1e-12 {
		t.Errorf("difference %v", d)
	}
}
