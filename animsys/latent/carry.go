package latent

import (
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// How far legs and a body's motion are brought together.
const (
	carryLeast = 0.6
	carryMost  = 1.5
	carryWay   = 10 // (m/s)², summed over frames, that counts like feet which go with the body

	// Of a body's way its standing feet carry it, by this measure, in 9 of 10 clips of
	// CMU's recordings as far as this: they roll, and are lifted while they count as
	// standing.
	rollsLeast = 0.80
	rollsMost  = 1.02
)

// Carry has the body of a clip, (Frames, columns) raw, go as far as its standing feet
// carry it, and returns by how much its motion over the ground is scaled, 0.6 to 1.5;
// 1 where body and feet agree as they do in recordings. A decoder makes the body's
// motion and the legs' each for itself, and where no recording shows what it is asked
// for they part.
func (m *Model) MatchRootToFeet(rows []float32) float32 {
	l := m.Layout
	cols, body := l.Columns(), l.Body()
	along, square := 0.0, float64(carryWay)
	for f := range Frames - 1 {
		a, b := rows[f*cols:][:cols], rows[(f+1)*cols:][:cols]
		x, z, turn := a[body+feature.MotionX], a[body+feature.MotionZ], a[body+feature.MotionYaw]
		for c := range l.Contacts {
			if a[l.Contact(c)] < 0.5 || b[l.Contact(c)] < 0.5 {
				continue
			}
			at := m.contacts[c]
			// How the foot goes under the body.
			fx := (b[at]-a[at])*Rate + turn*a[at+2]
			fz := (b[at+2]-a[at+2])*Rate - turn*a[at]
			along -= float64(fx*x + fz*z)
			square += float64(x*x + z*z)
		}
	}
	// By how much the feet would slide least.
	by := float32((along + carryWay) / square)
	by = m3.Clamp(by/m3.Clamp(by, rollsLeast, rollsMost), carryLeast, carryMost)
	if !m3.Finite(by) {
		return 1
	}
	for f := range Frames {
		rows[f*cols+body+feature.MotionX] *= by
		rows[f*cols+body+feature.MotionZ] *= by
	}
	return by
}
