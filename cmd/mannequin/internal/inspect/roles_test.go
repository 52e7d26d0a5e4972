package inspect

import (
	"encoding/json"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/anatomy"
	"mannequin/internal/command"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
)

// rig is a person without names of joints.
var rig = filepath.Join("..", "..", "..", "..", "animsys", "skin", "testdata", "nameless-joints.glb")

// A character's roles in text, as JSON and in a picture, and corrected by a profile.
func TestInspectRoles(t *testing.T) {
	dir := t.TempDir()
	png := filepath.Join(dir, "roles.png")
	code, out, errs := mannequin("inspect", rig, "--picture", png)
	for _, want := range []string{"for     person", "two legs, upright; up +y, ahead +z", "spine   #1 → #2 → #3", "leg r   #18 → #19 → #20 → #21 (by tree)", "22: #0, #1"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("code %d, %s, no %q in\n%s", code, errs, want, out)
		}
	}
	img := testcli.PNG(t, png)
	seen := map[color.Color]int{}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < 3*380; x++ {
			seen[img.At(x, y)]++
		}
	}
	for _, role := range []string{"hips", "spine", "neck", "head", "left leg", "right leg", "left arm", "right arm"} {
		if c := color.Color(colours[anatomy.Role(role)]); seen[c] < 20 {
			t.Errorf("%d pixels for %s", seen[c], role)
		}
	}
	profile := testcli.WriteFile(t, dir, "fix.toml", "Head = \"#4\"\n")
	code, out, errs = mannequin("inspect", rig, "--profile", profile, "--json")
	var r skinReport
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || r.Roles["Head"] != "#4" || r.Roles["LeftHand"] != "#9" || r.Body != "two legs, upright" {
		t.Errorf("code %d, %v, %s, %+v", code, err, errs, r)
	}
}

// The report of an FBX has the same members as that of a glTF.
func TestInspectFBX(t *testing.T) {
	file := filepath.Join(mocapdata.Dir(t), "quaternius-fbx", "Zombie.fbx")
	code, out, errs := mannequin("inspect", file, "--json")
	var r skinReport
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || r.Roles["Head"] != "Head" || r.For != "person" || r.Vertices == 0 || len(r.Animations) == 0 {
		t.Errorf("code %d, %v, %s, %.300s", code, err, errs, out)
	}
	if code, out, _ := mannequin("inspect", file); code != 0 || !strings.Contains(out, "FBX skin and animation") || !strings.Contains(out, "Walk: ") {
		t.Errorf("code %d: %s", code, out)
	}
}

// A motion has roles, too.
func TestInspectMotionRoles(t *testing.T) {
	dir := t.TempDir()
	walk := testcli.Walk(t, dir, "walk.bvh", 1, 1, 60)
	png := filepath.Join(dir, "walk.png")
	code, out, errs := mannequin("inspect", walk, "--picture", png)
	if code != 0 || !strings.Contains(out, "two legs, upright") || !strings.Contains(out, "head   Head\n") {
		t.Errorf("code %d, %s\n%s", code, errs, out)
	}
	testcli.PNG(t, png)
}

func TestInspectRolesMisuse(t *testing.T) {
	dir := t.TempDir()
	bad := testcli.WriteFile(t, dir, "bad.toml", "Head = \"skull\"\n")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"dog", "--picture", filepath.Join(dir, "x.png")}, command.ExitUsage, "--picture is for characters and motions"},
		{[]string{"dog", "--profile", bad}, command.ExitUsage, "--profile is for characters and motions"},
		{[]string{rig, rig, "--picture", filepath.Join(dir, "x.png")}, command.ExitUsage, "--picture is for one file"},
		{[]string{rig, "--profile", bad}, 1, `the map gives Head the joint "skull", which the file does not have`},
		{[]string{rig, "--profile", filepath.Join(dir, "none.toml")}, 1, "none.toml"},
	} {
		if code, _, errs := mannequin(append([]string{"inspect"}, c.args...)...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%v: code %d, %s", c.args, code, errs)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("files were written: %v", files)
	}
}

// The ground of a motion is told along the axis that points up, and of two people in a file the roles are those of one.
func TestMotionRoles(t *testing.T) {
	const zUp = "../../../../offline/retarget/testdata/z-up-with-h21-names.bvh"
	code, out, errs := mannequin("inspect", zUp)
	if code != 0 || !strings.Contains(out, "ground    z = -3.857 (") || !strings.Contains(out, "up +z") {
		t.Errorf("code %d, %s\n%s", code, out, errs)
	}
	text := strings.Split(string(must.Get(os.ReadFile("../../../../offline/character/testdata/rest-tpose-same-motion.bvh"))(t)), "\n")
	motion := slices.Index(text, "MOTION")
	lines := append([]string{}, text[:motion]...)
	for _, l := range text[1:motion] {
		lines = append(lines, strings.NewReplacer("ROOT ", "ROOT Other", "JOINT ", "JOINT Other").Replace(l))
	}
	lines = append(lines, text[motion:motion+3]...)
	for _, l := range text[motion+3:] {
		lines = append(lines, l+" "+l)
	}
	two := filepath.Join(t.TempDir(), "two.bvh")
	must.Do(t, os.WriteFile(two, []byte(strings.Join(lines, "\n")), 0o644))
	code, out, errs = mannequin("inspect", two)
	if code != 0 || !strings.Contains(out, "two.bvh: it has 2 characters, Hips, OtherHips: the roles are those of Hips; --root takes another") || !strings.Contains(out, "two legs, upright") {
		t.Errorf("code %d, %s\n%s", code, out, errs)
	}
	if _, out, _ = mannequin("inspect", two, "--root", "OtherHips"); !strings.Contains(out, "hips      OtherHips") && !strings.Contains(out, "OtherLeftUpLeg → OtherLeftLeg") {
		t.Error(out)
	}
}
