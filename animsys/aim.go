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
// hands meet the targets. It turns heads, necks, arms and people's spines; for places that are
// low, Ground lowers the body in the next tick. It skips skeletons without the joint names of a dog or a person.
type Aim struct{ system }

// Initialize prepares the system.
func (s *Aim) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error {
		if c.aims != nil {
			clear(c.aims.look)
			collect(c, &c.components.look, c.aims.look)
			if c.aims.arms != nil {
				clear(c.aims.reach)
				collect(c, &c.components.reach, c.aims.reach)
			}
			c.splitRows(c.work.turn)
		}
		return nil
	})
}

// aims is the state of Aim, and of the steps that Ground takes. Methods of nil do nothing.
type aims struct {
	gaze *ik.Gaze
	arms *ik.Arms // nil: dogs

	look  []ecs.LookAt      // (rows) gathered
	reach []ecs.Reach       // (rows)
	step  []ecs.Step        // (rows)
	sight []ik.GazeState    // (rows)
	grips [][2]ik.HandState // (rows)

	// Of people, as the ground solver has them.
	steps []ik.Step // (rows, legs)
	stoop []m3.Vec3 // (rows) by how much bodies are moved for their hands, m

	timing []timing // (rows)
	going  []going  // (rows)
	try    []m3.Xform
}

// going is how a person moves over the ground.
type going struct {
	was, v    m3.Vec3 // the place of the root, m, and its velocity, m/s
	yaw, turn float32 // its heading, rad, and how fast that changes, rad/s
}

// limbs are the left and right hand and the left and right foot.
const limbs = 4

// timing is what is remembered of a row's limbs that have a time to arrive in.
type timing struct {
	seconds [limbs]float32 // that they have
	left    [limbs]float32 // of it
	target  [limbs]m3.Vec3
	there   uint32 // limbs whose time is over in this tick, a bit each
	lost    uint32 // hands of there that lost their target, a bit each
}

// newAims returns the aims of n rows, or nil if the skeleton is neither a dog's nor a person's. It gives
// ground the steps of people.
func newAims(sk *skel.Skeleton, ground *ik.Legged, n int) *aims {
	a := &aims{look: make([]ecs.LookAt, n), sight: make([]ik.GazeState, n)}
	var err error
	if tree := ground.Rig.Tree; slices.Contains(sk.Names, "Tail") {
		a.gaze, err = ik.DogGaze(tree, sk.Names, sk.Offsets)
	} else {
		a.gaze, err = ik.HumanGaze(tree, sk.Names)
		if arms, err := ik.HumanArms(tree, sk.Names); err == nil && arms.Validate() == nil && len(ground.Feet) == 2*n {
			a.arms = arms
		}
	}
	if err != nil || a.gaze.Validate() != nil {
		return nil
	}
	if a.arms != nil {
		a.reach, a.step, a.grips, a.timing = make([]ecs.Reach, n), make([]ecs.Step, n), make([][2]ik.HandState, n), make([]timing, n)
		a.going, a.try = make([]going, n), make([]m3.Xform, sk.Len())
		a.steps, a.stoop = make([]ik.Step, 2*n), make([]m3.Vec3, n)
		ground.Steps, ground.Shifts = a.steps, a.stoop
	}
	return a
}

// forget resets a row's gaze, hands and feet.
func (a *aims) forget(row int) {
	if a == nil {
		return
	}
	a.sight[row] = ik.GazeState{}
	if a.arms != nil {
		a.grips[row], a.timing[row], a.going[row], a.stoop[row] = [2]ik.HandState{}, timing{}, going{}, m3.Vec3{}
		clear(a.steps[2*row : 2*row+2])
	}
}

