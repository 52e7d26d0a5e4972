package inspect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
)

// A database is known by its content. One without a size has the usual one.
func TestInspectCharacter(t *testing.T) {
	d := *testmatching.Dogs(t)
	d.Name, d.License, d.Card = "rex", "CC0-1.0", "speed held\n"
	path := filepath.Join(t.TempDir(), "rex.bin")
	f := must.Get(os.Create(path))(t)
	must.Do(t, d.Encode(f))
	must.Do(t, f.Close())
	code, out, errs := mannequin("inspect", path, "--json")
	var r characterReport
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("code %d, %v: %s", code, err, errs)
	}
	if r.Name != "rex" || r.Legs != 4 || r.Frames != d.Frames() || r.Clips != d.Clips() || r.Size != 1 || len(r.Tags) != len(d.Tags) {
		t.Errorf("%+v", r)
	}
	if code, out, errs := mannequin("inspect", path); code != 0 || !strings.Contains(out, "1.00 times the usual size") || !strings.Contains(out, "speed held") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
}
