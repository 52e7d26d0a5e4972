package animsys

import (
	"slices"

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
}

// newAims returns the aims of n rows, or nil if the skeleton is neither a dog's nor a person's.
func newAims(sk *skel.Skeleton, tree *ik.Tree, n int) *aims {
	a := &aims{look: make([]ecs.LookAt, n), reach: make([]ecs.Reach, n), sight: make([]ik.GazeState, n), grips: make([][2]ik.HandState, n)}
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
	}
}

// copy makes row the same as row last.
func (a *aims) copy(row, last int) {
	if a != nil {
		a.sight[row], a.grips[row] = a.sight[last], a.grips[last]
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
			a.arms.Lean(m, [2]m3.Vec3{l.Target, h.Target}, [2]float32{l.Weight, h.Weight}, dt, &a.grips[r])
		}
		ahead := c.Poses.Roots[r].Rot.Forward()
		a.gaze.Turn(m, m3.YawOf(ahead), a.look[r].Target, a.look[r].Weight, dt, &a.sight[r])
		if a.arms != nil { // after the head, with which the shoulders turn a little
			a.arms.Bend(m, &a.grips[r])
		}
	}
}
