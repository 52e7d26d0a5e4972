package ik

import (
	"fmt"

	"mannequin/engine/m3"
)

// FullBody moves any joints of a skeleton to target positions in every row of a batch of poses. It
// solves for all joint rotations and the root's translation at once, by damped least squares. Each
// iteration turns the joints by the step δ that minimizes
//
//	Σ w·|target − (position + J·δ)|² + Damping · Σ stiffness·|δ|²
//
// (Buss 2004; Yamane and Nakamura 2003). It starts from the given pose and stays near it: joints
// without influence on a target hardly move. If a step takes the joints farther from their targets,
// it is undone and tried again with more damping. Targets that cannot all be met are missed in the
// sense of least squares.
//
// Joints only turn, and roots move: bones never change length. There are no joint limits. Rows are
// independent: any split over goroutines gives the same bits.
type FullBody struct {
	Tree   *Tree // the skeleton; required
	Joints []int // joints that have a target, each once; at least 1

	// Weights of the targets, one per entry of Joints, 0 or more; nil means all 1.
	Weights []float32
	// Stiffness of the joints against turning, one per joint of Tree, positive; nil means all 1. It
	// multiplies Damping.
	Stiffness []float32

	Pos     []m3.Vec3 // (rows, joints) in and out: local translations, m; only the roots', in world space, change
	Rot     []m3.Quat // (rows, joints) in and out: local rotations
	Targets []m3.Vec3 // (rows, len(Joints)) targets of the joints, world space, m

	// Iterations bounds the number of steps, undone ones included; at least 1, default 10. 5 to 10
	// are enough for poses that are nearly right.
	Iterations int
	// Tolerance ends a row, m; 0 or more, default 1e-4. A row is done when all its targets of
	// positive weight are this near, or when a step has brought them less than this nearer in the
	// root mean square. 0 takes all steps.
	Tolerance float32
	// Damping keeps steps small, m²/rad²; positive, default 1e-3. Turning a joint by 1 rad in one
	// step costs as much as a joint of weight 1 that misses its target by √Damping metres.
	Damping float32
}

// DefaultFullBody returns a job with the settings for people. The skeleton, the joints and the
// buffers are for the caller to fill.
func DefaultFullBody() FullBody { return FullBody{Iterations: 10, Tolerance: 1e-4, Damping: 1e-3} }

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

// NewScratch returns the memory that one goroutine needs to run rows of a valid job. Tree, Joints,
// Weights and Stiffness must not change while it is in use; the other fields may.
func (b *FullBody) NewScratch() *FullBodyScratch { return newFullBodyScratch(b) }

// Run solves the rows from r0 up to r1 of a valid job, without allocating. The scratch s comes from
// NewScratch of this job; no other goroutine may use it meanwhile. A row stays as it is if a
// transform or a target is not finite or a thousand kilometres off.
func (b *FullBody) Run(s *FullBodyScratch, r0, r1 int) {
	n, k := b.Tree.Len(), len(b.Joints)
	for r := r0; r < r1; r++ {
		pos, rot := b.Pos[r*n:(r+1)*n], b.Rot[r*n:(r+1)*n]
		if s.load(pos, rot, b.Targets[r*k:(r+1)*k]) && s.solve(b.Iterations, float64(b.Tolerance), float64(b.Damping)) {
			s.store(pos, rot)
		}
	}
}
