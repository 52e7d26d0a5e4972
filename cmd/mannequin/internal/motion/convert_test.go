package motion

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/skin"
	"mannequin/internal/command"
	"mannequin/internal/testing/testcli"
)

// A model's template is read back, and put on its own skeleton; a motion takes the
// skin with it.
func TestConvert(t *testing.T) {
	dir := t.TempDir()
	person, walk, dressed := filepath.Join(dir, "person.glb"), filepath.Join(dir, "walk.glb"), filepath.Join(dir, "dressed.glb")
	code, out, errs := mannequin("convert", "human", "--out", person)
	if code != 0 || !strings.Contains(out, "person.glb: 30 joints") {
		t.Fatalf("code %d: %s%s", code, out, errs)
	}
	s, err := skin.Open(person)
	if err != nil {
		t.Fatal(err)
	}
	sk, err := skeletonOf("human")
	if err != nil {
		t.Fatal(err)
	}
	if names := s.Joints(); len(names) != sk.Len() || sk.Index(names[7]) < 0 {
		t.Errorf("joints %v, want %v", names, sk.Names)
	}
	if code, out, errs := mannequin("inspect", person); code != 0 || !strings.Contains(out, "glTF skin") || !strings.Contains(out, "for     person\nbody    two legs, upright; ") || !strings.Contains(out, "\njoints  30: Hips, ") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	bvh := testcli.WriteFile(t, dir, "tiny.bvh", testcli.TinyBVH)
	code, out, errs = mannequin("convert", bvh, "--out", walk, "--json", "--fps", "60")
	var r convertReport
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || r.Frames != 5 || r.FPS != 60 || r.Scale != 0.01 || r.Joints != 3 || r.Vertices == 0 {
		t.Errorf("code %d, %v: %s%s", code, err, out, errs)
	}
	if s, err := skin.Open(walk); err != nil || strings.Join(s.Joints(), " ") != "Hips Leg LegSite" {
		t.Errorf("%v: %+v", err, s)
	}
	// An FBX character as it is, and inspected.
	hero, made := testcli.WriteFile(t, dir, "hero.bin", testcli.TinyFBX), filepath.Join(dir, "hero.glb")
	if code, out, errs := mannequin("inspect", hero); code != 0 || !strings.Contains(out, "FBX skin and animation") || !strings.Contains(out, "2: Low, High") || !strings.Contains(out, "bend: 25 frames at 24 per second") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	if code, out, errs := mannequin("convert", hero, "--character", "--out", made); code != 0 || !strings.Contains(out, "hero.glb: 2 joints, 3 vertices, 1 triangles; animations: bend") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	if s, err := skin.Open(made); err != nil || strings.Join(s.Joints(), " ") != "Low High" || s.Vertices() != 3 {
		t.Errorf("%v: %+v", err, s)
	}
	if all, err := skin.OpenMotions(made); err != nil || len(all) != 1 || all[0].Clip.Frames != 25 {
		t.Errorf("%v: %d animations", err, len(all))
	}
	if _, err := skin.Open(hero); err == nil || !strings.Contains(err.Error(), "convert --character") {
		t.Errorf("an FBX as glTF: %v", err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{person, "--character", "--out", walk}, command.ExitFailure, "is not an FBX file"},
		{[]string{hero, "--character", "--scale", "2", "--out", walk}, command.ExitUsage, "--character takes no other flag"},
		{[]string{"human"}, command.ExitUsage, `"out" not set`},
		{[]string{"human", "--out", filepath.Join(dir, "a.gltf")}, command.ExitUsage, "name the file .glb"},
		{[]string{"human", "--out", filepath.Join(dir, "a.glb"), "--scale", "2"}, command.ExitUsage, "human is a model"},
		{[]string{bvh, "--out", walk, "--scale", "-1"}, command.ExitUsage, "--scale is -1, want above 0"},
		{[]string{bvh, "--out", walk, "--fps", "0"}, command.ExitUsage, "--fps is 0, want 0.001 to 100000"},
		{[]string{"human", "--out", walk, "--skin-map", bvh}, command.ExitUsage, "--skin-map is for --into"},
		{[]string{person, "--out", dressed}, command.ExitFailure, "a mesh (glTF) without animations, want a motion or a model"},
		{[]string{"none.bvh", "--out", walk}, command.ExitFailure, "nor is it a shipped model"},
		{[]string{bvh, "--out", filepath.Join(dir, "no", "a.glb")}, command.ExitFailure, "cannot write"},
	} {
		if code, _, errs := mannequin(append([]string{"convert"}, c.args...)...); code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%v: code %d, %s", c.args, code, errs)
		}
	}
	if names, _ := os.ReadDir(dir); len(names) != 5 {
		t.Errorf("left behind: %v", names)
	}
}
