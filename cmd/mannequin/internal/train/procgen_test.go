package train

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"mannequin/cmd/mannequin/internal/motion"
	"mannequin/internal/command"
	"mannequin/netruntime"
)

// Motion made from rules trains a model that anybody may use, and says so.
func TestProcgenTrains(t *testing.T) {
	dir := t.TempDir()
	data, out := filepath.Join(dir, "data"), filepath.Join(dir, "free.safetensors")
	code, stdout, stderr := mannequin("procgen", "--out", data, "--minutes", "2", "--seed", "3", "--json")
	var r motion.ProcgenReport
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil {
		t.Fatalf("code %d, %v\n%s\n%s", code, err, stdout, stderr)
	}
	if r.Out != data || r.Clips < 10 || r.Minutes < 1 || r.Minutes > 6 || r.Licence != "CC0-1.0" {
		t.Errorf("report %+v", r)
	}
	code, stdout, stderr = mannequin("train", "mann", data, "--out", out, "--minutes", "0.02", "--experts", "1", "--hidden", "32")
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
	// Unless told otherwise it is trained by our recipe; --paper is the paper's, but
	// for what is told.
	recipe := func(n *netruntime.Net, want map[string]any) {
		t.Helper()
		var got map[string]any
		if err := json.Unmarshal([]byte(n.Meta().Extra["recipe"]), &got); err != nil {
			t.Fatal(err)
		}
		for key, v := range want {
			if got[key] != v {
				t.Errorf("%s is %v, want %v", key, got[key], v)
			}
		}
	}
	recipe(n, map[string]any{"experts": 1., "hidden": 32., "ticks": 8., "keep": 1., "batch": 64.})
	if code, stdout, stderr = mannequin("train", "mann", data, "--out", out, "--minutes", "0.02", "--experts", "1", "--hidden", "32", "--paper", "--batch", "16", "--checkpoint", filepath.Join(dir, "paper.ckpt")); code != 0 {
		t.Fatalf("code %d\n%s\n%s", code, stdout, stderr)
	}
	if n, err = netruntime.Open(out); err != nil {
		t.Fatal(err)
	}
	recipe(n, map[string]any{"experts": 1., "hidden": 32., "ticks": nil, "keep": 0.7, "batch": 16., "change": nil, "skate": nil, "warm_up": nil})
	for _, args := range [][]string{
		{"procgen"}, {"procgen", "--out", data, "--minutes", "0"}, {"procgen", "--out", data, "--minutes", "NaN"},
		{"procgen", "--out", data, "--threads", "0"}, {"procgen", "--out", data, "--seed", "0"}, {"procgen", "--out", data, "extra"},
	} {
		if code, _, errs := mannequin(args...); code != command.ExitUsage || errs == "" {
			t.Errorf("%v: code %d, %q", args, code, errs)
		}
	}
}
