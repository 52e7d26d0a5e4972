package latent

import (
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// How far legs and a body's motion are brought together.
const (
	carryLeast = 0.6
	carryMost  = 1.5
	carryWay   = 10   // (m/s)², summed over frames, that counts like feet which go with the body
	rolling    = 0.93 // of a body's way, how far its feet carry it by this measure in the median of CMU's recordings: they roll as they stand
)

// Carry has the body of a clip, (Frames, columns) raw, go as far as its standing feet
// carry it, and returns by how much its motion over the ground is scaled, 0.6 to 1.5:
// the factor for which the feet slide least. A decoder makes the body's motion and the
// legs' each for itself, and where no recording shows what it is asked for they part.
func (m *Model) Carry(rows []float32) float32 {
	l := m.Layout
	cols, body := l.Columns(), l.Body()
	along, square := 0.0, float64(carryWay)
	for f := range Frames - 1 {
		a, b := rows[f*cols:][:cols], rows[(f+1)*cols:][:cols]
		x, z, turn := a[body+feature.MotionX], a[body+feature.MotionZ], a[body+feature.MotionYaw]
		for c, contact := range l.Contacts {
			if a[l.Contact(c)] < 0.5 || b[l.Contact(c)] < 0.5 {
				continue
			}
			at := l.Pos(l.Joint(contact.Joint))
			// How the foot goes under the body.
			fx := (b[at]-a[at])*Rate + turn*a[at+2]
			fz := (b[at+2]-a[at+2])*Rate - turn*a[at]
			along -= float64(fx*x + fz*z)
			square += float64(x*x + z*z)
		}
	}
	by := m3.Clamp(float32((along/rolling+carryWay)/square), carryLeast, carryMost)
	if !m3.Finite(by) {
		return 1
	}
	for f := range Frames {
		rows[f*cols+body+feature.MotionX] *= by
		rows[f*cols+body+feature.MotionZ] *= by
	}
	return by
}
