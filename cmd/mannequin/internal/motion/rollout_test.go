package motion

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
	"mannequin/netruntime"
	"mannequin/offline/mocap"
)

// writeGlider writes a model file whose network, whatever it sees, keeps the
// rest pose and moves the root at exactly 1 m/s straight ahead.
func writeGlider(t *testing.T) string {
	t.Helper()
	layout := feature.Dog()
	sk := &skel.Skeleton{
		Names:   layout.Joints,
		Parents: []int16{-1, 0, 1, 2, 3, 4, 2, 6, 7, 8, 9, 2, 11, 12, 13, 14, 0, 16, 17, 18, 0, 20, 21, 22, 0, 24, 25},
		Offsets: make([]m3.Vec3, len(layout.Joints)), EndSite: make([]bool, len(layout.Joints)),
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for j, name := range sk.Names {
		sk.EndSite[j] = strings.HasSuffix(name, "Site")
		if j > 0 {
			sk.Offsets[j] = m3.V(0.1, 0.02*rng.Float32(), 0.02)
		}
	}
	// The pose is one of the skeleton, or the controller would take it for broken.
	place := make([]m3.Vec3, len(sk.Names))
	for j, p := range sk.Parents {
		if place[j] = sk.Offsets[j]; p >= 0 {
			place[j] = place[p].Add(place[j])
		}
	}
	in, out := layout.Inputs(), layout.Outputs()
	const k, hidden = 2, 3
	gate := len(layout.Gating())
	rest := make([]float32, len(sk.Names)*feature.BoneChannels)
	for j := range sk.Names {
		copy(rest[j*feature.BoneChannels:], []float32{place[j].X, 0.4 + place[j].Y, place[j].Z, 0, 0, 1, 0, 1, 0})
	}
	rest[(len(sk.Names)-1)*feature.BoneChannels+feature.BonePos+1] = 0 // or it would hang in the air
	mean := make([]float32, out)
	copy(mean[layout.OutBone(0):], rest)
	mean[layout.OutRoot()+feature.RootZ] = 1
	for s := range feature.TrajFuture {
		mean[layout.OutSample(s)+feature.SamplePos+1] = 0.2 * float32(s)
		mean[layout.OutSample(s)+feature.SampleDir+1] = 1
		mean[layout.OutSample(s)+feature.SampleVel+1] = 1
	}
	ones := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = 1
		}
		return v
	}
	zero := func(name string, shape ...int) netruntime.Tensor {
		n := 1
		for _, s := range shape {
			n *= s
		}
		return netruntime.Tensor{Name: name, Shape: shape, Data: make([]float32, n)}
	}
	tensors := []netruntime.Tensor{
		zero("x_mean", in), {Name: "x_std", Shape: []int{in}, Data: ones(in)},
		{Name: "y_mean", Shape: []int{out}, Data: mean}, {Name: "y_std", Shape: []int{out}, Data: ones(out)},
		zero("gating.0.weight", hidden, gate), zero("gating.0.bias", hidden), zero("gating.1.weight", hidden, hidden), zero("gating.1.bias", hidden),
		zero("gating.2.weight", k, hidden), zero("gating.2.bias", k),
		zero("experts.0.weight", k, hidden, in), zero("experts.0.bias", k, hidden), zero("experts.1.weight", k, hidden, hidden),
		zero("experts.1.bias", k, hidden), zero("experts.2.weight", k, out, hidden), zero("experts.2.bias", k, out),
	}
	meta := netruntime.Meta{Name: "glider", Arch: "mann"}
	if err := mann.Describe(&meta, layout, sk, rest); err != nil {
		t.Fatal(err)
	}
	net, err := netruntime.New(meta, tensors)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "glider.safetensors")
	if err := atomicfile.Write(path, net.Encode); err != nil {
		t.Fatal(err)
	}
	return path
}

// A model that goes straight ahead at 1 m/s: the BVH is where such a model
// must be, and the report says what the geometry says.
func TestRollout(t *testing.T) {
	model := writeGlider(t)
	out := filepath.Join(t.TempDir(), "o.bvh")
	rep := testcli.Report[rolloutReport](t, mannequin, "rollout", model, "--path", "circle", "--seconds", "5", "--out", out, "--json")
	b, err := mocap.OpenBVH(out)
	if err != nil {
		t.Fatal(err)
	}
	if b.Clip.Frames != 300 || math.Abs(b.Clip.FPS-60) > 1e-3 || b.Clip.Skel.Len() != 27 {
		t.Fatalf("%d frames at %g, %d joints", b.Clip.Frames, b.Clip.FPS, b.Clip.Skel.Len())
	}
	for j, name := range feature.Dog().Joints {
		if b.Clip.Skel.Names[j] != name || b.Clip.Skel.EndSite[j] != strings.HasSuffix(name, "Site") {
			t.Errorf("joint %d is %s, want %s", j, b.Clip.Skel.Names[j], name)
		}
	}
	// It starts on the circle at +Z facing +X, which the hips, at the root,
	// leave along a tangent once the action has ramped up.
	first, last := b.Clip.Pos[0], b.Clip.Pos[299*27]
	if first.Dist(m3.V(0, 0.4, 1.5)) > 0.02 {
		t.Errorf("starts at %v", first)
	}
	if m3.Abs(last.Z-1.5) > 0.01 || last.X < 4.5 || last.X > 5 {
		t.Errorf("ends at %v", last)
	}
	if rep.Frames != 300 || rep.Path == nil || rep.Path.Name != "circle" || math.Abs(rep.Path.Length-3*math.Pi) > 0.01 {
		t.Errorf("report %+v", rep)
	}
	want := math.Hypot(float64(last.X), 1.5) - 1.5
	if math.Abs(rep.Path.Max-want) > 0.05 || rep.Path.Mean <= 0 || rep.Path.Mean >= rep.Path.Max {
		t.Errorf("distance %+v, the geometry says at most %g", rep.Path, want)
	}
	if math.Abs(rep.Travel-float64(last.X)) > 0.05 || math.Abs(rep.Speed-rep.Travel/5) > 1e-9 {
		t.Errorf("travel %g, mean speed %g", rep.Travel, rep.Speed)
	}
}

