package strnn_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/teststrnn"
	"mannequin/netruntime"
)

func predictor(t testing.TB, m *strnn.Model, o strnn.PredictorOptions) *strnn.Predictor {
	t.Helper()
	p := must.Get(m.NewPredictor(o))(t)
	t.Cleanup(func() { p.Close() })
	return p
}

// A prediction is bit-identical alone or in a batch, with one sample or several, and for any number
// of workers.
func TestPredictBatchInvariance(t *testing.T) {
	for name, o := range map[string]teststrnn.Options{"whole": {Filter: true}, "plain": {Plain: true}} {
		m := teststrnn.Model(t, o)
		size := m.Predict * m.Layout.Columns()
		seen := teststrnn.Seen(t, 3, 1)
		latent := []float32{1, 0, -1, 0.5, 2, 0, -2, 1, 1}
		all := make([]float32, 3*size)
		must.Do(t, predictor(t, m, strnn.PredictorOptions{Batch: 4, Workers: 2}).Predict(all, seen, latent, 3))
		one := predictor(t, m, strnn.PredictorOptions{Batch: 1, Samples: 3, Workers: 1})
		samples := make([]float32, 3*size)
		for i := range 3 {
			motion := seen[i*len(seen)/3:][:len(seen)/3]
			next := make([]float32, size)
			must.Do(t, one.Predict(next, motion, latent[3*i:][:3], 1))
			if !slices.Equal(next, all[i*size:][:size]) {
				t.Errorf("%s: motion %d differs alone", name, i)
			}
			must.Do(t, one.Next(samples, latent, 1, 3))
			if !slices.Equal(next, samples[i*size:][:size]) {
				t.Errorf("%s: motion %d differs with several samples", name, i)
			}
		}
		if slices.Equal(samples[:size], samples[size:2*size]) {
			t.Errorf("%s: latent values change nothing", name)
		}
		none := make([]float32, size)
		must.Do(t, one.Predict(none, seen[:len(seen)/3], nil, 1))
		zeros := make([]float32, size)
		must.Do(t, one.Predict(zeros, seen[:len(seen)/3], make([]float32, 3), 1))
		if !slices.Equal(none, zeros) {
			t.Errorf("%s: no latent values and zeros differ", name)
		}
	}
}

// A NaN in one motion does not affect others.
func TestPredictKeepsNaNApart(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Filter: true})
	size := m.Predict * m.Layout.Columns()
	p := predictor(t, m, strnn.PredictorOptions{Batch: 3, Workers: 2})
	seen, want, got := teststrnn.Seen(t, 3, 1), make([]float32, 3*size), make([]float32, 3*size)
	must.Do(t, p.Predict(want, seen, nil, 3))
	seen[len(seen)/3+5] = float32(math.NaN())
	must.Do(t, p.Predict(got, seen, nil, 3))
	if !slices.Equal(got[:size], want[:size]) || !slices.Equal(got[2*size:], want[2*size:]) {
		t.Error("a NaN in motion 1 changed the others")
	}
	if !slices.ContainsFunc(got[size:2*size], func(v float32) bool { return v != v }) {
		t.Error("the motion with a NaN is predicted as if it had none")
	}
}

// Extend repeats Predict, and its samples depend on the seed.
func TestExtend(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Filter: true})
	cols := m.Layout.Columns()
	p := predictor(t, m, strnn.PredictorOptions{Batch: 2, Workers: 1})
	const frames = 45
	run := func(seed uint64, spread float32) []float32 {
		rows := make([]float32, 2*frames*cols)
		seen := teststrnn.Seen(t, 2, 1)
		for i := range 2 {
			copy(rows[i*frames*cols:], seen[i*len(seen)/2:][:len(seen)/2])
		}
		p.SetSampling(seed, spread)
		must.Do(t, p.Extend(rows, 2, m.Encode, frames))
		return rows
	}
	rows := run(1, 0)
	next := make([]float32, m.Predict*cols)
	for at := m.Encode; at < frames; at += m.Predict {
		must.Do(t, p.Predict(next, rows[(at-m.Encode)*cols:at*cols], nil, 1))
		k := min(m.Predict, frames-at) * cols
		if !slices.Equal(next[:k], rows[at*cols:][:k]) {
			t.Fatalf("frames from %d on differ from the prediction", at)
		}
	}
	a, b := run(1, 1), run(1, 1)
	if !slices.Equal(a, b) {
		t.Error("the same seed gives different motions")
	}
	if slices.Equal(a, run(2, 1)) || slices.Equal(a, rows) {
		t.Error("another seed, or none, gives the same motion")
	}
	if n := testing.AllocsPerRun(3, func() { p.Extend(a, 2, m.Encode, frames) }); n > 0 {
		t.Errorf("Extend allocates %g times", n)
	}
}

