package ik

import (
	"fmt"
	"math"

	"mannequin/engine/m3"
)

// Gaze turns the heads of posed bodies toward a place (look-at), pose after pose. The joints of
// Chain share the turn. Within the limits the head looks straight at the place; beyond them it
// looks as far as it can. The farther the place is behind, the less it tries: it looks ahead again
// before the place passes from one side to the other. Jumps are eased over. No bone changes length.
// [DogGaze] and [HumanGaze] fill it in.
type Gaze struct {
	Tree    *Tree     // the skeleton; required
	Chain   []int     // joints that turn, from the lowest to the head, each a descendant of the one before
	Share   []float32 // share of the turn for each joint of Chain; their sum is 1
	Forward m3.Vec3   // where the head looks, unit, in its own frame
	Eye     m3.Vec3   // place of the eyes in the head's frame, m
	Side    float32   // how far it looks to either side of the body's heading, rad; above 0; dogs 85°, people 80°
	Up      float32   // how far up, rad; above 0; dogs 65°, people 55°
	Down    float32   // how far down, rad; above 0; dogs 50°, people 65°
}

// GazeState is the memory of one body's gaze. The zero GazeState looks at nothing.
type GazeState struct{ follower } // goal and off are yaw and pitch, rad

const (
	// gazeHalflife is the half-life in which looking begins and ends, s.
	gazeHalflife = 0.15
	// A glance that jumps by more than gazeJump, rad, is eased over with the half-life
	// gazeJumpHalflife, s.
	gazeJump, gazeJumpHalflife = 0.15, 0.15
	// A place up to behindFrom aside is looked at in full, from behindTo on not at all, rad.
	behindFrom, behindTo = 1.9, 2.8
	// A place nearer than nearFrom to the eyes is not looked at, from nearTo on in full, m.
	nearFrom, nearTo = 0.1, 0.25
	// Straight above or below there is no heading: a place whose distance over the ground is less
	// than steepFrom of the whole is not looked at, from steepTo on in full.
	steepFrom, steepTo = 0.08, 0.25
)

// Validate reports the first field that makes the gaze unusable.
func (g *Gaze) Validate() error {
	if g.Tree == nil {
		return fmt.Errorf("ik: Gaze.Tree is missing")
	}
	if len(g.Share) != len(g.Chain) {
		return fmt.Errorf("ik: Gaze.Share has %d entries for %d joints", len(g.Share), len(g.Chain))
	}
	if !(g.Side > 0 && g.Up > 0 && g.Down > 0) {
		return fmt.Errorf("ik: Gaze.Side %g, Up %g and Down %g: want angles above 0", g.Side, g.Up, g.Down)
	}
	return g.Tree.chain("Gaze.Chain", g.Chain, 1)
}

// DogGaze returns the gaze of a skeleton with the joint names of the dog recordings: neck and head
// turn.
func DogGaze(tree *Tree, names []string, offsets []m3.Vec3) (*Gaze, error) {
	f := finder{names: names}
	j := f.find("Neck", "Head", "HeadSite")
	if err := f.err(); err != nil {
		return nil, err
	}
	nose := offsets[j[2]]
	return &Gaze{Tree: tree, Chain: j[:2], Share: []float32{0.5, 0.5},
		Forward: nose.Normalize(m3.V(1, 0, 0)), Eye: nose.Scale(0.4),
		Side: 85 * math.Pi / 180, Up: 65 * math.Pi / 180, Down: 50 * math.Pi / 180}, nil
}

// HumanGaze returns the gaze of a skeleton with the joint names of the shipped people: the upper
// spine, neck and head turn.
func HumanGaze(tree *Tree, names []string) (*Gaze, error) {
	f := finder{names: names}
	j := f.find("Spine1", "Neck", "Neck1", "Head")
	if err := f.err(); err != nil {
		return nil, err
	}
	return &Gaze{Tree: tree, Chain: j, Share: []float32{0.12, 0.18, 0.25, 0.45},
		Forward: m3.V(0, 0, 1), Eye: m3.V(0, 0.082, 0.089),
		Side: 80 * math.Pi / 180, Up: 55 * math.Pi / 180, Down: 65 * math.Pi / 180}, nil
}

// Turn moves the gaze of one body dt seconds on. The pose m is in world space, and the body faces
// the yaw heading, rad. The head looks at target, world space, with the share weight, 0 to 1. A
// target or weight that is not finite is none. While the body looks at nothing, the pose keeps its
// bits.
func (g *Gaze) Turn(m []m3.Xform, heading float32, target m3.Vec3, weight, dt float32, s *GazeState) {
	if *s == (GazeState{}) && !(weight > 0) {
		return
	}
	head := g.Chain[len(g.Chain)-1]
	want := float32(0)
	if weight > 0 && target.Finite() && m3.Finite(weight) && m3.Finite(heading) {
		d := target.Sub(m[head].Apply(g.Eye))
		yaw, pitch := angles(d, heading)
		l := d.Len()
		want = m3.Clamp(weight, 0, 1) * (1 - rise(m3.Abs(yaw), behindFrom, behindTo)) *
			rise(l, nearFrom, nearTo) * rise(d.Flat().Len(), steepFrom*l, steepTo*l)
		if m3.Finite(want) {
			s.aim(g.within(yaw, pitch), gazeJump)
		} else {
			want = 0
		}
	}
	if !s.step(want, gazeHalflife, gazeJumpHalflife, dt) {
		return
	}
	was := m[head].Rot.Rotate(g.Forward)
	for i := range 3 { // the eyes move with the head
		goal := s.goal
		if want > 0 && i > 0 {
			goal = g.within(angles(target.Sub(m[head].Apply(g.Eye)), heading))
		}
		q := m3.Between(was, direction(heading+goal.X+s.off.X, goal.Y+s.off.Y))
		to := m3.Ident.Slerp(q, s.share()).Rotate(was)
		turn := m3.Between(m[head].Rot.Rotate(g.Forward), to)
		if i > 0 {
			g.Tree.turn(m, head, turn)
			continue
		}
		v := turn.RotationVector()
		for k, j := range g.Chain {
			g.Tree.turn(m, j, m3.FromRotationVector(v.Scale(g.Share[k])))
		}
	}
}

// within returns the nearest yaw and pitch at which the head can look, as X and Y.
func (g *Gaze) within(yaw, pitch float32) m3.Vec3 {
	return m3.V(m3.Clamp(yaw, -g.Side, g.Side), m3.Clamp(pitch, -g.Down, g.Up), 0)
}

// angles returns how far d points aside of heading, to the left, and how far up, rad.
func angles(d m3.Vec3, heading float32) (yaw, pitch float32) {
	return m3.WrapAngle(m3.YawOf(d) - heading), m3.Atan2(d.Y, d.Flat().Len())
}

// direction returns the unit vector with this yaw and pitch.
func direction(yaw, pitch float32) m3.Vec3 {
	c := m3.Cos(pitch)
	return m3.V(c*m3.Sin(yaw), m3.Sin(pitch), c*m3.Cos(yaw))
}
