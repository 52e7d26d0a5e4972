package manifold

import (
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Gap is a range of frames in which joints are missing.
type Gap struct {
	Joints   []string // empty: all joints and the body's place
	From, To int      // frames [From, To)
}

// tangent is the maximum number of frames over which the speed at the end of a gap continues.
// Beyond that it predicts little.
const tangent = 24

// Fill returns rows, (frames, columns) raw, with the gaps filled. The number of frames must be
// even. Joint values in the gaps are ignored and need not be finite. Everything else stays, except
// the contacts of missing joints. If all joints are missing, the body's motion in rows still gives
// the place after the gap.
//
// If some joints are missing, they are predicted from the others by a regression over the rest of
// the motion (regress.go). Trials on artificial gaps of the same length decide how much the
// prediction counts beside a curve through the ends. If all joints are missing, only the curve is
// used. Then the result is projected onto the manifold, and edited to fit the known values and bone
// lengths. iterations are those of the edit. Fill fails if no joint except the first is known in
// any frame.
func (m *Model) Fill(rows []float32, gaps []Gap, iterations, workers int) ([]float32, error) {
	frames, err := m.frames("a motion", rows, 2)
	if err != nil {
		return nil, err
	}
	cols := m.Layout.Columns()
	missing, err := m.missing(gaps, frames)
	if err != nil {
		return nil, err
	}
	x := slices.Clone(rows)
	eachRun(missing, cols, m.Layout.Pos(0), func(from, to int) { m.bridgeRoot(x, missing, from, to) })
	known := slices.Clone(x)
	for c := range cols {
		if body := c - m.Layout.Body(); body < 0 || body >= feature.MotionLen {
			eachRun(missing, cols, c, func(from, to int) { m.bridge(x, missing, c, from, to) })
		}
	}
	for _, g := range gaps {
		if len(g.Joints) > 0 {
			m.regress(x, known, missing, g)
		}
	}
	return m.projectGaps(x, missing, iterations, workers)
}

// missing returns the mask of missing values, (frames, columns).
func (m *Model) missing(gaps []Gap, frames int) ([]bool, error) {
	l, cols := m.Layout, m.Layout.Columns()
	missing := make([]bool, frames*cols)
	for i, g := range gaps {
		if g.From < 0 || g.To > frames || g.From >= g.To {
			return nil, fmt.Errorf("manifold: gap %d has frames %d to %d, want a range within 0 to %d", i, g.From, g.To, frames)
		}
		joints := g.Joints
		if len(joints) == 0 {
			joints = l.Joints
		} else if slices.Contains(joints, l.Joints[0]) {
			return nil, fmt.Errorf("manifold: gap %d misses %s, which says where the body is: leave Joints empty for a gap of all joints",
				i, l.Joints[0])
		}
		for _, name := range joints {
			j := l.Joint(name)
			if j < 0 {
				return nil, fmt.Errorf("manifold: gap %d: no joint is called %q", i, name)
			}
			for f := g.From; f < g.To; f++ {
				for k := range 3 {
					missing[f*cols+l.Pos(j)+k] = true
				}
				if c := m.Layout.ContactOf(name); c >= 0 {
					missing[f*cols+l.Contact(c)] = true
				}
			}
		}
	}
	for f := range frames {
		for j := range l.Joints {
			if j > 0 && !missing[f*cols+l.Pos(j)] {
				return missing, nil
			}
		}
	}
	return nil, fmt.Errorf("manifold: the gaps cover the whole motion of all joints, or all except %s: nothing is left to fill them from", l.Joints[0])
}

// eachRun calls do for every run of frames in which column c is missing.
func eachRun(missing []bool, cols, c int, do func(from, to int)) {
	frames := len(missing) / cols
	for f := 0; f < frames; f++ {
		from := f
		for f < frames && missing[f*cols+c] {
			f++
		}
		if f > from {
			do(from, f)
		}
	}
}

// bridge fills column c of frames [from, to) with a curve between the known ends. A gap at the
// start or the end of the motion holds its known end. Without known ends the value is the mean of
// the training data. The curve has slope 0 if the speed at an end is unknown.
func (m *Model) bridge(x []float32, missing []bool, c, from, to int) {
	cols := m.Layout.Columns()
	frames := len(x) / cols
	at := func(f int) float32 { return x[f*cols+c] }
	mean, _ := m.Normalisation()
	n := float32(to - from + 1)
	reach := min(n, tangent)
	for f := from; f < to; f++ {
		v := mean[c]
		switch {
		case from > 0 && to < frames:
			var before, after float32 // extent of the curve at the end speeds
			if from > 1 && to+1 < frames && !missing[(from-2)*cols+c] && !missing[(to+1)*cols+c] {
				before, after = (at(from-1)-at(from-2))*reach, (at(to+1)-at(to))*reach
			}
			v = hermite(at(from-1), before, at(to), after, float32(f-from+1)/n)
		case from > 0:
			v = at(from - 1)
		case to < frames:
			v = at(to)
		}
		x[f*cols+c] = v
	}
}

// hermite returns the cubic from a to b with slopes va and vb, at t in 0 to 1.
func hermite(a, va, b, vb, t float32) float32 {
	t2, t3 := t*t, t*t*t
	return (2*t3-3*t2+1)*a + (t3-2*t2+t)*va + (3*t2-2*t3)*b + (t3-t2)*vb
}

// bridgeRoot moves the body along a curve from its place before frames [from, to) to its place
// after them. At the ends of the motion the body continues as it moves there. If the motion beside
// the gap is unknown because another gap is near, the curve is straight, and at the ends of the
// motion the body stands still.
func (m *Model) bridgeRoot(x []float32, missing []bool, from, to int) {
	cols, at := m.Layout.Columns(), m.Layout.Body()
	frames := len(x) / cols
	body := func(f int) []float32 { return x[f*cols+at:][:feature.MotionLen] }
	known := func(f int) bool { // whether the body's motion from f to f+1 is known
		return f >= 0 && f+1 < frames && !missing[f*cols+m.Layout.Pos(0)] && !missing[(f+1)*cols+m.Layout.Pos(0)]
	}
	if from == 0 || to == frames {
		like, goes := to, make([]float32, feature.MotionLen)
		if to == frames {
			from, like = from-1, from-2
		}
		if known(like) {
			copy(goes, body(like))
		}
		for f := from; f < to; f++ {
			copy(body(f), goes)
		}
		return
	}
	c := m.Trajectory(x, feature.Place{})
	a, b := c[from-1], c[to]
	n := float32(to - from + 1)
	reach := min(n, tangent) / Rate
	turn := m3.WrapAngle(b.Yaw - a.Yaw)
	slope := func(p feature.Place, f int) (way m3.Vec3, yaw float32) {
		if !known(f) {
			return b.Pos.Sub(a.Pos), turn
		}
		v := body(f)
		return m3.YawQuat(p.Yaw).Rotate(m3.V(v[feature.MotionX], 0, v[feature.MotionZ])).Scale(reach), v[feature.MotionYaw] * reach
	}
	va, yawA := slope(a, from-2)
	vb, yawB := slope(b, to)
	way := make(Trajectory, to-from+2)
	for i := range way {
		t := float32(i) / n
		way[i] = feature.Place{Yaw: a.Yaw + hermite(0, yawA, turn, yawB, t),
			Pos: m3.V(hermite(a.Pos.X, va.X, b.Pos.X, vb.X, t), 0, hermite(a.Pos.Z, va.Z, b.Pos.Z, vb.Z, t))}
	}
	motion := make([]float32, len(way)*feature.MotionLen)
	way.BodyMotion(motion)
	for f := from - 1; f < to; f++ {
		copy(body(f), motion[(f-from+1)*feature.MotionLen:][:feature.MotionLen])
	}
}

// fillRounds is the number of projections onto the manifold, each followed by an edit.
const fillRounds = 2

// projectGaps projects the missing values of x onto the manifold.
func (m *Model) projectGaps(x []float32, missing []bool, iterations, workers int) ([]float32, error) {
	cols, n := m.Layout.Columns(), len(m.Layout.Contacts)
	frames := len(x) / cols
	e, err := m.NewEditor(EditorOptions{Batch: 1, Length: frames, Workers: workers})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	job := &Edit{Batch: 1, Length: frames, Rows: slices.Clone(x), Body: m.bodyMotion(x), Stand: make([]float32, frames*n),
		Want: x, Weight: make([]float32, len(x))}
	for i, gone := range missing {
		switch c := i % cols; {
		case c < m.Layout.Body() && !gone:
			job.Weight[i] = 1
		case c < m.Layout.Body():
			job.Weight[i] = fillHold
		}
	}
	for range fillRounds {
		if job.Rows, err = m.Project(job.Rows, workers); err != nil {
			return nil, err
		}
		for f := range frames {
			for i := range n {
				at := f*cols + m.Layout.Contact(i)
				if missing[at] {
					x[at] = float32(math.Round(float64(m3.Clamp(job.Rows[at], 0, 1))))
				}
				job.Stand[f*n+i] = 0
				if missing[at] {
					job.Stand[f*n+i] = x[at]
				}
			}
		}
		job.Iterations = (iterations + fillRounds - 1) / fillRounds
		if _, err := e.Run(job); err != nil {
			return nil, err
		}
		for i, gone := range missing {
			if !gone || i%cols >= m.Layout.Body() {
				job.Rows[i] = x[i]
			}
		}
	}
	if i := slices.IndexFunc(job.Rows, func(v float32) bool { return !m3.Finite(v) }); i >= 0 {
		return nil, fmt.Errorf("manifold: frame %d cannot be filled: its values are not finite", i/cols)
	}
	return job.Rows, nil
}

// fillHold is the weight of the values before projection; known values weigh 1.
const fillHold = 0.05
