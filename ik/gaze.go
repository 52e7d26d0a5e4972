package ik

import (
	"fmt"
	"math"

	"mannequin/engine/m3"
)

// Gaze turns the heads of posed bodies so that they look at a place, pose after pose:
// joints from the chest up to the head share the turn. Within the limits the head
// looks straight at the place; beyond them it looks as far as it can, and the more the
// place is behind, the less it tries: it looks ahead again before the place passes
// from one side to the other. What jumps is eased over. No bone changes length.
type Gaze struct {
	Tree    *Tree     // the skeleton; required
	Chain   []int     // joints that turn, from the lowest to the head, each a descendant of the one before
	Share   []float32 // of the turn that each makes, their sum 1
	Forward m3.Vec3   // where the head looks, in its own frame, unit
	Eye     m3.Vec3   // from where, in its frame, m
	Side    float32   // how far it looks to either side of the body's heading, rad
	Up      float32   // how far up, rad
	Down    float32   // how far down, rad
}

// GazeState is what Gaze remembers of a body; its zero value is one that looks at nothing.
type GazeState struct {
	weight, speed float32 // of looking, and its change, 1/s
	goal          [2]float32
	off, rate     m3.Vec3 // from the goal to where it looks, yaw and pitch, and its change
	on            bool    // goal is one
}

const (
	// gazeEase is the half-life in which looking begins and ends, s; gazeTurn that in
	// which a glance that jumps by more than gazeJump rad in a tick goes over.
	gazeEase, gazeTurn, gazeJump = 0.15, 0.15, 0.15
	// A place that is more than behind0 aside is looked at less, from behind1 on not at
	// all, rad.
	behind0, behind1 = 1.9, 2.8
	// A place nearer than near0 to the eyes is not looked at, from near1 on in full, m;
	// nor is one straight above or below, whose direction on the ground is less than
	// flat0 of the whole, from flat1 on in full.
	near0, near1 = 0.1, 0.25
	flat0, flat1 = 0.08, 0.25
	// unseen is the weight below which looking has ended.
	unseen = 1e-4
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

// DogGaze returns the gaze of skeletons with the joint names of the dog recordings:
// neck and head turn.
func DogGaze(tree *Tree, names []string, offsets []m3.Vec3) (*Gaze, error) {
	f := finder{names: names}
	j := f.find("Neck", "Head", "HeadSite")
	if err := f.err(); err != nil {
		return nil, err
	}
	nose := offsets[j[2]]
	return &Gaze{Tree: tree, Chain: j[:2], Share: []float32{0.5, 0.5}, Forward: nose.Normalize(m3.V(1, 0, 0)), Eye: nose.Scale(0.4),
		Side: 85 * math.Pi / 180, Up: 65 * math.Pi / 180, Down: 50 * math.Pi / 180}, nil
}

// HumanGaze returns the gaze of skeletons with the joint names of the shipped people:
// the upper spine, neck and head turn.
func HumanGaze(tree *Tree, names []string) (*Gaze, error) {
	f := finder{names: names}
	j := f.find("Spine1", "Neck", "Neck1", "Head")
	if err := f.err(); err != nil {
		return nil, err
	}
	return &Gaze{Tree: tree, Chain: j, Share: []float32{0.12, 0.18, 0.25, 0.45}, Forward: m3.V(0, 0, 1), Eye: m3.V(0, 0.082, 0.089),
		Side: 80 * math.Pi / 180, Up: 55 * math.Pi / 180, Down: 65 * math.Pi / 180}, nil
}

// Turn takes the body of pose m, in world space, which faces the yaw heading, dt
// seconds on: it looks at target, by the share weight, 0 to 1. A target or weight that is
// not finite is none. Where it looks at nothing the pose keeps its bits.
func (g *Gaze) Turn(m []m3.Xform, heading float32, target m3.Vec3, weight, dt float32, s *GazeState) {
	if *s == (GazeState{}) && !(weight > 0) {
		return
	}
	head := g.Chain[len(g.Chain)-1]
	want := float32(0)
	if target.Finite() && m3.Finite(weight) && m3.Finite(heading) {
		d := target.Sub(m[head].Apply(g.Eye))
		yaw, pitch := angles(d, heading)
		l := d.Len()
		want = m3.Clamp(weight, 0, 1) * (1 - rise(m3.Abs(yaw), behind0, behind1)) * rise(l, near0, near1) * rise(d.Flat().Len(), flat0*l, flat1*l)
		if m3.Finite(want) {
			g.see(s, yaw, pitch)
		} else {
			want = 0
		}
	}
	s.weight, s.speed = m3.Spring(s.weight, s.speed, want, gazeEase, dt)
	if s.weight < unseen && want == 0 {
		*s = GazeState{}
		return
	}
	s.off, s.rate = m3.DecayVec(s.off, s.rate, gazeTurn, dt)
	if !s.on {
		return
	}
	was := m[head].Rot.Rotate(g.Forward)
	w := m3.Clamp(s.weight, 0, 1)
	for i := range 3 { // the eyes move with the head
		goal := s.goal
		if want > 0 && i > 0 {
			yaw, pitch := angles(target.Sub(m[head].Apply(g.Eye)), heading)
			goal = g.within(yaw, pitch)
		}
		q := m3.Between(was, gazeAt(heading+goal[0]+s.off.X, goal[1]+s.off.Y))
		to := m3.Ident.Slerp(q, w).Rotate(was)
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

// see makes a place at these angles the goal. Where that jumps, what it jumps by
// is left to be made up for.
func (g *Gaze) see(s *GazeState, yaw, pitch float32) {
	goal := g.within(yaw, pitch)
	if s.on && s.weight > unseen {
		d := m3.V(s.goal[0]-goal[0], s.goal[1]-goal[1], 0)
		if d.Len() > gazeJump {
			s.off = s.off.Add(d)
		}
	}
	s.goal, s.on = goal, true
}

// within returns the angles nearest to those given at which the head can look.
func (g *Gaze) within(yaw, pitch float32) [2]float32 {
	return [2]float32{m3.Clamp(yaw, -g.Side, g.Side), m3.Clamp(pitch, -g.Down, g.Up)}
}

// angles returns how far aside of heading, to the left, and how far up d points, rad.
func angles(d m3.Vec3, heading float32) (yaw, pitch float32) {
	return m3.WrapAngle(m3.YawOf(d) - heading), m3.Atan2(d.Y, d.Flat().Len())
}

// gazeAt returns the direction at these angles, unit.
func gazeAt(yaw, pitch float32) m3.Vec3 {
	c := m3.Cos(pitch)
	return m3.V(c*m3.Sin(yaw), m3.Sin(pitch), c*m3.Cos(yaw))
}

// rise returns 0 where x is at most lo, 1 from hi on, and goes softly between.
func rise(x, lo, hi float32) float32 {
	u := m3.Clamp((x-lo)/max(hi-lo, tiny), 0, 1)
	return u * u * (3 - 2*u)
}