func TestRolloutWays(t *testing.T) {
	model := writeGlider(t)
	dir := t.TempDir()
	file := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	bvh := func(args ...string) []byte {
		out := filepath.Join(t.TempDir(), "o.bvh")
		code, _, stderr := mannequin(append([]string{"rollout", model, "--seconds", "1", "--out", out}, args...)...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, stderr)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for _, args := range [][]string{
		{"--path", "star"}, {"--action", "sit"}, {"--path", file("p.csv", "0,0\n0,5\n")}, {"--path", "wander", "--seed", "4"},
		{"--script", file("s.toml", "[[goal]]\nat = 0\naction = \"move\"\n[[goal]]\nat = 0.5\naction = \"sit\"\n")},
	} {
		if a, b := bvh(args...), bvh(args...); !bytes.Equal(a, b) {
			t.Errorf("%v: two runs differ", args)
		}
	}
}

func TestRolloutRefuses(t *testing.T) {
	model := writeGlider(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "o.bvh")
	broken := filepath.Join(dir, "broken.safetensors")
	data, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken, data[:len(data)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadDir(dir)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{model}, command.ExitUsage, "out"},
		{[]string{model, "--out", out, "--seconds", "0"}, command.ExitUsage, "--seconds"},
		{[]string{model, "--out", out, "--seconds", "NaN"}, command.ExitUsage, "--seconds"},
		{[]string{model, "--out", out, "--speed", "-1"}, command.ExitUsage, "--speed"},
		{[]string{model, "--out", out, "--action", "fly"}, command.ExitUsage, "idle, move"},
		{[]string{model, "--out", out, "--path", "circle", "--script", "x"}, command.ExitUsage, "exclude"},
		{[]string{model, "--out", out, "--path", "wander", "--speed", "2"}, command.ExitUsage, "choose their own"},
		{[]string{model, "--out", out, "--script", "x", "--action", "sit"}, command.ExitUsage, "choose their own"},
		{[]string{model, "--out", out, "--fly"}, command.ExitUsage, "fly"},
		{[]string{model, "--out", out, "--path", filepath.Join(dir, "none.csv")}, command.ExitFailure, "none.csv"},
		{[]string{filepath.Join(dir, "none.safetensors"), "--out", out}, command.ExitFailure, "none.safetensors"},
		{[]string{broken, "--out", out}, command.ExitFailure, "broken.safetensors"},
		{[]string{"no-such-model", "--out", out}, command.ExitFailure, "no-such-model"},
		{[]string{model, "--seconds", "1", "--out", filepath.Join(dir, "none", "o.bvh")}, command.ExitFailure, "none"},
	} {
		code, _, stderr := mannequin(append([]string{"rollout"}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit %d, %q", c.args, code, stderr)
		}
	}
	if after, _ := os.ReadDir(dir); len(after) != len(before) {
		t.Errorf("left behind: %v", after)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var e bytes.Buffer
	if code := command.Run(ctx, testcli.Root(Commands()...), []string{"rollout", model, "--out", out}, &e, &e); code != command.ExitFailure || !strings.Contains(e.String(), "interrupted") {
		t.Errorf("interrupted: exit %d, %q", code, e.String())
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("an interrupted rollout left a file")
	}
}

// A character goes at the speed that is asked for, in its own size, and scripts name what it does.
func TestRolloutOfACharacter(t *testing.T) {
	dir := t.TempDir()
	out, script := filepath.Join(dir, "o.bvh"), filepath.Join(dir, "s.toml")
	rep := testcli.Report[rolloutReport](t, mannequin, "rollout", "horse", "--speed", "1.6", "--seconds", "5", "--out", out, "--json")
	b := must.Get(mocap.OpenBVH(out))(t)
	if b.Clip.Frames != 300 || rep.Speed < 1.2 || rep.Speed > 1.7 || rep.Travel < 6 || b.Clip.Pos[299*b.Clip.Skel.Len()].Y < 0.8 {
		t.Errorf("%d frames, %.2f m/s, hips at %v", b.Clip.Frames, rep.Speed, b.Clip.Pos[299*b.Clip.Skel.Len()])
	}
	for action, want := range map[string]string{"eat": "", "fly": "no action", "sit": "goal 1: horse cannot sit"} {
		must.Do(t, os.WriteFile(script, []byte("[[goal]]\nat = 0.0\naction = \""+action+"\"\n"), 0o644))
		code, _, stderr := mannequin("rollout", "horse", "--script", script, "--seconds", "1", "--out", out)
		if (code == 0) != (want == "") || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %s", action, code, stderr)
		}
	}
	if code, _, stderr := mannequin("rollout", "hrose", "--out", out); code != command.ExitFailure || !strings.Contains(stderr, "horse") {
		t.Errorf("a character that is not: exit %d, %s", code, stderr)
	}
}

func TestRolloutStartsOnThePath(t *testing.T) {
	r := &rollout{frames: 1}
	if err := r.aim("circle", "", control.Move, 1, 0); err != nil || r.path == nil || r.agent.Start.Dist(m3.V(0, 0, 1.5)) > 1e-5 || m3.Abs(r.agent.Yaw-math.Pi/2) > 1e-3 {
		t.Errorf("the circle begins at %v with yaw %g: %v", r.agent.Start, r.agent.Yaw, err)
	}
}
