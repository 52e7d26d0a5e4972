package metrics

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
	"mannequin/netruntime"
)

// slider is a network whose weights are all zero. For any goal it predicts one stiff pose, forward
// m/s ahead. Its front paws are on the ground, its back paws 5 cm above.
func slider(t *testing.T, forward float32) *mann.Model {
	t.Helper()
	m := feature.Dog()
	sk := &skel.Skeleton{
		Names: m.Joints, Parents: []int16{-1, 0, 1, 2, 3, 4, 2, 6, 7, 8, 9, 2, 11, 12, 13, 14, 0, 16, 17, 18, 0, 20, 21, 22, 0, 24, 25},
		Offsets: make([]m3.Vec3, len(m.Joints)), EndSite: make([]bool, len(m.Joints)),
	}
	for j, name := range sk.Names {
		sk.EndSite[j] = strings.HasSuffix(name, "Site")
		switch {
		case strings.HasSuffix(name, "HandSite"):
			sk.Offsets[j].Y = -0.5
		case strings.HasSuffix(name, "FootSite"):
			sk.Offsets[j].Y = -0.45
		case j > 0:
			sk.Offsets[j].Z = 0.01
		}
	}
	model, pos, rot := make([]m3.Xform, sk.Len()), slices.Clone(sk.Offsets), make([]m3.Quat, sk.Len())
	pos[0].Y = 0.5
	for j := range rot {
		rot[j] = m3.Ident
	}
	sk.LocalToModel(model, pos, rot)
	rest := make([]float32, len(m.Joints)*feature.BoneChannels)
	y := make([]float32, m.Outputs())
	for j, x := range model {
		copy(rest[j*feature.BoneChannels:], []float32{x.Pos.X, x.Pos.Y, x.Pos.Z, 0, 0, 1, 0, 1, 0, 0, 0, forward})
		copy(y[m.OutBone(j):], rest[j*feature.BoneChannels:][:feature.BoneChannels])
		// A bone is a frame's way ahead of the old root.
		y[m.OutBone(j)+2] += forward / mann.Rate
	}
	for s := range feature.TrajFuture {
		copy(y[m.OutSample(s):], []float32{0, forward * float32(s) / 5, 0, 1, 0, forward})
	}
	y[m.OutRoot()+feature.RootZ] = forward
	in, out, g := m.Inputs(), m.Outputs(), len(m.Gating())
	zeros := func(name string, shape ...int) netruntime.Tensor {
		n := 1
		for _, d := range shape {
			n *= d
		}
		return netruntime.Tensor{Name: name, Shape: shape, Data: make([]float32, n)}
	}
	ones := func(name string, n int) netruntime.Tensor {
		return netruntime.Tensor{Name: name, Shape: []int{n}, Data: slices.Repeat([]float32{1}, n)}
	}
	const k, h, gh = 2, 4, 4
	meta := netruntime.Meta{Name: "slider", Arch: "mann"}
	must.Do(t, mann.Describe(&meta, m, sk, rest))
	net, err := netruntime.New(meta, []netruntime.Tensor{
		zeros("x_mean", in), ones("x_std", in), {Name: "y_mean", Shape: []int{out}, Data: y}, ones("y_std", out),
		zeros("gating.0.weight", gh, g), zeros("gating.0.bias", gh), zeros("gating.1.weight", gh, gh), zeros("gating.1.bias", gh),
		zeros("gating.2.weight", k, gh), zeros("gating.2.bias", k),
		zeros("experts.0.weight", k, h, in), zeros("experts.0.bias", k, h), zeros("experts.1.weight", k, h, h), zeros("experts.1.bias", k, h),
		zeros("experts.2.weight", k, out, h), zeros("experts.2.bias", k, out),
	})
	if err != nil {
		t.Fatal(err)
	}
	return must.Get(mann.NewModel(net))(t)
}

