package stylesgram_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/manifold"
	"mannequin/internal/testing/must"
	"mannequin/models/human"
	stylesgram "mannequin/models/styles-gram"
)

// The styles open, belong to the shipped manifold, and state their names and licence. The list of
// licences repeats them.
func TestOpen(t *testing.T) {
	ts := must.Get(stylesgram.Open())(t)
	if again, _ := stylesgram.Open(); again != ts {
		t.Error("they are decoded twice")
	}
	if ts.Name != "styles-gram" || ts.License != "CC0-1.0; MIT" || !strings.Contains(ts.Data, "without any recording") || !strings.Contains(ts.Card, ts.License) {
		t.Errorf("name %q, licence %q, data %q, card %q", ts.Name, ts.License, ts.Data, ts.Card)
	}
	if !slices.Equal(ts.Names, []string{"cold", "drunk", "hurried", "limping", "marching", "relaxed", "sneaking", "stooped", "striding"}) {
		t.Errorf("the styles are %q", ts.Names)
	}
	net := must.Get(human.Open())(t)
	m := must.Get(manifold.NewModel(net))(t)
	if all, err := ts.For(m); err != nil || len(all) != 9 {
		t.Errorf("%d of the shipped manifold: %v", len(all), err)
	}
	licences := must.Get(os.ReadFile("../LICENSES.md"))(t)
	row := ""
	for line := range strings.Lines(string(licences)) {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, "`styles-gram`") {
			row = line
		}
	}
	if !strings.Contains(row, ts.License) {
		t.Errorf("LICENSES.md does not say that styles-gram is under %s", ts.License)
	}
	if info, err := os.Stat("styles-gram.safetensors"); err != nil || info.Size() > 1.5e6 {
		t.Errorf("%v, or more than 1.5 MB", err)
	}
}
