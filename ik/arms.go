package ik

import (
	"fmt"
	"math"

	"mannequin/engine/m3"
)

// Arms take the hands of posed people to places (reach), pose after pose. An arm bends exactly, by
// two bones. If it is too short, the spine leans and the shoulder comes along, as little as needed.
// The farther behind the back a place is, the less the arm reaches for it. No bone changes length;
// hips and legs stay. [HumanArms] fills it in.
type Arms struct {
	Tree  *Tree  // the skeleton; required
	Spine []int  // joints that lean, from the lowest on; at rest their axes are the body's: +X left, +Z ahead
	Arms  [2]Arm // left and right

	MaxLean  float32 // how far the spine leans, rad; 0 or more; 72°
	MaxShrug float32 // how far a shoulder turns, rad; 0 or more; 17°
}

// Arm is the chain of an arm's joints. Hand is the joint that goes to the place: the knuckles.
type Arm struct {
	Shoulder, Upper, Lower, Hand int
}

// HandState is the memory of one hand. The zero HandState hangs free.
type HandState struct {
	follower
	to    m3.Vec3 // the hand's place in this tick
	near  float32 // how much the body helps, 0 to 1
	reach float32 // from which stretch of the arm on, m
}

const (
	// reachHalflife is the half-life in which reaching begins and ends, s.
	reachHalflife = 0.18
	// A place that jumps by more than reachJump in a tick, m, is eased over with the half-life
	// reachJumpHalflife, s.
	reachJump, reachJumpHalflife = 0.12, 0.15
	// An arm reaches in full for places up to asideFrom off its middle, from asideTo on not at all,
	// rad.
	asideFrom, asideTo = 1.75, 2.4
	// The spine leans in full for places up to leanFrom times the arm's length from the shoulder,
	// from leanTo on not at all: nobody bends down for distant things.
	leanFrom, leanTo = 2.2, 3.4
	// armReach is the share of its length to which an arm stretches before spine and shoulder help.
	armReach = 0.96
	// armFold is the share of its length to which an arm folds at most.
	armFold = 0.2
)

// HumanArms returns the arms of a skeleton with the joint names of the shipped people.
func HumanArms(tree *Tree, names []string) (*Arms, error) {
	f := finder{names: names}
	a := &Arms{Tree: tree, Spine: f.find("LowerBack", "Spine", "Spine1"),
		MaxLean: 72 * math.Pi / 180, MaxShrug: 17 * math.Pi / 180}
	for i, side := range []string{"Left", "Right"} {
		j := f.find(side+"Shoulder", side+"Arm", side+"ForeArm", side+"HandIndex1")
		a.Arms[i] = Arm{j[0], j[1], j[2], j[3]}
	}
	return a, f.err()
}

// Validate reports the first field that makes the arms unusable.
func (a *Arms) Validate() error {
	if a.Tree == nil {
		return fmt.Errorf("ik: Arms.Tree is missing")
	}
	if err := a.Tree.chain("Arms.Spine", a.Spine, 1); err != nil {
		return err
	}
	for i, arm := range a.Arms {
		chain := []int{a.Spine[len(a.Spine)-1], arm.Shoulder, arm.Upper, arm.Lower, arm.Hand}
		if err := a.Tree.chain(fmt.Sprintf("Arms.Arms[%d]", i), chain, 5); err != nil {
			return err
		}
	}
	if !(a.MaxLean >= 0 && a.MaxShrug >= 0) {
		return fmt.Errorf("ik: Arms.MaxLean %g and MaxShrug %g: want angles of 0 or more", a.MaxLean, a.MaxShrug)
	}
	return nil
}

// Lean moves the hands' targets of one body dt seconds on and leans its spine. The pose m is in
// world space. The hands, left and right, go to targets with the shares weights, 0 to 1. A target
// or weight that is not finite is none. While no hand reaches, the pose keeps its bits. Call Bend
// afterwards; in between the body may be turned above its hips.
func (a *Arms) Lean(m []m3.Xform, targets [2]m3.Vec3, weights [2]float32, dt float32, s *[2]HandState) {
	if *s == ([2]HandState{}) && !(weights[0] > 0 || weights[1] > 0) {
		return
	}
	chest := m[a.Spine[len(a.Spine)-1]]
	for i := range s {
		a.follow(m, chest, i, targets[i], weights[i], dt, &s[i])
	}
	lean := a.MaxLean
	for i := range s {
		g := &s[i]
		if !g.on {
			continue
		}
		arm := &a.Arms[i]
		length := arm.length(m)
		g.near = 1 - rise(g.to.Dist(m[arm.Upper].Pos), leanFrom*length, leanTo*length)
		g.reach = m3.Lerp(max(armReach*length, m[arm.Upper].Pos.Dist(m[arm.Hand].Pos)), armReach*length, g.share())
		var leant float32
		for range 4 {
			leant += a.Tree.approach(m, a.Spine, arm.Upper, g.to, g.reach, lean*g.near-leant)
		}
		lean -= leant
	}
}

