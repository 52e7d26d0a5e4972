package dataset

import (
	"math"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// near fails the test where a row's values differ from what they should be.
func near(t *testing.T, what string, got []float32, tol float64, want ...float64) {
	t.Helper()
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= tol) {
			t.Errorf("%s[%d] is %.6g, want %.6g", what, i, got[i], w)
		}
	}
}

// Every feature of a walk on a circle has a closed form.
func TestCircle(t *testing.T) {
	for _, stride := range []int{1, 4} {
		testCircle(t, stride)
	}
}

func testCircle(t *testing.T, stride int) {
	m, sk := feature.Dog(), synthSkeleton()
	c := circle{r: 2, w: 0.5, frames: 400}
	tr := c.track(t, sk)
	tr.stride = stride
	const i = 200
	x, y := make([]float32, m.Inputs()), make([]float32, m.Outputs())
	tr.input(x, m, i)
	tr.output(y, m, i)
	d := c.w / 60 // radians per frame
	step, rate := float64(stride), 60/float64(stride)
	// arc is the walker's place k frames on, seen from where it is now.
	arc := func(k float64) (left, ahead float64) { return c.r * (1 - math.Cos(k*d)), c.r * math.Sin(k*d) }
	sample := func(what string, got []float32, k float64) {
		l, a := arc(k)
		l0, a0 := arc(k - step)
		near(t, what+" position", got[feature.SamplePos:], 1e-5, l, a)
		near(t, what+" direction", got[feature.SampleDir:], 1e-5, math.Sin(k*d), math.Cos(k*d))
		near(t, what+" velocity", got[feature.SampleVel:], 1e-4, rate*(l-l0), rate*(a-a0))
	}
	for s, k := range []float64{-60, -50, -40, -30, -20, -10, 0, 12, 24, 36, 48, 60} {
		sample("input", x[m.InSample(s):], k)
		near(t, "speed", x[m.InSample(s)+feature.SampleSpeed:], 1e-4, 5*2*c.r*math.Sin(6*d))
		near(t, "actions", x[m.InActions(s):], 0, 0, 1, 0, 0, 0, 0)
	}
	for s := range feature.TrajFuture {
		sample("output", y[m.OutSample(s):], float64(12*s))
	}
	near(t, "root", y[m.OutRoot():], 1e-3, rate*c.r*(1-math.Cos(step*d)), 60*d*180/math.Pi, rate*c.r*math.Sin(step*d))

	// The body is stiff: bones stand as at yaw 0, turned by d and moved by an arc of one stride.
	d *= step
	still := circle{r: 2, w: 1e-9, frames: 2}.clip(sk)
	model := make([]m3.Xform, sk.Len())
	still.Model(model, 0)
	l, a := c.r*(1-math.Cos(d)), c.r*math.Sin(d)
	for b, j := range m.Joints {
		p := model[b].Pos
		px, pz := float64(p.X), float64(p.Z)
		qx, qz := px*math.Cos(d)+pz*math.Sin(d)+l, -px*math.Sin(d)+pz*math.Cos(d)+a
		for _, row := range [][]float32{x[m.InBone(b):], y[m.OutBone(b):]} {
			near(t, j+" position", row[feature.BonePos:], 1e-5, qx, float64(p.Y), qz)
			near(t, j+" velocity", row[feature.BoneVel:], 1e-3, rate*(qx-px), 0, rate*(qz-pz))
			turn := m3.YawQuat(float32(d)).Mul(model[b].Rot)
			f, u := turn.Forward(), turn.Rotate(m3.V(0, 1, 0))
			near(t, j+" forward", row[feature.BoneForward:], 1e-5, float64(f.X), float64(f.Y), float64(f.Z))
			near(t, j+" up", row[feature.BoneUp:], 1e-5, float64(u.X), float64(u.Y), float64(u.Z))
		}
	}
}

