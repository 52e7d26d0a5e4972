package motion

import (
	"encoding/json"
	"mannequin/cmd/mannequin/internal/inspect"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/testcli"
	"mannequin/internal/testing/testh36m"
	"mannequin/offline/mocap"
)

func TestImportJSON(t *testing.T) {
	path := testcli.WriteFile(t, t.TempDir(), "tiny.bvh", testcli.TinyBVH)
	for _, command := range []string{"import", "inspect"} {
		code, out, errs := mannequin(command, path, "--json")
		var got map[string]any
		if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil || errs != "" {
			t.Fatalf("%s: code %d, %v, %s", command, code, err, errs)
		}
		for key, want := range map[string]any{"file": path, "frames": 3., "joints": 2., "end_sites": 1., "fps": 30., "channels": 9.,
			"seconds": 0.1, "finite": true, "reach": 100., "ground": 0., "jumps": 0.} {
			if got[key] != want {
				t.Errorf("%s: %s is %v, want %v", command, key, got[key], want)
			}
		}
	}
	code, out, _ := mannequin("import", path)
	if code != 0 || !strings.Contains(out, "3 frames at 30 per second") || !strings.Contains(out, "centimetre") {
		t.Errorf("code %d:\n%s", code, out)
	}
}

func TestImportConverts(t *testing.T) {
	dir := t.TempDir()
	path, out := testcli.WriteFile(t, dir, "tiny.bvh", testcli.TinyBVH), filepath.Join(dir, "out.bvh")
	if code, _, errs := mannequin("import", path, "--scale", "0.01", "--fps", "60", "--out", out); code != 0 {
		t.Fatal(errs)
	}
	b, err := mocap.OpenBVH(out)
	if err != nil {
		t.Fatal(err)
	}
	if b.Clip.Frames != 5 || b.Clip.FPS != 60 || b.Clip.Skel.Offsets[1].Y != -0.5 {
		t.Errorf("%d frames at %g, offset %v", b.Clip.Frames, b.Clip.FPS, b.Clip.Skel.Offsets[1])
	}
	pos, rot := b.Clip.Frame(3) // half-way between the last two, on the parabola through 0°, 0° and 30°
	yaw := 2 * math.Atan2(float64(rot[0].Y), float64(rot[0].W)) * 180 / math.Pi
	if math.Abs(float64(pos[0].Z)-0.15) > 1e-6 || math.Abs(yaw-11.25) > 0.03 {
		t.Errorf("frame 3 is at %v, turned by %g°", pos[0], yaw)
	}
}

const tinyASF = `:units
  length 0.45
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    name leg
    direction 0 -1 0
    length 15
    axis 0 0 0 XYZ
    dof rx
  end
:hierarchy
  begin
    root leg
  end
`

const tinyAMC = ":FULLY-SPECIFIED\n:DEGREES\n1\nroot 0 16 0 0 0 0\nleg 0\n2\nroot 0 16 1 0 30 0\nleg -90\n3\nroot 0 16 2 0 60 0\nleg -90\n"