// boneError returns the maximum error of a shank's length, m.
func boneError(m *strnn.Model, rows []float32) (most float32) {
	l := m.Layout
	long := m.Skel.Offsets[m.Skel.Index("LeftFoot")].Len()
	for at := 0; at < len(rows); at += l.Columns() {
		knee, foot := rows[at+l.Pos(l.Joint("LeftLeg")):], rows[at+l.Pos(l.Joint("LeftFoot")):]
		most = max(most, m3.Abs(m3.V(knee[0], knee[1], knee[2]).Dist(m3.V(foot[0], foot[1], foot[2]))-long))
	}
	return most
}

// With cleanup, bones keep the skeleton's length, a foot is on the ground and the hips go on at their
// height, unlike in the random network's own frames.
func TestExtendCleanUp(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{})
	l, cols := m.Layout, m.Layout.Columns()
	const frames = 100
	off := func(cleanUp bool) (bone, ground, jump float32) {
		rows := make([]float32, frames*cols)
		copy(rows, teststrnn.Seen(t, 1, 1))
		p := predictor(t, m, strnn.PredictorOptions{Batch: 1, Workers: 1, CleanUp: cleanUp})
		p.SetSampling(1, 1)
		must.Do(t, p.Extend(rows, 1, m.Encode, frames))
		made := rows[m.Encode*cols:]
		for at := 0; at < len(made); at += cols {
			ground = max(ground, m3.Abs(min(made[at+l.Pos(l.Joint("LeftToeBase"))+1], made[at+l.Pos(l.Joint("RightToeBase"))+1])))
		}
		height := func(f int) float32 { return rows[f*cols+l.Pos(l.Joint("Hips"))+1] }
		jump = m3.Abs(height(m.Encode) - 2*height(m.Encode-1) + height(m.Encode-2))
		return boneError(m, made), ground, jump
	}
	if bone, ground, jump := off(true); bone > 0.001 || ground > 0.08 || jump > 0.001 {
		t.Errorf("bones are %g m too long, the lower foot %g m off the ground, and the hips jump by %g m", bone, ground, jump)
	}
	if bone, _, _ := off(false); bone < 0.01 {
		t.Errorf("the network's bones are only %g m too long, too little for this test", bone)
	}
}

// HalveRate inverts DoubleRate, and both keep the body's places.
func TestRates(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{})
	l := m.Layout
	cols := l.Columns()
	rows := teststrnn.Seen(t, 1, 3)
	double, back := make([]float32, 2*len(rows)), make([]float32, len(rows))
	strnn.DoubleRate(double, rows, l)
	strnn.HalveRate(back, double, l)
	if !slices.Equal(rows, back) {
		t.Error("halving the doubled motion differs from the original")
	}
	var at, twice feature.Place
	for f := range len(rows) / cols {
		at = at.Advance(rows[f*cols+l.Body():], 1.0/strnn.Rate)
	}
	for f := range len(double) / cols {
		twice = twice.Advance(double[f*cols+l.Body():], 0.5/strnn.Rate)
	}
	if d := at.Pos.Dist(twice.Pos); d > 1e-3 {
		t.Errorf("the body ends %g m off", d)
	}
}

