package manifold

import (
	"math"

	"mannequin/animsys/feature"
)

const (
	// plantWeight is the weight of the height of a runner's standing toes in the edit, 1/m².
	plantWeight = 0.05
	// A runner's toes are by clearPace higher for each frame before and after they stand, up to clearMost, m.
	clearPace, clearMost = 0.02, 0.06
)

// plantRunners keeps the toes of runners from skimming the ground: the network's, a mean of many strides,
// stand at various heights and come down flat. Toes that stand are to be on the ground, which it writes
// to want and weight for the edit; toes that fly low are raised with their heels in rows. The motion in rows has the
// body motion body and the contacts contacts.
func (w *Walker) plantRunners(rows, want, weight, body, contacts []float32) {
	l, n := w.model.Layout, len(w.lags)
	cols, frames := l.Columns(), len(contacts)/n
	clear(weight)
	height := func(contact int) int { return l.Pos(l.Joint(l.Contacts[contact].Joint)) + 1 }
	stands := make([]int, frames) // frames from the nearest in which the toe stands
	for c, heel := range w.heel {
		if heel < 0 {
			continue
		}
		for f := range frames {
			stands[f] = frames
			if contacts[f*n+c] > 0 {
				stands[f] = 0
			} else if f > 0 {
				stands[f] = stands[f-1] + 1
			}
		}
		for f := frames - 2; f >= 0; f-- {
			stands[f] = min(stands[f], stands[f+1]+1)
		}
		toe := height(c)
		for f, away := range stands {
			v := body[f*feature.MotionLen:][:feature.MotionLen]
			run := float32(inRuns(math.Hypot(float64(v[feature.MotionX]), float64(v[feature.MotionZ]))))
			if away > 0 {
				if d := run * (min(clearMost, clearPace*float32(away)) - rows[f*cols+toe]); d > 0 {
					rows[f*cols+toe] += d
					rows[f*cols+height(heel)] += d
				}
			} else if stands[max(f-1, 0)] == 0 && stands[min(f+1, frames-1)] == 0 {
				want[f*cols+toe], weight[f*cols+toe] = 0, plantWeight*run
			}
		}
	}
}
