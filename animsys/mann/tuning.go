package mann

import (
	"fmt"
	"math"
	"reflect"

	"mannequin/engine/m3"
)

// Tuning holds the controller's constants. The defaults of DefaultTuning are those of the authors'
// released system, and our own if the comment says so. Shares are per tick of 1/60 s.
type Tuning struct {
	Gain  float32 // share of the way to a goal's direction and velocity per tick, 0 to 1; 0.25
	Decay float32 // the same without a goal; 0.1, twice the released: dogs brake from a trot in a second

	// The speed regulator adds P·e + I·∫e dt to the speed asked for; e is the missing speed, m/s.
	// 0.5 and 0.6, ours: with the released 0.2 and 0.8 a dog needs more than the 2 s that it may
	// take.
	SpeedP, SpeedI float32
	// Half-lives of plausible changes of speed, up and down, s; 0.3 and 0.4, ours.
	SpeedUp, SpeedDown float32

	Leash float32 // bound on the angle between the heading asked for and the real one, rad; 30°, ours

	// What dogs do, and networks therefore can; ours. Sideways and Backward bound speeds, m/s: 0.4
	// and 0.3 (recorded dogs 0.3 in the mean). Pivot is the radius of the curve in place of a turn
	// on the spot, m: 0.3, as recorded dogs. Rise is the speed of the step in getting up, m/s: 0.4.
	Sideways, Backward, Pivot, Rise float32

	JumpSpeed float32 // speed asked for while jumping, m/s; 3
	SlowSpeed float32 // speed to which a character brakes before it sits, stands up or lies down, m/s; 0.5
	Curvature float32 // turn of the trajectory beyond which jumps are cancelled, a share of a half turn; 0.25

	// Ramp is the time in which all weight moves to an action, s, in the order of control.Action; a
	// jump's also counts for the way back. Ours: 0.5, jumps 1/3, as in the recordings' labels. The
	// released shares per tick take 4 s to nine tenths of idle, 1.5 s of sit.
	Ramp [6]float32
	// Leap is the time for which a jump has all the weight, s; if still asked for, the next jump
	// begins after it. 1/6, ours: ten frames of the recordings' labels, in which each jump is one
	// leap. With a longer time networks leap again out of the first.
	Leap float32

	// Exponents b of the future's blend 1 − (1−w)^b for the share w of the future second that has
	// passed; 0.75, 1.25 and 1.
	BlendPos, BlendDir, BlendVel float32

	// Grip is the sideways acceleration, m/s², and Spin the turn rate, rad/s, up to which a path is
	// taken at the speed asked for. Tighter curves slow the character down. 1 and 1.3, ours:
	// beyond, the heading comes late, and a trotting dog is carried out of the curve.
	Grip, Spin float32

	// Facing is the multiple of its angle to the path that is added to the next directions; 4,
	// ours. It makes up for the network's lag: without it, dogs leave the corners of a square 20°
	// late.
	Facing float32

	// PathBlend is τ of the paper's sec. 9: the weight of a path against the network's own future
	// trajectory; 0.5.
	PathBlend float32

	// Ceiling bounds the height of the displayed joint 0, as a share of its height in the rest
	// pose; 0 means no bound. Heights above Bend, in the same shares, are pressed together smoothly
	// below it, and the whole pose comes down with joint 0. 1.3 and 1.48, ours: only jumps come so
	// high. The default keeps a dog with hips at 47 cm below 70 cm; recorded jumps reach 74 to 94.
	Bend, Ceiling float32
}

// Validate returns an error for the first constant that is negative, not finite or beyond 1000, and for
// half-lives of 0.
func (t Tuning) Validate() error {
	v := reflect.ValueOf(t)
	for i := range v.NumField() {
		name, least := v.Type().Field(i).Name, float32(0)
		if name == "SpeedUp" || name == "SpeedDown" {
			least = 1e-3
		}
		numbers := []float32{}
		switch f := v.Field(i).Interface().(type) {
		case float32:
			numbers = append(numbers, f)
		case [6]float32:
			numbers = f[:]
		}
		for _, x := range numbers {
			if !(x >= least && x <= most) {
				return fmt.Errorf("mann: Tuning.%s is %g: want %g to %g", name, x, least, float32(most))
			}
		}
	}
	return nil
}

const most = 1000 // of any constant

// change returns the speed s seconds after a speed of from, if a character changes to the speed to
// in a plausible way, and the distance until then, m.
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
