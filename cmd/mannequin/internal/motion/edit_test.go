package motion

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"mannequin/animsys/manifold"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/testcli"
	"mannequin/internal/testing/teststrnn"
	"mannequin/netruntime"
	"mannequin/offline/eval/figure"
	"mannequin/offline/mocap"
)

// stroll is four seconds of a walk round a circle.
var stroll = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "stroll")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "stroll.bvh")
	if code, _, errs := mannequin("synth", "--path", "circle", "--speed", "1.2", "--seconds", "4", "--out", out); code != 0 {
		panic(errs)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		panic(err)
	}
	return string(text)
})

// strollBVH writes it.
func strollBVH(t *testing.T, dir string) string {
	t.Helper()
	return testcli.WriteFile(t, dir, "stroll.bvh", stroll())
}

// spoilBVH writes the motion again after do.
func spoilBVH(t *testing.T, in, name string, do func(c *skel.Clip)) string {
	t.Helper()
	b, err := mocap.OpenBVH(in)
	if err != nil {
		t.Fatal(err)
	}
	do(b.Clip)
	var text strings.Builder
	if err := mocap.WriteClip(&text, b.Clip); err != nil {
		t.Fatal(err)
	}
	return testcli.WriteFile(t, filepath.Dir(in), name, text.String())
}

func edited(t *testing.T, args ...string) editReport {
	t.Helper()
	r := testcli.Report[editReport](t, mannequin, append(append([]string{"edit"}, args...), "--json")...)
	t.Logf("%v: %+v", args[1:], r)
	return r
}

// apart returns the RMS distance of joints of two motions, cm.
func apart(t *testing.T, a, b string, frame func(f int) bool, joints ...string) float64 {
	t.Helper()
	var clips [2]*skel.Clip
	for i, path := range []string{a, b} {
		m, err := mocap.OpenBVH(path)
		if err != nil {
			t.Fatal(err)
		}
		clips[i] = m.Clip
	}
	sum, n := 0.0, 0.0
	for f := range min(clips[0].Frames, clips[1].Frames) {
		if frame != nil && !frame(f) {
			continue
		}
		p, q := figure.Positions(clips[0], f), figure.Positions(clips[1], f)
		for i, name := range clips[0].Skel.Names {
			if j := clips[1].Skel.Index(name); len(joints) == 0 && j >= 0 || slices.Contains(joints, name) {
				d := 100 * float64(p[i].Dist(q[j]))
				sum, n = sum+d*d, n+1
			}
		}
	}
	return math.Sqrt(sum / n)
}

// madeSTRNN writes the made-up recurrent network after a change.
func madeSTRNN(t *testing.T, dir string, change func(meta *netruntime.Meta, tensors []netruntime.Tensor)) string {
	t.Helper()
	net := teststrnn.Net(t, teststrnn.Options{})
	meta, tensors := net.Meta(), net.Tensors()
	change(&meta, tensors)
	net, err := netruntime.New(meta, tensors)
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	if err := net.Encode(&file); err != nil {
		t.Fatal(err)
	}
	return testcli.WriteFile(t, dir, "made.safetensors", file.String())
}

// averagingSTRNN writes a recurrent network that decodes every frame to the mean of those
// around it.
func averagingSTRNN(t *testing.T, dir string) string {
	return madeSTRNN(t, dir, func(_ *netruntime.Meta, tensors []netruntime.Tensor) {
		for _, x := range tensors {
			switch x.Name {
			case "out.weight", "out.bias":
				clear(x.Data)
			case "linear.weight": // (made·columns, Encode)
				cols := x.Shape[0] / (teststrnn.Encode + teststrnn.Predict)
				for i := range teststrnn.Encode * cols {
					f, w := i/cols, x.Data[i*teststrnn.Encode:][:teststrnn.Encode]
					for e := range w {
						if w[e] = 0; e >= f-1 && e <= f+1 {
							w[e] = 1 / float32(min(f+1, teststrnn.Encode-1)-max(f-1, 0)+1)
						}
					}
				}
			}
		}
	})
}

