package layer

import (
	"math"

	"mannequin/engine/m3"
)

// moment is a point in a clip's time: four frames and their weights, of the cubic Catmull-Rom spline
// through the frames. Its velocity has no steps, at any speed and frame rate of the clip.
type moment struct {
	frame  [4]int
	weight [4]float32
	exact  bool // the time is that of frame[1]
}

// moment returns the point at a time, s. Beyond the ends of a clip that does not loop is its end.
func (c *Clip) moment(seconds float64, loop bool) (m moment) {
	x, unique := seconds*c.fps, c.frames
	if loop {
		if c.closed {
			unique--
		}
		if x = math.Mod(x, float64(unique)); x < 0 {
			x += float64(unique)
		}
	}
	x = min(max(x, 0), float64(c.frames))
	if near := math.Round(x); math.Abs(x-near) < 1e-4 { // times are sums of ticks
		x = near
	}
	i := int(x)
	for k := range m.frame {
		if f := i - 1 + k; loop {
			m.frame[k] = (f + unique) % unique
		} else {
			m.frame[k] = min(max(f, 0), c.frames-1)
		}
	}
	u := float32(x - float64(i))
	m.exact = u == 0
	m.weight = [4]float32{
		u * (-0.5 + u*(1-0.5*u)), 1 + u*u*(-2.5+1.5*u), u * (0.5 + u*(2-1.5*u)), u * u * (-0.5 + 0.5*u),
	}
	return m
}

// rotation interpolates rotations that are stride apart in q, from at on.
func (m *moment) rotation(q []m3.Quat, at, stride int) m3.Quat {
	a := q[m.frame[1]*stride+at]
	if m.exact {
		return a
	}
	var sum m3.Quat
	same := true
	for k, f := range m.frame {
		b, w := q[f*stride+at], m.weight[k]
		same = same && b == a
		if b.Dot(a) < 0 { // across a loop's seam
			w = -w
		}
		sum = m3.Quat{X: sum.X + w*b.X, Y: sum.Y + w*b.Y, Z: sum.Z + w*b.Z, W: sum.W + w*b.W}
	}
	if same {
		return a
	}
	return sum.Normalize()
}

// place interpolates places.
func (m *moment) place(v []m3.Vec3) (sum m3.Vec3) {
	a, same := v[m.frame[1]], true
	for k, f := range m.frame {
		same = same && v[f] == a
		sum = sum.Add(v[f].Scale(m.weight[k]))
	}
	if m.exact || same {
		return a
	}
	return sum
}

// root returns where the root is at a time, in the space of the first frame's. A loop goes on and on.
func (c *Clip) root(seconds float64, loop bool) m3.Xform {
	x := seconds * c.fps
	if !loop {
		return xform(c.trackAt(min(max(x, 0), float64(c.frames-1))))
	}
	period := c.Seconds(true) * c.fps
	if period == 0 {
		return m3.Identity
	}
	// Only the difference of two times counts, which are less than a few periods apart.
	out, n := m3.Identity, math.Floor(x/period)
	each := xform(c.trackAt(period))
	for range int(min(n, MaxSpeed*MaxFPS)) {
		out = out.Mul(each)
	}
	return out.Mul(xform(c.trackAt(x - n*period)))
}

func xform(t m3.Vec3) m3.Xform {
	return m3.Xform{Pos: m3.V(t.X, 0, t.Z), Rot: m3.YawQuat(t.Y)}
}

// trackAt interpolates the root's track at a frame, whose ends go straight on.
func (c *Clip) trackAt(x float64) (sum m3.Vec3) {
	at := func(f int) m3.Vec3 {
		last := len(c.track) - 1
		switch {
		case last == 0:
			return c.track[0]
		case f < 0:
			return c.track[0].Add(c.track[0].Sub(c.track[1]).Scale(float32(-f)))
		case f > last:
			return c.track[last].Add(c.track[last].Sub(c.track[last-1]).Scale(float32(f - last)))
		}
		return c.track[f]
	}
	i := math.Floor(x)
	u := float32(x - i)
	for k, w := range [4]float32{u * (-0.5 + u*(1-0.5*u)), 1 + u*u*(-2.5+1.5*u), u * (0.5 + u*(2-1.5*u)), u * u * (-0.5 + 0.5*u)} {
		sum = sum.Add(at(int(i) - 1 + k).Scale(w))
	}
	return sum
}
