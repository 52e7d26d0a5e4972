package matching

import "fmt"

// Tuning holds a stream's constants. Half-lives are in seconds.
type Tuning struct {
	Every int // ticks between searches of an agent, 1 to 60; 6
	// Stay is what another frame must cost less than the one that comes next, so that an agent jumps to it; 0.1. A cost is
	// the square of a distance between features. An agent of networks that has not jumped for 0.2 s also jumps from a pose that
	// costs more than it beside the projector's.
	Stay float32
	// WishVelocity, m/s, and WishFacing, rad, are the changes of what a goal asks for at which an agent searches at once;
	// 0.4 and 0.35.
	WishVelocity, WishFacing float32

	// Velocity and Facing are half-lives of the simulated body; 0.27 for both, as released.
	Velocity, Facing float32
	// Accel bounds how hard the simulated body speeds up, brakes and turns its way, m/s²; 0, as released: it does not.
	Accel float32
	// Jerk bounds how fast the acceleration of a simulated body that speeds up grows, m/s³; 0, as released: it does not. Feet need the time.
	Jerk float32
	// Follow is the half-life in which the agent's root is drawn to the simulated body, and Share bounds that motion,
	// as a share of the recorded one; 0.2 and 0.4.
	Follow, Share float32
	// Lead is the share of the change of the simulated body's velocity in the next 10 ticks that a search asks of the hips at once, but of
	// a body that turns round; 0. With some of it a body sets off and stops by a step, where the recordings' own beginning would come too late.
	Lead float32
	// Away and Turned bound how far the simulated body may be from the agent's root, m and rad; 0.15 and 1.57.
	Away, Turned float32
	// Spin bounds the turn rate in which goals with a Face are followed, rad/s; 9.
	Spin float32
	// Spot bounds the turn rate of a body that stays where it is, rad/s; 9.
	Spot float32
	// Grip is the sideways acceleration up to which a path is taken at the speed that is asked for, m/s²; 3.
	Grip float32
}

// DefaultTuning returns the constants of the released code of Holden et al. 2020, and our own of the others.
func DefaultTuning() Tuning {
	return Tuning{Every: 6, Stay: 0.1, WishVelocity: 0.4, WishFacing: 0.35, Velocity: 0.27, Facing: 0.27, Follow: 0.2, Share: 0.4,
		Away: 0.15, Turned: 1.57, Spin: 9, Spot: 9, Grip: 3}
}

// ResponsiveTuning returns the constants of a character that answers the stick about twice as soon: its simulated body is quicker, and its
// root follows that by at most its own motion. The ground solver holds feet that would slide.
func ResponsiveTuning() Tuning {
	t := DefaultTuning()
	t.Velocity, t.Facing, t.Follow, t.Share, t.Lead, t.Spot, t.Accel, t.Jerk = 0.105, 0.14, 0.05, 1, 0.7, 4, 14, 45
	return t
}

// Tuning returns the constants that streams take by default.
func (c *Character) Tuning() Tuning {
	if c.Responsive {
		return ResponsiveTuning()
	}
	return DefaultTuning()
}

// Validate returns an error for the first constant that is out of its range.
func (t *Tuning) Validate() error {
	if t.Every < 1 || t.Every > 60 {
		return fmt.Errorf("matching: Tuning.Every is %d ticks: want 1 to 60", t.Every)
	}
	for _, v := range []struct {
		name            string
		value, from, to float32
	}{
		{"Stay", t.Stay, 0, 1e6}, {"WishVelocity", t.WishVelocity, 0, 1e6}, {"WishFacing", t.WishFacing, 0, 1e6},
		{"Velocity", t.Velocity, 1e-3, 60}, {"Facing", t.Facing, 1e-3, 60}, {"Accel", t.Accel, 0, 1e6}, {"Jerk", t.Jerk, 0, 1e6}, {"Follow", t.Follow, 1e-3, 1e6}, {"Share", t.Share, 0, 1e6}, {"Lead", t.Lead, 0, 1},
		{"Away", t.Away, 0, 1e6}, {"Turned", t.Turned, 0, 1e6}, {"Spin", t.Spin, 0, 1e6}, {"Spot", t.Spot, 0, 1e6}, {"Grip", t.Grip, 1e-3, 1e6},
	} {
		if !(v.value >= v.from && v.value <= v.to) {
			return fmt.Errorf("matching: Tuning.%s is %g: want %g to %g", v.name, v.value, v.from, v.to)
		}
	}
	return nil
}
