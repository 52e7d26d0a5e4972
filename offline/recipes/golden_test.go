package recipes

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
	"mannequin/offline/train"
)

var update = flag.Bool("update", false, "write the golden keys and model cards")

// goldenCase is a recipe of fixed options and data.
type goldenCase struct {
	name   string
	recipe func() (string, error)
	card   func(dataset.Source, *train.Report) (string, error)
}

// goldenCases returns all networks with default options and with another value of every option.
func goldenCases(t *testing.T) (cases []goldenCase) {
	t.Helper()
	net, err := netruntime.New(netruntime.Meta{Name: "base", Arch: "graph",
		Graph: &netruntime.Graph{Inputs: []netruntime.Input{{Name: "x", Channels: 2}},
			Nodes: []netruntime.Node{{Name: "y", Op: netruntime.OpNormalize, In: []string{"x"}}}, Outputs: []string{"y"}},
	}, []netruntime.Tensor{{Name: "y.mean", Shape: []int{2}, Data: []float32{1, 2}}, {Name: "y.std", Shape: []int{2}, Data: []float32{3, 4}}})
	if err != nil {
		t.Fatal(err)
	}
	set, heldOut := strolls(3, 60, 0), strolls(2, 50, 5)
	heldOut.Clips[0].Name, heldOut.Clips[1].Name = "walk", "run"
	other := Training{Epochs: 7, Batch: 3, Seed: 9, ClipNorm: 0.25, AdamW: train.AdamW{Rate: 0.01, Decay: 0.5, Beta1: 0.8, Beta2: 0.7, Eps: 0.001}}
	add := func(name string, recipe interface{ recipe() []any }, l *Training) {
		l.Train, l.HeldOut = set, heldOut
		cases = append(cases, goldenCase{name, func() (string, error) {
			return checkpointKey(append(recipe.recipe(), l.hyperparams())...)
		}, func(s dataset.Source, r *train.Report) (string, error) {
			network, _, _ := strings.Cut(name, "-")
			return card(network, recipe, s, motionMetrics(set, heldOut, r), namesOf(heldOut))
		}})
	}

	manifold := DefaultManifold()
	add("manifold", &manifold, &manifold.Training)
	manifold2 := Manifold{Hidden: 2, Width: 3, Keep: 0.4, Random: 0.5, Smooth: 0.6, Training: other}
	manifold2.Steps = 3
	add("manifold-other", &manifold2, &manifold2.Training)

	footstep := DefaultFootstep()
	add("footstep", &footstep, &footstep.Training)
	footstep2 := Footstep{Hidden: 2, Widths: [2]int{3, 4}, Keep: 0.5, Tempo: Tempo{Stretch: 0.6, Reverse: 0.7}, Training: other}
	footstep2.Stages = train.Stages{5, 2}
	add("footstep-other", &footstep2, &footstep2.Training)

	synth := DefaultSynth()
	synth.Manifold = net
	add("synth", &synth, &synth.Training)
	synth2 := Synth{Manifold: net, Kind: "kick", Hidden: [2]int{2, 3}, Widths: [3]int{4, 5, 6}, Keep: 0.7, L1: 0.8, Training: other}
	add("synth-other", &synth2, &synth2.Training)

	keypose := DefaultKeypose()
	add("keypose", &keypose, &keypose.Training)
	keypose2 := Keypose{Channels: [3]int{2, 3, 4}, Keep: 0.5, Stretch: 0.6, Reverse: 0.7, Places: 8, Motion: 9, Turns: 10, Contacts: 11, Training: other}
	add("keypose-other", &keypose2, &keypose2.Training)

	sparse := DefaultSparse()
	add("sparse", &sparse, &sparse.Training)
	sparse2 := Sparse{Poses: 1, Channels: [3]int{2, 3, 4}, Widths: [4]int{5, 6, 7, 8}, Keep: 0.9, Key: 1.5, Training: other}
	add("sparse-other", &sparse2, &sparse2.Training)

	latent := DefaultLatent()
	add("latent", &latent, &latent.Training)
	latent2 := Latent{Hidden: [3]int{2, 3, 4}, Widths: [3]int{5, 6, 7}, Values: 8, Spread: 9, Keep: 0.5, L1: 0.6, KL: 0.7, Ramp: 0.8,
		Path: 0.9, Traits: 1.5, Stretch: 1.25, Bend: 1.75, Training: other}
	add("latent-other", &latent2, &latent2.Training)

	next := DefaultNext()
	next.Latent = net
	add("next", &next, &next.Training)
	next2 := Next{Latent: net, Hidden: [2]int{2, 3}, Match: 0.4, Training: other}
	add("next-other", &next2, &next2.Training)

	strnn := DefaultSTRNN()
	add("strnn", &strnn, &strnn.Training)
	strnnPaper := PaperSTRNN()
	add("strnn-paper", &strnnPaper, &strnnPaper.Training)
	strnn2 := STRNN{Encode: 2, Predict: 3, Start: net, Units: 4, FilterUnits: 5, Filter: true, Ahead: true, Tune: 0.25, Linear: true, Latent: 6, Manner: 11, KL: 7, Mean: 0.75, Chain: 8,
		Distance: 9, Horizon: 10, Noise: [2]float64{0.11, 0.12}, Corrupt: [2]float64{0.13, 14}, Stretch: 0.15, NormEnd: 0.16, Keep: 0.17, L2: 0.18, Training: other}
	add("strnn-other", &strnn2, &strnn2.Training)

	recurrent := DefaultRecurrent()
	add("recurrent", &recurrent, &recurrent.Training)
	recurrent2 := Recurrent{Kind: "erd", Units: 2, Frames: 3, Noise: 0.4, Stretch: 0.5, Training: other}
	add("recurrent-other", &recurrent2, &recurrent2.Training)

	addMANN := func(name string, m MANN) {
		m.Train, m.HeldOut = small(64, 0, "walk"), small(20, 1000, "run")
		if m.Start != nil {
			m.Train.Layout.Stride, m.Train.Layout.Phases, m.Train.Reversed = 2, false, 3
		}
		cases = append(cases, goldenCase{name, m.recipe, func(s dataset.Source, r *train.Report) (string, error) {
			if m.Start != nil {
				s.Name += "-stride2"
			}
			return card("mann", &m, s, modelMetrics{r.Best, r.Initial, r.BestEpoch, 64, 64 + 6*m.Experts, 20}, m.HeldOut.Clips)
		}})
	}
	addMANN("mann", DefaultMANN())
	addMANN("mann-paper", PaperMANN())
	addMANN("mann-other", MANN{Experts: 2, Hidden: 3, GatingHidden: 4, Keep: 0.5, Ticks: 6, Change: 0.7, Skate: 0.8, Bend: 0.9,
		Recover: 0.25, WarmUp: 1.5, ClipNorm: 2.5,
		Start: net, Epochs: 5, Batch: 6, Seed: 7, AdamW: other.AdamW, Schedule: train.WarmRestarts{First: 3, Mult: 4, Clamp: 0.5}})
	return cases
}

