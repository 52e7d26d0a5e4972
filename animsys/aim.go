package animsys

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/generator"
	"mannequin/animsys/skel"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"

	arche "github.com/mlange-42/arche/ecs"
)

// Aim is the system that turns the heads of agents with an ecs.LookAt and the arms of people
// with an ecs.Reach toward their targets. It works on the grounded pose, so that eyes and
// hands meet the targets. It turns heads, necks, arms and people's spines; hips and legs
// stay. It skips skeletons without the joint names of a dog or a person.
type Aim struct{ system }

// Initialize prepares the system.
func (s *Aim) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error {
		if c.aims != nil {
			clear(c.aims.look)
			collect(c, &c.components.look, c.aims.look)
			clear(c.aims.reach)
			collect(c, &c.components.reach, c.aims.reach)
			c.splitRows(c.work.turn)
		}
		return nil
	})
}

// aims is the state of Aim. Methods of nil do nothing.
type aims struct {
	gaze *ik.Gaze
	arms *ik.Arms // nil: dogs

	look  []ecs.LookAt      // (rows) gathered
	reach []ecs.Reach       // (rows)
	sight []ik.GazeState    // (rows)
	grips [][2]ik.HandState // (rows)

	seconds [][2]float32 // (rows) the times that hands have
	left    [][2]float32 // (rows) what is left of them
	there   []uint8      // (rows) hands that have arrived in this tick, a bit each
	was     []m3.Vec3    // (rows) roots
	going   []m3.Vec3    // (rows) their velocity, m/s
	try     []m3.Xform   // a pose
}

// newAims returns the aims of n rows, or nil if the skeleton is neither a dog's nor a person's.
func newAims(sk *skel.Skeleton, tree *ik.Tree, n int) *aims {
	a := &aims{look: make([]ecs.LookAt, n), reach: make([]ecs.Reach, n), sight: make([]ik.GazeState, n), grips: make([][2]ik.HandState, n),
		seconds: make([][2]float32, n), left: make([][2]float32, n), there: make([]uint8, n), was: make([]m3.Vec3, n), going: make([]m3.Vec3, n), try: make([]m3.Xform, sk.Len())}
	var err error
	if slices.Contains(sk.Names, "Tail") {
		a.gaze, err = ik.DogGaze(tree, sk.Names, sk.Offsets)
	} else {
		a.gaze, err = ik.HumanGaze(tree, sk.Names)
		if arms, err := ik.HumanArms(tree, sk.Names); err == nil && arms.Validate() == nil {
			a.arms = arms
		}
	}
	if err != nil || a.gaze.Validate() != nil {
		return nil
	}
	return a
}

// forget resets a row's gaze and hands.
func (a *aims) forget(row int) {
	if a != nil {
		a.sight[row], a.grips[row] = ik.GazeState{}, [2]ik.HandState{}
		a.seconds[row], a.left[row], a.there[row], a.was[row], a.going[row] = [2]float32{}, [2]float32{}, 0, m3.Vec3{}, m3.Vec3{}
	}
}

// copy makes row the same as row last.
func (a *aims) copy(row, last int) {
	if a != nil {
		a.sight[row], a.grips[row] = a.sight[last], a.grips[last]
		a.seconds[row], a.left[row], a.there[row], a.was[row], a.going[row] = a.seconds[last], a.left[last], a.there[last], a.was[last], a.going[last]
	}
}

// aim turns the heads and arms of rows r0 to r1−1 that update in this tick.
func (c *Crowd) aim(r0, r1 int) {
	a := c.aims
	for r := r0; r < r1; r++ {
		if !c.steps(r) {
			continue
		}
		dt := float32(1.0/TickRate) * float32(c.rates[r].span)
		m := c.Ground.Model[r*c.joints:][:c.joints]
		if a.arms != nil {
			l, h := &a.reach[r].Left, &a.reach[r].Right
			a.begin(r, 0, l)
			a.begin(r, 1, h)
			a.arms.Lean(m, [2]m3.Vec3{l.Target, h.Target}, [2]float32{l.Weight, h.Weight}, dt, &a.grips[r])
		}
		ahead := c.Poses.Roots[r].Rot.Forward()
		a.gaze.Turn(m, m3.YawOf(ahead), a.look[r].Target, a.look[r].Weight, dt, &a.sight[r])
		if a.arms != nil { // after the head, with which the shoulders turn a little
			a.arms.Bend(m, &a.grips[r])
			for i := range a.grips[r] {
				left, timed := a.grips[r][i].Left()
				if timed && left <= 0 && a.left[r][i] > 0 {
					a.there[r] |= 1 << i
				}
				a.left[r][i] = left
			}
			a.pace(r, c.inWorld(r, c.Poses.Roots[r]).Pos, dt)
		}
	}
}

