package recipes

import (
	"math"
	"slices"
	"testing"

	"mannequin/animsys/strnn"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/baseline"
	"mannequin/offline/dataset"
)

func smallSTRNN(how RunOptions) *STRNN {
	m := DefaultSTRNN()
	m.Encode, m.Predict, m.Units, m.Latent, m.Manner = 6, 4, 12, 3, 2
	m.Train, m.HeldOut, m.RunOptions = wholly(strolls(3, 60, 0), m.Frames()), wholly(strolls(1, 50, 5), m.Frames()), how
	m.Epochs, m.Batch = 2, 8
	return &m
}

// wholly cuts a set into windows that lie within its clips.
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
		m.Spatial, m.Filter, m.Linear, m.Latent, m.Manner, m.Chain, m.Corrupt = false, false, false, 0, 0, 1, [2]float64{}
	}} {
		dir := t.TempDir()
		m := smallSTRNN(how(dir, 1))
		change(m)
		file := trainedFile(t, m.Run, m.Out)
		model := must.Get(strnn.NewModel(file))(t)
		cols := m.Train.Layout.Columns()
		l := must.Get(newSTRNNLoss(m))(t)
		net := l.net
		for _, p := range net.temporal() {
			w, ok := file.Tensor(p.Name)
			if !ok {
				t.Fatalf("%s: no tensor %s", name, p.Name)
			}
			copy(p.Val, w.Data)
		}
		if err := net.filter.copyTensors(file); err != nil {
			t.Fatal(err)
		}
		tape := newTape(t)
		n, ways := m.Encode+m.Predict, make([]float32, 2*m.Latent)
		for i := range ways {
			ways[i] = float32(i) - 2
		}
		seen := tape.Frames(l.batch.frames(tape, []int32{1, 2}, false, n, 0), n, 0, m.Encode)
		h, c := net.state(tape, seen, m.Encode, &strnnPass{keep: 1})
		var z, none *grad.Mat
		if m.Manner > 0 {
			none = tape.Const(2, m.Manner)
			clear(none.Val)
		}
		if m.Latent > 0 {
			mean, logVar := net.prior.forward(tape, known(tape, h, none))
			z = tape.Const(2, m.Latent)
			for i := range z.Val {
				z.Val[i] = mean.Val[i] + ways[i]*float32(math.Exp(float64(logVar.Val[i])/2))
			}
		}
		base := l.base(tape, seen, m.Encode, m.Predict)
		y := l.based(tape, net.frames(tape, net.after(tape, h, c, known(tape, z, none), base, m.Predict), &strnnPass{keep: 1}), base, m.Encode, m.Predict)
		if m.Filter {
			y = tape.Join(2, tape.Frames(seen, m.Encode, m.Encode-strnn.FilterNear, m.Encode), y)
			y = tape.Frames(net.filtered(tape, y, strnn.FilterNear+m.Predict), strnn.FilterNear+m.Predict, strnn.FilterNear, strnn.FilterNear+m.Predict)
		}
		raw := make([]float32, len(seen.Val))
		for i, v := range seen.Val {
			raw[i] = v*m.Train.Std[i%cols] + m.Train.Mean[i%cols]
		}
		p := must.Get(model.NewPredictor(strnn.PredictorOptions{Batch: 2, Workers: 1}))(t)
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

// Predicted joints count by their distance. Other columns and reconstructed joints count by squared
// error.
func TestSTRNNDistance(t *testing.T) {
	m := smallSTRNN(how(t.TempDir(), 1))
	m.Linear, m.Distance = false, 5
	l := must.Get(newSTRNNLoss(m))(t)
	tape := newTape(t)
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
			t.Errorf("the error from frame %d is %g, want %g", from, got, is)
		}
	}
}

// After its share of the epochs, batch normalisation uses the running statistics and keeps them.
func TestSTRNNNormEnd(t *testing.T) {
	changed := func(end float64) bool {
		dir := t.TempDir()
		m := smallSTRNN(how(dir, 1))
		m.Epochs, m.NormEnd = 10, end // enough to beat the initial weights
		file := trainedFile(t, m.Run, m.Out)
		w, ok := file.Tensor("encode.4.norm.var")
		if !ok {
			t.Fatal("no running statistics")
		}
		return slices.ContainsFunc(w.Data, func(v float32) bool { return v != 1 })
	}
	if changed(0) || !changed(0.2) {
		t.Error("statistics change in no epochs, or stay in all")
	}
	m := smallSTRNN(how(t.TempDir(), 1))
	m.Epochs, m.NormEnd = 10, 0.5
	l := must.Get(newSTRNNLoss(m))(t)
	for epoch := range m.Epochs {
		if l.begin(epoch); l.fixed != (epoch >= 5) {
			t.Errorf("epoch %d: fixed %t", epoch, l.fixed)
		}
	}
}

// The filter learns in its own epochs and in no others.
func TestSTRNNTunesItsFilter(t *testing.T) {
	open := func(tune float64) *netruntime.Net {
		dir := t.TempDir()
		m := smallSTRNN(how(dir, 1))
		m.Spatial, m.HeldOut = false, m.Train // the held-out loss shows what the network learns
		m.Tune, m.Epochs, m.Noise, m.Stretch = tune, 2, [2]float64{}, 0
		n := trainedFile(t, m.Run, m.Out)
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
		t.Error("the filter learned before its epochs")
	}
}

// The model files of the rivals compute what was trained.
func TestRecurrentComputesWhatWasTrained(t *testing.T) {
	for _, kind := range RecurrentKinds {
		dir := t.TempDir()
		m := DefaultRecurrent()
		m.Kind, m.Units, m.Frames, m.Epochs, m.Batch = kind, 12, 10, 3, 2
		m.Train, m.HeldOut, m.RunOptions = wholly(strolls(3, 60, 0), m.Window()), wholly(strolls(1, 50, 5), m.Window()), how(dir, 1)
		file := trainedFile(t, m.Run, m.Out)
		cols := m.Train.Layout.Columns()
		net := newRecurrent(kind, cols, m.Units, 99)
		for _, p := range net.params() {
			w, ok := file.Tensor(p.Name)
			if !ok {
				t.Fatalf("%s: no tensor %s", kind, p.Name)
			}
			copy(p.Val, w.Data)
		}
		const prefix, frames = 6, 10
		rows := make([]float32, frames*cols)
		copy(rows, m.Train.Clips[0].Rows[:prefix*cols])
		r := must.Get(baseline.NewRecurrent(file, prefix, 1))(t)
		defer r.Close()
		if err := r.Extend(rows, 1, prefix, frames); err != nil {
			t.Fatal(err)
		}
		tape := newTape(t)
		x := tape.Const(frames-1, cols)
		for i := range x.Val {
			x.Val[i] = (rows[i] - m.Train.Mean[i%cols]) / m.Train.Std[i%cols]
		}
		y := net.forward(tape, x, frames-1)
		for f := prefix; f < frames; f++ {
			for k := range cols {
				want := y.Val[(f-1)*cols+k]*m.Train.Std[k] + m.Train.Mean[k]
				if got := rows[f*cols+k]; math.Abs(float64(got-want)) > 1e-4 {
					t.Fatalf("%s: frame %d, column %d: %g, training gives %g", kind, f, k, got, want)
				}
			}
		}
	}
}
