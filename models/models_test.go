package models_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/models"
)

// Every shipped model opens and states its name, its training data and its licence. The list of
// licences repeats them.
func TestShipped(t *testing.T) {
	licences, err := os.ReadFile("LICENSES.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(models.Names()) == 0 {
		t.Fatal("no model is shipped")
	}
	for _, name := range models.Names() {
		n, err := models.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		m := n.Meta()
		if m.Name != name || m.License == "" || m.Data == "" || m.Card == "" || m.Metrics == "" {
			t.Errorf("%s: incomplete metadata: name %q, licence %q, data %q", name, m.Name, m.License, m.Data)
		}
		row := ""
		for line := range strings.Lines(string(licences)) {
			if strings.HasPrefix(line, "| ") && strings.Contains(strings.Split(line, "|")[1], "`"+name+"`") {
				row = line
			}
		}
		if !strings.Contains(row, m.License) {
			t.Errorf("LICENSES.md does not say that %s is under %s", name, m.License)
		}
		file, err := os.Stat(filepath.Join(name, name+".safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		if file.Size() > 25e6 {
			t.Errorf("%s: %d bytes: weights are to stay below 25 MB", name, file.Size())
		}
	}
}

// A model has one network, a character several, and recordings none.
func TestOpenNets(t *testing.T) {
	for name, want := range map[string]int{"dog": 1, "fox": 3, "../internal/testing/testmatching/testdata/adaptive.character": 1} {
		called, nets := must.Get2(models.OpenNets(name))(t)
		if len(nets) != want || called == "" {
			t.Errorf("%s: %q with %d networks, want %d", name, called, len(nets), want)
		}
	}
	for name, want := range map[string]string{"fux": "fox", "models_test.go": "models_test.go"} {
		if _, _, err := models.OpenNets(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", name, err, want)
		}
	}
}

// Every shipped character opens, states its name, its training data and its licence, and holds no recordings. The list of
// licences repeats them.
func TestCharacters(t *testing.T) {
	licences := string(must.Get(os.ReadFile("LICENSES.md"))(t))
	for _, name := range models.Characters() {
		f := must.Get(models.OpenCharacter(name))(t)
		c := f.Character()
		license := "CC0-1.0"
		if name == "hero" {
			license = "MIT"
		}
		if f.Database != nil || c.Name != name || c.License != license || c.Data == "" || c.Card == "" {
			t.Errorf("%s: name %q, licence %q, data %q, recordings %t", name, c.Name, c.License, c.Data, f.Database != nil)
		}
		if !strings.Contains(licences, "`"+name+"`") {
			t.Errorf("LICENSES.md does not have %s", name)
		}
		if file := must.Get(os.Stat(filepath.Join(name, name+".character")))(t); file.Size() > 2e6 {
			t.Errorf("%s: %d bytes", name, file.Size())
		}
	}
	must.Fail(models.OpenCharacter("hrose"))(t, "; did you mean horse?")
}

func TestUnknown(t *testing.T) {
	must.Fail(models.Open("cat"))(t, "dog")
	must.Fail(models.Open("humna"))(t, "; did you mean human?")
	must.Fail(models.Open(filepath.Join(t.TempDir(), "cat.safetensors")))(t, "cat.safetensors")
}