// begin gives a hand of row r its time, if it has a new one.
func (a *aims) begin(r, i int, hand *ecs.Hand) {
	was := &a.seconds[r][i]
	is := hand.Seconds
	if !(hand.Weight > 0) || !(is > 0) || !m3.Finite(is) {
		is = 0
	}
	if is != *was {
		*was = is
		a.grips[r][i].Within(is)
		a.left[r][i] = is
	}
}

// CanReach returns nil if a person's hand can be at a place, world space, within that many seconds, or an
// error that says why not: it is too far, behind the back, or too soon for a hand. It asks between ticks,
// and takes into account how the person moves. A dog has no hands.
func (c *Crowd) CanReach(e arche.Entity, hand Side, at m3.Vec3, seconds float32) error {
	row, ok := c.rows.Row(e)
	switch {
	case !ok:
		return fmt.Errorf("animsys: entity %v is not in this crowd", e)
	case c.aims == nil || c.aims.arms == nil:
		return errors.New("animsys: the skeleton has no hands that reach")
	case hand > Right:
		return fmt.Errorf("animsys: there is no hand %d", hand)
	case !(seconds > 0) || !m3.Finite(seconds):
		return fmt.Errorf("animsys: a hand cannot arrive in %g s", seconds)
	}
	a, m := c.aims, c.now[row*c.joints:(row+1)*c.joints]
	arm := &a.arms.Arms[hand]
	// The person is as much further as it moves now.
	ahead := a.going[row].Scale(seconds)
	if !at.Finite() || !ahead.Finite() {
		return fmt.Errorf("animsys: the place %v is not finite", at)
	}
	there := at.Sub(ahead)
	// A little further than the place: the body sways.
	out := there.Sub(m[arm.Upper].Pos)
	for _, p := range [2]m3.Vec3{there, there.Add(out.Normalize(m3.Vec3{}).Scale(reachSway))} {
		if err := a.arms.Reachable(m, a.try, int(hand), p); err != nil {
			return fmt.Errorf("animsys: the %s hand: %w", [...]string{"left", "right"}[hand], err)
		}
	}
	// A movement of the least jerk is 15/8 as fast as in the mean, in its middle.
	if least := 1.875 * m[arm.Hand].Pos.Dist(there) / handSpeed; seconds < least {
		return fmt.Errorf("animsys: the %s hand would be too fast: it needs %.2f s", [...]string{"left", "right"}[hand], least)
	}
	return nil
}

// Side is a side of the body.
type Side uint8

// The sides.
const (
	Left Side = iota
	Right
)

const (
	handSpeed = 4    // m/s that a hand reaches without haste
	reachSway = 0.03 // m

	paceHalflife = 0.15 // s
)

// pace follows how fast row r goes. Jumps are not followed.
func (a *aims) pace(r int, at m3.Vec3, dt float32) {
	v := at.Sub(a.was[r]).Flat().Scale(1 / dt)
	if a.was[r] = at; v.Len() < 12 {
		a.going[r] = a.going[r].Lerp(v, 1-m3.Exp(-dt*math.Ln2/paceHalflife))
	}
}

// visit writes or reads what is remembered of a row's hands and gaze.
func (a *aims) visit(st *generator.State, s *saving, row int) {
	s.gaze.Visit(st, &a.sight[row])
	s.hand.Visit(st, &a.grips[row][0])
	s.hand.Visit(st, &a.grips[row][1])
	generator.Value(st, &a.seconds[row])
	generator.Value(st, &a.left[row])
	generator.Value(st, &a.was[row])
	generator.Value(st, &a.going[row])
}
