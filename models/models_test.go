package models_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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

func TestUnknown(t *testing.T) {
	if _, err := models.Open("cat"); err == nil || !strings.Contains(err.Error(), "dog") {
		t.Errorf("unknown name: %v", err)
	}
	if _, err := models.Open("humna"); err == nil || !strings.HasSuffix(err.Error(), "; did you mean human?") {
		t.Errorf("mistyped name: %v", err)
	}
	if _, err := models.Open(filepath.Join(t.TempDir(), "cat.safetensors")); err == nil || !strings.Contains(err.Error(), "cat.safetensors") {
		t.Errorf("missing file: %v", err)
	}
}
