package metrics

import (
	"math"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/animsys/manifold"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// strolling returns frames of a person at rest, moved ahead at speed m/s, turned by yaw rad/s.
func strolling(m *manifold.Model, frames int, speed, yaw float32) []float32 {
	rows := atRest(m, frames)
	for f := range frames {
		body := rows[f*m.Layout.Columns()+m.Layout.Body():]
		body[feature.MotionZ], body[feature.MotionYaw] = speed, yaw
	}
	return rows
}

func TestMeasureSparse(t *testing.T) {
	m := plain(t)
	l, cols := m.Layout, m.Layout.Columns()
	const frames, every = 661, 30
	rec := strolling(m, frames, 1, 0)
	measure := func(made []float32) Sparse {
		s := must.Get(MeasureSparse(l, made, rec, every))(t)
		if s.Frames != frames || s.Drift10.Stretches != 3 || s.Drift2.Stretches != 19 { // that begin with frames 0, 30 and 60; … 540
			t.Fatalf("%d frames, %d stretches of ten seconds and %d of two", s.Frames, s.Drift10.Stretches, s.Drift2.Stretches)
		}
		return s
	}
	if s := measure(rec); s != (Sparse{Frames: frames, Speed: 1, Drift2: Drift{Stretches: 19}, Drift10: Drift{Stretches: 3}}) {
		t.Errorf("a recording differs from itself: %+v", s)
	}

	// Too slow: a tenth of the way is missing.
	s := measure(strolling(m, frames, 0.9, 0))
	close(t, "the way's share", s.Speed, 0.9, 1e-3)
	close(t, "drift", s.Drift10.Distance, 100, 0.1)
	close(t, "drift in two seconds", s.Drift2.Distance, 20, 0.1)
	close(t, "turn", s.Drift10.Turn, 0, 1e-3)
	close(t, "distance in the body's frame", s.Body+s.Key, 0, 1e-6)
	close(t, "distance in the world", s.World, 100*0.1*float64(frames-1)/60/2, 0.1) // on the average half of the last
	close(t, "distance of poses in the world", s.At, 100*0.1*float64(frames-1)/60/2, 0.1)

	// Turning by 0.01 rad/s: a chord of a circle of 100 m.
	s = measure(strolling(m, frames, 1, 0.01))
	close(t, "turn", s.Drift10.Turn, 0.1*180/math.Pi, 1e-2)
	close(t, "turn in two seconds", s.Drift2.Turn, 0.02*180/math.Pi, 1e-2)
	close(t, "drift", s.Drift10.Distance, 100*math.Hypot(10-100*math.Sin(0.1), 100*(1-math.Cos(0.1))), 0.1)
	close(t, "the way's share", s.Speed, 1, 1e-3)

	// Every joint 3 cm too high between the poses, 1 cm in them.
	made := strolling(m, frames, 1, 0)
	for f := range frames {
		up := float32(0.03)
		if f%every == 0 {
			up = 0.01
		}
		for j := range l.Joints {
			made[f*cols+l.Pos(j)+1] += up
		}
	}
	s = measure(made)
	close(t, "distance between the poses", s.Body, 3, 1e-3)
	close(t, "distance in the poses", s.Key, 1, 1e-3)
	close(t, "distance between them in the world", s.World, 3, 1e-3)
	close(t, "distance in them in the world", s.At, 1, 1e-3)

	if _, err := MeasureSparse(l, made[cols:], rec, every); err == nil {
		t.Error("motions of different lengths: no error")
	}
	if s, err := MeasureSparse(l, rec[:600*cols], rec[:600*cols], every); err != nil || s.Drift10.Stretches != 0 {
		t.Errorf("ten seconds less a frame: %+v, %v", s, err)
	}
}

func TestMeanSparse(t *testing.T) {
	got := MeanSparse([]Sparse{{Frames: 100, Body: 1, World: 2, Key: 3, At: 4, Speed: 1, Drift2: Drift{6, 1, 2}},
		{Frames: 300, Body: 5, World: 6, Key: 7, At: 8, Speed: 0.2, Drift2: Drift{2, 5, 6}, Drift10: Drift{2, 9, 10}}})
	want := Sparse{Frames: 400, Body: 4, World: 5, Key: 6, At: 7, Speed: 0.4, Drift2: Drift{8, 2, 3}, Drift10: Drift{2, 9, 10}}
	if got != want {
		t.Errorf("mean %+v, want %+v", got, want)
	}
	if MeanSparse(nil) != (Sparse{}) {
		t.Error("the mean of nothing is something")
	}
}

// Even changes lose nothing between poses. The frames after the last pose are left out.
func TestBetweenSparse(t *testing.T) {
	m := plain(t)
	cols := m.Layout.Columns()
	rec := make([]float32, 70*cols)
	for i := range rec {
		rec[i] = float32(i/cols) * float32(i%cols-30) / 64
	}
	made, part := must.Get2(BetweenSparse(m.Layout, rec, 30))(t)
	if len(part) != 61*cols || len(made) != len(part) {
		t.Fatalf("%d and %d values", len(made), len(part))
	}
	for i, v := range made {
		if math.Abs(float64(v-rec[i])) > 1e-4 {
			t.Fatalf("frame %d, column %d is %g, want %g", i/cols, i%cols, v, rec[i])
		}
	}
	if _, _, err := BetweenSparse(m.Layout, rec[:30*cols], 30); err == nil {
		t.Error("a recording of one pose: no error")
	}
}

// A network that returns poses unchanged shows that it gets the recording's poses.
func TestFromSparse(t *testing.T) {
	m := plain(t)
	cols := m.Layout.Columns()
	w, x4 := make([]float32, cols*cols), make([]float32, cols*cols)
	for i := range cols {
		w[i*cols+i], x4[i*cols+i] = 1, 4 // a quarter is in each of four frames
	}
	meta := netruntime.Meta{Name: "steps", Arch: "graph", Graph: &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: "x", Channels: cols}},
		Nodes: []netruntime.Node{
			{Name: "a", Op: netruntime.OpDense, In: []string{"x"}},
			{Name: "spread", Op: netruntime.OpDepool, In: []string{"a"}, Factor: 4},
			{Name: "y", Op: netruntime.OpDense, In: []string{"spread"}},
		},
		Outputs: []string{"y"},
	}}
	must.Do(t, keypose.DescribeSparseModel(&meta, m.Layout, m.Skel, keypose.Segments{Poses: 3, Every: 4}))
	zero := make([]float32, cols)
	file, err := netruntime.New(meta, []netruntime.Tensor{
		{Name: "a.weight", Shape: []int{cols, cols}, Data: w}, {Name: "a.bias", Shape: []int{cols}, Data: zero},
		{Name: "y.weight", Shape: []int{cols, cols}, Data: x4}, {Name: "y.bias", Shape: []int{cols}, Data: zero},
	})
	if err != nil {
		t.Fatal(err)
	}
	net := must.Get(keypose.NewSparseModel(file))(t)
	maker := must.Get(net.NewInbetweener(keypose.InbetweenerOptions{}))(t)
	defer maker.Close()
	rec := make([]float32, 24*cols)
	for i := range rec {
		rec[i] = float32(i / cols)
	}
	made, part := must.Get2(FromSparse(net, maker, rec))(t)
	if len(part) != 21*cols || len(made) != len(part) {
		t.Fatalf("%d and %d values", len(made), len(part))
	}
	for i, v := range made {
		if want := float32((i/cols + 2) / 4 * 4); math.Abs(float64(v-want)) > 1e-5 {
			t.Fatalf("frame %d is %g, want the pose of frame %g", i/cols, v, want)
		}
	}
	if _, _, err := FromSparse(net, maker, rec[:4*cols]); err == nil {
		t.Error("a recording of one pose: no error")
	}
}

