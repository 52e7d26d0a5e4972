package keypose

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Key is a keyframe: a pose, or parts of it, at a time.
type Key struct {
	Time float64   // s
	Pos  []m3.Vec3 // local transforms of the skeleton's joints, m; the root's is in world space
	Rot  []m3.Quat
	// Weight says how closely each group follows the key, (Layout.Groups()): 1 exactly, 0 not at
	// all, values between in part. nil: 1 for all.
	Weight []float32
}

// Waypoint is a place of the root over the ground at a time.
type Waypoint struct {
	Time  float64 // s
	Place feature.Place
}

// Keys are the keyframes of a motion.
type Keys struct {
	Keys []Key // in the order of time
	// Path, if not nil, is the root's path over the ground, in the order of time: a smooth curve
	// through the points (Catmull and Rom 1974) with their headings. The keys' own places are then
	// ignored. It must cover the time from the first key to the last.
	Path []Waypoint
}

// KeyError reports which key, or which point of the path, is wrong.
type KeyError struct {
	Path  bool
	Index int
	Err   error
}

func (e *KeyError) Error() string {
	what := "key"
	if e.Path {
		what = "point of the path"
	}
	return fmt.Sprintf("keypose: %s %d: %v", what, e.Index+1, e.Err)
}

func (e *KeyError) Unwrap() error { return e.Err }

// Limits on keys.
const (
	MaxRootSpeed = 12  // m/s
	MaxDuration  = 600 // s
)

// Track returns the keys as a track at fps frames per second. Frame 0 is the first key; every key
// is at its nearest frame. Parts without any key are as in the first key. A *KeyError reports a key
// that is out of order, in the same frame as the one before, of another skeleton, not finite, or
// too far from the one before.
func (l *Layout) Track(k Keys, fps float32) (*Track, error) {
	if len(k.Keys) < 2 {
		return nil, fmt.Errorf("keypose: %d keys, want at least 2", len(k.Keys))
	}
	if !(fps >= 1 && fps <= 1000) {
		return nil, fmt.Errorf("keypose: %g frames per second, want 1 to 1000", fps)
	}
	begin := k.Keys[0].Time
	if err := l.check(k, fps); err != nil {
		return nil, err
	}
	last := len(k.Keys) - 1
	t := l.NewTrack(frameOf(k.Keys[last].Time-begin, fps)+1, fps)
	groups := l.Groups()
	near := float32(0)
	for _, key := range k.Keys {
		f := frameOf(key.Time-begin, fps)
		t.Set(f, key.Pos, key.Rot, near)
		near = t.Place[f].Yaw
		if t.Key(f); key.Weight != nil {
			copy(t.Weight[f*groups:], key.Weight)
		}
	}
	if k.Path != nil {
		t.follow(k.Path, begin)
	}
	return t, nil
}

func frameOf(t float64, fps float32) int { return int(math.Round(t * float64(fps))) }

