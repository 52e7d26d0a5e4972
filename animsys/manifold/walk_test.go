package manifold

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// steady returns a footstep network with constant output: pace, in radians per frame, and duty
// angles.
func (m *Model) steady(t testing.TB, pace float32, duty []float32, lags []float32) *netruntime.Net {
	n := len(m.Layout.Contacts)
	list := must.Get(json.Marshal(lags))(t)
	meta := netruntime.Meta{Name: "steady", Arch: "graph", Extra: map[string]string{KeyLags: string(list)}, Graph: &netruntime.Graph{
		Inputs:  []netruntime.Input{{Name: "x", Channels: feature.MotionLen}},
		Nodes:   []netruntime.Node{{Name: "y", Op: netruntime.OpDense, In: []string{"x"}}},
		Outputs: []string{"y"},
	}}
	return m.describe(t, meta, []netruntime.Tensor{
		{Name: "y.weight", Shape: []int{n + 1, feature.MotionLen}, Data: make([]float32, (n+1)*feature.MotionLen)},
		{Name: "y.bias", Shape: []int{n + 1}, Data: append(slices.Clone(duty), pace)},
	})
}

// drift returns a locomotion network, a convolution with random weights.
func (m *Model) drift(t testing.TB) *netruntime.Net {
	in, out := feature.MotionLen+len(m.Layout.Contacts), m.Layout.Columns()
	rng := rand.New(rand.NewPCG(9, 9))
	w := make([]float32, out*in*5)
	for i := range w {
		w[i] = 0.02 * float32(rng.NormFloat64())
	}
	mean, _ := m.Normalisation()
	meta := netruntime.Meta{Name: "drift", Arch: "graph", Extra: map[string]string{KeyKind: "locomotion"}, Graph: &netruntime.Graph{
		Inputs:  []netruntime.Input{{Name: "x", Channels: in}},
		Nodes:   []netruntime.Node{{Name: "y", Op: netruntime.OpConv, In: []string{"x"}}},
		Outputs: []string{"y"},
	}}
	return m.describe(t, meta, []netruntime.Tensor{{Name: "y.weight", Shape: []int{out, in, 5}, Data: w},
		{Name: "y.bias", Shape: []int{out}, Data: mean}})
}

func (m *Model) describe(t testing.TB, meta netruntime.Meta, tensors []netruntime.Tensor) *netruntime.Net {
	must.Do(t, Describe(&meta, m.Layout, m.Skel))
	return must.Get(netruntime.New(meta, tensors))(t)
}

var (
	lags = []float32{0, 0.3, math.Pi, math.Pi + 0.3}
	duty = []float32{1.6, 1.9, 1.6, 1.9} // a little more than half a step
)

// walks returns a batch of walks along circles.
func (m *Model) walks(batch, length int) *Walk {
	j := &Walk{Batch: batch, Length: length, Body: make([]float32, batch*length*feature.MotionLen), Phase: make([]float32, batch),
		Rows: make([]float32, batch*length*m.Layout.Columns()), Contacts: make([]float32, batch*length*len(m.Layout.Contacts)),
		Phases: make([]float32, batch*length)}
	for f := range batch * length {
		j.Body[f*feature.MotionLen+feature.MotionZ] = 1 + 0.1*float32(f/length)
		j.Body[f*feature.MotionLen+feature.MotionYaw] = 0.2
	}
	return j
}

