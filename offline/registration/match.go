package registration

import (
	"math"
	"sort"
)

// Match returns for every frame of a the fractional frame of b at the same time of the
// timeline. a and b must have been registered to tl.
//
// On a cyclic timeline the first frame of a is matched in the first cycle of b that has
// its phase. If b ends before a does, the match jumps back by as many whole cycles as b
// has. Frames of a that b does not reach get the nearest frame of b.
//
// marks are true for frames of a whose match does not continue from the frame before: the
// first after such a jump, and those that b does not reach. Between marks the frames of b
// increase strictly. Do not take derivatives at a mark or at the first frame.
func (tl *Timeline) Match(a, b *Take) (frames []float64, marks []bool) {
	frames, marks = make([]float64, len(a.Times)), make([]bool, len(a.Times))
	if len(a.Times) == 0 || len(b.Times) == 0 {
		panic("registration: Match: a take without Times")
	}
	first, last := b.Times[0], b.Times[len(b.Times)-1]
	shift := 0.0
	if tl.Period > 0 {
		shift = math.Ceil((first-a.Times[0])/tl.Period) * tl.Period
	}
	gone := false // the frame before was out of reach
	for f, t := range a.Times {
		at := t + shift
		if at > last && tl.Period > 0 {
			if back := math.Floor((at-first)/tl.Period) * tl.Period; back > 0 && at-back <= last {
				shift, at, marks[f] = shift-back, at-back, true
			}
		}
		out := at < first || at > last
		marks[f] = marks[f] || out || gone
		gone = out
		frames[f] = b.frameAt(at)
	}
	return frames, marks
}

// frameAt returns the fractional frame at a time of the timeline, clamped to the take.
func (t *Take) frameAt(time float64) float64 {
	k := sort.SearchFloat64s(t.Times, time)
	switch {
	case k == 0:
		return 0
	case k == len(t.Times):
		return float64(k - 1)
	}
	return float64(k-1) + (time-t.Times[k-1])/(t.Times[k]-t.Times[k-1])
}