// copy makes row the same as row last.
func (a *aims) copy(row, last int) {
	if a == nil {
		return
	}
	a.sight[row] = a.sight[last]
	if a.arms != nil {
		a.grips[row], a.timing[row], a.going[row], a.stoop[row] = a.grips[last], a.timing[last], a.going[last], a.stoop[last]
		copy(a.steps[2*row:2*row+2], a.steps[2*last:])
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
			hands := [2]*ecs.Hand{&a.reach[r].Left, &a.reach[r].Right}
			for i, h := range hands {
				if s, begins := a.begins(r, i, h.Target, h.Weight, h.Seconds); begins {
					a.grips[r][i].Within(s)
				}
			}
			a.arms.Lean(m, [2]m3.Vec3{hands[0].Target, hands[1].Target}, [2]float32{hands[0].Weight, hands[1].Weight}, dt, &a.grips[r])
		}
		ahead := c.Poses.Roots[r].Rot.Forward()
		a.gaze.Turn(m, m3.YawOf(ahead), a.look[r].Target, a.look[r].Weight, dt, &a.sight[r])
		if a.arms != nil { // after the head, with which the shoulders turn a little
			a.arms.Bend(m, &a.grips[r])
			for i := range a.grips[r] {
				left, timed := a.grips[r][i].Left()
				a.count(r, i, left, timed)
			}
			a.stoop[r] = a.arms.Stoop(m, a.stoop[r], &a.grips[r])
			a.going[r].follow(c.inWorld(r, c.Poses.Roots[r]), dt)
		}
	}
}

// tread hands the targets of row's feet to the ground solver.
func (a *aims) tread(row int) {
	if a == nil || a.arms == nil {
		return
	}
	for i, f := range [2]*ecs.Foot{&a.step[row].Left, &a.step[row].Right} {
		s := &a.steps[2*row+i]
		s.Target, s.Weight, s.Lift = f.Target, f.Weight, f.Lift
		if seconds, begins := a.begins(row, 2+i, f.Target, f.Weight, f.Seconds); begins {
			s.Within(seconds)
		}
	}
}

// trodden notes which of row's feet have arrived.
func (a *aims) trodden(row int) {
	if a == nil || a.arms == nil {
		return
	}
	for i := range 2 {
		left, timed := a.steps[2*row+i].Left()
		a.count(row, 2+i, left, timed)
	}
}

// jumps is how far the target of a limb that is there jumps for its time to begin again, m.
const jumps = 0.12

// begins reports whether a limb of row r has a new time, and returns it; 0 is none.
func (a *aims) begins(r, limb int, target m3.Vec3, weight, seconds float32) (s float32, ok bool) {
	t := &a.timing[r]
	if !(weight > 0) || !(seconds > 0) || !m3.Finite(seconds) || !target.Finite() {
		seconds = 0
	}
	again := seconds > 0 && t.left[limb] <= 0 && target.Dist(t.target[limb]) > jumps
	if seconds > 0 {
		t.target[limb] = target
	}
	if seconds == t.seconds[limb] && !again {
		return 0, false
	}
	t.seconds[limb], t.left[limb] = seconds, seconds
	return seconds, true
}

// count notes what is left of a limb's time.
func (a *aims) count(r, limb int, left float32, timed bool) {
	t := &a.timing[r]
	switch over := t.left[limb] > 0; {
	case over && !timed: // the target has gone where the limb does not follow
		if left = 0; limb < 2 { // hands say so
			t.there, t.lost = t.there|1<<limb, t.lost|1<<limb
		}
	case over && left <= 0:
		t.there |= 1 << limb
	}
	t.left[limb] = left
}

// missed returns why a hand of row, whose time is over, is not at its target; "" if it is there.
func (c *Crowd) missed(row, i int) string {
	a := c.aims
	t := &a.timing[row]
	if t.lost>>i&1 != 0 {
		return missedBehind
	}
	target, pose := t.target[i].Scale(c.units[row]), c.now
	late := c.rates[row].span > 1
	if late { // what is shown is on the way to the step that was aimed
		pose = c.Ground.Model
	}
	at := pose[row*c.joints+c.joint(hand, i)].Pos.Scale(c.units[row])
	if own := c.cast.bones(c.cast.now, row); own != nil && !late {
		j, from := c.ownPoint(row, hand, i)
		at = own[j].Apply(from)
	}
	switch {
	case at.Dist(target) <= hitRadius:
		return ""
	case a.grips[row][i].Share() < 0.99:
		return missedBehind
	}
	return missedFar
}

