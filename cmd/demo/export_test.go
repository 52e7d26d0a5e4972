package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testlatent"
	"mannequin/netruntime"
	"mannequin/offline/mocap"
	"mannequin/scenes"
	"mannequin/scenes/latent"
	"mannequin/scenes/world"
)

// latentFile writes a made-up autoencoder of clips to a file.
func latentFile(t *testing.T) string {
	t.Helper()
	return netFile(t, testlatent.Model(t).Net)
}

// netFile writes a network to a file.
func netFile(t *testing.T, net *netruntime.Net) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "net.safetensors")
	f := must.Get(os.Create(path))(t)
	defer f.Close()
	if err := net.Encode(f); err != nil {
		t.Fatal(err)
	}
	return path
}

type exporter struct {
	clip *skel.Clip
	err  error
}

func (e exporter) Export() (*skel.Clip, error) { return e.clip, e.err }

// A folder in place of the scene latent's file matters to no other scene.
func TestExportFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("out", "latent.bvh"), 0o777); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--scene herd --model nothing":                           "nothing",
		"--scene latent --latent nothing --no-render":            "nothing",
		"--scene latent --latent nothing --headless --seconds 1": "that is a folder",
	} {
		if code, _, stderr := demo(t, strings.Fields(args)...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s", args, code, stderr)
		}
	}
}

// An exported sequence is a complete BVH file, or the file stays unchanged.
func TestExport(t *testing.T) {
	s := must.Get(latent.New(latent.Options{Options: world.Options{Workers: 1}, Model: testlatent.Model(t)}))(t)
	defer s.Close()
	path := filepath.Join(t.TempDir(), "sub", "walk.bvh")
	x := export{path: path}
	press := func(key byte, ticks int) {
		t.Helper()
		for i := range ticks {
			in := scenes.Input{}
			if i == 0 {
				in.Touch.Press = key
			}
			if err := s.Step(in); err != nil {
				t.Fatal(err)
			}
			x.take(s)
		}
	}
	press('A', 70)
	press('A', 70)
	if _, err := os.Stat(path); err == nil || x.status != "" {
		t.Fatalf("written unasked: %q", x.status)
	}
	press('E', 1)
	b := must.Get(mocap.OpenBVH(path))(t)
	if n := b.Clip.Frames; n != 91 || b.Clip.FPS < 59.9 || b.Clip.FPS > 60.1 || !strings.Contains(x.status, "91 frames") {
		t.Errorf("%d frames at %g per second; %q", n, b.Clip.FPS, x.status)
	}
	first, _ := b.Clip.Frame(0)
	last, _ := b.Clip.Frame(90)
	if way := last[0].Dist(first[0]); way < 0.7*1.5*testlatent.Speed || way > 1.3*1.5*testlatent.Speed {
		t.Errorf("the person goes %g m in 1.5 s", way)
	}
	was := must.Get(os.ReadFile(path))(t)
	bad := skel.NewClip(s.Model.Skel, 60, 2)
	bad.Pos[0] = m3.V(0, 0, 0).Scale(1 / (bad.Pos[0].X - bad.Pos[0].X))
	for name, e := range map[string]exporter{"an error": {err: errors.New("too late")}, "no motion": {clip: bad}} {
		x.status = ""
		x.take(e)
		if x.status == "" || strings.HasPrefix(x.status, "wrote") {
			t.Errorf("%s: %q", name, x.status)
		}
		if is, err := os.ReadFile(path); err != nil || string(is) != string(was) {
			t.Errorf("%s: the file is not as it was: %v", name, err)
		}
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("%d files are left", len(files))
	}
}
