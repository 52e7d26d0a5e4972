package testmatching

import (
	"bytes"
	"flag"
	"log/slog"
	"os"
	"testing"
	"time"

	"mannequin/animsys/matching"
	"mannequin/internal/testing/must"
	"mannequin/offline/recipes"
)

var update = flag.Bool("update", false, "train the person of testdata again, in a minute")

// The person of testdata is what People's clips and the recipe make.
func TestLearned(t *testing.T) {
	if !*update {
		if l, d := Learned(t), People(t); l.Skel.Fingerprint() != d.Skel.Fingerprint() {
			t.Error("it has another skeleton than People: train it again with -update")
		}
		return
	}
	m := recipes.DefaultLearned(People(t), 2)
	m.Hidden, m.Project, m.Folder = 64, 64, t.TempDir()
	m.Log, m.Now = slog.New(slog.DiscardHandler), time.Now
	l, _, err := m.Run(t.Context())
	must.Do(t, err)
	var b bytes.Buffer
	must.Do(t, (&matching.File{Learned: l, Learns: true}).Encode(&b))
	must.Do(t, os.WriteFile("testdata/person.character", b.Bytes(), 0o644))
}
