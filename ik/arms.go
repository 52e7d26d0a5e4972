package ik

import (
	"fmt"
	"math"

	"mannequin/engine/m3"
)

// Arms take the hands of posed people to places, pose after pose: an arm bends by two
// bones, exactly; where it is too short the spine leans and its shoulder comes along, as
// little as is needed. A place that an arm cannot point at, behind the back, is
// reached for the less the farther behind it is. No bone changes length; hips and legs stay.
type Arms struct {
	Tree  *Tree  // the skeleton; required
	Spine []int  // joints that lean, from the lowest on; at rest their axes are the body's: +X left, +Z ahead
	Arms  [2]Arm // left and right

	MaxLean  float32 // how far the spine leans, rad
	MaxShrug float32 // how far a shoulder turns, rad
}

// Arm is the chain of an arm's joints. The hand is the joint that shall be at the
// place: that of the knuckles.
type Arm struct {
	Shoulder, Upper, Lower, Hand int
}

// HandState is what Arms remember of a hand; its zero value is one that hangs free.
type HandState struct {
	weight, speed float32 // of reaching, and its change, 1/s
	goal          m3.Vec3
	off, rate     m3.Vec3 // from the goal to where it reaches, m
	on            bool    // goal is one

	to          m3.Vec3 // where the hand goes in this tick
	near, reach float32 // how much the body helps, and the stretch of the arm from which on, m
}

const (
	// gripEase is the half-life in which reaching begins and ends, s; gripMove that in
	// which a place that jumps by more than gripJump m in a tick is gone over to.
	gripEase, gripMove, gripJump = 0.18, 0.15, 0.12
	// An arm points up to wide0 off its middle, from wide1 on not at all, rad.
	wide0, wide1 = 1.75, 2.4
	// The spine leans for places up to far0 times the arm's length from the shoulder,
	// from far1 on for none.
	far0, far1 = 2.2, 3.4
	// armReach is the share of its length to which an arm stretches before anything
	// else helps, armFold that to which it folds.
	armReach, armFold = 0.96, 0.2
)

// HumanArms returns the arms of skeletons with the joint names of the shipped people.
func HumanArms(tree *Tree, names []string) (*Arms, error) {
	f := finder{names: names}
	a := &Arms{Tree: tree, Spine: f.find("LowerBack", "Spine", "Spine1"), MaxLean: 72 * math.Pi / 180, MaxShrug: 17 * math.Pi / 180}
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
		if err := a.Tree.chain(fmt.Sprintf("Arms.Arms[%d]", i), []int{a.Spine[len(a.Spine)-1], arm.Shoulder, arm.Upper, arm.Lower, arm.Hand}, 5); err != nil {
			return err
		}
	}
	if !(a.MaxLean >= 0 && a.MaxShrug >= 0) {
		return fmt.Errorf("ik: Arms.MaxLean %g and MaxShrug %g: want angles of 0 or more", a.MaxLean, a.MaxShrug)
	}
	return nil
}

// Lean takes the body of pose m, in world space, dt seconds on: its hands, left and
// right, are to go to targets by the shares weights, 0 to 1, and the spine leans as far as
// that takes. A target or weight that is not finite is none. Where no hand reaches the
// pose keeps its bits. Bend is to follow; in between the body may be turned above its hips.
func (a *Arms) Lean(m []m3.Xform, targets [2]m3.Vec3, weights [2]float32, dt float32, s *[2]HandState) {
	if *s == ([2]HandState{}) && !(weights[0] > 0 || weights[1] > 0) {
		return
	}
	chest := m[a.Spine[len(a.Spine)-1]]
	for i := range s {
		s[i].to = a.goal(m, chest, i, targets[i], weights[i], dt, &s[i])
	}
	lean := a.MaxLean
	for i := range s {
		g := &s[i]
		if !g.on {
			continue
		}
		// Nobody bends down for what is far away.
		arm := &a.Arms[i]
		length := arm.length(m)
		g.near = 1 - rise(g.to.Dist(m[arm.Upper].Pos), far0*length, far1*length)
		g.reach = m3.Lerp(max(armReach*length, m[arm.Upper].Pos.Dist(m[arm.Hand].Pos)), armReach*length, m3.Clamp(g.weight, 0, 1))
		var leant float32
		for range 4 {
			leant += a.Tree.bring(m, a.Spine, arm.Upper, g.to, g.reach, lean*g.near-leant)
		}
		lean -= leant
	}
}

