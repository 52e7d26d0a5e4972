package metrics

import (
	"math"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
	"mannequin/netruntime"
)

// A position of t³ has jerk 6, acceleration 6 t at t − 1/60, and speed 3 t² half a frame before t.
func TestRates(t *testing.T) {
	c := leg(120)
	for f := range c.Frames {
		s := float32(f) / 60
		pos, _ := c.Frame(f)
		pos[0].X = s * s * s
	}
	n := 0
	rates(c, func(joint, f int, r Rates) {
		n++
		if f < 60 {
			return // float32 has too few digits of small differences
		}
		s := float64(f) / 60
		close(t, "speed", r.Speed, 3*(s-0.5/60)*(s-0.5/60), 0.01)
		close(t, "acceleration", r.Acceleration, 6*(s-1./60), 0.05)
		close(t, "jerk", r.Jerk, 6, 4)
	})
	if n != 3*117 {
		t.Errorf("%d visits", n)
	}
	// A step of 10 cm, once: all three have it in full, the jerk twice.
	c = leg(30)
	for f := 15; f < 30; f++ {
		pos, _ := c.Frame(f)
		pos[0].Z = 0.1
	}
	var most Rates
	rates(c, func(_, _ int, r Rates) { most.most(r) })
	close(t, "speed", most.Speed, 6, 1e-3)
	close(t, "acceleration", most.Acceleration, 360, 0.1)
	close(t, "jerk", most.Jerk, 2*0.1*216000, 10)
	close(t, "over", most.Over(Rates{2, 2, 2}).Speed, 3, 1e-3)
}

// The slider's stiff pose never jumps: in a change it only slides on.
func TestTransitions(t *testing.T) {
	m := slider(t, 1)
	r := &Rollout{Model: m, Workers: 1}
	got := must.Get(Transitions(r, Modes(r)[:4]))(t)
	if len(got) != 12 || got[0].From != "idle" || got[0].To != "walk" {
		t.Fatalf("%d changes, the first %+v", len(got), got[0])
	}
	for _, c := range got {
		close(t, "speed", c.Raw.Speed, 1, 0.3)
		// Its start is as sudden as the feet that it was given.
		if limit := 1000.0; c.Raw.Jerk > limit || c.From != "idle" && c.Raw.Jerk > limit/4 {
			t.Errorf("%+v", c)
		}
		if c.From == "idle" && (c.Second < -0.1 || c.Second > 0.5) {
			t.Errorf("from idle it starts after %g s", c.Second)
		}
	}
	if names := len(Modes(&Rollout{Model: testdog.Model(t)})); names != 12 {
		t.Errorf("%d modes", names)
	}
}

func TestQuantile(t *testing.T) {
	v := []float64{5, 1, 4, 2, 3}
	for q, want := range map[float64]float64{0: 1, 0.5: 3, 0.74: 4, 1: 5} {
		if got := Quantile(v, q); got != want {
			t.Errorf("%g: %g", q, got)
		}
	}
	if !math.IsNaN(Quantile(nil, 0.5)) {
		t.Error("no values have a quantile")
	}
}

// Poses are seen from the root, without place and heading. One joint of three off by d counts d/√3.
func TestPoseGap(t *testing.T) {
	c := leg(2)
	model, a, b := make([]m3.Xform, 3), make([]m3.Vec3, 3), make([]m3.Vec3, 3)
	pos, _ := c.Frame(0)
	pos[1].Z = 0.3
	pos, rot := c.Frame(1)
	pos[0].X, pos[0].Z, pos[1].Z = 4, -2, 0.3
	rot[0] = m3.YawQuat(2)
	posePlace(a, model, c, 0, 1)
	posePlace(b, model, c, 1, 1)
	close(t, "elsewhere", poseGap(a, b), 0, 1e-6)
	b[2].Y += 0.3
	close(t, "one joint", poseGap(a, b), 0.3/math.Sqrt(3), 1e-6)
	gaps := []float64{0.3, 0.1, 0.2, 0.1, 0, 0.1}
	for stay, want := range map[int]float64{1: 1. / 60, 2: 3. / 60, 3: 3. / 60} {
		if s := reached(gaps, 0.1, stay); s == nil || *s != want {
			t.Errorf("reached for %d: %v", stay, s)
		}
	}
	if reached(gaps, 0.1, 4) != nil || reached(gaps, -1, 1) != nil {
		t.Error("reached what is far off")
	}
}

