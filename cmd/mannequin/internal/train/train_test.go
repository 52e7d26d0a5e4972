package train

import (
	"encoding/json"
	"mannequin/cmd/mannequin/internal/bench"
	"mannequin/cmd/mannequin/internal/eval"
	"mannequin/cmd/mannequin/internal/motion"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/command"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/testcli"
	"mannequin/netruntime"
)

// A few seconds on the real recordings: the held-out loss falls, everything
// promised is written, and the run can be continued.
func TestTrainMANN(t *testing.T) {
	data := filepath.Join(mocapdata.Dir(t), "dog")
	dir := t.TempDir()
	out := filepath.Join(dir, "dog.safetensors")
	args := []string{"train", "mann", data, "--out", out, "--paper", "--experts", "1", "--hidden", "64", "--threads", "2", "--dtype", "bf16", "--json"}
	type report struct {
		Model   string  `json:"model"`
		Ended   string  `json:"ended"`
		Steps   int     `json:"steps"`
		Resumed int     `json:"resumed_at_step"`
		Before  float64 `json:"held_out_before"`
		HeldOut float64 `json:"held_out_loss"`
	}
	train := func(more ...string) (r report) {
		t.Helper()
		code, stdout, stderr := mannequin(slices.Concat(args, more)...)
		if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil {
			t.Fatalf("code %d, %v\n%s\n%s", code, err, stdout, stderr)
		}
		if !strings.Contains(stderr, "held_out=") {
			t.Errorf("no sign of life on standard error:\n%s", stderr)
		}
		return r
	}
	first := train("--minutes", "0.05")
	if first.Model != out || first.Ended != "limit" || first.Steps < 1 || !(first.HeldOut < first.Before) {
		t.Errorf("report %+v", first)
	}
	n, err := netruntime.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	if m := n.Meta(); n.Inputs() != 480 || n.Outputs() != 363 || m.License != "CC BY-NC 4.0" || !strings.Contains(m.Card, "attribution") {
		t.Errorf("%d inputs, %d outputs, licence %q, card\n%s", n.Inputs(), n.Outputs(), m.License, m.Card)
	}
	for _, f := range []string{"dog.ckpt", "dog.loss.csv", "dog.loss.png"} {
		if st, err := os.Stat(filepath.Join(dir, f)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 4 {
		t.Errorf("files %v", files)
	}
	if next := train("--minutes", "0.12", "--resume"); next.Resumed != first.Steps || next.Steps <= first.Steps {
		t.Errorf("continued: %+v after %+v", next, first)
	}
}

func TestTrainErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out.safetensors")
	good := []string{dir, "--out", out}
	for _, c := range []struct {
		name string
		code int
		want string
		args []string
	}{
		{"no folder", command.ExitUsage, "want a folder of recordings", []string{"--out", out}},
		{"no out flag", command.ExitUsage, "out", []string{dir}},
		{"unknown flag", command.ExitUsage, "--wings", append(good, "--wings")},
		{"argument", command.ExitUsage, "more", append(good, "more")},
		{"minutes", command.ExitUsage, "--minutes", append(good, "--minutes", "-1")},
		{"minutes NaN", command.ExitUsage, "--minutes", append(good, "--minutes", "NaN")},
		{"epochs", command.ExitUsage, "--epochs", append(good, "--epochs", "0")},
		{"epochs text", command.ExitUsage, "--epochs", append(good, "--epochs", "many")},
		{"batch", command.ExitUsage, "--batch", append(good, "--batch", "0")},
		{"threads", command.ExitUsage, "--threads", append(good, "--threads", "0")},
		{"patience", command.ExitUsage, "--patience", append(good, "--patience", "-1")},
		{"experts", command.ExitUsage, "--experts", append(good, "--experts", "65")},
		{"dtype", command.ExitUsage, "--dtype", append(good, "--dtype", "int8")},
		{"interval", command.ExitUsage, "--checkpoint-minutes", append(good, "--checkpoint-minutes", "0")},
		{"same file", command.ExitUsage, "same file", append(good, "--checkpoint", out)},
		{"same file, spelled otherwise", command.ExitUsage, "same file", append(good, "--checkpoint", filepath.Dir(out)+"/./"+filepath.Base(out))},
		{"missing data", command.ExitFailure, "no such", []string{filepath.Join(dir, "absent"), "--out", out}},
		{"data is a file", command.ExitFailure, "file", []string{file, "--out", out}},
		{"data without labels", command.ExitFailure, "labels.json", good},
		{"out is a folder", command.ExitFailure, "folder", []string{dir, "--out", dir}},
		{"out in no folder", command.ExitFailure, "no folder", []string{dir, "--out", filepath.Join(dir, "absent", "x")}},
	} {
		code, stdout, stderr := mannequin(append([]string{"train", "mann"}, c.args...)...)
		if code != c.code || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: code %d, stdout %q, stderr %q", c.name, code, stdout, stderr)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("failed runs left files: %v", files)
	}
}

// A network to start from says how large the one to train is, before the paper's
// recipe does, and after a flag.
func TestStartHasItsSize(t *testing.T) {
	for _, c := range []struct {
		args            []string
		experts, hidden string
	}{
		{nil, "3", "77"},
		{[]string{"--hidden", "7"}, "3", "7"},
		{[]string{"--experts", "2"}, "2", "77"},
	} {
		cmd := newTrainMANN()
		if err := cmd.ParseFlags(c.args); err != nil {
			t.Fatal(err)
		}
		asSized(cmd, map[string]string{"experts": "3", "hidden": "77", "gating_hidden": "5"})
		asPaper(cmd)
		experts, hidden := cmd.Flag("experts").Value.String(), cmd.Flag("hidden").Value.String()
		if experts != c.experts || hidden != c.hidden {
			t.Errorf("%q: %s experts and %s units, want %s and %s", c.args, experts, hidden, c.experts, c.hidden)
		}
	}
}

func TestTrainSparseErrors(t *testing.T) {
	dir := t.TempDir()
	good := []string{"train", "sparse", dir, "--out", filepath.Join(dir, "out.safetensors")}
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{command.ExitUsage, "--poses", []string{"--poses", "3"}},
		{command.ExitUsage, "--sparsity", []string{"--sparsity", "-1"}},
		{command.ExitUsage, "--keep", []string{"--keep", "0"}},
		{command.ExitFailure, "no BVH", nil},
	} {
		code, stdout, stderr := mannequin(append(slices.Clone(good), c.args...)...)
		if code != c.code || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: code %d, stdout %q, stderr %q", c.args, code, stdout, stderr)
		}
	}
}

// mannequin runs one command line as a user would.
func mannequin(args ...string) (code int, stdout, stderr string) {
	return testcli.Run(testcli.Root(append(motion.Commands(), New(), eval.New(), bench.New())...), args...)
}
