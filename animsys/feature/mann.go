// Package feature is the one schema of the networks' inputs and outputs. Builders of training data
// and the runtime read the same layout, and model files store its hash.
//
//   - Rows of quadrupeds, for the mode-adaptive network: [Dog], [MANN]
//   - Frames of people, joint positions in the body's frame: [Human], [Motion]
//   - From recordings to frames and back to the world: [Motion.FromWorld], [Motion.ToWorld]
//   - From frames to poses and clips of a skeleton: [NewPerson], [Person.Fit], [Person.Clip]
//   - Store a layout in a model file and read it: [DescribePerson], [ReadPerson]
//   - Mirror rows left to right: [Mirror], [MANN.MirrorColumns], [Motion.MirrorColumns]
//   - Measure how far motion is from feet that stand and bones of fixed length: [Cost]
package feature

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"mannequin/animsys/skel"
)

// The time axis of MANN's trajectory (Zhang, Starke et al. 2018, sec. 5). At run time it has 111
// points. Every tenth is a sample for the network. A past point stands for 1/60 s, a future point
// for 1/50 s, so past samples are 1/6 s apart and future samples 1/5 s.
const (
	TrajPoints   = 111 // points of the run-time trajectory
	TrajRoot     = 60  // index of the present
	TrajStep     = 10  // points per network sample
	TrajSamples  = 12  // samples in the input
	TrajNow      = 6   // input sample of the present
	TrajFuture   = 6   // samples in the output: the present and five ahead
	SampleOut    = 6   // values per output sample: position, direction, velocity (x, z each)
	BoneChannels = 12  // values per bone: position, forward, up, velocity (x, y, z each)
)

// Offsets inside one trajectory sample, input or output.
const (
	SamplePos   = 0 // x, z in the root frame, m
	SampleDir   = 2 // x, z, unit
	SampleVel   = 4 // x, z, m/s
	SampleSpeed = 6 // desired speed, m/s; inputs only
)

// Offsets inside one bone.
const (
	BonePos     = 0 // x, y, z in the root frame, m
	BoneForward = 3 // the bone's local +Z, unit
	BoneUp      = 6 // the bone's local +Y, unit
	BoneVel     = 9 // m/s
)

// PhaseLen is the number of values of a tip's stepping phase: amplitude times cosine, times sine.
const PhaseLen = 2

// Offsets inside the root's output. Values are per second.
const (
	RootX   = 0 // m/s, leftward
	RootYaw = 1 // degrees/s, counter-clockwise from above
	RootZ   = 2 // m/s, forward
	RootLen = 3
)

// MANN is the layout of a mode-adaptive network's inputs and outputs for one skeleton and its
// actions. The authors' 27-bone dog with six actions has 480 inputs, 363 outputs, 19 gating inputs.
type MANN struct {
	Joints  []string // in skeleton order, with End Sites
	Tips    []string // joints of the gating network: the four paw tips
	Actions []string // in the order of the action weights
	MirrorY []string // joints with the lateral axis local ±Y; all others have local ±Z (see MirrorColumns)
	Mirror  []int    `json:",omitempty"` // the mirror image of each joint, by index, as in skel.Mirror; nil: by names and MirrorY
	Lateral []int    `json:",omitempty"` // with Mirror, the lateral axis of each joint, as in skel.Mirror; nil: local X of all
	NoSpeed bool     // without the desired speed: the authors' layout of April 2018
	Stride  int      `json:",omitempty"` // frames of 1/60 s from an input row to its output row, and of velocities; 0 means 1
	Phases  bool     `json:",omitempty"` // a phase of stepping per tip follows the bones; the gating network reads it in place of the tips' velocities
}

