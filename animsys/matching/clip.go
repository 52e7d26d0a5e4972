package matching

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// Clip is a recording for a database.
type Clip struct {
	Name   string
	Motion *skel.Clip // joint 0 in world space, m, on a floor at height 0; any frame rate
	// Loop says that the last frame is the first one of the next round: the same pose, elsewhere.
	Loop bool
	// Once says that the clip is an action from its first frame to its last, such as a roll: it is entered at its beginning,
	// and played to its end unless another action is asked for. A loop is none.
	Once bool
	// Holds says that the last pose of a clip with Once is kept as long as the action is asked for: of a death, say. Others
	// begin again.
	Holds bool
	// Tags are what the frames show, one entry per frame of Motion, or one for all; nil is nothing.
	Tags []Tags
}

// Tags is the set of tags of a frame: bit i is the tag Options.Tags[i].
type Tags uint64

// First returns the number of the lowest tag, 64 without one.
func (t Tags) First() int { return bits.TrailingZeros64(uint64(t)) }

// Roots returns where a body stands and faces in each frame of a motion, as frames of a database do: below joint 0, smoothed.
// Frames are a tick apart.
func (c *Character) Roots(motion *skel.Clip) ([]feature.Place, error) {
	if c.Skel == nil {
		return nil, errZero
	}
	front, err := c.front()
	if err != nil {
		return nil, err
	}
	t, err := newTrack(&Clip{Motion: motion}, c.Skel, front)
	if err != nil {
		return nil, err
	}
	return t.root, nil
}

// Roots is Character.Roots, for a skeleton with its roles that is no character yet.
func Roots(sk *skel.Skeleton, roles *ik.Roles, motion *skel.Clip) ([]feature.Place, error) {
	if sk == nil || motion == nil {
		return nil, errors.New("matching: roots want a skeleton and a motion")
	}
	c := Character{Skel: sk}
	if err := c.open(roles); err != nil {
		return nil, err
	}
	return c.Roots(motion)
}

// track is a clip at the tick rate.
type track struct {
	name  string
	loop  bool
	once  bool
	holds bool
	span  int // frames in the database, without the last one of a loop
	clip  *skel.Clip
	tags  []Tags
	root  []feature.Place // (frames)
	model []m3.Xform      // (frames, joints), world space
}

// newTrack checks a clip and follows it over the ground.
func newTrack(c *Clip, sk *skel.Skeleton, front *facing) (*track, error) {
	fail := func(format string, a ...any) (*track, error) {
		return nil, fmt.Errorf("matching: clip %q: %w", c.Name, fmt.Errorf(format, a...))
	}
	m := c.Motion
	switch {
	case m == nil || m.Skel == nil:
		return fail("it has no motion")
	case m.Skel.Fingerprint() != sk.Fingerprint():
		return fail("it is of another skeleton than the database")
	case !(m.FPS > 0) || math.IsInf(m.FPS, 1):
		return fail("it has %g frames per second", m.FPS)
	case len(m.Pos) != m.Frames*sk.Len() || len(m.Rot) != len(m.Pos):
		return fail("%d frames of %d joints, with %d positions and %d rotations", m.Frames, sk.Len(), len(m.Pos), len(m.Rot))
	case float64(m.Frames-1)/m.FPS > maxFrames/TickRate:
		return fail("it is %.3g s long, at most %d s are allowed", float64(m.Frames-1)/m.FPS, maxFrames/TickRate)
	case c.Once && c.Loop || c.Holds && !c.Once:
		return fail("it has Loop %t, Once %t and Holds %t: a loop has no end, and Holds is for Once", c.Loop, c.Once, c.Holds)
	case len(c.Tags) > 1 && len(c.Tags) != m.Frames:
		return fail("it has %d frames and %d tags: want one for each, or one for all", m.Frames, len(c.Tags))
	}
	for i, q := range m.Rot {
		if n := q.Dot(q); !(m3.Abs(n-1) <= unit) {
			return fail("joint %s is turned by %v in frame %d: want a unit quaternion", sk.Names[i%sk.Len()], q, i/sk.Len())
		}
	}
	at := m.Resampled(TickRate)
	t := &track{name: c.Name, loop: c.Loop, once: c.Once, holds: c.Holds, clip: at, span: at.Frames, tags: make([]Tags, at.Frames)}
	if c.Loop {
		t.span--
	}
	if t.span < shortest {
		return fail("it has %d frames at %d per second, want at least %d", t.span, TickRate, shortest)
	}
	for f := range t.tags {
		if len(c.Tags) > 0 {
			t.tags[f] = c.Tags[min(int(float64(f)*m.FPS/TickRate+0.5), len(c.Tags)-1)]
		}
	}
	t.model = make([]m3.Xform, at.Frames*sk.Len())
	for f := range at.Frames {
		at.Model(t.model[f*sk.Len():][:sk.Len()], f)
	}
	for i, x := range t.model {
		if !x.Pos.Finite() || !x.Rot.Finite() || x.Pos.Len() > farthest {
			return fail("joint %s is at %v, turned by %v, in frame %d", sk.Names[i%sk.Len()], x.Pos, x.Rot, i/sk.Len())
		}
	}
	t.follow(sk.Len(), front)
	return t, nil
}

