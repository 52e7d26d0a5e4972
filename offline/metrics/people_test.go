package metrics

import (
	"math"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/offline/retarget"
)

// plain returns a manifold whose autoencoder gives positions back half as large,
// and all else as it is: two frames at a time.
func plain(t *testing.T) *manifold.Model {
	t.Helper()
	l := feature.Human()
	cols := l.Columns()
	w := make([]float32, cols*cols)
	for i := range cols {
		if w[i*cols+i] = 1; i < l.Body() {
			w[i*cols+i] = 0.5
		}
	}
	double := make([]float32, cols*cols) // a depooled frame has half of the value
	for i := range cols {
		double[i*cols+i] = 2
	}
	meta := netruntime.Meta{Name: "plain", Arch: "graph", Graph: &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: "x", Channels: cols}},
		Nodes: []netruntime.Node{
			{Name: "encoder", Op: netruntime.OpDense, In: []string{"x"}},
			{Name: "hidden", Op: netruntime.OpMaxPool, In: []string{"encoder"}},
			{Name: "spread", Op: netruntime.OpDepool, In: []string{"hidden"}},
			{Name: "y", Op: netruntime.OpDense, In: []string{"spread"}},
		},
		Outputs: []string{"y"},
	}}
	must.Do(t, manifold.Describe(&meta, l, retarget.Human()))
	net, err := netruntime.New(meta, []netruntime.Tensor{
		{Name: "encoder.weight", Shape: []int{cols, cols}, Data: w}, {Name: "encoder.bias", Shape: []int{cols}, Data: make([]float32, cols)},
		{Name: "y.weight", Shape: []int{cols, cols}, Data: double}, {Name: "y.bias", Shape: []int{cols}, Data: make([]float32, cols)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return must.Get(manifold.NewModel(net))(t)
}

// atRest returns frames of the human skeleton at rest, its toes on the ground.
func atRest(m *manifold.Model, frames int) []float32 {
	l, sk := m.Layout, m.Skel
	rest := make([]m3.Vec3, sk.Len())
	for j, p := range sk.Parents {
		if p >= 0 {
			rest[j] = rest[p].Add(sk.Offsets[j])
		}
	}
	low := rest[sk.Index("LeftToeBase")].Y
	rows := make([]float32, frames*l.Columns())
	for f := range frames {
		for i, name := range l.Joints {
			p := rest[sk.Index(name)]
			copy(rows[f*l.Columns()+l.Pos(i):], []float32{p.X, p.Y - low, p.Z})
		}
	}
	return rows
}

// Known changes to a motion are measured.
func TestMeasurePeople(t *testing.T) {
	m := plain(t)
	l := m.Layout
	const frames = 120
	cols, n := l.Columns(), len(l.Contacts)
	stand := make([]float32, frames*n)
	for i := range stand {
		stand[i] = 1
	}
	course := make(manifold.Trajectory, frames)
	p := must.Get(MeasurePeople(m, atRest(m, frames), stand, feature.Place{}, course))(t)
	for what, v := range map[string]float64{"slide": p.Skate, "lift": p.Lift, "sunk": p.Sunk, "bone": p.Bone, "jerk": p.Jerk, "away": p.Away, "aside": p.Aside} {
		close(t, what+" in a stand", v, 0, 1e-3)
	}
	// The body glides ahead at 0.6 m/s: a centimetre a frame.
	rows := atRest(m, frames)
	for f := range frames {
		rows[f*cols+l.Body()+feature.MotionZ] = 0.6
		course[f].Pos.Z = 0.6 * float32(f) / 60
		course[f].Pos.X = 0.03
		course[f].Yaw = 2 * math.Pi / 180
	}
	p = must.Get(MeasurePeople(m, rows, stand, feature.Place{}, course))(t)
	close(t, "slide in a glide", p.Skate, 1, 0.01)
	close(t, "way from the course", p.Away, 3, 0.02)
	close(t, "largest way from the course", p.Farthest, 3, 0.02)
	close(t, "angle to the course", p.Aside, 2, 0.02)
	// With half of the contacts the rest slides as much.
	for i := 0; i < len(stand); i += 2 {
		stand[i] = 0
	}
	p = must.Get(MeasurePeople(m, rows, stand, feature.Place{}, nil))(t)
	close(t, "slide of half of the contacts", p.Skate, 1, 0.01)
	// One hand is a tenth of its bone too far out in half of the frames, and a toe 3 cm deep.
	rows = atRest(m, frames)
	hand, arm := l.Joint("LeftHand"), l.Joint("LeftForeArm")
	for f := 0; f < frames; f += 2 {
		at := rows[f*cols:]
		finger := l.Joint("LeftHandIndex1")
		d := 0.1 * (at[l.Pos(hand)] - at[l.Pos(arm)])
		at[l.Pos(hand)] += d
		at[l.Pos(finger)] += d
		at[l.Pos(l.Joint("RightToeBase"))+1] -= 0.03
	}
	p = must.Get(MeasurePeople(m, rows, stand, feature.Place{}, nil))(t)
	toe := 100 * (math.Hypot(0.029+0.03, 0.1176)/math.Hypot(0.029, 0.1176) - 1)
	close(t, "largest change of a bone", p.BoneMost, max(10, toe), 0.05)
	close(t, "mean change of bones", p.Bone, (10+toe)/2/float64(len(m.Bones())), 0.01)
	close(t, "depth", p.Sunk, 3, 1e-3)
}

// A manifold that halves positions is off by half of them.
func TestReconstruct(t *testing.T) {
	m := plain(t)
	rows := atRest(m, 41)
	r := must.Get(Reconstruct(m, "rest", rows, 1))(t)
	half := make([]float32, len(rows))
	for i, v := range rows {
		half[i] = v / 2
	}
	close(t, "RMS", r.RMS, JointRMS(m.Layout, rows, half), 1e-3)
	close(t, "bones' change", r.Bone, 50, 1e-3)
	finger := rows[m.Layout.Pos(m.Layout.Joint("LeftHandIndex1")):] // of the arms held out, farthest of all
	close(t, "worst", r.Worst, 50*float64(m3.V(finger[0], finger[1], finger[2]).Len()), 0.1)
	if r.Frames != 40 || r.Joint != "LeftHandIndex1" || r.Contact != 1 {
		t.Errorf("%+v", r)
	}
	if _, err := Reconstruct(m, "short", rows[:70], 1); err == nil {
		t.Error("a single frame accepted")
	}
}
