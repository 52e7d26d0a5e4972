package retarget

import (
	"math"
	"slices"

	"mannequin/engine/m3"
	"mannequin/internal/statehash"
)

// number lists the further joints, and what Invert and masks need to know of both skeletons.
func (b *builder) number() {
	c := b.c
	take := func(of *bone) {
		if of.from < 0 || of.next >= 0 {
			of.further = len(c.further)
			c.further = append(c.further, of.joint)
		}
	}
	c.hips.further = -1
	if c.hips.next >= 0 || c.roll != 1 {
		c.hips.further = 0
		c.further = append(c.further, c.hips.joint)
	}
	for i := range c.trunk {
		take(&c.trunk[i])
	}
	for i := range c.limbs {
		l := &c.limbs[i]
		if i < c.legs { // inverse kinematics turn them: they say where the knee bends
			for _, of := range [...]*bone{&l.upper, &l.mid} {
				of.further = len(c.further)
				c.further = append(c.further, of.joint)
			}
		}
		for k := range l.others {
			take(&l.others[k])
		}
	}
	c.players, c.covers = make([]int, b.Source.Len()), make([]int, b.Skel.Len())
	c.stance, c.turns = slices.Repeat([]m3.Quat{m3.Ident}, b.Source.Len()), slices.Repeat([]m3.Quat{m3.Ident}, b.Source.Len())
	h := statehash.New.Uint(b.Skel.Fingerprint()).Uint(b.Source.Fingerprint()).Floats(c.Scale)
	for s, k := range b.From {
		c.players[s] = k
		if p := int(b.Source.Parents[s]); p >= 0 {
			c.stance[s] = b.Pose[p].Rot.Conj().Mul(b.Pose[s].Rot).Normalize()
			if k < 0 {
				c.players[s] = c.players[p]
			}
		}
		if k >= 0 {
			c.turns[s] = b.turn(s, k)
		} else {
			c.turns[s] = m3.Quat{}
		}
		c.players[s] = max(c.players[s], 0)
		h = h.Int(k).Xforms(b.Pose[s : s+1])
	}
	h = h.Xforms(b.Rest)
	for _, j := range b.order { // what they follow comes before them
		switch {
		case b.plays[j] >= 0:
			c.covers[j] = b.plays[j]
		case b.parents[j] >= 0:
			c.covers[j] = c.covers[b.parents[j]]
		default:
			c.covers[j] = b.Roles.Spine[0]
		}
	}
	c.sum = uint64(h)
}

// Fingerprint returns a checksum of the character: equal characters have the same.
func (c *Character) Fingerprint() uint64 { return c.sum }

// Further returns the joints whose rotations do not follow from one joint of the source: fingers, jaws and tails of
// people, twist bones, joints between two of the source's, thighs and shins. See Pose. Do not change it.
func (c *Character) Further() []int { return c.further }

// Player returns the own joint that plays a joint of the source, or the nearest joint above it that is played; −1 for
// a joint that there is not.
func (c *Character) Player(source int) int { return at(c.players, source) }

// Covers returns the joint of the source that an own joint plays, or the nearest joint above it does; −1 for a joint that
// there is not.
func (c *Character) Covers(own int) int { return at(c.covers, own) }

func at(v []int, i int) int {
	if uint(i) >= uint(len(v)) {
		return -1
	}
	return v[i]
}

// Toe returns the joint at the tip of a leg, in the order of the source's roles, or its foot if it has none there, and
// the place of the tip in that joint's frame, m; −1 for a leg that there is not.
func (c *Character) Toe(leg int) (joint int, at m3.Vec3) {
	if uint(leg) >= uint(c.legs) {
		return -1, m3.Vec3{}
	}
	return c.limbs[leg].point()
}

// Knuckles is Toe for the left or the right hand, 0 or 1; false if it has no such arm.
func (c *Character) Knuckles(side int) (joint int, at m3.Vec3, ok bool) {
	for i := range c.limbs[c.legs:] {
		if l := &c.limbs[c.legs+i]; l.side == side {
			joint, at = l.point()
			return joint, at, true
		}
	}
	return 0, m3.Vec3{}, false
}

func (l *limb) point() (joint int, at m3.Vec3) {
	if l.toe >= 0 {
		return l.toe, m3.Vec3{}
	}
	return l.end.joint, l.tip
}

