package media

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mannequin/internal/atomicfile"
	"mannequin/internal/testing/must"
)

// frame is a test picture: a gradient, and a square whose position encodes its index.
func frame(w, h, i int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetRGBA(x, y, color.RGBA{uint8(40 + 100*y/h), uint8(80 + 100*y/h), uint8(200 - 50*x/w), 255})
			if x/8 == i && y/8 == 1 {
				img.SetRGBA(x, y, color.RGBA{230, 60, 30, 255})
			}
		}
	}
	return img
}

func write(t *testing.T, path string, opt Options, n int) error {
	t.Helper()
	w, err := Create(context.Background(), path, opt)
	if err != nil {
		return err
	}
	defer w.Abort()
	for i := range n {
		if err := w.Frame(frame(opt.Width, opt.Height, i)); err != nil {
			return err
		}
	}
	return w.Close()
}

// left fails the test when dir holds anything but the names in want.
func left(t *testing.T, dir string, want ...string) {
	t.Helper()
	got := must.Get(os.ReadDir(dir))(t)
	var names []string
	for _, e := range got {
		names = append(names, e.Name())
	}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", dir, names, want)
	}
}

func TestPNGSequence(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "shot")
	for _, n := range []int{5, 3} { // the second, shorter run leaves no old frame
		must.Do(t, write(t, out, Options{64, 32, 30}, n))
	}
	left(t, dir, "shot")
	left(t, out, "frame_00000.png", "frame_00001.png", "frame_00002.png")
	f := must.Get(os.Open(filepath.Join(out, "frame_00002.png")))(t)
	defer f.Close()
	img := must.Get(png.Decode(f))(t)
	want := frame(64, 32, 2)
	for _, p := range []image.Point{{0, 0}, {20, 12}, {63, 31}} {
		if c := color.RGBAModel.Convert(img.At(p.X, p.Y)); c != want.RGBAAt(p.X, p.Y) {
			t.Errorf("pixel %v is %v, want %v", p, c, want.RGBAAt(p.X, p.Y))
		}
	}
}

func TestGIF(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "a.gif")
	must.Do(t, write(t, out, Options{1280, 64, 60}, 31))
	left(t, dir, "a.gif")
	f := must.Get(os.Open(out))(t)
	defer f.Close()
	g := must.Get(gif.DecodeAll(f))(t)
	if len(g.Image) != 11 || g.Image[0].Rect.Dx() != 640 || g.Image[0].Rect.Dy() != 32 {
		t.Fatalf("%d frames of %v, want 11 of 640×32", len(g.Image), g.Image[0].Rect)
	}
	sum := 0
	for _, d := range g.Delay {
		sum += d
	}
	if sum != 55 { // 11 frames at 20 per second
		t.Errorf("the animation lasts %d cs, want 55", sum)
	}
	// Every colour is near the original's, dither included: frame 4 shows the input's frame 12.
	src := frame(1280, 64, 12)
	var worst int
	for y := range 32 {
		for x := range 640 {
			c := color.RGBAModel.Convert(g.Image[4].At(x, y)).(color.RGBA)
			s := src.RGBAAt(2*x+1, 2*y+1)
			for _, d := range []int{int(c.R) - int(s.R), int(c.G) - int(s.G), int(c.B) - int(s.B)} {
				worst = max(worst, d, -d)
			}
		}
	}
	if worst > 24 {
		t.Errorf("a channel is off by %d", worst)
	}
}

func TestMP4(t *testing.T) {
	if _, err := FFmpeg(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "sub", "a.mp4")
	must.Do(t, write(t, out, Options{161, 91, 30}, 15))
	left(t, filepath.Join(dir, "sub"), "a.mp4")
	// Decode it again: every frame is there and looks like what went in.
	raw := must.Get(exec.Command("ffmpeg", "-v", "error", "-i", out, "-f", "rawvideo", "-pix_fmt", "rgba", "pipe:1").Output())(t)
	const w, h = 162, 92
	if len(raw) != 15*w*h*4 {
		t.Fatalf("decoded %d bytes, want %d frames of %d×%d", len(raw), 15, w, h)
	}
	px := raw[10*w*h*4+(12*w+84)*4:]
	if px[0] < 180 || px[2] > 90 {
		t.Errorf("the square of frame 10 is %v, want red", px[:3])
	}
}

func TestCancelLeavesNothing(t *testing.T) {
	for _, name := range []string{"a.mp4", "a.gif", "frames"} {
		if Check(name) != nil {
			continue
		}
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(context.Background())
		w := must.Get(Create(ctx, filepath.Join(dir, name), Options{64, 64, 30}))(t)
		must.Do(t, w.Frame(frame(64, 64, 0)))
		cancel()
		if err := w.Frame(frame(64, 64, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: frame after cancel: %v", name, err)
		}
		start := time.Now()
		if err := w.Close(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: close after cancel: %v", name, err)
		}
		if d := time.Since(start); d > 4*time.Second {
			t.Errorf("%s: closing took %v", name, d)
		}
		w.Abort()
		left(t, dir)
	}
}

func TestAbortKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.mp4", "a.gif"} {
		if Check(name) != nil {
			continue
		}
		out := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(out, []byte("old"), 0o600))
		w := must.Get(Create(context.Background(), out, Options{64, 64, 30}))(t)
		must.Do(t, w.Frame(frame(64, 64, 0)))
		w.Abort()
		if b, _ := os.ReadFile(out); string(b) != "old" {
			t.Errorf("%s was touched", name)
		}
	}
}

