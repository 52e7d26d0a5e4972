package ik

import (
	"fmt"
	"slices"
)

// Roles are the joints that play a part in grounding a four-legged or two-legged skeleton, as
// indices. [DogRoles] and [HumanRoles] fill them from joint names; fill them by hand for other
// skeletons.
type Roles struct {
	Spine []int // from the hips to the joint that carries the neck and forelegs; at least 2
	Neck  int   // the joint at which the spine is aimed, below the last of Spine
	Legs  []Leg // 1 to 8; the left one of a pair comes first
	Tail  []int // from the tail's first joint to its tip; empty, or 2 to 9
	Head  []int // from the neck to the tip of the nose; empty, or 2 to 9
}

// Leg is the chain of a leg's joints from its root to its tip: any joints that may help, then hip,
// knee, ankle and tip, at least these four. The exact two-bone step bends hip, knee and ankle; in a
// foreleg they are shoulder, elbow and wrist. The tip touches the ground. If it carries a further
// joint, the end of the toes, it bends to keep that above the ground.
type Leg []int

func (l Leg) hip() int   { return l[len(l)-4] }
func (l Leg) knee() int  { return l[len(l)-3] }
func (l Leg) ankle() int { return l[len(l)-2] }
func (l Leg) tip() int   { return l[len(l)-1] }

// DogRoles returns the roles of the joints called names. It knows the joint names of the dog
// recordings: Hips, Spine, Spine1, Neck, four legs with End Sites as tips, and a tail and a head if
// there are any.
func DogRoles(names []string) (Roles, error) {
	f := finder{names: names}
	r := Roles{Spine: f.find("Hips", "Spine", "Spine1"), Neck: f.find("Neck")[0]}
	for _, side := range []string{"Left", "Right"} {
		r.Legs = append(r.Legs, f.find(side+"Shoulder", side+"Arm", side+"ForeArm", side+"Hand", side+"HandSite"))
	}
	for _, side := range []string{"Left", "Right"} {
		r.Legs = append(r.Legs, f.find(side+"UpLeg", side+"Leg", side+"Foot", side+"FootSite"))
	}
	if slices.Contains(names, "Tail") {
		r.Tail = f.find("Tail", "Tail1", "Tail1Site")
	}
	if slices.Contains(names, "Head") {
		r.Head = f.find("Neck", "Head", "HeadSite")
	}
	return r, f.err()
}

// HumanRoles returns the roles of the joints called names. It knows the joint names of the shipped
// people: Hips, Spine1, Neck1, and UpLeg, Leg, Foot and ToeBase on both sides.
func HumanRoles(names []string) (Roles, error) {
	f := finder{names: names}
	r := Roles{Spine: f.find("Hips", "Spine1"), Neck: f.find("Neck1")[0]}
	for _, side := range []string{"Left", "Right"} {
		r.Legs = append(r.Legs, f.find(side+"UpLeg", side+"Leg", side+"Foot", side+"ToeBase"))
	}
	return r, f.err()
}

// finder looks up joints by name and collects the names that are missing.
type finder struct {
	names, missing []string
}

func (f *finder) find(want ...string) []int {
	out := make([]int, len(want))
	for i, n := range want {
		if out[i] = slices.Index(f.names, n); out[i] < 0 {
			f.missing = append(f.missing, n)
		}
	}
	return out
}

func (f *finder) err() error {
	if len(f.missing) > 0 {
		return fmt.Errorf("ik: the skeleton has no joint called %q; fill ik.Roles by hand for other skeletons", f.missing)
	}
	return nil
}

// Rig is a skeleton with checked roles, immutable and safe to share.
type Rig struct {
	Tree  *Tree
	Roles Roles
	fore  []bool // per leg: carried by the spine's last joint
	toes  []int  // per leg: the joint that its tip carries, the end of the toes, or −1
	sides [2]int // the foreleg roots whose line sets the chest's roll, or −1, −1
	trunk []int  // of such a body: the joints from the head, up to two beyond the neck, down to the one above the hips
	hips  [2]int // the roots, left and right, of a body with two legs and no forelegs, or −1, −1
}

// NewHumanRig returns the rig of a person's skeleton, with the roles of [HumanRoles].
func NewHumanRig(names []string, parents []int16) (*Rig, error) {
	roles, err := HumanRoles(names)
	if err != nil {
		return nil, err
	}
	tree, err := NewTree(parents)
	if err != nil {
		return nil, err
	}
	return NewRig(tree, roles)
}

// NewRig returns the rig of a skeleton. It is an error if roles do not fit the tree.
func NewRig(tree *Tree, roles Roles) (*Rig, error) {
	if tree == nil {
		return nil, fmt.Errorf("ik: a rig needs a tree")
	}
	if err := tree.chain("Roles.Spine", roles.Spine, 2); err != nil {
		return nil, err
	}
	if tree.parents[roles.Spine[0]] >= 0 {
		return nil, fmt.Errorf("ik: Roles.Spine starts at joint %d, want a root, because the ground solver moves it", roles.Spine[0])
	}
	chest := roles.Spine[len(roles.Spine)-1]
	if err := tree.chain("Roles.Neck", []int{chest, roles.Neck}, 2); err != nil {
		return nil, err
	}
	if len(roles.Legs) == 0 || len(roles.Legs) > maxLegs {
		return nil, fmt.Errorf("ik: %d entries in Roles.Legs, want 1 to %d", len(roles.Legs), maxLegs)
	}
	r := &Rig{Tree: tree, Roles: roles, sides: [2]int{-1, -1}, hips: [2]int{-1, -1}}
	var fore []int
	for i, l := range roles.Legs {
		if err := tree.chain(fmt.Sprintf("Roles.Legs[%d]", i), l, 4); err != nil {
			return nil, err
		}
		r.fore = append(r.fore, tree.has(chest, l[0]))
		toe := -1
		if k := l.tip() + 1; k < tree.Len() && tree.has(l.tip(), k) {
			toe = k
		}
		r.toes = append(r.toes, toe)
		if r.fore[i] {
			fore = append(fore, l[0])
		}
	}
	if len(fore) == 2 {
		r.sides = [2]int{fore[0], fore[1]}
	}
	if len(fore) == 0 && len(roles.Legs) == 2 {
		r.hips = [2]int{roles.Legs[0][0], roles.Legs[1][0]}
		top := roles.Neck
		for k := top + 1; k <= roles.Neck+2 && k+1 < tree.Len() && int(tree.parents[k]) == top && int(tree.parents[k+1]) == k; k++ {
			top = k
		}
		for j := top; j != roles.Spine[0]; j = int(tree.parents[j]) {
			r.trunk = append(r.trunk, j)
		}
	}
	for _, c := range []struct {
		what   string
		joints []int
	}{{"Roles.Tail", roles.Tail}, {"Roles.Head", roles.Head}} {
		if len(c.joints) == 0 {
			continue
		}
		if err := tree.chain(c.what, c.joints, 2); err != nil {
			return nil, err
		}
		if len(c.joints) > maxChain+1 {
			return nil, fmt.Errorf("ik: %d joints in %s, want at most %d", len(c.joints), c.what, maxChain+1)
		}
	}
	return r, nil
}