// Recorded poses of an action are closer to each other than to an idle dog.
func TestActionPoses(t *testing.T) {
	train, held := recordings(t)
	poses := must.Get(ActionPoses(train, held))(t)
	idle := poses[control.Idle]
	for _, a := range []control.Action{control.Sit, control.Lie, control.Stand, control.Jump} {
		p := poses[a]
		if p == nil || p.Frames < 30 {
			t.Fatalf("%v: %+v", a, p)
		}
		least := math.Inf(1)
		for i := 0; i < idle.Frames; i += 64 {
			least = min(least, p.gap(idle.at(i)))
		}
		t.Logf("%v: %d poses, spread %.3f m, idle dogs %.3f m away", a, p.Frames, p.Spread, least)
		if !(p.Spread < 0.1 && least > 2*p.Spread && least > 0.02) {
			t.Errorf("%v: spread %.3f m, idle dogs are %.3f m away", a, p.Spread, least)
		}
		for i := 0; i < p.Frames; i += 100 {
			if p.gap(p.at(i)) != 0 {
				t.Errorf("%v: a recorded pose is not its own", a)
			}
		}
	}
	rates := RecordedRates(train, held)
	t.Logf("%+v", rates)
	if !(rates.Speed > 4 && rates.Speed < 9 && rates.Jerk > 3000 && rates.Jerk < 12000) {
		t.Errorf("rates %+v", rates)
	}
}

// Removing an expert of zeros changes nothing. Without experts only normalisation is left.
func TestWithout(t *testing.T) {
	net := testdog.Net(t)
	tensors := net.Tensors()
	for _, x := range tensors {
		if strings.HasPrefix(x.Name, "experts.") {
			clear(x.Data[len(x.Data)/4 : len(x.Data)/2])
		}
	}
	lame := must.Get(netruntime.New(net.Meta(), tensors))(t)
	run := func(net *netruntime.Net) []float32 {
		s := must.Get(net.NewSession(netruntime.SessionOptions{Batch: 1, Workers: 1}))(t)
		defer s.Close()
		x, y := make([]float32, net.Inputs()), make([]float32, net.Outputs())
		for i := range x {
			x[i] = float32(i%7) / 10
		}
		must.Do(t, s.Run(y, x, 1))
		return y
	}
	off := func(a, b []float32) (most float64) {
		for i := range a {
			most = max(most, math.Abs(float64(a[i]-b[i])))
		}
		return most
	}
	if Experts(net) != 4 {
		t.Fatalf("%d experts", Experts(net))
	}
	for k := range 4 {
		less := must.Get(Without(net, k))(t)
		if d := off(run(less), run(lame)); (d == 0) != (k == 1) {
			t.Errorf("without expert %d: %g off", k, d)
		}
	}
	none := net
	for k := range 4 {
		none = must.Get(Without(none, k))(t)
	}
	mean, _ := net.Tensor("y_mean")
	if d := off(run(none), mean.Data); d > 1e-6 {
		t.Errorf("without any expert: %g off the mean", d)
	}
	for _, k := range []int{-1, 4} {
		if _, err := Without(net, k); err == nil {
			t.Errorf("expert %d was switched off", k)
		}
	}
}

// The slider moves ahead when asked to move back, and does not turn.
func TestWays(t *testing.T) {
	got := must.Get(Ways(&Rollout{Model: slider(t, 0.3), Workers: 1}))(t)
	want := []Way{{Name: "back", Asked: 0.3, Does: -0.3}, {Name: "aside, left", Asked: 0.4}, {Name: "aside, right", Asked: 0.4},
		{Name: "turn in place, left", Asked: 60}, {Name: "turn in place, right", Asked: 60}}
	for i, w := range got {
		if w.Name != want[i].Name {
			t.Errorf("%s, want %s", w.Name, want[i].Name)
		}
		close(t, w.Name+" asked", w.Asked, want[i].Asked, 1e-4)
		close(t, w.Name, w.Does, want[i].Does, 0.02)
		close(t, w.Name+" skate", w.Raw.Skate, 30./60/2, 0.01)
		if w.Raw.Frames != 5*mann.Rate-1 || w.Shown.Frames != w.Raw.Frames {
			t.Errorf("%d frames", w.Raw.Frames)
		}
	}
	close(t, "off", got[0].Off(), 2, 0.1)
}

