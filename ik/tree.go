package ik

import (
	"fmt"

	"mannequin/engine/m3"
)

// Tree is the shape of a skeleton, immutable and safe to share. Its joints are numbered depth
// first, so a joint's descendants directly follow it.
type Tree struct {
	parents []int16
	ends    []int16 // ends[j] is one past j's last descendant
}

// NewTree returns the tree with the given parents, −1 for a root. Joints must come depth first:
// each joint's parent is the joint before it or one of that joint's ancestors.
func NewTree(parents []int16) (*Tree, error) {
	if len(parents) == 0 {
		return nil, fmt.Errorf("ik: skeleton has no joints")
	}
	t := &Tree{parents: append([]int16(nil), parents...), ends: make([]int16, len(parents))}
	for j, p := range parents {
		if p < -1 || int(p) >= j {
			return nil, fmt.Errorf("ik: joint %d has parent %d: parents come before children", j, p)
		}
		if p >= 0 && !t.has(int(p), j-1) {
			return nil, fmt.Errorf("ik: joint %d follows joint %d, which does not descend from its parent %d: joints come depth first", j, j-1, p)
		}
		for a := int16(j); a >= 0; a = parents[a] {
			t.ends[a] = int16(j + 1)
		}
	}
	return t, nil
}

// Len returns the number of joints.
func (t *Tree) Len() int { return len(t.parents) }

// has reports whether joint j is a or descends from it.
func (t *Tree) has(a, j int) bool { return j >= a && j < int(t.ends[a]) }

// chain checks joints as a chain called what: at least least joints, in range, each a descendant of
// the one before.
func (t *Tree) chain(what string, joints []int, least int) error {
	if len(joints) < least {
		return fmt.Errorf("ik: %s has %d joints, at least %d are needed", what, len(joints), least)
	}
	for i, j := range joints {
		if j < 0 || j >= t.Len() {
			return fmt.Errorf("ik: %s: joint %d is outside a skeleton of %d joints", what, j, t.Len())
		}
		if i > 0 && (j == joints[i-1] || !t.has(joints[i-1], j)) {
			return fmt.Errorf("ik: %s: joint %d does not descend from joint %d before it", what, j, joints[i-1])
		}
	}
	return nil
}

// turn rotates joint j of the pose m with all its descendants by q about the joint's position.
func (t *Tree) turn(m []m3.Xform, j int, q m3.Quat) {
	pivot := m[j].Pos
	m[j].Rot = q.Mul(m[j].Rot)
	for k := j + 1; k < int(t.ends[j]); k++ {
		m[k].Pos = pivot.Add(q.Rotate(m[k].Pos.Sub(pivot)))
		m[k].Rot = q.Mul(m[k].Rot)
	}
}

// aim turns joint j by the share w of the shortest rotation from the direction of the point from to
// the direction of the point to, both seen from the joint. If a direction is undefined or not
// finite, nothing turns.
func (t *Tree) aim(m []m3.Xform, j int, from, to m3.Vec3, w float32) {
	a, b := from.Sub(m[j].Pos), to.Sub(m[j].Pos)
	la, lb := a.Len(), b.Len()
	if !(la > tiny && lb > tiny) || !m3.Finite(la) || !m3.Finite(lb) {
		return
	}
	q := m3.Between(a.Scale(1/la), b.Scale(1/lb))
	if w != 1 {
		q = m3.Ident.Slerp(q, w)
	}
	t.turn(m, j, q)
}

// tiny is the length, in metres, below which a bone has no direction.
const tiny = 1e-6

// far is the distance from which on places are taken for errors, m. Up to there float32 is exact to
// a few centimetres, and squares of lengths are finite.
const far = 1e6

// pose writes the model-space transforms of local translations and rotations. It reports whether
// all of them are finite and nearer than far.
func (t *Tree) pose(m []m3.Xform, pos []m3.Vec3, rot []m3.Quat) bool {
	finite := true
	for j, p := range t.parents {
		x := m3.Xform{Pos: pos[j], Rot: rot[j]}
		if p >= 0 {
			x = m[p].Mul(x)
		}
		m[j] = x
		finite = finite && x.Pos.Len() < far && x.Rot.Finite()
	}
	return finite
}

// settle removes rounding errors from the lengths of m's bones: it keeps the rotations and puts
// every joint but the roots back at its local translation. It reports whether the pose is finite.
func (t *Tree) settle(m []m3.Xform, local []m3.Vec3) bool {
	finite := true
	for j, p := range t.parents {
		m[j].Rot = m[j].Rot.Normalize()
		if p >= 0 {
			m[j].Pos = m[p].Apply(local[j])
		}
		finite = finite && m[j].Pos.Finite() && m[j].Rot.Finite()
	}
	return finite
}
