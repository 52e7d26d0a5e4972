package manifold

import (
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/must"
)

// Toes that fly low before and after they stand are raised in runs, with their heels, and standing ones asked to be
// on the ground; walks keep their bits.
func TestPlantRunners(t *testing.T) {
	base, steps, motion := shipped(t)
	m := must.Get(NewModel(base))(t)
	w := must.Get(m.With(steps, motion).NewWalker(WalkerOptions{Batch: 1, Length: 2, Workers: 1}))(t)
	defer w.Close()
	const frames, lands, leaves = 20, 8, 12
	l, n := m.Layout, len(m.Layout.Contacts)
	cols := l.Columns()
	contacts := make([]float32, frames*n)
	toe := -1
	for c, heel := range w.heel {
		if heel >= 0 {
			toe = c
		}
	}
	for f := lands; f < leaves; f++ {
		contacts[f*n+toe] = 1
	}
	at, heel := l.Pos(l.Joint(l.Contacts[toe].Joint))+1, l.Pos(l.Joint(l.Contacts[w.heel[toe]].Joint))+1
	for _, speed := range []float32{1.4, 3} {
		rows, want, weight, body := make([]float32, frames*cols), make([]float32, frames*cols), make([]float32, frames*cols), make([]float32, frames*feature.MotionLen)
		for f := range frames {
			rows[f*cols+at], rows[f*cols+heel] = 0.01, 0.08
			body[f*feature.MotionLen+feature.MotionZ] = speed
			weight[f*cols+heel] = 1 // of an earlier motion
		}
		w.plantRunners(rows, want, weight, body, contacts)
		for f := range frames {
			away := max(lands-f, f-leaves+1, 0)
			high, heavy := max(0.01, min(clearMost, clearPace*float32(away))), float32(plantWeight)
			if f <= lands || f >= leaves-1 {
				heavy = 0
			}
			if speed < 1.8 {
				high, heavy = 0.01, 0
			}
			if got := rows[f*cols+at]; got != high && (got < high-1e-6 || got > high+1e-6) {
				t.Errorf("at %g m/s the toe is at %g m in frame %d, want %g", speed, got, f, high)
			}
			if d := rows[f*cols+heel] - rows[f*cols+at]; d < 0.07-1e-6 || d > 0.07+1e-6 {
				t.Errorf("at %g m/s the heel is %g m over the toe in frame %d, want 0.07", speed, d, f)
			}
			if got := weight[f*cols+at]; got != heavy || want[f*cols+at] != 0 || weight[f*cols+heel] != 0 {
				t.Errorf("at %g m/s a toe's weight is %g in frame %d, want %g", speed, got, f, heavy)
			}
		}
	}
}
