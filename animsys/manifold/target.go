package manifold

import (
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Target is where a joint shall be for a while.
type Target struct {
	Joint  string  // of the layout
	At     m3.Vec3 // m
	Body   bool    // At is seen from the body's own frame, which stands on the ground under the hips; else in the world
	From   float64 // s, from when on the joint is there
	To     float64 // s, until when, at least From
	Ease   float64 // s, over which it comes there and leaves again
	Weight float32 // of the squared distance in the edit's cost; 0 counts as 1
}

// Share returns how much of the target there is at a frame: 1 between From and
// To, and eased to 0 over Ease to both sides.
func (t *Target) Influence(frame int) float32 {
	at := float64(frame) / Rate
	const half = 0.5 / Rate // a frame is there from half a frame before on
	away := max(t.From-at, at-t.To, 0)
	switch {
	case away <= half:
		return 1
	case away >= t.Ease:
		return 0
	}
	x := 1 - away/t.Ease
	return float32(x * x * (3 - 2*x))
}

// In returns the target as seen from a body at place.
func (t *Target) In(place feature.Place) m3.Vec3 {
	if t.Body {
		return t.At
	}
	return m3.YawQuat(-place.Yaw).Rotate(t.At.Sub(place.Pos))
}

// check reports what makes the target unusable in a motion of so many frames.
func (t *Target) check(l *feature.Motion, frames int) error {
	end := float64(frames-1) / Rate
	switch {
	case l.Joint(t.Joint) < 0:
		return fmt.Errorf("no joint is called %q", t.Joint)
	case !t.At.Finite():
		return fmt.Errorf("its place %v is not finite", t.At)
	case !(t.From >= 0 && t.From <= t.To && t.To <= end+0.5/Rate):
		return fmt.Errorf("it is from %g to %g s, want times that rise, between 0 and the motion's end at %.3f s", t.From, t.To, end)
	case !(t.Ease >= 0) || math.IsInf(t.Ease, 0):
		return fmt.Errorf("it eases over %g s, want 0 or more", t.Ease)
	case !(t.Weight >= 0) || math.IsInf(float64(t.Weight), 0):
		return fmt.Errorf("its weight is %g, want 0 or more", t.Weight)
	}
	return nil
}

// meets reports whether two targets of a joint want it at the same time; that one
// ends where the other begins does not count, unless a frame is all that it has.
func (t *Target) meets(o *Target) bool {
	frame := func(s float64) int { return int(math.Round(s * Rate)) }
	from, to := max(t.From, o.From), min(t.To, o.To)
	if frame(t.From) == frame(t.To) || frame(o.From) == frame(o.To) {
		return frame(from) <= frame(to)
	}
	return from < to
}

// TargetError says which target is wrong, and why.
type TargetError struct {
	Index int // of the target
	Err   error
}

func (e *TargetError) Error() string { return fmt.Sprintf("manifold: target %d: %v", e.Index, e.Err) }

func (e *TargetError) Unwrap() error { return e.Err }

// Aim makes targets part of the edit of motion b, whose body begins at start: it
// writes what they ask for into job.Want and job.Weight, which it makes where they
// are nil. Joints go from where they are in job.Rows to their targets and back, as
// Target.Share eases. A foot that has a target does not stand meanwhile. Two
// targets of a joint must not be at the same time, where a moment counts as its
// frame. One may end when the next begins: within their Ease the joint goes over,
// and it is halfway then. A *TargetError names a target that is wrong; on any error
// nothing was written.
func (m *Model) AddTargets(job *Edit, b int, start feature.Place, targets []Target) error {
	if b < 0 || b >= job.Batch || job.Length < 1 {
		return fmt.Errorf("manifold: targets for motion %d of an edit of %d motions of %d frames", b, job.Batch, job.Length)
	}
	if err := job.check(m); err != nil {
		return err
	}
	l := m.Layout
	for i, t := range targets {
		if err := t.check(l, job.Length); err != nil {
			return &TargetError{i, err}
		}
		for k, o := range targets[:i] {
			if o.Joint == t.Joint && t.meets(&o) {
				return &TargetError{i, fmt.Errorf("%s has another one at that time, target %d", t.Joint, k)}
			}
		}
	}
	cols, n := l.Columns(), len(l.Contacts)
	if job.Want == nil {
		job.Want, job.Weight = make([]float32, job.Batch*job.Length*cols), make([]float32, job.Batch*job.Length*cols)
	}
	rows := job.Rows[b*job.Length*cols:][:job.Length*cols]
	course := m.Trajectory(rows, start)
	if job.Body != nil {
		moved := slices.Clone(rows)
		for f := range job.Length {
			copy(moved[f*cols+l.Body():], job.Body[(b*job.Length+f)*feature.MotionLen:][:feature.MotionLen])
		}
		course = m.Trajectory(moved, start)
	}
	for f, place := range course {
		at := (b*job.Length + f) * cols
		for j, name := range l.Joints {
			own := vec(job.Rows[at:], l.Pos(j))
			var way m3.Vec3
			var share, weight float32
			for _, t := range targets {
				s := t.Influence(f)
				if t.Joint != name || s == 0 {
					continue
				}
				w := t.Weight
				if w == 0 {
					w = 1
				}
				share, weight = share+s, max(weight, w)
				way = way.Add(t.In(place).Sub(own).Scale(s))
			}
			if share == 0 {
				continue
			}
			want := own.Add(way.Scale(1 / max(1, share)))
			for k, v := range []float32{want.X, want.Y, want.Z} {
				job.Want[at+l.Pos(j)+k], job.Weight[at+l.Pos(j)+k] = v, weight
			}
			if job.Stand == nil || m.Layout.ContactOf(name) < 0 {
				continue
			}
			for i, c := range l.Contacts {
				if c.Joint == name || m.carries(c.Joint, name) || m.carries(name, c.Joint) {
					job.Stand[(b*job.Length+f)*n+i] = 0
				}
			}
		}
	}
	return nil
}

func vec(row []float32, at int) m3.Vec3 { return m3.V(row[at], row[at+1], row[at+2]) }

// DefaultHold is a weight for Hold that leaves about an eighth of what bones are off.
const DefaultHold = 0.005

// Hold lets joints of the edit of motion b stay near where they are in job.Rows, in frames
// for which job.Weight asks for nothing yet: weight counts squared distances. It is for
// motions that do not come from the manifold: an edit without it, which goes along the
// manifold, takes them far to mend their bones. It makes job.Want and job.Weight where
// they are nil.
func (m *Model) Hold(job *Edit, b int, weight float32) error {
	switch {
	case b < 0 || b >= job.Batch || job.Length < 1:
		return fmt.Errorf("manifold: motion %d is to be held in an edit of %d motions of %d frames", b, job.Batch, job.Length)
	case !(weight >= 0) || math.IsInf(float64(weight), 0):
		return fmt.Errorf("manifold: a motion is to be held by a weight of %g, want 0 or more", weight)
	}
	if err := job.check(m); err != nil {
		return err
	}
	cols, body := m.Layout.Columns(), m.Layout.Body()
	if job.Want == nil {
		job.Want, job.Weight = make([]float32, job.Batch*job.Length*cols), make([]float32, job.Batch*job.Length*cols)
	}
	for f := range job.Length {
		at := (b*job.Length + f) * cols
		free := job.Weight[at:][:cols]
		if slices.ContainsFunc(free, func(w float32) bool { return w != 0 }) {
			continue
		}
		copy(job.Want[at:][:body], job.Rows[at:])
		for k := range body {
			free[k] = weight
		}
	}
	return nil
}
