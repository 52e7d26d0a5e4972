// Package retarget puts poses of a generator's skeleton on characters that keep their own bones, tick by tick.
//
//   - Hips go as high as the character's legs are long, and as far.
//   - Joints turn as those of the source do, from a pose in which both stand alike. Joints that the source
//     lacks follow the joint above them; in the trunk and the neck they turn by their share.
//   - Feet go to the places of the source's feet, seen from the character's size and build, by two-bone
//     inverse kinematics. So feet that stand still in the source stand still here. Hands do so
//     when they reach for something.
//
// No bone changes length. [mannequin/animsys/skin.Skin.Character] makes characters from files.
package retarget

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// Options say how a character plays the joints of a source.
type Options struct {
	Source *skel.Skeleton // the skeleton of the motion
	Roles  ik.Roles       // its legs and spine
	Pose   []m3.Xform     // (source joints) how it stands when the character is in Rest, m; ground at 0, +Z ahead
	Sole   float32        // height of the tips of its legs when they stand in motion, m; 0: as in Pose
	Shins  float32        // radius of the character's shins, m: legs that are thick for their length stand as far apart as its hips ask for; 0: thin

	Flesh    []Tube  // what its forearms keep out of: the trunk, if it is wider than people's, and legs; may be nil
	Forearms float32 // radius of the character's forearms, m

	Skel *skel.Skeleton // the character's own joints, parents before children
	Rest []m3.Xform     // (own joints) where it stands, m; ground at 0, +Z ahead
	From []int          // (source joints) the own joint that plays it, −1 for none
}

// Character is a skeleton of its own that plays the motion of a source. It is immutable and safe to share.
type Character struct {
	Skel  *skel.Skeleton // its joints; offsets are those of Rest
	Rest  []m3.Xform     // (joints) where it stands, m; ground at 0, +Z ahead
	Scale float32        // its size: the length of its legs, over that of the source's

	source  *skel.Skeleton
	trunk   []bone
	limbs   []limb
	legs    int // the limbs that are legs come first
	hips    bone
	above   []bone  // the joints far above the hips in the tree, which stay on the ground
	centre  m3.Vec3 // the middle of the legs' roots, from the hips, in their frame, m
	rise    float32 // of that middle, beyond the scaled source's, m
	back    float32 // how far it is behind the scaled source's, m
	middle  [2]int  // the source's roots of the legs that carry the hips
	lateral m3.Vec3 // the source's axis to the left, in the frame of its hips

	hipsAtRest m3.Quat // from the axes of the hips to the world's
	roll       float32 // of the source's roll that the hips take, 0 to 1

	further []int     // own joints; see Further
	players []int     // (source joints) the own joint that plays it, or the one above it
	covers  []int     // (own joints) see Covers
	stance  []m3.Quat // (source joints) from the frame of the joint above, in the pose in which both stand alike
	turns   []m3.Quat // (source joints) from its frame to that of its player
	sum     uint64
}

// bone is how a joint follows the source, or the joint above it.
type bone struct {
	joint, parent int
	offset        m3.Vec3 // from the parent, in its frame, m
	turn          m3.Quat // from the source's frame, or from the parent's if it follows
	from          int     // source joint, −1 to follow the parent
	next          int     // another source joint, of whose turn it takes a share, or −1
	nextTurn      m3.Quat
	share         float32
	further       int // its number in Character.further, −1 for none
}

// ErrSize means that a character is too small or too large beside the source.
var ErrSize = errors.New("the sizes differ too much")

// New returns a character. It returns an error if the source's legs are not played, or if the options do not
// fit each other.
func New(o Options) (*Character, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("retarget: %w", err)
	}
	b := builder{Options: o, c: &Character{Skel: o.Skel, Rest: slices.Clone(o.Rest), source: o.Source}}
	if err := b.build(); err != nil {
		return nil, fmt.Errorf("retarget: %w", err)
	}
	b.number()
	return b.c, nil
}

