package motion

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/command"
	"mannequin/internal/testing/testcli"
	"mannequin/offline/mocap"
)

// Commands that read recordings take several, and write a file for each into a folder.
func TestSeveralRecordings(t *testing.T) {
	dir := t.TempDir()
	a, b := testcli.Walk(t, dir, "a.bvh", 1.8, 80, 60), testcli.Walk(t, dir, "b.bvh", 1.5, 80, 90)
	model := testcli.Manifold(t)
	for ext, commands := range map[string][][]string{
		".bvh": {{"import"}, {"import", "--retarget"}, {"edit", "--feet", "--manifold", model}, {"stylize", "--method", "mar", "--database", testcli.Styles(t), "--style", "old"}},
		".glb": {{"convert"}, {"convert", "--profile", "cmu"}},
	} {
		for _, args := range commands {
			out := filepath.Join(t.TempDir(), "made")
			code, text, errs := mannequin(append(args, a, b, "--out", out, "--json")...)
			var r struct{ Files []map[string]any }
			if err := json.Unmarshal([]byte(text), &r); code != 0 || err != nil || len(r.Files) != 2 {
				t.Errorf("%q: exit %d, %v: %s%s", args, code, err, text, errs)
			}
			for _, name := range []string{"a", "b"} {
				if _, err := os.Stat(filepath.Join(out, name+ext)); err != nil {
					t.Errorf("%q: %v", args, err)
				}
			}
		}
	}
	for want, args := range map[string][]string{
		"want a folder":           {a, b, "--out", filepath.Join(dir, "x.bvh")},
		"would both be written":   {a, a, "--out", filepath.Join(dir, "x")},
		"1 of 2 files failed":     {a, filepath.Join(dir, "none.bvh"), "--out", filepath.Join(dir, "some")},
		"did you mean " + a + "?": {filepath.Join(dir, "aa.bvh"), "--out", filepath.Join(dir, "x.bvh")},
	} {
		if code, _, errs := mannequin(append([]string{"edit", "--feet", "--manifold", model}, args...)...); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%q: exit %d: %s", args, code, errs)
		}
	}
}

// A profile makes recordings of any skeleton readable. Names or a shape that tell which joint is which need
// none; a leg alone has neither.
func TestProfile(t *testing.T) {
	dir, model := t.TempDir(), testcli.Manifold(t)
	walk := testcli.Walk(t, dir, "walk.bvh", 1.8, 80, 60)
	text := testcli.Read(t, walk)
	b, err := mocap.OpenBVH(walk)
	if err != nil {
		t.Fatal(err)
	}
	profile := "name = \"odd\"\n[joints]\n"
	plain := text
	for j, name := range b.Clip.Skel.Names {
		if !strings.HasSuffix(name, "Site") {
			odd := fmt.Sprintf("bone%dx", j)
			text = strings.ReplaceAll(text, " "+name+"\n", " "+odd+"\n")
			plain = strings.ReplaceAll(plain, " "+name+"\n", " my"+name+"\n")
			profile += name + " = \"" + odd + "\"\n"
		}
	}
	odd, toml := testcli.WriteFile(t, dir, "odd.bvh", text), testcli.WriteFile(t, dir, "odd.toml", profile)
	guessed := testcli.WriteFile(t, dir, "guessed.bvh", plain)
	leg := testcli.WriteFile(t, dir, "leg.bvh", testcli.TinyBVH)
	out := filepath.Join(dir, "out.bvh")
	for _, args := range [][]string{{"edit", odd, "--feet", "--manifold", model}, {"stylize", odd, "--method", "mar", "--database", testcli.Styles(t), "--style", "old"}, {"predict", odd, "--seconds", "1"}} {
		args = append(args, "--out", out)
		if code, _, errs := mannequin(args...); code != 0 {
			t.Errorf("%q: exit %d: %s", args, code, errs)
		}
		lone := append([]string{args[0], leg}, args[2:]...)
		if code, _, errs := mannequin(lone...); code != command.ExitFailure || !strings.Contains(errs, "no profile fits") {
			t.Errorf("%q: exit %d: %s", lone, code, errs)
		}
		if code, _, errs := mannequin(append(args, "--profile", toml)...); code != 0 {
			t.Errorf("%q: exit %d: %s", args, code, errs)
		}
		args[1] = guessed
		if code, _, errs := mannequin(args...); code != 0 {
			t.Errorf("%q: exit %d: %s", args, code, errs)
		}
	}
	if code, _, errs := mannequin("edit", walk, "--feet", "--profile", "cnu", "--out", out); code != command.ExitUsage || !strings.Contains(errs, "did you mean cmu?") {
		t.Errorf("a mistyped profile: exit %d: %s", code, errs)
	}
}
