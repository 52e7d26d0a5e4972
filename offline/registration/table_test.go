package registration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

const sample = `
[[pattern]]
files  = "walk_*_?[0-9]"
action = "walk"
style  = "$1"
content = "path-$2$3"
cyclic = true

[[pattern]]
files  = "monday/*"
action = "bow"
style  = "plain"
cyclic = false

[[pattern]]
files  = "*"
action = "other"
style  = "$1"

[clip.walk_old_07]
style = "tired"

[clip."tuesday/walk_old_08"]
skip = true

[clip.alone]
cyclic = true
`

func TestTable(t *testing.T) {
	table := must.Get(ReadTable("t.toml", []byte(sample)))(t)
	for _, c := range []struct {
		name string
		want Label
		skip bool
	}{
		{"d/walk_old_03", Label{"walk", "old", "path-03", "", Repeats}, false},
		{"d/walk_very_old_03", Label{"walk", "very_old", "path-03", "", Repeats}, false},
		{"d/walk_old_07", Label{"walk", "tired", "path-07", "", Repeats}, false},
		{"monday/walk_old_07", Label{"walk", "tired", "path-07", "", Repeats}, false},
		{"tuesday/walk_old_08", Label{"walk", "old", "path-08", "", Repeats}, true},
		{"monday/walk_old_08", Label{"walk", "old", "path-08", "", Repeats}, false},
		{"monday/b", Label{"bow", "plain", "bow", "", Once}, false},
		{"tuesday/b", Label{"other", "b", "other", "", Unknown}, false},
		{"d/alone", Label{"other", "alone", "other", "", Repeats}, false},
	} {
		l, skip, ok, err := table.Label(c.name)
		if err != nil || !ok || l != c.want || skip != c.skip {
			t.Errorf("%s: %+v, %v, %v, %v", c.name, l, skip, ok, err)
		}
	}
}

func TestTableSaysNothing(t *testing.T) {
	table := must.Get(ReadTable("t.toml", []byte("[clip.a]\naction = \"walk\"\n[clip.b]\naction = \"walk\"\nstyle = \"old\"\n[clip.c]\nskip = true")))(t)
	if _, _, ok, err := table.Label("d/x"); ok || err != nil {
		t.Errorf("x: %v, %v", ok, err)
	}
	if _, _, _, err := table.Label("d/a"); err == nil || !strings.Contains(err.Error(), `t.toml: d/a has action "walk" and style ""`) {
		t.Errorf("a: %v", err)
	}
	if l, skip, ok, err := table.Label("d/b"); err != nil || !ok || skip || l.Content != "walk" {
		t.Errorf("b: %+v, %v, %v, %v", l, skip, ok, err)
	}
	if _, skip, ok, err := table.Label("d/c"); err != nil || !ok || !skip {
		t.Errorf("c: %v, %v, %v", skip, ok, err)
	}
}

func TestTableErrors(t *testing.T) {
	for _, c := range []struct{ text, saying string }{
		{"", "it is empty"},
		{"x = 1", `unknown key "x"`},
		{"[[pattern]]\nfiles = \"*\"\naction = \"a\"\nstyle = \"s\"\ncolour = 1", `unknown key "pattern.colour"`},
		{"[[pattern]]\nfiles = \"*\"\nactoin = \"a\"\nstyle = \"s\"", `cyclic; did you mean action?`},
		{"[clip.x]\ncyclc = true", `skip; did you mean cyclic?`},
		{"\n\n[[pattern]]\nfiles = = 1", "t.toml:4:"},
		{"[[pattern]]\naction = \"a\"", "pattern 1: files is missing"},
		{"[[pattern]]\nfiles = \"*\"\nstyle = \"a\"", `pattern 1 ("*"): action is missing`},
		{"[[pattern]]\nfiles = \"*\"\naction = \"a\"", "style is missing"},
		{"[[pattern]]\nfiles = \"a*\"\naction = \"a\"\nstyle = \"$2\"", `style: $2: files has 1 stars`},
		{"[[pattern]]\nfiles = \"a*\"\naction = \"a\"\nstyle = \"$0\"", `style: $0`},
		{"[[pattern]]\nfiles = \"a[\"\naction = \"a\"\nstyle = \"b\"", "a bracket is open"},
		{"[clip.a]", `clip."a" is empty`},
		{"[[pattern]]\nfiles = 3", "t.toml"},
		{strings.Repeat("[", 100), ":1: nested"},
		{"a=" + strings.Repeat("[\n{a=", 10000), ":4: nested"},
		{"a" + strings.Repeat(".a", 100), ":1: nested"},
		{strings.Repeat("#", maxTable+1), "bytes, at most"},
		{"[[pattern]]\nfiles = \"" + strings.Repeat("*", maxGlob+1) + "\"\naction = \"a\"\nstyle = \"b\"", "files has 513 bytes"},
	} {
		_, err := ReadTable("t.toml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.saying) || !strings.Contains(err.Error(), "t.toml") {
			t.Errorf("%.60q: %v, want something with %q", c.text, err, c.saying)
		}
	}
}

func TestOpenTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clips.toml")
	if _, err := OpenTable(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("no file: %v", err)
	}
	must.Do(t, os.WriteFile(path, []byte(sample), 0o644))
	if _, err := OpenTable(path); err != nil {
		t.Error(err)
	}
}

func FuzzReadTable(f *testing.F) {
	f.Add(sample, "d/walk_old_03")
	f.Add("[[pattern]]\nfiles = \"[a-z]?\\\\*\"\naction = \"a\"\nstyle = \"$1\"", "x")
	f.Add("[clip.a]\nskip = true", "d/a")
	f.Fuzz(func(t *testing.T, text, name string) {
		table, err := ReadTable("t.toml", []byte(text))
		if err != nil {
			if !strings.Contains(err.Error(), "t.toml") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		l, skip, ok, err := table.Label(name)
		if err == nil && ok && !skip && (l.Action == "" || l.Style == "" || l.Content == "") {
			t.Errorf("%q is taken for %+v", name, l)
		}
	})
}
