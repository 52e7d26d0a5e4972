package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/engine/media"
	"mannequin/engine/stage"
	"mannequin/internal/command"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
	"mannequin/internal/testing/teststrnn"
	"mannequin/netruntime/webgpu"
	"mannequin/scenes"
)

// modelFile writes a made-up network to a file.
func modelFile(t *testing.T) string {
	t.Helper()
	return netFile(t, testdog.Model(t).Net)
}

// scriptFile writes a cutscene to a file.
func scriptFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scene.toml")
	text := "length = 0.25\n[[actor]]\nname = \"rex\"\nkind = \"dog\"\nat = [0, 0]\n[[camera]]\nfrom = 0\neye = [1, 1, 2]\ntarget = \"rex\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// demo runs one command line without a display.
func demo(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	var out, errs bytes.Buffer
	code = command.Run(context.Background(), newCommand(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// needPicture skips the test where this machine cannot render.
func needPicture(t *testing.T) {
	t.Helper()
	s, err := stage.Open(stage.Options{Width: 64, Height: 64, Offscreen: true})
	if err != nil {
		t.Skip(err)
	}
	s.Close()
}

func TestRecording(t *testing.T) {
	needPicture(t)
	model, clips := modelFile(t), latentFile(t)
	for scene, opt := range map[string][]string{
		"quadruped": {"--model", model, "--agents", "5"}, "crowd": {"--model", model, "--agents", "5"},
		"people": {"--agents", "5"}, "latent": {"--latent", clips},
		"cutscene": {"--script", scriptFile(t), "--model", model},
		"strnn":    {"--agents", "5", "--strnn", netFile(t, teststrnn.Net(t, teststrnn.Options{Guide: true}))},
	} {
		var first []byte
		for range 2 {
			out := filepath.Join(t.TempDir(), "frames")
			code, stdout, stderr := demo(t, append(opt, "--scene", scene, "--out", out,
				"--seconds", "0.25", "--fps", "24", "--width", "160", "--height", "90")...)
			if code != 0 || stdout != out+"\n" || stderr != "" {
				t.Fatalf("%s: exit %d, stdout %q, stderr %q", scene, code, stdout, stderr)
			}
			files, err := filepath.Glob(filepath.Join(out, "*"))
			if err != nil || len(files) != 6 {
				t.Fatalf("%s: %d frames (%v), want 6", scene, len(files), err)
			}
			var all []byte
			for _, f := range files {
				b := must.Get(os.ReadFile(f))(t)
				all = append(all, b...)
			}
			if first == nil {
				first = all
			} else if !bytes.Equal(first, all) {
				t.Errorf("%s: two recordings of one command line differ", scene)
			}
		}
	}
}

// Overlays are in pictures from the start if the scene has them.
func TestShow(t *testing.T) {
	needPicture(t)
	model := modelFile(t)
	picture := func(show string) string {
		t.Helper()
		out := filepath.Join(t.TempDir(), "frames")
		code, _, stderr := demo(t, "--model", model, "--agents", "0", "--show", show, "--out", out, "--seconds", "0.1", "--fps", "10", "--width", "160", "--height", "160")
		if code != 0 {
			t.Fatal(stderr)
		}
		b := must.Get(os.ReadFile(filepath.Join(out, "frame_00000.png")))(t)
		return string(b)
	}
	if none := picture(""); picture("skeletons,roots") == none {
		t.Error("a picture with skeletons and roots is the same as without")
	}
	code, _, stderr := demo(t, "--scene", "latent", "--latent", latentFile(t), "--show", "activations", "--out", filepath.Join(t.TempDir(), "x.gif"))
	if code != 2 || !strings.Contains(stderr, "the scene latent has no activations") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

func TestGIF(t *testing.T) {
	needPicture(t)
	out := filepath.Join(t.TempDir(), "sub", "a.gif")
	code, _, stderr := demo(t, "--model", modelFile(t), "--agents", "0", "--out", out, "--seconds", "0.2", "--width", "64", "--height", "64", "--terrain", "steps")
	if code != 0 {
		t.Fatal(stderr)
	}
	if b, err := os.ReadFile(out); err != nil || !bytes.HasPrefix(b, []byte("GIF89a")) {
		t.Errorf("not a GIF: %v", err)
	}
}

func TestMistakes(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.safetensors")
	if err := os.WriteFile(bad, []byte("not a model"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--bogus", 2, "bogus"},
		{"extra", 2, "extra"},
		{"--scene moon", 2, "moon"},
		{"--terrain moon", 2, "moon"},
		{"--scene person --terrain hills", 2, "a ground of its own"},
		{"--scene course --terrain 7", 2, "a ground of its own"},
		{"--terrain -3", 2, "-3"},
		{"--agents -1", 2, "-1"},
		{"--agents 99999", 2, "99999"},
		{"--scene cutscene --script none.toml", 1, "script none.toml: no such file, and no shipped script has that name: want one of good-dog"},
		{"--agents 0 --scene crowd", 2, "agents"},
		{"--agents 0 --scene people", 2, "agents"},
		{"--scene people --footstep human", 1, "human"},
		{"--scene latent --agents 3 --next human", 1, "--next human: latent: model \"human\" does not predict"},
		{"--scene latent --agents 3 --next nothing", 1, "nothing"},
		{"--scene latent --latent nothing", 1, "nothing"},
		{"--scene latent --latent " + bad, 1, "bad.safetensors"},
		{"--scene latent --latent human", 1, "human"},
		{"--scene strnn --agents 0", 2, "agents"},
		{"--scene strnn --strnn nothing", 1, "nothing"},
		{"--scene strnn --strnn human", 1, "human"},
		{"--agents many", 2, "many"},
		{"--scene play --agents 3", 2, "the character is alone"},
		{"--character a.character", 2, "the scenes play, person and crowd have one"},
		{"--scene play --character none.character", 1, "--character"},
		{"--scene play --character " + bad, 1, "want a file of mannequin make"},
		{"--scene play --character ../../models/dog/dog.safetensors", 1, "want a file of mannequin make"},
		{"--bvh a.bvh", 2, "add --scene latent"},
		{"--scene latent --bvh " + t.TempDir(), 2, "that is a folder"},
		{"--scene crowd --kinds predicted --strnn nothing", 1, "nothing"},
		{"--skin none.glb", 1, "--skin none.glb: no such file"},
		{"--show roots,moon", 2, `--show is "roots,moon", want some of trajectories, contacts`},
		{"--show contcats", 2, "did you mean contacts?"},
		{"--scene crwod", 2, "did you mean crowd?"},
		{"--scene crowd --kinds dgos", 2, "did you mean dogs?"},
		{"--terrain hils", 2, "did you mean hills?"},
		{"--model dgo", 1, "did you mean dog?"},
		{"--modle dog", 2, "did you mean --model?"},
		{"--scene crowd --gpu-beyond 9", 2, "--gpu-beyond 9: the dogs of the scene herd"},
		{"--scene herd --gpu-beyond -1", 2, "--gpu-beyond is -1, want 0 to 1000"},
		{"--scene herd --gpu-beyond 1e-60", 2, "--gpu-beyond is 1e-60, want 0 to 1000: so small a number is rounded to 0"},
		{"--scene herd --gpu-beyond -1e-60", 2, "rounded to 0"},
		{"--seconds 0.5e-999", 2, "--seconds is 0.5e-999, want 0 to 3600: so small"},
		{"--scene herd --gpu-beyond 9 --record a.tape", 2, "a tape repeats each bit"},
		{"--scene herd --gpu-beyond 9 --skin a.glb", 2, "--gpu-beyond with --skin"},
		{"--seconds -1", 2, "seconds"},
		{"--seconds NaN", 2, "seconds"},
		{"--width 2147483648", 2, "--width is 2147483648, want 64 to 4096"},
		{"--fps 0", 2, "fps"},
		{"--out a.avi", 2, ".avi"},
		{"--model nothing", 1, "nothing"},
		{"--model " + bad, 1, "bad.safetensors"},
		{"--model " + filepath.Join(t.TempDir(), "absent.safetensors"), 1, "there is no such file, and shipped are dog, "},
	} {
		out := filepath.Join(t.TempDir(), "x.gif")
		args := strings.Fields(c.args)
		if !strings.Contains(c.args, "--out") {
			args = append(args, "--out", out)
		}
		code, stdout, stderr := demo(t, args...)
		if code != c.code || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "demo: ") || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want %d and one line about %q", c.args, code, stdout, stderr, c.code, c.want)
		}
		if left, _ := os.ReadDir(filepath.Dir(out)); len(left) > 0 {
			t.Errorf("%s: left %v behind", c.args, left)
		}
	}
}

// Distant dogs live on the GPU if the program and OpenGL can do that, else they stay, and the log says why. A second recording has the same
// bytes.
func TestGPUBeyond(t *testing.T) {
	needPicture(t)
	model := modelFile(t)
	want := "make build-webgpu"
	if webgpu.Built {
		st := must.Get(stage.Open(stage.Options{Width: 64, Height: 64, Offscreen: true}))(t)
		want = "agents live on the GPU"
		if _, err := st.Compute(); err != nil {
			want = "want 4.3"
		}
		st.Close()
	}
	var first []byte
	herd, crowd := []string{"--scene", "herd"}, []string{"--scene", "crowd", "--kinds", "dogs", "--character", "hero"}
	for i, scene := range [][]string{herd, herd, crowd} {
		out := filepath.Join(t.TempDir(), "frames")
		code, _, stderr := demo(t, append(scene, "--gpu-beyond", "1", "--model", model, "--agents", "3", "--out", out, "--seconds", "0.4", "--fps", "20", "--width", "640", "--height", "360")...)
		files := must.Get(filepath.Glob(filepath.Join(out, "*")))(t)
		if code != 0 || len(files) != 8 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
			t.Fatalf("exit %d, %d frames, stderr %q, want one line with %q", code, len(files), stderr, want)
		}
		var all []byte
		for _, f := range files {
			all = append(all, must.Get(os.ReadFile(f))(t)...)
		}
		if i == 0 {
			first = all
		} else if i == 1 && !bytes.Equal(all, first) {
			t.Error("a second recording is another one")
		}
	}
}

func TestOpenGL(t *testing.T) {
	needPicture(t)
	st := must.Get(stage.Open(stage.Options{Width: 64, Height: 64, Offscreen: true}))(t)
	name := st.Driver()
	_, err := st.Compute()
	st.Close()
	code, stdout, stderr := demo(t, "opengl")
	if err == nil && (code != 0 || stderr != "" || !strings.HasPrefix(stdout, "OpenGL 4.") || !strings.HasSuffix(stdout, ", "+name+"\n")) {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
	if err != nil && (code != 1 || stdout != "" || stderr != "demo: "+err.Error()+"\n") {
		t.Errorf("exit %d, %q, %q, want %v", code, stdout, stderr, err)
	}
	// Mesa answers as an older driver.
	t.Setenv("MESA_GL_VERSION_OVERRIDE", "3.3")
	if code, stdout, stderr := demo(t, "opengl"); strings.Contains(name, "llvmpipe") && (code != 1 || stdout != "" || !strings.Contains(stderr, "OpenGL 3.3 of "+name+" has no compute shaders: want 4.3")) {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}

// A measurement says how many agents live on which GPU.
func TestMeasureGPU(t *testing.T) {
	code, stdout, stderr := demo(t, "--scene", "herd", "--gpu-beyond", "1", "--model", modelFile(t), "--agents", "3", "--no-render", "--seconds", "0.1", "--json")
	var r report
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil || r.Agents != 3 {
		t.Fatalf("exit %d, %v, %d agents, stderr %q", code, err, r.Agents, stderr)
	}
	device, err := webgpu.Device()
	if want := map[bool]int{true: 3}[err == nil]; r.OnGPU != want || r.GPU != device {
		t.Errorf("%d agents on %q, want %d on %q", r.OnGPU, r.GPU, want, device)
	}
}

// A recording that is stopped leaves nothing.
func TestStopped(t *testing.T) {
	needPicture(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, name := range []string{"a.gif", "a.mp4"} {
		path := filepath.Join(dir, name)
		if media.Check(path) != nil {
			continue // no ffmpeg
		}
		var out, errs bytes.Buffer
		code := command.Run(ctx, newCommand(), []string{"--model", modelFile(t), "--agents", "1", "--out", path, "--width", "64", "--height", "64"}, &out, &errs)
		if want := "demo: stopped; " + path + " was not written\n"; code != 1 || errs.String() != want {
			t.Errorf("exit %d, %q", code, errs.String())
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left %v behind", left)
	}
}

// The recording's player turns away from a dog in the way, and from no other.
func TestAvoid(t *testing.T) {
	sk := testdog.Skeleton()
	in := scenes.Input{Forward: 1, Turn: 0.2}
	for _, c := range []struct {
		at   m3.Vec3 // of the other dog
		turn float32 // −1 right, +1 left, 0 unchanged
	}{
		{m3.V(0.3, 0, 1), -1}, {m3.V(-0.3, 0, 1), 1}, {m3.V(0.3, 0, -2), 0}, {m3.V(2, 0, 1), 0}, {m3.V(0, 0, 5), 0},
	} {
		f := scenes.Frame{Casts: []scenes.Cast{{Skel: sk, Bones: make([]m3.Xform, 2*sk.Len()), Tint: make([][3]float32, 2)}}, Heading: 0.5}
		f.Casts[0].Of(1)[0].Pos = m3.YawQuat(0.5).Rotate(c.at)
		got := avoid(in, &f).Turn
		if (c.turn == 0 && got != in.Turn) || (got-in.Turn)*c.turn < 0 || (c.turn != 0 && got == in.Turn) {
			t.Errorf("a dog at %v turns the player by %g", c.at, got)
		}
	}
	if got := avoid(scenes.Input{Sit: true}, &scenes.Frame{}); got != (scenes.Input{Sit: true}) {
		t.Errorf("a sitting player does %+v", got)
	}
}
