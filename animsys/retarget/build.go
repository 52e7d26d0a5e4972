package retarget

import (
	"fmt"
	"slices"

	"mannequin/engine/m3"
	"mannequin/ik"
)

// wideStance is by which share of what its hips are wider a character has its feet further apart, up to thinShins, the
// radius of its shins over how far the source's legs are from the middle, and widestStance from thickShins on. A foot
// that turns a little while it stands slides by as much more as it is moved aside.
const (
	wideStance, widestStance = 0.5, 1
	thinShins, thickShins    = 1, 2
)

// ofPelvis is how far from the hips joints above them may be that move with them, in lengths of a leg. What is farther,
// such as a root on the floor, stays on the ground.
const ofPelvis = 0.4

// builder makes a character.
type builder struct {
	Options
	c       *Character
	plays   []int // (own joints) the source joint that it plays, or −1
	parents []int // (own joints) the joint that it follows, or −1
	order   []int // own joints, what they follow before them
}

func (b *builder) build() error {
	b.plays = slices.Repeat([]int{-1}, b.Skel.Len())
	for j, k := range b.From {
		if k >= 0 {
			b.plays[k] = j
		}
	}
	if err := b.follow(); err != nil {
		return err
	}
	c, hips := b.c, b.Roles.Spine[0]
	left := b.Pose[hips].Rot.Conj().Rotate(m3.V(1, 0, 0))
	c.hips, c.lateral = b.bone(b.From[hips]), left
	c.hipsAtRest = b.Rest[c.hips.joint].Rot.Conj()
	for j, p := range b.Source.Parents {
		if int(p) == hips && !b.same() && b.Source.Offsets[j].Len() < 1e-4 {
			c.hips.next, c.hips.nextTurn, c.hips.share = j, b.turn(j, c.hips.joint), 0.5
		}
	}
	if err := b.addLegs(); err != nil {
		return err
	}
	b.addArms()
	inLimb := b.members()
	ground := b.centre().Flat()
	for _, j := range b.order {
		switch {
		case j == c.hips.joint || inLimb[j] >= 0 && b.isLimb(j):
		case inLimb[j] >= 0:
			l := &c.limbs[inLimb[j]]
			l.others = append(l.others, b.bone(j))
		case b.below(c.hips.joint, j):
			c.trunk = append(c.trunk, b.trunkBone(j))
		default:
			c.above = append(c.above, bone{joint: j, parent: -1, offset: b.Rest[j].Pos.Sub(ground), turn: b.Rest[j].Rot, from: -1, next: -1, further: -1})
		}
	}
	b.addGuards()
	return nil
}

// same reports whether the character has the source's own joints and frames: then it only copies them.
func (b *builder) same() bool {
	if b.Skel.Len() != b.Source.Len() {
		return false
	}
	for j, k := range b.From {
		if k < 0 || b.Pose[j].Rot.Angle(b.Rest[k].Rot) > 1e-3 {
			return false
		}
	}
	return true
}

// follow finds which joint each joint follows: its parent, but for joints that hang elsewhere than the source's,
// such as legs on a root below the hips and feet that are targets of inverse kinematics.
func (b *builder) follow() error {
	hips := b.From[b.Roles.Spine[0]]
	b.parents = make([]int, b.Skel.Len())
	for j, p := range b.Skel.Parents {
		b.parents[j] = int(p)
	}
	for j, s := range b.plays {
		if s < 0 || j == hips {
			continue
		}
		up := int(b.Source.Parents[s])
		for up >= 0 && b.From[up] < 0 {
			up = int(b.Source.Parents[up])
		}
		if up >= 0 && !b.inTree(b.From[up], j) {
			b.parents[j] = b.From[up]
		}
	}
	b.parents[hips] = -1
	// The pelvis may be above the joint on which the legs hang, as may a joint for the centre of mass.
	for j := int(b.Skel.Parents[hips]); j >= 0 && b.plays[j] < 0 && b.Rest[j].Pos.Dist(b.Rest[hips].Pos) < ofPelvis*b.hindLeg(); j = int(b.Skel.Parents[j]) {
		b.parents[j] = hips
	}
	state := make([]int, len(b.parents)) // 1 being visited, 2 done
	var visit func(j int) error
	visit = func(j int) error {
		switch state[j] {
		case 1:
			return fmt.Errorf("joint %q is above and below joint that plays its part: map the joints", b.Skel.Names[j])
		case 2:
			return nil
		}
		state[j] = 1
		if p := b.parents[j]; p >= 0 {
			if err := visit(p); err != nil {
				return err
			}
		}
		state[j] = 2
		b.order = append(b.order, j)
		return nil
	}
	for j := range b.parents {
		if err := visit(j); err != nil {
			return err
		}
	}
	return nil
}

