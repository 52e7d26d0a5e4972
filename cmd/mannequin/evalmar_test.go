package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/offline/metrics/transfer"
	"mannequin/offline/procgen/human"
	"mannequin/offline/registration"
)

// A folder of walks made from rules goes through the whole command: read by name,
// registered, left out, far input and figures.
func TestEvalMAR(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	takes, lines, err := human.Generate(human.Options{Styles: []string{"neutral", "proud"}, Actions: []string{human.Walk}})
	if err != nil {
		t.Fatal(err)
	}
	takes = slices.DeleteFunc(takes, func(k *registration.Take) bool { return k.Content != "walk-straight" })
	if len(takes) != 4 {
		t.Fatalf("%d takes, want 4", len(takes))
	}
	for _, k := range takes {
		k.Name = k.Style + "_01_" + k.Name[len(k.Name)-3:]
	}
	dir, far, figures := filepath.Join(t.TempDir(), "walks"), filepath.Join(t.TempDir(), "far"), filepath.Join(t.TempDir(), "figures")
	if err := human.Write(dir, takes); err != nil {
		t.Fatal(err)
	}
	if err := human.Write(far, takes[:1]); err != nil {
		t.Fatal(err)
	}
	built, err := registration.Database(takes, lines)
	if err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(t.TempDir(), "walks.safetensors")
	if err := atomicfile.Write(db, func(w io.Writer) error { return built.Encode(w, false) }); err != nil {
		t.Fatal(err)
	}
	code, out, errs := cli("eval", "mar", "--data", dir, "--far", far, "--database", db, "--folds", "1", "--free=false", "--figures", figures, "--json")
	if code != 0 {
		t.Fatal(errs)
	}
	var r evalMARReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Sets) != 1 || r.Sets[0].Name != "walks walk" || r.Sets[0].From != "neutral" || r.Sets[0].Takes != 4 {
		t.Fatalf("sets are %+v, want the walks", r.Sets)
	}
	mine, still := r.Sets[0].mean(transfer.MAR), r.Sets[0].mean(transfer.Identity)
	if mine == nil || !(mine.Pose > 0 && mine.Pose < still.Pose) {
		t.Errorf("MAR %+v, the input as it is %+v", mine, still)
	}
	if len(r.Far) != 1 || !r.Far[0].Finite {
		t.Errorf("far input: %+v", r.Far)
	}
	if r.Speed == nil || !(r.Speed.Total > 0) {
		t.Errorf("what a frame costs: %+v", r.Speed)
	}
	for _, name := range []string{"mar-dof.png", "mar-warp.png", "mar-poses.png", "mar-timing.png"} {
		if s, err := os.Stat(filepath.Join(figures, name)); err != nil || s.Size() < 1000 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(r.Bars) != 7 {
		t.Errorf("%d bars, want 7", len(r.Bars))
	}
}

// Bars are marked where the figures miss them, and stricter for one action alone.
func TestEvalMARBars(t *testing.T) {
	mean := func(method string, pose, time float64) transfer.Mean {
		return transfer.Mean{Method: method, Cases: 1, Errors: transfer.Errors{Pose: pose, Time: time}}
	}
	means := []transfer.Mean{mean(transfer.MAR, 3, 3), mean(transfer.MAR+transfer.Unlabelled, 3.6, 3), mean(transfer.LTIOwn, 4.5, 5), mean(transfer.LTIPose, 2.5, 4), mean(transfer.GP, 2.9, 1)}
	r := evalMARReport{
		Sets: []evalMARSet{{Name: "walk", Means: means}, {Name: "mixed", Mixed: true, Means: means}, {Name: "free", Free: true, Means: means}},
		Far:  []evalMARFar{{FarScore: transfer.FarScore{Clip: "a", Finite: true, Input: 2, Output: 3.2}}, {FarScore: transfer.FarScore{Clip: "b", Input: 2, Output: 2}}},
	}
	want := map[string]bool{ // measure and set → passes
		"pose error ÷ the linear systems' of Hsu et al. 2005 walk":  true,  // 0.67
		"pose error ÷ the linear systems' of Hsu et al. 2005 mixed": false, // of 0.6
		"pose error ÷ those with the whole pose as input walk":      false, // 1.2
		"pose error ÷ the best other's walk (LTI pose)":             false,
		"timing error ÷ the linear systems' walk":                   true,  // 3/5
		"pose error, unlabelled ÷ labelled walk":                    false, // 1.2
		"pose error where the truth is known, cm free":              false,
		"timing error there, frames free":                           false,
		"share of far input whose output is finite 2 clips":         false,
		"fastest joint ÷ the input's a to ":                         false, // 1.6
	}
	for _, b := range r.bars() {
		name := b.Measure + " " + b.Of
		if pass, ok := want[name]; ok {
			if b.Pass != pass {
				t.Errorf("%s: %.2f passes is %v", name, *b.Value, b.Pass)
			}
			delete(want, name)
		}
	}
	for name := range want {
		t.Errorf("no bar %q", name)
	}
	var text strings.Builder
	r.Bars = r.bars()
	if err := r.print(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "*mixed 0.67 ≤ 0.60") {
		t.Errorf("no mark at what is missed in\n%s", text.String())
	}
}

func TestEvalMARUsage(t *testing.T) {
	for _, args := range [][]string{{"--folds", "0"}, {"--takes", "1"}, {"--threads", "0"}, {"--free=false"}} {
		if code, _, _ := cli(append([]string{"eval", "mar"}, args...)...); code != command.ExitUsage {
			t.Errorf("%v: code %d, want that of bad usage", args, code)
		}
	}
}
