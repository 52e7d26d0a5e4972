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
	timed
	to    m3.Vec3 // the hand's place in this tick
	near  float32 // how much the body helps, 0 to 1
	reach float32 // from which stretch of the arm on, m

	shoulder m3.Vec3 // in the last tick
	// Of the left hand: how the spine leans for both, a rotation vector in the frame of its lowest joint, and how
	// fast that changes, rad/s.
	lean, leaning m3.Vec3

	follows float32 // how much of the way to another swivel the elbow goes in this tick, 0 to 1
	bend    m3.Vec3 // the arm's axis, seen from the chest
	swivel  float32 // angle about the arm from the elbow of the motion to that of an arm that reaches, rad

	carried, carriedRate float32 // how much a goal that is not wanted goes along with the body, 0 to 1

	lost bool // the target has gone where the hand cannot hold on to it
}

// Within lets the hand arrive at its target in that many seconds from now, and stay there. On the way it
// starts and stops with the least jerk, as people's hands do (Flash and Hogan 1985). The zero duration is
// none: the hand is eased to the target, as it is after Arms.Lean has been told the weight 0.
func (s *HandState) Within(seconds float32) {
	s.lost = s.lost && !(seconds > 0)
	s.timed.Within(seconds)
}

// Share returns how much the hand is at its target rather than where the motion has it, 0 to 1.
func (s *HandState) Share() float32 {
	if !s.on {
		return 0
	}
	return s.share()
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
	// A hand with a time may begin to reach for places up to asideTimed off, and reaches in full up to asideHeld:
	// the body sways, and goes on otherwise than was foreseen.
	asideTimed, asideHeld = 1.9, 2.1
	// The spine leans in full for places up to leanFrom times the arm's length from the shoulder,
	// from leanTo on not at all: nobody bends down for distant things.
	leanFrom, leanTo = 2.2, 3.4
	// Turns toward a place that is just out of reach begin gently, below about this angle, rad.
	softTurn = 0.1
	// The half-life in which a goal that is not wanted any more begins to go along with the body, s.
	carryHalflife = 0.12
	// The half-life in which an elbow follows, s.
	swivelHalflife = 0.05
	// The half-life in which the goal of an arm that is let go comes within its reach, s: the elbow of a stretched arm
	// moves much faster than its hand.
	stretchedHalflife = 0.18
	// The spine leans by leanRate for each hand at most, rad/s, changes that by leanAccel, rad/s², and comes to rest in
	// about leanTime, s.
	leanRate, leanAccel, leanTime = 1.4, 14, 0.1
	// armReach is the share of its length to which an arm stretches before spine and shoulder help.
	armReach = 0.96
	// armNear is the share of its length below which an arm that is let go stretches again.
	armNear = 0.4
	// freeElbow is the share of the way below which an elbow follows faster.
	freeElbow = 0.03
	// straightSine is the sine of an elbow's angle below which its arm hardly shows to which side it bends.
	straightSine = 0.15
	// atTarget is the share of the way from which on a hand is at its target.
	atTarget = 0.999
	// The body goes down for places lower than stoopFrom below the spine's lowest joint, by stoopShare of the
	// rest, but by maxStoop at most, m, and back by stoopBack of that.
	stoopFrom, stoopShare, maxStoop, stoopBack = 0.2, 1.1, 0.58, 0.2
	// It begins gently, below about this depth, m.
	softStoop = 0.08
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
	hands := 0
	for i := range s {
		g := &s[i]
		if !g.on {
			continue
		}
		hands++
		arm := &a.Arms[i]
		length := arm.length(m)
		g.near = 1 - rise(g.to.Dist(m[arm.Upper].Pos), leanFrom*length, leanTo*length)
		g.reach = m3.Lerp(max(armReach*length, m[arm.Upper].Pos.Dist(m[arm.Hand].Pos)), armReach*length, g.share())
	}
	if hands == 0 {
		s[0].lean, s[0].leaning = m3.Vec3{}, m3.Vec3{}
		return
	}
	// Two hands lean the spine by turns, a little at a time, so that it does not lean to the side of one.
	rounds, most := 4, a.MaxLean
	if hands == 2 {
		rounds, most = 12, a.MaxLean/4
	}
	from := m[a.Spine[0]].Rot
	var leant [2]float32
	for range rounds {
		for i := range s {
			if g := &s[i]; g.on {
				leant[i] += a.Tree.approach(m, a.Spine, a.Arms[i].Upper, g.to, g.reach, min(a.MaxLean*g.near-leant[i], most))
			}
		}
	}
	// It begins and ends to lean no harder than people do.
	v, g := a.leant(m, chest, from), &s[0]
	want := clampLen(v.Sub(g.lean).Scale(1/max(leanTime, dt)), leanRate*float32(hands))
	g.leaning = g.leaning.Add(clampLen(want.Sub(g.leaning), leanAccel*dt))
	if to := g.lean.Add(g.leaning.Scale(dt)); to != v {
		back := m3.FromRotationVector(from.Rotate(to)).Mul(m3.FromRotationVector(from.Rotate(v)).Conj()).RotationVector()
		n := len(a.Spine)
		for i, j := range a.Spine {
			a.Tree.turn(m, j, m3.FromRotationVector(back.Scale(float32(2*(n-i))/float32(n*(n+1)))))
		}
		g.lean = to
	}
}

