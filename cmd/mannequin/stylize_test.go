package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/atomicfile"
	"mannequin/internal/testing/mocapdata"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
)

// writeSplit writes the model file of a manifold whose hidden values are the
// normalised frames, a little smoothed, what is above 0 apart from what is below:
// it encodes all motion that is slow.
func writeSplit(t *testing.T) string {
	t.Helper()
	layout, sk := feature.Human(), retarget.Human()
	cols := layout.Columns()
	mean, std := make([]float32, cols), make([]float32, cols)
	rest := make([]m3.Vec3, sk.Len())
	for j, p := range sk.Parents {
		if rest[j] = m3.V(0, 0.95, 0); p >= 0 {
			rest[j] = rest[p].Add(sk.Offsets[j])
		}
	}
	for i := range std {
		std[i] = 0.2
	}
	for i, name := range layout.Joints {
		p := rest[sk.Index(name)]
		copy(mean[layout.Pos(i):], []float32{p.X, p.Y, p.Z})
	}
	const width, sigma = 13, 2.0
	w := make([]float32, 2*cols*cols*width)
	for i := range cols {
		for k := range width {
			// Twice a sum of √2, halved by depooling, is 1.
			v := math.Sqrt2 / (sigma * math.Sqrt(2*math.Pi)) * math.Exp(-math.Pow(float64(k-width/2)/sigma, 2)/2)
			w[(i*cols+i)*width+k], w[((cols+i)*cols+i)*width+k] = float32(v), float32(-v)
		}
	}
	shared := map[string]string{"mean": "mean", "std": "std"}
	meta := netruntime.Meta{Name: "split", Arch: "graph", Graph: &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: "x", Channels: cols}},
		Nodes: []netruntime.Node{
			{Name: "normalised", Op: netruntime.OpNormalize, In: []string{"x"}, Tensors: shared},
			{Name: "encoder", Op: netruntime.OpConv, In: []string{"normalised"}, Act: "relu"},
			{Name: "hidden", Op: netruntime.OpMaxPool, In: []string{"encoder"}},
			{Name: "spread", Op: netruntime.OpDepool, In: []string{"hidden"}},
			{Name: "decoder", Op: netruntime.OpConv, In: []string{"spread"}, Tied: true, Flip: true, Tensors: map[string]string{"weight": "encoder.weight"}},
			{Name: "y", Op: netruntime.OpDenormalize, In: []string{"decoder"}, Tensors: shared},
		},
		Outputs: []string{"y"},
	}}
	if err := manifold.Describe(&meta, layout, sk); err != nil {
		t.Fatal(err)
	}
	net, err := netruntime.New(meta, []netruntime.Tensor{
		{Name: "mean", Shape: []int{cols}, Data: mean}, {Name: "std", Shape: []int{cols}, Data: std},
		{Name: "encoder.weight", Shape: []int{2 * cols, cols, width}, Data: w},
		{Name: "encoder.bias", Shape: []int{2 * cols}, Data: make([]float32, 2*cols)},
		{Name: "decoder.bias", Shape: []int{cols}, Data: make([]float32, cols)},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "split.safetensors")
	if err := atomicfile.Write(path, net.Encode); err != nil {
		t.Fatal(err)
	}
	return path
}

// walkBVH writes a person with stiff legs who makes so many steps per second, the
// arms at so many degrees below the horizontal, for so many frames at 60 per
// second.
func walkBVH(t *testing.T, dir, name string, steps, arms float64, frames int) string {
	t.Helper()
	s := retarget.Human()
	c := skel.NewClip(s, 60, frames)
	const stride = 0.35 // radians to either side
	for f := range frames {
		pos, rot := c.Frame(f)
		phase := math.Pi * steps * float64(f) / 60
		swing := stride * math.Sin(phase)
		// The standing leg carries the hips over the foot at the speed of its swing.
		pos[0] = m3.V(0, float32(0.9*math.Cos(swing)+0.08), float32(0.9*2*stride/math.Pi*phase))
		rot[s.Index("LeftUpLeg")] = m3.AxisAngle(m3.V(1, 0, 0), float32(swing))
		rot[s.Index("RightUpLeg")] = m3.AxisAngle(m3.V(1, 0, 0), float32(-swing))
		// The swinging leg is bent.
		for side, up := range map[string]float64{"Left": -math.Cos(phase), "Right": math.Cos(phase)} {
			rot[s.Index(side+"Leg")] = m3.AxisAngle(m3.V(1, 0, 0), float32(0.9*max(0, up)))
		}
		rot[s.Index("LeftArm")] = m3.AxisAngle(m3.V(0, 0, 1), float32(-arms*math.Pi/180))
		rot[s.Index("RightArm")] = m3.AxisAngle(m3.V(0, 0, 1), float32(arms*math.Pi/180))
	}
	var b bytes.Buffer
	if err := mocap.WriteClip(&b, c.Scaled(100)); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, dir, name, b.String())
}

