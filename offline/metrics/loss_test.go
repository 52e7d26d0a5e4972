package metrics

import (
	"errors"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/offline/dataset"
)

// A prediction that is off by known amounts has known losses.
func TestLosses(t *testing.T) {
	m := feature.Dog()
	set := &dataset.MANN{Layout: m, Rows: 700}
	set.X, set.Y = make([]float32, set.Rows*m.Inputs()), make([]float32, set.Rows*m.Outputs())
	set.YStd = make([]float32, m.Outputs())
	for r := range set.Rows {
		set.X[r*m.Inputs()] = float32(r)
		for c := range m.Outputs() {
			set.Y[r*m.Outputs()+c] = float32(r + c)
			set.YStd[c] = 2
		}
	}
	off := make([]float32, m.Outputs())
	hips := m.OutBone(0) + feature.BonePos
	off[hips], off[hips+1], off[hips+2] = 1, -1, 1 // of 81 columns of bone position
	off[m.OutRoot()+feature.RootYaw] = -6
	calls := 0
	got, err := Losses(set, 300, func(y, x []float32, rows int) error {
		calls++
		for r := range rows {
			row := x[r*m.Inputs()] // rows come in order, with their inputs
			for c := range m.Outputs() {
				y[r*m.Outputs()+c] = row + float32(c) + off[c]
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if calls != 3 {
		t.Errorf("%d calls, want 3", calls)
	}
	cols := 0
	for _, l := range got {
		mse, rms := 0.0, 0.0
		switch l.Kind {
		case "all":
			mse = (3*0.25 + 9) / 363
		case "bone position":
			mse, rms = 3*0.25/81, 0.19245 // √(3/81)
		case "root yaw":
			mse, rms = 9, 6
		}
		close(t, l.Kind+" mse", l.MSE, mse, 1e-5)
		close(t, l.Kind+" rms", l.RMS, rms, 1e-5)
		if l.Kind != "all" {
			cols += l.Cols
		}
	}
	if cols != 363 || got[0].Kind != "all" || got[0].Cols != 363 {
		t.Errorf("kinds cover %d columns", cols)
	}
	boom := errors.New("boom")
	if _, err := Losses(set, 1, func([]float32, []float32, int) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
	if got, err := Losses(&dataset.MANN{Layout: m}, 1, nil); err == nil {
		t.Errorf("no rows, but losses %v", got)
	}
}