// clampLen returns v, or a vector of the same direction that has the greatest length.
func clampLen(v m3.Vec3, greatest float32) m3.Vec3 {
	return v.Scale(min(1, greatest/max(v.Len(), tiny)))
}

// leant returns by how much the spine of m leans more than it did with its last joint at chest, as a rotation
// vector in the frame from.
func (a *Arms) leant(m []m3.Xform, chest m3.Xform, from m3.Quat) m3.Vec3 {
	return from.Conj().Rotate(m[a.Spine[len(a.Spine)-1]].Rot.Mul(chest.Rot.Conj()).RotationVector())
}

// Bend takes the hands to the targets of Lean, from where the shoulders are now.
func (a *Arms) Bend(m []m3.Xform, s *[2]HandState) {
	for i := range s {
		if g, arm := &s[i], &a.Arms[i]; g.on {
			a.Tree.approach(m, []int{arm.Shoulder}, arm.Upper, g.to, g.reach, a.MaxShrug*g.near)
			a.bend(m, i, g)
		}
	}
}

// Stoop returns by how much the body of the pose m, which has been moved by moved, should be moved in the
// next tick so that the hands get to low places, m: down, and back, to keep its balance. It is for
// Legged.Shifts. Call it after Bend.
func (a *Arms) Stoop(m []m3.Xform, moved m3.Vec3, s *[2]HandState) (by m3.Vec3) {
	for i := range s {
		g := &s[i]
		if !g.on {
			continue
		}
		if w := a.stoop(m, moved, g.place()).Scale(g.share() * g.near); w.Y < by.Y {
			by = w
		}
	}
	return by
}

// stoop returns Stoop's result for a hand that is at a place.
func (a *Arms) stoop(m []m3.Xform, moved, to m3.Vec3) m3.Vec3 {
	d := to.Sub(m[a.Spine[0]].Pos.Sub(moved))
	low := -d.Y - stoopFrom
	if !(low > 0) {
		return m3.Vec3{}
	}
	down := min(stoopShare*low*low/(low+softStoop), maxStoop) // it begins gently
	by := d.Flat().Normalize(m3.Vec3{}).Scale(-stoopBack * down)
	by.Y = -down
	return by
}

// Reachable returns nil if the hand, 0 left or 1 right, of the pose m in world space, which has been moved by
// moved, can be at a place, or an error that says why it cannot. scratch has the length of m and is overwritten.
func (a *Arms) Reachable(m, scratch []m3.Xform, moved m3.Vec3, hand int, at m3.Vec3) error {
	if !at.Finite() {
		return fmt.Errorf("ik: the place %v is not finite", at)
	}
	by := a.stoop(m, moved, at).Sub(moved)
	for j := range m {
		scratch[j] = m[j]
		scratch[j].Pos = m[j].Pos.Add(by)
	}
	arm := &a.Arms[hand]
	if d := at.Sub(scratch[arm.Upper].Pos); d.Len() > tiny && aside(m[a.Spine[len(a.Spine)-1]], d, hand) > asideTimed {
		return fmt.Errorf("ik: the place is beside or behind the back: turn toward it first")
	}
	var s [2]HandState
	var to [2]m3.Vec3
	var weight [2]float32
	to[hand], weight[hand] = at, 1
	s[hand].Within(1)
	a.Lean(scratch, to, weight, 1, &s)
	a.Bend(scratch, &s)
	off := scratch[arm.Hand].Pos.Dist(at)
	if off < 0.01 {
		return nil
	}
	return fmt.Errorf("ik: the place is %.2f m from the shoulder, too far by %.2f m", at.Dist(m[arm.Upper].Pos), off)
}

