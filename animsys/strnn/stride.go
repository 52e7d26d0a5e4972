package strnn

import (
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Feet and body of predicted frames do not agree by themselves: the swing of the joints shrinks a
// little in each window, the body's speed does not, and so feet that stand slide ahead.

// Constants of stride and follow.
const (
	strideLow   = 0.03  // m over its standing height, from which a contact does not stand
	strideDoubt = 0.01  // distrust of a change of the swing, as a share of the squared way of the body
	strideLeast = 0.002 // and of people who hardly move, m²
	swingLess   = 0.2   // bounds of the change
	swingMore   = 0.6
	slipMost    = 0.5 // of the way of the body: what slides by more swings
	slideSpeed  = 0.2 // m/s, added to the speed of which a slide is a share
	followShare = 0.5 // of the slide that the body makes up for
	followLeast = 0.5 // frames of contact that count as nothing
)

// slip returns how far a contact slides over the ground from frame a to frame b, the next one, m, seen from
// a, and how surely it stands, from 0 to 1.
func (s *cleanup) slip(a, b []float32, c int) (slide m3.Vec3, stands float32) {
	at := s.feet[c]
	high := max(a[at+1], b[at+1]) - s.soleHeight[c]
	if stands = min(1, 1-high/strideLow); stands <= 0 {
		return m3.Vec3{}, 0
	}
	way := feature.Place{}.Advance(a[s.m.Layout.Body():], 1.0/Rate)
	slide = way.Pos.Add(m3.YawQuat(way.Yaw).Rotate(m3.V(b[at], 0, b[at+2]))).Sub(m3.V(a[at], 0, a[at+2]))
	if slide.Len() > s.m.Layout.Contacts[c].Speed/Rate+slipMost*way.Pos.Len() { // it swings
		return m3.Vec3{}, 0
	}
	return slide, stands
}

// slide returns the mean speed of standing feet over the ground as a share of slideSpeed and the
// body's speed.
func (s *cleanup) slide(rows, seen []float32) float32 {
	cols := s.m.Layout.Columns()
	before := seen[(s.m.Encode-1)*cols:][:cols]
	sum, weight, way := float32(0), float32(1), float32(0)
	for f := range s.m.Predict {
		row := rows[f*cols:][:cols]
		for c := range s.feet {
			slide, stands := s.slip(before, row, c)
			sum, weight = sum+stands*slide.Len()*Rate, weight+stands
		}
		way += feature.Place{}.Advance(before[s.m.Layout.Body():], 1.0/Rate).Pos.Len()
		before = row
	}
	return sum / weight / (slideSpeed + way*Rate/float32(s.m.Predict))
}

// stride changes the swing of all joints about mean, (columns), by the share by which standing feet
// slide least. The change begins at 0 in each window. stride reports whether the frames are usable.
func (s *cleanup) stride(rows, seen, mean []float32) bool {
	m, l := s.m, s.m.Layout
	cols, body := l.Columns(), l.Body()
	before := seen[(m.Encode-1)*cols:][:cols]
	grown := func(f int) float32 { return float32(f+1) / float32(m.Predict) }
	var off, of float32 // least squares of slide + share · its derivative
	for f := range m.Predict {
		row := rows[f*cols:][:cols]
		way := feature.Place{}.Advance(before[body:], 1.0/Rate)
		turn := m3.YawQuat(way.Yaw)
		for c, at := range s.feet {
			slide, stands := s.slip(before, row, c)
			if stands == 0 {
				continue
			}
			swing := func(row []float32) m3.Vec3 { return m3.V(row[at]-mean[at], 0, row[at+2]-mean[at+2]) }
			by := turn.Rotate(swing(row)).Scale(grown(f)).Sub(swing(before).Scale(grown(f - 1)))
			off, of = off-stands*by.Dot(slide), of+stands*(by.Dot(by)+strideDoubt*way.Pos.Dot(way.Pos))
		}
		before = row
	}
	share := m3.Clamp(off/(of+strideLeast), -swingLess, swingMore)
	for f := range m.Predict {
		row := rows[f*cols:][:cols]
		for k := range body {
			row[k] += (row[k] - mean[k]) * share * grown(f)
		}
	}
	return s.fit(rows) && s.ground(rows, seen)
}

// follow moves the body as standing feet tell, smoothly.
func (s *cleanup) follow(rows, seen []float32) {
	m := s.m
	cols, body := m.Layout.Columns(), m.Layout.Body()
	row := func(i int) []float32 { // the last frames seen, and those made
		if i < groundReach {
			return seen[max(0, m.Encode-groundReach+i)*cols:][:cols]
		}
		return rows[(i-groundReach)*cols:][:cols]
	}
	pairs := groundReach + m.Predict - 1
	for i := range pairs {
		s.slides[i], s.stands[i] = m3.Vec3{}, 0
		for c := range s.feet {
			slide, stands := s.slip(row(i), row(i+1), c)
			s.slides[i], s.stands[i] = s.slides[i].Add(slide.Scale(stands)), s.stands[i]+stands
		}
	}
	for f := range m.Predict {
		var sum m3.Vec3
		weight := float32(followLeast)
		for i := f; i <= min(f+2*groundReach, pairs-1); i++ { // around groundReach+f
			near := 1 - m3.Abs(float32(i-groundReach-f))/(groundReach+1)
			sum, weight = sum.Add(s.slides[i].Scale(near)), weight+near*s.stands[i]
		}
		v := rows[f*cols+body:][:feature.MotionLen]
		v[feature.MotionX] -= followShare * sum.X / weight * Rate
		v[feature.MotionZ] -= followShare * sum.Z / weight * Rate
	}
}
