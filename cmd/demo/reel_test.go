package main

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/command"
	"mannequin/internal/testing/must"
)

// Each take has its own name, moves and ends. Selected takes are recorded, each with a sheet.
func TestReel(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range reel() {
		if s := r.player.Seconds(); seen[r.name] || r.caption == "" || s < 3 || s > 30 {
			t.Errorf("%+v, %g s", r, s)
		}
		seen[r.name] = true
	}
	needPicture(t)
	out := t.TempDir()
	code, stdout, stderr := demo(t, "reel", "--model", modelFile(t), "--out", out, "--only", "idle", "--width", "160", "--height", "90", "--fps", "6")
	if code != 0 || !strings.HasPrefix(stdout, filepath.Join(out, "idle.")) {
		t.Fatalf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	f := must.Get(os.Open(filepath.Join(out, "idle.png")))(t)
	defer f.Close()
	img := must.Get(png.DecodeConfig(f))(t)
	if img.Width != sheetCols*tileWidth || img.Height != sheetTiles/sheetCols*tileWidth*90/160 {
		t.Errorf("the sheet has %d by %d pixels", img.Width, img.Height)
	}
	if st, err := os.Stat(strings.TrimSpace(stdout)); err != nil || st.Size() < 1000 {
		t.Errorf("the video: %v", err)
	}
}

func TestReelMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"--only fly": "fly", "--fps 0": "fps", "--width 1": "--width is 1, want 160 to 4096", "--only wakl": "did you mean walk?", "extra": "extra", "--model wolf --only idle": "wolf",
	} {
		code, _, stderr := demo(t, append([]string{"reel"}, strings.Fields(args)...)...)
		wantCode := command.ExitUsage
		if want == "wolf" {
			wantCode = command.ExitFailure
		}
		if code != wantCode || !strings.Contains(stderr, want) {
			t.Errorf("reel %s: exit %d: %s", args, code, stderr)
		}
	}
}

func TestShrink(t *testing.T) {
	img := shrink(checker(), 2, 1)
	for x, want := range []uint8{50, 150} {
		if got := img.RGBAAt(x, 0).R; got != want {
			t.Errorf("pixel %d is %d, want %d", x, got, want)
		}
	}
}

// checker is 4 by 2 pixels, 0 and 100 in its left half and 100 and 200 in its right.
func checker() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, 4, 2))
	for y := range 2 {
		for x := range 4 {
			img.SetRGBA(x, y, color.RGBA{R: uint8(100*((x+y)%2) + 100*(x/2)), A: 255})
		}
	}
	return img
}
