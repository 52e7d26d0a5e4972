package testmatching

import (
	"bytes"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/animsys/skel"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/offline/augment"
	"mannequin/offline/recipes"
)

var update = flag.Bool("update", false, "train the networks of testdata again, in a few minutes")

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
	write(t, "person", &matching.File{Learned: l, Plays: matching.LearnedMatching})
}

// So is the one of a mode-adaptive network.
func TestAdaptive(t *testing.T) {
	d := People(t)
	if !*update {
		if a := Adaptive(t); a.Skel.Fingerprint() != d.Skel.Fingerprint() {
			t.Error("it has another skeleton than People: train it again with -update")
		}
		return
	}
	clips := must.Get(augment.Play(d, augment.Options{Seconds: 300, Seed: 1}))(t)
	clips[0].HeldOut = true
	m := must.Get(recipes.NewAdaptive(&d.Character, clips, must.Get(skel.NewMirror(d.Skel))(t), 1, 0))(t)
	m.Experts, m.Hidden, m.Epochs = 4, 40, 30
	dir := t.TempDir()
	m.Out, m.Checkpoint, m.Log, m.Now, m.Every = filepath.Join(dir, "net"), filepath.Join(dir, "checkpoint"), slog.New(slog.DiscardHandler), time.Now, time.Minute
	must.Get(m.Run(t.Context()))(t)
	model := must.Get(mann.NewModel(must.Get(netruntime.Open(m.Out))(t)))(t)
	write(t, "adaptive", &matching.File{Adaptive: must.Get(matching.NewAdaptive(d, model))(t), Plays: matching.AdaptiveNetwork})
}

func write(t *testing.T, name string, f *matching.File) {
	var b bytes.Buffer
	must.Do(t, f.Encode(&b))
	must.Do(t, os.WriteFile("testdata/"+name+".character", b.Bytes(), 0o644))
}