// A motion with a wrong course and arms meets the poses and their places, and moves as before.
func TestCorrectSparse(t *testing.T) {
	m := plain(t)
	l, cols := m.Layout, m.Layout.Columns()
	const frames, every = 121, 30
	rec := strolling(m, frames, 1.2, 0.3)
	made := strolling(m, frames, 1, -0.2)
	hand := l.Pos(l.Joint("LeftHand"))
	for f := range frames {
		made[f*cols+hand] -= 0.05
	}
	before := must.Get(MeasureSparse(l, made, rec, every))(t)
	fixed := must.Get(CorrectSparse(m, made, rec, every, 30, 1))(t)
	after := must.Get(MeasureSparse(l, fixed, rec, every))(t)
	if len(fixed) != len(made) || !(after.At < 0.5) || !(before.At > 10) {
		t.Errorf("poses are missed by %g cm in the world, %g before", after.At, before.At)
	}
	if !(after.Key < 0.5*before.Key) || !(after.World < 0.1*before.World) {
		t.Errorf("%+v, before %+v", after, before)
	}
	went, goes := courseOf(l, fixed), courseOf(l, rec)
	for f := 0; f < frames; f += every {
		close(t, "distance from the pose's place", float64(went[f].Pos.Dist(goes[f].Pos)), 0, 1e-3)
		close(t, "turn from the pose's", float64(went[f].Yaw-goes[f].Yaw), 0, 1e-3)
	}
	// No jump where one stretch ends and the next begins: there it goes as it did.
	for f := range frames - 1 {
		step := 60 * float64(went[f].Pos.Dist(went[f+1].Pos))
		if step < 0.7 || step > 1.6 || f%every == 0 && math.Abs(step-1) > 0.06 {
			t.Fatalf("frame %d goes at %g m/s, made to go at 1, recorded at 1.2", f, step)
		}
	}
	if _, err := CorrectSparse(m, made[cols:], rec, every, 30, 1); err == nil {
		t.Error("motions of different lengths: no error")
	}
}
