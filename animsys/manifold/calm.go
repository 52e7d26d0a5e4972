package manifold

import (
	"strings"

	floats "mannequin/netruntime/vec"
)

// changeSmoother is a low-pass filter, S in Editor, for the changes that an edit makes to some joints.
// Without it they tremble, since a hidden value covers two frames. Feet are never filtered: a foot must
// stop quickly when it begins to stand.
type changeSmoother struct {
	cols  int
	sharp []int     // columns that stay as they are
	taps  []float32 // of the filter: the middle and one side
}

// Standard deviations of the filters, Gaussians, in frames: changes at 5.6 and at 11 Hz are halved.
const (
	calmDeviation  = 2
	limbsDeviation = 1
)

// newSmoother returns the filter of Edit.Calm, or that of Edit.CalmLimbs if limbs is set.
func (m *Model) newSmoother(limbs bool) changeSmoother {
	l, bones := m.Layout, m.Bones()
	above := make(map[int]int)
	for _, b := range bones {
		above[b.To] = b.From
	}
	s := changeSmoother{cols: l.Columns(), taps: halfGaussian(calmDeviation)}
	if limbs {
		s.taps = halfGaussian(limbsDeviation)
	}
	standing, legs := make(map[int]bool), make(map[int]bool)
	for _, c := range l.Contacts {
		j := l.Joint(c.Joint)
		standing[j] = true
		for up, ok := above[j]; ok; up, ok = above[j] { // not the hips, which end it
			legs[j], j = true, up
		}
	}
	for c := range s.cols {
		sharp := c >= l.Body()
		if j := c / 3; !sharp && limbs {
			name := l.Joints[j]
			sharp = standing[j] || !strings.Contains(name, "Left") && !strings.Contains(name, "Right") // the trunk
		} else if !sharp {
			sharp = legs[j]
		}
		if sharp {
			s.sharp = append(s.sharp, c)
		}
	}
	return s
}

// halfGaussian returns the middle and one side of a Gaussian kernel.
func halfGaussian(deviation float64) (taps []float32) {
	for _, v := range kernel(deviation) {
		taps = append(taps, float32(v))
	}
	return taps
}

// run writes S·x to dst. As S is symmetric, frames beyond the ends count as 0.
func (s *changeSmoother) run(dst, x []float32) {
	for at := 0; at < len(x); at += s.cols {
		out, row := dst[at:][:s.cols], x[at:][:s.cols]
		for i, v := range row {
			out[i] = s.taps[0] * v
		}
		for k, w := range s.taps {
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
