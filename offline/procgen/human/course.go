package human

import (
	"math"

	"mannequin/engine/m3"
)

// grid is the number of nodes per cycle, margin of cycles beyond both ends of the script.
const (
	grid   = 128
	margin = 3
)

// node is the state of a course at one canonical time.
type node struct {
	time, x, z, yaw     float64 // s, m, rad
	dtime, dx, dz, dyaw float64 // per cycle
}

// course is a script in seconds and metres, for one manner.
type course struct {
	*script
	m     *personGait
	nodes []node
}

func newCourse(s *script, m *personGait) *course {
	c := &course{script: s, m: m}
	n := int(math.Ceil((s.cycles + 2*margin) * grid))
	const h = 1.0 / grid
	var yaw float64
	var at node
	for i := range n + 1 {
		t := float64(i)/grid - margin
		if i > 0 {
			// Simpson's rule, for the heading and then for what depends on it.
			k0, k1 := s.turn.at(t-h), s.turn.at(t)
			kq, km, kr := s.turn.at(t-0.75*h), s.turn.at(t-0.5*h), s.turn.at(t-0.25*h)
			mid := yaw + h/12*(k0+4*kq+km)
			yaw = mid + h/12*(km+4*kr+k1)
			a, b, d := c.rates(t-h, at.yaw), c.rates(t-0.5*h, mid), c.rates(t, yaw)
			at.time += h / 6 * (a.dtime + 4*b.dtime + d.dtime)
			at.x += h / 6 * (a.dx + 4*b.dx + d.dx)
			at.z += h / 6 * (a.dz + 4*b.dz + d.dz)
		}
		r := c.rates(t, yaw)
		r.time, r.x, r.z, r.yaw = at.time, at.x, at.z, yaw
		at = r
		c.nodes = append(c.nodes, r)
	}
	zero := c.at(0)
	for i := range c.nodes {
		c.nodes[i].time -= zero.time
		c.nodes[i].x -= zero.x
		c.nodes[i].z -= zero.z
	}
	return c
}

// rates returns the derivatives at canonical time t with heading yaw.
func (c *course) rates(t, yaw float64) node {
	s, k := math.Sincos(yaw)
	d := c.stride(t)
	return node{dtime: 1 / c.cadence(t), dx: d * s, dz: d * k, dyaw: c.turn.at(t)}
}

func (c *course) cadence(t float64) float64 {
	return c.m.cadence * (1 + c.m.cadencePace*c.pace.at(t))
}

func (c *course) stride(t float64) float64 {
	return c.m.stride * (1 + c.m.stridePace*c.pace.at(t)) * c.moving.at(t)
}

func (c *course) duty(t float64) float64 { return c.m.dutyAt(c.pace.at(t)) }

// speed returns the speed in m/s.
func (c *course) speed(t float64) float64 { return c.stride(t) * c.cadence(t) }

func (c *course) at(t float64) node {
	g := min(max((t+margin)*grid, 0), float64(len(c.nodes)-1))
	i := min(int(g), len(c.nodes)-2)
	const h = 1.0 / grid
	a, b, u := &c.nodes[i], &c.nodes[i+1], (g-float64(i))*h
	return node{
		time: cubic(u, h, a.time, a.dtime, b.time, b.dtime),
		x:    cubic(u, h, a.x, a.dx, b.x, b.dx),
		z:    cubic(u, h, a.z, a.dz, b.z, b.dz),
		yaw:  cubic(u, h, a.yaw, a.dyaw, b.yaw, b.dyaw),
	}
}

// place returns the point ahead and to the left of the course at canonical time t.
func (c *course) place(t, left, ahead float64) m3.Vec3 {
	n := c.at(t)
	s, k := math.Sincos(n.yaw)
	return m3.V(float32(n.x+left*k+ahead*s), 0, float32(n.z-left*s+ahead*k))
}

// when returns the canonical time after sec seconds.
func (c *course) when(sec float64) float64 {
	lo, hi := 0, len(c.nodes)-1
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; c.nodes[mid].time <= sec {
			lo = mid
		} else {
			hi = mid
		}
	}
	// Newton's method on the cubic of this cell, which is nearly straight.
	const h = 1.0 / grid
	a, b := &c.nodes[lo], &c.nodes[hi]
	u := h * (sec - a.time) / (b.time - a.time)
	for range 4 {
		u += (sec - cubic(u, h, a.time, a.dtime, b.time, b.dtime)) / a.dtime
	}
	return float64(lo)*h - margin + u
}

// lean returns the lean into a turn, to the left, rad.
func (c *course) lean(t float64) float64 {
	const gravity = 9.81
	v := c.speed(t)
	return math.Tanh(v * c.turn.at(t) * c.cadence(t) / gravity)
}

// push returns the forward lean from acceleration, rad.
func (c *course) push(t float64) float64 {
	const gravity, h = 9.81, 0.04
	a := (c.speed(t+h) - c.speed(t-h)) / (2 * h) * c.cadence(t)
	return math.Tanh(a / gravity)
}

// ahead returns the turn to the left over the next half second or so, rad.
func (c *course) ahead(t float64) float64 {
	return c.at(t+0.55).yaw - c.at(t).yaw
}
