package anatomy

import (
	"fmt"
	"strings"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Kind says on how many legs a body stands.
type Kind int

// Kinds of bodies.
const (
	Legless   Kind = iota // a fish, a snake, a machine, or legs that were not found
	TwoLegs               // upright, as a person
	Bird                  // on two legs, with the trunk level: birds, dinosaurs
	FourLegs              // a dog, a horse, a crawling lizard
	SixLegs               // an insect
	EightLegs             // a spider
	ManyLegs              // any other number
)

var kindNames = [...]string{"no legs", "two legs, upright", "two legs, trunk level", "four legs", "six legs", "eight legs", "many legs"}

func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// Evidence says how a role was found.
type Evidence int

// Evidence, from the surest on.
const (
	NotFound Evidence = iota
	ByMap             // the user's map
	ByNames           // words in names
	ByTree            // the tree of joints, lengths, symmetry and the ground
)

func (e Evidence) String() string {
	if e < 0 || e > ByTree {
		return fmt.Sprintf("Evidence(%d)", int(e))
	}
	return [...]string{"not found", "map", "names", "tree"}[e]
}

// Side is a side of the body.
type Side int

// Sides. A limb in the middle has none.
const (
	NoSide Side = iota
	Left
	Right
)

func (s Side) String() string {
	if s < 0 || s > Right {
		return fmt.Sprintf("Side(%d)", int(s))
	}
	return [...]string{"", "Left", "Right"}[s]
}

// Limb is a leg, an arm or a wing. Joints are indices into the skeleton, −1 for one that it lacks.
type Limb struct {
	Side    Side
	Girdle  int   // collar, shoulder blade or hip helper above the limb
	Upper   int   // hip or shoulder
	Middle  int   // knee or elbow
	Lower   int   // ankle, hock or wrist
	Tip     int   // toes, paw or first finger; of a foot without toes its End Site
	Chain   []int // all joints from the girdle to the end, parents first; feet apart from the leg come after it
	Foot    int   // the joint of Chain that hangs elsewhere in the tree: an IK target that carries the foot; −1 for none
	Found   Evidence
	Grounds bool // it stands on the ground
}

// Body is the roles that joints of a skeleton play. Joints are indices, −1 for none.
type Body struct {
	Kind   Kind
	Hips   int
	Spine  []int // from above the hips to the chest, which carries the arms or fore legs
	Neck   []int
	Head   int
	Legs   []Limb // pairs, left before right, from the front to the back
	Arms   []Limb // pairs, left before right; of an animal on four legs none
	Wings  []Limb
	Tails  [][]int // chains from the root of the tail on
	Trunks [][]int // an elephant's: chains that hang from its head

	Up, Ahead m3.Vec3 // unit, in the space of the places at rest
	Size      float32 // height over the ground at rest, in the file's unit

	Pose int // in which the roles were found: 0 at rest, else an index into Rig.Poses plus one

	// Trunk and Turned are how the hips and the directions were found.
	Trunk, Turned Evidence
	// Doubts are what is ambiguous, in words for the user.
	Doubts []string

	lone    []Limb // limbs without a partner, by names
	loneLeg []bool

	stands bool // in the pose that was looked at, the body stands on its legs

	names  []string
	at     []m3.Vec3
	parent []int
	as     map[string]int
}

// Box is the box around the vertices that follow a joint more than others. The zero value has none.
type Box struct {
	Lo, Hi m3.Vec3
	Any    bool
}

// Add makes the box hold p.
func (b *Box) Add(p m3.Vec3) {
	if !b.Any {
		b.Lo, b.Hi, b.Any = p, p, true
		return
	}
	b.Lo = m3.V(min(b.Lo.X, p.X), min(b.Lo.Y, p.Y), min(b.Lo.Z, p.Z))
	b.Hi = m3.V(max(b.Hi.X, p.X), max(b.Hi.Y, p.Y), max(b.Hi.Z, p.Z))
}

// Rig is the input of Find.
type Rig struct {
	Skel *skel.Skeleton // names, parents and End Sites; offsets are not read
	At   []m3.Vec3      // the joints' places at rest, in one space
	// Poses are places in other poses, such as frames of a motion; may be nil. They count where
	// the rest pose is none in which the body could stand.
	Poses [][]m3.Vec3
	Mesh  []Box // what moves with each joint at rest; nil: unknown
	// Still says which joints never move on their parent in the motion, as Still finds them: helpers between joints do not.
	// nil: unknown.
	Still []bool
	// As maps names of the uniform skeleton (Hips, LeftUpLeg, …) to joints, by name or as #12: what
	// the user says. It may be nil. Names that no joint has are left to the caller.
	As map[string]string
}

// Joint returns the index of the joint called name, or of joint 12 for #12, or −1. A joint that is
// itself called #12 comes first.
func Joint(names []string, name string) int {
	for j, n := range names {
		if n == name && name != "" {
			return j
		}
	}
	digits, ok := strings.CutPrefix(name, "#")
	if !ok || digits == "" || len(digits) > 6 {
		return -1
	}
	j := 0
	for _, d := range digits {
		if d < '0' || d > '9' {
			return -1
		}
		j = 10*j + int(d-'0')
	}
	if j >= len(names) {
		return -1
	}
	return j
}

// NameOf returns a name that Joint finds joint j by: its own, or #12 if it has none or shares it.
func NameOf(names []string, j int) string {
	if j >= 0 && j < len(names) && names[j] != "" && Joint(names, names[j]) == j {
		return names[j]
	}
	return fmt.Sprintf("#%d", j)
}
