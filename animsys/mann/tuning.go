package mann

import "math"

// Tuning holds the controller's constants, DefaultTuning their values: the
// released system's, with SpeedUp, Leash and Grip added by us. Shares are per tick of
// 1/60 s.
type Tuning struct {
	Gain  float32 // share of the way to a goal's direction and velocity per tick, 0 to 1
	Decay float32 // the same while there is no goal

	// The speed regulator adds P·e + I·∫e dt to the speed asked for, e being the
	// speed that lacks, in m/s.
	SpeedP, SpeedI float32
	SpeedUp        float32 // half-life of gathering speed, s, which the integral allows for

	Leash float32 // most that the heading asked for may lead or lag the real one, radians

	JumpSpeed float32 // speed asked for while jumping, m/s
	SlowSpeed float32 // m/s: below it no jump begins, above it sit, stand and lie are ignored
	Curvature float32 // jumps are cancelled beyond this share of a half turn along the trajectory

	// Ramp per action, in the order of control.Action: the share of the way to
	// its new weight that the present takes per tick.
	Ramp [6]float32

	// Exponents of the future's blend 1 − (1−w)^b, w being the share of the
	// future second that has passed.
	BlendPos, BlendDir, BlendVel float32

	// Grip is the sideways acceleration in m/s² up to which a path is taken at
	// the speed asked for; tighter curves slow the character down. Nine in ten
	// of the curves that recorded dogs walk stay below the default.
	Grip float32

	// PathBlend is τ of the paper's sec. 9: the weight of a path against the
	// network's own future trajectory.
	PathBlend float32
}

// DefaultTuning returns the released system's constants.
func DefaultTuning() Tuning {
	return Tuning{
		Gain: 0.25, Decay: 0.05,
		SpeedP: 0.2, SpeedI: 0.8, SpeedUp: 0.3,
		Leash:     30 * math.Pi / 180,
		JumpSpeed: 3, SlowSpeed: 0.5, Curvature: 0.25,
		Ramp:     [6]float32{0.01, 0.1, 0.05, 0.025, 0.025, 0.025},
		BlendPos: 0.75, BlendDir: 1.25, BlendVel: 1,
		Grip:      1.2,
		PathBlend: 0.5,
	}
}
