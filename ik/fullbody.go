package ik

import (
	"fmt"

	"mannequin/engine/m3"
)

// FullBody moves any joints of a skeleton to target positions in every row of a
// batch of poses, by damped least squares over all joint rotations and the
// root's translation at once: each iteration takes the step δ that makes
//
//	Σ w·|target − (position + J·δ)|² + Damping · Σ stiffness·|δ|²
//
// least (Buss 2004; Yamane and Nakamura 2003), and turns the joints by it. It
// starts from the pose that is given and stays near it: what the targets do not
// ask for hardly moves. A step that would take the joints farther from their
// targets is taken back, and tried again with more damping. Targets that cannot
// all be met are missed in the least squares' sense.
//
// Joints only turn, and roots move: bones never change length. There are no
// joint limits. Rows are independent: any split over goroutines gives the same
// bits.
type FullBody struct {
	Tree   *Tree // the skeleton; required
	Joints []int // joints that have a target, each once; at least 1

	// Weights of the targets, one per entry of Joints, 0 or more; nil: all 1.
	Weights []float32
	// Stiffness of the joints against turning, one per joint of Tree, positive;
	// nil: all 1. It multiplies Damping.
	Stiffness []float32

	Pos     []m3.Vec3 // (rows, joints) local translations, m, in and out: only those of roots, in world space, change
	Rot     []m3.Quat // (rows, joints) local rotations, in and out
	Targets []m3.Vec3 // (rows, len(Joints)) where the joints shall be, world space, m

	// Iterations is the number of steps at most, taken back ones included; at
	// least 1. 5 to 10 do for poses that are nearly right.
	Iterations int
	// Tolerance is how near is near enough, m: a row is done when all its targets
	// of positive weight are this near, or when a step has brought them on
	// average (root mean square) less than this nearer. 0 takes all steps.
	Tolerance float32
	// Damping, positive, in m²/rad²: turning a joint by 1 rad in one step costs as
	// much as a joint of weight 1 that misses its target by √Damping metres.
	Damping float32
}

// DefaultFullBody returns a job with the settings for people; the skeleton, the
// joints and the buffers remain to be filled.
func DefaultFullBody() FullBody {
	return FullBody{Iterations: 10, Tolerance: 1e-4, Damping: 1e-3}
}

// Validate reports the first field that makes the job unusable.
func (b *FullBody) Validate() error {
	if b.Tree == nil {
		return fmt.Errorf("ik: FullBody.Tree is missing")
	}
	n := b.Tree.Len()
	if len(b.Joints) == 0 {
		return fmt.Errorf("ik: FullBody.Joints is empty: no joint has a target")
	}
	seen := make([]bool, n)
	for i, j := range b.Joints {
		if j < 0 || j >= n {
			return fmt.Errorf("ik: FullBody.Joints[%d] is %d, outside a skeleton of %d joints", i, j, n)
		}
		if seen[j] {
			return fmt.Errorf("ik: FullBody.Joints has joint %d twice", j)
		}
		seen[j] = true
	}
	if b.Weights != nil && len(b.Weights) != len(b.Joints) {
		return fmt.Errorf("ik: FullBody has %d Weights for %d Joints", len(b.Weights), len(b.Joints))
	}
	for i, w := range b.Weights {
		if !(w >= 0) || !m3.Finite(w) {
			return fmt.Errorf("ik: FullBody.Weights[%d] is %g, want 0 or more", i, w)
		}
	}
	if b.Stiffness != nil && len(b.Stiffness) != n {
		return fmt.Errorf("ik: FullBody.Stiffness has %d entries for %d joints", len(b.Stiffness), n)
	}
	for j, s := range b.Stiffness {
		if !(s > 0) || !m3.Finite(s) {
			return fmt.Errorf("ik: FullBody.Stiffness[%d] is %g, want a positive number", j, s)
		}
	}
	switch {
	case len(b.Pos)%n != 0:
		return fmt.Errorf("ik: FullBody.Pos has %d entries, not a multiple of %d joints", len(b.Pos), n)
	case len(b.Rot) != len(b.Pos):
		return fmt.Errorf("ik: FullBody has %d Pos and %d Rot entries: want equal counts", len(b.Pos), len(b.Rot))
	case len(b.Targets) != len(b.Pos)/n*len(b.Joints):
		return fmt.Errorf("ik: FullBody.Targets has %d entries for %d rows × %d joints", len(b.Targets), len(b.Pos)/n, len(b.Joints))
	case b.Iterations < 1:
		return fmt.Errorf("ik: FullBody.Iterations is %d, want at least 1", b.Iterations)
	case !(b.Tolerance >= 0):
		return fmt.Errorf("ik: FullBody.Tolerance is %g m, want 0 or more", b.Tolerance)
	case !(b.Damping > 0) || !m3.Finite(b.Damping):
		return fmt.Errorf("ik: FullBody.Damping is %g m²/rad², want a positive number", b.Damping)
	}
	return nil
}

// Rows returns the number of poses.
func (b *FullBody) Rows() int { return len(b.Pos) / b.Tree.Len() }

// NewScratch returns what one goroutine needs to run rows of a valid job. It
// keeps what it is told of Tree, Joints, Weights and Stiffness, which must not
// change as long as it is used; the other fields may.
func (b *FullBody) NewScratch() *FullBodyScratch { return newFullBodyScratch(b) }

// Run solves the rows from r0 up to r1 of a valid job, without allocating; s is
// from NewScratch of this job, and no other goroutine may use it meanwhile. A
// row in which a transform or a target is not finite, or a thousand kilometres
// off, stays as it is.
func (b *FullBody) Run(s *FullBodyScratch, r0, r1 int) {
	n, k := b.Tree.Len(), len(b.Joints)
	for r := r0; r < r1; r++ {
		pos, rot := b.Pos[r*n:(r+1)*n], b.Rot[r*n:(r+1)*n]
		if s.load(pos, rot, b.Targets[r*k:(r+1)*k]) && s.solve(b.Iterations, float64(b.Tolerance), float64(b.Damping)) {
			s.store(pos, rot)
		}
	}
}
