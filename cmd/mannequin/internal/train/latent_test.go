package train

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/command"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
	evallatent "mannequin/offline/eval/latent"
	"mannequin/offline/procgen/human"
)

// A latent space is trained on made-up people and measured on others of them: clips
// come back better than from the mean, curves and checkpoint are written, and every
// part of the report is there.
func TestTrainAndEvalLatent(t *testing.T) {
	dir := t.TempDir()
	data, out := filepath.Join(dir, "people"), filepath.Join(dir, "latent.safetensors")
	takes, _, err := human.Generate(human.Options{Seed: 1, Minutes: 0.05, Actions: []string{human.Walk}, Styles: []string{"neutral"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := human.Write(data, takes); err != nil {
		t.Fatal(err)
	}
	const held = "walk-straight*"
	code, stdout, stderr := mannequin("train", "latent", data, "--out", out, "--held-out", held, "--epochs", "3", "--batch", "8", "--dtype", "bf16", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var trained trainReport
	must.Do(t, json.Unmarshal([]byte(stdout), &trained))
	if !(trained.Best < 0.9*trained.Initial) || trained.Curve[3].Losses["divergence in nats"] <= 0 || trained.Curve[3].Losses["mean magnitude of weights"] <= 0 {
		t.Errorf("held-out loss %g, before %g, losses %v", trained.Best, trained.Initial, trained.Curve[3].Losses)
	}
	for _, f := range []string{"latent.ckpt", "latent.loss.csv", "latent.loss.png", "latent.loss.parts.png"} {
		if st, err := os.Stat(filepath.Join(dir, f)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	r := testcli.Report[evallatent.Report](t, mannequin, "eval", "latent", "--model", out, data, "--held-out", held, "--rates=false", "--chains", "1", "--out", filepath.Join(dir, "figures"), "--json")
	if len(r.Told) != 5 || len(r.Made) != 5 || len(r.Components) != 20 || r.Components[0].Name != "turn" || r.Chain.Seams != 5 || len(r.Rates) != 0 || r.Clips == 0 {
		t.Errorf("%d traits, %d components, %d seams, %d clips", len(r.Told), len(r.Components), r.Chain.Seams, r.Clips)
	}
	if !(r.Walks.RMS > 0 && r.Walks.RMS < 20) || !(r.Walks.Refined < r.Walks.RMS) || !(r.KL > 0) {
		t.Errorf("%.2f cm, after a fit %.2f; divergence %.1f", r.Walks.RMS, r.Walks.Refined, r.KL)
	}
	var drawn []string
	for _, path := range r.Figures {
		drawn = append(drawn, filepath.Base(path))
		if b := testcli.PNG(t, path).Bounds(); b.Dx() < 1000 || b.Dx() > 1600 || b.Dy() < 200 {
			t.Errorf("%s has %v", path, b)
		}
	}
	if want := []string{"latent-starts.png", "latent-sliders.png", "latent-chain.png"}; !slices.Equal(drawn, want) {
		t.Errorf("figures %v, want %v", drawn, want)
	}
	for _, q := range r.Told {
		if !(q.R2 >= 0 && q.R2 <= 1 && q.Plain <= 1 && q.Frames <= 1) {
			t.Errorf("%+v", q)
		}
	}
	var text strings.Builder
	if err := r.Print(&text); err != nil || !strings.Contains(text.String(), "in short") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

func TestLatentUsage(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "o.safetensors")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--values", []string{"train", "latent", dir, "--out", out, "--values", "2"}},
		{"--kl", []string{"train", "latent", dir, "--out", out, "--kl", "-1"}},
		{"--ramp", []string{"train", "latent", dir, "--out", out, "--ramp", "1.5"}},
		{"--path", []string{"train", "latent", dir, "--out", out, "--path", "NaN"}},
		{"--threads", []string{"eval", "latent", dir, "--threads", "0"}},
		{"--and", []string{"eval", "latent", dir, "--and", dir}},
		{`"latent"`, []string{"train", "next", dir, "--out", out}},
		{"--keep", []string{"train", "next", "--latent", "human-latent", dir, "--out", out, "--keep", "0.5"}},
	} {
		if code, _, stderr := mannequin(c.args...); code != command.ExitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit %d, %s", c.args, code, stderr)
		}
	}
	file := testcli.WriteFile(t, dir, "file", "")
	if code, _, stderr := mannequin("eval", "latent", dir, "--out", file); code != command.ExitUsage || !strings.Contains(stderr, file+": that is not a folder") {
		t.Errorf("figures into a file: exit %d, %s", code, stderr)
	}
	if code, _, stderr := mannequin("eval", "latent", "--model", "human", dir); code != command.ExitFailure || !strings.Contains(stderr, "decoder") {
		t.Errorf("a manifold: exit %d, %s", code, stderr)
	}
	if code, _, stderr := mannequin("train", "next", "--latent", "nothing", dir, "--out", out); code != command.ExitFailure || !strings.Contains(stderr, "nothing") {
		t.Errorf("no such latent space: exit %d, %s", code, stderr)
	}
}