func TestBadUse(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "plain")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	folder := filepath.Join(t.TempDir(), "c.gif")
	must.Do(t, os.Mkdir(folder, 0o755))
	ok := Options{8, 8, 30}
	for _, c := range []struct {
		name, path string
		opt        Options
		want       string
	}{
		{"extension", "a.avi", ok, ".avi"},
		{"empty", "", ok, "no output"},
		{"file as folder", file, ok, "is a file"},
		{"folder as file", folder, ok, "not a regular file"},
		{"size", filepath.Join(dir, "b.gif"), Options{0, 8, 30}, "pixels"},
		{"huge", filepath.Join(dir, "b.gif"), Options{1 << 20, 8, 30}, "pixels"},
		{"rate", filepath.Join(dir, "b.gif"), Options{8, 8, 0}, "per second"},
		{"folder is a file", filepath.Join(file, "b.gif"), ok, "plain"},
	} {
		if _, err := Create(context.Background(), c.path, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one about %q", c.name, err, c.want)
		}
	}
	for _, name := range []string{"none.gif", "none"} {
		if err := write(t, filepath.Join(dir, name), ok, 0); err == nil {
			t.Errorf("%s: an empty animation was written", name)
		}
	}
	w := must.Get(Create(context.Background(), filepath.Join(dir, "size.gif"), ok))(t)
	defer w.Abort()
	if err := w.Frame(frame(9, 8, 0)); err == nil {
		t.Error("a frame of the wrong size was taken")
	}
	left(t, dir, "plain")
}

func TestMissingFFmpeg(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	_, err := Create(context.Background(), filepath.Join(dir, "a.mp4"), Options{8, 8, 30})
	if err == nil || !strings.Contains(err.Error(), "install") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want one line that says what to install", err)
	}
	left(t, dir)
}

// A disk that fails at any step leaves the old file or folder and nothing else, and the error names
// them and not a temporary file.
func TestDiskFails(t *testing.T) {
	defer func() { atomicfile.Fault = nil }()
	for _, name := range []string{"a.mp4", "a.gif", "frames"} {
		if Check(name) != nil {
			continue
		}
		dir := t.TempDir()
		out := filepath.Join(dir, name)
		must.Do(t, write(t, out, Options{64, 32, 30}, 3))
		before := content(t, dir)
		for _, step := range []string{"create", "write", "sync", "close", "rename"} {
			if step == "write" && name == "a.mp4" { // ffmpeg writes it
				continue
			}
			atomicfile.Fault = func(at, _ string) error {
				if at == step {
					return syscall.EIO
				}
				return nil
			}
			err := write(t, out, Options{64, 32, 30}, 2)
			atomicfile.Fault = nil
			if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "cannot write "+out) || strings.Contains(err.Error(), ".tmp") {
				t.Errorf("%s, %s: %v", name, step, err)
			}
			if after := content(t, dir); after != before {
				t.Errorf("%s, %s: before\n%s, after\n%s", name, step, before, after)
			}
		}
	}
}

// content describes the files below dir.
func content(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	must.Do(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			fmt.Fprintf(&out, "%s %x\n", path, sha256.Sum256(must.Get(os.ReadFile(path))(t)))
		}
		return err
	}))
	return out.String()
}

// What killed recordings left is gone after the next one.
func TestSweep(t *testing.T) {
	for _, name := range []string{"a.mp4", "a.gif", "frames"} {
		if Check(name) != nil {
			continue
		}
		dir := t.TempDir()
		must.Do(t, os.Mkdir(filepath.Join(dir, "."+name+".tmp1"), 0o755))
		must.Do(t, os.WriteFile(filepath.Join(dir, "."+name+".tmp1", "frame_00000.png"), nil, 0o644))
		must.Do(t, os.WriteFile(filepath.Join(dir, "."+name+".tmp23"), nil, 0o644))
		must.Do(t, write(t, filepath.Join(dir, name), Options{64, 32, 30}, 1))
		left(t, dir, name)
	}
}

// A broken ffmpeg's own words reach the user.
func TestFFmpegFails(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\necho noise >&2\nfor last; do :; done\necho \"$last: disk is made of cheese\" >&2\nexit 3\n"
	must.Do(t, os.WriteFile(filepath.Join(bin, "ffmpeg"), []byte(script), 0o755))
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	err := write(t, filepath.Join(dir, "a.mp4"), Options{256, 256, 30}, 20)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "a.mp4")+": disk is made of cheese") || strings.Contains(err.Error(), "noise") || strings.Contains(err.Error(), ".tmp") {
		t.Errorf("error %v, want ffmpeg's last line and the file", err)
	}
	left(t, dir)
}
