package strnn_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/teststrnn"
	"mannequin/netruntime"
)

// identity returns a model that decodes every window to its own frames times a factor: deviations
// from the mean are too low in the first frame and too high in the last, by off more per frame.
func identity(t *testing.T, off float32) *strnn.Model {
	t.Helper()
	net := teststrnn.Net(t, teststrnn.Options{})
	tensors := net.Tensors()
	for _, x := range tensors {
		switch x.Name {
		case "out.weight", "out.bias":
			clear(x.Data)
		case "linear.weight": // (made·columns, Encode)
			cols := x.Shape[0] / (teststrnn.Encode + teststrnn.Predict)
			for f := range teststrnn.Encode {
				for c := range cols {
					x.Data[(f*cols+c)*teststrnn.Encode+f] = 1 + off*(float32(f)-(teststrnn.Encode-1)/2.0)
				}
			}
		}
	}
	net = must.Get(netruntime.New(net.Meta(), tensors))(t)
	return must.Get(strnn.NewModel(net))(t)
}

// swaying returns a motion around m's mean in which each column is a sine.
func swaying(m *strnn.Model, frames int, fps float64) []float32 {
	mean, _ := m.Net.Tensor("mean")
	l, cols := m.Layout, m.Layout.Columns()
	rows := make([]float32, frames*cols)
	for f := range frames {
		for c := range cols {
			rows[f*cols+c] = mean.Data[c] + 0.2*float32(math.Sin(4*float64(f)/fps+float64(c)))
		}
		for i := range l.Contacts {
			rows[f*cols+l.Contact(i)] = float32((f + i) / 7 % 2)
		}
	}
	return rows
}

func denoiser(t testing.TB, m *strnn.Model, o strnn.DenoiserOptions) *strnn.Denoiser {
	t.Helper()
	d := must.Get(m.NewDenoiser(o))(t)
	t.Cleanup(func() { d.Close() })
	return d
}

// farthest returns the maximum difference of columns [from, to) of two motions in frames [first,
// end).
func farthest(a, b []float32, cols, from, to, first, end int) (most float64) {
	for f := first; f < end; f++ {
		for c := from; c < to; c++ {
			most = max(most, math.Abs(float64(a[f*cols+c]-b[f*cols+c])))
		}
	}
	return most
}

// An identity network changes nothing, for any windows. Windows that differ are cross-faded.
func TestDenoiseCrossFades(t *testing.T) {
	m := identity(t, 0)
	l, cols := m.Layout, m.Layout.Columns()
	body, contacts := l.Body(), l.Contact(0)
	for _, frames := range []int{m.Encode, m.Encode + 1, 2*m.Encode + 3, 41} {
		rows := swaying(m, frames, strnn.Rate)
		got := make([]float32, len(rows))
		must.Do(t, denoiser(t, m, strnn.DenoiserOptions{Batch: 3, Workers: 1}).Denoise(got, rows))
		if d := farthest(got, rows, cols, 0, cols, 0, frames); d > 1e-5 {
			t.Errorf("%d frames: an identity network changes them by %g", frames, d)
		}

		// At twice the rate smooth motion stays, except a little at its crests.
		rows = swaying(m, 2*frames+1, 2*strnn.Rate)
		got = make([]float32, len(rows))
		d := denoiser(t, m, strnn.DenoiserOptions{FPS: 2 * strnn.Rate, Batch: 3, Workers: 1})
		must.Do(t, d.Denoise(got, rows))
		a, b, ends := farthest(got, rows, cols, 0, body, 0, 2*frames+1), farthest(got, rows, cols, body, contacts, 1, 2*frames),
			farthest(got, rows, cols, body, contacts, 0, 2*frames+1)
		if max(a, b) > 1e-3 || ends > 0.01 {
			t.Errorf("%d frames: an identity network changes them by %g at twice its rate, the body's motion by %g, at its ends %g",
				2*frames+1, a, b, ends)
		}

		// Alternating noise is removed, and the body's distance stays.
		shaking := slices.Clone(rows)
		for i := range shaking {
			if i%cols < contacts {
				shaking[i] += 0.1 * float32(i/cols%2*2-1)
			}
		}
		must.Do(t, d.Denoise(shaking, shaking))
		if d := farthest(shaking, got, cols, 0, body, 1, 2*frames); d > 1e-5 {
			t.Errorf("%d frames: %g is left of alternating noise", 2*frames+1, d)
		}
		var was, is feature.Place
		for f := range 2*frames + 1 {
			was, is = was.Advance(rows[f*cols+body:], 0.5/strnn.Rate), is.Advance(got[f*cols+body:], 0.5/strnn.Rate)
		}
		if d := was.Pos.Dist(is.Pos); d > 0.002 {
			t.Errorf("%d frames: the body ends %g m off", 2*frames+1, d)
		}
	}

	// Windows that are too low at the start and too high at the end make no steps: in a constant motion
	// frames differ by no more than within a window.
	const off = 0.01
	m = identity(t, off)
	rows := slices.Repeat(swaying(m, 1, strnn.Rate), 37)
	for i := range rows {
		rows[i]++
	}
	got := make([]float32, len(rows))
	must.Do(t, denoiser(t, m, strnn.DenoiserOptions{Batch: 3, Workers: 1}).Denoise(got, rows))
	mean, _ := m.Net.Tensor("mean")
	for f := range len(rows)/cols - 1 {
		for c := range body {
			step := float64(got[(f+1)*cols+c] - got[f*cols+c])
			if one := off * float64(rows[c]-mean.Data[c]); math.Abs(step) > 1.001*one {
				t.Fatalf("value %d of frame %d steps by %g, in a window by %g", c, f, step, one)
			}
		}
	}
}

