package manifold

import (
	"mannequin/engine/m3"
	"mannequin/ik"
)

// levelMost is how far a window's joints are moved at most, m.
const levelMost = 0.04

// level moves all joints of rows, (frames, columns) raw, up or down, so that the toes of feet that stand flat are at the height of the ground
// in the mean. stand, (frames, contacts), is 1 for contacts that stand. The networks' people stand up to 3 cm too low, each by another
// amount. If the ground solver corrected that leg by leg, knees would bend as feet land.
func (w *Walker) level(rows, stand []float32) {
	l := w.model.Layout
	cols, n := l.Columns(), len(l.Contacts)
	var off, feet float32
	for c, heel := range w.heel {
		if heel < 0 {
			continue
		}
		at := l.Pos(l.Joint(l.Contacts[c].Joint)) + 1
		for f := range len(rows) / cols {
			if stand[f*n+c] > 0 && stand[f*n+heel] > 0 {
				off += rows[f*cols+at] - standsAt
				feet++
			}
		}
	}
	if off /= max(feet, 1); off-off != 0 {
		return
	}
	off = m3.Clamp(off, -levelMost, levelMost)
	for f := range len(rows) / cols {
		for j := range l.Joints {
			rows[f*cols+l.Pos(j)+1] -= off
		}
	}
}

// standsAt is the height of the toes' joints of people who stand, m.
var standsAt = ik.DefaultHuman().Sole + ik.TipHeight
