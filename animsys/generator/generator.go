// Package generator is the contract between a crowd and whatever makes the motion of its agents:
// [Generator] for everything, and [Batched] for a network that runs inside the tick.
//
// An agent is a row. Rows are compact, 0 to n−1: a new agent gets the next one, and
// the last row moves to the place of a removed one. Every method is called once for
// many rows, never once per agent, except when an agent comes, goes or is moved.
package generator

import (
	"fmt"
	"runtime"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// TickRate is the ticks per second of every crowd. A schedule must step at it.
const TickRate = 60

// Farthest bounds how far from the origin along X or Z agents may be placed, m: 32.8 km. float32
// resolves 2 mm there, to which the places of bones in world space are rounded.
const Farthest = 1 << 15

// Placeable returns an error if no agent can be placed at pos with heading yaw.
func Placeable(pos m3.Vec3, yaw float32) error {
	if !pos.Finite() || !m3.Finite(yaw) || max(m3.Abs(pos.X), m3.Abs(pos.Z)) >= Farthest {
		return fmt.Errorf("no agent can stand at %v with heading %g: want finite numbers, less than %d m from the origin along X and Z", pos, yaw, Farthest)
	}
	return nil
}

// Generator makes the motion of agents that are controlled by components of type C. Methods belong
// to one goroutine, except Sample and Pose, which run for different rows at the same time.
//
// All places of a row, in and out, are in a space of its own, whose origin the crowd keeps near the
// agent: so motion is as precise anywhere as near the world's origin.
type Generator[C any] interface {
	// Capacity returns the largest number of agents.
	Capacity() int
	// Rig returns the skeleton and what its legs are. roles overrides the roles that
	// follow from the skeleton's joint names; nil leaves them.
	Rig(roles *ik.Roles) (Rig, error)
	// Controls returns the control of each row, (capacity). The crowd writes the
	// agents' components into it before Generate.
	Controls() []C
	// Add puts an agent at a place and returns its row, the next one. control is what
	// it begins with; nil is the generator's default, which Controls then holds.
	Add(at feature.Place, control *C) (row int, err error)
	// Place moves an agent to a place, which is finite.
	Place(row int, at feature.Place)
	// Shift moves all places of a row by by, which is flat, m: its space has another origin from now
	// on, and the motion goes on. The crowd moves the row's control, if *C has a method Shift(m3.Vec3).
	Shift(row int, by m3.Vec3)
	// Remove takes a row out. The last row becomes this one.
	Remove(row int)
	// Save writes the state of a row: all that its motion follows from, with what it was asked for
	// and the windows that are being made. It does not wait for these.
	Save(s *State, row int)
	// Restore adds an agent in the state that Save wrote, and returns its row, the next one. A
	// generator without agents also takes over the clock of the saved one: if all agents are
	// restored into it, in the order of rows, they move on with the same bits as if they had
	// never been removed. Among other agents the window of a restored one may be late.
	// After an error no agent is added.
	Restore(s *State) (row int, err error)
	// Generate begins a tick: it commits motion that is finished and requests what is
	// needed next. frozen, (rows), are agents that stay as they are.
	Generate(frozen []bool) error
	// Sample advances rows r0 to r1−1 by a tick, and writes the poses of rows with p.Update.
	Sample(p *Poses, r0, r1 int)
	// Pose writes the present pose of a row.
	Pose(p *Poses, row int)
	// Close ends the generator's goroutines.
	Close() error
}

// Turner is a Generator whose agents can be turned.
type Turner interface {
	// Turn turns all places and directions of a row, except its control. The motion goes on.
	Turn(row int, by m3.Turn)
}

// Batched is a Generator whose network runs inside the tick, once for all agents that update in it:
// the mode-adaptive network (Zhang, Starke et al. 2018). Plan, Gather and Scatter work on entries
// i0 to i1−1 of the batch, from several goroutines at once.
type Batched interface {
	// HasStride reports whether agents can update once in the given number of ticks.
	HasStride(ticks int) bool
	// Select chooses the rows that update in this tick, and returns their number.
	// strides, (rows), are the ticks of each row's update; 0 is none.
	Select(strides []uint8) int
	Plan(i0, i1 int)    // future trajectories from the controls
	Gather(i0, i1 int)  // the network's inputs
	Infer() error       // the network, once for each stride
	Scatter(i0, i1 int) // outputs to poses and root motion
}

// Styled is a Generator with styles of its own, and one whose agents can step more
// or less often than their control says.
type Styled interface {
	// Styles returns the style of each row, (capacity), which the crowd writes before Generate.
	Styles() []Style
	// Cadences returns by what the step frequency of each row is multiplied,
	// (capacity); 0 counts as 1.
	Cadences() []float32
}

// Style is a style of a Styled generator's own.
type Style struct {
	Index  int     // one that does not exist is none
	Weight float32 // 0 is none
}

// Rig is the skeleton of a generator's agents and how it stands on the ground.
type Rig struct {
	Skel *skel.Skeleton
	// Ground holds the ground solver's rig and settings. The crowd sets its ground, time step
	// and buffers.
	Ground ik.Legged
	// Contacts are, for each leg, the index of its contact in Poses.Stand's bits; nil
	// if the ground solver detects contacts by itself.
	Contacts []uint8
	// Late says that poses show the present. Agents that update less often are then
	// shown late; a Batched generator shows the end of a step instead.
	Late bool
	// Turn, (joints), and Move are the accelerations above which a pose counts as a jump and is
	// inertialized, rad/s² and m/s²; nil and 0 are the defaults of animsys/blend.
	Turn []float32
	Move float32
	// Identity names the generator, its model and the settings on which saved states depend. A crowd
	// restores states of equal identities only.
	Identity string
	// Body is the room that an agent takes, for walls.
	Body []Disc
}

// Poses is where a generator writes what its agents do, by row.
type Poses struct {
	Update    []bool     // (rows) agents that update in this tick; the crowd's
	Roots     []m3.Xform // (rows) roots on flat ground, +Z ahead, world space
	Pos       []m3.Vec3  // (rows, joints) local translations, the root's in world space, m
	Rot       []m3.Quat  // (rows, joints) local rotations, the root's in world space
	Stand     []bool     // (rows, legs) feet that have contact; empty without Rig.Contacts
	Restarted []bool     // (rows) the pose does not continue the one before
	Going     []ik.Going // (rows) how people are steered, if they should lean into it; optional; Put writes that they should not
	Contacts  []uint8    // of the Rig
}

// Joints returns the pose of a row, joints of them.
func (p *Poses) Joints(row, joints int) (pos []m3.Vec3, rot []m3.Quat) {
	i, k := row*joints, (row+1)*joints
	return p.Pos[i:k], p.Rot[i:k]
}

// Put writes where row stands, and its contacts: a bit each.
func (p *Poses) Put(row int, at feature.Place, contacts uint8) {
	p.Roots[row] = m3.Xform{Pos: at.Pos, Rot: m3.YawQuat(at.Yaw)}
	if p.Going != nil {
		p.Going[row] = ik.Going{}
	}
	for i, c := range p.Contacts {
		p.Stand[row*len(p.Contacts)+i] = contacts>>c&1 == 1
	}
}

// Pose lets g write the poses of rows r0 to r1−1 that update.
func (p *Poses) Pose(g interface{ Pose(p *Poses, row int) }, r0, r1 int) {
	for r := r0; r < r1; r++ {
		if p.Update[r] {
			g.Pose(p, r)
		}
	}
}

// NewRig returns the rig of skeleton sk with a ground solver's settings, without contacts. nil roles
// are those that named finds by the joint names.
func NewRig(sk *skel.Skeleton, ground ik.Legged, roles *ik.Roles, named func(joints []string) (ik.Roles, error)) (Rig, error) {
	if roles == nil {
		found, err := named(sk.Names)
		if err != nil {
			return Rig{}, err
		}
		roles = &found
	}
	tree, err := ik.NewTree(sk.Parents)
	if err != nil {
		return Rig{}, err
	}
	ground.Rig, err = ik.NewRig(tree, *roles)
	return Rig{Skel: sk, Ground: ground}, err
}

// Human returns the rig of people on skeleton sk, without contacts. nil roles follow from its
// joint names.
func Human(sk *skel.Skeleton, roles *ik.Roles) (Rig, error) {
	rig, err := NewRig(sk, ik.DefaultHuman(), roles, ik.HumanRoles)
	rig.Late, rig.Body = true, []Disc{{Radius: personRadius}}
	return rig, err
}

const personRadius = 0.35 // of the room that a person takes, m

// Person returns the rig of people with the layout's contacts, on skeleton sk. nil
// roles follow from its joint names.
func Person(l *feature.Motion, sk *skel.Skeleton, roles *ik.Roles) (Rig, error) {
	rig, err := Human(sk, roles)
	if err != nil {
		return Rig{}, err
	}
	rig.Contacts = []uint8{}
	for _, leg := range rig.Ground.Rig.Roles.Legs {
		tip := sk.Names[leg[len(leg)-1]]
		c := l.ContactOf(tip)
		if c < 0 {
			return Rig{}, fmt.Errorf("generator: a leg ends in %q, of which the model has no contact", tip)
		}
		rig.Contacts = append(rig.Contacts, uint8(c))
	}
	return rig, nil
}

// FewRows is the number of rows below which one worker is as fast as two.
const FewRows = 30

// Workers returns the number of goroutines for a number of rows: as many as asked for,
// or, for 0, one per CPU, and one for less than FewRows rows.
func Workers(asked, rows int) int {
	switch {
	case asked != 0:
		return asked
	case rows < FewRows:
		return 1
	}
	return runtime.GOMAXPROCS(0)
}
