package eval

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
	evalmar "mannequin/offline/eval/mar"
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
	built := must.Get(registration.Database(takes, lines))(t)
	db := filepath.Join(t.TempDir(), "walks.safetensors")
	if err := atomicfile.Write(db, func(w io.Writer) error { return built.Encode(w, false) }); err != nil {
		t.Fatal(err)
	}
	r := testcli.Report[evalmar.Report](t, mannequin, "eval", "mar", dir, "--far", far, "--database", db, "--folds", "1", "--free=false", "--out", figures, "--json")
	if len(r.Sets) != 1 || r.Sets[0].Name != "walks walk" || r.Sets[0].From != "neutral" || r.Sets[0].Takes != 4 {
		t.Fatalf("sets are %+v, want the walks", r.Sets)
	}
	mine, still := r.Sets[0].Mean(transfer.MAR), r.Sets[0].Mean(transfer.Identity)
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

func TestEvalMARUsage(t *testing.T) {
	for _, args := range [][]string{{"--folds", "0"}, {"--takes", "1"}, {"--threads", "0"}, {"--free=false"}} {
		if code, _, _ := mannequin(append([]string{"eval", "mar"}, args...)...); code != command.ExitUsage {
			t.Errorf("%v: code %d, want that of bad usage", args, code)
		}
	}
}
