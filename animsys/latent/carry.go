package latent

import (
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Constants of matching the body's motion to its feet.
const (
	minScale    = 0.6
	maxScale    = 1.5
	priorWeight = 10 // (m/s)², summed over frames: weight of a factor of 1

	// Standing feet move the body by this share of its motion in 9 of 10 clips of CMU's recordings:
	// they roll, and are lifted while they still count as standing.
	minRoll = 0.80
	maxRoll = 1.02
)

// MatchRootToFeet scales the body's motion over the ground in a clip, (Frames, columns) raw, so
// that its standing feet do not slide. It returns the factor, 0.6 to 1.5; 1 if body and feet agree
// as they do in recordings. A decoder makes the motion of body and legs separately, and for
// components far from the training data they disagree.
func (m *Model) MatchRootToFeet(rows []float32) float32 {
	if m.Person == nil {
		return 1
	}
	l := m.Layout
	cols, body := l.Columns(), l.Body()
	along, square := 0.0, float64(priorWeight)
	for f := range Frames - 1 {
		a, b := rows[f*cols:][:cols], rows[(f+1)*cols:][:cols]
		x, z, turn := a[body+feature.MotionX], a[body+feature.MotionZ], a[body+feature.MotionYaw]
		for c := range l.Contacts {
			if a[l.Contact(c)] < 0.5 || b[l.Contact(c)] < 0.5 {
				continue
			}
			at := m.contacts[c]
			// velocity of the foot relative to the body
			fx := (b[at]-a[at])*Rate + turn*a[at+2]
			fz := (b[at+2]-a[at+2])*Rate - turn*a[at]
			along -= float64(fx*x + fz*z)
			square += float64(x*x + z*z)
		}
	}
	// the factor for which feet slide least
	by := float32((along + priorWeight) / square)
	by = m3.Clamp(by/m3.Clamp(by, minRoll, maxRoll), minScale, maxScale)
	if !m3.Finite(by) {
		return 1
	}
	for f := range Frames {
		rows[f*cols+body+feature.MotionX] *= by
		rows[f*cols+body+feature.MotionZ] *= by
	}
	return by
}
