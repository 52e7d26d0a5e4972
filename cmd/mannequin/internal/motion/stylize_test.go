package motion

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/testcli"
	"mannequin/models"
	evalmanifold "mannequin/offline/eval/manifold"
	"mannequin/offline/mocap"
)

// A walk with hanging arms gets the arms of one with arms held up, keeps its
// cadence, and its feet stand.
func TestStylize(t *testing.T) {
	dir, model := t.TempDir(), testcli.Manifold(t)
	content := testcli.Walk(t, dir, "content.bvh", 1.8, 80, 241)
	style, out := testcli.Walk(t, dir, "style.bvh", 1.5, 10, 180), filepath.Join(dir, "out.bvh")
	args := []string{"stylize", "--method", "gram", content, "--style", style, "--out", out, "--manifold", model, "--threads", "2"}
	r := testcli.Report[evalmanifold.Stylized](t, mannequin, append(args, "--json")...)
	t.Logf("%+v", r)
	if !(r.GramRatio > 0 && r.GramRatio <= 0.2) || math.Abs(r.GramRatio-r.Gram/r.GramWas) > 1e-9 {
		t.Errorf("ratio %g of %g and %g, want at most 0.2", r.GramRatio, r.Gram, r.GramWas)
	}
	if math.Abs(r.CadenceWas/1.8-1) > 0.02 || math.Abs(r.Cadence/r.CadenceWas-1) > 0.05 {
		t.Errorf("%g steps per second, the content %g, which was made with 1.8", r.Cadence, r.CadenceWas)
	}
	if r.Cost >= r.Before || r.Edit.After >= r.Edit.Before || r.Motion.Skate > 0.5*r.SkateWas+0.1 || r.Motion.Frames != 240 || math.Abs(r.Seconds-4) > 0.02 {
		t.Errorf("report %+v", r)
	}
	// The hands come up: by their heights over the hips in the three files.
	hands := func(path string) (sum float64) {
		b, err := mocap.OpenBVH(path)
		if err != nil {
			t.Fatal(err)
		}
		s, model := b.Clip.Skel, make([]m3.Xform, b.Clip.Skel.Len())
		scale := 0.01
		if path == out {
			scale = 1
		}
		for f := range b.Clip.Frames {
			pos, rot := b.Clip.Frame(f)
			s.LocalToModel(model, pos, rot)
			sum += scale * float64(model[s.Index("LeftHand")].Pos.Y-model[0].Pos.Y) / float64(b.Clip.Frames)
		}
		return sum
	}
	was, is, want := hands(content), hands(out), hands(style)
	if share := (is - was) / (want - was); share < 0.6 || share > 1.4 {
		t.Errorf("hands over the hips: %g m, the content's %g, the style's %g", is, was, want)
	}

	first, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	args[len(args)-1] = "1"
	code, text, errs := mannequin(args...)
	if code != 0 || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{out, "4.0 s of motion", "frames/s", "ratio 0.", "steps per second", "bones change"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if again, err := os.ReadFile(out); err != nil || !bytes.Equal(first, again) {
		t.Errorf("one worker makes another file, %v", err)
	}
	var less evalmanifold.Stylized
	if _, text, _ = mannequin(append(args, "--json", "--amount", "0.01")...); json.Unmarshal([]byte(text), &less) != nil || less.GramRatio < 2*r.GramRatio {
		t.Errorf("a hundredth of the style: ratio %g, with all of it %g", less.GramRatio, r.GramRatio)
	}
}

func TestStylizeRefuses(t *testing.T) {
	dir, model := t.TempDir(), testcli.Manifold(t)
	walk, short := testcli.Walk(t, dir, "walk.bvh", 1.8, 80, 60), testcli.Walk(t, dir, "short.bvh", 1.8, 80, 29)
	unknown := testcli.WriteFile(t, dir, "unknown.bvh", testcli.TinyBVH)
	out := filepath.Join(dir, "out.bvh")
	for _, c := range []struct {
		name, content, style, want string
		code                       int
		flags                      []string
	}{
		{"short content", short, walk, "short.bvh: 0.48 s are too short, want at least 0.5 s", 1, nil},
		{"short style", walk, short, "short.bvh: 0.48 s are too short", 1, nil},
		{"unknown skeleton", walk, unknown, "no profile fits", 1, nil},
		{"no file", filepath.Join(dir, "none.bvh"), walk, "none.bvh", 1, nil},
		{"no model", walk, walk, "none.safetensors", 1, []string{"--manifold", filepath.Join(dir, "none.safetensors")}},
		{"method", walk, walk, "want gram, mar", 2, []string{"--method", "adain"}},
		{"amount", walk, walk, "--amount", 2, []string{"--amount", "0"}},
		{"iterations", walk, walk, "--iterations", 2, []string{"--iterations", "0"}},
		{"edit", walk, walk, "--edit", 2, []string{"--edit", "-1"}},
		{"threads", walk, walk, "--threads", 2, []string{"--threads", "0"}},
		{"two contents", walk, walk, "2 files are read", 2, []string{"more"}},
	} {
		code, text, errs := mannequin(append([]string{"stylize", "--manifold", model, c.content, "--style", c.style, "--out", out}, c.flags...)...)
		if code != c.code || !strings.Contains(errs, c.want) || text != "" {
			t.Errorf("%s: exit %d: %s%s", c.name, code, text, errs)
		}
	}
	if code, _, errs := mannequin("stylize", walk, "--style", walk); code != 2 || !strings.Contains(errs, "out") {
		t.Errorf("flags left out: exit %d: %s", code, errs)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused motion was written")
	}
}

// The shipped manifold gives a recorded walk the style of others.
func TestStylizeRecorded(t *testing.T) {
	if _, err := models.Open("human"); err != nil {
		t.Skip("no model is shipped: ", err)
	}
	dir := filepath.Join(mocapdata.Dir(t), "xia")
	for _, style := range []string{"angry", "old", "depressed"} {
		out := filepath.Join(t.TempDir(), "out.bvh")
		r := testcli.Report[evalmanifold.Stylized](t, mannequin, "stylize", filepath.Join(dir, "neutral_01_000.bvh"), "--style", filepath.Join(dir, style+"_01_000.bvh"), "--out", out, "--json")
		t.Logf("%s: ratio %.3f, %.2f steps per second of %.2f, slides %.3f cm, bones %.2f %%, %.0f frames/s", style, r.GramRatio, r.Cadence, r.CadenceWas, r.Motion.Skate, r.Motion.Bone, r.Rate)
		if !(r.GramRatio <= 0.2) || math.Abs(r.Cadence/r.CadenceWas-1) > 0.05 || r.Motion.Skate > 0.1 || r.Motion.Bone > 1 {
			t.Errorf("%s: %+v", style, r)
		}
	}
}