func (o *Options) check() error {
	switch {
	case o.Source == nil || o.Skel == nil:
		return errors.New("the source or the own skeleton is missing")
	case len(o.Pose) != o.Source.Len() || len(o.From) != o.Source.Len():
		return fmt.Errorf("there are %d transforms in Pose and %d joints in From, the source %d joints", len(o.Pose), len(o.From), o.Source.Len())
	case len(o.Rest) != o.Skel.Len():
		return fmt.Errorf("rest has %d transforms for %d joints", len(o.Rest), o.Skel.Len())
	case len(o.Roles.Legs) < 2 || len(o.Roles.Spine) == 0:
		return errors.New("the roles have no pair of legs or no spine")
	}
	if err := o.Skel.Validate(); err != nil {
		return err
	}
	for _, list := range []struct {
		of   string
		pose []m3.Xform
	}{{"Pose", o.Pose}, {"Rest", o.Rest}} {
		for j, x := range list.pose {
			if !x.Pos.Finite() || !x.Rot.Finite() || m3.Abs(x.Rot.Dot(x.Rot)-1) > 0.01 {
				return fmt.Errorf("%s: the transform of joint %d is not finite, or its rotation has no unit length", list.of, j)
			}
		}
	}
	if err := o.checkFlesh(); err != nil {
		return err
	}
	taken := make([]bool, o.Skel.Len())
	for j, k := range o.From {
		if k < -1 || k >= len(taken) {
			return fmt.Errorf("joint %d of From is %d, and there are %d joints", j, k, len(taken))
		}
		if k >= 0 && taken[k] {
			return fmt.Errorf("joint %q plays two joints of the source", o.Skel.Names[k])
		}
		if k >= 0 {
			taken[k] = true
		}
	}
	needs := []int{o.Roles.Spine[0]}
	for _, leg := range o.Roles.Legs {
		if len(leg) < 4 {
			return errors.New("a leg has fewer than four joints")
		}
		needs = append(needs, leg[len(leg)-4:len(leg)-1]...)
	}
	for _, j := range needs {
		if j < 0 || j >= o.Source.Len() {
			return fmt.Errorf("the roles name joint %d, and the source has %d", j, o.Source.Len())
		}
		if o.From[j] < 0 {
			return fmt.Errorf("no joint plays %s", o.Source.Names[j])
		}
	}
	return nil
}

// Len returns the number of the character's joints.
func (c *Character) Len() int { return len(c.Rest) }

// Legs returns the number of its legs, in the order of the source's roles.
func (c *Character) Legs() int { return c.legs }

// Arm returns the joint at which the left or the right arm begins, 0 or 1, and how far its knuckles reach from
// there, m; false if it has none that takes its hand to places.
func (c *Character) Arm(side int) (joint int, reach float32, ok bool) {
	for i := range c.limbs[c.legs:] {
		if l := &c.limbs[c.legs+i]; l.side == side {
			return l.upper.joint, mostReach*(l.a+l.b) + l.tip.Len(), true
		}
	}
	return 0, 0, false
}

// Source returns the skeleton of the motion that it plays.
func (c *Character) Source() *skel.Skeleton { return c.source }

// Pose writes the character's joints, in metres, for a pose of the source in its own unit: (source joints)
// in model space. The place of the source is scaled about the origin. hands say how much the left and the
// right hand are to be at the places of the source's, 0 to 1, and not only turn as they do. feet, (Legs), are
// remembered from one pose of a motion to the next, and are zero for the first; nil for a single pose. turns,
// (Further), are how its further joints turn beyond the source's, each in its own frame; nil for not at all. Pose
// allocates nothing. src and dst do not overlap.
func (c *Character) Pose(dst, src []m3.Xform, hands [2]float32, feet []Foot, turns []m3.Quat) {
	if c.source == nil {
		return // the zero Character has no joints
	}
	src = src[:c.source.Len()]
	dst = dst[:len(c.Rest)]
	legs := c.limbs[:c.legs]
	x := m3.Xform{Rot: c.hips.turned(c.pelvis(src), turns)}
	middle := src[c.middle[0]].Pos.Lerp(src[c.middle[1]].Pos, 0.5).Scale(c.Scale)
	middle.Y += c.rise
	ahead := src[c.hips.from].Rot.Rotate(c.lateral).Flat().Normalize(m3.V(1, 0, 0)).Cross(m3.Up)
	middle = middle.Sub(ahead.Scale(c.back))
	x.Pos = middle.Sub(x.Rot.Rotate(c.centre))
	var goals [maxLimbs]goal
	sink, ground := float32(0), float32(math.MaxFloat32)
	for i := range legs {
		var foot *Foot
		if feet != nil {
			foot = &feet[i]
		}
		goals[i] = legs[i].goal(src, c.Scale, foot, turns)
		ground = min(ground, goals[i].high)
	}
	dst[c.hips.joint] = x
	if len(c.above) > 0 {
		under := m3.Xform{Pos: m3.V(middle.X, ground, middle.Z), Rot: m3.YawQuat(m3.YawOf(ahead))}
		for i := range c.above {
			b := &c.above[i]
			dst[b.joint] = m3.Xform{Pos: under.Apply(b.offset), Rot: under.Rot.Mul(b.turn)}
		}
	}
	for i := range c.trunk {
		c.trunk[i].pose(dst, src, turns)
	}
	for i := range legs {
		sink = max(sink, legs[i].sink(&dst[legs[i].upper.parent], &goals[i]))
	}
	if sink > 0 {
		dst[c.hips.joint].Pos.Y -= sink
		for i := range c.trunk {
			dst[c.trunk[i].joint].Pos.Y -= sink
		}
	}
	for i := range legs {
		legs[i].pose(dst, src, turns, &goals[i], 1)
	}
	for i := range c.limbs[c.legs:] {
		arm := &c.limbs[c.legs+i]
		if w := hands[arm.side]; w > 0 {
			g := arm.goal(src, c.Scale, nil, nil)
			arm.pose(dst, src, turns, &g, min(w, 1))
			continue
		}
		arm.pose(dst, src, turns, nil, 0)
	}
}

