package m3

import "math"

// Springs are critically damped and use the closed form: steps of any length are exact and
// stable. The half-life, in seconds, is about the time in which the distance to the goal halves
// from rest. A half-life of zero or less jumps to the goal.

// damping returns y in e^{-y t} of the critically damped spring whose velocity
// is 2y-damped: y = 2 ln 2 / halflife.
func damping(halflife float32) float32 {
	return 2 * math.Ln2 / max(halflife, 1e-6)
}

// Spring advances x with velocity v toward goal by dt seconds.
func Spring(x, v, goal, halflife, dt float32) (float32, float32) {
	y := damping(halflife)
	j0 := x - goal
	j1 := v + j0*y
	if Abs(j0)+Abs(j1) < atRest {
		return goal, 0
	}
	e := Exp(-y * dt)
	return e*(j0+j1*dt) + goal, e * (v - j1*y*dt)
}

// atRest is the distance below which a spring stops, because denormal numbers are slow.
const atRest = 1e-18

// SpringVec advances x with velocity v toward goal by dt seconds.
func SpringVec(x, v, goal Vec3, halflife, dt float32) (Vec3, Vec3) {
	y := damping(halflife)
	j0 := x.Sub(goal)
	j1 := v.Add(j0.Scale(y))
	if Abs(j0.X)+Abs(j0.Y)+Abs(j0.Z)+Abs(j1.X)+Abs(j1.Y)+Abs(j1.Z) < atRest {
		return goal, Vec3{}
	}
	e := Exp(-y * dt)
	return j0.Add(j1.Scale(dt)).Scale(e).Add(goal), v.Sub(j1.Scale(y * dt)).Scale(e)
}

// DecayVec advances an offset x with velocity v toward zero by dt seconds, for inertialization.
func DecayVec(x, v Vec3, halflife, dt float32) (Vec3, Vec3) {
	return SpringVec(x, v, Vec3{}, halflife, dt)
}

// mostOffset is a little less than half a turn. An offset that went beyond would come back the other way round.
const mostOffset = 3.1

// Decay is a step of dt seconds in which offsets decay with one half-life: of many offsets, it takes one exponential.
type Decay struct{ y, dt, left float32 }

// NewDecay returns the step of dt seconds with a half-life.
func NewDecay(halflife, dt float32) Decay {
	y := damping(halflife)
	return Decay{y, dt, Exp(-y * dt)}
}

// Vec advances an offset x with velocity v toward zero; see [DecayVec].
func (d *Decay) Vec(x, v Vec3) (Vec3, Vec3) {
	j1 := v.Add(x.Scale(d.y))
	if Abs(x.X)+Abs(x.Y)+Abs(x.Z)+Abs(j1.X)+Abs(j1.Y)+Abs(j1.Z) < atRest {
		return Vec3{}, Vec3{}
	}
	return x.Add(j1.Scale(d.dt)).Scale(d.left), v.Sub(j1.Scale(d.y * d.dt)).Scale(d.left)
}

// Quat advances a rotation offset x with angular velocity v (radians per
// second, world axes) toward the identity.
func (d *Decay) Quat(x Quat, v Vec3) (Quat, Vec3) {
	r, w := d.Vec(x.RotationVector(), v)
	if l := r.Len(); l > mostOffset {
		out := r.Scale(1 / l)
		r, w = out.Scale(mostOffset), w.Sub(out.Scale(max(w.Dot(out), 0)))
	}
	return FromRotationVector(r), w
}

// DampTo returns x after an exponential decay toward goal over dt seconds with the given half-life.
func DampTo(x, goal, halflife, dt float32) float32 {
	return Lerp(goal, x, Exp(-math.Ln2*dt/max(halflife, 1e-6)))
}
