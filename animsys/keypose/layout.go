package keypose

import (
	"fmt"

	"mannequin/animsys/skel"
)

// Layout says which parts of a skeleton a key can hold, and the columns of a correction.
//
// Parts that are keyed together are a group. Group 0 is the path: the root's place over the ground
// and its heading. Group 1 is the root's height and tilt. Each further group is the rotation of a
// joint that turns.
//
// A correction has 3 columns for the path (x and z in the heading frame, m; yaw, rad), 4 for the
// root (height, m; a rotation vector), and a rotation vector for every other joint that turns. The
// motion's rotation is the interpolated one followed by it.
type Layout struct {
	Skel   *skel.Skeleton
	Joints []int16 // those that turn, the root first

	tree  Tree
	group []int32
	sum   uint64 // fingerprint of Skel
}

// Columns of a correction, and groups.
const (
	colX      = 0
	colZ      = 1
	colYaw    = 2
	colHeight = 3
	colTilt   = 4
	colJoints = 7 // rotation vectors of Joints[1:]

	GroupPath  = 0 // the root's place over the ground, and its heading
	GroupRoot  = 1 // its height and tilt
	groupJoint = 1 // + i is that of Joints[i]
)

// NewLayout returns the layout of keys on a skeleton. Its first joint must be its only root.
func NewLayout(sk *skel.Skeleton) (*Layout, error) {
	if err := sk.Validate(); err != nil {
		return nil, fmt.Errorf("keypose: %w", err)
	}
	l := &Layout{Skel: sk}
	for j, p := range sk.Parents {
		if p < 0 && j > 0 {
			return nil, fmt.Errorf("keypose: the skeleton has a second root, %q: want one", sk.Names[j])
		}
		if !sk.EndSite[j] {
			l.Joints = append(l.Joints, int16(j))
		}
	}
	if len(l.Joints) < 2 {
		return nil, fmt.Errorf("keypose: a skeleton of %d joints, of which %d turn: want the root and others", sk.Len(), len(l.Joints))
	}
	l.tree, l.group, l.sum = newTree(l), newGroup(l), sk.Fingerprint()
	return l, nil
}

// Groups returns the number of groups.
func (l *Layout) Groups() int { return groupJoint + len(l.Joints) }

// Columns returns the length of a correction.
func (l *Layout) Columns() int { return colJoints + 3*(len(l.Joints)-1) }

// GroupOf returns the group of the joint called name, for the root that of its height and tilt. It
// returns −1 if no joint that turns has that name.
func (l *Layout) GroupOf(name string) int {
	for i, j := range l.Joints {
		if l.Skel.Names[j] == name {
			return groupJoint + i
		}
	}
	return -1
}

// Group returns the group of each column of a correction. The slice is the layout's own.
func (l *Layout) Group() []int32 { return l.group }

func newGroup(l *Layout) []int32 {
	g := make([]int32, l.Columns())
	for c := range g {
		switch {
		case c < colHeight:
			g[c] = GroupPath
		case c < colJoints:
			g[c] = GroupRoot
		default:
			g[c] = int32(groupJoint + 1 + (c-colJoints)/3)
		}
	}
	return g
}

// Tree describes how a correction moves the joints, for a differentiable forward kinematics: a
// joint for the heading, then those of the skeleton. Its rotation vectors are gathered columns of
// the correction.
type Tree struct {
	Parents []int32
	Offsets []float32 // (joints, 3) m
	Turns   []int     // (3·joints) column of the correction; its length, a column of zeros, for joints that do not turn
	Moves   []int     // (3·joints) column of the root's move: x, height, z
}

func newTree(l *Layout) Tree {
	n := l.Skel.Len()
	t := Tree{Parents: []int32{-1}, Offsets: make([]float32, 3), Turns: []int{l.Columns(), colYaw, l.Columns()}}
	at := make([]int, n) // first column of each joint's vector
	for j := range at {
		at[j] = -1
	}
	at[l.Joints[0]] = colTilt
	for i, j := range l.Joints[1:] {
		at[j] = colJoints + 3*i
	}
	for j, p := range l.Skel.Parents {
		t.Parents = append(t.Parents, int32(p)+1)
		o := l.Skel.Offsets[j]
		if j == 0 {
			o.X, o.Y, o.Z = 0, 0, 0
		}
		t.Offsets = append(t.Offsets, o.X, o.Y, o.Z)
		for k := range 3 {
			c := l.Columns()
			if at[j] >= 0 {
				c = at[j] + k
			}
			t.Turns = append(t.Turns, c)
		}
	}
	for range t.Parents {
		t.Moves = append(t.Moves, colX, colHeight, colZ)
	}
	return t
}

// Tree returns how a correction moves the joints.
func (l *Layout) Tree() Tree { return l.tree }
