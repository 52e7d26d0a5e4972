package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/offline/mocap"
)

const tinyBVH = `HIERARCHY
ROOT Hips
{
	OFFSET 0 0 0
	CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
	JOINT Leg
	{
		OFFSET 0 -50 0
		CHANNELS 3 Zrotation Xrotation Yrotation
		End Site
		{
			OFFSET 0 -50 0
		}
	}
}
MOTION
Frames: 3
Frame Time: 0.0333333
0 100 0 0 0 0 0 0 0
0 100 10 0 0 0 0 0 0
0 100 20 0 0 30 0 0 0
`

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestImportJSON(t *testing.T) {
	path := writeFile(t, t.TempDir(), "tiny.bvh", tinyBVH)
	for _, command := range []string{"import", "inspect"} {
		code, out, errs := cli(command, path, "--json")
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
	code, out, _ := cli("import", path)
	if code != 0 || !strings.Contains(out, "3 frames at 30 per second") || !strings.Contains(out, "centimetre") {
		t.Errorf("code %d:\n%s", code, out)
	}
}

func TestImportConverts(t *testing.T) {
	dir := t.TempDir()
	path, out := writeFile(t, dir, "tiny.bvh", tinyBVH), filepath.Join(dir, "out.bvh")
	if code, _, errs := cli("import", path, "--scale", "0.01", "--fps", "60", "--out", out); code != 0 {
		t.Fatal(errs)
	}
	b, err := mocap.OpenBVH(out)
	if err != nil {
		t.Fatal(err)
	}
	if b.Clip.Frames != 5 || b.Clip.FPS != 60 || b.Clip.Skel.Offsets[1].Y != -0.5 {
		t.Errorf("%d frames at %g, offset %v", b.Clip.Frames, b.Clip.FPS, b.Clip.Skel.Offsets[1])
	}
	pos, rot := b.Clip.Frame(3) // half-way between the last two
	yaw := 2 * math.Atan2(float64(rot[0].Y), float64(rot[0].W)) * 180 / math.Pi
	if math.Abs(float64(pos[0].Z)-0.15) > 1e-6 || math.Abs(yaw-15) > 1e-3 {
		t.Errorf("frame 3 is at %v, turned by %g°", pos[0], yaw)
	}
}

// Whatever is wrong makes one line, the right exit code and no file.
func TestImportErrors(t *testing.T) {
	dir := t.TempDir()
	good := writeFile(t, dir, "good.bvh", tinyBVH)
	cut := writeFile(t, dir, "cut.bvh", tinyBVH[:len(tinyBVH)-3])
	huge := writeFile(t, dir, "huge.bvh", strings.Replace(tinyBVH, "Frames: 3", "Frames: 2147483648", 1))
	garbage := writeFile(t, dir, "garbage.bvh", "\x00\x01garbage")
	png := writeFile(t, dir, "picture.png", "\x89PNG\r\n\x1a\n")
	out := filepath.Join(dir, "out.bvh")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{1, "none.bvh", []string{"import", filepath.Join(dir, "none.bvh")}},
		{1, "cut.bvh:21: the file ends before", []string{"import", cut, "--out", out}},
		{1, `huge.bvh:17: "Frames: 2147483648"`, []string{"import", huge, "--out", out}},
		{1, `garbage.bvh:1: expected "HIERARCHY"`, []string{"inspect", garbage}},
		{1, "neither a BVH motion", []string{"inspect", png}},
		{1, "nor is it a shipped model", []string{"inspect", filepath.Join(dir, "none")}},
		{1, "not a regular file", []string{"inspect", dir}},
		{1, "1 of 2 files failed", []string{"import", good, cut}},
		{1, "would take", []string{"import", writeFile(t, dir, "slow.bvh", strings.Replace(tinyBVH, "0.0333333", "3600", 1)), "--fps", "100000", "--out", out}},
		{1, "cannot write", []string{"import", good, "--out", filepath.Join(dir, "no", "folder", "out.bvh")}},
		{2, "--scale 0", []string{"import", good, "--scale", "0"}},
		{2, "--fps -1", []string{"import", good, "--fps", "-1"}},
		{2, "--out takes one input", []string{"import", good, good, "--out", out}},
		{2, "--out is empty", []string{"import", good, "--out", ""}},
		{2, "requires at least 1", []string{"import"}},
		{2, "unknown flag", []string{"inspect", good, "--wings"}},
	} {
		code, _, errs := cli(c.args...)
		if code != c.code || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: code %d, %s\nwant %d, %q", c.args, code, errs, c.code, c.want)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*out*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