// A motion that skates stands, one that trembles is calm, and hands and feet come
// where they are wanted, also along another path.
func TestEdit(t *testing.T) {
	dir := t.TempDir()
	walk := strollBVH(t, dir)
	out := filepath.Join(dir, "out.bvh")

	skates := spoilBVH(t, walk, "skates.bvh", func(c *skel.Clip) {
		for f := range c.Frames {
			c.Pos[f*c.Skel.Len()].Y += 0.01 * m3.Sin(float32(f)/7)
			c.Pos[f*c.Skel.Len()].X += 0.3 * float32(f) / float32(c.Frames)
		}
	})
	if r := edited(t, skates, "--feet", "--out", out); r.Was.Slide < 0.1 || r.Is.Slide > 0.3*r.Was.Slide || r.Cost > 0.1*r.CostWas || r.Is.Bone > 0.5 {
		t.Errorf("feet: %+v", r)
	}

	rng := rand.New(rand.NewPCG(1, 1))
	noisy := spoilBVH(t, walk, "noisy.bvh", func(c *skel.Clip) {
		for i := range c.Rot {
			turn := func() float32 { return 0.07 * float32(rng.NormFloat64()) }
			c.Rot[i] = c.Rot[i].Mul(m3.FromRotationVector(m3.V(turn(), turn(), turn())))
		}
		for f := range c.Frames {
			c.Pos[f*c.Skel.Len()].Y += 0.03 * float32(rng.NormFloat64())
			c.Pos[f*c.Skel.Len()].X += 0.03 * float32(rng.NormFloat64())
		}
	})
	averaging := averagingSTRNN(t, dir)
	cleaned := [2]string{filepath.Join(dir, "0.bvh"), filepath.Join(dir, "1.bvh")}
	for i, by := range []string{"manifold", "strnn"} {
		out, most := cleaned[i], 0.4+0.1*float64(i)
		edited(t, noisy, "--denoise", by, "--strnn", averaging, "--out", out)
		was, is := apart(t, noisy, walk, nil), apart(t, out, walk, nil)
		t.Logf("%s: %.2f cm of noise, %.2f left", by, was, is)
		if is > most*was || was < 4 {
			t.Errorf("--denoise %s: %.2f cm off, before %.2f", by, is, was)
		}
	}
	if d := apart(t, cleaned[0], cleaned[1], nil); d < 1 {
		t.Errorf("the two ways to take noise off are %.2f cm apart: are they one?", d)
	}

	gone := func(f int) bool { return f >= 90 && f < 150 }
	lost := spoilBVH(t, walk, "lost.bvh", func(c *skel.Clip) {
		for f := range c.Frames {
			if _, rot := c.Frame(f); gone(f) {
				rot[c.Skel.Index("LeftForeArm")] = m3.AxisAngle(m3.V(0, 1, 0), -1.5)
			}
		}
	})
	edited(t, lost, "--fill", "LeftHand,LeftHandIndex1@1.5:2.5", "--out", out)
	if was, is := apart(t, lost, walk, gone, "LeftHand"), apart(t, out, walk, gone, "LeftHand"); is > 0.2*was {
		t.Errorf("fill: %.2f cm off, before %.2f", is, was)
	}
	gaps := testcli.WriteFile(t, dir, "gaps.toml", "[[missing]]\njoints = [\"all\"]\nfrom = 2\nto = 2.2\n[[missing]]\njoints = [\"Head\"]\n")
	edited(t, walk, "--fill", gaps, "--out", out)
	if d := apart(t, out, walk, func(f int) bool { return f >= 120 && f < 132 }, "LeftHand", "RightHand", "LeftFoot", "RightFoot"); d > 5 {
		t.Errorf("a gap of 0.2 s of the whole body is filled %.2f cm off", d)
	}
	edited(t, lost, "--denoise", "strnn", "--strnn", averaging, "--fill", "all@1.5:1.8", "--fill", "LeftHand,LeftHandIndex1@1.8:2.5", "--out", out)
	if d := apart(t, out, walk, func(f int) bool { return f >= 90 && f < 108 }, "LeftHand", "RightHand", "LeftFoot", "RightFoot"); d > 8 {
		t.Errorf("a gap of 0.3 s of the whole body is filled %.2f cm off by the recurrent network", d)
	}

	targets := testcli.WriteFile(t, dir, "targets.toml", `
[[target]]
joint = "RightHand"
space = "body"
at = [-0.3, 1.6, 0.3]
from = 1
to = 1.5
[[target]]
joint = "LeftHand"
at = [0.2, 1.3, 1.6]
from = 3
ease = 0.5
weight = 2
`)
	path := testcli.WriteFile(t, dir, "line.csv", "-3,1.5\n0,1.5\n9,1.5\n")
	r := edited(t, walk, "--targets", targets, "--path", path, "--out", out, "--iterations", "80")
	if len(r.Targets) != 2 || r.Targets[0].Is > 1 || r.Targets[0].Was < 30 || r.Away > 2 || r.Is.Slide > 0.3 {
		t.Errorf("targets along a path: %+v", r)
	}
	wave := testcli.WriteFile(t, dir, "wave.toml", "[[target]]\njoint = \"RightHand\"\nspace = \"body\"\nat = [-0.3, 1.6, 0.3]\nfrom = 1\nto = 1.5\n")
	r = edited(t, noisy, "--denoise", "strnn", "--strnn", averaging, "--targets", wave, "--out", out)
	if len(r.Targets) != 1 || r.Targets[0].Is > 1 || r.Is.Bone > 1 {
		t.Errorf("a target in motion that the recurrent network cleaned: %+v", r)
	}
	last := testcli.WriteFile(t, dir, "last.toml", "[[target]]\njoint = \"LeftHand\"\nat = [0.2, 1.3, 1.6]\nfrom = 3.9916666666666667\n")
	if r := edited(t, walk, "--targets", last, "--out", out, "--iterations", "1"); !(r.Targets[0].Was > 0) {
		t.Errorf("a target half a frame after the last: %+v", r)
	}
	if r := edited(t, walk, "--fill", "Head@1:2", "--budget", "30ms", "--out", out); r.Steps != 1 {
		t.Errorf("%d steps, want 1: filling took the budget", r.Steps)
	}
	code, text, errs := mannequin("edit", walk, "--targets", targets, "--budget", "1ns", "--out", out)
	if code != 0 || !strings.Contains(text, " 1 steps of editing") || !strings.Contains(text, "from their targets") {
		t.Errorf("a budget of 1 ns: %d %s\n%s", code, errs, text)
	}
}

