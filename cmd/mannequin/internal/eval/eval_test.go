package eval

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/mann"
	"mannequin/cmd/mannequin/internal/motion"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
	evalmann "mannequin/offline/eval/mann"
)

// fewRecordings returns a folder with those of the dog's recordings that are held
// out, and two more.
func fewRecordings(t *testing.T) string {
	t.Helper()
	from, to := filepath.Join(mocapdata.Dir(t), "dog"), t.TempDir()
	all, few := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	b := must.Get(os.ReadFile(filepath.Join(from, "labels.json")))(t)
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(slices.Clone(dataset.DogHeldOut), "D1_010_KAN01_001", "D1_010_KAN01_004") {
		few[name] = all[name]
		if err := os.Symlink(filepath.Join(from, name+".bvh"), filepath.Join(to, name+".bvh")); err != nil {
			t.Fatal(err)
		}
	}
	b = must.Get(json.Marshal(few))(t)
	if err := os.WriteFile(filepath.Join(to, "labels.json"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	return to
}

// A network whose weights are zero predicts the mean of the training set. Its
// losses can be told without it, and it makes a motion that is the same for
// every gait.
func TestEvalMANN(t *testing.T) {
	data := fewRecordings(t)
	train, held, err := dataset.BuildMANN(data, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := train.Layout
	in, out, g := m.Inputs(), m.Outputs(), len(m.Gating())
	meta := netruntime.Meta{Name: "mean", Arch: "mann"}
	if err := mann.Describe(&meta, m, train.Skeleton, train.RestPose()); err != nil {
		t.Fatal(err)
	}
	zeros := func(name string, shape ...int) netruntime.Tensor {
		n := 1
		for _, d := range shape {
			n *= d
		}
		return netruntime.Tensor{Name: name, Shape: shape, Data: make([]float32, n)}
	}
	const k, h = 2, 4
	net, err := netruntime.New(meta, []netruntime.Tensor{
		{Name: "x_mean", Shape: []int{in}, Data: train.XMean}, {Name: "x_std", Shape: []int{in}, Data: train.XStd},
		{Name: "y_mean", Shape: []int{out}, Data: train.YMean}, {Name: "y_std", Shape: []int{out}, Data: train.YStd},
		zeros("gating.0.weight", h, g), zeros("gating.0.bias", h), zeros("gating.1.weight", h, h), zeros("gating.1.bias", h),
		zeros("gating.2.weight", k, h), zeros("gating.2.bias", k),
		zeros("experts.0.weight", k, h, in), zeros("experts.0.bias", k, h), zeros("experts.1.weight", k, h, h), zeros("experts.1.bias", k, h),
		zeros("experts.2.weight", k, out, h), zeros("experts.2.bias", k, out),
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "mean.safetensors")
	if err := atomicfile.Write(file, net.Encode); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "course.csv")
	if err := os.WriteFile(path, []byte("0,0\n0,3\n1,5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := testcli.Report[evalmann.Report](t, mannequin, "eval", "mann", "--model", file, data, "--seconds", "1", "--json", "--path", path, "--out", filepath.Join(t.TempDir(), "p"))
	var want float64
	for i, v := range held.Y {
		c := i % out
		d := float64((v - train.YMean[c]) / train.YStd[c])
		want += d * d / float64(len(held.Y))
	}
	if got := r.HeldOut.Losses[0]; got.Kind != "all" || math.Abs(got.MSE/want-1) > 1e-4 {
		t.Errorf("loss %+v, want %g", got, want)
	}
	if !slices.Equal(r.HeldOut.Recordings, dataset.DogHeldOut) || r.HeldOut.Rows != held.Rows {
		t.Errorf("held out %v, %d rows", r.HeldOut.Recordings, r.HeldOut.Rows)
	}
	if len(r.Gaits) != 5 || len(r.Paths) != 5 || r.Paths[4].Path != "course" {
		t.Fatalf("%d gaits, %d paths", len(r.Gaits), len(r.Paths))
	}
	for _, g := range r.Gaits {
		if g.Model.Raw.Stiffness > 0.3 || g.Truth.Frames > 0 && g.Truth.Stiffness < 1.5 {
			t.Errorf("%s: stiffness %g against recorded %g", g.Name, g.Model.Raw.Stiffness, g.Truth.Stiffness)
		}
		if g.Raw.Gait != "none" {
			t.Errorf("%s: a stiff pose sets its paws down as a %s", g.Name, g.Raw.Gait)
		}
	}
	if len(r.Speeds) != 16 || len(r.Transitions.Changes) != 132 || len(r.Latencies) == 0 || len(r.Experts.Without) != k {
		t.Errorf("%d speeds, %d changes, %d latencies, %d experts", len(r.Speeds), len(r.Transitions.Changes), len(r.Latencies), len(r.Experts.Without))
	}
	for _, l := range r.Latencies {
		if l.Pose != nil {
			t.Errorf("the mean pose is %s's after %g s", l.Action, *l.Pose)
		}
	}
	for _, b := range r.Bars {
		if b.Pass && (strings.HasPrefix(b.Measure, "leg angle") || strings.HasPrefix(b.Measure, "share")) {
			t.Errorf("%+v passes", b)
		}
	}
	for _, p := range r.Plots {
		if st, err := os.Stat(p); err != nil || st.Size() < 1000 {
			t.Errorf("%s: %v", p, err)
		}
	}
	if len(r.Plots) != 2 {
		t.Errorf("pictures: %v", r.Plots)
	}
	var table strings.Builder
	if err := r.Print(&table); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"bone velocity", "canter", "0.16/0.14 = 1.14", "star", "course", "Table 5", "never", "bars missed"} {
		if !strings.Contains(table.String(), word) {
			t.Errorf("the table lacks %q:\n%s", word, table.String())
		}
	}
}

func TestEvalMANNErrors(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", command.ExitUsage, "want a folder of recordings"},
		{dir + " --seconds 0", command.ExitUsage, "--seconds"},
		{dir + " --seconds NaN", command.ExitUsage, "--seconds"},
		{dir + " --threads 0", command.ExitUsage, "--threads"},
		{dir + " --model " + filepath.Join(dir, "none.safetensors"), command.ExitFailure, "none.safetensors"},
		{dir + " --path " + filepath.Join(dir, "none.csv"), command.ExitFailure, "none.csv"},
		{dir + " --model wolf", command.ExitFailure, "wolf"},
	} {
		code, _, errs := mannequin(append([]string{"eval", "mann"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("eval mann %s: code %d: %s", c.args, code, errs)
		}
	}
}

// mannequin runs one command line as a user would.
func mannequin(args ...string) (code int, stdout, stderr string) {
	return testcli.Run(testcli.Root(append(motion.Commands(), New())...), args...)
}
