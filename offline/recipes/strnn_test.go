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

func smallSTRNN(how Running) *STRNN {
	m := DefaultSTRNN()
	m.Encode, m.Predict, m.Units, m.Latent = 6, 4, 12, 3
	m.Train, m.HeldOut, m.Running = wholly(strolls(3, 60, 0), m.Frames()), wholly(strolls(1, 50, 5), m.Frames()), how
	m.Epochs, m.Batch = 2, 8
	return &m
}

// wholly cuts a set into windows that lie inside of its clips.
func wholly(set *dataset.Motion, length int) *dataset.Motion {
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
		model, err := strnn.New(file)
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

// In the epochs that are for it the filter learns, and in no others.
func TestSTRNNTunesItsFilter(t *testing.T) {
	open := func(tune float64) *netruntime.Net {
		dir := t.TempDir()
		m := smallSTRNN(how(t, dir, 1))
		m.Spatial, m.HeldOut = false, m.Train // what is learnt shows in the held-out loss
		m.Tune, m.Epochs, m.Noise, m.Stretch = tune, 2, 0, 0
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
