package recipes

import (
	"math"
	"path/filepath"
	"testing"

	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/baseline"
)

// The rivals' files compute what was trained, frame by frame.
func TestRecurrentComputesWhatWasTrained(t *testing.T) {
	for _, kind := range RecurrentKinds {
		dir := t.TempDir()
		m := DefaultRecurrent()
		m.Kind, m.Units, m.Frames, m.Epochs, m.Batch = kind, 12, 10, 3, 2
		m.Train, m.HeldOut, m.RunOptions = wholly(strolls(3, 60, 0), m.Window()), wholly(strolls(1, 50, 5), m.Window()), how(t, dir, 1)
		if _, err := m.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		file, err := netruntime.Open(filepath.Join(dir, "m.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
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
		r, err := baseline.NewRecurrent(file, prefix, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := r.Extend(rows, 1, prefix, frames); err != nil {
			t.Fatal(err)
		}
		pool := grad.NewPool(1)
		defer pool.Close()
		tape := grad.NewTape(pool)
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