// The result is bit-identical for any batch and any number of workers. Contacts stay within 0 to 1.
func TestDenoiseBatchInvariance(t *testing.T) {
	for name, o := range map[string]teststrnn.Options{"whole": {Filter: true}, "plain": {Plain: true}} {
		m := teststrnn.Model(t, o)
		l, cols := m.Layout, m.Layout.Columns()
		rows := swaying(m, 51, 2*strnn.Rate)
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range rows {
			rows[i] += 0.5 * float32(rng.NormFloat64())
		}
		var want []float32
		for _, how := range [][2]int{{1, 1}, {4, 2}, {64, 3}} {
			got := make([]float32, len(rows))
			must.Do(t, denoiser(t, m, strnn.DenoiserOptions{FPS: 2 * strnn.Rate, Batch: how[0], Workers: how[1]}).Denoise(got, rows))
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d windows at a time on %d workers give another motion", name, how[0], how[1])
			}
		}
		least, most := want[l.Contact(0)], want[l.Contact(0)]
		for f := range 51 {
			for i := range l.Contacts {
				v := want[f*cols+l.Contact(i)]
				least, most = min(least, v), max(most, v)
			}
		}
		if least < 0 || most > 1 || slices.Equal(want, rows) {
			t.Errorf("%s: contacts are from %g to %g", name, least, most)
		}
	}
}

// One window is the output of the network's parts run one by one.
func TestDenoiseOfOneWindow(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Filter: true})
	cols, body := m.Layout.Columns(), m.Layout.Contact(0)
	rows := teststrnn.Seen(t, 1, 4)
	got := make([]float32, len(rows))
	must.Do(t, denoiser(t, m, strnn.DenoiserOptions{Batch: 1, Workers: 1}).Denoise(got, rows))
	run := func(inputs, outputs []string, in ...[]float32) [][]float32 {
		net := must.Get(m.Net.Part(inputs, outputs))(t)
		s := must.Get(net.NewSession(netruntime.SessionOptions{Batch: 1, Length: m.Encode, Workers: 1}))(t)
		defer s.Close()
		out := make([][]float32, len(outputs))
		for i := range out {
			out[i] = make([]float32, m.Encode*cols)
		}
		must.Do(t, s.RunSequences(out, in, 1, m.Encode))
		return out
	}
	state := run([]string{strnn.ValueX}, strnn.ValueState[:], rows)
	// The test filters are the identity.
	y := run([]string{strnn.ValueClock, strnn.ValueState[0], strnn.ValueState[1], strnn.ValueBase}, []string{strnn.ValueBefore},
		make([]float32, m.Encode), state[0], state[1], rows)[0]
	for i := range y {
		y[i] = rows[i] + 0.3*y[i] // their scale is 0.3
	}
	y = run([]string{strnn.ValueZ}, []string{strnn.ValueFiltered}, y)[0]
	if d := farthest(got, y, cols, 0, body, 0, m.Encode); d > 1e-5 {
		t.Errorf("values differ by %g from the parts' output", d)
	}
	if farthest(y, rows, cols, 0, body, 0, m.Encode) < 1e-3 {
		t.Error("the network changes nothing")
	}
}