// Contacts are square waves of the network's pace and duties: each has contact for its share of a
// step, delayed by its lag.
func TestWalkContacts(t *testing.T) {
	m := made(t, 16, 9)
	const length, period = 1200, 60
	w := must.Get(m.With(m.steady(t, 2*math.Pi/period, duty, lags), m.drift(t)).NewWalker(WalkerOptions{Batch: 1, Length: length, Workers: 1}))(t)
	defer w.Close()
	n := len(lags)
	job := m.walks(1, length)
	measure := func() (share, middle []float64) {
		must.Do(t, w.Run(job))
		for i := range n {
			var on, x, y float64
			for f := range length {
				if job.Contacts[f*n+i] == 1 {
					a := 2 * math.Pi * float64(f) / period
					on, x, y = on+1, x+math.Cos(a), y+math.Sin(a)
				}
			}
			share, middle = append(share, on/length), append(middle, math.Atan2(y, x))
		}
		return share, middle
	}
	share, middle := measure()
	for i := range n {
		if want := float64(duty[i]) / math.Pi; math.Abs(share[i]-want) > 0.02 {
			t.Errorf("contact %d stands %.2f of the time, want %.2f", i, share[i], want)
		}
		if d := math.Remainder(middle[i]-middle[0]-float64(lags[i]), 2*math.Pi); math.Abs(d) > 0.06 {
			t.Errorf("contact %d stands later by %.2f, want %.2f", i, middle[i]-middle[0], lags[i])
		}
	}
	if end := job.Phases[length-1]; math.Abs(float64(end)) > 1e-2 { // 20 whole steps
		t.Errorf("20 steps end at phase %g", end)
	}
	job.Gaits = []Gait{{ToeOff: 0.5, HeelOff: 0.5}}
	if less, _ := measure(); less[0] > share[0]-0.1 || less[1] > share[1]-0.1 {
		t.Errorf("with a shorter duty feet stand %.2f of the time, before %.2f", less, share)
	}
	job.Gaits = []Gait{{Cadence: 2}}
	changes := 0
	must.Do(t, w.Run(job))
	for f := 1; f < length; f++ {
		if job.Contacts[f*n] != job.Contacts[(f-1)*n] {
			changes++
		}
	}
	if want := 2 * 2 * length / period; changes < want-2 || changes > want+2 {
		t.Errorf("at twice the cadence there are %d changes in %d frames, want %d", changes, length, want)
	}
	job.Gaits = []Gait{{Heel: 1}}
	if _, early := measure(); math.Abs(math.Remainder(middle[0]-early[0]-1, 2*math.Pi)) > 0.06 ||
		math.Abs(math.Remainder(early[1]-middle[1], 2*math.Pi)) > 0.06 {
		t.Errorf("heels a radian earlier stand around %.2f, before around %.2f", early, middle)
	}
}

// The networks make strides for Stride times the speed, and Run corrects Stride by half of the mismatch for the next walk.
func TestStride(t *testing.T) {
	m := made(t, 16, 9)
	w := must.Get(m.With(m.steady(t, 0.1, duty, lags), m.drift(t)).NewWalker(WalkerOptions{Batch: 2, Length: 100, Workers: 1}))(t)
	defer w.Close()
	job, fast := m.walks(2, 100), m.walks(2, 100)
	job.Stride = []float32{1.25, 0.9}
	for f := range job.Length {
		for _, c := range []int{feature.MotionX, feature.MotionZ} {
			fast.Body[f*feature.MotionLen+c] *= 1.25
		}
	}
	must.Do(t, w.Run(job))
	must.Do(t, w.Run(fast))
	one := job.Length * m.Layout.Columns()
	if !slices.Equal(job.Rows[:one], fast.Rows[:one]) || slices.Equal(job.Rows[one:], fast.Rows[one:]) {
		t.Error("strides for 1.25 times the speed are not those at that speed")
	}
	for _, c := range []struct{ speed, own, stride, want float32 }{
		{1, 0.8, 1, 1.118}, {1, 0.8, 1.2, 1.3416}, {1, 1.25, 1, 0.8944}, {1, 0.3, 1.2, 1.4}, {0.3, 0.1, 1.1, 1.1}, {1, -1, 1.1, 1.1}, {1, float32(math.NaN()), 1.1, 1.1},
	} {
		for f := range job.Length {
			copy(job.Body[f*feature.MotionLen:], []float32{0.6 * c.speed, 0.8 * c.speed, 0})
			copy(job.Rows[f*m.Layout.Columns()+m.Layout.Body():], []float32{0.6 * c.own, 0.8 * c.own, 0})
		}
		job.Stride[0] = c.stride
		if w.nextStride(job, 0); m3.Abs(job.Stride[0]-c.want) > 1e-3 {
			t.Errorf("%+v: the next stride is %g", c, job.Stride[0])
		}
	}
}

// A body at rest stands on both feet.
func TestWalkStands(t *testing.T) {
	m := made(t, 16, 9)
	w := must.Get(m.With(m.steady(t, 0.1, duty, lags), m.drift(t)).NewWalker(WalkerOptions{Batch: 1, Length: 100, Workers: 1}))(t)
	defer w.Close()
	job := m.walks(1, 100)
	for f := 50; f < 100; f++ {
		clear(job.Body[f*feature.MotionLen:][:feature.MotionLen])
	}
	must.Do(t, w.Run(job))
	if slices.Contains(job.Contacts[50*len(lags):], 0) || !slices.Contains(job.Contacts[:50*len(lags)], 0) {
		t.Error("feet leave the ground of a body at rest, or never of one that walks")
	}
	if want := float32(math.Remainder(50*0.1, 2*math.Pi)); m3.Abs(job.Phases[99]-want) > 1e-4 {
		t.Errorf("50 frames of walking and 50 of standing end at phase %g, want %g", job.Phases[99], want)
	}
}

