package dataset

import (
	"slices"

	"mannequin/animsys/feature"
)

// RestPose returns the pose block of an input row to start a character from. It is the
// stillest and most symmetric frame of those with a second of idling before and after. It
// has BoneChannels values per joint, seen from the root. It is nil if the layout has no
// idle action or no row is idle for so long. The character stands on the ground at the
// origin and faces +Z; its trajectory is at rest there.
func (m *MANN) RestPose() []float32 {
	idle := slices.Index(m.Layout.Actions, "idle")
	cols, _, err := m.Layout.MirrorColumns()
	if idle < 0 || err != nil {
		return nil
	}
	best, bestRow := 0.0, -1
	for r := range m.Rows / 2 {
		x := m.Input(r)
		if m.idleThroughout(x, idle) {
			if s := m.unrest(x, cols); bestRow < 0 || s < best {
				best, bestRow = s, r
			}
		}
	}
	if bestRow < 0 {
		return nil
	}
	return slices.Clone(m.Input(bestRow)[m.Layout.InBone(0):])
}

func (m *MANN) idleThroughout(x []float32, idle int) bool {
	for s := range feature.TrajSamples {
		if x[m.Layout.InActions(s)+idle] < 1 {
			return false
		}
	}
	return true
}

// unrest returns the squared distance of the bones of x to their mirror image plus their
// squared velocities, all in standard deviations.
func (m *MANN) unrest(x []float32, cols []feature.Column) float64 {
	var s float64
	for c := m.Layout.InBone(0); c < len(x); c++ {
		d := float64((x[c] - cols[c].Sign*x[cols[c].From]) / m.XStd[c])
		s += d * d
		if (c-m.Layout.InBone(0))%feature.BoneChannels >= feature.BoneVel {
			v := float64(x[c] / m.XStd[c])
			s += v * v
		}
	}
	return s
}
