package strnn

import (
	"math"
	"strings"
)

// A network predicts about the mean of what may follow, so trunk and arms tilt, twist and swing less than any
// person's.
const (
	livelyMore  = 0.33 // by which they move more about their mean, a share
	livelySigma = 10   // frames, deviation of the Gaussian that takes the mean
	livelyBegin = 15   // frames after the recording in which that begins
)

// Enliven lets trunk, head and arms of a predicted motion, rows (frames, columns) raw at Rate, move more
// against the hips from frame have on. It is for motion that is shown: Extend must not go on from it.
func (m *Model) Enliven(rows []float32, have int) {
	if m.Person == nil {
		return
	}
	l := m.Layout
	cols := l.Columns()
	frames := len(rows) / cols
	have = max(have, 0)
	var kernel [3*livelySigma + 1]float64
	sum := 0.0
	for i := range kernel {
		kernel[i] = math.Exp(-0.5 * float64(i*i) / (livelySigma * livelySigma))
		sum += kernel[i]
		if i > 0 {
			sum += kernel[i]
		}
	}
	line := make([]float64, frames)
	for j, name := range l.Joints {
		if j == 0 || strings.Contains(name, "Leg") || strings.Contains(name, "Foot") || strings.Contains(name, "Toe") {
			continue
		}
		for axis := range 3 {
			at := l.Pos(j) + axis
			for f := range line {
				line[f] = float64(rows[f*cols+at] - rows[f*cols+l.Pos(0)+axis])
			}
			for f := have; f < frames; f++ {
				mean := kernel[0] * line[f]
				for i := 1; i < len(kernel); i++ {
					mean += kernel[i] * (line[max(f-i, 0)] + line[min(f+i, frames-1)])
				}
				begin := min(float64(f-have)/livelyBegin, 1)
				rows[f*cols+at] += float32(livelyMore * begin * (line[f] - mean/sum))
			}
		}
	}
}
