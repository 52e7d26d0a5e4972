package mann

import (
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// strided returns a batch of beetles that can go by 1, 2 or 4 ticks at a time.
func strided(t *testing.T, rows int) *Batch {
	t.Helper()
	near := beetleModel()
	b := NewBatch(near, rows)
	for _, s := range []int{2, 4} {
		if err := b.AddStride(beetleStride(s)); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func beetleStride(stride int) *Model {
	m := beetleModel()
	layout := *m.Layout
	layout.Stride = stride
	m.Layout = &layout
	return m
}

// steady stands in for a network that goes on evenly whatever it sees.
func steady(m *Model, y []float32) {
	l := m.Layout
	clear(y)
	for s := range feature.TrajFuture {
		y[l.OutSample(s)+feature.SamplePos+1] = 0.2 * float32(s)
		y[l.OutSample(s)+feature.SampleDir+1] = 1
		y[l.OutSample(s)+feature.SampleVel+1] = 1
	}
	copy(y[l.OutBone(0):], m.rest)
	for j := range l.Joints {
		y[l.OutBone(j)+feature.BoneVel+2] = 1
	}
	y[l.OutRoot()+feature.RootZ], y[l.OutRoot()+feature.RootYaw] = 1, 20
}

// Rows that go by longer strides, or change between them, come where those come that go tick by
// tick, with the same past, action and pose.
func TestStrides(t *testing.T) {
	plans := map[string][]int{"2": {2}, "4": {4}, "changing": {4, 2, 2, 1, 1, 1, 1, 4}}
	goal := control.Goal{Move: m3.V(0, 0, 1), Speed: 1, Turn: 0.3}
	const ticks = 192
	run := func(plan []int) *Batch {
		b := strided(t, 1)
		y := make([]float32, b.Model.Layout.Outputs())
		for done, i := 0, 0; done < ticks; i++ {
			s := plan[i%len(plan)]
			b.SetStride(0, s)
			b.Plan([]control.Goal{goal}, 0, 1)
			steady(b.Model, y)
			b.Scatter(y, 0, 1)
			done += s
		}
		return b
	}
	want := run([]int{1})
	for name, plan := range plans {
		got := run(plan)
		if n := got.Restored(0); n > 0 {
			t.Errorf("%s: put back %d times", name, n)
		}
		a, b := got.Root(0), want.Root(0)
		// What differs is the start: weights go over to moving step by step.
		if d := a.Pos.Dist(b.Pos); d > 0.05 {
			t.Errorf("%s: the root is %g m beside", name, d)
		}
		if d := a.Rot.Yaw() - b.Rot.Yaw(); m3.Abs(d) > 0.03 {
			t.Errorf("%s: the root faces %g rad aside", name, d)
		}
		if v := got.Velocity(0).Len(); m3.Abs(v-1) > 1e-3 {
			t.Errorf("%s: it goes at %g m/s, want 1", name, v)
		}
		if w := got.Weight(0, control.Move); w < 0.999 {
			t.Errorf("%s: the weight of moving is %g", name, w)
		}
		var p [points]m3.Vec3
		got.Trajectory(0, p[:])
		for i := 1; i <= now; i++ { // the past second, evenly
			if d := p[i].Dist(p[i-1]); m3.Abs(d-1./Rate) > 1e-3/Rate*10 {
				t.Fatalf("%s: point %d of the past is %g m from the one before, want %g", name, i, d, 1./Rate)
			}
		}
	}
}

// Half a second of a row of a stride looks into the past as far as that of any other.
func TestStrideSeesItsOwnPast(t *testing.T) {
	b := strided(t, 1)
	l := b.Model.Layout
	x, y := make([]float32, l.Inputs()), make([]float32, l.Outputs())
	goal := control.Goal{Move: m3.V(0, 0, 1), Speed: 1}
	for range 90 {
		b.Plan([]control.Goal{goal}, 0, 1)
		steady(b.Model, y)
		y[l.OutRoot()+feature.RootYaw] = 0
		b.Scatter(y, 0, 1)
	}
	for _, s := range []int{1, 2, 4} {
		b.SetStride(0, s)
		b.Gather(x, 0, 1)
		// Joint 0 was put at 1/60 m before the present root, and is seen from s/60 before it.
		if got, want := x[l.InBone(0)+feature.BonePos+2], float32(s-1)/Rate; m3.Abs(got-want) > 2e-3 {
			t.Errorf("stride %d: joint 0 is seen %g m ahead, want %g", s, got, want)
		}
		if got := x[l.InSample(0)+feature.SamplePos+1]; m3.Abs(got+1) > 0.05 {
			t.Errorf("stride %d: a second ago is %g m behind", s, -got)
		}
	}
}

func TestAddStride(t *testing.T) {
	b := strided(t, 1)
	if err := b.AddStride(beetleStride(2)); err == nil || !strings.Contains(err.Error(), "stride 2 already") {
		t.Errorf("a second model of a stride: %v", err)
	}
	other := beetleStride(3)
	layout := *other.Layout
	layout.Phases, other.Layout = false, &layout
	if err := b.AddStride(other); err == nil || !strings.Contains(err.Error(), "other columns") {
		t.Errorf("a model of other columns: %v", err)
	}
	if b.HasStride(3) || b.HasStride(0) || b.HasStride(9) || !b.HasStride(1) || !b.HasStride(4) {
		t.Error("it has other strides than were added")
	}
}
