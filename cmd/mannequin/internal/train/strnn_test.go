package train

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/testing/testcli"
	"mannequin/internal/testing/testh36m"
	evalstrnn "mannequin/offline/eval/strnn"
	"mannequin/offline/metrics"
	"mannequin/offline/procgen/human"
)

// A predictor and a rival are trained on made-up people and measured on others of them.
func TestTrainAndEvalSTRNN(t *testing.T) {
	dir := t.TempDir()
	data, model, rival := filepath.Join(dir, "people"), filepath.Join(dir, "strnn.safetensors"), filepath.Join(dir, "lstm3.safetensors")
	takes, _, err := human.Generate(human.Options{Seed: 1, Minutes: 0.1, Actions: []string{human.Walk}, Styles: []string{"neutral"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := human.Write(data, takes); err != nil {
		t.Fatal(err)
	}
	const held = "walk-straight*"
	var rep trainReport
	train := func(args ...string) {
		t.Helper()
		code, stdout, stderr := mannequin(append([]string{"train"}, append(args, data, "--held-out", held, "--batch", "8", "--json")...)...)
		if code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		if err := json.Unmarshal([]byte(stdout), &rep); err != nil {
			t.Fatal(err)
		}
	}
	train("strnn", "--out", model, "--encode", "6", "--predict", "6", "--units", "8", "--spatial=false", "--filter=false", "--epochs", "1")
	if !(rep.Best < rep.Initial) || rep.Curve[1].Losses["nats"] <= 0 || rep.Curve[1].Losses["zero velocity"] <= 0 {
		t.Errorf("held-out loss %g, before %g, losses %v", rep.Best, rep.Initial, rep.Curve[1].Losses)
	}
	train("recurrent", "--out", rival, "--units", "8", "--epochs", "1")
	h36m := filepath.Join(dir, "h36m")
	if err := os.Mkdir(h36m, 0o755); err != nil {
		t.Fatal(err)
	}
	walk := testh36m.Make(200)
	for _, name := range []string{"S5_walking_1.txt", "S5_walking_2.txt", "S5_walkingdog_1.txt"} {
		testcli.WriteFile(t, h36m, name, string(walk.Text))
	}
	testcli.WriteFile(t, h36m, "S1_walking_1.txt", "somebody else's")
	testcli.WriteFile(t, h36m, "SOURCE.txt", "no motion")
	code, stdout, stderr := mannequin("eval", "strnn", "--model", model, data, "--held-out", held, "--rival", "lstm3="+rival, "--part", "temporal-39-1="+model, "--h36m", h36m,
		"--frames", "1000", "--prefixes", "1", "--seconds", "1", "--seeds", "1", "--motions", "2", "--rates=false", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var r evalstrnn.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Forecast) != 4 || len(r.GoingOn.Each) == 0 || len(r.Rollouts) != 3 || len(r.Nearest) != 4 || len(r.Control) != 5 || len(r.Noise) != 4 || len(r.Gaps) != 2 || len(r.Bars) == 0 {
		t.Errorf("%d forecasts, %d motions that go on, %d rollouts, %d distances, %d kinds of control, %d of noise, %d gaps, %d bars", len(r.Forecast), len(r.GoingOn.Each), len(r.Rollouts), len(r.Nearest), len(r.Control), len(r.Noise), len(r.Gaps), len(r.Bars))
	}
	if !strings.Contains(stdout, "manifold distance over") {
		t.Error("the part is held against nothing")
	}
	if f := r.Forecast[3]; !(f.Body[0] > 0) || f.Prefixes == 0 {
		t.Errorf("forecast %+v", f)
	}
	if len(r.H36M) != 2 || r.H36M[0].Action != "walking" || len(r.H36M[0].Recordings) != 2 || r.H36M[1].Action != "walkingdog" || len(r.H36M[0].Forecast) != 4 {
		t.Fatalf("Human3.6M: %+v", r.H36M)
	}
	// Who is said to stand is behind by as far as the walk goes.
	still := r.H36M[0].Forecast[0]
	if far := metrics.Horizons[6] * testh36m.Speed / 10; still.Name != "zero velocity" || still.Prefixes != 2*r.H36M[1].Forecast[0].Prefixes || math.Abs(still.World[6]-far) > 0.2*far {
		t.Errorf("standing still on Human3.6M: %+v, want about %g cm in the world in the end", still, far)
	}
	if code, stdout, stderr = mannequin("eval", "strnn", "--model", model, data, "--held-out", held, "--h36m", data); code != 1 || !strings.Contains(stderr, "no S5_*.txt") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	testcli.WriteFile(t, h36m, "S5_eating_1.txt", "1,2\n")
	if code, stdout, stderr = mannequin("eval", "strnn", "--model", model, data, "--held-out", held, "--h36m", h36m); code != 1 || !strings.Contains(stderr, "S5_eating_1.txt:1: expected 99 numbers") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if code, stdout, stderr = mannequin("eval", "strnn", "--model", model, data, "--held-out", held, "--frames", "1000", "--prefixes", "1", "--seconds", "1", "--seeds", "0", "--motions", "0", "--rates=false"); code != 0 || !strings.Contains(stdout, "bars missed") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}