// The controller finds latent values that move the body to its goal better than the best sample, and
// exactly with Exact.
func TestController(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Filter: true})
	const n = 3
	cols, size := m.Layout.Columns(), m.Predict*m.Layout.Columns()
	run := func(workers int, job strnn.Control) ([]float32, float64) {
		c := must.Get(m.NewController(strnn.ControllerOptions{Batch: n, Samples: 4, Workers: workers}))(t)
		defer c.Close()
		c.Weights.Slide, c.Weights.Bone = 0, 0 // the random network's feet and bones mean nothing
		for range n * m.Predict {
			job.Body = append(job.Body, 0.1, 1.4, 0.5)
		}
		next := make([]float32, n*size)
		cost := must.Get(c.Run(next, teststrnn.Seen(t, n, 1), n, &job))(t)
		return next, cost
	}
	off := func(next []float32) (most float32) {
		for i := range n {
			var is, shall feature.Place
			for f := range m.Predict {
				is = is.Advance(next[i*size+f*cols+m.Layout.Body():], 1.0/strnn.Rate)
				shall = shall.Advance([]float32{0.1, 1.4, 0.5}, 1.0/strnn.Rate)
			}
			most = max(most, is.Pos.Dist(shall.Pos))
		}
		return most
	}
	drawn, first := run(2, strnn.Control{Samples: 4, Spread: 1})
	found, cost := run(2, strnn.Control{Samples: 4, Spread: 1, Steps: 4})
	if !(cost < 0.5*first) || !(off(found) < off(drawn)) {
		t.Errorf("after the search the cost is %g and the body %.3f m off, after sampling %g and %.3f", cost, off(found), first, off(drawn))
	}
	exact, _ := run(2, strnn.Control{Samples: 4, Spread: 1, Steps: 4, Exact: true})
	if d := off(exact); d > 0.002 {
		t.Errorf("with Exact it is %g m off", d)
	}
	clean, _ := run(2, strnn.Control{Samples: 4, Spread: 1, Steps: 4, Exact: true, CleanUp: true})
	if d, was, is := off(clean), boneError(m, exact), boneError(m, clean); d > 0.002 || was < 0.01 || is > 0.001 {
		t.Errorf("with CleanUp it is %g m off, and bones are %g m too long, before %g m", d, is, was)
	}
	if again, _ := run(1, strnn.Control{Samples: 4, Spread: 1, Steps: 4}); !slices.Equal(again, found) {
		t.Error("another number of workers finds another result")
	}
}

// Tuning lowers the cost and restores the weights.
func TestFineTuner(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{})
	size := m.Predict * m.Layout.Columns()
	f := must.Get(m.NewFineTuner(1))(t)
	defer f.Close()
	f.Weights.Slide, f.Weights.Bone = 0, 0
	var body []float32
	for range m.Predict {
		body = append(body, 0, 1.4, 0)
	}
	seen, next := teststrnn.Seen(t, 1, 1), make([]float32, size)
	run := func(steps int) float64 {
		cost := must.Get(f.Run(next, seen, 1, &strnn.Control{Body: body, Steps: steps}))(t)
		return cost
	}
	before := run(0)
	if after := run(30); !(after < 0.9*before) {
		t.Errorf("the cost is %g after tuning, %g before", after, before)
	}
	if again := run(0); again != before {
		t.Errorf("the cost is %g after the weights are restored, %g before", again, before)
	}
	want := make([]float32, size)
	must.Do(t, predictor(t, m, strnn.PredictorOptions{Batch: 1, Workers: 1}).Predict(want, seen, nil, 1))
	for k, v := range want {
		if math.Abs(float64(v-next[k])) > 1e-4 {
			t.Fatalf("value %d is %g without tuning, the predictor gives %g", k, next[k], v)
		}
	}
}

// BodyMotionAlong returns to the path within the window.
func TestBodyMotionAlong(t *testing.T) {
	var to []feature.Place
	p := feature.Place{Yaw: 3}
	start := p
	for range 20 {
		p = p.Advance([]float32{0, 1.2, 0.8}, 1.0/strnn.Rate)
		to = append(to, p)
	}
	from := start
	from.Pos.X += 0.3
	from.Yaw -= 0.4
	body := make([]float32, 20*feature.MotionLen)
	strnn.BodyMotionAlong(body, from, start, to)
	at := from
	for f := range to {
		at = at.Advance(body[f*feature.MotionLen:], 1.0/strnn.Rate)
		if f == 0 && at.Pos.Dist(to[0].Pos) < 0.25 {
			t.Error("it jumps to the path")
		}
	}
	if at.Pos.Dist(p.Pos) > 1e-4 || math.Abs(float64(at.Yaw-p.Yaw)) > 1e-4 {
		t.Errorf("it ends at %+v, want %+v", at, p)
	}
}