// hindLeg returns the length of the first of the legs on the hips, from the thigh to the ankle, m.
func (b *builder) hindLeg() float32 {
	chain := b.Roles.Legs[0]
	if n := len(b.Roles.Spine); n > 1 {
		for _, leg := range b.Roles.Legs {
			if !b.sourceBelow(b.Roles.Spine[n-1], leg[len(leg)-4]) {
				chain = leg
				break
			}
		}
	}
	upper, mid, end := chain[len(chain)-4], chain[len(chain)-3], chain[len(chain)-2]
	return b.rest(upper).Dist(b.rest(mid)) + b.rest(mid).Dist(b.rest(end))
}

// inTree reports whether own joint j is below a in the character's own tree.
func (b *builder) inTree(a, j int) bool {
	for j = int(b.Skel.Parents[j]); j >= 0; j = int(b.Skel.Parents[j]) {
		if j == a {
			return true
		}
	}
	return false
}

// below reports whether own joint j follows a, directly or not.
func (b *builder) below(a, j int) bool {
	for j = b.parents[j]; j >= 0; j = b.parents[j] {
		if j == a {
			return true
		}
	}
	return false
}

// bone returns how own joint j moves.
func (b *builder) bone(j int) bone {
	out := bone{joint: j, parent: b.parents[j], turn: b.Rest[j].Rot, from: b.plays[j], next: -1, nextTurn: m3.Ident, further: -1}
	if p := out.parent; p >= 0 {
		up := b.Rest[p].Rot.Conj()
		out.offset = up.Rotate(b.Rest[j].Pos.Sub(b.Rest[p].Pos))
		out.turn = up.Mul(b.Rest[j].Rot).Normalize()
	}
	if out.from >= 0 {
		out.turn = b.turn(out.from, j)
	}
	return out
}

// turn returns own joint j's rotation at rest, from source joint s.
func (b *builder) turn(s, j int) m3.Quat { return b.Pose[s].Rot.Conj().Mul(b.Rest[j].Rot).Normalize() }

// trunkBone is bone for a joint outside the limbs. One between two joints of the trunk that the source has takes
// its share of their turns, by its way from the one to the other.
func (b *builder) trunkBone(j int) bone {
	out := b.bone(j)
	if out.from >= 0 {
		return out
	}
	spine := b.spine()
	above := b.parents[j]
	for above >= 0 && b.plays[above] < 0 {
		above = b.parents[above]
	}
	if above < 0 || !spine[b.plays[above]] {
		return out
	}
	for k, s := range b.plays {
		if s < 0 || !spine[s] || !b.below(j, k) {
			continue
		}
		to, way := float32(0), float32(0) // to j, and all the way
		for i := k; i != above; i = b.parents[i] {
			step := b.Rest[i].Pos.Dist(b.Rest[b.parents[i]].Pos)
			if i == j || b.below(i, j) {
				to += step
			}
			way += step
			if p := b.parents[i]; p != above && b.plays[p] >= 0 {
				way = 0 // another one is nearer
				break
			}
		}
		if way > 0 {
			out.from, out.turn = b.plays[above], b.turn(b.plays[above], j)
			out.next, out.nextTurn, out.share = s, b.turn(s, j), to/way
		}
	}
	return out
}

// spine returns which source joints lie between hips and head.
func (b *builder) spine() []bool {
	out := make([]bool, b.Source.Len())
	top := b.Source.Index("Head")
	if top < 0 {
		top = b.Roles.Neck
	}
	for j := top; j >= 0; j = int(b.Source.Parents[j]) {
		out[j] = true
	}
	return out
}

