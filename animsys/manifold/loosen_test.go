package manifold

import (
	"math"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// A foot that steps slowly while its contacts are on creeps for a second. A loosened one stands, and steps when
// it did.
func TestEditLoosen(t *testing.T) {
	m := made(t, 32, 9)
	const length, from, to, step = 120, 54, 66, 0.08
	cols, feet := m.Layout.Columns(), m.feet()
	creep, way := [2]float64{}, [2]float64{}
	for i, loosen := range []float32{0, DefaultLoosen} {
		job := &Edit{Batch: 1, Length: length, Rows: make([]float32, length*cols), Body: make([]float32, length*feature.MotionLen),
			Stand: make([]float32, length*len(feet)), Loosen: loosen}
		rest := m.stray(t, 1, length, 3)[:cols]
		for f := range length {
			row := job.Rows[f*cols:][:cols]
			copy(row, rest)
			for _, c := range feet[:2] {
				row[c+2] += step * m3.SmoothStep(from, to, float32(f))
			}
			for c := range feet {
				job.Stand[f*len(feet)+c] = 1
			}
		}
		was := slices.Clone(job.Stand)
		_, cost := m.edited(t, job)
		if !slices.Equal(job.Stand, was) {
			t.Error("the edit changed the contacts that it was given")
		}
		at := func(f int) float64 { return float64(job.Rows[f*cols+feet[0]+2]) }
		for f := 20; f+1 < length-20; f++ {
			d := math.Abs(at(f+1) - at(f))
			if way[i] += d; f < from-4 || f > to+4 {
				creep[i] += d
			}
		}
		// The body's error is gone from the rows.
		if total, _ := m.costs(job, job.Rows); math.Abs(cost-total/length) > 0.05*cost {
			t.Errorf("Loosen %g: the report has a cost of %g, in full it is %g", loosen, cost, total/length)
		}
	}
	t.Logf("creep %.4f m of %.4f, loosened %.4f of %.4f", creep[0], way[0], creep[1], way[1])
	if creep[1]/way[1] > 0.5*creep[0]/way[0] {
		t.Errorf("a loosened foot creeps by %g of %g m, another by %g of %g", creep[1], way[1], creep[0], way[0])
	}
}

// An edit takes as many steps as it is asked for, in however many parts.
func TestEditSteps(t *testing.T) {
	m := made(t, 32, 9)
	const length = 40
	for steps := range 10 {
		for _, loosen := range []float32{0, DefaultLoosen} {
			job := &Edit{Batch: 1, Length: length, Rows: m.stray(t, 1, length, 3), Stand: make([]float32, length*len(m.feet())), Iterations: steps, Loosen: loosen}
			e := must.Get(m.NewEditor(EditorOptions{Batch: 1, Length: length, Workers: 1}))(t)
			if r := must.Get(e.Run(job))(t); r.Steps != steps {
				t.Errorf("Loosen %g: %d steps, want %d", loosen, r.Steps, steps)
			}
			e.Close()
		}
	}
}