func TestMisuse(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{})
	cols := m.Layout.Columns()
	p := predictor(t, m, strnn.PredictorOptions{Batch: 1, Workers: 1})
	c := must.Get(m.NewController(strnn.ControllerOptions{Batch: 1, Workers: 1}))(t)
	defer c.Close()
	rows := make([]float32, 100*cols)
	next := make([]float32, m.Predict*cols)
	for want, err := range map[string]error{
		"up to 1 of 560 each":    p.Predict(next, rows[:cols], nil, 1),
		"3 or no latent values":  p.Predict(next, rows[:m.Encode*cols], []float32{1}, 1),
		"from at least 8 frames": p.Extend(rows, 1, m.Encode-1, 100),
		"want 560, 24 and 32":    func() error { _, err := c.Run(next, rows[:m.Encode*cols], 1, &strnn.Control{Samples: 1}); return err }(),
		"0 samples of spread 0": func() error {
			_, err := c.Run(next, rows[:m.Encode*cols], 1, &strnn.Control{Body: make([]float32, 24)})
			return err
		}(),
		"at least one of each": func() error { _, err := m.NewPredictor(strnn.PredictorOptions{Batch: 0, Workers: 1}); return err }(),
		"no latent values to control": func() error {
			_, err := teststrnn.Model(t, teststrnn.Options{Once: true}).NewController(strnn.ControllerOptions{Batch: 1, Workers: 1})
			return err
		}(),
	} {
		must.FailWith(t, err, want)
	}
}

// NewModel reports how an unusable file differs.
func TestSchema(t *testing.T) {
	for want, change := range map[string]func(*netruntime.Meta){
		`"encode" is "none"`:            func(m *netruntime.Meta) { m.Extra[strnn.KeyEncode] = "none" },
		`"latent" is "-1"`:              func(m *netruntime.Meta) { m.Extra[strnn.KeyLatent] = "-1" },
		`"latent" has 3`:                func(m *netruntime.Meta) { m.Extra[strnn.KeyLatent] = "5" },
		`"scale" is`:                    func(m *netruntime.Meta) { m.Extra[strnn.KeyScale] = "[1, 2]" },
		`"linear.weight" has the shape`: func(m *netruntime.Meta) { m.Extra[strnn.KeyPredict] = "9" },
		"schema":                        func(m *netruntime.Meta) { m.SchemaHash = "0" },
	} {
		net := teststrnn.Net(t, teststrnn.Options{})
		meta := net.Meta()
		change(&meta)
		bad := must.Get(netruntime.New(meta, net.Tensors()))(t)
		var e *feature.SchemaError
		if _, err := strnn.NewModel(bad); !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

// With cleanup, a person whose feet take no step stays in place, whatever motion the network predicts
// for the body.
func TestCleanUpRests(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{})
	cols := m.Layout.Columns()
	const frames = 60
	went := func(cleanUp bool) float32 {
		rows := make([]float32, frames*cols)
		copy(rows, teststrnn.Seen(t, 1, 1))
		must.Do(t, predictor(t, m, strnn.PredictorOptions{Batch: 1, Workers: 1, CleanUp: cleanUp}).Extend(rows, 1, m.Encode, frames))
		var at feature.Place
		for f := 2 * m.Encode; f < frames; f++ {
			at = at.Advance(rows[f*cols+m.Layout.Body():], 1.0/strnn.Rate)
		}
		return at.Pos.Len()
	}
	if still, free := went(true), went(false); !(still < 0.3 && free > 1) {
		t.Errorf("a person who takes no step moves %g m, without cleanup %g", still, free)
	}
}