// An AMC becomes a BVH of the skeleton beside it, or of that of --asf.
func TestImportAMC(t *testing.T) {
	dir := t.TempDir()
	path, out := testcli.WriteFile(t, dir, "7_02.amc", tinyAMC), filepath.Join(dir, "out.bvh")
	skeleton := testcli.WriteFile(t, dir, "7.asf", tinyASF)
	testcli.WriteFile(t, dir, "8.asf", "another")
	code, text, errs := mannequin("import", path, "--json")
	var got map[string]any
	if err := json.Unmarshal([]byte(text), &got); code != 0 || err != nil || errs != "" {
		t.Fatalf("code %d, %v, %s", code, err, errs)
	}
	for key, want := range map[string]any{"file": path, "kind": "AMC motion", "frames": 3., "joints": 2., "end_sites": 1., "fps": 120., "channels": 9., "reach": 15.} {
		if got[key] != want {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
	if code, text, _ := mannequin("import", path); code != 0 || !strings.Contains(text, "AMC motion") || !strings.Contains(text, "root root") {
		t.Errorf("code %d:\n%s", code, text)
	}

	elsewhere := t.TempDir()
	path = testcli.WriteFile(t, elsewhere, "walk.AMC", tinyAMC)
	if code, _, errs := mannequin("import", path, "--asf", skeleton, "--frame-rate", "30", "--fps", "60", "--scale", "0.0564444", "--out", out); code != 0 {
		t.Fatal(errs)
	}
	b, err := mocap.OpenBVH(out)
	if err != nil {
		t.Fatal(err)
	}
	model := make([]m3.Xform, b.Clip.Skel.Len())
	b.Clip.Model(model, 3) // half-way between the last two, heading 45°, the leg ahead
	foot := model[b.Clip.Skel.Index("legSite")].Pos
	ahead := float32(15 * 0.0564444 * math.Sqrt2 / 2)
	if want := m3.V(ahead, 16*0.0564444, 1.5*0.0564444+ahead); b.Clip.Frames != 5 || b.Clip.FPS != 60 || !(foot.Dist(want) <= 3e-3) {
		t.Errorf("%d frames at %g, the foot is at %v, want %v", b.Clip.Frames, b.Clip.FPS, foot, want)
	}
}

// Human3.6M's exponential maps are told by their name, and go onto the uniform skeleton.
func TestImportH36M(t *testing.T) {
	dir := t.TempDir()
	path, out := testcli.WriteFile(t, dir, "S5_walking_1.txt", string(testh36m.Make(100).Text)), filepath.Join(dir, "out.bvh")
	code, text, errs := mannequin("import", path, "--scale", "0.001", "--out", out)
	if code != 0 || !strings.Contains(text, "Human3.6M exponential maps") || !strings.Contains(text, "100 frames at 50 per second") {
		t.Fatalf("code %d, %s%s", code, text, errs)
	}
	if b, err := mocap.OpenBVH(out); err != nil || b.Clip.Frames != 100 || b.Clip.Skel.Len() != testh36m.Joints {
		t.Errorf("%v, %+v", err, b)
	}
	if code, text, errs = mannequin("import", path, "--retarget", "--fps", "60", "--out", out); code != 0 || !strings.Contains(text, "h36m") {
		t.Errorf("code %d, %s%s", code, text, errs)
	}
	if code, _, errs = mannequin("import", testcli.WriteFile(t, dir, "notes.txt", "a walk\n")); code != 1 || !strings.Contains(errs, "notes.txt:1: expected 99 numbers with commas between them") {
		t.Errorf("code %d, %s", code, errs)
	}
}

// Whatever is wrong makes one line, the right exit code and no file.
func TestImportErrors(t *testing.T) {
	dir := t.TempDir()
	good := testcli.WriteFile(t, dir, "good.bvh", testcli.TinyBVH)
	cut := testcli.WriteFile(t, dir, "cut.bvh", testcli.TinyBVH[:len(testcli.TinyBVH)-3])
	huge := testcli.WriteFile(t, dir, "huge.bvh", strings.Replace(testcli.TinyBVH, "Frames: 3", "Frames: 2147483648", 1))
	garbage := testcli.WriteFile(t, dir, "garbage.bvh", "\x00\x01garbage")
	png := testcli.WriteFile(t, dir, "picture.png", "\x89PNG\r\n\x1a\n")
	asf := testcli.WriteFile(t, dir, "tiny.asf", tinyASF)
	amc := testcli.WriteFile(t, dir, "tiny_1.amc", tinyAMC[:len(tinyAMC)-4])
	lonely := testcli.WriteFile(t, t.TempDir(), "35_01.amc", tinyAMC)
	out := filepath.Join(dir, "out.bvh")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{1, "none.bvh", []string{"import", filepath.Join(dir, "none.bvh")}},
		{1, "cut.bvh:21: this line is no frame: it has 8 of 9 values; the file says 3 frames and has 2 whole ones: --salvage keeps those", []string{"import", cut, "--out", out}},
		{1, `huge.bvh:17: "Frames: 2147483648"`, []string{"import", huge, "--out", out}},
		{1, `garbage.bvh:1: expected "HIERARCHY"`, []string{"inspect", garbage}},
		{1, "is a picture, which is not read", []string{"inspect", png}},
		{1, "is a Maya scene, which is not read", []string{"inspect", testcli.WriteFile(t, dir, "scene.fbx", "//Maya ASCII 2024 scene\n")}},
		{1, "nor is it a shipped model", []string{"inspect", filepath.Join(dir, "none")}},
		{1, "not a regular file", []string{"inspect", dir}},
		{1, "1 of 2 files failed", []string{"import", good, cut}},
		{1, "would take", []string{"import", testcli.WriteFile(t, dir, "slow.bvh", strings.Replace(testcli.TinyBVH, "0.0333333", "3600", 1)), "--frame-rate", "0.001", "--fps", "100000", "--out", out}},
		{1, "cannot write", []string{"import", good, "--out", filepath.Join(dir, "no", "folder", "out.bvh")}},
		{1, `tiny_1.amc:11: bone "leg" has the degrees of freedom rx in ` + asf + `: expected 1 values, found 0`, []string{"import", amc, "--out", out}},
		{1, "35_01.amc: no skeleton: 0 ASF files in its folder, none of them called 35.asf: name the right one with --asf", []string{"import", lonely}},
		{1, "none.asf", []string{"import", lonely, "--asf", filepath.Join(dir, "none.asf")}},
		{1, `good.bvh:1: expected a section of an ASF`, []string{"import", lonely, "--asf", good}},
		{1, "tiny.asf: a skeleton without motion: name the AMC file that moves it", []string{"import", asf}},
		{2, "--asf is empty", []string{"import", lonely, "--asf", ""}},
		{2, "--asf is for AMC files, and none is given", []string{"import", good, "--asf", asf}},
		{2, "--frame-rate is 0, want 0.001 to 100000", []string{"import", amc, "--frame-rate", "0"}},
		{2, "--up is \"w\", want y, z, x, -z, -y, -x", []string{"import", good, "--up", "w"}},
		{1, "is improbable: as in many files it is 30 frames per second; --frame-rate sets the rate", []string{"import", testcli.WriteFile(t, dir, "hour.bvh", strings.Replace(testcli.TinyBVH, "0.0333333", "3600", 1)), "--fps", "60", "--out", out}},
		{1, `good.bvh: it has no root joint "Other": it has Hips`, []string{"import", good, "--root", "Other"}},
		{2, "--scale is 0, want above 0, up to 1000000", []string{"import", good, "--scale", "0"}},
		{2, "--fps is -1", []string{"import", good, "--fps", "-1"}},
		{2, "--out " + out + ": 2 files are read, want a folder", []string{"import", good, good, "--out", out}},
		{2, "--out is empty", []string{"import", good, "--out", ""}},
		{2, "want a motion file: mannequin import FILE...", []string{"import"}},
		{2, "unknown flag", []string{"inspect", good, "--wings"}},
	} {
		code, _, errs := mannequin(c.args...)
		if code != c.code || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: code %d, %s\nwant %d, %q", c.args, code, errs, c.code, c.want)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*out*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// mannequin runs one command line as a user would.
func mannequin(args ...string) (code int, stdout, stderr string) {
	return testcli.Run(testcli.Root(append(Commands(), inspect.New())...), args...)
}
