package main

import (
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/engine/body"
	"mannequin/internal/testing/must"
	"mannequin/models"
)

// green writes a person's body, all of it green, and returns the file.
func green(t *testing.T) string {
	t.Helper()
	net := must.Get(models.Open("human"))(t)
	sk := new(skel.Skeleton)
	if err := json.Unmarshal([]byte(net.Meta().Skeleton), sk); err != nil {
		t.Fatal(err)
	}
	b := must.Get(body.New(&body.Rig{Names: sk.Names, Parents: sk.Parents, Offsets: sk.Offsets}))(t)
	b.Cover = body.Paint
	for i := range b.Levels[0].Coat {
		b.Levels[0].Coat[i] = [4]float32{0, 1, 0}
	}
	path := filepath.Join(t.TempDir(), "green.glb")
	f := must.Get(os.Create(path))(t)
	defer f.Close()
	if err := skin.Write(f, sk, b, [3]float32{}, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

// greens counts the pixels of a picture that are as green as nothing else in a scene.
func greens(t *testing.T, path string) (n int) {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	img := must.Get(png.Decode(f))(t)
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			c := img.(*image.RGBA).RGBAAt(x, y)
			if c.G > 120 && c.R < c.G/2 && c.B < c.G/2 {
				n++
			}
		}
	}
	return n
}

func TestSkin(t *testing.T) {
	needPicture(t)
	file, out := green(t), filepath.Join(t.TempDir(), "frames")
	code, _, stderr := demo(t, "--scene", "people", "--agents", "1", "--out", out, "--seconds", "0.05", "--fps", "20", "--width", "320", "--height", "180", "--skin", file)
	if code != 0 || !strings.Contains(stderr, "30 joints matched") {
		t.Fatalf("exit %d, stderr %q", code, stderr)
	}
	if n := greens(t, filepath.Join(out, "frame_00000.png")); n < 200 {
		t.Errorf("%d green pixels", n)
	}
	out = filepath.Join(t.TempDir(), "frames")
	if code, _, stderr := demo(t, "--model", modelFile(t), "--agents", "0", "--seconds", "0.05", "--out", out, "--skin", file); code != 1 || !strings.Contains(stderr, "green.glb is for a person, and this scene has none") {
		t.Errorf("a person's skin among dogs: exit %d, stderr %q", code, stderr)
	}
	flags(t, file)
}

// flags checks what is wrong with the two flags.
func flags(t *testing.T, file string) {
	names := filepath.Join(t.TempDir(), "names.toml")
	if err := os.WriteFile(names, []byte("Hips = \"pelvis\"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"--skin cat=a.glb: want FILE, dog=FILE or person=FILE": {"--skin", "cat=a.glb"},
		"--skin dog=: want FILE":                               {"--skin", "dog="},
		"needs a --skin":                                       {"--skin-map", names},
		"no --skin dog=FILE is given":                          {"--skin", "person=" + file, "--skin-map", "dog=" + names},
		"no such file":                                         {"--skin", "none.glb"},
		"none.toml":                                            {"--skin", file, "--skin-map", "none.toml"},
		"not a glTF":                                           {"--skin", names},
		`which the file does not have: it has Hips`:            {"--scene", "people", "--agents", "1", "--skin", file, "--skin-map", names},
	} {
		code, _, stderr := demo(t, append(args, "--headless", "--seconds", "0.05", "--out", filepath.Join(t.TempDir(), "frames"))...)
		if code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit %d, stderr %q, want %s", args, code, stderr, want)
		}
	}
}
