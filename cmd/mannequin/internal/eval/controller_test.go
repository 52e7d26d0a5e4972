package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
	"mannequin/internal/testing/testmatching"
)

// A character file and a network are measured in one table.
func TestEvalController(t *testing.T) {
	file := filepath.Join(t.TempDir(), "walker.character")
	w := must.Get(os.Create(file))(t)
	must.Do(t, testmatching.People(t).Encode(w))
	must.Do(t, w.Close())
	run := func(args ...string) (int, string, string) { return testcli.Run(testcli.Root(New()), args...) }
	code, out, errs := run("eval", "controller", file, testcli.Dog(t))
	if code != 0 || strings.Count(out, "answers") != 2 || !strings.Contains(out, "walker.character") || !strings.Contains(out, "the clips'") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	code, out, errs = run("eval", "controller", file, "--json")
	if code != 0 || !strings.Contains(out, `"path"`) {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	if code, _, errs := run("eval", "controller", filepath.Join(t.TempDir(), "none")); code == 0 || !strings.Contains(errs, "none") {
		t.Errorf("code %d: %s", code, errs)
	}
}