// A walk that continues another's contacts and phase makes the same steps.
func TestWalkContinues(t *testing.T) {
	m := made(t, 16, 9)
	const length, kept = 120, 70
	w := must.Get(m.With(m.steady(t, 0.1, duty, lags), m.drift(t)).NewWalker(WalkerOptions{Batch: 1, Length: length, Workers: 1}))(t)
	defer w.Close()
	whole := m.walks(1, length)
	must.Do(t, w.Run(whole))
	n := len(lags)
	rest := m.walks(1, length)
	rest.Kept = kept
	copy(rest.Contacts, whole.Contacts[:kept*n])
	rest.Phase[0] = whole.Phases[kept-1]
	must.Do(t, w.Run(rest))
	if !slices.Equal(rest.Contacts, whole.Contacts) || !slices.Equal(rest.Rows, whole.Rows) ||
		m3.Abs(rest.Phases[length-1]-whole.Phases[length-1]) > 1e-5 {
		t.Error("a walk that continues another differs from it")
	}
}

// A walk is bit-identical alone or in a batch and for any number of workers. One with NaN does not
// change the others.
func TestWalkBatchInvariance(t *testing.T) {
	m := made(t, 16, 9)
	const batch, length = 4, 50
	n := length * m.Layout.Columns()
	steps, motion := m.steady(t, 0.1, duty, lags), m.drift(t)
	var want []float32
	for _, workers := range []int{1, 3} {
		w := must.Get(m.With(steps, motion).NewWalker(WalkerOptions{Batch: batch, Length: length, Workers: workers}))(t)
		job := m.walks(batch, length)
		if want == nil {
			for b := range batch {
				one := m.walks(1, length)
				copy(one.Body, job.Body[b*length*feature.MotionLen:])
				must.Do(t, w.Run(one))
				want = append(want, one.Rows...)
			}
		}
		job.Body[2*length*feature.MotionLen+7] = float32(math.NaN())
		must.Do(t, w.Run(job))
		for i, v := range job.Rows {
			if i/n != 2 && v != want[i] {
				t.Fatalf("%d workers: value %d of walk %d is %g, alone %g", workers, i%n, i/n, v, want[i])
			}
		}
		if a := testing.AllocsPerRun(3, func() { w.Run(job) }); a > 0 {
			t.Errorf("a walk allocates %g times", a)
		}
		w.Close()
	}
}

func TestWalkerRefuses(t *testing.T) {
	m := made(t, 16, 9)
	steps, motion := m.steady(t, 0.1, duty, lags), m.drift(t)
	var schema *feature.SchemaError
	o := WalkerOptions{Batch: 1, Length: 10, Workers: 1}
	if _, err := m.With(motion, motion).NewWalker(o); !errors.As(err, &schema) {
		t.Errorf("a locomotion network as footsteps: %v", err)
	}
	if _, err := m.With(steps, steps).NewWalker(o); !errors.As(err, &schema) {
		t.Errorf("a footstep network as locomotion: %v", err)
	}
	if _, err := m.With(m.steady(t, 0.1, duty, lags[1:]), motion).NewWalker(o); !errors.As(err, &schema) || !strings.Contains(err.Error(), KeyLags) {
		t.Errorf("too few lags: %v", err)
	}
	if _, err := m.With(steps, motion).NewWalker(WalkerOptions{}); err == nil {
		t.Error("no options accepted")
	}
	w := must.Get(m.With(steps, motion).NewWalker(o))(t)
	defer w.Close()
	for want, spoil := range map[string]func(*Walk){
		"Body": func(j *Walk) { j.Body = j.Body[1:] }, "Rows": func(j *Walk) { j.Rows = nil }, "Contacts": func(j *Walk) { j.Contacts = nil },
		"Gaits": func(j *Walk) { j.Gaits = make([]Gait, 2) }, "Phase": func(j *Walk) { j.Phase = make([]float32, 2) }, "Phases": func(j *Walk) { j.Phases = make([]float32, 2) }, "Stride": func(j *Walk) { j.Stride = make([]float32, 2) }, "Kept": func(j *Walk) { j.Kept = 11 }, "Kept is -1": func(j *Walk) { j.Kept = -1 }, "2 walks": func(j *Walk) { j.Batch = 2 }, "9 frames": func(j *Walk) { j.Length = 9 },
	} {
		job := m.walks(1, 10)
		spoil(job)
		must.FailWith(t, w.Run(job), want)
	}
}

