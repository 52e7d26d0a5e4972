package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/offline/mocap"
	"mannequin/offline/procgen/human"
	"mannequin/offline/registration"
)

// fewTakes are a straight walk in three styles.
var fewTakes = sync.OnceValues(func() ([]*registration.Take, map[string]registration.Timeline) {
	all, lines, err := human.Generate(human.Options{Actions: []string{human.Walk}, Styles: []string{"neutral", "old", "proud"}})
	if err != nil {
		panic(err)
	}
	var few []*registration.Take
	seen := map[string]bool{}
	for _, t := range all {
		if t.Content == all[0].Content && !seen[t.Style] {
			seen[t.Style] = true
			few = append(few, t)
		}
	}
	return few, lines
})

// fewBytes are the file of a database of them.
var fewBytes = sync.OnceValue(func() []byte {
	db, err := registration.Database(fewTakes())
	if err != nil {
		panic(err)
	}
	db.Name, db.Data, db.License, db.Card = "few", "three walks", "CC0-1.0", "# few"
	var b bytes.Buffer
	if err := db.Encode(&b, false); err != nil {
		panic(err)
	}
	return b.Bytes()
})

// fewDatabase is what it holds, read once: that takes most of a second with the race
// detector.
var fewDatabase = sync.OnceValue(func() *mar.Database {
	db, err := mar.Decode(fewBytes())
	if err != nil {
		panic(err)
	}
	return db
})

// fewStyles writes it.
func fewStyles(t *testing.T) string {
	t.Helper()
	return writeFile(t, t.TempDir(), "few.safetensors", string(fewBytes()))
}

// writeTake writes frames of a take of fewTakes from so many on.
func writeTake(t *testing.T, dir, name, style string, from, frames int, scale float32) string {
	t.Helper()
	takes, _ := fewTakes()
	for _, k := range takes {
		if k.Style == style {
			n := k.Clip.Skel.Len()
			c := &skel.Clip{Skel: k.Clip.Skel, FPS: k.Clip.FPS, Frames: frames, Pos: k.Clip.Pos[from*n : (from+frames)*n], Rot: k.Clip.Rot[from*n : (from+frames)*n]}
			var b bytes.Buffer
			if err := mocap.WriteClip(&b, c.Scaled(scale)); err != nil {
				t.Fatal(err)
			}
			return writeFile(t, dir, name, b.String())
		}
	}
	t.Fatal("no take in ", style)
	return ""
}

