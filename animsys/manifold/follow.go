package manifold

import (
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Trajectory returns the body's place in each frame of rows, (frames, columns) raw, if the first is
// at start. It is the inverse of Trajectory.BodyMotion.
func (m *Model) Trajectory(rows []float32, start feature.Place) Trajectory {
	if m == nil || m.Layout == nil {
		return nil
	}
	cols := m.Layout.Columns()
	c := make(Trajectory, len(rows)/cols)
	x, z, yaw := float64(start.Pos.X), float64(start.Pos.Z), float64(start.Yaw)
	for f := range c {
		c[f] = feature.Place{Pos: m3.V(float32(x), start.Pos.Y, float32(z)), Yaw: m3.WrapAngle(float32(yaw))}
		b := rows[f*cols+m.Layout.Body():][:feature.MotionLen]
		s, k := math.Sincos(yaw)
		vx, vz := float64(b[feature.MotionX])/Rate, float64(b[feature.MotionZ])/Rate
		x, z = x+k*vx+s*vz, z-s*vx+k*vz
		yaw += float64(b[feature.MotionYaw]) / Rate
	}
	return c
}

// Smoothed returns the trajectory smoothed by a Gaussian with a deviation in frames, at most
// 10,000; 0 or less leaves it as it is.
func (c Trajectory) Smoothed(frames float64) Trajectory {
	if !(frames > 0) {
		return slices.Clone(c)
	}
	frames = min(frames, 1e4)
	x, z, yaw := make([]float64, len(c)), make([]float64, len(c)), make([]float64, len(c))
	for f, p := range c {
		x[f], z[f], yaw[f] = float64(p.Pos.X), float64(p.Pos.Z), float64(p.Yaw)
		if f > 0 {
			yaw[f] = yaw[f-1] + math.Remainder(yaw[f]-yaw[f-1], 2*math.Pi)
		}
	}
	for _, v := range [][]float64{x, z, yaw} {
		smooth(v, kernel(frames))
	}
	out := make(Trajectory, len(c))
	for f, p := range c {
		out[f] = feature.Place{Pos: m3.V(float32(x[f]), p.Pos.Y, float32(z[f])), Yaw: m3.WrapAngle(float32(yaw[f]))}
	}
	return out
}

// Rebase moves the body of rows, (frames, columns) raw, from one trajectory to another, while every
// joint stays in place in the world. It panics if the lengths differ.
func (m *Model) Rebase(rows []float32, from, to Trajectory) {
	if m == nil || m.Layout == nil {
		return
	}
	cols := m.Layout.Columns()
	if len(from)*cols != len(rows) || len(to) != len(from) {
		panic("manifold: Rebase: lengths of rows and courses differ")
	}
	body := make([]float32, len(to)*feature.MotionLen)
	to.BodyMotion(body)
	for f := range to {
		row := rows[f*cols:][:cols]
		a, b := m3.YawQuat(from[f].Yaw), m3.YawQuat(-to[f].Yaw)
		for j := range m.Layout.Joints {
			p := b.Rotate(a.Rotate(vec(row, m.Layout.Pos(j))).Add(from[f].Pos).Sub(to[f].Pos))
			copy(row[m.Layout.Pos(j):], []float32{p.X, p.Y, p.Z})
		}
		copy(row[m.Layout.Body():], body[f*feature.MotionLen:][:feature.MotionLen])
	}
}

// The direction of travel is that of places smoothed by this many frames, which removes the sway of
// the hips. Below idleSpeed there is no direction.
const waySigma = 20

// Follow returns a trajectory along path with the speed of c in every frame and its facing relative
// to the direction of travel. A motion along c takes the same time along it. Follow fails if an
// open path is too short.
func (c Trajectory) Follow(path *control.Path) (Trajectory, error) {
	n := len(c)
	way := c.Smoothed(waySigma)
	speed, ahead, moves := make([]float32, n), make([]float64, n), make([]bool, n)
	length, last := float32(0), -1
	for f := range c {
		g := min(f, max(0, n-2))
		step := way[min(g+1, n-1)].Pos.Sub(way[g].Pos)
		if speed[f] = step.Len() * Rate; f+1 < n {
			length += step.Len()
		}
		if moves[f] = speed[f] > idleSpeed; !moves[f] {
			continue
		}
		ahead[f] = float64(m3.YawOf(step))
		// A standing body turns evenly from one direction to the next.
		from := ahead[f]
		if last >= 0 {
			from = ahead[last]
			ahead[f] = from + math.Remainder(ahead[f]-from, 2*math.Pi)
		}
		for k := last + 1; k < f; k++ {
			ahead[k] = from + (ahead[f]-from)*float64(k-last)/float64(f-last)
		}
		last = f
	}
	if last < 0 {
		return nil, fmt.Errorf("manifold: a motion that stays where it is cannot follow a path")
	}
	for k := last + 1; k < n; k++ {
		ahead[k] = ahead[last]
	}
	if l := path.Length(); !path.Closed() && l < length {
		return nil, fmt.Errorf("manifold: the path ends after %.2f m, the motion is %.2f m long: want a longer or a closed path", l, length)
	}
	return AlongPath(path, n, func(f int) float32 { return speed[f] },
		func(f int) float32 { return m3.WrapAngle(c[f].Yaw - float32(ahead[f])) })
}
