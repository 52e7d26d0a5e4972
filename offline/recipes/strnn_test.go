package recipes

import (
	"math"
	"path/filepath"
	"testing"

	"mannequin/animsys/strnn"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
)

func smallSTRNN(how Running) *STRNN {
	m := DefaultSTRNN()
	m.Encode, m.Predict, m.Units = 6, 4, 12
	m.Train, m.HeldOut, m.Running = strolls(3, 60, 0), strolls(1, 50, 5), how
	m.Epochs, m.Batch = 8, 2
	return &m
}

// The model file computes what was trained.
func TestSTRNNComputesWhatWasTrained(t *testing.T) {
	for name, change := range map[string]func(*STRNN){"whole": func(*STRNN) {}, "temporal": func(m *STRNN) { m.Spatial, m.Filter, m.Offset = false, false, false }} {
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
		groups, err := strnn.GroupsOf(m.Train.Layout)
		if err != nil {
			t.Fatal(err)
		}
		cols := m.Train.Layout.Columns()
		net := newSTRNN(groups, cols, m.Units, m.Spatial, m.Filter, 99)
		for _, p := range net.temporal() {
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
		l := &strnnLoss{m: m, net: net, batch: m.windows()}
		n := m.Encode + m.Predict
		all := l.frames(tape, []int32{1, 2}, false)
		seen := tape.Frames(all, n, 0, m.Encode)
		y := net.forward(tape, seen, m.Encode, m.Predict, &strnnPass{keep: 1})
		if m.Offset {
			y = tape.Add(y, l.last(tape, seen, 2))
		}
		if m.Filter {
			y = net.filtered(tape, tape.Join(2, seen, tape.Frames(y, n, m.Encode, n)), n)
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
		if err := p.Predict(got, raw, 2); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			for k := range m.Predict * cols {
				want := y.Val[(i*n+m.Encode)*cols+k]*m.Train.Std[k%cols] + m.Train.Mean[k%cols]
				if v := got[i*m.Predict*cols+k]; math.Abs(float64(v-want)) > 1e-4 {
					t.Fatalf("%s: value %d of motion %d: the file gives %g, training %g", name, k, i, v, want)
				}
			}
		}
	}
}