// Recordings and a table become a database, and what it lacks is told.
func TestStyleBuild(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mine")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	writeTake(t, dir, "walk_neutral_1.bvh", "neutral", 60, 150, 100)
	writeTake(t, dir, "walk_old_1.bvh", "old", 60, 170, 100)
	writeTake(t, dir, "strut_old_1.bvh", "proud", 60, 30, 100)
	writeTake(t, dir, "unknown.bvh", "old", 60, 30, 100)
	writeFile(t, dir, "dataset.toml", "name = \"m\"\ndata = \"my walks\"\nlicence = \"MIT\"\n")
	table := writeFile(t, t.TempDir(), "t.toml", `
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
	args := []string{"style", "build", "--data", dir, "--table", table, "--out", out}
	code, text, errs := cli(append(args, "--json", "--threads", "2")...)
	if code != 0 || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var r styleReport
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
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
	db, err := mar.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	if db.License != "MIT" || !strings.Contains(db.Data, "3 takes") || !strings.Contains(db.Data, "mine (my walks)") || !strings.Contains(db.Card, "| walk | old | 1 | 0.0 |") {
		t.Errorf("licence %q, data %q, card\n%s", db.License, db.Data, db.Card)
	}
	code, text, errs = cli(append(args, "--threads", "1", "--only", "walk_old_1", "--license", "mine alone", "--half")...)
	for _, want := range []string{"1 actions in 1 styles", "licence: mine alone", "walk", "two-way", "warning: there is one style only, old"} {
		if code != 0 || !strings.Contains(text, want) {
			t.Errorf("exit %d: %s: no %q in\n%s", code, errs, want, text)
		}
	}
}

func TestStyleBuildRefuses(t *testing.T) {
	dir, empty, out := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "x.safetensors")
	writeTake(t, dir, "mystery.bvh", "old", 0, 30, 100)
	broken := t.TempDir()
	writeFile(t, broken, "proud_01_000.bvh", "HIERARCHY\nROOT\n")
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"no --data", 2, nil},
		{"made of either", 2, []string{"--free", "--data", dir}},
		{"--fps is 5", 2, []string{"--data", dir, "--fps", "5"}},
		{"--threads is 0", 2, []string{"--data", dir, "--threads", "0"}},
		{"--minutes is for --free", 2, []string{"--data", dir, "--minutes", "3"}},
		{"--license is for recordings", 2, []string{"--free", "--license", "MIT"}},
		{"--minutes is -1", 2, []string{"--free", "--minutes", "-1"}},
		{"--seed is 0", 2, []string{"--free", "--seed", "0"}},
		{"no pattern", 2, []string{"--data", dir, "--only", "[a"}},
		{"nothing is known of the 1 recordings", 1, []string{"--data", dir}},
		{"no BVH or AMC file", 1, []string{"--data", empty}},
		{"none.toml", 1, []string{"--data", dir, "--table", filepath.Join(dir, "none.toml")}},
		{"proud_01_000.bvh:2:", 1, []string{"--data", broken}},
	} {
		code, text, errs := cli(append([]string{"style", "build", "--out", out}, c.args...)...)
		if code != c.code || !strings.Contains(errs, c.want) || text != "" {
			t.Errorf("%q: exit %d: %s%s", c.args, code, text, errs)
		}
	}
	if code, _, errs := cli("style", "build", "--free"); code != 2 || !strings.Contains(errs, "out") {
		t.Errorf("no --out: exit %d: %s", code, errs)
	}
	if code, text, _ := cli("style"); code != 0 || !strings.Contains(text, "build") {
		t.Errorf("exit %d: %s", code, text)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused database was written")
	}
}

// The shipped database is what its command makes.
func TestStylesFreeAgain(t *testing.T) {
	if raced || testing.Short() || runtime.GOARCH != "amd64" {
		t.Skip("it takes a minute with the race detector; other processors round otherwise")
	}
	out := filepath.Join(t.TempDir(), "free.safetensors")
	if code, _, errs := cli("style", "build", "--free", "--half", "--out", out); code != 0 {
		t.Fatal(errs)
	}
	made, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if shipped, err := os.ReadFile("../../models/styles-free/styles-free.safetensors"); err != nil || !bytes.Equal(made, shipped) {
		t.Errorf("other bytes than those shipped (%v): make it again, see models/styles-free", err)
	}
}

func TestInspectStyles(t *testing.T) {
	path := fewStyles(t)
	r := describeStyles(path, fewDatabase())
	if b, err := json.Marshal(r); err != nil || !strings.Contains(string(b), `"style":"old"`) {
		t.Errorf("%v: %s", err, b)
	}
	if r.Kind != "database of styles" || r.Name != "few" || r.Joints != 25 || r.EndSites != 5 || len(r.Columns) != 78 || len(r.Actions) != 1 || len(r.Actions[0].Styles) != 3 || r.Licence != "CC0-1.0" {
		t.Errorf("%+v", r)
	}
	code, text, errs := cli("inspect", path)
	for _, want := range []string{"database of styles few", "1 actions in 3 styles", "25 joints, 5 End Sites, root Hips", "78: root height", "CC0-1.0", "proud", "# few"} {
		if code != 0 || !strings.Contains(text, want) {
			t.Errorf("exit %d: %s: no %q in\n%s", code, errs, want, text)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 0x40
	broken := writeFile(t, t.TempDir(), "broken.safetensors", string(b))
	if code, text, errs := cli("inspect", broken); code != 1 || !strings.Contains(errs, "broken.safetensors") || text != "" {
		t.Errorf("a broken database: exit %d: %s%s", code, text, errs)
	}
}