// The reasons of HandMissed.
const (
	missedBehind = "the place is beside or behind the back"
	missedFar    = "the place is too far from the shoulder"
)

// CanReach returns nil if a person's hand can be at a place, world space, within that many seconds, or an
// error that says why not: it is too far, behind the back, or too soon for a hand. It asks between ticks,
// and takes into account how the person moves. A dog has no hands.
func (c *Crowd) CanReach(e arche.Entity, hand Side, at m3.Vec3, seconds float32) error {
	row, there, err := c.canMove("CanReach", e, "hand", hand, at, seconds)
	if err != nil {
		return err
	}
	defer c.registry.release()
	a, m := c.aims, c.now[row*c.joints:(row+1)*c.joints]
	arm := &a.arms.Arms[hand]
	// A little further than the place: the body sways, the more the farther it goes.
	out := there.Sub(m[arm.Upper].Pos).Normalize(m3.Vec3{})
	sway := reachSway + reachGoing*a.going[row].v.Len()/c.units[row]*seconds
	for _, p := range [2]m3.Vec3{there, there.Add(out.Scale(sway))} {
		if err := a.arms.Reachable(m, a.try, a.stoop[row], int(hand), p); err != nil {
			return fmt.Errorf("animsys: the %s hand%s: %w", hand, a.going[row].when(seconds), err)
		}
	}
	if err := c.cast.canReach(row, int(hand), there.Scale(c.units[row])); err != nil {
		return fmt.Errorf("animsys: the %s hand: %w", hand, err)
	}
	return inTime("hand", hand, m[arm.Hand].Pos.Dist(there), handSpeed, seconds)
}

// CanStep returns nil if a person's foot can be at a place, world space, within that many seconds, or an
// error that says why not; see CanReach. A place is for the sole under the ball of the foot.
func (c *Crowd) CanStep(e arche.Entity, foot Side, at m3.Vec3, seconds float32) error {
	row, there, err := c.canMove("CanStep", e, "foot", foot, at, seconds)
	if err != nil {
		return err
	}
	defer c.registry.release()
	g, m := &c.aims.going[row], c.now[row*c.joints:(row+1)*c.joints]
	// A little further than the place, if the body moves: it sways and turns.
	out := there.Sub(m[0].Pos).Flat().Normalize(m3.Vec3{})
	for _, p := range [2]m3.Vec3{there, there.Add(out.Scale(stepSway * g.v.Len()))} {
		if err := c.Ground.Steppable(m, &c.Ground.Body[row], int(foot), p); err != nil {
			return fmt.Errorf("animsys: the %s foot%s: %w", foot, g.when(seconds), err)
		}
	}
	return inTime("foot", foot, m[c.tips[foot]].Pos.Dist(there), footSpeed, seconds)
}

// canMove checks what CanReach and CanStep are asked, and returns where the place will be seen from where the
// person is now: it will be as much further as it moves now. The caller releases the registry if there is no
// error.
func (c *Crowd) canMove(call string, e arche.Entity, limb string, side Side, at m3.Vec3, seconds float32) (row int, there m3.Vec3, err error) {
	if err := c.claim(call); err != nil {
		return 0, there, err
	}
	defer func() {
		if err != nil {
			c.registry.release()
		}
	}()
	row, ok := c.rows.Row(e)
	switch {
	case !ok:
		return 0, there, fmt.Errorf("animsys: entity %v is not in this crowd", e)
	case c.aims == nil || c.aims.arms == nil:
		return 0, there, fmt.Errorf("animsys: the skeleton has no %s that goes to places", limb)
	case side > Right:
		return 0, there, fmt.Errorf("animsys: there is no %s %d", limb, side)
	case !(seconds > 0) || !m3.Finite(seconds):
		return 0, there, fmt.Errorf("animsys: a %s cannot arrive in %g s", limb, seconds)
	}
	going := c.aims.going[row]
	going.v = going.v.Scale(1 / c.units[row])
	if there = going.seen(c.in(row, at), c.Poses.Roots[row].Pos, seconds); !there.Finite() {
		return 0, there, fmt.Errorf("animsys: the place %v is not finite", at)
	}
	if y := c.height(at, c.floor(row)); at.Y < y-placeDepth {
		return 0, there, fmt.Errorf("animsys: the %s %s: the place is %.2f m in the ground", side, limb, y-at.Y)
	}
	return row, there, nil
}