// addLegs adds the legs, and finds size and height.
func (b *builder) addLegs() error {
	c := b.c
	chest := b.Roles.Spine[len(b.Roles.Spine)-1]
	var hind []ik.Leg
	for _, leg := range b.Roles.Legs {
		if len(b.Roles.Spine) == 1 || !b.sourceBelow(chest, leg[len(leg)-4]) {
			hind = append(hind, leg)
		}
	}
	if len(hind) < 2 || len(b.Roles.Legs) > maxLimbs-2 {
		return fmt.Errorf("%d legs, of which %d hang on the hips: want 2 to %d, and at least 2", len(b.Roles.Legs), len(hind), maxLimbs-2)
	}
	for i := range c.middle {
		c.middle[i] = hind[i][len(hind[i])-4]
	}
	upright := len(hind) == len(b.Roles.Legs) && len(hind) == 2
	var mine, theirs float32
	for _, leg := range b.Roles.Legs {
		upper, mid, end, tip := leg[len(leg)-4], leg[len(leg)-3], leg[len(leg)-2], leg[len(leg)-1]
		if len(b.Roles.Legs) > 4 { // legs lead aside, and may begin near the ground
			if b.From[tip] < 0 {
				tip = end
			}
			mine += b.rest(upper).Dist(b.rest(tip))
			theirs += b.Pose[upper].Pos.Dist(b.Pose[tip].Pos)
		} else if upright {
			mine += b.rest(upper).Dist(b.rest(mid)) + b.rest(mid).Dist(b.rest(end))
			theirs += b.Pose[upper].Pos.Dist(b.Pose[mid].Pos) + b.Pose[mid].Pos.Dist(b.Pose[end].Pos)
		} else {
			mine += b.rest(upper).Y
			theirs += b.Pose[upper].Pos.Y
		}
	}
	if c.Scale = mine / theirs; !(c.Scale > 1e-4 && c.Scale < 1e4) {
		return fmt.Errorf("%w: the character's legs are %g m long, and the legs of the motion's skeleton are %g m long", ErrSize, mine, theirs)
	}
	wide := func(a, b m3.Vec3) float32 { return m3.Abs(a.X - b.X) }
	c.roll = min(1, c.Scale*wide(b.Pose[c.middle[0]].Pos, b.Pose[c.middle[1]].Pos)/max(wide(b.rest(c.middle[0]), b.rest(c.middle[1])), 1e-6))
	at := b.centre()
	source := b.Pose[c.middle[0]].Pos.Lerp(b.Pose[c.middle[1]].Pos, 0.5)
	hips := b.Rest[c.hips.joint]
	c.centre = hips.Rot.Conj().Rotate(at.Sub(hips.Pos))
	for _, leg := range b.Roles.Legs {
		l, err := b.limb(leg, upright)
		if err != nil {
			return err
		}
		if upright {
			// Legs are alike, whatever the stance at rest: what differs is where they begin.
			upper := leg[len(leg)-4]
			l.move = b.rest(upper).Sub(at).Sub(b.Pose[upper].Pos.Sub(source).Scale(c.Scale))
			half := c.Scale * m3.Abs(b.Pose[upper].Pos.X-source.X)
			l.move.X *= m3.Lerp(wideStance, widestStance, rise(b.Shins/max(half, 1e-6), thinShins, thickShins))
			// Tips are where they are in the source. A body with longer feet stands further back.
			longer := b.Rest[l.end.joint].Rot.Rotate(l.tip).Sub(b.Pose[l.sourceEnd].Rot.Rotate(l.sourceReach).Scale(c.Scale))
			c.back += longer.Z / float32(len(b.Roles.Legs))
		} else {
			tip := b.Pose[l.sourceEnd].Apply(l.sourceReach)
			l.move = b.Rest[l.end.joint].Apply(l.tip).Sub(at).Sub(tip.Sub(source).Scale(c.Scale))
		}
		c.rise += l.rise / float32(len(b.Roles.Legs))
		c.limbs = append(c.limbs, l)
	}
	if !upright {
		low := float32(0) // of the ground under Pose
		for _, leg := range b.Roles.Legs {
			tip := leg[len(leg)-1]
			low += (b.Pose[tip].Pos.Y - b.stands(tip)) / float32(len(b.Roles.Legs))
		}
		c.rise = at.Y - (source.Y-low)*c.Scale
	}
	c.legs = len(c.limbs)
	return nil
}

func (b *builder) sourceBelow(a, j int) bool {
	for ; j >= 0; j = int(b.Source.Parents[j]) {
		if j == a {
			return true
		}
	}
	return false
}

// rest returns where the joint that plays source joint s is at rest.
func (b *builder) rest(s int) m3.Vec3 { return b.Rest[b.From[s]].Pos }

// centre returns the middle of the roots of the legs that carry the hips, at rest.
func (b *builder) centre() m3.Vec3 {
	return b.rest(b.c.middle[0]).Lerp(b.rest(b.c.middle[1]), 0.5)
}

