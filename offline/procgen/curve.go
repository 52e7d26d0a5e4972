package procgen

import (
	"math"
	"sort"

	"mannequin/offline/procgen/internal/smooth"
)

// curve is a number over time with continuous first and second derivatives. It is a chain of
// quintic polynomials, each from the state before to a new value at rest.
type curve struct {
	from float64 // before the first piece
	segs []quintic
}

// quintic is x(t) = Σ c[k] (t−t0)^k for t in [t0, t0+d], and at rest afterwards.
type quintic struct {
	t0, d float64
	c     [6]float64
}

func (q *quintic) at(t float64) (x, v, a float64) {
	s := min(max(t-q.t0, 0), q.d)
	c := &q.c
	x = c[0] + s*(c[1]+s*(c[2]+s*(c[3]+s*(c[4]+s*c[5]))))
	v = c[1] + s*(2*c[2]+s*(3*c[3]+s*(4*c[4]+s*5*c[5])))
	a = 2*c[2] + s*(6*c[3]+s*(12*c[4]+s*20*c[5]))
	return x, v, a
}

// hermite returns the quintic from one position, velocity and acceleration to another in time d.
func hermite(t0, d, x0, v0, a0, x1, v1, a1 float64) quintic {
	h := x1 - x0 - v0*d - a0*d*d/2
	g := (v1 - v0 - a0*d) * d
	k := (a1 - a0) * d * d
	return quintic{t0, d, [6]float64{x0, v0, a0 / 2,
		(10*h - 4*g + k/2) / (d * d * d),
		(-15*h + 7*g - k) / (d * d * d * d),
		(6*h - 3*g + k/2) / (d * d * d * d * d)}}
}

// state returns value, velocity and acceleration at time t.
func (c *curve) state(t float64) (x, v, a float64) {
	i := sort.Search(len(c.segs), func(i int) bool { return c.segs[i].t0 > t }) - 1
	if i < 0 {
		return c.from, 0, 0
	}
	return c.segs[i].at(t)
}

func (c *curve) at(t float64) float64 {
	x, _, _ := c.state(t)
	return x
}

// to moves the curve to x within d seconds from time t, at rest there. It drops later plans.
func (c *curve) to(t, d, x float64) { c.through(t, d, x, 0, 0) }

// through is to with a velocity and an acceleration at the end. Another piece must begin there.
func (c *curve) through(t, d, x, v, a float64) {
	x0, v0, a0 := c.state(t)
	i := sort.Search(len(c.segs), func(i int) bool { return c.segs[i].t0 >= t })
	c.segs = append(c.segs[:i], hermite(t, d, x0, v0, a0, x, v, a))
}

// bump is 1 in the middle of [0, 1] and 0 outside, with two continuous derivatives.
func bump(u float64) float64 {
	u = min(max(u, 0), 1)
	p := 4 * u * (1 - u)
	return p * p * p
}

// arch is the height of a swinging paw, from 0 to 1 and back. It is steep at both ends, so that the
// paw does not brush the ground.
func arch(u float64) float64 { return smooth.Step(u/0.34) * smooth.Step((1-u)/0.44) }

// travel is the share of its step that a swinging paw has covered. Its speed rises over the first
// part of [0, 1], stays, and falls over the last. A paw leaves the ground briskly, with
// acceleration within a frame or two.
func travel(u float64) float64 {
	const ramp, rest, brisk = 0.42, 0.03, 0.7
	u = min(max((u-rest)/(1-2*rest), 0), 1)
	// The speed is brisk·(3x−x³)/2 + (1−brisk)·(3x²−2x³); rise is its integral.
	rise := func(x float64) float64 {
		return brisk*x*x*(0.75-x*x/8) + (1-brisk)*x*x*x*(1-x/2)
	}
	top := 1 / (1 - 2*ramp*(1-rise(1)))
	switch {
	case u < ramp:
		return top * ramp * rise(u/ramp)
	case u > 1-ramp:
		return 1 - top*ramp*rise((1-u)/ramp)
	}
	return top * (u - ramp*(1-rise(1)))
}

// wrap returns x minus an integer, in [−½, ½).
func wrap(x float64) float64 { return x - math.Floor(x+0.5) }

func rad(degrees float64) float64 { return degrees * math.Pi / 180 }
