package eval

import (
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/command"
	"mannequin/internal/testing/testcli"
	evalkeypose "mannequin/offline/eval/keypose"
)

func TestEvalKeyposeFiguresUsage(t *testing.T) {
	code, _, errs := mannequin("eval", "keypose", t.TempDir(), "--out", t.TempDir())
	if code != command.ExitUsage || !strings.Contains(errs, "--sparse") {
		t.Errorf("figures without the thesis's network: exit %d, %s", code, errs)
	}
}

// Both methods are measured on what is held out, with the bars beside them.
func TestEvalKeypose(t *testing.T) {
	dir := t.TempDir()
	stroll := filepath.Join(dir, "stroll.bvh")
	if code, _, errs := mannequin("synth", "--path", "circle", "--speed", "1.2", "--seconds", "4", "--out", stroll); code != 0 {
		t.Fatal(errs)
	}
	testcli.WriteFile(t, dir, "again_subject5_.bvh", testcli.Read(t, stroll))
	r := testcli.Report[evalkeypose.Report](t, mannequin, "eval", "keypose", dir, "--held-out", "again*", "--transitions", dir, "--transitions-held-out", "again*", "--json")
	if len(r.Means) != 6 || len(r.Bodies) != 6 || len(r.Transitions) != 6 || len(r.Bars) != 22 {
		t.Fatalf("%d means, %d bodies, %d gaps, %d bars", len(r.Means), len(r.Bodies), len(r.Transitions), len(r.Bars))
	}
	for i := 0; i < 6; i += 3 {
		if base, m := r.Means[i], r.Means[i+2]; m.Clips != 1 || m.Joints > 0.8*base.Joints || m.Hit > 0.01 {
			t.Errorf("%+v, interpolation %+v", m, base)
		}
	}
	if code, out, errs := mannequin("eval", "keypose", dir, "--held-out", "again*"); code != 0 || !strings.Contains(out, "keypose in short") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}
