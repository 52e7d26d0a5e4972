package dataset

import (
	"fmt"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
)

func buildRows(sk *skel.Skeleton, recs []recording, opt Options) (*MANN, error) {
	m := &MANN{Layout: opt.Layout, Skeleton: sk}
	first := make([]int, len(recs)) // each recording's first row
	for c, r := range recs {
		m.Clips = append(m.Clips, r.name)
		first[c] = len(m.Frame)
		for _, f := range r.labels.rowFrames(m.Layout.Step()) {
			m.Clip = append(m.Clip, int32(c))
			m.Frame = append(m.Frame, int32(f))
		}
	}
	half := len(m.Frame)
	m.Rows = 2 * half
	m.Clip = append(m.Clip, m.Clip...)
	m.Frame = append(m.Frame, m.Frame...)
	m.X = make([]float32, m.Rows*m.Layout.Inputs())
	m.Y = make([]float32, m.Rows*m.Layout.Outputs())
	in, out, err := m.Layout.MirrorColumns()
	if err != nil {
		return nil, err
	}
	fast, walk := make([]bool, half), make([]bool, half)
	move := slices.Index(m.Layout.Actions, "move")
	err = Parallel(opt.Workers, len(recs), func(c int) error {
		r := recs[c]
		t, err := r.track(sk, m.Layout, opt.Unit)
		if err != nil {
			return fmt.Errorf("dataset: %s: %w", r.name, err)
		}
		if m.Layout.Phases {
			t.step(m.Layout)
		}
		for row := first[c]; row < half && m.Clip[row] == int32(c); row++ {
			f := int(m.Frame[row])
			t.input(m.Input(row), m.Layout, f)
			t.output(m.Output(row), m.Layout, f)
			feature.Mirror(m.Input(row+half), m.Input(row), in)
			feature.Mirror(m.Output(row+half), m.Output(row), out)
			moves := move >= 0 && t.weights[f*t.actions+move] >= 0.5
			fast[row] = moves && t.speed(f-fps/2) >= opt.Fast
			walk[row] = moves && !fast[row]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for r := range m.Rows {
		n := 1
		switch {
		case fast[r%half]:
			n = opt.Repeat
		case walk[r%half]:
			n = opt.Walk
		}
		for range n {
			m.Order = append(m.Order, int32(r))
		}
	}
	return m, nil
}
