package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/mann"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/internal/mocapdata"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
)

// A network whose weights are zero predicts the mean of the training set. Its
// losses can be told without it, and it makes a motion that is the same for
// every gait.
func TestEvalMANN(t *testing.T) {
	data := filepath.Join(mocapdata.Dir(t), "dog")
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
	code, text, errs := cli("eval", "mann", "--model", file, "--data", data, "--seconds", "1", "--json")
	if code != 0 {
		t.Fatalf("code %d: %s", code, errs)
	}
	var r evalReport
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
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
	if len(r.Gaits) != 5 || len(r.Paths) != 3 {
		t.Fatalf("%d gaits, %d paths", len(r.Gaits), len(r.Paths))
	}
	for _, g := range r.Gaits {
		if g.Model.Stiffness > 0.3 || g.Truth.Stiffness < 2 {
			t.Errorf("%s: stiffness %g against recorded %g", g.Name, g.Model.Stiffness, g.Truth.Stiffness)
		}
	}
	var table strings.Builder
	if err := r.print(&table); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"bone velocity", "canter", "0.16/0.14 = 1.14", "star"} {
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
		{"", command.ExitUsage, `"data"`},
		{"--data " + dir + " --seconds 0", command.ExitUsage, "--seconds"},
		{"--data " + dir + " --seconds NaN", command.ExitUsage, "--seconds"},
		{"--data " + dir + " --threads 0", command.ExitUsage, "--threads"},
		{"--data " + dir + " --model " + filepath.Join(dir, "none.safetensors"), command.ExitFailure, "none.safetensors"},
		{"--data " + dir + " --model wolf", command.ExitFailure, "wolf"},
	} {
		code, _, errs := cli(append([]string{"eval", "mann"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("eval mann %s: code %d: %s", c.args, code, errs)
		}
	}
}