// inTime returns an error if a limb would be faster than speed on a way of that length. A movement of the least
// jerk is 15/8 as fast as in the mean, in its middle.
func inTime(limb string, side Side, way, speed, seconds float32) error {
	if least := 1.875 * way / speed; seconds < least {
		return fmt.Errorf("animsys: the %s %s would be too fast: it needs %.2f s", side, limb, least)
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

func (s Side) String() string {
	if s == Left {
		return "left"
	}
	return "right"
}

const (
	handSpeed = 4 // m/s that a hand reaches without haste
	footSpeed = 4 // m/s, likewise

	placeDepth = 0.01 // m under the ground that a place may lie
	hitRadius  = 0.02 // m from its target within which a hand is there
	reachSway  = 0.03 // m
	reachGoing = 0.05 // m per m of way
	stepSway   = 0.05 // s

	paceHalflife = 0.15 // s
)

// follow takes in where the root is after dt, world space. Jumps are not followed.
func (g *going) follow(root m3.Xform, dt float32) {
	yaw := root.Rot.Yaw()
	v, turn := root.Pos.Sub(g.was).Flat().Scale(1/dt), m3.WrapAngle(yaw-g.yaw)/dt
	if g.was, g.yaw = root.Pos, yaw; v.Len() < 12 && m3.Abs(turn) < 12 {
		x := 1 - m3.Exp(-dt*math.Ln2/paceHalflife)
		// The velocity turns with the body. Eased in the world, it would lag behind on an arc.
		g.v, g.turn = m3.YawQuat(g.turn*dt).Rotate(g.v).Lerp(v, x), m3.Lerp(g.turn, turn, x)
	}
}

// when says for errors that a place is judged from where a person that moves will be.
func (g *going) when(seconds float32) string {
	if g.v.Len()*seconds < 0.05 {
		return ""
	}
	return fmt.Sprintf(", in %.2f s, %.1f m further on", seconds, g.v.Len()*seconds)
}

// seen returns where a place will be seen in that many seconds, as from where the person, whose root is at from,
// is now: it goes on along an arc.
func (g *going) seen(at, from m3.Vec3, seconds float32) m3.Vec3 {
	angle := g.turn * seconds
	way := m3.YawQuat(angle / 2).Rotate(g.v.Scale(seconds)) // the chord of the arc
	return from.Add(m3.YawQuat(-angle).Rotate(at.Sub(from).Sub(way)))
}

// visit writes or reads what is remembered of a row's gaze, hands and feet.
func (a *aims) visit(st *generator.State, s *saving, row int) {
	s.gaze.Visit(st, &a.sight[row])
	if a.arms == nil {
		return
	}
	for i := range 2 {
		s.hand.Visit(st, &a.grips[row][i])
		s.step.Visit(st, &a.steps[2*row+i])
	}
	t := &a.timing[row]
	generator.Value(st, &t.seconds)
	generator.Value(st, &t.left)
	generator.Value(st, &t.target)
	generator.Value(st, &a.stoop[row])
	g := &a.going[row]
	generator.Value(st, g)
	if st.Reading() && !(g.was.Finite() && g.v.Finite() && m3.Finite(g.yaw) && m3.Finite(g.turn) && a.stoop[row].Finite()) {
		st.Fail(errors.New("the state of the hands is not finite"))
	}
}
