package motion

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/testcli"
	"mannequin/netruntime"
	"mannequin/offline/eval/figure"
	"mannequin/offline/mocap"
)

// A recording goes on from where it is asked to, without a jump, and the same again.
func TestPredict(t *testing.T) {
	dir := t.TempDir()
	stroll, model, out := strollBVH(t, dir), madeSTRNN(t, dir, func(*netruntime.Meta, []netruntime.Tensor) {}), filepath.Join(dir, "on.bvh")
	if code, _, errs := mannequin("predict", stroll, "--at", "1", "--seconds", "1", "--out", out); code != 0 { // with the shipped model
		t.Fatal(errs)
	}
	run := func(more ...string) []byte {
		t.Helper()
		r := testcli.Report[predictReport](t, mannequin, append([]string{"predict", stroll, "--model", model, "--at", "1", "--seconds", "2", "--out", out, "--json"}, more...)...)
		if r.Recorded != 1 || r.Made != 2 || !(r.Went > 0.5) {
			t.Errorf("%+v", r)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first, free := run(), run("--feet=false")
	made, err := mocap.OpenBVH(out)
	if err != nil {
		t.Fatal(err)
	}
	own, err := mocap.OpenBVH(stroll)
	if err != nil {
		t.Fatal(err)
	}
	if made.Clip.Frames != 180 || made.Clip.FPS != 60 {
		t.Fatalf("%d frames at %g", made.Clip.Frames, made.Clip.FPS)
	}
	a, b := figure.Positions(made.Clip, 30), figure.Positions(own.Clip, 30)
	for j := range a {
		if d := a[j].Flat().Dist(b[j].Flat()); d > 0.02 {
			t.Errorf("half a second in joint %d is %g m from where it was recorded", j, d)
		}
	}
	if !bytes.Equal(first, run("--threads", "1")) {
		t.Error("one worker makes something else")
	}
	if bytes.Equal(first, run("--seed", "2")) {
		t.Error("another seed makes the same")
	}
	if bytes.Equal(first, run("--draws", "1")) {
		t.Error("a single draw makes the same as several")
	}
	if bytes.Equal(first, free) {
		t.Error("feet that are not held change nothing")
	}
}

// Toes of who goes on with the shipped network do not skim the ground.
func TestPredictClears(t *testing.T) {
	dir := t.TempDir()
	stroll, out := strollBVH(t, dir), filepath.Join(dir, "on.bvh")
	if code, _, errs := mannequin("predict", stroll, "--seconds", "20", "--out", out); code != 0 {
		t.Fatal(errs)
	}
	made, err := mocap.OpenBVH(out)
	if err != nil {
		t.Fatal(err)
	}
	const begin = 240 // frames of the recording
	skim, fast := 0, 0
	for _, name := range []string{"LeftToeBase", "RightToeBase"} {
		j, floor := made.Clip.Skel.Index(name), float32(1)
		var at []m3.Vec3
		for f := range made.Clip.Frames {
			p := figure.Positions(made.Clip, f)[j]
			if at = append(at, p); f > begin {
				floor = min(floor, p.Y)
			}
		}
		for f := begin + 1; f < len(at); f++ {
			if at[f].Sub(at[f-1]).Flat().Len()*60 > 2 {
				if fast++; at[f].Y < floor+0.02 {
					skim++
				}
			}
		}
	}
	if fast < 100 || skim > fast/200 {
		t.Errorf("fast toes are low in %d of %d frames", skim, fast)
	}
}

func TestPredictRefuses(t *testing.T) {
	dir := t.TempDir()
	stroll, model := strollBVH(t, dir), madeSTRNN(t, dir, func(*netruntime.Meta, []netruntime.Tensor) {})
	for want, args := range map[string][]string{
		"the network needs 0.27":     {stroll, "--model", model, "--at", "0.1"},
		"want at most that":          {stroll, "--model", model, "--at", "99"},
		"--seconds is 0":             {stroll, "--model", model, "--seconds", "0"},
		"--spread is NaN":            {stroll, "--model", model, "--spread", "NaN"},
		`no model "nobody"`:          {stroll, "--model", "nobody"},
		`model "human" does not fit`: {stroll, "--model", "human"},
		"no such file":               {filepath.Join(dir, "none.bvh"), "--model", model},
		"chair.bvh":                  {testcli.WriteFile(t, dir, "chair.bvh", "HIERARCHY\nROOT Chair\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.01\n0 0 0\n"), "--model", model},
	} {
		out := filepath.Join(dir, "o.bvh")
		code, _, errs := mannequin(append([]string{"predict", "--out", out}, args...)...)
		if code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, %q, want %q in it", args, code, errs, want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%v: a file was written", args)
		}
	}
}