// Known values stay bit-identical, and missing ones are filled smoothly, whatever they held.
func TestFill(t *testing.T) {
	m := identity(t, 0)
	l, cols := m.Layout, m.Layout.Columns()
	const frames = 60
	truth := swaying(m, frames, 2*strnn.Rate)
	d := denoiser(t, m, strnn.DenoiserOptions{FPS: 2 * strnn.Rate, Batch: 4, Workers: 1})
	missing := make([]bool, len(truth))
	lose := func(c, from, to int) {
		for f := from; f < to; f++ {
			missing[f*cols+c] = true
		}
	}
	for c := range l.Body() {
		lose(c, 20, 32)
	}
	lose(4, 0, 9)
	lose(5, 50, frames)
	lose(6, 0, frames)
	lose(l.Contact(1), 15, 40)
	damaged := slices.Clone(truth)
	for i, gone := range missing {
		if gone {
			damaged[i] = float32(math.NaN())
		}
	}
	got := make([]float32, len(truth))
	must.Do(t, d.Fill(got, damaged, missing))
	for i, gone := range missing {
		if !gone && got[i] != truth[i] {
			t.Fatalf("value %d of frame %d, which is known, changes to %g from %g", i%cols, i/cols, got[i], truth[i])
		}
	}
	// A curve between the ends of a sine of amplitude 0.2 at 4 rad/s.
	if d := farthest(got, truth, cols, 7, l.Body(), 20, 32); d > 0.02 {
		t.Errorf("a gap of 0.2 s is filled %g off", d)
	}
	mean, _ := m.Net.Tensor("mean")
	for f := range frames {
		if v := got[f*cols+6]; math.Abs(float64(v-mean.Data[6])) > 1e-5 {
			t.Fatalf("a value that is never known is %g in frame %d, want the mean %g", v, f, mean.Data[6])
		}
		if f < 9 && math.Abs(float64(got[f*cols+4]-truth[9*cols+4])) > 0.03 || f >= 50 && math.Abs(float64(got[f*cols+5]-truth[49*cols+5])) > 0.03 {
			t.Fatalf("before and after the known values, frame %d is not held: %g and %g", f, got[f*cols+4], got[f*cols+5])
		}
		if v := got[f*cols+l.Contact(1)]; !(v >= 0 && v <= 1) {
			t.Fatalf("a contact is %g in frame %d", v, f)
		}
	}
	again := slices.Clone(truth)
	must.Do(t, d.Fill(again, again, missing))
	if !slices.Equal(again, got) {
		t.Error("values in gaps change the result")
	}

	// Noise beside a gap bends the curve over it once, not once per round.
	noisy := slices.Repeat(truth[:cols], frames)
	for i := range noisy {
		if i%cols < l.Body() {
			noisy[i] += 0.1 * float32(i/cols%2*2-1)
		}
	}
	must.Do(t, d.Fill(noisy, noisy, missing))
	if d := farthest(noisy, slices.Repeat(truth[:cols], frames), cols, 7, l.Body(), 20, 32); d > 0.18 {
		t.Errorf("a gap beside noise of 0.1 is filled %g off", d)
	}

	// The network's reconstruction replaces the curve and meets the known values.
	m = teststrnn.Model(t, teststrnn.Options{})
	filled := make([]float32, len(truth))
	must.Do(t, denoiser(t, m, strnn.DenoiserOptions{FPS: 2 * strnn.Rate, Batch: 4, Workers: 2}).Fill(filled, damaged, missing))
	if farthest(filled, got, cols, 7, l.Body(), 20, 32) < 1e-4 {
		t.Error("the network does not fill")
	}
	for c := 7; c < l.Body(); c++ {
		for f := 19; f < 32; f++ {
			if d := filled[(f+1)*cols+c] - filled[f*cols+c]; math.Abs(float64(d)) > 0.05 {
				t.Fatalf("column %d steps by %g after frame %d", c, d, f)
			}
		}
	}
}

func TestDenoiserRefuses(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{})
	cols := m.Layout.Columns()
	d := denoiser(t, m, strnn.DenoiserOptions{FPS: 2 * strnn.Rate, Batch: 1, Workers: 1})
	rows := swaying(m, 20, 2*strnn.Rate)
	bad := slices.Clone(rows)
	bad[3*cols+2] = float32(math.Inf(1))
	opened := func(o strnn.DenoiserOptions) error { _, err := m.NewDenoiser(o); return err }
	for want, err := range map[string]error{
		"15 frames at 60 per second: want at least 16": d.Denoise(rows[:15*cols], rows[:15*cols]),
		"want equal numbers, 70 per frame":             d.Denoise(rows[:cols], rows),
		"1399 output values":                           d.Denoise(rows[:1399], rows[:1399]),
		"value 2 of frame 3 is +Inf":                   d.Denoise(rows, bad),
		"1400 values with 3 flags":                     d.Fill(rows, rows, make([]bool, 3)),
		"value 2 of frame 3 is +Inf: ":                 d.Fill(rows, bad, make([]bool, len(bad))),
		"0 windows at a time":                          opened(strnn.DenoiserOptions{Workers: 1}),
		"on 0 workers":                                 opened(strnn.DenoiserOptions{Batch: 1}),
		"45 frames per second: want a multiple of 30":  opened(strnn.DenoiserOptions{FPS: 45, Batch: 1, Workers: 1}),
		"-30 frames per second":                        opened(strnn.DenoiserOptions{FPS: -30, Batch: 1, Workers: 1}),
	} {
		must.FailWith(t, err, want)
	}
	if want := swaying(m, 20, 2*strnn.Rate); !slices.Equal(rows, want) {
		t.Error("a refused motion was changed")
	}
}
