package registration

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
)

// recordings writes BVH files of our own making into a folder.
func recordings(t *testing.T, names ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mine")
	must.Do(t, os.Mkdir(dir, 0o755))
	clip := figure{frames: 20, phase: steady(0, 64), swing: 0.5}.walk().Scaled(1 / 0.056444)
	for _, n := range names {
		f := must.Get(os.Create(filepath.Join(dir, n+".bvh")))(t)
		must.Do(t, mocap.WriteClip(f, clip))
		must.Do(t, f.Close())
	}
	return dir
}

func TestRead(t *testing.T) {
	dir := recordings(t, "old_13_000", "angry_01_001", "angry_01_000", "bad_01_000", "stray")
	table := must.Get(ReadTable("t.toml", []byte("[[pattern]]\nfiles = \"str*\"\naction = \"bow\"\nstyle = \"$1\"\n[clip.bad_01_000]\nskip = true\naction = \"walk\"")))(t)
	calls, last := 0, 0
	takes, left, err := Read([]string{dir}, ReadOptions{Table: table, FPS: 30, Progress: func(done, all int) {
		calls++
		if last = done; all != 4 {
			t.Errorf("%d files in all", all)
		}
	}})
	if err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
	if calls != 4 || last != 4 {
		t.Errorf("%d calls of Progress, the last of %d", calls, last)
	}
	var got []string
	for _, k := range takes {
		got = append(got, k.Name+" "+k.Action+" "+k.Style+" "+k.Content)
		if k.Clip == nil || k.Clip.FPS != 30 || k.Clip.Frames != 10 || k.Times != nil || k.Stands != nil {
			t.Errorf("%s: %+v", k.Name, k.Clip)
		}
	}
	want := []string{"angry_01_000 walk angry 01", "angry_01_001 walk angry 01", "old_13_000 run old 13", "stray bow ay bow"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if g := Actions(takes); len(g) != 3 || len(g[0]) != 2 || g[1][0].Action != "run" || g[2][0].Action != "bow" {
		t.Errorf("actions %v", g)
	}
	again, _, err := Read([]string{dir}, ReadOptions{Table: table, FPS: 30, Workers: 1})
	if err != nil || !reflect.DeepEqual(takes, again) {
		t.Errorf("one worker reads something else: %v", err)
	}
}

// A frame far from its neighbours is found in the file, also if the take has another rate.
func TestReadFindsFaults(t *testing.T) {
	dir := recordings(t, "old_13_000", "angry_01_000")
	clip := figure{frames: 20, phase: steady(0, 64), swing: 0.5}.walk().Scaled(1 / 0.056444)
	pos, _ := clip.Frame(15)
	pos[0].X += 100
	f := must.Get(os.Create(filepath.Join(dir, "old_13_000.bvh")))(t)
	must.Do(t, mocap.WriteClip(f, clip))
	must.Do(t, f.Close())
	takes, _, err := Read([]string{dir}, ReadOptions{FPS: 30})
	if err != nil || len(takes[0].Faults) > 0 || len(takes[1].Faults) != 2 || takes[1].Faults[0].Frame != 15 {
		t.Errorf("%v, %v, %v", takes[0].Faults, takes[1].Faults, err)
	}
}

func TestReadSome(t *testing.T) {
	dir := recordings(t, "old_13_000", "angry_01_000", "stray")
	takes, left, err := Read([]string{dir}, ReadOptions{Lenient: true, Keep: func(name string, l Label) bool { return name == "mine/old_13_000" && l.Action == "run" }})
	if err != nil || len(takes) != 1 || takes[0].Style != "old" || len(left) != 1 || left[0] != "mine/stray" {
		t.Errorf("%v, %v, %v", takes, left, err)
	}
	if takes, _, err = Read([]string{dir}, ReadOptions{Only: []string{"mine/ang*"}}); err != nil || len(takes) != 1 || takes[0].Style != "angry" {
		t.Errorf("%v, %v", takes, err)
	}
}

func TestReadErrors(t *testing.T) {
	dir := recordings(t, "old_13_000", "stray")
	broken := recordings(t, "old_13_000", "old_14_000")
	must.Do(t, os.WriteFile(filepath.Join(broken, "old_14_000.bvh"), []byte("HIERARCHY\nROOT x\n"), 0o644))
	for _, c := range []struct {
		name   string
		dirs   []string
		opt    ReadOptions
		saying string
	}{
		{"no folder", []string{dir + "x"}, ReadOptions{}, "give a folder"},
		{"empty", []string{t.TempDir()}, ReadOptions{}, "no BVH, AMC, FBX or glTF recording in"},
		{"unknown", []string{dir}, ReadOptions{}, "no label for mine/stray: give"},
		{"none left", []string{dir}, ReadOptions{Only: []string{"x"}}, "that fits x"},
		{"none kept", []string{broken}, ReadOptions{Keep: func(string, Label) bool { return false }}, "none of the 2 recordings"},
		{"broken", []string{broken}, ReadOptions{}, "old_14_000.bvh"},
		{"rate", []string{dir}, ReadOptions{FPS: 1}, "FPS is 1"},
		{"workers", []string{dir}, ReadOptions{Workers: -1}, "Workers"},
		{"pattern", []string{dir}, ReadOptions{Only: []string{"["}}, "no pattern of names"},
	} {
		if _, _, err := Read(c.dirs, c.opt); err == nil || !strings.Contains(err.Error(), c.saying) || !strings.HasPrefix(err.Error(), "registration: ") {
			t.Errorf("%s: %v, want something with %q", c.name, err, c.saying)
		}
	}
}
