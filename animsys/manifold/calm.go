package manifold

import (
	"math"

	floats "mannequin/netruntime/vec"
)

// changeSmoother is a low-pass filter, S in Editor, for the changes that an edit makes to the joints of
// trunk, head and arms. Without it hands and head tremble, since a hidden value covers two frames. The
// legs are not filtered: a foot must stop quickly when it begins to stand.
type changeSmoother struct {
	cols  int
	sharp []int // columns that stay as they are
}

// calmDeviation is the standard deviation of the filter, a Gaussian, in frames: changes at 5.6 Hz are
// halved.
const calmDeviation = 2

// calmTaps is the filter's kernel: the middle and one side.
var calmTaps = func() (taps [3*calmDeviation + 1]float32) {
	sum := -1.0
	value := func(k int) float64 { return math.Exp(-float64(k*k) / (2 * calmDeviation * calmDeviation)) }
	for k := range taps {
		sum += 2 * value(k)
	}
	for k := range taps {
		taps[k] = float32(value(k) / sum)
	}
	return taps
}()

func (m *Model) newSmoother() changeSmoother {
	l, bones := m.Layout, m.Bones()
	above := make(map[int]int)
	for _, b := range bones {
		above[b.To] = b.From
	}
	s := changeSmoother{cols: l.Columns()}
	legs := make(map[int]bool)
	for _, c := range l.Contacts {
		j := l.Joint(c.Joint)
		for up, ok := above[j]; ok; up, ok = above[j] { // not the hips, which end it
			legs[j], j = true, up
		}
	}
	for c := range s.cols {
		if c >= l.Body() || legs[c/3] {
			s.sharp = append(s.sharp, c)
		}
	}
	return s
}

// run writes S·x to dst. As S is symmetric, frames beyond the ends count as 0.
func (s *changeSmoother) run(dst, x []float32) {
	for at := 0; at < len(x); at += s.cols {
		out, row := dst[at:][:s.cols], x[at:][:s.cols]
		for i, v := range row {
			out[i] = calmTaps[0] * v
		}
		for k, w := range calmTaps {
			by := k * s.cols
			if k > 0 && at >= by {
				floats.Axpy(out, w, x[at-by:][:s.cols])
			}
			if k > 0 && at+by < len(x) {
				floats.Axpy(out, w, x[at+by:][:s.cols])
			}
		}
		for _, i := range s.sharp {
			out[i] = row[i]
		}
	}
}
