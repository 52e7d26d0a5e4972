package train

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/cmd/mannequin/internal/bench"
	"mannequin/internal/command"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/teststrnn"
	"mannequin/offline/metrics"
)

// A made-up network learns a guide, with which people wander.
func TestTrainGuideAndBenchSTRNN(t *testing.T) {
	in, out := filepath.Join(t.TempDir(), "in.safetensors"), filepath.Join(t.TempDir(), "out.safetensors")
	f, err := os.Create(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := teststrnn.Net(t, teststrnn.Options{}).Encode(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := mannequin("bench", "strnn", "--model", in, "--agents", "3"); code != command.ExitFailure || !strings.Contains(errs, "mannequin train guide") {
		t.Errorf("without a guide: code %d, %s", code, errs)
	}
	code, stdout, errs := mannequin("train", "guide", in, "--out", out, "--people", "24", "--windows", "10", "--rounds", "1", "--json")
	var g guideReport
	if err := json.Unmarshal([]byte(stdout), &g); code != 0 || err != nil {
		t.Fatalf("code %d, %v: %s%s", code, err, stdout, errs)
	}
	if len(g.Wanders) != len(guideAsks) || g.Out != out || !(g.Wanders[2].Went > 1) {
		t.Errorf("%+v", g)
	}
	defer func(all []metrics.STRNNCrowd) { guideAsks = all }(guideAsks)
	guideAsks = guideAsks[4:6] // fewer people, to save time
	good := string(must.Get(os.ReadFile(out))(t))
	worse := []string{"train", "guide", in, "--out", out, "--people", "207", "--windows", "1", "--rounds", "1"}
	if code, _, errs := mannequin(worse...); code != command.ExitFailure || !strings.Contains(errs, "holds a better guide") || string(must.Get(os.ReadFile(out))(t)) != good {
		t.Errorf("a worse guide: code %d, %s", code, errs)
	}
	if code, _, errs := mannequin(append(worse, "--force")...); code != 0 || string(must.Get(os.ReadFile(out))(t)) == good {
		t.Errorf("a worse guide by force: code %d, %s", code, errs)
	}
	must.Do(t, os.WriteFile(out, []byte(good), 0o666))
	code, stdout, errs = mannequin("bench", "strnn", "--model", out, "--agents", "3,5", "--seconds", "0.2", "--threads", "2", "--json")
	var r bench.STRNNReport
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil {
		t.Fatalf("code %d, %v: %s%s", code, err, stdout, errs)
	}
	if len(r.Rows) != 2 || r.Rows[1].Agents != 5 || !(r.Rows[0].Mean > 0) || r.Rows[0].Median > r.Rows[0].Max || len(r.Rows[0].Stages) != 11 {
		t.Errorf("%+v", r)
	}
	if code, stdout, _ := mannequin("bench", "strnn", "--model", out, "--agents", "3", "--seconds", "0.2"); code != 0 || !strings.Contains(stdout, "Generate") {
		t.Errorf("code %d: %s", code, stdout)
	}
	for _, bad := range [][]string{
		{"bench", "strnn", "--agents", "0"}, {"bench", "strnn", "--seconds", "0"}, {"bench", "strnn", "--threads", "0"}, {"bench", "strnn", "--draws", "0"}, {"bench", "strnn", "x"},
		{"train", "guide"}, {"train", "guide", in, "--out", out, "--threads", "0"}, {"train", "guide", in, "--out", out, "--rounds", "0"},
	} {
		if code, _, _ := mannequin(bad...); code != command.ExitUsage {
			t.Errorf("%v: code %d", bad, code)
		}
	}
	if code, _, errs := mannequin("train", "guide", "human", "--out", out); code != command.ExitFailure || !strings.Contains(errs, "human") {
		t.Errorf("of another network: code %d, %s", code, errs)
	}
}
