package mann

import (
	"math"

	"mannequin/engine/m3"
)

// Tuning holds the controller's constants, DefaultTuning their values: those of the authors'
// released system, and our own where the docs say so. Shares are per tick of 1/60 s.
type Tuning struct {
	Gain  float32 // share of the way to a goal's direction and velocity per tick, 0 to 1
	Decay float32 // the same while there is no goal; ours is twice the released: dogs brake from a trot in a second

	// The speed regulator adds P·e + I·∫e dt to the speed asked for; e is the speed that lacks, in
	// m/s. Ours: with the released 0.2 and 0.8 a dog needs more than the 2 s that it may take.
	SpeedP, SpeedI float32
	// Half-lives of what a plausible change of speed has still before it, s: speeding up and
	// slowing down; ours.
	SpeedUp, SpeedDown float32

	Leash float32 // most that the heading asked for may lead or lag the real one, radians; ours

	// What dogs do and networks therefore can, all ours: the speeds in m/s up to which they step to
	// the side and back (recorded dogs 0.3 in the mean), the radius in metres of the curve that
	// turning on the spot is (recorded dogs go 0.3 m per radian), and the speed in m/s of the step
	// with which they get up.
	Sideways, Backward, Pivot, Rise float32

	JumpSpeed float32 // speed asked for while jumping, m/s
	SlowSpeed float32 // m/s: above it sit, stand and lie wait until the character has braked
	Curvature float32 // jumps are cancelled beyond this share of a half turn along the trajectory

	// Ramp per action, in the order of control.Action: the seconds in which all weight goes over to
	// it, and a jump's also away from it. Ours: those of the recordings' labels. The released
	// system's shares per tick take 4 s to nine tenths of idle, 1.5 s of sit.
	Ramp [6]float32
	// Leap is for how many seconds a jump has all the weight; asked on, the next one begins when it
	// is over. Ours: ten frames of the recordings' labels, in which each jump is one leap. Longer,
	// networks leap again out of the first.
	Leap float32

	// Exponents of the future's blend 1 − (1−w)^b, w being the share of the future second that has
	// passed.
	BlendPos, BlendDir, BlendVel float32

	// Grip is the sideways acceleration in m/s², and Spin the rate of turn in radians per second,
	// up to which a path is taken at the speed asked for; tighter curves slow the character down.
	// Ours: beyond, the heading comes late, and a trotting dog is carried out of a curve.
	Grip, Spin float32

	// Facing is how many times its angle to the path is added to what the next directions ask for;
	// ours. It makes up for what networks lag behind: without it, dogs come through the corners of
	// a square 20° late.
	Facing float32

	// PathBlend is τ of the paper's sec. 9: the weight of a path against the network's own future
	// trajectory.
	PathBlend float32

	// Ceiling bounds the height of the displayed joint 0, as a share of its height in the rest
	// pose; 0 is no bound. Heights above Bend, in the same shares, are pressed together smoothly
	// below it, the whole pose coming down with joint 0. Ours: only jumps come so high. The default
	// keeps a dog whose hips stand 47 cm high below 70 cm; recorded jumps reach 74 to 94.
	Bend, Ceiling float32
}

// change returns the speed, s seconds after a speed of from, of a character that goes over to the
// speed to as it plausibly may, and its way until then, m.
func (t *Tuning) change(from, to, s float32) (speed, way float32) {
	half := t.SpeedUp
	if to < from {
		half = t.SpeedDown
	}
	left := (from - to) * m3.Exp(-math.Ln2*s/half)
	return to + left, to*s + (from-to-left)*half/math.Ln2
}

// DefaultTuning returns the released system's constants and our choice of the others.
func DefaultTuning() Tuning {
	return Tuning{
		Gain: 0.25, Decay: 0.1,
		SpeedP: 0.5, SpeedI: 0.6, SpeedUp: 0.3, SpeedDown: 0.4,
		Leash:    30 * math.Pi / 180,
		Sideways: 0.4, Backward: 0.3, Pivot: 0.3, Rise: 0.4,
		JumpSpeed: 3, SlowSpeed: 0.5, Curvature: 0.25,
		Ramp:     [6]float32{0.5, 0.5, 1. / 3, 0.5, 0.5, 0.5},
		Leap:     1. / 6,
		BlendPos: 0.75, BlendDir: 1.25, BlendVel: 1,
		Grip:      1,
		Spin:      1.3,
		Facing:    4,
		PathBlend: 0.5,
		Bend:      1.3, Ceiling: 1.48,
	}
}
