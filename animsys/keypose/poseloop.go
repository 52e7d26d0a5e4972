package keypose

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// PoseLoop is a list of keys that agents play once or in a loop. It is immutable and safe to share:
// many agents of a Stream can play the same one.
//
// Its keys are relative to the spot on which an agent performs: a key whose root is at the origin
// with heading 0 is on the spot, facing ahead. Each round is on the same spot.
type PoseLoop struct {
	layout *Layout
	time   []float64 // (keys) s, the first is 0
	every  float64   // s from the first key to that of the next round; 0: once
	place  []feature.Place
	height []float32
	rot    []m3.Quat // (keys, joints that turn), as a Track's; parts without a key are interpolated
	weight []float32 // (keys, groups)

	skeleton uint64 // fingerprint of the skeleton, for a loop that was read and has no layout yet
}

// NewPoseLoop returns a pose loop of keys in the order of time. every is the time, in seconds, from
// the first key to its repetition; 0 plays the keys once. The first key must hold all groups, and
// so must the last of a loop that plays once, in which agents stay. Errors of one key are
// *KeyError: see Track.
func (l *Layout) NewPoseLoop(keys []Key, every float64) (*PoseLoop, error) {
	if l.Skel == nil {
		return nil, errZeroLayout
	}
	if len(keys) == 0 {
		return nil, errors.New("keypose: a pose loop without keys")
	}
	first, last := keys[0], keys[len(keys)-1]
	again := last
	again.Time++
	if every != 0 {
		if span := last.Time - first.Time; !(every > span) || math.IsInf(every, 0) {
			return nil, fmt.Errorf("keypose: a round of %g s for keys that take %g s: want more than that, or 0 for once", every, span)
		}
		again = first
		again.Time += every
	}
	t, err := l.Track(Keys{Keys: append(append([]Key(nil), keys...), again)}, 2*Rate)
	if err != nil {
		var at *KeyError
		if errors.As(err, &at) && at.Index == len(keys) {
			return nil, fmt.Errorf("keypose: from the last key of a round to the first: %w", at.Err)
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
		return nil, &KeyError{false, 0, errors.New("it begins a pose loop: want weight 1 for every group")}
	}
	if every == 0 && !whole(r.weight[len(r.weight)-groups:]) {
		return nil, &KeyError{false, len(keys) - 1, errors.New("agents stay in it: want weight 1 for every group, or rounds")}
	}
	return r, nil
}

// whole reports whether weights, (groups), hold all groups exactly.
func whole(weight []float32) bool {
	return !slices.ContainsFunc(weight, func(w float32) bool { return w != 1 })
}

// Keys returns the number of keys.
func (r *PoseLoop) Keys() int { return len(r.time) }

// Seconds returns the duration: from the first key to the last, or to the first of the next round. It
// is 0 for the zero PoseLoop.
func (r *PoseLoop) Seconds() float64 {
	if len(r.time) == 0 {
		return 0
	}
	return max(r.every, r.time[len(r.time)-1])
}

// fits reports whether agents of the layout can play the loop. The zero PoseLoop fits none.
func (r *PoseLoop) fits(l *Layout) bool {
	if r.layout == nil {
		return false
	}
	a, b := r.layout.Skel, l.Skel
	return a == b || slices.Equal(a.Names, b.Names) && slices.Equal(a.Parents, b.Parents) && slices.Equal(a.EndSite, b.EndSite)
}

// cursor is a key on an agent's way, and its time.
type cursor struct {
	routine *PoseLoop
	key     int32
	at      float64 // ticks from the beginning of the agent's window
}

// minGap is the minimum time between keys, in ticks.
const minGap = 2

// stayTicks is the time after which the last key of a loop that plays once repeats, in ticks.
const stayTicks = tickRate

// next returns the key after c for an agent that plays p. If p has another loop it is the first key
// of that.
func (c cursor) next(p Performance) cursor {
	r := c.routine
	last := int(c.key) == len(r.time)-1
	var gap float64
	switch {
	case !p.Loop.Equal(r):
		gap = tickRate * float64(r.transition(int(c.key), p.Loop))
		c.routine, c.key = p.Loop, 0
	case !last:
		gap = tickRate * (r.time[c.key+1] - r.time[c.key])
		c.key++
	case r.every > 0:
		gap = tickRate * (r.every - r.time[c.key])
		c.key = 0
	default:
		gap = stayTicks
	}
	c.at += max(gap/float64(p.Speed), minGap)
	return c
}

// Duration of the transition to another loop: minChange, plus times for the largest turn of a joint
// and for the distance over the ground.
const (
	minChange = 0.4  // s
	turnTime  = 0.3  // s/rad
	moveTime  = 1.2  // s/m
	maxChange = 2.5  // s
	noStep    = 0.05 // m, too short for a step
)

// transition returns the time from a key of r to the first of another loop, s.
func (r *PoseLoop) transition(key int, to *PoseLoop) float32 {
	n := len(r.layout.Joints)
	var turn float32
	for i, q := range r.rot[key*n:][:n] {
		turn = max(turn, q.Angle(to.rot[i]))
	}
	p, q := r.place[key], to.place[0]
	turn = max(turn, m3.Abs(m3.WrapAngle(q.Yaw-p.Yaw)))
	way := p.Pos.Dist(q.Pos) + m3.Abs(r.height[key]-to.height[0])
	return min(minChange+turnTime*turn+moveTime*max(way-noStep, 0), maxChange)
}

// put keys frame f with a key of a loop.
func (t *Track) put(f int, c cursor) {
	r, k := c.routine, int(c.key)
	n, groups := len(t.Layout.Joints), t.Layout.Groups()
	t.Place[f], t.Height[f] = r.place[k], r.height[k]
	copy(t.Rot[f*n:][:n], r.rot[k*n:])
	copy(t.Weight[f*groups:][:groups], r.weight[k*groups:])
}

// between keys frame f lightly with an interpolation of two keys of loops.
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
