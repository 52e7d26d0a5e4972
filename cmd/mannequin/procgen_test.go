package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"mannequin/internal/command"
	"mannequin/netruntime"
)

// Motion made from rules trains a model that anybody may use, and says so.
func TestProcgenTrains(t *testing.T) {
	dir := t.TempDir()
	data, out := filepath.Join(dir, "data"), filepath.Join(dir, "free.safetensors")
	code, stdout, stderr := cli("procgen", "--out", data, "--minutes", "2", "--seed", "3", "--json")
	var r procgenReport
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil {
		t.Fatalf("code %d, %v\n%s\n%s", code, err, stdout, stderr)
	}
	if r.Out != data || r.Clips < 10 || r.Minutes < 1 || r.Minutes > 6 || r.Licence != "CC0-1.0" {
		t.Errorf("report %+v", r)
	}
	code, stdout, stderr = cli("train", "mann", "--data", data, "--out", out, "--minutes", "0.02", "--experts", "1", "--hidden", "32")
	if code != 0 {
		t.Fatalf("code %d\n%s\n%s", code, stdout, stderr)
	}
	n, err := netruntime.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	if m := n.Meta(); m.Name != "dog-free" || m.License != "CC0-1.0" || m.Data == "" {
		t.Errorf("the model is %q, from %q, under %q", m.Name, m.Data, m.License)
	}
	for _, args := range [][]string{
		{"procgen"}, {"procgen", "--out", data, "--minutes", "0"}, {"procgen", "--out", data, "--minutes", "NaN"},
		{"procgen", "--out", data, "--threads", "0"}, {"procgen", "--out", data, "--seed", "0"}, {"procgen", "--out", data, "extra"},
	} {
		if code, _, errs := cli(args...); code != command.ExitUsage || errs == "" {
			t.Errorf("%v: code %d, %q", args, code, errs)
		}
	}
}
