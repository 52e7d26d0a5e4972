package registration

import (
	"math"
	"sort"
)

// Match returns for every frame of a the frame of b, with its fraction, that has
// the same place on the timeline. a and b must have been registered to tl.
//
// On a cyclic timeline the first frame of a meets the first cycle of b that has
// its phase. Where b ends before a does, b is gone back by as many whole cycles as
// it has. marks are true for frames of a from whose predecessor b's motion does
// not lead to them: the first after such a jump, and those that b does not reach,
// for which the nearest frame of b stands in. Between marks the frames of b
// increase strictly. Frames with a mark, and the first, are not for derivatives.
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
	gone := false // whether the frame before was out of reach
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

// frameAt returns the fractional frame that has a place on the timeline, at most
// the first or the last.
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
