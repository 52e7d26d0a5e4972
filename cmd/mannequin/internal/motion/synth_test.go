package motion

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/testing/testcli"
	"mannequin/offline/mocap"
)

func TestParseSpeeds(t *testing.T) {
	v, err := parseSpeeds("0:1,2:1,4:3")
	if err != nil {
		t.Fatal(err)
	}
	for frame, want := range map[int]float32{0: 1, 60: 1, 180: 2, 240: 3, 1000: 3} {
		if got := v(frame); got != want {
			t.Errorf("frame %d: %g m/s, want %g", frame, got, want)
		}
	}
	if v, err = parseSpeeds("1.4"); err != nil || v(500) != 1.4 {
		t.Errorf("a single speed: %v", err)
	}
	for _, text := range []string{"", "x", "1:x", "x:1", "9", "-1", "NaN", "0:1,2", "0:1,0:2", "2:1,1:2", "1x", "0:1y"} {
		if _, err := parseSpeeds(text); err == nil {
			t.Errorf("%q accepted", text)
		}
	}
}

// The shipped people walk along a curve: the BVH is where the course is, standing
// feet stand and bones keep their length; two runs give the same bytes.
func TestSynth(t *testing.T) {
	dir := t.TempDir()
	svg := filepath.Join(dir, "way.svg")
	if err := os.WriteFile(svg, []byte(`<svg><path d="M0 0 C 0 -40 40 -40 40 -80 V -200"/></svg>`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--path", "circle", "--speed", "1.2"},
		{"--path", svg, "--speed", "0:1.3,1:3"},
		{"--path", "meander", "--facing", "180", "--speed", "0.7", "--cadence", "1.1", "--iterations", "20"},
	} {
		out := filepath.Join(dir, "o.bvh")
		rep := testcli.Report[synthReport](t, mannequin, append([]string{"synth", "--seconds", "2", "--out", out, "--json"}, args...)...)
		b, err := mocap.OpenBVH(out)
		if err != nil {
			t.Fatal(err)
		}
		if b.Clip.Frames != 120 || b.Clip.FPS != 60 || b.Clip.Skel.Index("LeftToeBaseSite") < 0 {
			t.Errorf("%v: %d frames at %g", args, b.Clip.Frames, b.Clip.FPS)
		}
		m := rep.Motion
		if m.Away > 5 || m.Aside > 8 || m.Skate > 0.3 || m.Bone > 1 || m.Sunk > 3 {
			t.Errorf("%v: %+v", args, m)
		}
		first, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := mannequin(append([]string{"synth", "--seconds", "2", "--out", out, "--threads", "3"}, args...)...); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, stderr)
		}
		if again, _ := os.ReadFile(out); !bytes.Equal(first, again) {
			t.Errorf("%v: two runs differ", args)
		}
	}
}

func TestSynthRefuses(t *testing.T) {
	out := filepath.Join(t.TempDir(), "o.bvh")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--path", "circle", "--speed", "9"}, 2, "0 to 8 m/s"},
		{[]string{"--path", "circle", "--seconds", "0"}, 2, "--seconds"},
		{[]string{"--path", "circle", "--cadence", "9"}, 2, "--cadence"},
		{[]string{"--path", "circle", "--stand", "2"}, 2, "--stand"},
		{[]string{"--path", "circle", "--facing", "1e9"}, 2, "--facing"},
		{[]string{"--path", "circle", "--iterations", "-1"}, 2, "--iterations"},
		{[]string{"--path", "triangle"}, 1, "--path"},
		{[]string{"--path", "circle", "--manifold", "dog"}, 1, "does not fit"},
		{[]string{"--path", "circle", "--footstep", "human-locomotion"}, 1, "does not fit"},
		{[]string{"--path", "circle", "--locomotion", "cat"}, 1, `no model "cat"`},
	} {
		code, _, stderr := mannequin(append([]string{"synth", "--out", out}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit %d, %s; want %d and %q", c.args, code, stderr, c.code, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%v: a file was written", c.args)
		}
	}
}