// shortest is the least number of frames of a clip.
const shortest = 2

// unit is by how much the square of a rotation's length may differ from 1.
const unit = 1e-2

// farthest bounds the places in a clip, m: float32 is finer than a tenth of a millimetre below it.
const farthest = 1000

// facing is where a body faces: along its trunk, across the roots of its legs, or as joint 0 does.
type facing struct {
	left, right []int   // roots of legs
	back, front int     // joint 0 and the neck of a body whose trunk is level, or −1
	axis        m3.Vec3 // ahead in joint 0's frame, or zero
}

// ahead returns the level direction, or zero if the body is bent to the side.
func (a *facing) ahead(model []m3.Xform) m3.Vec3 {
	if a.axis != (m3.Vec3{}) {
		return model[0].Rot.Rotate(a.axis).Flat().Normalize(m3.Vec3{})
	}
	if a.front >= 0 {
		return model[a.front].Pos.Sub(model[a.back].Pos).Flat().Normalize(m3.Vec3{})
	}
	var across m3.Vec3
	for i, l := range a.left {
		across = across.Add(model[l].Pos.Sub(model[a.right[i]].Pos))
	}
	return across.Cross(m3.Up).Normalize(m3.Vec3{})
}

// follow finds the root in all frames: below joint 0, smoothed.
func (t *track) follow(joints int, front *facing) {
	n, before := t.clip.Frames, 0
	pose := func(f int) []m3.Xform { return t.model[f*joints:][:joints] }
	rounds := 1
	if t.loop { // smoothed over the rounds before and after
		before = (wide/t.span + 1)
		rounds = 2*before + 1
	}
	at, ahead := make([]m3.Vec3, 0, rounds*t.span+1), make([]m3.Vec3, 0, rounds*t.span+1)
	here, there := ground(pose(0), front), ground(pose(n-1), front)
	round := there.Mul(here.Inv()) // from a round to the next
	move := m3.Identity
	for range before {
		move = move.Mul(round.Inv())
	}
	for range rounds {
		for f := range t.span {
			x := ground(pose(f), front)
			at, ahead = append(at, move.Apply(x.Pos)), append(ahead, move.Rot.Rotate(front.ahead(pose(f))))
		}
		move = round.Mul(move)
	}
	if t.loop {
		x := ground(pose(0), front)
		at, ahead = append(at, move.Apply(x.Pos)), append(ahead, move.Rot.Rotate(front.ahead(pose(0))))
	}
	feature.Smooth(at, ahead, TickRate)
	t.root = make([]feature.Place, n)
	last := float32(0)
	for f := range t.root {
		k := before*t.span + f
		if ahead[k].Flat().Len() > 1e-3 {
			last = m3.YawOf(ahead[k])
		}
		t.root[f] = feature.Place{Pos: at[k].Flat(), Yaw: last}
	}
}

// wide is the number of frames to either side over which roots are smoothed, or more.
const wide = 80

// ground returns where a pose stands and faces.
func ground(model []m3.Xform, front *facing) m3.Xform {
	return m3.Xform{Pos: model[0].Pos.Flat(), Rot: m3.YawQuat(m3.YawOf(front.ahead(model)))}
}

// lap returns how the motion of the track's frame f, which may lie outside of it, is moved, and the frame
// that it repeats. Outside of a clip that is no loop the end frame stands still.
func (t *track) lap(f int) (x m3.Xform, frame int) {
	if !t.loop {
		return m3.Identity, min(max(f, 0), t.span-1)
	}
	x = m3.Identity
	round := xform(t.root[t.span]).Mul(xform(t.root[0]).Inv())
	for f >= t.span {
		f, x = f-t.span, x.Mul(round)
	}
	for f < 0 {
		f, x = f+t.span, x.Mul(round.Inv())
	}
	return x, f
}

// place returns the root in frame f, which may lie outside of the clip.
func (t *track) place(f int) m3.Xform {
	x, k := t.lap(f)
	return x.Mul(xform(t.root[k]))
}

// joint returns where a joint is in frame f, which may lie outside of the clip.
func (t *track) joint(j, joints, f int) m3.Vec3 {
	x, k := t.lap(f)
	return x.Apply(t.model[k*joints+j].Pos)
}

func xform(p feature.Place) m3.Xform { return m3.Xform{Pos: p.Pos, Rot: m3.YawQuat(p.Yaw)} }

var errNoClips = errors.New("matching: no clips: a database wants at least one")
