package clipset

import (
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/internal/testing/must"
	"mannequin/offline/label"
)

// Labels that are written can be edited and read, and come before what was found.
func TestLabels(t *testing.T) {
	takes := made(t)[:3]
	clips := byName(takes)
	dir := folder(t, clips)
	s := must.Get(Open(dir, Options{}))(t)
	var b strings.Builder
	must.Do(t, s.WriteLabels(&b))
	labels := must.Get(ReadLabels("labels.toml", []byte(b.String())))(t)
	if len(labels.Clips) != len(s.Clips) {
		t.Fatalf("%d labels for %d clips: %s", len(labels.Clips), len(s.Clips), b.String())
	}
	labels.Clips[s.Clips[0].Name], labels.Clips[s.Clips[1].Name], labels.Clips[s.Clips[2].Name] = Skip, "sit", "stand"
	e := must.Get(Open(dir, Options{Labels: labels}))(t)
	if len(e.Clips) != len(s.Clips)-1 || e.Clips[0].Actions[0] != label.Sit || e.Clips[1].Actions[0] != label.Stand {
		t.Errorf("%d clips, the first shows %q", len(e.Clips), e.Clips[0].Actions[0])
	}
	for want, labels := range map[string]map[string]string{
		"there is no clip": {s.Clips[0].Name + "x": "sit"},
		"did you mean":     {s.Clips[0].Name + "x": "sit"},
		`mean "move"`:      {s.Clips[0].Name: "walk"},
		`mean "sit"`:       {s.Clips[0].Name: "Sit"},
		"is empty":         {s.Clips[0].Name: ""},
		"all clips are": {
			s.Clips[0].Name: Skip, s.Clips[1].Name: Skip, s.Clips[2].Name: Skip,
		},
	} {
		_, err := Open(dir, Options{Labels: Labels{Clips: labels}})
		must.FailWith(t, err, want)
	}
	for want, text := range map[string]string{"no table [clips]": "", "unknown key": "[clip]\na = 1\n", "not TOML": "[clips"} {
		_, err := ReadLabels("labels.toml", []byte(text))
		must.FailWith(t, err, want)
	}
}

// A label may take parts of a clip.
func TestLabelsOfParts(t *testing.T) {
	dir := folder(t, byName(made(t)[:2]))
	s := must.Get(Open(dir, Options{}))(t)
	long := s.Clips[0]
	open := func(is string) (*Set, error) {
		return Open(dir, Options{Labels: Labels{Clips: map[string]string{long.Name: is, s.Clips[1].Name: Auto}}})
	}
	e := must.Get(open("sit 0-0.5, 1-1.75"))(t)
	if len(e.Clips) != 3 || e.Clips[0].Motion.Frames != 30 || e.Clips[1].Motion.Frames != 45 || e.Clips[1].Name != long.Name+" from 1.00 s" || e.Clips[1].Actions[0] != label.Sit {
		t.Fatalf("%d clips, the second %q, %d frames", len(e.Clips), e.Clips[1].Name, e.Clips[1].Motion.Frames)
	}
	n := s.Skel.Len()
	if a, b := e.Clips[1].Motion.Rot[n:2*n], long.Motion.Rot[61*n:62*n]; !slices.Equal(a, b) {
		t.Error("the second part begins elsewhere")
	}
	var b strings.Builder
	must.Do(t, e.WriteLabels(&b))
	if again := must.Get(ReadLabels("labels.toml", []byte(b.String())))(t); again.Clips[long.Name] != "sit 0-0.5, 1-1.75" || len(again.Clips) != 2 {
		t.Errorf("written: %s", b.String())
	}
	// Parts that overlap are copies: each is grounded and sized once.
	e = must.Get(open("sit 0-1.5, 0-1.5"))(t)
	if a, b := e.Clips[0].Motion, e.Clips[1].Motion; !slices.Equal(a.Pos, b.Pos) || e.Clips[0].Name == e.Clips[1].Name {
		t.Errorf("%q and %q differ", e.Clips[0].Name, e.Clips[1].Name)
	}
	for is, want := range map[string]string{"sit 5": "want parts", "sit 2-1": "want parts", "sit a-b": "want parts", "sit 9000-9001": "less than 0.1 s", "Sit 0-1": `mean "sit"`, "sit 0-nan": "want parts"} {
		_, err := open(is)
		must.FailWith(t, err, want)
	}
}

// Clips of the same name get names that differ.
func TestUnique(t *testing.T) {
	s := Set{Clips: []Clip{{Name: "Walk", File: "d/a.glb"}, {Name: "Walk", File: "d/b.glb"}, {Name: "Walk", File: "d/b.glb"}}}
	s.unique()
	if s.Clips[0].Name != "Walk" || s.Clips[1].Name != "b.glb#Walk" || s.Clips[2].Name != "Walk 2" {
		t.Errorf("%q, %q, %q", s.Clips[0].Name, s.Clips[1].Name, s.Clips[2].Name)
	}
}

// Whatever names clips have, labels that are written are read again.
func FuzzLabels(f *testing.F) {
	f.Add("[clips]\n\"a\" = \"sit\"\n", "a\"\\\n\x00")
	f.Add("[clips]\na.b = 3", "")
	f.Fuzz(func(t *testing.T, text, name string) {
		if labels, err := ReadLabels("fuzz", []byte(text)); err == nil && labels.Clips == nil {
			t.Fatal("neither labels nor an error")
		}
		s := Set{Clips: []Clip{{Name: plain(name), Motion: skel.NewClip(&skel.Skeleton{}, FPS, 1), Actions: []string{label.Idle}}}}
		var b strings.Builder
		must.Do(t, s.WriteLabels(&b))
		labels, err := ReadLabels("again", []byte(b.String()))
		if err != nil || len(labels.Clips) != 1 {
			t.Fatalf("%v, %d labels of %q", err, len(labels.Clips), b.String())
		}
	})
}