func TestGenerated(t *testing.T) {
	late := sequence(step{3, ahead(1)})
	if late(2, m3.Xform{}) != (control.Goal{}) || late(3, m3.Xform{}) != ahead(1) {
		t.Error("does not stand first")
	}
	gaits := Gaits()
	r := &Rollout{Model: slider(t, 1), Workers: 1}
	got := must.Get(Generated(r, gaits, 2))(t)
	for i, g := range gaits {
		m := got[i].Raw
		if want := len(g.Goals) * 119; m.Frames != want || got[i].Shown.Frames != want || r.Restored != 0 || len(got[i].Takes) != len(g.Goals) {
			t.Errorf("%s: %d frames, want %d; restored %d times", g.Name, m.Frames, want, r.Restored)
		}
		want := 0.0
		if g.Name == "pace" {
			want = 1 // that is what 1 m/s is
		}
		close(t, g.Name+"'s share", got[i].InGait, want, 0)
		// At 1 m/s all paws go 100/60 cm a frame; the front ones count in full,
		// the back ones not at all. (Idle's last trace slows the root a little.)
		close(t, g.Name+" skate", m.Skate, 100./60/2, 0.02)
		close(t, g.Name+" back skate", m.BackSkate, 0, 1e-6)
		close(t, g.Name+" speed", m.Speed, 1, 0.02)
		close(t, g.Name+" stiffness", m.Stiffness, 0, 0.02)
	}
}

// The slider leaves every path along its first tangent: on the circle of 1.5 m
// its distance after t metres is √(1.5² + t²) − 1.5, its angle atan(t / 1.5).
func TestFollowing(t *testing.T) {
	line := must.Get(control.NewPath([]m3.Vec3{{Z: -1}, {X: 0.2, Z: 1}, {Z: 2}}, false))(t)
	got := must.Get(Following(&Rollout{Model: slider(t, 1), Workers: 1}, []*control.Path{must.Get(control.Circle(1.5))(t), line}, 1, 2))(t)
	const n, r = 1000, 1.5
	var dist, angle float64
	for i := range n {
		way := 2 * (float64(i) + 0.5) / n
		dist += 100 * (math.Hypot(r, way) - r) / n
		angle += math.Atan2(way, r) * 180 / math.Pi / n
	}
	// The root starts from rest, so it is a little behind.
	close(t, "circle distance", got[0].DistanceCM, dist, 0.15*dist)
	close(t, "circle angle", got[0].AngleDeg, angle, 0.15*angle)
	close(t, "speed", got[0].Speed, 0.9, 0.1) // from a stand
	close(t, "set off", *got[0].SetOff, 0.4, 0.15)
	if got[1].DistanceCM < 1 || got[1].DistanceCM > 20 {
		t.Errorf("open path: %+v", got[1])
	}
}

// A standing dog does not follow a path.
func TestFollowingNothing(t *testing.T) {
	got := must.Get(Following(&Rollout{Model: slider(t, 0), Workers: 1}, []*control.Path{must.Get(control.Circle(1.5))(t)}, 1, 2))(t)
	close(t, "speed", got[0].Speed, 0, 1e-3)
	if got[0].SetOff != nil {
		t.Errorf("sets off after %g s", *got[0].SetOff)
	}
}

// Before the start and after the arrival only time counts. The distance counts while the dog moves.
func TestFollowed(t *testing.T) {
	line := must.Get(control.NewPath([]m3.Vec3{{}, {Z: 3}}, false))(t)
	take := Take{Raw: leg(400), Roots: make([]m3.Xform, 400)}
	for f := range take.Roots {
		x, z := float32(0), float32(0)
		if f >= 120 { // after two seconds, at 1 m/s
			x, z = 0.1, min(float32(f-120)/60, 3)
		}
		pos, _ := take.Raw.Frame(f)
		pos[0] = m3.V(x, 0.5, z)
		take.Roots[f] = m3.Xform{Pos: m3.V(x, 0, z), Rot: m3.Ident}
	}
	got := followed(line, take, 1)
	close(t, "distance", got.DistanceCM, 10, 0.5) // a tenth of a second before it sets off is part of going
	close(t, "speed", got.Speed, 2.7/4.7, 0.03)
	close(t, "set off", *got.SetOff, 2+0.24, 0.03)
}