// Bend takes the hands to the targets of Lean, from where the shoulders are now.
func (a *Arms) Bend(m []m3.Xform, s *[2]HandState) {
	for i := range s {
		if g, arm := &s[i], &a.Arms[i]; g.on {
			a.Tree.approach(m, []int{arm.Shoulder}, arm.Upper, g.to, g.reach, a.MaxShrug*g.near)
			a.bend(m, i, g.to, g.share())
		}
	}
}

// follow finds the place of hand i in this tick, a share of the way from where it is.
func (a *Arms) follow(m []m3.Xform, chest m3.Xform, i int, target m3.Vec3, weight, dt float32, s *HandState) {
	arm, want := &a.Arms[i], float32(0)
	if d := target.Sub(m[arm.Upper].Pos); d.Finite() && m3.Finite(weight) && d.Len() > tiny && d.Len() < far {
		out := float32(1 - 2*i) // left is +X
		middle := chest.Rot.Rotate(m3.V(0.4*out, 0.1, 0.9).Normalize(m3.Vec3{}))
		want = m3.Clamp(weight, 0, 1) * (1 - rise(m3.Acos(d.Scale(1/d.Len()).Dot(middle)), asideFrom, asideTo))
		s.aim(target, reachJump)
	}
	if !s.step(want, reachHalflife, reachJumpHalflife, dt) {
		*s = HandState{follower: s.follower}
		return
	}
	s.to = onArc(m[arm.Upper].Pos, m[arm.Hand].Pos, s.goal.Add(s.off), s.share())
}

// onArc returns the point at the share w of the way between two places, on an arc around a shoulder.
func onArc(shoulder, from, to m3.Vec3, w float32) m3.Vec3 {
	a, b := from.Sub(shoulder), to.Sub(shoulder)
	la, lb := a.Len(), b.Len()
	if w == 1 || la < tiny || lb < tiny {
		return from.Lerp(to, w)
	}
	q := m3.Ident.Slerp(m3.Between(a.Scale(1/la), b.Scale(1/lb)), w)
	return shoulder.Add(q.Rotate(a.Scale(1 / la)).Scale(m3.Lerp(la, lb, w)))
}

// length returns the length of the stretched arm, with the hand bent as it is.
func (a *Arm) length(m []m3.Xform) float32 {
	return m[a.Upper].Pos.Dist(m[a.Lower].Pos) + m[a.Lower].Pos.Dist(m[a.Hand].Pos)
}

// approach turns joints so that the joint end, which hangs on them, comes within reach of a place.
// It turns no more than needed, and at most by most, rad; the first joint carries the others and
// turns most. It returns the angle. The joints after the first move end too little: call it again.
func (t *Tree) approach(m []m3.Xform, joints []int, end int, to m3.Vec3, reach, most float32) float32 {
	pivot := m[joints[0]].Pos
	a, b := m[end].Pos.Sub(pivot), to.Sub(pivot)
	la, lb := a.Len(), b.Len()
	axis := a.Cross(b)
	if !(most > 0) || m[end].Pos.Dist(to) <= reach || axis.Len() < 1e-4*la*lb || la < tiny {
		return 0
	}
	angle := m3.Acos(a.Dot(b) / (la * lb))
	angle -= m3.Acos(m3.Clamp((la*la+lb*lb-reach*reach)/(2*la*lb), -1, 1))
	angle = m3.Clamp(angle, 0, most)
	n := len(joints)
	for i, j := range joints { // by shares n, n−1, … 1
		t.turn(m, j, m3.AxisAngle(axis.Normalize(m3.Up), angle*float32(2*(n-i))/float32(n*(n+1))))
	}
	return angle
}

// bend bends arm i so that its hand is at a place. With more weight the elbow goes more to where
// the elbows of reaching arms are: back, down and out.
func (a *Arms) bend(m []m3.Xform, i int, to m3.Vec3, weight float32) {
	arm := &a.Arms[i]
	upper, lower, hand := m[arm.Upper].Pos, m[arm.Lower].Pos, m[arm.Hand].Pos
	length := arm.length(m)
	now := bendNormal(upper, lower, hand, length)
	out := float32(1 - 2*i)
	elbow := m[a.Spine[len(a.Spine)-1]].Rot.Rotate(m3.V(0.35*out, -0.6, -0.7))
	way := to.Sub(upper).Normalize(m3.V(0, -1, 0))
	axis := now.Lerp(way.Cross(elbow), weight)
	extent := upper.Dist(hand) / max(length, tiny) // as it is bent already
	a.Tree.twoBone(m, arm.Upper, arm.Lower, arm.Hand, to, axis, min(armFold, extent), max(maxReach, extent))
}
