package manifold

import (
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// The networks' data hardly stand. So the people that they make hold the hips still while their feet slide
// below them, and lock their knees. Real people keep their feet in place and sway over them.
const (
	standBack  = 45   // frames in which a walker's offset from the curve shrinks to a third
	standMost  = 0.06 // m, the largest offset
	standSigma = 5    // frames, deviation of the Gaussian that smooths offsets

	standHeel  = 0.092 // m, heights of the heels and toes of people who stand
	standToe   = 0.034
	standSink  = 0.011 // m, by which the body is lower over straight legs,
	standKnee  = 0.02  // m, and knees further ahead
	standSlope = 12    // frames, deviation of the Gaussian that smooths that

	weightPeriod = 100  // frames in which who stands shifts their weight
	weightAside  = 0.03 // m, deviations
	weightAhead  = 0.015
)

var standKernel, sinkKernel = kernel(standSigma), kernel(standSlope)

// stand lets a body that does not go along its curve, body, (frames, feature.MotionLen), sway over its
// feet: it moves it, in sway, (frames), as far as its feet slide in rows, (frames, columns) raw, in the
// mean, and each foot by the rest. And it bends the knees.
func (l *Locomotion) stand(rows, body []float32, of []sway, person uint32) {
	m := l.Model.Layout
	cols, n, frames := m.Columns(), len(m.Contacts), len(of)
	moved := make([]offsets, n) // of each contact over the ground, against its slide
	for c := range moved {
		moved[c] = newOffsets(frames)
	}
	stands := make([]float64, frames)
	place := func(c, f int, at feature.Place) m3.Vec3 {
		p := rows[f*cols+m.Pos(m.Joint(m.Contacts[c].Joint)):]
		return at.Pos.Add(m3.YawQuat(at.Yaw).Rotate(m3.V(p[0], 0, p[2])))
	}
	for f := range frames - 1 {
		v := body[f*feature.MotionLen:][:feature.MotionLen]
		left := 1.0
		if still(v) {
			stands[f] = 1
		} else {
			left -= 1.0 / standBack
		}
		here, next := of[f].on(feature.Place{}), of[f+1].on(feature.Place{}.Advance(v, 1.0/Rate))
		for c, to := range moved {
			slip := place(c, f+1, next).Sub(place(c, f, here)).Scale(float32(stands[f]))
			for i, by := range [2]float32{slip.X, slip.Z} {
				to[i][f+1] = min(max(left*to[i][f]-float64(by), -standMost), standMost)
			}
		}
	}
	aside, ahead := wanders{person: person, channel: channelWeight, period: weightPeriod}, wanders{person: person, channel: channelWeight + 1, period: weightPeriod}
	var balance [2]stir
	stirs(balance[:], person, channelBody)
	for f := range of {
		on := standing(stands, f)
		var mean m3.Vec3
		for c := range moved {
			mean = mean.Add(moved[c].smooth(f).Scale(1 / float32(n)))
		}
		if person != 0 {
			mean = mean.Add(m3.V(weightAside*aside.at(f)+balance[0].at(f, fidgetBody), 0, weightAhead*ahead.at(f)+balance[1].at(f, fidgetBody)).Scale(on))
		}
		of[f].x, of[f].z = of[f].x+mean.X, of[f].z+mean.Z
		row := rows[f*cols:][:cols]
		shift := func(j int, by m3.Vec3) {
			p := row[m.Pos(j):]
			p[0], p[1], p[2] = p[0]+by.X, p[1]+by.Y, p[2]+by.Z
		}
		// The feet stand as high as recorded ones, and the hips with them.
		var rise float32
		for c, contact := range m.Contacts {
			j, high := m.Joint(contact.Joint), float32(standHeel)
			if l.Walker.toe[c] {
				high = standToe
			} else {
				rise += (high - row[m.Pos(j)+1]) / float32(n-l.toes) // the mean of the heels
			}
			shift(j, moved[c].smooth(f).Sub(mean).Add(m3.V(0, on*(high-row[m.Pos(j)+1]), 0)))
		}
		for j := range m.Joints {
			switch {
			case slices.Contains(l.knees, j):
				shift(j, m3.V(0, on*(rise-standSink/2), on*standKnee))
			case !slices.ContainsFunc(m.Contacts, func(c feature.Contact) bool { return c.Joint == m.Joints[j] }):
				shift(j, m3.V(0, on*(rise-standSink), 0))
			}
		}
	}
}

// offsets are over the ground, by frames, m.
type offsets [2][]float64

func newOffsets(frames int) offsets { return offsets{make([]float64, frames), make([]float64, frames)} }

func (l offsets) smooth(f int) m3.Vec3 {
	return m3.V(float32(convolved(l[0], standKernel, f)), 0, float32(convolved(l[1], standKernel, f)))
}

// still reports whether a body's motion is so slow that both feet stand.
func still(body []float32) bool {
	return math.Hypot(float64(body[feature.MotionX]), float64(body[feature.MotionZ])) < idleSpeed &&
		math.Abs(float64(body[feature.MotionYaw])) < idleTurn
}

// stays is 1 for a body that is still, else 0.
func stays(body []float32) float64 {
	if still(body) {
		return 1
	}
	return 0
}
