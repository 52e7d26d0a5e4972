package closest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	names := []string{"dog", "dog-free", "human", "human-strnn", "quadruped", "threads"}
	for name, want := range map[string]string{
		"dgo": "dog", "Dog": "dog", "humna": "human", "humanstrnn": "human-strnn", "quad": "quadruped", "qaudruped": "quadruped", "thread": "threads",
		"cat": "", "": "", "x": "", "do": "dog", "elephant": "", "dog": "dog-free",
	} {
		if got := Name(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestHints(t *testing.T) {
	if got := Hint("humna", []string{"human"}); got != "; did you mean human?" {
		t.Error(got)
	}
	if got := Hint("cat", []string{"human"}); got != "" {
		t.Error(got)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "walk.bvh"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if got, want := FileHint(filepath.Join(dir, "wlak.bvh")), "; did you mean "+filepath.Join(dir, "walk.bvh")+"?"; got != want {
		t.Error(got)
	}
	if got := FileHint(""); got != "" {
		t.Error(got)
	}
	if got := FileHint(filepath.Join(dir, "none", "walk.bvh")); got != "" {
		t.Error(got)
	}
}

func TestKeyHint(t *testing.T) {
	var file struct {
		Name   string `toml:"name,omitempty"`
		Labels int    `json:"segments"`
		Target []struct {
			At    []float64
			Joint *string
		}
		Clip map[string]struct{ Cyclic bool }
	}
	for key, want := range map[string]string{
		"nmae": ": want name, segments, target, clip; did you mean name?", "segment": ": want name, segments, target, clip; did you mean segments?",
		"targets": ": want name, segments, target, clip; did you mean target?", "target.jiont": ": want at, joint; did you mean joint?",
		"clip.any.cyclc": ": want cyclic; did you mean cyclic?", "colour": ": want name, segments, target, clip", "name.x": "", "target.at": "", "target.at.x": "",
	} {
		if got := KeyHint(strings.Split(key, "."), &file); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}} {
		if got := distance([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
