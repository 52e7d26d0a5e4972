package style

import (
	"sort"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/offline/dataset"
	"mannequin/offline/procgen/human"
)

// freeStyles finds transfers to the styles of procedural people in --free.
func (o *transferFlags) freeStyles(m *manifold.Model, found func(t *manifold.StyleTransfer, style *manifold.Style, seconds float64)) error {
	plain, err := freeTakes(m.Layout, "neutral", o.threads)
	if err != nil {
		return err
	}
	for _, name := range o.free {
		styled, err := freeTakes(m.Layout, name, o.threads)
		if err != nil {
			return err
		}
		pairs, frames := make([]manifold.StylePair, len(plain)), 0
		var all []float32
		for i := range pairs {
			pairs[i] = manifold.StylePair{Plain: plain[i].rows, Styled: styled[i].along(plain[i].times, m.Layout.Columns())}
			frames += len(plain[i].times)
			if plain[i].action == human.Walk {
				all = append(all, styled[i].rows...)
			}
		}
		t, err := m.NewPairedTransfer(pairs, o.threads)
		if err != nil {
			return err
		}
		t.Name = name
		style, err := m.NewStyle(all, o.threads)
		if err != nil {
			return err
		}
		found(t, style, float64(frames)/manifold.Rate)
	}
	return nil
}

// freeTake is a take as frames of an even number, with their canonical times.
type freeTake struct {
	action string
	rows   []float32
	times  []float64
}

// freeTakes returns a take of each content in a style. The takes of all styles are of the same people.
func freeTakes(l *feature.Motion, style string, workers int) ([]freeTake, error) {
	takes, _, err := human.Generate(human.Options{Minutes: 1e-3, Styles: []string{style}, Workers: workers})
	if err != nil {
		return nil, err
	}
	list := make([]freeTake, len(takes))
	err = dataset.Parallel(workers, len(takes), func(i int) error {
		t := takes[i]
		rows, _, err := dataset.RowsOf(l, t.Clip)
		n := t.Clip.Frames &^ 1
		list[i] = freeTake{t.Action, rows[:n*l.Columns()], t.Times[:n]}
		return err
	})
	return list, err
}

// along returns the frames of t at canonical times, between the frames before and after.
func (t *freeTake) along(times []float64, cols int) []float32 {
	out := make([]float32, 0, len(times)*cols)
	last := len(t.times) - 1
	for _, time := range times {
		i := min(max(sort.SearchFloat64s(t.times, time), 1), last)
		a := float32(0)
		if d := t.times[i] - t.times[i-1]; d > 0 {
			a = float32(min(max((time-t.times[i-1])/d, 0), 1))
		}
		before, after := t.rows[(i-1)*cols:], t.rows[i*cols:]
		for c := range cols {
			out = append(out, before[c]+a*(after[c]-before[c]))
		}
	}
	return out
}