// Dog returns the layout of the authors' released dog.
func Dog() *MANN {
	return &MANN{
		Joints: []string{
			"Hips", "Spine", "Spine1", "Neck", "Head", "HeadSite",
			"LeftShoulder", "LeftArm", "LeftForeArm", "LeftHand", "LeftHandSite",
			"RightShoulder", "RightArm", "RightForeArm", "RightHand", "RightHandSite",
			"LeftUpLeg", "LeftLeg", "LeftFoot", "LeftFootSite",
			"RightUpLeg", "RightLeg", "RightFoot", "RightFootSite",
			"Tail", "Tail1", "Tail1Site",
		},
		Tips:    []string{"LeftHandSite", "RightHandSite", "LeftFootSite", "RightFootSite"},
		Actions: []string{"idle", "move", "jump", "sit", "lie", "stand"},
		MirrorY: []string{"Head", "HeadSite", "LeftShoulder", "RightShoulder"},
	}
}

// MaxStride is the longest stride: a twelfth of a second.
const MaxStride = 5

// Step returns the stride, at least 1.
func (m *MANN) Step() int { return max(m.Stride, 1) }

// SampleLen returns the number of values per input sample.
func (m *MANN) SampleLen() int { return m.sampleAction() + len(m.Actions) }

func (m *MANN) sampleAction() int {
	if m.NoSpeed {
		return SampleSpeed
	}
	return SampleSpeed + 1
}

// InSample returns the first column of input sample s; add SamplePos, SampleDir and so on.
func (m *MANN) InSample(s int) int { return s * m.SampleLen() }

// InActions returns the first column of the action weights of input sample s.
func (m *MANN) InActions(s int) int { return m.InSample(s) + m.sampleAction() }

// InBone returns the first input column of bone b.
func (m *MANN) InBone(b int) int { return TrajSamples*m.SampleLen() + b*BoneChannels }

// InPhase returns the first input column of the phase of tip t.
func (m *MANN) InPhase(t int) int { return m.InBone(len(m.Joints)) + t*PhaseLen }

// PoseLen returns the length of a pose: the bones, then the phases.
func (m *MANN) PoseLen() int {
	n := len(m.Joints) * BoneChannels
	if m.Phases {
		n += len(m.Tips) * PhaseLen
	}
	return n
}

// Inputs returns the length of an input row.
func (m *MANN) Inputs() int { return m.InBone(0) + m.PoseLen() }

// OutSample returns the first column of output sample s; s = 0 is the present.
func (m *MANN) OutSample(s int) int { return s * SampleOut }

// OutBone returns the first output column of bone b.
func (m *MANN) OutBone(b int) int { return TrajFuture*SampleOut + b*BoneChannels }

// OutPhase returns the first output column of the phase of tip t.
func (m *MANN) OutPhase(t int) int { return m.OutBone(len(m.Joints)) + t*PhaseLen }

// OutRoot returns the first output column of the root's motion.
func (m *MANN) OutRoot() int { return m.OutBone(0) + m.PoseLen() }

// Outputs returns the length of an output row.
func (m *MANN) Outputs() int { return m.OutRoot() + RootLen }

// Gating returns the input columns of the gating network: the tips' velocities or, if the layout
// has them, phases; then the desired speed and the actions of the present.
func (m *MANN) Gating() []int {
	var cols []int
	for i, t := range m.Tips {
		if m.Phases {
			cols = append(cols, m.InPhase(i), m.InPhase(i)+1)
			continue
		}
		b := slices.Index(m.Joints, t)
		for k := range 3 {
			cols = append(cols, m.InBone(b)+BoneVel+k)
		}
	}
	from := m.InSample(TrajNow) + SampleSpeed
	for c := from; c < m.InSample(TrajNow+1); c++ {
		cols = append(cols, c)
	}
	return cols
}