// check reports the first wrong key or point.
func (l *Layout) check(k Keys, fps float32) error {
	begin := k.Keys[0].Time
	n := l.Skel.Len()
	for i, key := range k.Keys {
		wrong := func(format string, args ...any) error { return &KeyError{false, i, fmt.Errorf(format, args...)} }
		switch {
		case math.IsNaN(key.Time) || math.IsInf(key.Time, 0):
			return wrong("its time is %g", key.Time)
		case len(key.Pos) != n || len(key.Rot) != n:
			return wrong("%d positions and %d rotations, the skeleton has %d joints", len(key.Pos), len(key.Rot), n)
		case key.Weight != nil && len(key.Weight) != l.Groups():
			return wrong("%d weights, want %d", len(key.Weight), l.Groups())
		case key.Time-begin > MaxDuration:
			return wrong("at %g s, %g s after the first: want at most %d", key.Time, key.Time-begin, MaxDuration)
		}
		for g, w := range key.Weight {
			if !(w >= 0 && w <= 1) {
				return wrong("the weight of group %d is %g, want 0 to 1", g, w)
			}
		}
		for j := range key.Pos {
			if !key.Pos[j].Finite() || !key.Rot[j].Finite() || key.Rot[j].Dot(key.Rot[j]) < 1e-6 {
				return wrong("joint %s is not finite, or has no rotation", l.Skel.Names[j])
			}
		}
		if i == 0 {
			continue
		}
		before := k.Keys[i-1]
		if key.Time < before.Time {
			return wrong("at %g s, before key %d, at %g s: want keys in the order of time", key.Time, i, before.Time)
		}
		if frameOf(key.Time-begin, fps) == frameOf(before.Time-begin, fps) {
			return wrong("at %g s, in the same frame as key %d, at %g s: join the two", key.Time, i, before.Time)
		}
		if k.Path == nil && (key.Weight == nil || key.Weight[GroupPath] == 1) && (before.Weight == nil || before.Weight[GroupPath] == 1) {
			if err := reachable(key.Pos[0], before.Pos[0], key.Time-before.Time); err != nil {
				return wrong("%w from key %d", err, i)
			}
		}
	}
	if k.Path == nil {
		if !slices.ContainsFunc(k.Keys, func(k Key) bool { return k.Weight == nil || k.Weight[GroupPath] > 0 }) {
			return errors.New("keypose: no key says where the root is: want weight for the path in one, or a path")
		}
		return nil
	}
	if len(k.Path) == 0 {
		return errors.New("keypose: a path without points")
	}
	for i, p := range k.Path {
		wrong := func(format string, args ...any) error { return &KeyError{true, i, fmt.Errorf(format, args...)} }
		switch {
		case math.IsNaN(p.Time) || math.IsInf(p.Time, 0) || !p.Place.Finite():
			return wrong("it is not finite")
		case i > 0 && !(p.Time > k.Path[i-1].Time):
			return wrong("at %g s, after one at %g s: want points in the order of time", p.Time, k.Path[i-1].Time)
		case i > 0:
			if err := reachable(p.Place.Pos, k.Path[i-1].Place.Pos, p.Time-k.Path[i-1].Time); err != nil {
				return wrong("%w from the one before", err)
			}
		}
	}
	first, last := k.Path[0].Time, k.Path[len(k.Path)-1].Time
	if end := k.Keys[len(k.Keys)-1].Time; first > begin || last < end {
		return fmt.Errorf("keypose: the path is from %g to %g s, the keys from %g to %g: want one that covers them", first, last, begin, end)
	}
	return nil
}

// reachable fails if the root would move too fast between two places.
func reachable(to, from m3.Vec3, seconds float64) error {
	if way := float64(to.Sub(from).Flat().Len()); way > MaxRootSpeed*seconds+0.1 {
		return fmt.Errorf("%.2f m in %.3f s is faster than %d m/s", way, seconds, MaxRootSpeed)
	}
	return nil
}

// follow keys the path in every frame.
func (t *Track) follow(path []Waypoint, begin float64) {
	groups := t.Layout.Groups()
	yaw := make([]float32, len(path))
	for i, p := range path {
		yaw[i] = p.Place.Yaw
		if i > 0 {
			yaw[i] = yaw[i-1] + m3.WrapAngle(yaw[i]-yaw[i-1])
		}
	}
	for f, i := 0, 0; f < t.Frames; f++ {
		at := begin + float64(f)/float64(t.FPS)
		for i+2 < len(path) && path[i+1].Time <= at {
			i++
		}
		j := min(i+1, len(path)-1)
		a, b := path[i], path[j]
		// slope returns the derivative of a value at point k, per second.
		slope := func(k int, v func(k int) float32) float32 {
			a, b := max(k-1, 0), min(k+1, len(path)-1)
			if a == b {
				return 0
			}
			return (v(b) - v(a)) / float32(path[b].Time-path[a].Time)
		}
		span := float32(b.Time - a.Time)
		u := float32(0)
		if span > 0 {
			u = m3.Clamp(float32(at-a.Time)/span, 0, 1)
		}
		at3 := func(v func(k int) float32) float32 {
			u2, u3 := u*u, u*u*u
			return (2*u3-3*u2+1)*v(i) + (u3-2*u2+u)*span*slope(i, v) + (3*u2-2*u3)*v(j) + (u3-u2)*span*slope(j, v)
		}
		t.Place[f] = feature.Place{
			Pos: m3.V(at3(func(k int) float32 { return path[k].Place.Pos.X }), 0, at3(func(k int) float32 { return path[k].Place.Pos.Z })),
			Yaw: at3(func(k int) float32 { return yaw[k] }),
		}
		t.Weight[f*groups+GroupPath] = 1
	}
}

// Clip returns the track as a clip.
func (t *Track) Clip() *skel.Clip {
	if t.Layout == nil {
		return &skel.Clip{}
	}
	c := skel.NewClip(t.Layout.Skel, float64(t.FPS), t.Frames)
	for f := range t.Frames {
		pos, rot := c.Frame(f)
		t.Pose(f, pos, rot)
	}
	return c
}