// Bend takes the hands to where Lean has been told, from where the shoulders are now.
func (a *Arms) Bend(m []m3.Xform, s *[2]HandState) {
	for i := range s {
		if g, arm := &s[i], &a.Arms[i]; g.on {
			a.Tree.bring(m, []int{arm.Shoulder}, arm.Upper, g.to, g.reach, a.MaxShrug*g.near)
			a.bend(m, i, g.to, m3.Clamp(g.weight, 0, 1))
		}
	}
}

// goal returns where hand i goes in this tick: a share of the way from where it is.
func (a *Arms) goal(m []m3.Xform, chest m3.Xform, i int, target m3.Vec3, weight, dt float32, s *HandState) m3.Vec3 {
	arm, want := &a.Arms[i], float32(0)
	if d := target.Sub(m[arm.Upper].Pos); d.Finite() && m3.Finite(weight) && d.Len() > tiny && d.Len() < far {
		out := float32(1 - 2*i) // left is +X
		middle := chest.Rot.Rotate(m3.V(0.4*out, 0.1, 0.9).Normalize(m3.Vec3{}))
		want = m3.Clamp(weight, 0, 1) * (1 - rise(m3.Acos(d.Scale(1/d.Len()).Dot(middle)), wide0, wide1))
		if jump := s.goal.Sub(target); s.on && s.weight > unseen && jump.Len() > gripJump {
			s.off = s.off.Add(jump)
		}
		s.goal, s.on = target, true
	}
	s.weight, s.speed = m3.Spring(s.weight, s.speed, want, gripEase, dt)
	if s.weight < unseen && want == 0 {
		*s = HandState{}
	}
	s.off, s.rate = m3.DecayVec(s.off, s.rate, gripMove, dt)
	return swing(m[arm.Upper].Pos, m[arm.Hand].Pos, s.goal.Add(s.off), m3.Clamp(s.weight, 0, 1))
}

// swing returns the point the share w of the way from one place to another, on an arc
// around a shoulder.
func swing(shoulder, from, to m3.Vec3, w float32) m3.Vec3 {
	a, b := from.Sub(shoulder), to.Sub(shoulder)
	la, lb := a.Len(), b.Len()
	if w == 1 || la < tiny || lb < tiny {
		return from.Lerp(to, w)
	}
	q := m3.Ident.Slerp(m3.Between(a.Scale(1/la), b.Scale(1/lb)), w)
	return shoulder.Add(q.Rotate(a.Scale(1 / la)).Scale(m3.Lerp(la, lb, w)))
}

// length returns that of the arm with the hand as it is bent.
func (a *Arm) length(m []m3.Xform) float32 {
	return m[a.Upper].Pos.Dist(m[a.Lower].Pos) + m[a.Lower].Pos.Dist(m[a.Hand].Pos)
}

// bring turns joints, of which the first carries the rest and turns most, so that the joint
// end, which hangs on them, comes to within reach of a place: by as little as that takes,
// most radians in all at most. It returns how many. Joints after the first move end less
// than it takes: call it again.
func (t *Tree) bring(m []m3.Xform, joints []int, end int, to m3.Vec3, reach, most float32) float32 {
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

// bend bends arm i so that its hand is at a place. The more it reaches, weight, the more
// its elbow goes where elbows of reaching arms are: back, down and out.
func (a *Arms) bend(m []m3.Xform, i int, to m3.Vec3, weight float32) {
	arm := &a.Arms[i]
	upper, lower, hand := m[arm.Upper].Pos, m[arm.Lower].Pos, m[arm.Hand].Pos
	length := arm.length(m)
	now := upper.Sub(lower).Cross(hand.Sub(lower)).Scale(4 / max(length*length, tiny))
	out := float32(1 - 2*i)
	elbow := m[a.Spine[len(a.Spine)-1]].Rot.Rotate(m3.V(0.35*out, -0.6, -0.7))
	way := to.Sub(upper).Normalize(m3.V(0, -1, 0))
	axis := now.Lerp(way.Cross(elbow), weight)
	room := upper.Dist(hand) / max(length, tiny) // as it is bent already
	a.Tree.twoBone(m, arm.Upper, arm.Lower, arm.Hand, to, axis, min(armFold, room), max(0.985, room))
}
