package motion

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/keypose"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/testcli"
	"mannequin/models"
	"mannequin/offline/eval/figure"
	"mannequin/offline/mocap"
)

// threeKeys keys three poses of stroll.bvh.
const threeKeys = `[[key]]
time = 1
file = "stroll.bvh"
at = 0.5

[[key]]
time = 1.7
file = "stroll.bvh"
at = 1.2

[[key]]
time = 2.5
file = "stroll.bvh"
at = 2.0
`

// The motion between poses of a walk is like the walk, its keys are met and its feet
// stand.
func TestInbetween(t *testing.T) {
	dir := t.TempDir()
	stroll := strollBVH(t, dir)
	out := filepath.Join(dir, "o.bvh")
	r := testcli.Report[inbetweenReport](t, mannequin, "inbetween", testcli.WriteFile(t, dir, "keys.toml", threeKeys), "--out", out, "--json")
	t.Logf("%+v", r)
	if r.Keys != 3 || math.Abs(r.Seconds-91.0/60) > 1e-3 || r.Missed > 0.01 || r.Slide > 0.25 || r.Slide > r.SlideBy {
		t.Errorf("%+v", r)
	}
	made, err := mocap.OpenBVH(out)
	if err != nil {
		t.Fatal(err)
	}
	own, err := mocap.OpenBVH(stroll)
	if err != nil {
		t.Fatal(err)
	}
	if made.Clip.Frames != 91 {
		t.Fatalf("%d frames", made.Clip.Frames)
	}
	// The recording is put on the ground, under soles.
	up := m3.V(0, figure.Positions(made.Clip, 0)[0].Y-figure.Positions(own.Clip, 30)[0].Y, 0)
	if up.Y < -0.03 || up.Y > 0.03 {
		t.Errorf("a walk on the ground is lifted by %g m", up.Y)
	}
	sum, n := 0.0, 0.0
	for f := range made.Clip.Frames {
		a, b := figure.Positions(made.Clip, f), figure.Positions(own.Clip, f+30)
		for j := range a {
			d := 100 * float64(a[j].Dist(b[j].Add(up)))
			sum, n = sum+d, n+1
			if (f == 0 || f == 42 || f == 90) && d > 0.1 {
				t.Fatalf("the key at frame %d is missed by %.2f cm", f, d)
			}
		}
	}
	if mean := sum / n; mean > 8 {
		t.Errorf("joints are %.1f cm from the walk's", mean)
	}
}

// A path leads elsewhere.
func TestInbetweenPath(t *testing.T) {
	dir := t.TempDir()
	strollBVH(t, dir)
	out := filepath.Join(dir, "o.bvh")
	keys := threeKeys + "[[path]]\ntime = 1\nplace = [0, 0]\n[[path]]\ntime = 2\nplace = [1.3, 0]\n[[path]]\ntime = 3\nplace = [2.6, 0]\nheading = 90\n"
	if code, _, errs := mannequin("inbetween", testcli.WriteFile(t, dir, "keys.toml", keys), "--out", out); code != 0 {
		t.Fatal(errs)
	}
	b, err := mocap.OpenBVH(out)
	if err != nil {
		t.Fatal(err)
	}
	for f := range b.Clip.Frames {
		hips := figure.Positions(b.Clip, f)[0]
		if want := 2.6 * float64(f) / 120; math.Abs(float64(hips.X)-want) > 0.02 || math.Abs(float64(hips.Z)) > 0.02 {
			t.Fatalf("in frame %d the hips are over %v, want x %.2f", f, hips, want)
		}
	}
}

func TestInbetweenRefuses(t *testing.T) {
	dir := t.TempDir()
	strollBVH(t, dir)
	change := func(old, new string) string { return strings.Replace(threeKeys, old, new, 1) }
	for want, text := range map[string]string{
		"keys.toml:7: at 0.7 s, before key 1":  change("time = 1.7", "time = 0.7"),
		"keys.toml:7: at 1.001 s, in the same": change("time = 1.7", "time = 1.001"),
		"keys.toml:4: at is 99 s":              change("at = 0.5", "at = 99"),
		"missing.bvh: no such file":            change("stroll.bvh", "missing.bvh"),
		"keys.toml:6: time is missing":         change("time = 1.7\n", ""),
		"keys.toml:5: weight is 2":             change("at = 0.5", "at = 0.5\nweight = 2"),
		`no joint is called "Tail"`:            change("at = 0.5", "at = 0.5\njoints = [\"Tail\"]"),
		"keys.toml:5: place has 3 numbers":     change("at = 0.5", "at = 0.5\nplace = [1, 2, 3]"),
		"is faster than 12 m/s":                change("at = 0.5", "at = 0.5\nplace = [100, 2]"),
		"unknown key":                          change("at = 0.5", "when = 0.5"),
		"0 tables [[key]]":                     "",
		"at least 2":                           threeKeys[:strings.Index(threeKeys, "\n\n")],
		"keys.toml:15: place has 0 numbers":    threeKeys + "[[path]]\ntime = 1\n",
		"want one that covers them":            threeKeys + "[[path]]\ntime = 1\nplace = [0, 0]\n",
		"keys.toml:19: at 1 s":                 threeKeys + "[[path]]\ntime = 1\nplace = [0, 0]\n[[path]]\ntime = 1\nplace = [0, 0]\n",
	} {
		out := filepath.Join(dir, "no.bvh")
		code, _, errs := mannequin("inbetween", testcli.WriteFile(t, dir, "keys.toml", text), "--out", out)
		if code == 0 || !strings.Contains(errs, want) {
			t.Errorf("exit %d: %s, want %q", code, errs, want)
		}
	}
	if code, _, errs := mannequin("inbetween", testcli.WriteFile(t, dir, "keys.toml", threeKeys), "--model", "human", "--out", "x.bvh"); code == 0 || !strings.Contains(errs, "does not fit") {
		t.Errorf("another model: %s", errs)
	}
	if code, _, _ := mannequin("inbetween", "keys.toml", "--out", "x.bvh", "--threads", "0"); code != 2 {
		t.Errorf("no workers: exit %d", code)
	}
}

func FuzzKeys(f *testing.F) {
	net, err := models.Open("human-keypose")
	if err != nil {
		f.Fatal(err)
	}
	m, err := keypose.NewModel(net)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(threeKeys)
	f.Add("[[key]]\ntime = 1\nfile = \"\"\nweights = {Spine = 0.5, path = 1}\njoints = [\"root\"]\n[[path]]\ntime = 1\nplace = [0,1]\nheading = 1e300\n")
	f.Fuzz(func(t *testing.T, text string) {
		k, _, err := openKeys(testcli.WriteFile(t, t.TempDir(), "k.toml", text), m.Layout, nil, map[string]*skel.Clip{})
		if err == nil {
			t.Fatal(fmt.Sprint("no file of recordings is there, and yet: ", k))
		}
	})
}
