package keypose

import (
	"errors"
	"fmt"
	"math"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Routine is a list of keys that people go along, once or round and round. It is
// immutable and safe to share: many people of a Stream perform the same one.
//
// Places of its keys are seen from the spot where who performs it stands: a key whose
// root is at the origin, its heading 0, is on the spot, facing ahead. Each round is on
// the same spot.
type PoseLoop struct {
	layout *Layout
	time   []float64 // (keys) s, the first is 0
	every  float64   // s from the first key to that of the next round; 0 is once
	place  []feature.Place
	height []float32
	rot    []m3.Quat // (keys, joints that turn), as a Track's; what a key does not hold is interpolated
	weight []float32 // (keys, groups)
}

// NewRoutine returns the keys, in the order of time, as a routine. every is after how
// many seconds the first key comes again; with 0 they are gone along once. The first
// key holds all, and so does the last of a routine without rounds, in which people
// stay. Errors that are due to one key are *KeyError: see Track.
func (l *Layout) NewPoseLoop(keys []Key, every float64) (*PoseLoop, error) {
	if len(keys) == 0 {
		return nil, errors.New("keypose: a routine without keys")
	}
	first, last := keys[0], keys[len(keys)-1]
	again := last
	again.Time++
	if every != 0 {
		if span := last.Time - first.Time; !(every > span) || math.IsInf(every, 0) {
			return nil, fmt.Errorf("keypose: a round of %g s, of keys that take %g s: want more than that, or 0 for once", every, span)
		}
		again = first
		again.Time += every
	}
	t, err := l.Track(Keys{Keys: append(append([]Key(nil), keys...), again)}, 2*Rate)
	if err != nil {
		var at *KeyError
		if errors.As(err, &at) && at.Index == len(keys) {
			return nil, fmt.Errorf("keypose: the key that follows the last one of a round, the first: %w", at.Err)
		}
		return nil, err
	}
	t.Interpolate()
	r := &PoseLoop{layout: l, every: every}
	n, groups := len(l.Joints), l.Groups()
	for _, k := range keys {
		f := frameOf(k.Time-first.Time, t.FPS)
		r.time = append(r.time, k.Time-first.Time)
		r.place, r.height = append(r.place, t.Place[f]), append(r.height, t.Height[f])
		r.rot = append(r.rot, t.Rot[f*n:][:n]...)
		r.weight = append(r.weight, t.Weight[f*groups:][:groups]...)
	}
	if !whole(r.weight[:groups]) {
		return nil, &KeyError{false, 0, errors.New("it begins a routine and holds not all: want weight 1 for every group")}
	}
	if every == 0 && !whole(r.weight[len(r.weight)-groups:]) {
		return nil, &KeyError{false, len(keys) - 1, errors.New("people stay in it and it holds not all: want weight 1 for every group, or rounds")}
	}
	return r, nil
}

// whole reports whether a key of these weights, (groups), holds all.
func whole(weight []float32) bool {
	for _, w := range weight {
		if w != 1 {
			return false
		}
	}
	return true
}

// Keys returns how many there are.
func (r *PoseLoop) Keys() int { return len(r.time) }

// Seconds returns how long it takes: from the first key to the last, or to the first
// of the next round.
func (r *PoseLoop) Seconds() float64 { return max(r.every, r.time[len(r.time)-1]) }

// fits reports whether people of the layout can perform it.
func (r *PoseLoop) fits(l *Layout) bool {
	if r.layout == l {
		return true
	}
	if len(r.layout.Joints) != len(l.Joints) || r.layout.Skel.Len() != l.Skel.Len() {
		return false
	}
	for j, name := range l.Skel.Names {
		if r.layout.Skel.Names[j] != name || r.layout.Skel.Parents[j] != l.Skel.Parents[j] || r.layout.Skel.EndSite[j] != l.Skel.EndSite[j] {
			return false
		}
	}
	return true
}

// cursor is a key on somebody's way, and when it is due.
type cursor struct {
	routine *PoseLoop
	key     int32
	at      float64 // ticks from the beginning of their window
}

// Keys follow one another after so many ticks at least.
const closest = 2

// stay is after how many ticks the last key of a routine without rounds comes again.
const stay = tickRate

// next returns the key after c of who is asked to perform p: of another routine that is
// its first.
func (c cursor) next(p Performance) cursor {
	r := c.routine
	last := int(c.key) == len(r.time)-1
	var gap float64
	switch {
	case p.Loop != r:
		gap = tickRate * float64(r.apart(int(c.key), p.Loop))
		c.routine, c.key = p.Loop, 0
	case !last:
		gap = tickRate * (r.time[c.key+1] - r.time[c.key])
		c.key++
	case r.every > 0:
		gap = tickRate * (r.every - r.time[c.key])
		c.key = 0
	default:
		gap = stay
	}
	c.at += max(gap/float64(p.Speed), closest)
	return c
}

// How long people take from a key to the first of another routine: change, and so much
// for a turn of the joint that turns farthest, and for a way over the ground.
const (
	change   = 0.4  // s
	perTurn  = 0.3  // s/rad
	perMetre = 1.2  // s/m
	longWay  = 2.5  // s
	farthest = 0.05 // m within which nobody has to step
)

// apart returns how long people take from a key of r to the first of another, s.
func (r *PoseLoop) apart(key int, to *PoseLoop) float32 {
	n := len(r.layout.Joints)
	var turn float32
	for i, q := range r.rot[key*n:][:n] {
		turn = max(turn, q.Angle(to.rot[i]))
	}
	p, q := r.place[key], to.place[0]
	turn = max(turn, m3.Abs(m3.WrapAngle(q.Yaw-p.Yaw)))
	way := p.Pos.Dist(q.Pos) + m3.Abs(r.height[key]-to.height[0])
	return min(change+perTurn*turn+perMetre*max(way-farthest, 0), longWay)
}

// put keys frame f with a key of a routine.
func (t *Track) put(f int, c cursor) {
	r, k := c.routine, int(c.key)
	n, groups := len(t.Layout.Joints), t.Layout.Groups()
	t.Place[f], t.Height[f] = r.place[k], r.height[k]
	copy(t.Rot[f*n:][:n], r.rot[k*n:])
	copy(t.Weight[f*groups:][:groups], r.weight[k*groups:])
}

// between keys frame f lightly with what lies between two keys of routines.
func (t *Track) between(f int, a, b cursor, u float32) {
	r, i, q, k := a.routine, int(a.key), b.routine, int(b.key)
	n, groups := len(t.Layout.Joints), t.Layout.Groups()
	p, to := r.place[i], q.place[k]
	t.Place[f] = feature.Place{Pos: p.Pos.Lerp(to.Pos, u), Yaw: p.Yaw + u*m3.WrapAngle(to.Yaw-p.Yaw)}
	t.Height[f] = m3.Lerp(r.height[i], q.height[k], u)
	for j := range n {
		t.Rot[f*n+j] = r.rot[i*n+j].Slerp(q.rot[k*n+j], u)
	}
	for g := range groups {
		t.Weight[f*groups+g] = hint
	}
}
