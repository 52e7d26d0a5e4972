package ik

import (
	"fmt"

	"mannequin/engine/m3"
)

// CCD moves the end of one chain to a target in every row of a batch of poses, by cyclic coordinate
// descent. A sweep visits the chain's joints from root to tip. Joint i of n turns the share (i+1)/n
// of the way to where the end would point at the target, so the tip moves most. There are no joint
// limits. If the target is out of reach, the chain ends up stretched toward it. Bones without
// length and targets on a joint are skipped. A target that is not finite leaves its row as it is.
type CCD struct {
	Tree       *Tree      // the skeleton; required
	Chain      []int      // joints from root to end, each a descendant of the one before; at least 2
	Model      []m3.Xform // (rows, joints) in and out: poses, any space
	Targets    []m3.Vec3  // (rows) targets of the end, in Model's space, m
	Iterations int        // sweeps, at least 1; usually 10
	Tolerance  float32    // a row is done when its end is this near, m; 0 or more; 0 makes all sweeps
}

// Validate reports the first field that makes the job unusable.
func (c *CCD) Validate() error {
	switch {
	case c.Tree == nil:
		return fmt.Errorf("ik: CCD.Tree is missing")
	case c.Iterations < 1:
		return fmt.Errorf("ik: CCD.Iterations is %d, want at least 1", c.Iterations)
	case !(c.Tolerance >= 0):
		return fmt.Errorf("ik: CCD.Tolerance is %g m, want 0 or more", c.Tolerance)
	case len(c.Model) != len(c.Targets)*c.Tree.Len():
		return fmt.Errorf("ik: CCD.Model has %d transforms for %d targets × %d joints", len(c.Model), len(c.Targets), c.Tree.Len())
	}
	return c.Tree.chain("CCD.Chain", c.Chain, 2)
}

// Run solves all rows. If Validate fails, it changes nothing and returns the error.
func (c *CCD) Run() error {
	if err := c.Validate(); err != nil {
		return err
	}
	n := c.Tree.Len()
	for r, target := range c.Targets {
		c.Tree.ccd(c.Model[r*n:(r+1)*n], c.Chain, target, c.Iterations, c.Tolerance)
	}
	return nil
}

func (t *Tree) ccd(m []m3.Xform, chain []int, target m3.Vec3, iterations int, tolerance float32) {
	end := chain[len(chain)-1]
	joints := chain[:len(chain)-1]
	share := 1 / float32(len(joints))
	for range iterations {
		if m[end].Pos.Dist(target) <= tolerance {
			return
		}
		for i, j := range joints {
			t.aim(m, j, m[end].Pos, target, float32(i+1)*share)
		}
	}
}
