package strnn

import (
	"strings"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// People of a Stream move even less than those of Predictor.Extend, because a Stream draws one random sample for a whole window.
const (
	livelyTrunk  = 1.25 // by which their trunks and heads move more about their mean against the hips, a share
	livelyArms   = 0.77 // and their arms against the shoulders
	livelyWindow = 20   // most frames of that mean, which ends with the frame itself: later ones are not made yet
	calmReach    = 5    // most frames before and after of the mean that calms people who stand
	standBend    = 0.7  // by which the knees of people who stand bend, a share: the network's straighten only after seconds
	standReach   = 12   // most frames of the mean pace by which they stand, which ends with the frame itself
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

// leg is the columns of a leg's joints.
type leg struct{ hip, knee, ankle, toe int }

// uprightColumns lists the legs, and the heights of what they carry.
func (m *Model) uprightColumns() (legs []leg, carried []int) {
	l := m.Layout
	for j, name := range l.Joints {
		if !m.isDescendant(name, "LeftUpLeg") && !m.isDescendant(name, "RightUpLeg") {
			carried = append(carried, l.Pos(j)+1)
		}
	}
	for _, side := range []string{"Left", "Right"} {
		hip, knee, ankle, toe := l.Joint(side+"UpLeg"), l.Joint(side+"Leg"), l.Joint(side+"Foot"), l.Joint(side+"ToeBase")
		if min(hip, knee, ankle, toe) < 0 {
			return nil, nil
		}
		legs = append(legs, leg{l.Pos(hip), l.Pos(knee), l.Pos(ankle), l.Pos(toe)})
	}
	return legs, carried
}

// upright straightens the knees of people who stand, in a frame of a window whose joints are in place: the body rises
// over feet that stay.
func (s *Stream) upright(place, window []float32, f int) {
	m, pace := s.model, float32(0)
	n := min(standReach, m.Encode)
	for i := range n {
		pace += m.pace(window, m.Encode-1+f-i) / float32(n)
	}
	still := 1 - m3.SmoothStep(standsBelow/2, standsBelow, pace)
	if still == 0 || len(s.legs) == 0 {
		return
	}
	at := func(k int) m3.Vec3 { return m3.V(place[k], place[k+1], place[k+2]) }
	var rise [2]float32
	for i, leg := range s.legs {
		// The ground would move the foot there without the knee.
		off := contactHeight - place[leg.toe+1]
		off *= still * (1 - m3.SmoothStep(contactHeight, 2*contactHeight, m3.Abs(off)))
		place[leg.toe+1] += off
		place[leg.ankle+1] += off
		hip, knee, ankle := at(leg.hip), at(leg.knee), at(leg.ankle)
		thigh, whole := knee.Sub(hip), ankle.Sub(hip)
		a, b := thigh.Len(), ankle.Dist(knee)
		bend := m3.Acos((whole.Dot(whole) - a*a - b*b) / max(2*a*b, 1e-6))
		reach := a*a + b*b + 2*a*b*m3.Cos(bend*(1-still*(1-standBend)))
		rise[i] = max(0, m3.Sqrt(max(0, reach-whole.Flat().Dot(whole.Flat())))+whole.Y)
		hip.Y += rise[i]
		// The knee stays on its side of the line from hip to ankle.
		line := ankle.Sub(hip)
		d := max(line.Len(), 1e-6)
		way := line.Scale(1 / d)
		along := (d*d + a*a - b*b) / (2 * d)
		out := thigh.Sub(way.Scale(thigh.Dot(way))).Normalize(m3.V(0, 0, 1))
		knee = hip.Add(way.Scale(along)).Add(out.Scale(m3.Sqrt(max(0, a*a-along*along))))
		place[leg.hip+1] = hip.Y
		place[leg.knee], place[leg.knee+1], place[leg.knee+2] = knee.X, knee.Y, knee.Z
	}
	for _, k := range s.carried {
		place[k] += (rise[0] + rise[1]) / 2
	}
}

// pace is how fast the body of a frame of a window goes and turns, m/s.
func (m *Model) pace(window []float32, f int) float32 {
	body := window[f*m.Layout.Columns()+m.Layout.Body():]
	return m3.V(body[feature.MotionX], 0, body[feature.MotionZ]).Len() + strideTurn*m3.Abs(body[feature.MotionYaw])
}

// enliven writes the places of joints that a row shows in its window. The network goes on from the window itself.
func (s *Stream) enliven(row int) {
	m, window, shown := s.model, s.window(row), s.joints(row)
	cols, width := m.Layout.Columns(), m.Layout.Body()
	for f := range m.Predict + 1 {
		m.calmed(shown[f*width:][:width], window, f)
		s.upright(shown[f*width:][:width], window, f)
	}
	// Feet stand on soles. Otherwise the ground would lift them below a body that stays, and bend the knees of those who stand.
	rise := ik.DefaultHuman().Sole + ik.TipHeight - contactHeight
	for f := range m.Predict + 1 {
		for j := range m.Layout.Joints {
			shown[f*width+m.Layout.Pos(j)+1] += rise
		}
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
		still = min(still, 1-m3.SmoothStep(standsBelow/2, standsBelow, m.pace(window, i)))
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
