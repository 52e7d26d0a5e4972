package recipes

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"mannequin/animsys/strnn"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
)

func smallSTRNN(how RunOptions) *STRNN {
	m := DefaultSTRNN()
	m.Encode, m.Predict, m.Units, m.Latent = 6, 4, 12, 3
	m.Train, m.HeldOut, m.RunOptions = wholly(strolls(3, 60, 0), m.Frames()), wholly(strolls(1, 50, 5), m.Frames()), how
	m.Epochs, m.Batch = 2, 8
	return &m
}

// wholly cuts a set into windows that lie inside of its clips.
func wholly(set *dataset.MotionSet, length int) *dataset.MotionSet {
	set.Length, set.Margin, set.Windows = length, 0, nil
	for c := range set.Clips {
		for from := 0; from+length <= set.Clips[c].Frames; from += 5 {
			set.Windows = append(set.Windows, dataset.Window{Clip: int32(c), From: int32(from)})
		}
	}
	return set
}

// The model file computes what was trained.
func TestSTRNNComputesWhatWasTrained(t *testing.T) {
	for name, change := range map[string]func(*STRNN){"whole": func(*STRNN) {}, "temporal": func(m *STRNN) {
		m.Spatial, m.Filter, m.Linear, m.Latent, m.Chain, m.Corrupt = false, false, false, 0, 1, [2]float64{}
	}} {
		dir := t.TempDir()
		m := smallSTRNN(how(t, dir, 1))
		change(m)
		if _, err := m.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		file, err := netruntime.Open(filepath.Join(dir, "m.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		model, err := strnn.NewModel(file)
		if err != nil {
			t.Fatal(err)
		}
		cols := m.Train.Layout.Columns()
		l, err := newSTRNNLoss(m)
		if err != nil {
			t.Fatal(err)
		}
		net := l.net
		for _, p := range net.params()[:net.temporal()] {
			w, ok := file.Tensor(p.Name)
			if !ok {
				t.Fatalf("%s: no tensor %s", name, p.Name)
			}
			copy(p.Val, w.Data)
		}
		for _, c := range net.filter {
			w, _ := file.Tensor(c.name + ".weight")
			b, _ := file.Tensor(c.name + ".bias")
			copy(c.w.Val, taps(w.Data, c.out, c.in, c.width))
			copy(c.b.Val, b.Data)
		}
		pool := grad.NewPool(1)
		defer pool.Close()
		tape := grad.NewTape(pool)
		n, ways := m.Encode+m.Predict, make([]float32, 2*m.Latent)
		for i := range ways {
			ways[i] = float32(i) - 2
		}
		seen := tape.Frames(l.batch.frames(tape, []int32{1, 2}, false, n, 0), n, 0, m.Encode)
		h, c := net.state(tape, seen, m.Encode, &strnnPass{keep: 1})
		var z *grad.Mat
		if m.Latent > 0 {
			mean, logVar := net.likely(tape, h)
			z = tape.Const(2, m.Latent)
			for i := range z.Val {
				z.Val[i] = mean.Val[i] + ways[i]*float32(math.Exp(float64(logVar.Val[i])/2))
			}
		}
		base := l.base(tape, seen, m.Encode, m.Predict)
		y := l.based(tape, net.frames(tape, net.after(tape, h, c, z, base, m.Predict), &strnnPass{keep: 1}), base, m.Encode, m.Predict)
		if m.Filter {
			y = tape.Join(2, tape.Frames(seen, m.Encode, m.Encode-strnn.FilterNear, m.Encode), y)
			y = tape.Frames(net.filtered(tape, y, strnn.FilterNear+m.Predict), strnn.FilterNear+m.Predict, strnn.FilterNear, strnn.FilterNear+m.Predict)
		}
		raw := make([]float32, len(seen.Val))
		for i, v := range seen.Val {
			raw[i] = v*m.Train.Std[i%cols] + m.Train.Mean[i%cols]
		}
		p, err := model.NewPredictor(strnn.PredictorOptions{Batch: 2, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		got := make([]float32, 2*m.Predict*cols)
		if err := p.Predict(got, raw, ways, 2); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			for k := range m.Predict * cols {
				want := y.Val[i*m.Predict*cols+k]*m.Train.Std[k%cols] + m.Train.Mean[k%cols]
				if v := got[i*m.Predict*cols+k]; math.Abs(float64(v-want)) > 1e-4 {
					t.Fatalf("%s: value %d of motion %d: the file gives %g, training %g", name, k, i, v, want)
				}
			}
		}
	}
}

// Joints to come are wrong by how far off they are, all else by its square, and so are
// joints of frames that are made again.
func TestSTRNNDistance(t *testing.T) {
	m := smallSTRNN(how(t, t.TempDir(), 1))
	m.Linear, m.Distance = false, 5
	l, err := newSTRNNLoss(m)
	if err != nil {
		t.Fatal(err)
	}
	pool := grad.NewPool(1)
	defer pool.Close()
	tape := grad.NewTape(pool)
	layout := m.Train.Layout
	cols, body := layout.Columns(), layout.Body()
	y, want := tape.Const(2*m.Predict, cols), tape.Const(2*m.Predict, cols)
	clear(want.Val)
	square := 0.0 // mean square of all joints' values
	for i := range y.Val {
		c := i % cols
		y.Val[i] = 0.5
		if c < body {
			y.Val[i] = []float32{0.3, 0, 0.4}[c%3] / m.Train.Std[c] // half a metre off
			square += float64(y.Val[i]*y.Val[i]) / float64(2*m.Predict*body)
		}
	}
	joints := float64(body) / float64(cols)
	for from, is := range map[int]float64{m.Encode: joints*5*0.5 + (1-joints)*0.25, 0: joints*square + (1-joints)*0.25} {
		if got := l.error(tape, y, want, from, m.Predict).Val[0]; math.Abs(float64(got)-is) > 1e-3*is {
			t.Errorf("from frame %d on what is wrong is %g, want %g", from, got, is)
		}
	}
}

// Batch normalisation goes by running statistics after its share of the epochs, and they
// stay then.
func TestSTRNNNormEnd(t *testing.T) {
	changed := func(end float64) bool {
		dir := t.TempDir()
		m := smallSTRNN(how(t, dir, 1))
		m.Epochs, m.NormEnd = 1, end
		if _, err := m.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		file, err := netruntime.Open(filepath.Join(dir, "m.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		w, ok := file.Tensor("encode.4.norm.var")
		if !ok {
			t.Fatal("no running statistics")
		}
		return slices.ContainsFunc(w.Data, func(v float32) bool { return v != 1 })
	}
	if changed(0) || !changed(1) {
		t.Error("statistics change in no epochs, or stay in all")
	}
	m := smallSTRNN(how(t, t.TempDir(), 1))
	m.Epochs, m.NormEnd = 10, 0.5
	l, err := newSTRNNLoss(m)
	if err != nil {
		t.Fatal(err)
	}
	for epoch := range m.Epochs {
		if l.begin(epoch); l.fixed != (epoch >= 5) {
			t.Errorf("epoch %d: fixed %t", epoch, l.fixed)
		}
	}
}

// In the epochs that are for it the filter learns, and in no others.
func TestSTRNNTunesItsFilter(t *testing.T) {
	open := func(tune float64) *netruntime.Net {
		dir := t.TempDir()
		m := smallSTRNN(how(t, dir, 1))
		m.Spatial, m.HeldOut = false, m.Train // what is learnt shows in the held-out loss
		m.Tune, m.Epochs, m.Noise, m.Stretch = tune, 2, [2]float64{}, 0
		if _, err := m.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		n, err := netruntime.Open(filepath.Join(dir, "m.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	last := func(n *netruntime.Net) []float32 {
		w, ok := n.Tensor("filter4.weight")
		if !ok {
			t.Fatal("no filter in the file")
		}
		return w.Data
	}
	if !slices.ContainsFunc(last(open(1)), func(v float32) bool { return v != 0 }) {
		t.Error("the filter did not learn")
	}
	if slices.ContainsFunc(last(open(0)), func(v float32) bool { return v != 0 }) {
		t.Error("the filter learnt before its time")
	}
}