// Invert writes the pose of the source, (source joints) in its own unit, and the turns of further joints, (Further),
// of which Pose makes a pose of the character, (joints), m, on level ground. The hips, the ends of legs and all
// rotations outside the legs come out as they are, to rounding; a knee bends as the lengths of its leg ask for. It
// allocates nothing.
func (c *Character) Invert(src []m3.Xform, turns []m3.Quat, own []m3.Xform) {
	if c.source == nil {
		return // the zero Character has no joints
	}
	sk := c.source
	for s, p := range sk.Parents {
		switch {
		case c.turns[s] != (m3.Quat{}):
			src[s].Rot = own[c.players[s]].Rot.Mul(c.turns[s].Conj()).Normalize()
		case p >= 0:
			src[s].Rot = src[p].Rot.Mul(c.stance[s]).Normalize()
		default:
			src[s].Rot = m3.Ident
		}
	}
	c.locate(src, m3.Vec3{})
	ahead := src[c.hips.from].Rot.Rotate(c.lateral).Flat().Normalize(m3.V(1, 0, 0)).Cross(m3.Up)
	middle := own[c.hips.joint].Apply(c.centre).Add(ahead.Scale(c.back))
	middle.Y -= c.rise
	root := middle.Scale(1 / c.Scale).Sub(src[c.middle[0]].Pos.Lerp(src[c.middle[1]].Pos, 0.5))
	c.locate(src, root)
	for i := range c.limbs[:c.legs] {
		l := &c.limbs[i]
		at := l.standing(src, own, c.Scale)
		upper, mid, end := &src[l.sourceUpper], &src[l.sourceMid], &src[l.sourceEnd]
		thigh, shin := mid.Pos.Sub(upper.Pos), end.Pos.Sub(mid.Pos)
		q, r := twoBones(upper.Rot, mid.Rot, thigh, shin, at.Sub(upper.Pos), thigh.Len(), shin.Len(), mostReach, upper.Rot.Rotate(l.hinge), turnedSine)
		upper.Rot, mid.Rot = q, r
	}
	c.locate(src, root)
	if c.hips.further >= 0 {
		turns[c.hips.further] = c.pelvis(src).Conj().Mul(own[c.hips.joint].Rot).Normalize()
	}
	for i := range c.trunk {
		c.trunk[i].invert(turns, src, own)
	}
	for i := range c.limbs {
		l := &c.limbs[i]
		l.upper.invert(turns, src, own)
		l.mid.invert(turns, src, own)
		for k := range l.others {
			l.others[k].invert(turns, src, own)
		}
	}
}

// invert writes what the joint turns beyond the source.
func (b *bone) invert(turns []m3.Quat, src, own []m3.Xform) {
	if b.further >= 0 {
		turns[b.further] = b.rotation(own[b.parent].Rot, src).Conj().Mul(own[b.joint].Rot).Normalize()
	}
}

// locate writes the places of the source's joints, whose rotations are there, for a root.
func (c *Character) locate(src []m3.Xform, root m3.Vec3) {
	for s, p := range c.source.Parents {
		if p < 0 {
			src[s].Pos = root
		} else {
			src[s].Pos = src[p].Apply(c.source.Offsets[s])
		}
	}
}

// standing returns where the end of the source's limb is whose goal is the end of the character's: see goal.
func (l *limb) standing(src, own []m3.Xform, scale float32) m3.Vec3 {
	end := &src[l.sourceEnd]
	reach := end.Rot.Rotate(l.sourceReach)
	foot := own[l.end.joint]
	tip := foot.Rot.Rotate(l.tip)
	left := end.Rot.Rotate(l.lateral).Flat().Normalize(m3.V(1, 0, 0))
	at := foot.Pos.Add(tip).Sub(left.Scale(l.move.X)).Sub(left.Cross(m3.Up).Scale(l.move.Z))
	at.Y -= l.tipRise
	if l.sole {
		w := rise((reach.Y-l.flat)/l.sourceReach.Len(), toesUp, 2*toesUp)
		at.Y = foot.Pos.Y - (1-w)*(l.tipRise-tip.Y) - w*(l.rise-scale*reach.Y)
	}
	if at = at.Scale(1 / scale).Sub(reach); !at.Finite() || at.Len() > math.MaxFloat32/4 {
		return end.Pos
	}
	return at
}