// Validate reports the first fault that makes m unusable.
func (m *MANN) Validate() error {
	if len(m.Joints) == 0 {
		return fmt.Errorf("feature: layout has no joints")
	}
	if len(m.Actions) == 0 {
		return fmt.Errorf("feature: layout has no actions")
	}
	if m.Stride < 0 || m.Stride > MaxStride {
		return fmt.Errorf("feature: layout has a stride of %d frames, want 1 to %d", m.Stride, MaxStride)
	}
	for _, names := range [][]string{m.Joints, m.Tips, m.Actions} {
		for i, n := range names {
			if slices.Contains(names[:i], n) {
				return fmt.Errorf("feature: layout names %q twice", n)
			}
		}
	}
	for _, t := range m.Tips {
		if !slices.Contains(m.Joints, t) {
			return fmt.Errorf("feature: tip %q is not among the layout's joints", t)
		}
	}
	if m.Mirror != nil && len(m.Mirror) != len(m.Joints) {
		return fmt.Errorf("feature: layout has mirror images of %d joints, want %d", len(m.Mirror), len(m.Joints))
	}
	if m.Lateral != nil && len(m.Lateral) != len(m.Mirror) {
		return fmt.Errorf("feature: layout has lateral axes of %d joints and mirror images of %d", len(m.Lateral), len(m.Mirror))
	}
	for j, p := range m.Mirror {
		if p < 0 || p >= len(m.Joints) || m.Mirror[p] != j {
			return fmt.Errorf("feature: joint %q and its mirror image are not each other's", m.Joints[j])
		}
		if l := m.Lateral; l != nil && (l[j] != l[p] || l[j] < 0 || l[j] > skel.AllAxes) {
			return fmt.Errorf("feature: joint %q and its mirror image have the lateral axes %d and %d: want one of 0 to %d", m.Joints[j], l[j], l[p], skel.AllAxes)
		}
	}
	return nil
}

// Hash identifies the layout by the name, start and length of every span: equal hashes, equal rows.
func (m *MANN) Hash() string {
	h := sha256.New()
	for _, s := range append(m.InputSpans(), m.OutputSpans()...) {
		fmt.Fprintf(h, "%s %d %d\n", s.Name, s.Start, s.Len)
	}
	if m.Step() > 1 {
		fmt.Fprintf(h, "stride %d\n", m.Step())
	}
	fmt.Fprintf(h, "tips %s\n", strings.Join(m.Tips, " "))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Span is a named run of columns.
type Span struct {
	Name  string
	Start int
	Len   int
}

// InputSpans lists every input column once, in order.
func (m *MANN) InputSpans() []Span {
	var out []Span
	for s := range TrajSamples {
		at := m.InSample(s)
		name := fmt.Sprintf("trajectory[%d].", s)
		out = append(out, sampleSpans(name, at)...)
		if !m.NoSpeed {
			out = append(out, Span{name + "speed", at + SampleSpeed, 1})
		}
		for a, act := range m.Actions {
			out = append(out, Span{name + "action." + act, m.InActions(s) + a, 1})
		}
	}
	return append(out, m.poseSpans(m.InBone, m.InPhase)...)
}

// OutputSpans lists every output column once, in order.
func (m *MANN) OutputSpans() []Span {
	var out []Span
	for s := range TrajFuture {
		out = append(out, sampleSpans(fmt.Sprintf("future[%d].", s), m.OutSample(s))...)
	}
	out = append(out, m.poseSpans(m.OutBone, m.OutPhase)...)
	at := m.OutRoot()
	return append(out, Span{"root.x", at + RootX, 1}, Span{"root.yaw", at + RootYaw, 1}, Span{"root.z", at + RootZ, 1})
}

func sampleSpans(name string, at int) []Span {
	return []Span{{name + "position", at + SamplePos, 2}, {name + "direction", at + SampleDir, 2}, {name + "velocity", at + SampleVel, 2}}
}

func (m *MANN) poseSpans(bone, phase func(int) int) (out []Span) {
	for b, j := range m.Joints {
		out = append(out,
			Span{j + ".position", bone(b) + BonePos, 3}, Span{j + ".forward", bone(b) + BoneForward, 3},
			Span{j + ".up", bone(b) + BoneUp, 3}, Span{j + ".velocity", bone(b) + BoneVel, 3})
	}
	if m.Phases {
		for t, name := range m.Tips {
			out = append(out, Span{name + ".phase", phase(t), PhaseLen})
		}
	}
	return out
}
