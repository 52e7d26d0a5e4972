package mocap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFormatOf(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Format
	}{
		{"a.bvh", "", FormatBVH},
		{"a.BVH", "1,2,3", FormatBVH},
		{"a.amc", "", FormatAMC},
		{"a.TXT", "", FormatH36M},
		{"a.asf", ":version 1.10", FormatASF},
		{"a.txt", "\xef\xbb\xbf hierarchy\nROOT hips", FormatBVH},
		{"-", "HIERARCHY\n", FormatBVH},
		{"-", "# made by hand\n:FULLY-SPECIFIED\n", FormatAMC},
		{"-", "1\nroot 0 0 0\n", FormatAMC},
		{"-", "0.5, 1e-3,2\n", FormatH36M},
		{"-", "", FormatBVH},
		{"-", "\x00\xff{", FormatBVH},
	} {
		if got := FormatOf(c.name, []byte(c.text)); got != c.want {
			t.Errorf("%s, %q: %v, want %v", c.name, c.text, got, c.want)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	amc := write("walk.amc", "1\nroot 0 0 0\n")
	if _, err := Open(amc, OpenOptions{}); err == nil || !strings.Contains(err.Error(), ErrNoASF.Error()) {
		t.Errorf("an AMC without a skeleton: %v", err)
	}
	asf := write("actor.asf", ":root\norder TX TY TZ\n:bonedata\nbegin\nname leg\ndirection 0 -1 0\nlength 1\nend\n:hierarchy\nbegin\nroot leg\nend\n")
	for fps, want := range map[float64]float64{0: AMCRate, 60: 60} {
		b, err := Open(amc, OpenOptions{ASF: asf, AMCFPS: fps})
		if err != nil {
			t.Fatal(err)
		}
		if b.Format != FormatAMC || b.Clip.FPS != want {
			t.Errorf("%v at %g per second, want an AMC at %g", b.Format, b.Clip.FPS, want)
		}
	}
	if _, err := Open(asf, OpenOptions{}); err == nil || !strings.Contains(err.Error(), "without motion") {
		t.Errorf("an ASF: %v", err)
	}
	bvh := write("walk.txt", "HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 1 Xposition } MOTION Frames: 1 Frame Time: 0.01 5")
	if b, err := Open(bvh, OpenOptions{}); err != nil || b.Format != FormatBVH {
		t.Errorf("a BVH called .txt: %v, %v", b, err)
	}
	frame := strings.TrimSuffix(strings.Repeat("0,", 99), ",")
	if b, err := Open(write("h36m", frame+"\n"+frame), OpenOptions{}); err != nil || b.Format != FormatH36M || b.Clip.Frames != 2 {
		t.Errorf("Human3.6M without an extension: %v, %v", b, err)
	}
}