// Standing at the end of an open path does not count.
func TestArrival(t *testing.T) {
	line := must.Get(control.NewPath([]m3.Vec3{{}, {Z: 4}}, false))(t)
	pos := make([]m3.Vec3, 100)
	for f := range pos {
		pos[f] = m3.V(0.1, 0, min(0.1*float32(f), 4))
	}
	if n := arrival(line, pos); n != 38 { // 3.8 m is the first beyond 3.7
		t.Errorf("arrives after %d frames", n)
	}
	if n := arrival(must.Get(control.Circle(1))(t), pos); n != len(pos) {
		t.Errorf("arrives on a circle after %d frames", n)
	}
}

func TestPaperPathsBest(t *testing.T) {
	want := []Follow{{DistanceCM: 1.96, AngleDeg: 1.70}, {DistanceCM: 3.72, AngleDeg: 3.78}, {DistanceCM: 6.61, AngleDeg: 8.76}, {DistanceCM: 5.31, AngleDeg: 6.75}}
	for i, p := range PaperPaths() {
		if p.Best() != want[i] {
			t.Errorf("%s: %+v", p.Name, p.Best())
		}
		if _, err := control.Builtin(p.Name); err != nil {
			t.Error(err)
		}
	}
}

// A network out of all bounds is restored in every tick, and nothing of it reaches the clips.
func TestRestoredIsCounted(t *testing.T) {
	r := &Rollout{Model: slider(t, 1e6), Workers: 1}
	made := must.Get(Generated(r, Gaits()[:1], 1))(t)
	if r.Restored < 60 {
		t.Errorf("restored %d times", r.Restored)
	}
	close(t, "speed", made[0].Raw.Speed, 0, 1e-3)
}

// An agent shows the same bits alone and in a crowd, for any number of workers. A rollout ends when
// its hook returns an error.
func TestRolloutIsDeterministic(t *testing.T) {
	m := testdog.Model(t)
	var agents []Agent
	for i := range 9 {
		agents = append(agents, Agent{Start: m3.V(float32(i), 0, 1), Yaw: float32(i), Goal: sequence(step{0, ahead(float32(i) / 3)})})
	}
	all := must.Get((&Rollout{Model: m, Workers: 3}).Run(agents, 40))(t)
	one := must.Get((&Rollout{Model: m, Workers: 1}).Run(agents[7:8], 40))(t)
	a, b := all[7], one[0]
	if !slices.Equal(a.Raw.Pos, b.Raw.Pos) || !slices.Equal(a.Shown.Rot, b.Shown.Rot) || !slices.Equal(a.Roots, b.Roots) ||
		!slices.Equal(a.Weights, b.Weights) || !slices.Equal(a.Gating, b.Gating) || a.Experts != 4 {
		t.Error("an agent differs among others")
	}
	var sum float32
	for _, w := range a.Gating[39*4:] {
		sum += w
	}
	close(t, "gating sum", float64(sum), 1, 1e-5)
	stop := errors.New("enough")
	n := 0
	r := Rollout{Model: m, Workers: 1, Tick: func(rows int) error {
		if n += rows; n > 18 {
			return stop
		}
		return nil
	}}
	if _, err := r.Run(agents, 40); !errors.Is(err, stop) || n != 27 {
		t.Errorf("%v after %d", err, n)
	}
}

func TestSpeedsHeld(t *testing.T) {
	r := &Rollout{Model: slider(t, 1), Workers: 1}
	got := must.Get(SpeedsHeld(r))(t)
	made := must.Get(Generated(r, Gaits()[:1], 2))(t)
	if len(got) != 16 {
		t.Fatalf("%d commands", len(got))
	}
	for _, s := range got {
		close(t, "speed", s.Speed, 1, 0.01)
		close(t, "shown skate", s.Skate, made[0].Shown.Skate, 0.01) // raw it is 0.1 more
		if s.Gait != "none" {
			t.Errorf("a stiff pose is a %s", s.Gait)
		}
		close(t, "off", s.Off(), math.Abs(1/s.Command-1), 0.02/s.Command)
	}
	got = must.Get(SpeedsHeld(&Rollout{Model: slider(t, -1), Workers: 1}))(t)
	for _, s := range got {
		close(t, "backward", s.Speed, -1, 0.01)
	}
}
