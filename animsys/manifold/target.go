package manifold

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Target is a place for a joint during an interval.
type Target struct {
	Joint  string  // of the layout
	At     m3.Vec3 // m
	Body   bool    // At is in the body's frame, which is on the ground under the hips; else in the world
	From   float64 // start, s
	To     float64 // end, s, at least From
	Ease   float64 // duration of the approach and of the return, s
	Weight float32 // of the squared distance in the edit's cost; 0 counts as 1
}

// Influence returns the weight of the target at a frame: 1 between From and To, eased to 0 over
// Ease on both sides.
func (t *Target) Influence(frame int) float32 {
	at := float64(frame) / Rate
	const half = 0.5 / Rate // a frame lasts from half a frame before to half a frame after
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

// In returns the target's position in the frame of a body at place.
func (t *Target) In(place feature.Place) m3.Vec3 {
	if t.Body {
		return t.At
	}
	return m3.YawQuat(-place.Yaw).Rotate(t.At.Sub(place.Pos))
}

// check reports why the target is unusable in a motion of the given number of frames.
func (t *Target) check(l *feature.Motion, frames int) error {
	end := float64(frames-1) / Rate
	switch {
	case l.Joint(t.Joint) < 0:
		return fmt.Errorf("no joint is called %q", t.Joint)
	case !t.At.Finite():
		return fmt.Errorf("its place %v is not finite", t.At)
	case !(t.From >= 0 && t.From <= t.To && t.To <= end+0.5/Rate):
		return fmt.Errorf("it is from %g to %g s, want rising times from 0 to the motion's end at %.3f s", t.From, t.To, end)
	case !(t.Ease >= 0) || math.IsInf(t.Ease, 0):
		return fmt.Errorf("it eases over %g s, want 0 or more", t.Ease)
	case !(t.Weight >= 0) || math.IsInf(float64(t.Weight), 0):
		return fmt.Errorf("its weight is %g, want 0 or more", t.Weight)
	}
	return nil
}

// overlaps reports whether two targets of a joint overlap in time. One that ends when the other
// begins does not, unless it lasts a single frame.
func (t *Target) overlaps(o *Target) bool {
	frame := func(s float64) int { return int(math.Round(s * Rate)) }
	from, to := max(t.From, o.From), min(t.To, o.To)
	if frame(t.From) == frame(t.To) || frame(o.From) == frame(o.To) {
		return frame(from) <= frame(to)
	}
	return from < to
}

// TargetError reports which target is wrong, and why.
type TargetError struct {
	Index int // of the target
	Err   error
}

func (e *TargetError) Error() string { return fmt.Sprintf("manifold: target %d: %v", e.Index, e.Err) }

func (e *TargetError) Unwrap() error { return e.Err }

// AddTargets adds targets to the edit of motion b, whose body begins at start. It writes job.Want
// and job.Weight, which it allocates if they are nil. Joints go from their places in job.Rows to
// the targets and back, eased by Target.Influence. A foot with a target has no contact meanwhile.
//
// Targets of one joint must not overlap in time, in whole frames. One may end when the next begins:
// then the joint goes over within their Ease, and is halfway at that moment. A *TargetError names a
// wrong target. After an error nothing was written.
func (m *Model) AddTargets(job *Edit, b int, start feature.Place, targets []Target) error {
	if err := m.checkMotion("targets for motion", job, b); err != nil {
		return err
	}
	l := m.Layout
	for i, t := range targets {
		if err := t.check(l, job.Length); err != nil {
			return &TargetError{i, err}
		}
		for k, o := range targets[:i] {
			if o.Joint == t.Joint && t.overlaps(&o) {
				return &TargetError{i, fmt.Errorf("%s has another target at that time, target %d", t.Joint, k)}
			}
		}
	}
	cols, n := l.Columns(), len(l.Contacts)
	job.allocateWant(m)
	rows := job.Rows[b*job.Length*cols:][:job.Length*cols]
	trajectory := m.Trajectory(rows, start)
	if job.Body != nil {
		moved := slices.Clone(rows)
		for f := range job.Length {
			copy(moved[f*cols+l.Body():], job.Body[(b*job.Length+f)*feature.MotionLen:][:feature.MotionLen])
		}
		trajectory = m.Trajectory(moved, start)
	}
	for f, place := range trajectory {
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
				share, weight = share+s, max(weight, cmp.Or(t.Weight, 1))
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
				if c.Joint == name || m.isAncestor(c.Joint, name) || m.isAncestor(name, c.Joint) {
					job.Stand[(b*job.Length+f)*n+i] = 0
				}
			}
		}
	}
	return nil
}

func vec(row []float32, at int) m3.Vec3 { return m3.V(row[at], row[at+1], row[at+2]) }

// DefaultHold is a weight for Hold that leaves about an eighth of the error of bone lengths.
const DefaultHold = 0.005

// Hold keeps the joints of motion b near their places in job.Rows, in frames for which job.Weight
// is still 0. weight is that of the squared distances. Use it for motions that are not from the
// manifold: without it the edit moves them far to correct their bones. Hold allocates job.Want and
// job.Weight if they are nil.
func (m *Model) Hold(job *Edit, b int, weight float32) error {
	if !(weight >= 0) || math.IsInf(float64(weight), 0) {
		return fmt.Errorf("manifold: a motion held with a weight of %g, want 0 or more", weight)
	}
	if err := m.checkMotion("holding motion", job, b); err != nil {
		return err
	}
	cols, body := m.Layout.Columns(), m.Layout.Body()
	job.allocateWant(m)
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

// checkMotion reports an edit without motion b, or with slices of wrong lengths.
func (m *Model) checkMotion(what string, job *Edit, b int) error {
	if b < 0 || b >= job.Batch || job.Length < 1 {
		return fmt.Errorf("manifold: %s %d of an edit of %d motions of %d frames", what, b, job.Batch, job.Length)
	}
	return job.check(m)
}

// allocateWant allocates Want and Weight if they are nil.
func (job *Edit) allocateWant(m *Model) {
	if job.Want == nil {
		n := job.Batch * job.Length * m.Layout.Columns()
		job.Want, job.Weight = make([]float32, n), make([]float32, n)
	}
}
