package registration

import (
	"mannequin/animsys/mar"
	"mannequin/offline/mocap"
)

// Take is one performance of an action in a style.
type Take struct {
	mar.Take
	Cyclic Cyclic        // whether the action repeats itself
	Faults []mocap.Fault // frames of the file that hardly show a person's motion; Register's report repeats the first
}

// Cyclic says whether an action repeats itself.
type Cyclic uint8

// If it is Unknown, Register finds out.
const (
	Unknown Cyclic = iota
	Repeats        // walk, run
	Once           // jump, punch, bow
)

// Bits of Stands.
const (
	LeftStands uint8 = 1 << iota
	RightStands
)

// Timeline is the canonical timeline of an action.
type Timeline struct {
	Action    string
	Reference string  // the name of the take whose time it is; empty if the timeline was constructed
	Frames    int     // of the reference; on a cyclic timeline, of one cycle
	Period    float64 // frames after which the motion repeats; 0 if it does not
	Stands    []uint8 // (Frames) the feet in contact, as in Take
}
