package strnn

import (
	"slices"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// cleanup repairs predicted frames so that prediction can continue from them for ever. Otherwise
// the network's own frames drift, and each window begins with a small offset. It belongs to one
// goroutine.
type cleanup struct {
	m          *Model
	joints     []int     // of the skeleton, by layout joint
	feet       []int     // (contacts) columns of their positions
	soleHeight []float32 // (contacts) height of the joint over the ground in contact, m
	points     []m3.Vec3
	model      []m3.Xform
	pos        []m3.Vec3
	rot        []m3.Quat
	low        []float32                    // (groundReach+Predict) height of the lowest contact over the ground
	least      []float32                    // the minimum of low around each frame
	sink       []float32                    // (Predict) height by which each frame is lowered
	steps      []float32                    // (groundReach+Predict) speed of the feet against each other, m/s
	bodies     [][feature.MotionLen]float32 // (groundReach+Predict) motion of a body over feet that stand
	calmed     []float32                    // (joints' columns) mean of the frames around one
	slides     []m3.Vec3                    // (groundReach+Predict) sum of the slides of standing feet
	stands     []float32                    // (groundReach+Predict) and of how surely they stand
}

// Constants of cleanup.
const (
	easeHalflife  = 0.1  // s, of the offset of the first frames
	groundReach   = 6    // frames: within this many before and after, some foot is on the ground
	contactHeight = 0.02 // m, of the lowest contact of a standing foot

	// Feet that move against each other by less than restSpeed stand both, from stepSpeed on one of
	// them steps, m/s.
	restSpeed, stepSpeed = 0.15, 0.4

	// Feet of predicted runs, and of people who go aside or back, slide more while they stand: by the share
	// runSlip of the speed above runPace and asidePace, m/s.
	runSlip, runPace, asidePace = 0.8, 1.5, 0.5
)

func (m *Model) newCleanup() *cleanup {
	l, sk := m.Layout, m.Skel
	s := &cleanup{m: m, points: make([]m3.Vec3, len(l.Joints)), model: make([]m3.Xform, sk.Len()), pos: make([]m3.Vec3, sk.Len()),
		rot: make([]m3.Quat, sk.Len()),
		low: make([]float32, groundReach+m.Predict), least: make([]float32, groundReach+m.Predict), sink: make([]float32, m.Predict),
		steps: make([]float32, groundReach+m.Predict), bodies: make([][feature.MotionLen]float32, groundReach+m.Predict),
		calmed: make([]float32, l.Body()), slides: make([]m3.Vec3, groundReach+m.Predict), stands: make([]float32, groundReach+m.Predict)}
	rest := bindPose(m.Person)
	for _, name := range l.Joints {
		s.joints = append(s.joints, sk.Index(name))
	}
	for _, c := range l.Contacts {
		s.feet = append(s.feet, l.Pos(l.Joint(c.Joint)))
		s.soleHeight = append(s.soleHeight, rest[sk.Index(c.Joint)].Y)
	}
	if len(s.soleHeight) > 0 {
		lowest := slices.Min(s.soleHeight)
		for c := range s.soleHeight {
			s.soleHeight[c] += contactHeight - lowest
		}
	}
	return s
}

// run cleans up frames that follow others: rows, (Predict, columns), after seen, (Encode, columns),
// all raw. The frames continue seen, bones have their length, the lower foot is on the ground, and
// contacts are what is low and slow. The body rests and ends where the motion want, (Predict,
// feature.MotionLen), leads; nil: it goes anywhere. run reports whether the frames are usable.
func (s *cleanup) run(rows, seen, want []float32) bool {
	if !feature.Within(rows, maxValue) {
		return false
	}
	if s.ease(rows, seen); !s.fit(rows) || !s.ground(rows, seen) {
		return false
	}
	if want != nil {
		s.rest(rows, seen)
		s.m.correctEnd(rows, want)
	}
	s.stand(rows, seen)
	return true
}

// ease fades out the offset of the first frame and its velocity from the continuation of the last
// frames.
func (s *cleanup) ease(rows, seen []float32) {
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

// fit moves joints to the nearest pose of the skeleton. rows are (frames, columns).
func (s *cleanup) fit(rows []float32) bool {
	l := s.m.Layout
	cols := l.Columns()
	for f := range len(rows) / cols {
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

// ground raises or lowers frames so that the lower foot stands on the ground, except in jumps. It
// reports whether the frames are near the ground.
func (s *cleanup) ground(rows, seen []float32) bool {
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
			s.low[i] = min(s.low[i], row[at+1]-s.soleHeight[c])
		}
	}
	around := func(of []float32, i int) []float32 {
		return of[max(0, i-groundReach):min(len(of), i+groundReach+1)]
	}
	for i := range s.least {
		s.least[i] = slices.Min(around(s.low, i))
	}
	for f := range s.sink {
		sum := float32(0)
		near := around(s.least, groundReach+f)
		for _, v := range near {
			sum += v
		}
		by := sum / float32(len(near))
		if !(m3.Abs(by) < groundMost) {
			return false
		}
		s.sink[f] = by
	}
	// The frames seen are not moved, so the shift begins at 0.
	off, by := -s.sink[0], (s.sink[0]-s.sink[min(1, m.Predict-1)])*Rate
	for f, v := range s.sink {
		for j := range m.Layout.Joints {
			rows[f*cols+m.Layout.Pos(j)+1] -= v + off
		}
		off, by = m3.Spring(off, by, 0, easeHalflife, 1.0/Rate)
	}
	return true
}

// rest lets the body of a person who stands on both feet move as its feet tell, smoothly. Otherwise
// people who stand drift.
func (s *cleanup) rest(rows, seen []float32) {
	m := s.m
	l := m.Layout
	cols := l.Columns()
	row := func(i int) []float32 { // the last frames seen, and those made
		if i < groundReach {
			return seen[max(0, m.Encode-groundReach+i)*cols:][:cols]
		}
		return rows[(i-groundReach)*cols:][:cols]
	}
	last := len(s.steps) - 1
	for i := range s.steps {
		s.bodies[i], s.steps[i] = s.motionOver(row(min(i, last-1)), row(min(i+1, last)))
		if !s.allLow(row(i)) {
			s.steps[i] = stepSpeed
		}
	}
	for f := range m.Predict {
		from, to := f, min(f+2*groundReach, last) // around groundReach+f
		steps, sum, weight := float32(0), [feature.MotionLen]float32{}, float32(0)
		for i := from; i <= to; i++ {
			steps = max(steps, s.steps[i])
			w := 1 - m3.Abs(float32(i-groundReach-f))/(groundReach+1)
			weight += w
			for k, v := range s.bodies[i] {
				sum[k] += w * v
			}
		}
		u := resting(steps)
		body := rows[f*cols+l.Body():][:feature.MotionLen]
		for k, v := range sum {
			body[k] = m3.Lerp(body[k], v/weight, u)
		}
	}
}

// resting returns how much a person rests, from 0 to 1, whose feet move against each other at a speed.
func resting(steps float32) float32 {
	u := m3.Clamp((stepSpeed-steps)/(stepSpeed-restSpeed), 0, 1)
	return u * u * (3 - 2*u)
}

// calm takes the tremor of predicted joints from frames from to to−1 of rows, (frames, columns), in which a
// person rests: they become the mean of the frames around, of which groundReach are before and after. It reports
// whether the frames are usable.
func (s *cleanup) calm(rows []float32, from, to int) bool {
	cols, joints := s.m.Layout.Columns(), s.m.Layout.Body()
	row := func(f int) []float32 { return rows[f*cols:][:cols] }
	for f := from; f < to; f++ {
		steps := float32(0)
		clear(s.calmed)
		for i := -groundReach; i <= groundReach; i++ {
			if _, v := s.motionOver(row(f+i), row(f+min(i+1, groundReach))); s.allLow(row(f + i)) {
				steps = max(steps, v)
			} else {
				steps = stepSpeed
			}
			near := (1 - m3.Abs(float32(i))/(groundReach+1)) / (groundReach + 1)
			for k, v := range row(f + i)[:joints] {
				s.calmed[k] += near * v
			}
		}
		u := resting(steps)
		for k, v := range s.calmed {
			rows[f*cols+k] = m3.Lerp(rows[f*cols+k], v, u)
		}
	}
	return s.fit(rows[from*cols : to*cols])
}

// allLow reports whether all contacts of a frame are low.
func (s *cleanup) allLow(row []float32) bool {
	for c, at := range s.feet {
		if row[at+1] >= s.m.Layout.Contacts[c].Height {
			return false
		}
	}
	return true
}

// motionOver returns the motion of the body from frame a to frame b, one after the other, by which
// the feet move least over the ground, and the highest speed that is left to a contact, m/s.
func (s *cleanup) motionOver(a, b []float32) (body [feature.MotionLen]float32, speed float32) {
	if len(s.feet) == 0 {
		return body, stepSpeed
	}
	at := func(row []float32, c int) m3.Vec3 { return m3.V(row[s.feet[c]], 0, row[s.feet[c]+2]) }
	var was, is m3.Vec3
	for c := range s.feet {
		was, is = was.Add(at(a, c)), is.Add(at(b, c))
	}
	n := 1 / float32(len(s.feet))
	was, is = was.Scale(n), is.Scale(n)
	var sin, cos float32
	for c := range s.feet {
		p, q := at(a, c).Sub(was), at(b, c).Sub(is)
		sin, cos = sin+q.Cross(p).Y, cos+q.Dot(p)
	}
	yaw := m3.Atan2(sin, cos)
	turn := m3.YawQuat(yaw)
	way := was.Sub(turn.Rotate(is))
	for c := range s.feet {
		speed = max(speed, turn.Rotate(at(b, c)).Add(way).Dist(at(a, c))*Rate)
	}
	body[feature.MotionX], body[feature.MotionZ], body[feature.MotionYaw] = way.X*Rate, way.Z*Rate, yaw*Rate
	return body, speed
}

// stand detects contacts as in recordings: see feature.Contact.
func (s *cleanup) stand(rows, seen []float32) {
	l := s.m.Layout
	cols, body := l.Columns(), l.Body()
	before := seen[(s.m.Encode-1)*cols:][:cols]
	for f := range s.m.Predict {
		row := rows[f*cols:][:cols]
		way := feature.Place{}.Advance(before[body:], 1.0/Rate)
		turn := m3.YawQuat(way.Yaw)
		usual, pace := float32(runPace), way.Pos.Len()*Rate
		if way.Pos.Z < 0.5*way.Pos.Len() { // more than 60° off the facing
			usual = asidePace
		}
		slip := runSlip * max(0, pace-usual)
		for c, at := range s.feet {
			was := m3.V(before[at], before[at+1], before[at+2])
			speed := way.Pos.Add(turn.Rotate(m3.V(row[at], row[at+1], row[at+2]))).Dist(was) * Rate
			bounds := &l.Contacts[c]
			stands := &row[l.Contact(c)]
			if *stands = 0; row[at+1] < bounds.Height && speed < bounds.Speed+slip {
				*stands = 1
			}
		}
		before = row
	}
}

// groundMost is the maximum distance of usable frames from the ground, m.
const groundMost = 1

// maxValue bounds the values of usable frames, m, m/s and rad/s.
const maxValue = 100
