package human

import (
	"math"
)

// hump rises from 0 to 1 at peak and falls back to 0 over [0, 1]. Two derivatives are zero at both
// ends. lean is its steepness, 3 or more.
func hump(u, peak, lean float64) float64 {
	if u <= 0 || u >= 1 {
		return 0
	}
	// u^a (1−u)^b is highest at a/(a+b).
	a, b := lean, lean*(1-peak)/peak
	if b < lean {
		a, b = lean*peak/(1-peak), lean
	}
	return math.Pow(u/peak, a) * math.Pow((1-u)/(1-peak), b)
}

// travel is the share of its step that a swinging foot has covered. Its speed rises over the share
// up of [0, 1], stays, and falls over the share down. The acceleration is continuous.
func travel(u, up, down float64) float64 {
	u = min(max(u, 0), 1)
	// The speed is a smoothstep; its integral over a ramp is half the ramp.
	top := 1 / (1 - up/2 - down/2)
	ramp := func(x float64) float64 { return x * x * x * (1 - x/2) }
	switch {
	case u < up:
		return top * up * ramp(u/up)
	case u > 1-down:
		return 1 - top*down*ramp((1-u)/down)
	}
	return top * (u - up/2)
}

// state is a number with its first two derivatives.
type state struct{ x, v, a float64 }

// hermite returns the value at time t of the quintic from one state to another in time d.
func hermite(t, d float64, from, to state) float64 {
	h := to.x - from.x - from.v*d - from.a*d*d/2
	g := (to.v - from.v - from.a*d) * d
	k := (to.a - from.a) * d * d
	s := t / d
	return from.x + t*(from.v+t*from.a/2) + s*s*s*((10*h-4*g+k/2)+s*((-15*h+7*g-k)+s*(6*h-3*g+k/2)))
}

// cubic returns the value at t in [0, d] of the cubic from x0 with slope v0 to x1 with slope v1.
func cubic(t, d, x0, v0, x1, v1 float64) float64 {
	s := t / d
	a, b := v0*d-(x1-x0), -v1*d+(x1-x0)
	return (1-s)*x0 + s*x1 + s*(1-s)*(a*(1-s)+b*s)
}

func rad(degrees float64) float64 { return degrees * math.Pi / 180 }