// BodyMotion moves a body along its trajectory.
func TestTrajectory(t *testing.T) {
	m := made(t, 16, 9)
	path := must.Get(control.Circle(2))(t)
	for name, facing := range map[string]float32{"ahead": 0, "backward": math.Pi, "aside": math.Pi / 2} {
		const frames = 600
		c := must.Get(AlongPath(path, frames, func(int) float32 { return 1.3 }, func(int) float32 { return facing }))(t)
		cols := m.Layout.Columns()
		rows, world := make([]float32, frames*cols), make([]m3.Vec3, frames*len(m.Layout.Joints))
		body := make([]float32, frames*feature.MotionLen)
		c.BodyMotion(body)
		for f := range frames {
			copy(rows[f*cols+m.Layout.Body():], body[f*feature.MotionLen:][:feature.MotionLen])
		}
		m.Layout.ToWorld(world, rows, Rate, c[0])
		for f := range frames {
			if d := world[f*len(m.Layout.Joints)].Dist(c[f].Pos); d > 1e-3 {
				t.Fatalf("%s: frame %d is %g m off the trajectory", name, f, d)
			}
		}
		mid := body[300*feature.MotionLen:]
		want := m3.YawQuat(-facing).Rotate(m3.V(0, 0, 1.3))
		if math.Abs(float64(mid[feature.MotionX]-want.X)) > 0.03 || math.Abs(float64(mid[feature.MotionZ]-want.Z)) > 0.03 {
			t.Errorf("%s: the body moves %g to the left and %g ahead, want %g and %g m/s",
				name, mid[feature.MotionX], mid[feature.MotionZ], want.X, want.Z)
		}
	}
}

func TestTrajectoryEnds(t *testing.T) {
	path := must.Get(control.NewPath([]m3.Vec3{{}, {Z: 3}}, false))(t)
	c := must.Get(AlongPath(path, 300, func(int) float32 { return 1.5 }, func(int) float32 { return 0 }))(t)
	if end := c[299].Pos; end.Dist(m3.V(0, 0, 3)) > 1e-3 || c[250].Pos.Dist(end) > 1e-3 {
		t.Errorf("an open path ends at %v, want (0, 0, 3), and holds", end)
	}
	body := make([]float32, 300*feature.MotionLen)
	c.BodyMotion(body)
	for f := 1; f < 300; f++ { // people do not stop instantly
		if d := math.Abs(float64(body[f*feature.MotionLen+1] - body[(f-1)*feature.MotionLen+1])); d*Rate > 8 {
			t.Fatalf("frame %d: %g m/s²", f, d*Rate)
		}
	}
	for _, v := range []float32{-1, MaxSpeed + 1, float32(math.NaN()), float32(math.Inf(1))} {
		if _, err := AlongPath(path, 10, func(int) float32 { return v }, func(int) float32 { return 0 }); err == nil {
			t.Errorf("a speed of %g accepted", v)
		}
	}
	if _, err := AlongPath(path, 0, func(int) float32 { return 1 }, func(int) float32 { return 0 }); err == nil {
		t.Error("no frames accepted")
	}
}

// A body that goes aside has the steps of one that goes less aside, at the same speed and to the same side.
func TestStepsAs(t *testing.T) {
	for _, c := range []struct{ x, z, wantX, wantZ float64 }{
		{0, 1.2, 0, 1.2}, {1.2, 0, 1.2, 0}, {0.3, -1, 0.3, -1}, {0, 0, 0, 0},
		{-1, 1, -math.Sqrt2 * math.Sin(math.Pi/4*math.Sqrt(0.5)), math.Sqrt2 * math.Cos(math.Pi/4*math.Sqrt(0.5))},
	} {
		x, z := stepsAs(float32(c.x), float32(c.z))
		if math.Abs(float64(x)-c.wantX) > 1e-5 || math.Abs(float64(z)-c.wantZ) > 1e-5 {
			t.Errorf("%g aside and %g ahead steps as %g and %g, want %g and %g", c.x, c.z, x, z, c.wantX, c.wantZ)
		}
	}
}

// Contacts are shorter in runs only.
func TestShortInRuns(t *testing.T) {
	m := made(t, 16, 9)
	const length = 600
	w := must.Get(m.With(m.steady(t, 2*math.Pi/60, duty, lags), m.drift(t)).NewWalker(WalkerOptions{Batch: 1, Length: length, Workers: 1}))(t)
	defer w.Close()
	share := func(speed float32) (sum float64) {
		j := m.walks(1, length)
		for f := range length {
			j.Body[f*feature.MotionLen+feature.MotionZ] = speed
		}
		must.Do(t, w.Run(j))
		for _, v := range j.Contacts {
			sum += float64(v) / float64(len(j.Contacts))
		}
		return sum
	}
	if walk, run := share(1.7), share(3); math.Abs(walk-0.557) > 0.02 || math.Abs(walk-run-0.1) > 0.02 {
		t.Errorf("feet stand for %.3f of a walk and %.3f of a run, want 0.557 and 0.1 less", walk, run)
	}
}
