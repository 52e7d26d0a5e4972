package strnn_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/internal/testing/teststrnn"
	"mannequin/netruntime"
)

// giving returns a model that decodes every window to the same frames again, but that what
// is above the mean is too low in the first of them and too high in the last: by off more
// from one frame to the next.
func giving(t *testing.T, off float32) *strnn.Model {
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
	net, err := netruntime.New(net.Meta(), tensors)
	if err != nil {
		t.Fatal(err)
	}
	m, err := strnn.NewModel(net)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// swaying returns a motion of frames at a rate about m's mean: each column goes to and
// fro, and the body walks.
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
	d, err := m.NewDenoiser(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// farthest returns the greatest difference of columns [from, to) of two motions, in
// frames [first, end).
func farthest(a, b []float32, cols, from, to, first, end int) (most float64) {
	for f := first; f < end; f++ {
		for c := from; c < to; c++ {
			most = max(most, math.Abs(float64(a[f*cols+c]-b[f*cols+c])))
		}
	}
	return most
}

// A network that gives back what it sees changes nothing, whatever windows a motion is
// cut into, and where windows differ they are cross-faded.
func TestDenoiseCrossFades(t *testing.T) {
	m := giving(t, 0)
	l, cols := m.Layout, m.Layout.Columns()
	body, contacts := l.Body(), l.Contact(0)
	for _, frames := range []int{m.Encode, m.Encode + 1, 2*m.Encode + 3, 41} {
		rows := swaying(m, frames, strnn.Rate)
		got := make([]float32, len(rows))
		if err := denoiser(t, m, strnn.DenoiserOptions{Batch: 3, Workers: 1}).Denoise(got, rows); err != nil {
			t.Fatal(err)
		}
		if d := farthest(got, rows, cols, 0, cols, 0, frames); d > 1e-5 {
			t.Errorf("%d frames: a network that gives back what it sees changes them by %g", frames, d)
		}

		// At twice the rate what is smooth stays as it is, but for a little at its crests.
		rows = swaying(m, 2*frames+1, 2*strnn.Rate)
		got = make([]float32, len(rows))
		d := denoiser(t, m, strnn.DenoiserOptions{FPS: 2 * strnn.Rate, Batch: 3, Workers: 1})
		if err := d.Denoise(got, rows); err != nil {
			t.Fatal(err)
		}
		a, b, ends := farthest(got, rows, cols, 0, body, 0, 2*frames+1), farthest(got, rows, cols, body, contacts, 1, 2*frames), farthest(got, rows, cols, body, contacts, 0, 2*frames+1)
		if max(a, b) > 1e-3 || ends > 0.01 {
			t.Errorf("%d frames: a network that gives back what it sees changes them by %g at twice its rate, the body's motion by %g, at its ends %g", 2*frames+1, a, b, ends)
		}

		// What alternates from frame to frame is gone, and the body gets as far.
		shaking := slices.Clone(rows)
		for i := range shaking {
			if i%cols < contacts {
				shaking[i] += 0.1 * float32(i/cols%2*2-1)
			}
		}
		if err := d.Denoise(shaking, shaking); err != nil {
			t.Fatal(err)
		}
		if d := farthest(shaking, got, cols, 0, body, 1, 2*frames); d > 1e-5 {
			t.Errorf("%d frames: %g is left of what alternates", 2*frames+1, d)
		}
		var was, is feature.Place
		for f := range 2*frames + 1 {
			was, is = was.Advance(rows[f*cols+body:], 0.5/strnn.Rate), is.Advance(got[f*cols+body:], 0.5/strnn.Rate)
		}
		if d := was.Pos.Dist(is.Pos); d > 0.002 {
			t.Errorf("%d frames: the body goes %g m elsewhere", 2*frames+1, d)
		}
	}

	// Windows that are too low where they begin and too high where they end make no
	// steps: in a motion that stands still a frame differs from the next by no more than
	// in a window.
	const off = 0.01
	m = giving(t, off)
	rows := slices.Repeat(swaying(m, 1, strnn.Rate), 37)
	for i := range rows {
		rows[i]++
	}
	got := make([]float32, len(rows))
	if err := denoiser(t, m, strnn.DenoiserOptions{Batch: 3, Workers: 1}).Denoise(got, rows); err != nil {
		t.Fatal(err)
	}
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

// The result has the same bits for any batch and any number of workers, and contacts stay
// what they are.
func TestDenoiseIsIndependent(t *testing.T) {
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
			if err := denoiser(t, m, strnn.DenoiserOptions{FPS: 2 * strnn.Rate, Batch: how[0], Workers: how[1]}).Denoise(got, rows); err != nil {
				t.Fatal(err)
			}
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

// The frames are what the network decodes of the window, moved by the linear filters and
// filtered: one window of a motion is as the sessions of its parts make it.
func TestDenoiseOfOneWindow(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Filter: true})
	cols, body := m.Layout.Columns(), m.Layout.Contact(0)
	rows := teststrnn.Seen(t, 1, 4)
	got := make([]float32, len(rows))
	if err := denoiser(t, m, strnn.DenoiserOptions{Batch: 1, Workers: 1}).Denoise(got, rows); err != nil {
		t.Fatal(err)
	}
	run := func(inputs, outputs []string, in ...[]float32) [][]float32 {
		net, err := m.Net.Part(inputs, outputs)
		if err != nil {
			t.Fatal(err)
		}
		s, err := net.NewSession(netruntime.SessionOptions{Batch: 1, Length: m.Encode, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		out := make([][]float32, len(outputs))
		for i := range out {
			out[i] = make([]float32, m.Encode*cols)
		}
		if err := s.RunSequences(out, in, 1, m.Encode); err != nil {
			t.Fatal(err)
		}
		return out
	}
	state := run([]string{strnn.ValueX}, strnn.ValueState[:], rows)
	// The made-up filters give back what they see.
	y := run([]string{strnn.ValueClock, strnn.ValueState[0], strnn.ValueState[1], strnn.ValueBase}, []string{strnn.ValueBefore}, make([]float32, m.Encode), state[0], state[1], rows)[0]
	for i := range y {
		y[i] = rows[i] + 0.3*y[i] // their scale is 0.3
	}
	y = run([]string{strnn.ValueZ}, []string{strnn.ValueFiltered}, y)[0]
	if d := farthest(got, y, cols, 0, body, 0, m.Encode); d > 1e-5 {
		t.Errorf("values differ by %g from what the parts make", d)
	}
	if farthest(y, rows, cols, 0, body, 0, m.Encode) < 1e-3 {
		t.Error("the network changes nothing")
	}
}

// What is known stays to the bit, and what is missing is smooth: whatever stood there.
func TestFill(t *testing.T) {
	m := giving(t, 0)
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
	spoilt := slices.Clone(truth)
	for i, gone := range missing {
		if gone {
			spoilt[i] = float32(math.NaN())
		}
	}
	got := make([]float32, len(truth))
	if err := d.Fill(got, spoilt, missing); err != nil {
		t.Fatal(err)
	}
	for i, gone := range missing {
		if !gone && got[i] != truth[i] {
			t.Fatalf("value %d of frame %d, which is known, becomes %g from %g", i%cols, i/cols, got[i], truth[i])
		}
	}
	// A curve between the ends, of what sways by 0.2 with 4 rad/s.
	if d := farthest(got, truth, cols, 7, l.Body(), 20, 32); d > 0.02 {
		t.Errorf("a gap of 0.2 s is filled %g off", d)
	}
	mean, _ := m.Net.Tensor("mean")
	for f := range frames {
		if v := got[f*cols+6]; math.Abs(float64(v-mean.Data[6])) > 1e-5 {
			t.Fatalf("a value that is nowhere is %g in frame %d, want the mean %g", v, f, mean.Data[6])
		}
		if f < 9 && math.Abs(float64(got[f*cols+4]-truth[9*cols+4])) > 0.03 || f >= 50 && math.Abs(float64(got[f*cols+5]-truth[49*cols+5])) > 0.03 {
			t.Fatalf("before and after what is known, frame %d is not held: %g and %g", f, got[f*cols+4], got[f*cols+5])
		}
		if v := got[f*cols+l.Contact(1)]; !(v >= 0 && v <= 1) {
			t.Fatalf("a contact is %g in frame %d", v, f)
		}
	}
	again := slices.Clone(truth)
	if err := d.Fill(again, again, missing); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again, got) {
		t.Error("what stands in gaps changes the result")
	}

	// Noise beside a gap bends the curve over it once, not once for each time that it is
	// decoded.
	noisy := slices.Repeat(truth[:cols], frames)
	for i := range noisy {
		if i%cols < l.Body() {
			noisy[i] += 0.1 * float32(i/cols%2*2-1)
		}
	}
	if err := d.Fill(noisy, noisy, missing); err != nil {
		t.Fatal(err)
	}
	if d := farthest(noisy, slices.Repeat(truth[:cols], frames), cols, 7, l.Body(), 20, 32); d > 0.18 {
		t.Errorf("a gap beside noise of 0.1 is filled %g off", d)
	}

	// What a network decodes takes the curve's place, and meets what is known.
	m = teststrnn.Model(t, teststrnn.Options{})
	filled := make([]float32, len(truth))
	if err := denoiser(t, m, strnn.DenoiserOptions{FPS: 2 * strnn.Rate, Batch: 4, Workers: 2}).Fill(filled, spoilt, missing); err != nil {
		t.Fatal(err)
	}
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
		"want as many, 70 a frame":                     d.Denoise(rows[:cols], rows),
		"values are to be made of 1399":                d.Denoise(rows[:1399], rows[:1399]),
		"value 2 of frame 3 is +Inf":                   d.Denoise(rows, bad),
		"of 1400 values 3 say":                         d.Fill(rows, rows, make([]bool, 3)),
		"value 2 of frame 3 is +Inf: ":                 d.Fill(rows, bad, make([]bool, len(bad))),
		"0 windows at a time":                          opened(strnn.DenoiserOptions{Workers: 1}),
		"on 0 workers":                                 opened(strnn.DenoiserOptions{Batch: 1}),
		"45 frames per second: want a multiple of 30":  opened(strnn.DenoiserOptions{FPS: 45, Batch: 1, Workers: 1}),
		"-30 frames per second":                        opened(strnn.DenoiserOptions{FPS: -30, Batch: 1, Workers: 1}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
	if want := swaying(m, 20, 2*strnn.Rate); !slices.Equal(rows, want) {
		t.Error("a motion that is refused changed")
	}
}
