package style

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mannequin/animsys/mar"
	"mannequin/cmd/mannequin/internal/inspect"
	"mannequin/cmd/mannequin/internal/motion"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	"mannequin/internal/testing/testcli"
)

// Recordings and a table become a database, and what it lacks is told.
func TestStyleBuild(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mine")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	testcli.Take(t, dir, "walk_neutral_1.bvh", "neutral", 60, 150, 100)
	testcli.Take(t, dir, "walk_old_1.bvh", "old", 60, 170, 100)
	testcli.Take(t, dir, "strut_old_1.bvh", "proud", 60, 30, 100)
	testcli.Take(t, dir, "unknown.bvh", "old", 60, 30, 100)
	testcli.WriteFile(t, dir, "dataset.toml", "name = \"m\"\ndata = \"my walks\"\nlicence = \"MIT\"\n")
	table := testcli.WriteFile(t, t.TempDir(), "t.toml", `
[[pattern]]
files = "walk_*_*"
action = "walk"
style = "$1"
cyclic = true

[[pattern]]
files = "strut_*_*"
action = "strut"
style = "$1"
cyclic = false
`)
	out := filepath.Join(t.TempDir(), "mine.safetensors")
	args := []string{"style", "build", dir, "--table", table, "--out", out}
	r := testcli.Report[styleReport](t, mannequin, append(args, "--json", "--threads", "2")...)
	if r.Licence != "MIT" || r.Name != "mine" || r.FPS != 60 || len(r.Actions) != 2 || len(r.Styles) != 2 || len(r.LeftOut) != 1 || r.LeftOut[0] != "mine/unknown" {
		t.Errorf("%+v", r)
	}
	if a := r.Actions[1]; a.Action != "walk" || a.Takes != 2 || len(a.Styles) != 2 || a.Period < 0.8 || a.Period > 1.4 || a.Residual == nil || *a.Residual > 1 || a.Styles[1].Windows != 166 {
		t.Errorf("%+v", a)
	}
	warnings := strings.Join(r.Warnings, "\n")
	for _, want := range []string{"nothing is known of 1 of the recordings, such as mine/unknown", "strut is in old only", "strut in old has 26 windows of frames, fewer than the 40"} {
		if !strings.Contains(warnings, want) {
			t.Errorf("no %q in\n%s", want, warnings)
		}
	}
	db := must.Get(mar.Open(out))(t)
	if db.License != "MIT" || !strings.Contains(db.Data, "3 takes") || !strings.Contains(db.Data, "mine (my walks)") || !strings.Contains(db.Card, "| walk | old | 1 | 0.0 |") {
		t.Errorf("licence %q, data %q, card\n%s", db.License, db.Data, db.Card)
	}
	code, text, errs := mannequin(append(args, "--threads", "1", "--only", "walk_old_1", "--license", "mine alone", "--half")...)
	for _, want := range []string{"1 actions in 1 styles", "licence: mine alone", "walk", "two-way", "warning: there is one style only, old"} {
		if code != 0 || !strings.Contains(text, want) {
			t.Errorf("exit %d: %s: no %q in\n%s", code, errs, want, text)
		}
	}
}

func TestStyleBuildRefuses(t *testing.T) {
	dir, empty, out := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "x.safetensors")
	testcli.Take(t, dir, "mystery.bvh", "old", 0, 30, 100)
	broken := t.TempDir()
	testcli.WriteFile(t, broken, "proud_01_000.bvh", "HIERARCHY\nROOT\n")
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"want folders of recordings", 2, nil},
		{"one or the other", 2, []string{"--free", dir}},
		{"--fps is 5", 2, []string{dir, "--fps", "5"}},
		{"--threads is 0", 2, []string{dir, "--threads", "0"}},
		{"--minutes is for --free", 2, []string{dir, "--minutes", "3"}},
		{"--license is for recordings", 2, []string{"--free", "--license", "MIT"}},
		{"--minutes is -1", 2, []string{"--free", "--minutes", "-1"}},
		{"--seed is 0", 2, []string{"--free", "--seed", "0"}},
		{"no pattern", 2, []string{dir, "--only", "[a"}},
		{"nothing is known of the 1 recordings", 1, []string{dir}},
		{"no BVH, AMC, FBX or glTF recording", 1, []string{empty}},
		{"none.toml", 1, []string{dir, "--table", filepath.Join(dir, "none.toml")}},
		{"proud_01_000.bvh:3:", 1, []string{broken}},
	} {
		code, text, errs := mannequin(append([]string{"style", "build", "--out", out}, c.args...)...)
		if code != c.code || !strings.Contains(errs, c.want) || text != "" {
			t.Errorf("%q: exit %d: %s%s", c.args, code, text, errs)
		}
	}
	if code, _, errs := mannequin("style", "build", "--free"); code != 2 || !strings.Contains(errs, "out") {
		t.Errorf("no --out: exit %d: %s", code, errs)
	}
	if code, text, _ := mannequin("style"); code != 0 || !strings.Contains(text, "build") {
		t.Errorf("exit %d: %s", code, text)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused database was written")
	}
}

// The shipped database is what its command makes.
func TestStylesFreeAgain(t *testing.T) {
	race.Single(t)
	if testing.Short() || runtime.GOARCH != "amd64" {
		t.Skip("it takes some seconds; other processors round otherwise")
	}
	out := filepath.Join(t.TempDir(), "free.safetensors")
	if code, _, errs := mannequin("style", "build", "--free", "--half", "--out", out); code != 0 {
		t.Fatal(errs)
	}
	made := must.Get(os.ReadFile(out))(t)
	if shipped, err := os.ReadFile("../../../../models/styles-free/styles-free.safetensors"); err != nil || !bytes.Equal(made, shipped) {
		t.Errorf("other bytes than those shipped (%v): make it again, see models/styles-free", err)
	}
}

// mannequin runs one command line as a user would.
func mannequin(args ...string) (code int, stdout, stderr string) {
	return testcli.Run(testcli.Root(append(motion.Commands(), New(), inspect.New())...), args...)
}