// limb returns a limb of the source's chain: upper, mid, end, and tip, which may be −1 or have no own joint.
func (b *builder) limb(chain []int, sole bool) (limb, error) {
	n := len(chain)
	upper, mid, end, tip := chain[n-4], chain[n-3], chain[n-2], chain[n-1]
	l := limb{upper: b.bone(b.From[upper]), mid: b.bone(b.From[mid]), end: b.bone(b.From[end]),
		sourceUpper: upper, sourceMid: mid, sourceEnd: end, sole: sole, toe: b.From[tip]}
	own := func(of, at bone) m3.Vec3 { return b.inFrame(of.joint, b.Rest[at.joint].Pos) }
	l.thigh, l.shin = own(l.upper, l.mid), own(l.mid, l.end)
	l.a, l.b = l.thigh.Len(), l.shin.Len()
	l.sourceLength = b.Pose[upper].Pos.Dist(b.Pose[mid].Pos) + b.Pose[mid].Pos.Dist(b.Pose[end].Pos)
	for _, bone := range []struct {
		name   string
		length float32
	}{{b.Source.Names[mid], l.a}, {b.Source.Names[end], l.b}, {b.Source.Names[end] + " of the motion's skeleton", l.sourceLength}} {
		if !(bone.length > 1e-5) {
			return l, fmt.Errorf("the bone to %s has no length", bone.name)
		}
	}
	toSource := b.Pose[end].Rot.Conj()
	l.lateral = toSource.Rotate(m3.V(1, 0, 0))
	l.sourceReach = toSource.Rotate(b.Pose[tip].Pos.Sub(b.Pose[end].Pos))
	l.flat = b.Pose[tip].Pos.Y - b.Pose[end].Pos.Y
	if k := b.From[tip]; k >= 0 {
		l.tip = b.inFrame(l.end.joint, b.Rest[k].Pos)
	} else {
		l.tip = b.Rest[l.end.joint].Rot.Conj().Rotate(b.Pose[tip].Pos.Sub(b.Pose[end].Pos).Scale(b.c.Scale))
	}
	at := b.Rest[l.end.joint].Apply(l.tip)
	l.low = at.Y
	stands := b.stands(tip)
	l.tipRise, l.rise = at.Y-b.c.Scale*stands, b.Rest[l.end.joint].Pos.Y-b.c.Scale*(stands+b.Pose[end].Pos.Y-b.Pose[tip].Pos.Y)
	thigh, shin := b.Pose[mid].Pos.Sub(b.Pose[upper].Pos), b.Pose[end].Pos.Sub(b.Pose[mid].Pos)
	axis := thigh.Normalize(m3.Vec3{}).Cross(shin.Normalize(m3.Vec3{}))
	if axis.Len() < 0.2 || sole {
		axis = m3.V(1, 0, 0) // knees
	}
	l.hinge = b.Pose[upper].Rot.Conj().Rotate(axis.Normalize(m3.V(1, 0, 0)))
	return l, nil
}

// stands returns the height at which a tip of the source stands.
func (b *builder) stands(tip int) float32 {
	if b.Sole > 0 {
		return b.Sole
	}
	return b.Pose[tip].Pos.Y
}

// inFrame returns a place in the frame of own joint j at rest.
func (b *builder) inFrame(j int, at m3.Vec3) m3.Vec3 {
	return b.Rest[j].Rot.Conj().Rotate(at.Sub(b.Rest[j].Pos))
}

// addArms adds the arms of a source that has hands, where the character has them.
func (b *builder) addArms() {
	for side, name := range []string{"Left", "Right"} {
		var chain []int
		for _, part := range []string{"Arm", "ForeArm", "Hand", "HandIndex1"} {
			if j := b.Source.Index(name + part); j >= 0 && (b.From[j] >= 0 || part == "HandIndex1") {
				chain = append(chain, j)
			}
		}
		if len(chain) < 4 || slices.ContainsFunc(b.Roles.Legs, func(l ik.Leg) bool { return slices.Contains(l, chain[0]) }) {
			continue
		}
		l, err := b.limb(chain, false)
		if err != nil {
			continue // then it only turns, as trunk and helpers do
		}
		l.arm, l.side = true, side
		// Elbows bend forward.
		arm := b.Pose[l.sourceMid].Pos.Sub(b.Pose[l.sourceUpper].Pos).Normalize(m3.V(1, 0, 0))
		l.hinge = b.Pose[l.sourceUpper].Rot.Conj().Rotate(arm.Cross(m3.V(0, 0, 1)).Normalize(m3.Up))
		b.c.limbs = append(b.c.limbs, l)
	}
}

// members returns the limb of each own joint, −1 for none.
func (b *builder) members() []int {
	out := slices.Repeat([]int{-1}, b.Skel.Len())
	for _, j := range b.order {
		for i := range b.c.limbs {
			if l := &b.c.limbs[i]; j == l.upper.joint || b.below(l.upper.joint, j) {
				out[j] = i
			}
		}
	}
	return out
}

// isLimb reports whether own joint j is one of the three of a limb.
func (b *builder) isLimb(j int) bool {
	return slices.ContainsFunc(b.c.limbs, func(l limb) bool { return j == l.upper.joint || j == l.mid.joint || j == l.end.joint })
}
