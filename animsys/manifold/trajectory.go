package manifold

import (
	"errors"
	"fmt"
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Trajectory is the place of a body in each frame.
type Trajectory []feature.Place

// MaxSpeed is the maximum speed of a trajectory, m/s.
const MaxSpeed = 8

// Smoothing of trajectories: people round corners and turn before them.
const (
	placeSigma  = 8.0  // of places, frames
	facingSigma = 15.0 // of facing, frames
)

// AlongPath returns a trajectory along a path from its start. speed is in m/s at each frame. facing
// is the angle from the direction of travel to the facing, in radians to the left: 0 is forward, π
// backward. At the end of an open path the last place is held. AlongPath fails if a speed is
// negative, above MaxSpeed or NaN.
func AlongPath(path *control.Path, frames int, speed, facing func(frame int) float32) (Trajectory, error) {
	if frames < 1 {
		return nil, fmt.Errorf("manifold: a trajectory of %d frames, want at least 1", frames)
	}
	if path.Length() == 0 {
		return nil, errors.New("manifold: a trajectory along a path without points: make one with control.NewPath")
	}
	c := make(Trajectory, frames)
	ahead := make([]float64, frames)
	s, turned := float32(0), 0.0
	for f := range c {
		v := speed(f)
		if !(v >= 0 && v <= MaxSpeed) {
			return nil, fmt.Errorf("manifold: the speed at frame %d is %g m/s, want 0 to %d", f, v, MaxSpeed)
		}
		pos, dir := path.At(s)
		c[f].Pos = pos
		want := float64(m3.YawOf(dir) + facing(f))
		if f == 0 {
			turned = want
		}
		turned += math.Remainder(want-turned, 2*math.Pi)
		ahead[f] = turned
		if s += v / Rate; !path.Closed() {
			s = min(s, path.Length())
		}
	}
	x, z := make([]float64, frames), make([]float64, frames)
	for f, p := range c {
		x[f], z[f] = float64(p.Pos.X), float64(p.Pos.Z)
	}
	smooth(x, placeKernel)
	smooth(z, placeKernel)
	smooth(ahead, facingKernel)
	for f := range c {
		c[f] = feature.Place{Pos: m3.V(float32(x[f]), 0, float32(z[f])), Yaw: m3.WrapAngle(float32(ahead[f]))}
	}
	return c, nil
}

// smooth convolves v with a kernel, given by its right half.
func smooth(v, kernel []float64) {
	src := append([]float64(nil), v...)
	for f := range v {
		v[f] = convolved(src, kernel, f)
	}
}

// convolved returns value f of v convolved with a kernel, given by its right half. Beyond its ends v
// continues as it is there, reflected through the end point.
func convolved(v, kernel []float64, f int) float64 {
	last := len(v) - 1
	at := func(i int) float64 {
		switch {
		case i < 0:
			return 2*v[0] - v[min(-i, last)]
		case i > last:
			return 2*v[last] - v[max(2*last-i, 0)]
		}
		return v[i]
	}
	sum := kernel[0] * v[f]
	for i := 1; i < len(kernel); i++ {
		sum += kernel[i] * (at(f-i) + at(f+i))
	}
	return sum
}

// BodyMotion writes the body's motion along the trajectory into dst, (frames, feature.MotionLen).
// feature.Motion.ToWorld and Model.Trajectory invert it. The last frame repeats the motion before
// it.
func (c Trajectory) BodyMotion(dst []float32) {
	for f := range c {
		g := min(f, max(0, len(c)-2))
		here, next := c[g], c[min(g+1, len(c)-1)]
		motion(dst[f*feature.MotionLen:], here, next)
	}
}

// motion writes the body's motion from one frame to the next.
func motion(dst []float32, here, next feature.Place) {
	way := m3.YawQuat(-here.Yaw).Rotate(next.Pos.Sub(here.Pos))
	dst[feature.MotionX], dst[feature.MotionZ] = way.X*Rate, way.Z*Rate
	dst[feature.MotionYaw] = m3.WrapAngle(next.Yaw-here.Yaw) * Rate
}
