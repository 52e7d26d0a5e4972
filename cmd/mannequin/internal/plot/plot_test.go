package plot

import (
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
	"mannequin/offline/mocap"
)

// hopper writes a two-joint clip that moves along +Z at 1 m/s while it hops.
func hopper(t *testing.T, dir string) string {
	t.Helper()
	s := &skel.Skeleton{Names: []string{"Root", "RootSite"}, Parents: []int16{-1, 0}, Offsets: []m3.Vec3{{}, {Y: -0.5}}, EndSite: []bool{false, true}}
	c := skel.NewClip(s, 60, 120)
	for f := range c.Frames {
		c.Pos[2*f] = m3.V(0, 0.6+0.1*m3.Sin(float32(f)/5), float32(f)/60)
	}
	path := filepath.Join(dir, "hop.bvh")
	if err := atomicfile.Write(path, func(w io.Writer) error { return mocap.WriteClip(w, c) }); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPlotClip(t *testing.T) {
	dir := t.TempDir()
	clip := hopper(t, dir)
	for _, kind := range []string{"sheet", "top", "height", "speed"} {
		out := filepath.Join(dir, kind+".png")
		code, says, errs := mannequin("plot", clip, "--kind", kind, "--out", out)
		if code != 0 {
			t.Fatalf("%s: code %d: %s", kind, code, errs)
		}
		if says != out+": drawn from "+clip+"\n" {
			t.Errorf("%s: it says %q", kind, says)
		}
		f := must.Get(os.Open(out))(t)
		img, err := png.Decode(f)
		f.Close()
		if err != nil || img.Bounds().Dx() < 100 {
			t.Errorf("%s: %v", kind, err)
		}
	}
	// Several files become a picture each.
	table, out := testcli.WriteFile(t, dir, "loss.csv", "epoch,loss\n1,2\n2,1\n"), filepath.Join(dir, "pictures")
	code, says, errs := mannequin("plot", clip, table, "--kind", "top", "--out", out)
	for _, name := range []string{"hop.png", "loss.png"} {
		if _, err := os.Stat(filepath.Join(out, name)); code != 0 || err != nil || !strings.Contains(says, name) {
			t.Errorf("code %d: %s%s, %v", code, says, errs, err)
		}
	}
}

// Clips beside each other become a sheet, a folder of frames and a GIF.
func TestPlotTogether(t *testing.T) {
	dir := t.TempDir()
	clip := hopper(t, dir)
	for _, name := range []string{"sheet.png", "frames", "video.gif"} {
		out := filepath.Join(dir, name)
		if code, _, errs := mannequin("plot", clip, clip, clip, "--kind", "together", "--frames", "2", "--span", "0.2", "--out", out); code != 0 {
			t.Fatalf("%s: code %d: %s", name, code, errs)
		}
		if name == "frames" {
			out = filepath.Join(out, "frame_00006.png") // of 0.2 s at 30 a second
		}
		f := must.Get(os.Open(out))(t)
		img, _, err := image.Decode(f)
		f.Close()
		if err != nil || img.Bounds().Dx() < 450 { // GIFs are made smaller
			t.Errorf("%s: %v, %v", name, img.Bounds(), err)
		}
	}
	for _, args := range [][]string{{"plot", clip, clip, "--out", "x.png"}, {"plot", clip, clip, "--kind", "together", "--frames", "400", "--out", "x.png"}, append(append([]string{"plot"}, slices.Repeat([]string{clip}, 17)...), "--kind", "together", "--out", "x.png")} {
		if code, _, errs := mannequin(args...); code != command.ExitUsage {
			t.Errorf("%d files: code %d, %s", len(args)-3, code, errs)
		}
	}
}

func TestSpeedIsRight(t *testing.T) {
	b := must.Get(mocap.OpenBVH(hopper(t, t.TempDir())))(t)
	for _, v := range speeds(b.Clip, 0).Series[0].Y {
		if v < 0.999 || v > 1.001 {
			t.Fatalf("speed %g, want 1", v)
		}
	}
	if h := heights(b.Clip, 0); len(h.Series) != 2 || h.Series[1].Y[0] < 0.099 || h.Series[1].Y[0] > 0.101 {
		t.Errorf("heights %v", h.Series)
	}
}

func TestPlotTable(t *testing.T) {
	c := must.Get(readTable(strings.NewReader("# note\nepoch,train,held,name\n1,0.5,,a\n2,0.25,0.3,b\n")))(t)
	if len(c.Series) != 3 || len(c.Series[0].Y) != 2 || len(c.Series[1].Y) != 1 || c.Series[1].X[0] != 2 || len(c.Series[2].Y) != 0 {
		t.Errorf("series %+v", c.Series)
	}
	for _, bad := range []string{"", "a\n1\n", "a,b\nx,1\n", "a,b\n1\n"} {
		if _, err := readTable(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestPlotErrors(t *testing.T) {
	dir := t.TempDir()
	clip := hopper(t, dir)
	out := filepath.Join(dir, "x.png")
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"plot", clip}, command.ExitUsage},
		{[]string{"plot", clip, "--out", out, "--kind", "smell"}, command.ExitUsage},
		{[]string{"plot", clip, "--out", filepath.Join(dir, "x.svg"), "--kind", "top"}, command.ExitUsage},
		{[]string{"plot", clip, "--out", out, "--scale", "0"}, command.ExitUsage},
		{[]string{"plot", clip, "--out", out, "--from", "NaN"}, command.ExitUsage},
		{[]string{"plot", clip, "--out", out, "--from", "9"}, command.ExitFailure},
		{[]string{"plot", clip, "--out", out, "--from", "1e300"}, command.ExitFailure},
		{[]string{"plot", filepath.Join(dir, "no.bvh"), "--out", out}, command.ExitFailure},
		{[]string{"plot", filepath.Join(dir, "no.csv"), "--out", out}, command.ExitFailure},
	} {
		code, _, errs := mannequin(c.args...)
		if code != c.code || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: code %d, %q", c.args, code, errs)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a failed plot left a picture")
	}
	if code, _, errs := mannequin("plot", clip, "--out", out, "--span", "1e300"); code != 0 {
		t.Errorf("a span beyond the end: %s", errs)
	}
}

// mannequin runs one command line as a user would.
func mannequin(args ...string) (code int, stdout, stderr string) {
	return testcli.Run(testcli.Root(New()), args...)
}
