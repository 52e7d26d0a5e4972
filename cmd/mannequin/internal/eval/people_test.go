package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
	evalpeople "mannequin/offline/eval/people"
)

// eval people judges what the tools make: an edited walk is much like its recording, and people who
// stop are not.
func TestEvalPeople(t *testing.T) {
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "made")
	for _, name := range []string{"07_04.bvh", "08_05.bvh"} {
		must.Do(t, os.Symlink(filepath.Join(mocapdata.Dir(t), "cmu-locomotion", name), filepath.Join(data, name)))
	}
	args := []string{"eval", "people", data, "--only", "edit --feet,synth stops", "--seconds", "6", "--out", out}
	r := testcli.Report[evalpeople.Report](t, mannequin, append(args, "--json")...)
	if len(r.Generators) != 2 || r.Generators[0].Name != "synth stops" || r.Generators[1].Name != "edit --feet" {
		t.Fatalf("generators %+v", r.Sets)
	}
	stops, edit := r.Generators[0], r.Generators[1]
	if len(edit.Files) != 2 || len(edit.From) != 2 || len(edit.Rows) != len(stops.Rows) || 10*edit.Within < 6*edit.Count {
		t.Errorf("edit --feet: %d of %d rows within, %d files from %d", edit.Within, edit.Count, len(edit.Files), len(edit.From))
	}
	if edit.Own == nil || stops.Own != nil || 10*edit.Own.Within < 7*edit.Own.Count || len(r.Among) != 0 {
		t.Errorf("against own clips %+v and %+v, recordings among themselves %+v", edit.Own, stops.Own, r.Among)
	}
	// A set against itself.
	args = []string{"eval", "people", data, data, "--only", "edit*", "--seconds", "6", "--out", out}
	r = testcli.Report[evalpeople.Report](t, mannequin, append(args, "--json")...)
	if len(r.Among) != 2 || r.Among[0].Count < 10 || r.Among[0].Within != r.Among[0].Count {
		t.Errorf("recordings among themselves %+v", r.Among)
	}
	code, text, errs := mannequin(args...)
	if code != 0 || !strings.Contains(text, "against the others") || strings.Contains(text, "synth") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if made, err := filepath.Glob(filepath.Join(out, "edit-feet", "*.bvh")); err != nil || len(made) != 2 {
		t.Errorf("made %v, %v", made, err)
	}
	if code, _, errs := mannequin(append(args[:4:4], "--only", "none", "--out", out)...); code == 0 || !strings.Contains(errs, "no generator has such a name") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
