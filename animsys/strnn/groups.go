package strnn

import (
	"fmt"
	"strings"

	"mannequin/animsys/feature"
)

// Groups are the columns of a frame by body part (Wang, Ho, Shum and Zhu 2019, sec. 4.1.1).
type Groups struct {
	Root     []int // position of the hips, and the body's motion over the ground
	Contacts []int
	Spine    []int    // spine, neck, head
	Arms     [2][]int // left, right
	Legs     [2][]int
}

// GroupsOf returns the groups of a layout's columns by joint names: those that begin with Left or
// Right belong to an arm or a leg. It fails if a group is empty.
func GroupsOf(l *feature.Motion) (*Groups, error) {
	g := &Groups{}
	for j, name := range l.Joints {
		to := &g.Spine
		for side, prefix := range []string{"Left", "Right"} {
			switch part, of := strings.CutPrefix(name, prefix); {
			case of && (strings.Contains(part, "Leg") || strings.Contains(part, "Foot") || strings.Contains(part, "Toe")):
				to = &g.Legs[side]
			case of:
				to = &g.Arms[side]
			}
		}
		if j == 0 {
			to = &g.Root
		}
		for k := range 3 {
			*to = append(*to, l.Pos(j)+k)
		}
	}
	for k := range feature.MotionLen {
		g.Root = append(g.Root, l.Body()+k)
	}
	for i := range l.Contacts {
		g.Contacts = append(g.Contacts, l.Contact(i))
	}
	for i, part := range [][]int{g.Contacts, g.Spine, g.Arms[0], g.Arms[1], g.Legs[0], g.Legs[1]} {
		if len(part) == 0 {
			return nil, fmt.Errorf("strnn: the layout has no %s", []string{"contacts", "spine", "left arm", "right arm", "left leg", "right leg"}[i])
		}
	}
	return g, nil
}
