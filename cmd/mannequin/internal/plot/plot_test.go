package plot

import (
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
	"mannequin/offline/chart"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
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

// A sheet shows a person from the right, whichever way the person turns.
func TestFacing(t *testing.T) {
	c := skel.NewClip(retarget.Human(), 60, 4)
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		pos[0], rot[0] = m3.V(0, 1, 0), m3.YawQuat(0.5*float32(f))
		rot[c.Skel.Index("LeftUpLeg")], rot[c.Skel.Index("RightUpLeg")] = m3.AxisAngle(m3.V(1, 0, 0), -0.7), m3.AxisAngle(m3.V(1, 0, 0), 0.7)
	}
	face := facing(c)
	for f := range c.Frames {
		if d := m3.WrapAngle(face(f) - 0.5*float32(f)); m3.Abs(d) > 1e-5 {
			t.Errorf("a body turned by %g faces %g", 0.5*float32(f), face(f))
		}
	}
	first, last := sheet(c.Section(0, 1), 0, 1).(*image.RGBA), sheet(c.Section(3, 4), 0, 1).(*image.RGBA)
	other := 0
	for i := range first.Pix {
		if first.Pix[i] != last.Pix[i] {
			other++
		}
	}
	if other > len(first.Pix)/30 { // but for the frame's number
		t.Errorf("%d of %d values of a turned body's picture differ", other, len(first.Pix))
	}
	if facing(skel.NewClip(&skel.Skeleton{Names: []string{"Root"}, Parents: []int16{-1}, Offsets: make([]m3.Vec3, 1), EndSite: make([]bool, 1)}, 60, 1)) != nil {
		t.Error("a body without hips faces somewhere")
	}
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
	read := func(text string) (chart.Chart, error) { return readTable("t.csv", []byte(text), false) }
	c := must.Get(read("# note\nepoch,train,held,name\n1,0.5,,a\n2,0.25,0.3,b\n"))(t)
	if len(c.Series) != 3 || !slices.Equal(c.Series[0].Y, []float64{0.5, 0.25}) || c.Series[0].Name != "train" || c.Series[2].Name != "" {
		t.Errorf("series %+v", c.Series)
	}
	for i, want := range []float64{2, 1, 0} { // numbers in the columns
		n := 0
		for _, y := range c.Series[i].Y {
			if y == y {
				n++
			}
		}
		if n != int(want) || !slices.Equal(c.Series[i].X, []float64{1, 2}) {
			t.Errorf("column %d: %+v", i, c.Series[i])
		}
	}
	for _, bad := range []string{"", "a\n1\n", "a,b\nx,1\n", "a,b\n1\n"} {
		if _, err := read(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// Numbers that no axis has room for are refused, with their line, and curves that fill the picture
// are drawn quickly.
func TestPlotExtremeTable(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "p.png")
	for text, want := range map[string]string{
		"x,y\n0,1e308\n":                          `p.csv:2: "1e308" in the column "y" cannot be drawn`,
		"x,y\n0,1\n1,-9e307\n":                    "p.csv:3:",
		"x,y\n0,1\n1,1e999\n":                     "p.csv:3:",
		"# c\n\nx,y\n1e305,1\n":                   "p.csv:4:",
		"x,y\n" + strings.Repeat(",", 2000):       "p.csv:2: more than 1000 cells",
		"x,y\n0,1\n0,1,2\n":                       "p.csv:3: wrong number of fields",
		"x,y\n" + strings.Repeat("9", 300) + "x,": "p.csv:2:",
	} {
		file := testcli.WriteFile(t, dir, "p.csv", text)
		if code, _, errs := mannequin("plot", file, "--out", out); code != command.ExitFailure || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 || len(errs) > 400 {
			t.Errorf("%.30q: code %d, %s, want %q", text, code, errs, want)
		}
	}
	small := testcli.WriteFile(t, dir, "small.csv", "x,y\n0,5e-324\n1,1\n")
	if code, _, errs := mannequin("plot", small, "--log", "--out", out); code != command.ExitFailure || !strings.Contains(errs, "small.csv:2:") {
		t.Errorf("code %d, %s", code, errs)
	}
	for _, text := range []string{"x,y\n0,1e300\n1,-1e300\n", "x,y\n1e300,1e300\n1e300,1e300\n", "x,y\n0,5e-324\n1,nan\n2,0\n", "x,y\n0,inf\n1,1\n"} {
		for _, name := range []string{"q.png", "q.svg", "q.pdf"} {
			if code, _, errs := mannequin("plot", testcli.WriteFile(t, dir, "q.csv", text), "--out", filepath.Join(dir, name)); code != 0 {
				t.Errorf("%q: %s", text, errs)
			}
		}
	}
	var zigzag strings.Builder
	zigzag.WriteString("x,y\n")
	for i := range 50000 {
		fmt.Fprintf(&zigzag, "%d,%d\n", i, i%7)
	}
	start := time.Now()
	if code, _, errs := mannequin("plot", testcli.WriteFile(t, dir, "z.csv", zigzag.String()), "--out", out); code != 0 {
		t.Error(errs)
	}
	if took := time.Since(start); took > 30*time.Second { // half a second on an idle machine
		t.Errorf("drawn in %v", took)
	}
}

// The memory for a table is a small multiple of its bytes.
func TestPlotTableMemory(t *testing.T) {
	text := "x,y\n" + strings.Repeat("1,1\n", 1<<18)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := must.Get(readTable("t.csv", []byte(text), false))(t)
	runtime.ReadMemStats(&after)
	if len(c.Series[0].Y) != 1<<18 {
		t.Fatal("rows are lost")
	}
	if all := after.TotalAlloc - before.TotalAlloc; all > uint64(16*len(text)) { // all that was ever allocated; 13 times with the race detector
		t.Errorf("%d bytes for a table of %d", all, len(text))
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
	pipe := filepath.Join(dir, "pipe.csv")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Log("no pipes here:", err)
	} else if code, _, errs := mannequin("plot", pipe, "--out", out); code != command.ExitFailure || !strings.Contains(errs, "pipe.csv: not a regular file") {
		t.Errorf("a pipe that nobody writes: code %d, %s", code, errs) // opened, it would wait for ever
	}
	if code, _, errs := mannequin("plot", clip, "--out", out, "--span", "1e300"); code != 0 {
		t.Errorf("a span beyond the end: %s", errs)
	}
}

// mannequin runs one command line as a user would.
func mannequin(args ...string) (code int, stdout, stderr string) {
	return testcli.Run(testcli.Root(New()), args...)
}