func TestEditRefuses(t *testing.T) {
	dir := t.TempDir()
	walk, out := strollBVH(t, dir), filepath.Join(dir, "out.bvh")
	files := 0
	toml := func(text string) string {
		files++
		return testcli.WriteFile(t, dir, fmt.Sprintf("%d.toml", files), text)
	}
	stranger := madeSTRNN(t, dir, func(meta *netruntime.Meta, _ []netruntime.Tensor) {
		meta.Skeleton = strings.Replace(meta.Skeleton, "-0.4065", "-0.5", 1)
	})
	short := testcli.WriteFile(t, dir, "short.csv", "0,0\n0,1\n")
	const head = "[[target]]\njoint = \"Head\"\n"
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "nothing to do"},
		{[]string{"--feet", "--denoise", "manifold"}, 2, "--feet is for feet alone"},
		{[]string{"--denoise", "manifold", "--contacts", "own"}, 2, "want detect"},
		{[]string{"--denoise", "median"}, 2, "want manifold, strnn"},
		{[]string{"--denoise"}, 2, "--denoise"},
		{[]string{"--denoise", "strnn", "--strnn", "nobody"}, 1, `--strnn: no model "nobody"`},
		{[]string{"--denoise", "strnn", "--strnn", "human"}, 1, "does not fit"},
		{[]string{"--denoise", "strnn", "--strnn", stranger}, 1, "their joints or bones differ"},
		{[]string{"--feet", "--contacts", "none"}, 2, "want own, detect"},
		{[]string{"--feet", "--iterations", "-1"}, 2, "--iterations"},
		{[]string{"--feet", "--budget", "-1s"}, 2, "--budget"},
		{[]string{"--feet", "--threads", "0"}, 2, "--threads"},
		{[]string{"--feet", "--manifold", "dog"}, 1, "does not fit"},
		{[]string{"--path", "triangle"}, 1, "--path"},
		{[]string{"--path", short}, 1, "ends after 1.00 m"},
		{[]string{"--fill", "Tail@1:2"}, 2, `called "Tail"`},
		{[]string{"--fill", "Head@1"}, 2, "FROM:TO"},
		{[]string{"--fill", "Head@1:x"}, 2, "FROM:TO"},
		{[]string{"--fill", "Head@2:1"}, 2, "more than from"},
		{[]string{"--fill", "Head@NaN:1"}, 2, "from is NaN"},
		{[]string{"--fill", "Head@1:9"}, 2, "to is 9 s"},
		{[]string{"--fill", "Hips,Head@1:2"}, 2, `say "all"`},
		{[]string{"--fill", "all"}, 2, "whole motion"},
		{[]string{"--fill", "all@0:2", "--fill", "all@2:4"}, 1, "nothing is left"},
		{[]string{"--fill", "none.toml"}, 1, "none.toml"},
		{[]string{"--fill", toml("\n[[missing]]\njoints = [\"Head\"]\nfrom = 1\nto = 77\n")}, 1, ".toml:5: to is 77 s"},
		{[]string{"--fill", toml("[[missing]]\njoints = [\"Head\"]\nfrom = inf\n")}, 1, ".toml:3: from is +Inf"},
		{[]string{"--targets", toml("")}, 1, "0 tables [[target]]"},
		{[]string{"--targets", toml(head + "at = [0, 1]\nfrom = 1\n")}, 1, ".toml:3: at has 2 numbers"},
		{[]string{"--targets", toml(head + "at = [0, nan, 1]\nfrom = 1\n")}, 1, ".toml:3: its place"},
		{[]string{"--targets", toml(head + "at = [0, 1, 1]\n")}, 1, ".toml:1: from is missing"},
		{[]string{"--targets", toml(head + "at = [0, 1, 1]\nfrom = 3\nto=5.5\n")}, 1, ".toml:5: it is from 3 to 5.5 s"},
		{[]string{"--targets", toml(head + "at = [0, 1, 1]\nfrom = -3\n")}, 1, ".toml:4: it is from -3"},
		{[]string{"--targets", toml(head + "at = [0, 1, 1]\nfrom = 1\nease = -0.1\n")}, 1, ".toml:5: it eases over"},
		{[]string{"--targets", toml(head + "at = [0, 1, 1]\nfrom = 1\nweight = 0\n")}, 1, ".toml:5: weight is 0"},
		{[]string{"--targets", toml(head + "at = [0, 1, 1]\nfrom = 1\nspace = \"here\"\n")}, 1, ".toml:5: space is"},
		{[]string{"--targets", toml(head + "at = [0, 1, 1]\nfrom = 1\nuntil = 2\n")}, 1, `.toml:5: unknown key "target.until"`},
		{[]string{"--targets", toml(head + "at = [0, 1, 1]\nform = 1\n")}, 1, `.toml:4: unknown key "target.form": want joint, space, at, from, to, ease, weight; did you mean from?`},
		{[]string{"--targets", toml(head + "at = \n")}, 1, ".toml:3:"},
		{[]string{"--targets", toml("[[target]]\njoint = \"Tail\"\nat = [0, 1, 1]\nfrom = 1\n")}, 1, ".toml:2: no joint is called"},
		{[]string{"--targets", toml(head + "at = [0, 1, 1]\nfrom = 1\nto = 2\n\n[[target]]\njoint = \"Head\"\nat = [0, 1, 1]\nfrom = 1.5\n")}, 1, ".toml:10: Head has another"},
	} {
		code, _, stderr := mannequin(append([]string{"edit", walk, "--out", out}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit %d, %s; want %d and %q", c.args, code, stderr, c.code, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%v: a file was written", c.args)
		}
	}
	if frameOf(1.5) != 90 || manifold.Rate != 60 {
		t.Error("frames of a time")
	}
}
