package style

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mannequin/cmd/mannequin/internal/inspect"
	"mannequin/internal/command"
	"mannequin/internal/testing/race"
	"mannequin/internal/testing/testcli"
)

// Two styles of walks are found, written with their licence, read again by name, and
// give a recording other arms.
func TestStyleTransfer(t *testing.T) {
	race.Single(t)
	dir := t.TempDir()
	content := testcli.Walk(t, dir, "content.bvh", 1.8, 80, 361)
	testcli.WriteFile(t, dir, "dataset.toml", "name = \"walks\"\ndata = \"made-up walks\"\nlicence = \"CC0-1.0\"\nlimits = \"Nobody walks like that.\"\n")
	up, low := testcli.Walk(t, dir, "up.bvh", 1.8, 10, 241), testcli.Walk(t, dir, "low.bvh", 1.5, 60, 361)
	out := filepath.Join(dir, "mine.safetensors")
	r := testcli.Report[transferReport](t, mannequin, "style", "transfer", "winged:0.5="+up, "lame="+low+"@1:3", "--content", content, "--out", out, "--json")
	if r.Name != "mine" || r.Licence != "CC0-1.0; MIT" || !strings.Contains(r.Data, "lame from low.bvh (1 to 3 s)") || !strings.Contains(r.Data, "made-up walks") || r.Content < 5.9 || len(r.Styles) != 2 {
		t.Errorf("report %+v", r)
	}
	for _, s := range r.Styles {
		if s.Steps < 1 || !(s.Ratio < 0.9) || len(s.Others) != len(otherSpeeds) || s.Seconds < 1.9 {
			t.Errorf("style %+v", s)
		}
	}
	code, text, errs := mannequin("inspect", out, "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var i inspect.TransfersReport
	if err := json.Unmarshal([]byte(text), &i); err != nil || !slices.Equal(i.Styles, []string{"lame", "winged"}) || i.Licence != r.Licence || i.Units != 256 || !strings.Contains(i.Card, "Nobody walks") {
		t.Errorf("inspect says %s (%v)", text, err)
	}
	bvh := filepath.Join(dir, "out.bvh")
	if code, text, errs = mannequin("stylize", content, "--style", out+":winged", "--out", bvh); code != 0 || !strings.Contains(text, "winged, licence CC0-1.0; MIT") {
		t.Errorf("exit %d: %s%s", code, text, errs)
	}
	if b, err := os.ReadFile(bvh); err != nil || !strings.HasPrefix(string(b), "HIERARCHY") {
		t.Errorf("no motion was written: %v", err)
	}
	for want, args := range map[string][]string{
		"it has lame, winged": {"--style", out + ":proud"},
		"style transfer":      {"--style", out + ":winged", "--manifold", testcli.Manifold(t)},
		"at most 2":           {"--style", out + ":winged", "--amount", "3"},
		"ready-made":          {"--style", out + ":winged", "--seed", "3"},
		"styles of a crowd":   {"--style", "../../../../models/human/human.safetensors:winged"},
	} {
		if code, _, errs := mannequin(append([]string{"stylize", content, "--out", bvh}, args...)...); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d: %s", want, code, errs)
		}
	}
}

// An @ of a path cuts off no part of the recording.
func TestParseStyleClip(t *testing.T) {
	for text, want := range map[string]styleClip{
		"x=/tmp/a@b/x.bvh":       {name: "x", file: "/tmp/a@b/x.bvh", amount: 1},
		"x=/tmp/a@b/x.bvh@1.5:3": {name: "x", file: "/tmp/a@b/x.bvh", amount: 1, from: 1.5, to: 3},
		"x:0.5=a@1:2/x.bvh":      {name: "x", file: "a@1:2/x.bvh", amount: 0.5},
		"x=me@home.bvh":          {name: "x", file: "me@home.bvh", amount: 1},
		"x=1:2":                  {name: "x", file: "1:2", amount: 1},
	} {
		if c, err := parseStyleClip(text); err != nil || !reflect.DeepEqual(c, want) {
			t.Errorf("%s is %+v (%v)", text, c, err)
		}
	}
}

func TestStyleTransferRefuses(t *testing.T) {
	dir := t.TempDir()
	walk := testcli.Walk(t, dir, "walk.bvh", 1.5, 60, 121)
	out := filepath.Join(dir, "out.safetensors")
	for want, args := range map[string][]string{
		"want NAME=FILE": {walk},
		"the amount is":  {"a:none=" + walk},
		"FROM:TO":        {"a=" + walk + "@3:1"},
		"it ends at":     {"a=" + walk + "@1:30"},
		"--threads":      {"a=" + walk, "--threads", "0"},
		"no such file":   {"a=" + walk + "x"},
		"even number":    {"a=" + walk, "--content", walk},
		// Before anything is opened:
		`called "old man"`: {"old man=none.bvh"},
		`called "old"`:     {"old=none.bvh", "old=more.bvh"},
		`called ""`:        {":2=none.bvh"},
		"no folder":        {"a=none.bvh", "--out", filepath.Join(dir, "none", "out.safetensors")},
		"is a folder":      {"a=none.bvh", "--out", dir},
	} {
		code, _, errs := mannequin(append([]string{"style", "transfer", "--out", out}, args...)...)
		if code == 0 || !strings.Contains(errs, want) || strings.HasPrefix(want, "called") && code != command.ExitUsage {
			t.Errorf("%s: exit %d: %s", want, code, errs)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was written")
	}
}
