package manifold

import (
	"math"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// A held motion stays near its original, except in frames with a target, while its bones get their
// length.
func TestHold(t *testing.T) {
	m := made(t, 24, 9)
	const frames = 60
	l, cols := m.Layout, m.Layout.Columns()
	rows := m.swaying(frames)
	run := func(hold float32, targets ...Target) (edited []float32, job *Edit) {
		e := must.Get(m.NewEditor(EditorOptions{Batch: 1, Length: frames, Workers: 1}))(t)
		defer e.Close()
		job = &Edit{Batch: 1, Length: frames, Rows: slices.Clone(rows), Iterations: 40}
		must.Do(t, m.AddTargets(job, 0, feature.Place{}, targets))
		must.Do(t, m.Hold(job, 0, hold))
		must.Get(e.Run(job))(t)
		return job.Rows, job
	}
	away := func(x []float32) (square float64) {
		for i, v := range x {
			if i%cols < l.Body() {
				square += float64(v-rows[i]) * float64(v-rows[i])
			}
		}
		return math.Sqrt(square)
	}
	stretched := func(x []float32) (square float64) {
		for f := range frames {
			for _, b := range m.Bones() {
				d := float64(vec(x[f*cols:], 3*b.From).Dist(vec(x[f*cols:], 3*b.To)) - b.Length)
				square += d * d
			}
		}
		return math.Sqrt(square)
	}
	free, _ := run(0)
	held, job := run(DefaultHold)
	if !(away(held) < 0.9*away(free)) || !(stretched(held) < 0.5*stretched(rows)) {
		t.Errorf("held, joints go %.3f m and bones are %.3f m off; free %.3f and %.3f, before %.3f",
			away(held), stretched(held), away(free), stretched(free), stretched(rows))
	}
	for i, w := range job.Weight {
		if want := i%cols < l.Body(); (w == DefaultHold) != want || want && job.Want[i] != rows[i] {
			t.Fatalf("value %d of a frame is held at %g by %g, want %g", i%cols, job.Want[i], w, rows[i])
		}
	}
	hand := l.Pos(l.Joint("LeftHand"))
	_, job = run(DefaultHold, Target{Joint: "LeftHand", At: m3.V(0.3, 1, 0.3), Body: true, From: 0.2, To: 0.4})
	for f := range frames {
		reaches := f >= 12 && f <= 24
		if w := job.Weight[f*cols:]; (w[hand] == 1) != reaches || (w[0] == 0) != reaches {
			t.Fatalf("in frame %d the hand's weight is %g, the hips' %g", f, w[hand], w[0])
		}
	}
	for want, err := range map[string]error{
		"motion 1 of":             m.Hold(&Edit{Batch: 1, Length: 2, Rows: rows[:2*cols]}, 1, 1),
		"with a weight of NaN":    m.Hold(&Edit{Batch: 1, Length: 2, Rows: rows[:2*cols]}, 0, float32(math.NaN())),
		"with a weight of -1":     m.Hold(&Edit{Batch: 1, Length: 2, Rows: rows[:2*cols]}, 0, -1),
		"Rows":                    m.Hold(&Edit{Batch: 1, Length: 2, Rows: rows[:cols]}, 0, 1),
		"of an edit of 0 motions": m.Hold(&Edit{}, 0, 1),
		"motion -1 of":            m.Hold(&Edit{Batch: 1, Length: 2, Rows: rows[:2*cols]}, -1, 1),
		"motions of 0 frames":     m.Hold(&Edit{Batch: 1, Rows: rows[:2*cols]}, 0, 1),
	} {
		must.FailWith(t, err, want)
	}
}