// A walk with hanging arms gets the arms of one with arms held up, keeps its
// cadence, and its feet stand.
func TestStylize(t *testing.T) {
	dir, model := t.TempDir(), writeSplit(t)
	content := walkBVH(t, dir, "content.bvh", 1.8, 80, 241)
	style, out := walkBVH(t, dir, "style.bvh", 1.5, 10, 180), filepath.Join(dir, "out.bvh")
	args := []string{"stylize", "--method", "gram", "--content", content, "--style", style, "--out", out, "--manifold", model, "--threads", "2"}
	code, text, errs := cli(append(args, "--json")...)
	if code != 0 || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var r stylizeReport
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
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
	code, text, errs = cli(args...)
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
	var less stylizeReport
	if _, text, _ = cli(append(args, "--json", "--amount", "0.01")...); json.Unmarshal([]byte(text), &less) != nil || less.GramRatio < 2*r.GramRatio {
		t.Errorf("a hundredth of the style: ratio %g, with all of it %g", less.GramRatio, r.GramRatio)
	}
}

func TestStylizeRefuses(t *testing.T) {
	dir, model := t.TempDir(), writeSplit(t)
	walk, short := walkBVH(t, dir, "walk.bvh", 1.8, 80, 60), walkBVH(t, dir, "short.bvh", 1.8, 80, 29)
	unknown := personBVH(t, dir, "unknown.bvh", func(n string) string { return "bone" + n[:2] + n[len(n)-2:] })
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
		{"method", walk, walk, "want gram or mar", 2, []string{"--method", "adain"}},
		{"amount", walk, walk, "--amount", 2, []string{"--amount", "0"}},
		{"iterations", walk, walk, "--iterations", 2, []string{"--iterations", "0"}},
		{"edit", walk, walk, "--edit", 2, []string{"--edit", "-1"}},
		{"threads", walk, walk, "--threads", 2, []string{"--threads", "0"}},
		{"an argument", walk, walk, "more", 2, []string{"more"}},
	} {
		code, text, errs := cli(append([]string{"stylize", "--manifold", model, "--content", c.content, "--style", c.style, "--out", out}, c.flags...)...)
		if code != c.code || !strings.Contains(errs, c.want) || text != "" {
			t.Errorf("%s: exit %d: %s%s", c.name, code, text, errs)
		}
	}
	if code, _, errs := cli("stylize", "--content", walk, "--style", walk); code != 2 || !strings.Contains(errs, "out") {
		t.Errorf("flags left out: exit %d: %s", code, errs)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused motion was written")
	}
}

// Feet that come down 0.5 s apart make two steps per second, whichever of their
// contacts is first.
func TestStepsPerSecond(t *testing.T) {
	l := feature.Human()
	cols := l.Columns()
	rows := make([]float32, 200*cols)
	if got := stepsPerSecond(l, rows); got != 0 {
		t.Errorf("who stands makes %g steps per second", got)
	}
	for _, back := range []float32{1, -1} { // two a second, ahead and backward
		for f := range 200 {
			row := rows[f*cols:][:cols]
			row[l.Body()+feature.MotionZ] = back
			for i, c := range l.Contacts {
				row[l.Pos(l.Joint(c.Joint))+2] = 0.3 * float32(math.Sin(2*math.Pi*float64(f)/60+math.Pi*float64(i/2)))
			}
		}
		if got := stepsPerSecond(l, rows); math.Abs(got-2) > 0.02 {
			t.Errorf("%g steps per second, want 2", got)
		}
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
		code, text, errs := cli("stylize", "--content", filepath.Join(dir, "neutral_01_000.bvh"), "--style", filepath.Join(dir, style+"_01_000.bvh"), "--out", out, "--json")
		if code != 0 {
			t.Fatalf("%s: exit %d: %s", style, code, errs)
		}
		var r stylizeReport
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: ratio %.3f, %.2f steps per second of %.2f, slides %.3f cm, bones %.2f %%, %.0f frames/s", style, r.GramRatio, r.Cadence, r.CadenceWas, r.Motion.Skate, r.Motion.Bone, r.Rate)
		if !(r.GramRatio <= 0.2) || math.Abs(r.Cadence/r.CadenceWas-1) > 0.05 || r.Motion.Skate > 0.1 || r.Motion.Bone > 1 {
			t.Errorf("%s: %+v", style, r)
		}
	}
}
