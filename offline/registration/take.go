package registration

import "mannequin/animsys/skel"

// Take is one performance of an action in a style. All takes of a database share
// a skeleton.
type Take struct {
	Name    string     // of its file, without folder and extension
	Action  string     // what is done: walk, run, jump
	Style   string     // how it is done: neutral, proud, old
	Content string     // which version of the action, such as a path; takes of one action and content in two styles are pairs
	Cyclic  Cyclic     // whether the action repeats itself
	Clip    *skel.Clip // metres, every frame a row of the database

	// Times are the frames' places on the action's canonical timeline, strictly
	// increasing, in frames of its reference; nil until they are known. On a
	// cyclic timeline they go on past its period, once per cycle.
	Times []float64
	// Stands are the feet that stand in each frame: bit 0 the left, bit 1 the
	// right; nil until they are known.
	Stands []uint8
}

// Cyclic says whether an action repeats itself.
type Cyclic uint8

// An action of Unknown is looked at: see Register.
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
	Reference string  // the name of the take whose time it is; empty where it was made by construction
	Frames    int     // of the reference; on a cyclic timeline, of one cycle
	Period    float64 // frames after which the motion repeats; 0 where it does not
	Stands    []uint8 // (Frames) the feet that stand, as in Take
}