// follow finds the place of hand i in this tick, a share of the way from where it is.
func (a *Arms) follow(m []m3.Xform, chest m3.Xform, i int, target m3.Vec3, weight, dt float32, s *HandState) {
	arm, want := &a.Arms[i], float32(0)
	shoulder := m[arm.Upper].Pos
	if !(weight > 0) {
		s.lost = false
	}
	if d := target.Sub(shoulder); weight > 0 && !s.lost && d.Finite() && m3.Finite(weight) && d.Len() > tiny && d.Len() < far {
		angle, from := aside(chest, d, i), float32(asideFrom)
		if s.within > 0 {
			from = asideHeld
		}
		want = m3.Clamp(weight, 0, 1) * (1 - rise(angle, from, asideTo))
		s.aim(target, reachJump)
		s.lost = s.within > 0 && s.gone >= s.within && (angle > from || d.Len() < armFold*arm.length(m))
	}
	if want == 0 {
		s.settle()
		s.carried, s.carriedRate = m3.Spring(s.carried, s.carriedRate, 1, carryHalflife, dt)
		if by := shoulder.Sub(s.shoulder); s.shoulder != (m3.Vec3{}) && by.Len() < reachJump {
			s.goal = s.goal.Add(by.Scale(s.carried))
		}
		// A folded arm is pushed on before the elbow has to swing about, and nobody leans on the way back.
		if d, length := s.goal.Sub(shoulder), arm.length(m); s.weight > 0 && d.Len() > tiny {
			fits, halflife, w := max(armNear*length/d.Len(), 1), float32(swivelHalflife), float32(1)
			if far := armReach * length / d.Len(); far < 1 {
				fits, halflife, w = far, stretchedHalflife, s.carried
			}
			s.goal = shoulder.Add(d.Scale(m3.Lerp(1, fits, w*(1-m3.Exp(-dt*math.Ln2/halflife)))))
		}
	} else {
		s.carried, s.carriedRate = 0, 0
	}
	s.shoulder, s.follows = shoulder, 1-m3.Exp(-dt*math.Ln2/swivelHalflife)
	s.gone = min(s.gone+dt, s.within)
	if !s.step(want, reachHalflife, reachJumpHalflife, dt) {
		*s = HandState{timed: timed{follower: s.follower}, lost: s.lost, lean: s.lean, leaning: s.leaning}
		return
	}
	s.to = onArc(m[arm.Upper].Pos, m[arm.Hand].Pos, s.place(), s.share())
}

// aside returns the angle between the way d from the shoulder of hand i and the middle of what its arm reaches,
// rad.
func aside(chest m3.Xform, d m3.Vec3, i int) float32 {
	out := float32(1 - 2*i) // left is +X
	middle := chest.Rot.Rotate(m3.V(0.4*out, 0.1, 0.9).Normalize(m3.Vec3{}))
	return m3.Acos(d.Scale(1 / d.Len()).Dot(middle))
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
// turns most. It returns the angle. The end moves too little: call it again.
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
	angle = max(angle, 0)
	angle = min(angle*angle/(angle+softTurn), most) // it begins and ends gently
	t.lean(m, joints, end, to, angle)
	return angle
}

// lean turns joints by an angle so that the joint end comes toward a place.
func (t *Tree) lean(m []m3.Xform, joints []int, end int, to m3.Vec3, angle float32) {
	pivot := m[joints[0]].Pos
	axis := m[end].Pos.Sub(pivot).Cross(to.Sub(pivot))
	n := len(joints)
	for i, j := range joints { // by shares n, n−1, … 1
		t.turn(m, j, m3.AxisAngle(axis.Normalize(m3.Up), angle*float32(2*(n-i))/float32(n*(n+1))))
	}
}

// bend bends arm i so that its hand is at its place. With more weight the elbow goes more to where
// the elbows of reaching arms are: back, down and out.
func (a *Arms) bend(m []m3.Xform, i int, s *HandState) {
	arm := &a.Arms[i]
	upper, lower, hand := m[arm.Upper].Pos, m[arm.Lower].Pos, m[arm.Hand].Pos
	length := arm.length(m)
	out := float32(1 - 2*i)
	elbow := m[a.Spine[len(a.Spine)-1]].Rot.Rotate(m3.V(0.35*out, -0.6, -0.7))
	way := s.to.Sub(upper).Normalize(m3.V(0, -1, 0))
	flat := func(v m3.Vec3) m3.Vec3 { return v.Sub(way.Scale(v.Dot(way))) }
	axis, want := flat(bendNormal(upper, lower, hand, length)), flat(way.Cross(elbow))
	if axis.Len() > tiny && want.Len() > tiny {
		// The way round that the elbow went before, where both are as long. At the target all ways are
		// one: from there it goes back the shorter way.
		turn := m3.Atan2(axis.Cross(want).Dot(way), axis.Dot(want))
		if s.share() < atTarget {
			turn += 2 * math.Pi * float32(math.Round(float64(s.swivel-turn)/(2*math.Pi)))
		}
		s.swivel = m3.Clamp(turn, -1.5*math.Pi, 1.5*math.Pi)
		axis = m3.AxisAngle(way, s.swivel*s.share()).Rotate(axis)
	}
	// Elbows do not flip where the hand passes them, nor where the arm of the motion is straight for a moment.
	bent := min(axis.Len()/straightSine, 1)
	chest := m[a.Spine[len(a.Spine)-1]].Rot
	axis = axis.Normalize(want)
	if was := flat(chest.Rotate(s.bend)); was.Len() > tiny {
		follows := bent * m3.Lerp(1, s.follows, rise(s.share(), 0, freeElbow)) // in the end the elbow is the motion's
		axis = was.Normalize(axis).Lerp(axis, follows).Normalize(axis)
	}
	axis = chest.Conj().Rotate(axis)
	s.bend, axis = axis, chest.Rotate(axis)
	extent := upper.Dist(hand) / max(length, tiny) // as it is bent already
	a.Tree.twoBone(m, arm.Upper, arm.Lower, arm.Hand, s.to, axis, min(armFold, extent), max(maxReach, extent), stretch(max(maxReach, extent)))
}
