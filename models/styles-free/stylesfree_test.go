package stylesfree_test

import (
	"os"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	stylesfree "mannequin/models/styles-free"
)

// The database opens, states its name and licence, and has all actions in all styles. The list of
// licences repeats them.
func TestOpen(t *testing.T) {
	race.Single(t) // decoding takes half a minute with it
	db := must.Get(stylesfree.Open())(t)
	if again, _ := stylesfree.Open(); again != db {
		t.Error("it is decoded twice")
	}
	if db.Name != "styles-free" || db.License != "CC0-1.0" || !strings.Contains(db.Data, "without any recording") || !strings.Contains(db.Card, "style build --free") {
		t.Errorf("name %q, licence %q, data %q, card %q", db.Name, db.License, db.Data, db.Card)
	}
	if len(db.Actions) != 3 || len(db.Styles) != 13 || db.FPS != 60 {
		t.Errorf("%q in %q at %g", db.Actions, db.Styles, db.FPS)
	}
	seen := map[[2]int]bool{}
	for f := range db.Frames() {
		_, action, style, _ := db.Of(f)
		seen[[2]int{action, style}] = true
	}
	if len(seen) != 39 {
		t.Errorf("%d actions in styles, want 39", len(seen))
	}
	licences := must.Get(os.ReadFile("../LICENSES.md"))(t)
	row := ""
	for line := range strings.Lines(string(licences)) {
		if strings.HasPrefix(line, "| `styles-free`") {
			row = line
		}
	}
	if !strings.Contains(row, db.License) {
		t.Errorf("LICENSES.md does not say that styles-free is under %s", db.License)
	}
	if file, err := os.Stat("styles-free.safetensors"); err != nil || file.Size() > 15e6 {
		t.Errorf("%v, or more than 15 MB: %v", err, file.Size())
	}
}
