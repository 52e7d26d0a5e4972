package strnn

import (
	"strings"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// A Stream draws once for each window, so its people move even less than those of Extend.
const (
	livelyTrunk  = 1.25 // by which their trunks and heads move more about their mean against the hips, a share
	livelyArms   = 0.77 // and their arms against the shoulders
	livelyWindow = 20   // most frames of that mean, which ends with the frame itself: later ones are not made yet
	calmReach    = 5    // most frames before and after of the mean that calms people who stand
)

// livelyColumn is a value of a joint that moves more.
type livelyColumn struct {
	at, shoulder, hips int // columns of the joint's place, of its shoulder's, and of the hips'; a joint of the trunk is its own shoulder
}

// livelyColumns lists what moves more in a stream, arms before the trunk.
func (m *Model) livelyColumns() (arms []livelyColumn) {
	l := m.Layout
	var trunk []livelyColumn
	for j, name := range l.Joints {
		if j == 0 || strings.Contains(name, "Leg") || strings.Contains(name, "Foot") || strings.Contains(name, "Toe") {
			continue
		}
		shoulder, to := j, &trunk
		for _, arm := range []string{"LeftArm", "RightArm"} {
			if s := l.Joint(arm); s >= 0 && s != j && m.isDescendant(name, arm) {
				shoulder, to = s, &arms
			}
		}
		for axis := range 3 {
			*to = append(*to, livelyColumn{l.Pos(j) + axis, l.Pos(shoulder) + axis, l.Pos(0) + axis})
		}
	}
	return append(arms, trunk...)
}

// more is by how much more a joint would move about zero.
func (c *livelyColumn) more(frame []float32) float32 {
	return livelyArms*(frame[c.at]-frame[c.shoulder]) + livelyTrunk*(frame[c.shoulder]-frame[c.hips])
}

// enliven writes the places of joints that a row shows in its window. The network goes on from the window itself.
func (s *Stream) enliven(row int) {
	m, window, shown := s.model, s.window(row), s.joints(row)
	cols, width := m.Layout.Columns(), m.Layout.Body()
	for f := range m.Predict + 1 {
		m.calmed(shown[f*width:][:width], window, f)
	}
	n := min(livelyWindow, m.Encode)
	for i := range s.lively {
		c, sum := &s.lively[i], float32(0)
		for f := m.Encode - n; f < m.Encode-1; f++ {
			sum += c.more(window[f*cols:])
		}
		for f := range m.Predict + 1 {
			at, place := m.Encode-1+f, shown[f*width:]
			sum += c.more(window[at*cols:])
			place[c.at] += c.more(place) - sum/float32(n)
			sum -= c.more(window[(at-n+1)*cols:])
		}
	}
}

// calmed writes the joints of a frame of a window into dst. Those of people who stand lose their tremor: they
// become the mean of the frames around, of which there are none at the window's ends.
func (m *Model) calmed(dst, window []float32, f int) {
	l := m.Layout
	cols, at := l.Columns(), m.Encode-1+f
	copy(dst, window[at*cols:])
	reach := min(f, m.Predict-f, calmReach, m.Encode-1)
	still := float32(1)
	for i := at - reach; i <= at+reach; i++ {
		body := window[i*cols+l.Body():]
		pace := m3.V(body[feature.MotionX], 0, body[feature.MotionZ]).Len() + strideTurn*m3.Abs(body[feature.MotionYaw])
		still = min(still, 1-m3.SmoothStep(standsBelow/2, standsBelow, pace))
	}
	if still == 0 || reach == 0 {
		return
	}
	for k := range dst {
		dst[k] *= 1 - still
	}
	near := 1 / float32(reach+1)
	for i := -reach; i <= reach; i++ {
		share := still * near * (1 - near*m3.Abs(float32(i)))
		for k, v := range window[(at+i)*cols:][:len(dst)] {
			dst[k] += share * v
		}
	}
}

// joints returns the places of joints that a row shows in its window, (1+Predict, columns of joints).
func (s *Stream) joints(row int) []float32 {
	n := (1 + s.model.Predict) * s.model.Layout.Body()
	return s.places[row*n:][:n]
}