// Outside the recording the trajectory is reflected in its ends.
func TestReflectionAtEnds(t *testing.T) {
	m, c := feature.Dog(), circle{r: 2, w: 0.5, frames: 200}
	tr := c.track(t, synthSkeleton())
	// A ramp over frames shows which frame the actions come from.
	for f := range c.frames {
		tr.weights[f*tr.actions] = float32(f)
	}
	world := func(f float64) (x, z float64) { x, z, _ = c.at(f); return }
	for _, test := range []struct {
		i, sample   int
		end, mirror float64 // the frame outside is 2·end − mirror
	}{{3, 0, 0, 57}, {3, 4, 0, 17}, {197, 11, 199, 141}, {150, 11, 199, 188}} {
		x := make([]float32, m.Inputs())
		tr.input(x, m, test.i)
		ix, iz, yaw := c.at(float64(test.i))
		bx, bz := world(test.end)
		mx, mz := world(test.mirror)
		wx, wz := 2*bx-mx-ix, 2*bz-mz-iz
		got := x[m.InSample(test.sample):]
		near(t, "position", got[feature.SamplePos:], 1e-5, wx*math.Cos(yaw)-wz*math.Sin(yaw), wx*math.Sin(yaw)+wz*math.Cos(yaw))
		turn := c.w/60*test.mirror - yaw
		near(t, "direction", got[feature.SampleDir:], 1e-5, math.Sin(turn), math.Cos(turn))
		near(t, "actions", x[m.InActions(test.sample):], 0, test.mirror)
	}
}

// Mirrored rows of a left circle are those of a right circle mirrored joint by joint.
func TestMirrorIsThePhysicalMirror(t *testing.T) {
	m, sk := feature.Dog(), synthSkeleton()
	left, right := circle{r: 2, w: 0.5, frames: 300}, circle{r: 2, w: -0.5, frames: 300}
	lt, rt := left.track(t, sk), right.track(t, sk)
	in, out := must.Get2(m.MirrorColumns())(t)
	buf := func(n int) (a, b, c []float32) { return make([]float32, n), make([]float32, n), make([]float32, n) }
	x, mx, want := buf(m.Inputs())
	y, my, wantY := buf(m.Outputs())
	lt.input(x, m, 150)
	rt.input(want, m, 150)
	feature.Mirror(mx, x, in)
	lt.output(y, m, 150)
	rt.output(wantY, m, 150)
	feature.Mirror(my, y, out)
	moved := 0.0
	for c := range mx {
		moved = max(moved, math.Abs(float64(mx[c]-x[c])))
		if d := math.Abs(float64(mx[c] - want[c])); !(d <= 1e-4) {
			t.Errorf("input column %d: %g, want %g", c, mx[c], want[c])
		}
	}
	for c := range my {
		if d := math.Abs(float64(my[c] - wantY[c])); !(d <= 2e-3) {
			t.Errorf("output column %d: %g, want %g", c, my[c], wantY[c])
		}
	}
	if moved < 0.1 {
		t.Error("the clip is its own mirror image: the test shows nothing")
	}
}

func TestShortClipStaysInside(t *testing.T) {
	m, c := feature.Dog(), circle{r: 2, w: 0.5, frames: 3}
	tr := c.track(t, synthSkeleton())
	x, y := make([]float32, m.Inputs()), make([]float32, m.Outputs())
	tr.input(x, m, 1)
	tr.output(y, m, 1)
	for _, v := range append(x, y...) {
		if !m3.Finite(v) {
			t.Fatal("not finite")
		}
	}
}

// A character that looks straight up keeps the direction it had.
func TestVerticalBodyKeepsFacing(t *testing.T) {
	sk, c := synthSkeleton(), circle{r: 2, w: 0.5, frames: 10}
	clip := c.clip(sk)
	_, rot := clip.Frame(6)
	o := sk.Offsets[sk.Index("Spine1")].Add(sk.Offsets[sk.Index("Neck")])
	rot[0] = m3.Between(o.Normalize(m3.Up), m3.Up)
	at, _ := joinJoints(feature.Dog(), sk)
	tr := must.Get(newTrack(sk, clip, at, 1, make([]float32, 60), 6, 1))(t)
	must.Do(t, tr.face(sk))
	if a, b := tr.roots[5], tr.roots[6]; a.fx != b.fx || a.fz != b.fz {
		t.Errorf("facing (%g, %g) became (%g, %g)", a.fx, a.fz, b.fx, b.fz)
	}
}
