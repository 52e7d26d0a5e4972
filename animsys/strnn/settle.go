package strnn

import (
	"slices"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// settling makes frames that were predicted ones that a person can go on with, again and
// again: what a network makes of its own frames drifts, and begins a little beside where
// the last ones end. It belongs to one goroutine.
type settling struct {
	m      *Model
	joints []int     // of the skeleton, by the layout's
	feet   []int     // (contacts) columns of where they are
	sole   []float32 // (contacts) how high over the ground a standing joint is, m
	points []m3.Vec3
	model  []m3.Xform
	pos    []m3.Vec3
	rot    []m3.Quat
	low    []float32 // (groundReach+Predict) how high over the ground the lowest contact is
	least  []float32 // the same, the lowest of the frames around
}

// How frames are settled.
const (
	easeHalflife = 0.1  // s, of what the first frames differ by from how the last ones go on
	groundReach  = 6    // frames: in so many before and after, somebody is on the ground once
	soleHeight   = 0.02 // m, of the lowest contact of a standing foot
)

func (m *Model) newSettling() *settling {
	l, sk := m.Layout, m.Skel
	s := &settling{m: m, points: make([]m3.Vec3, len(l.Joints)), model: make([]m3.Xform, sk.Len()), pos: make([]m3.Vec3, sk.Len()), rot: make([]m3.Quat, sk.Len()),
		low: make([]float32, groundReach+m.Predict), least: make([]float32, groundReach+m.Predict)}
	rest := rested(m.Person)
	for _, name := range l.Joints {
		s.joints = append(s.joints, sk.Index(name))
	}
	for _, c := range l.Contacts {
		s.feet = append(s.feet, l.Pos(l.Joint(c.Joint)))
		s.sole = append(s.sole, rest[sk.Index(c.Joint)].Y)
	}
	if len(s.sole) > 0 {
		lowest := slices.Min(s.sole)
		for c := range s.sole {
			s.sole[c] += soleHeight - lowest
		}
	}
	return s
}

// run settles frames that follow others, rows (Predict, columns) after seen (Encode,
// columns), all raw: they begin where those end, bones have their length, the lower foot
// is on the ground, the body ends where it shall by the motion want, (Predict,
// feature.MotionLen), nil being any, and what is low and slow stands. It reports whether
// the frames are those of a person.
func (s *settling) run(rows, seen, want []float32) bool {
	if !feature.Within(rows, unfitMost) {
		return false
	}
	if s.ease(rows, seen); !s.fit(rows) || !s.ground(rows, seen) {
		return false
	}
	if want != nil {
		s.m.bring(rows, want)
	}
	s.stand(rows, seen)
	return true
}

// ease fades out what the first frame and its change differ by from how the last frames
// go on.
func (s *settling) ease(rows, seen []float32) {
	m := s.m
	cols, n := m.Layout.Columns(), m.Layout.Contact(0)
	last, before := seen[(m.Encode-1)*cols:][:cols], seen[max(0, m.Encode-2)*cols:][:cols]
	for k := range n {
		step := rows[min(1, m.Predict-1)*cols+k] - rows[k]
		off, by := 2*last[k]-before[k]-rows[k], (last[k]-before[k]-step)*Rate
		for f := range m.Predict {
			rows[f*cols+k] += off
			off, by = m3.Spring(off, by, 0, easeHalflife, 1.0/Rate)
		}
	}
}

// fit moves joints to where the skeleton has them that comes nearest.
func (s *settling) fit(rows []float32) bool {
	l := s.m.Layout
	cols := l.Columns()
	for f := range s.m.Predict {
		row := rows[f*cols:][:cols]
		feature.Place{}.Joints(s.points, row)
		if !s.m.Fit(s.model, s.pos, s.rot, s.points) {
			return false
		}
		for j := range l.Joints {
			p := s.model[s.joints[j]].Pos
			row[l.Pos(j)], row[l.Pos(j)+1], row[l.Pos(j)+2] = p.X, p.Y, p.Z
		}
	}
	return true
}

// ground lifts or lowers frames until the lower foot stands on the ground, but for as
// long as people jump. It reports whether they are near it.
func (s *settling) ground(rows, seen []float32) bool {
	m := s.m
	if len(s.feet) == 0 { // nothing says where the ground is
		return true
	}
	cols := m.Layout.Columns()
	for i := range s.low {
		row := rows[max(0, i-groundReach)*cols:]
		if i < groundReach {
			row = seen[max(0, m.Encode-groundReach+i)*cols:]
		}
		s.low[i] = groundMost
		for c, at := range s.feet {
			s.low[i] = min(s.low[i], row[at+1]-s.sole[c])
		}
	}
	around := func(of []float32, i int) []float32 {
		return of[max(0, i-groundReach):min(len(of), i+groundReach+1)]
	}
	for i := range s.least {
		s.least[i] = slices.Min(around(s.low, i))
	}
	for f := range m.Predict {
		sum := float32(0)
		near := around(s.least, groundReach+f)
		for _, v := range near {
			sum += v
		}
		by := sum / float32(len(near))
		if !(m3.Abs(by) < groundMost) {
			return false
		}
		for j := range m.Layout.Joints {
			rows[f*cols+m.Layout.Pos(j)+1] -= by
		}
	}
	return true
}

// stand has contacts stand where recorded ones would: see feature.Contact.
func (s *settling) stand(rows, seen []float32) {
	l := s.m.Layout
	cols, body := l.Columns(), l.Body()
	before := seen[(s.m.Encode-1)*cols:][:cols]
	for f := range s.m.Predict {
		row := rows[f*cols:][:cols]
		way := feature.Place{}.Advance(before[body:], 1.0/Rate)
		turn := m3.YawQuat(way.Yaw)
		for c, at := range s.feet {
			was := m3.V(before[at], before[at+1], before[at+2])
			speed := way.Pos.Add(turn.Rotate(m3.V(row[at], row[at+1], row[at+2]))).Dist(was) * Rate
			bounds := &l.Contacts[c]
			stands := &row[l.Contact(c)]
			if *stands = 0; row[at+1] < bounds.Height && speed < bounds.Speed {
				*stands = 1
			}
		}
		before = row
	}
}

// groundMost is how far from the ground frames are no longer a person's, m.
const groundMost = 1

// unfitMost is more than any value of a person's frame, m, m/s and rad/s.
const unfitMost = 100