// golden compares text with a file of testdata.
func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := must.Get(os.ReadFile(path))(t)
	if got == string(want) {
		return
	}
	lines := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(lines) || line != lines[i] {
			t.Errorf("%s, line %d is now\n%s", path, i+1, line)
		}
	}
	t.Errorf("%s differs", path)
}

// The bytes of a checkpoint key never change, because a checkpoint with another key is refused.
func TestGoldenKeys(t *testing.T) {
	var all strings.Builder
	for _, c := range goldenCases(t) {
		key := must.Get(c.recipe())(t)
		fmt.Fprintln(&all, c.name, key)
	}
	golden(t, "keys.txt", all.String())
}

// Model cards have the text of the golden file.
func TestGoldenCards(t *testing.T) {
	report := &train.Report{Initial: 1.25, Best: 0.125, BestEpoch: 6}
	var all strings.Builder
	for i, c := range goldenCases(t) {
		src := dataset.Source{Name: "name", Data: "12 recordings", License: "CC BY-NC 4.0", Limits: "It has limits."}
		if i%2 > 0 {
			src.License, src.Limits = "CC0", ""
		}
		if strings.HasPrefix(c.name, "recurrent") {
			continue // has no card
		}
		text := must.Get(c.card(src, report))(t)
		fmt.Fprintf(&all, "-- %s --\n%s", c.name, text)
	}
	golden(t, "cards.md", all.String())
}
