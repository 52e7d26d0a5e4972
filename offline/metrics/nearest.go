package metrics

import (
	"fmt"
	"math"
	"sync"

	"mannequin/animsys/strnn"
	"mannequin/offline/dataset"
)

// Settings of the manifold distance (Wang et al. 2019, sec. 5.1.2), in frames at strnn.Rate.
const (
	ManifoldFrames = 200 // predicted from each prefix
	manifoldWindow = 40
	manifoldHop    = 10
)

// Manifold holds recordings, for the distance of other motion from them.
type Manifold struct {
	set    *dataset.MotionSet
	values int       // per frame: joints and body motion
	frames []float32 // (frames, values) normalised
	starts []int32   // first frames of windows
}

// NewManifold returns the manifold of the recordings of a set.
func NewManifold(set *dataset.MotionSet) *Manifold {
	m := &Manifold{set: set, values: set.Layout.Contact(0)}
	for c := range set.Clips {
		rows := make([]float32, set.Clips[c].Frames/2*set.Layout.Columns())
		strnn.HalveRate(rows, set.Clips[c].Rows, set.Layout)
		first := len(m.frames) / m.values
		m.frames = m.normalised(m.frames, rows)
		for f := first; f+manifoldWindow <= len(m.frames)/m.values; f += manifoldHop {
			m.starts = append(m.starts, int32(f))
		}
	}
	return m
}

func (m *Manifold) normalised(dst, rows []float32) []float32 {
	cols := m.set.Layout.Columns()
	for at := 0; at < len(rows); at += cols {
		for c, v := range rows[at:][:m.values] {
			dst = append(dst, (v-m.set.Mean[c])/m.set.Std[c])
		}
	}
	return dst
}

// Distance returns the mean distance of a motion's windows from the nearest windows of the
// recordings (eq. 12 and 13). Rows are (frames, columns) raw, windows 40 frames every 10. The
// distance of two windows is the mean norm of their difference per frame, in deviations. It is
// infinite if the motion is not finite.
func (m *Manifold) Distance(rows []float32, workers int) (float64, error) {
	x := m.normalised(nil, rows)
	var windows []int
	for f := 0; f+manifoldWindow <= len(x)/m.values; f += manifoldHop {
		windows = append(windows, f)
	}
	if len(windows) == 0 || len(m.starts) == 0 {
		return 0, fmt.Errorf("metrics: %d frames, and %d windows of recordings: "+
			"want at least %d frames and one window", len(x)/m.values, len(m.starts), manifoldWindow)
	}
	nearest := make([]float64, len(windows))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(windows); i += workers {
				nearest[i] = m.nearest(x[windows[i]*m.values:][:manifoldWindow*m.values])
			}
		})
	}
	wg.Wait()
	sum := 0.0
	for _, d := range nearest {
		sum += d
	}
	return sum / float64(len(windows)), nil
}

func (m *Manifold) nearest(x []float32) float64 {
	best := math.Inf(1)
	for _, at := range m.starts {
		y, sum := m.frames[int(at)*m.values:], 0.0
		for f := 0; f < manifoldWindow && sum < best*manifoldWindow; f++ {
			square := float32(0)
			for c, v := range x[f*m.values:][:m.values] {
				d := v - y[f*m.values+c]
				square += d * d
			}
			sum += math.Sqrt(float64(square))
		}
		if d := sum / manifoldWindow; d < best { // false for NaN
			best = d
		}
	}
	return best
}