// pelvis returns the rotation of the hips. A source's lower back may begin where its hips are: then they share how
// far the pelvis leans forward, and which has how much is chance. Wide hips roll less than the source's, so that
// legs go up and down as far.
func (c *Character) pelvis(src []m3.Xform) m3.Quat {
	q := src[c.hips.from].Rot.Mul(c.hips.turn).Normalize()
	turn := q.Mul(c.hipsAtRest) // since rest
	if c.hips.next >= 0 {
		turn = turn.Slerp(src[c.hips.next].Rot.Mul(c.hips.nextTurn).Mul(c.hipsAtRest), c.hips.share)
	} else if c.roll == 1 {
		return q
	}
	left := src[c.hips.from].Rot.Rotate(c.lateral)
	left.Y *= c.roll
	left = left.Normalize(m3.V(1, 0, 0))
	ahead := left.Cross(turn.Rotate(m3.Up)).Normalize(m3.V(0, 0, 1))
	return m3.FromAxes(left, ahead.Cross(left), ahead).Mul(c.hipsAtRest.Conj()).Normalize()
}

// pose writes the joint's transform.
func (b *bone) pose(dst, src []m3.Xform, turns []m3.Quat) {
	up := &dst[b.parent]
	dst[b.joint] = m3.Xform{Pos: up.Pos.Add(up.Rot.Rotate(b.offset)), Rot: b.turned(b.rotation(up.Rot, src), turns)}
}

// turned returns the rotation q of the joint with what it turns beyond the source.
func (b *bone) turned(q m3.Quat, turns []m3.Quat) m3.Quat {
	if turns == nil || b.further < 0 || turns[b.further] == m3.Ident { // it keeps its bits
		return q
	}
	return q.Mul(turns[b.further]).Normalize()
}

// rotation returns the joint's rotation below a parent with the rotation up.
func (b *bone) rotation(up m3.Quat, src []m3.Xform) m3.Quat {
	if b.from < 0 {
		return up.Mul(b.turn).Normalize()
	}
	q := src[b.from].Rot.Mul(b.turn)
	if b.next >= 0 {
		q = q.Slerp(src[b.next].Rot.Mul(b.nextTurn), b.share)
	}
	return q.Normalize()
}

// Interpolate writes the joints a fraction alpha in [0, 1] of the way from one result of Pose to another. Joints
// turn on the way, and hips go straight, so that bones keep their lengths.
func (c *Character) Interpolate(dst, from, to []m3.Xform, alpha float32) {
	between := func(j int) {
		dst[j] = m3.Xform{Pos: from[j].Pos.Lerp(to[j].Pos, alpha), Rot: from[j].Rot.Slerp(to[j].Rot, alpha)}
	}
	between(c.hips.joint)
	for i := range c.above {
		between(c.above[i].joint)
	}
	for i := range c.trunk {
		c.trunk[i].interpolate(dst, from, to, alpha)
	}
	for i := range c.limbs {
		l := &c.limbs[i]
		l.upper.interpolate(dst, from, to, alpha)
		dst[l.mid.joint] = m3.Xform{Pos: dst[l.upper.joint].Apply(l.thigh), Rot: from[l.mid.joint].Rot.Slerp(to[l.mid.joint].Rot, alpha)}
		dst[l.end.joint] = m3.Xform{Pos: dst[l.mid.joint].Apply(l.shin), Rot: from[l.end.joint].Rot.Slerp(to[l.end.joint].Rot, alpha)}
		for i := range l.others {
			l.others[i].interpolate(dst, from, to, alpha)
		}
	}
}

// interpolate writes the joint's transform between two poses.
func (b *bone) interpolate(dst, from, to []m3.Xform, alpha float32) {
	dst[b.joint] = m3.Xform{Pos: dst[b.parent].Apply(b.offset), Rot: from[b.joint].Rot.Slerp(to[b.joint].Rot, alpha)}
}