// The time to a pose counts from the command, for a jump from take-off. The slider holds one pose.
func TestLatencies(t *testing.T) {
	m := slider(t, 0)
	take := must.Get((&Rollout{Model: m, Workers: 1}).Run([]Agent{{Goal: sequence()}}, 2))(t)
	n := m.Skel.Len()
	model, pose := make([]m3.Xform, n), make([]m3.Vec3, n)
	posePlace(pose, model, take[0].Shown, 1, m.Skel.Index("Neck"))
	high := make([]m3.Vec3, n)
	for j, p := range pose {
		high[j] = p.Add(m3.V(0, 0.2, 0))
	}
	as := func(a control.Action, pose []m3.Vec3) *Poses {
		return &Poses{Action: a, Spread: 0.05, joints: n, pos: pose, clip: []int32{0}}
	}
	got := must.Get(Latencies(&Rollout{Model: m, Workers: 1}, [control.NumActions]*Poses{
		control.Idle: as(control.Idle, pose), control.Sit: as(control.Sit, pose), control.Lie: as(control.Lie, high), control.Jump: {Action: control.Jump}}))(t)
	if len(got) != 6 {
		t.Fatalf("%d latencies", len(got))
	}
	for _, l := range got {
		if (l.Pose != nil) != (l.Action == "sit") || l.Pose != nil && *l.Pose != 0 || l.Back == nil || *l.Back != 0 {
			t.Errorf("%+v: pose %v, back %v", l, l.Pose, l.Back)
		}
		if l.Weight == nil || *l.Weight < 0.2 || *l.Weight > 0.6 {
			t.Errorf("%+v: weight %v", l, l.Weight)
		}
		if l.Action == "lie" {
			close(t, "gap", l.Begin, 0.2, 0.03)
			close(t, "least gap", l.Least, 0.2, 0.03)
		}
	}
}

// The slider can only move ahead, for any goal.
func TestAbilities(t *testing.T) {
	got := must.Get(Abilities(&Rollout{Model: slider(t, 1), Workers: 1}, [control.NumActions]*Poses{}))(t)
	want := map[string]float64{"walk": 1, "pace": 1, "trot": 1, "canter": 1, "back": 0, "aside": 0, "limbs": 0, "left": 0, "right": 0, "jump": 0}
	for _, a := range got {
		w, ok := want[a.Name]
		if !ok {
			t.Errorf("%+v", a)
		}
		close(t, a.Name, a.Value, w, 0.02)
		delete(want, a.Name)
	}
	if len(want) > 0 {
		t.Errorf("not measured: %v", want)
	}
	// One that turns left by 30° a second can do that, and not turn right.
	tensors := slider(t, 1).Net.Tensors()
	for _, x := range tensors {
		if x.Name == "y_mean" {
			x.Data[len(x.Data)-feature.RootLen+feature.RootYaw] = 30
		}
	}
	net := must.Get(netruntime.New(slider(t, 1).Net.Meta(), tensors))(t)
	m := must.Get(mann.NewModel(net))(t)
	got = must.Get(Abilities(&Rollout{Model: m, Workers: 1}, [control.NumActions]*Poses{}))(t)
	for _, a := range got {
		switch a.Name {
		case "left":
			close(t, a.Name, a.Value, 30, 1)
		case "right":
			close(t, a.Name, a.Value, 0, 0)
		}
	}
	var roots []m3.Xform
	for f := range ableEnd + 1 {
		roots = append(roots, m3.Xform{Rot: m3.YawQuat(float32(f) / mann.Rate)})
	}
	close(t, "turn", turnRate(roots), 180/math.Pi, 0.1)
}
