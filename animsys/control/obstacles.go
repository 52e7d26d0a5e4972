package control

import (
	"fmt"
	"math"

	"mannequin/engine/m3"
	"mannequin/internal/cellgrid"
)

// Obstacle is something on the ground that agents cannot walk through: a rounded rectangle, seen from
// above. [Pillar], [Box] and [Wall] make the usual ones.
type Obstacle struct {
	At           m3.Vec3 // its middle, m; the height does not matter
	Yaw          float32 // heading of its depth, rad
	Width, Depth float32 // at right angles to the heading and along it, m, without the rounding
	Round        float32 // radius by which it is larger on all sides, m
	Low, High    float32 // it is in the way of agents that stand from Low up to High, m; if both are equal, of all
}

// Pillar is a round obstacle.
func Pillar(at m3.Vec3, radius float32) Obstacle { return Obstacle{At: at, Round: radius} }

// Box is a rectangle, whose depth lies along the heading yaw.
func Box(at m3.Vec3, yaw, width, depth float32) Obstacle {
	return Obstacle{At: at, Yaw: yaw, Width: width, Depth: depth}
}

// Wall goes straight from a to b.
func Wall(a, b m3.Vec3, thickness float32) Obstacle {
	along := b.Sub(a).Flat()
	return Obstacle{At: a.Lerp(b, 0.5), Yaw: m3.YawOf(along), Depth: along.Len(), Round: thickness / 2}
}

// MaxObstacle bounds the sizes of an obstacle and its distance from the origin, m.
const MaxObstacle = 1 << 16

// Validate returns an error if o is not an obstacle.
func (o *Obstacle) Validate() error {
	for _, v := range [...]float32{o.Width, o.Depth, o.Round, m3.Abs(o.At.X), m3.Abs(o.At.Z)} {
		if !(v >= 0 && v <= MaxObstacle) {
			return fmt.Errorf("control: the obstacle %+v: want sizes and places from 0 to %d m", *o, MaxObstacle)
		}
	}
	if !m3.Finite(o.Yaw) {
		return fmt.Errorf("control: the obstacle %+v: want a finite heading", *o)
	}
	if !(o.Low <= o.High) || !m3.Finite(o.Low) || !m3.Finite(o.High) {
		return fmt.Errorf("control: the obstacle %+v: want heights of which High is not below Low", *o)
	}
	return nil
}

// Obstacles is a set of obstacles in world space: the walls of animsys.Options, if a game has no
// physics of its own to ask. The zero Obstacles is empty. Slide may run on several goroutines at
// once, but not during Set.
type Obstacles struct {
	shapes []shape
	grid   cellgrid.Grid
}

// shape is an Obstacle with the sine and cosine of its heading.
type shape struct {
	at, ahead flat
	half      flat // half of its width and depth
	round     float32
	low, high float32
}

// Set replaces all obstacles, between ticks. It allocates memory only to make room for more. An error
// names the first obstacle that is not valid, and then nothing has changed.
func (o *Obstacles) Set(all ...Obstacle) error {
	for i := range all {
		if err := all[i].Validate(); err != nil {
			return fmt.Errorf("obstacle %d: %w", i, err)
		}
	}
	o.shapes = o.shapes[:0]
	for i := range all {
		o.shapes = append(o.shapes, all[i].shape())
	}
	o.grid.Fill(len(o.shapes), func(i int) (x0, z0, x1, z1 float32) {
		s := &o.shapes[i]
		x := m3.Abs(s.ahead.z)*s.half.x + m3.Abs(s.ahead.x)*s.half.z + s.round
		z := m3.Abs(s.ahead.x)*s.half.x + m3.Abs(s.ahead.z)*s.half.z + s.round
		return s.at.x - x, s.at.z - z, s.at.x + x, s.at.z + z
	})
	return nil
}

func (o *Obstacle) shape() shape {
	sin, cos := math.Sincos(float64(o.Yaw))
	s := shape{at: flatOf(o.At), ahead: flat{float32(sin), float32(cos)}, half: flat{o.Width / 2, o.Depth / 2}, round: o.Round, low: o.Low, high: o.High}
	if o.Low == o.High {
		s.low, s.high = -math.MaxFloat32, math.MaxFloat32
	}
	return s
}

// distance returns how far p is from the surface of s, m, below 0 inside, and the unit direction away
// from it.
func (s *shape) distance(p flat) (d float32, out flat) {
	// In the shape's own axes: width, depth.
	rel := p.sub(s.at)
	l := flat{rel.x*s.ahead.z - rel.z*s.ahead.x, rel.dot(s.ahead)}
	over := flat{m3.Abs(l.x) - s.half.x, m3.Abs(l.z) - s.half.z}
	var n flat
	if over.x <= 0 && over.z <= 0 {
		if over.x > over.z {
			d, n = over.x, flat{sign(l.x), 0}
		} else {
			d, n = over.z, flat{0, sign(l.z)}
		}
	} else {
		n = flat{max(over.x, 0) * sign(l.x), max(over.z, 0) * sign(l.z)}
		d = m3.Sqrt(n.dot(n))
		n = n.scale(1 / d)
	}
	return d - s.round, flat{n.x*s.ahead.z + n.z*s.ahead.x, n.z*s.ahead.z - n.x*s.ahead.x}
}

func sign(x float32) float32 {
	if x < 0 {
		return -1
	}
	return 1
}

const mostRadius = 64 // m

// Slide returns where a circle comes to that is at from and moves toward to: it stops at obstacles and
// slides along them. A circle that is in an obstacle is pushed out. The agent stands at to's height. The
// radius is in m, at most 64; what is larger or not finite passes unchanged.
func (o *Obstacles) Slide(from, to m3.Vec3, radius float32) m3.Vec3 {
	if len(o.shapes) == 0 || !from.Finite() || !to.Finite() || !(radius >= 0 && radius <= mostRadius) {
		return to
	}
	p, left := flatOf(from), flatOf(to).sub(flatOf(from))
	// Steps are so short that no step leads through an obstacle.
	const mostSteps = 64
	steps := 1 + int(min(m3.Sqrt(left.dot(left))/max(radius, 0.05), mostSteps-1))
	for range steps {
		p = o.push(p.add(left.scale(1/float32(steps))), p, to.Y, radius)
	}
	return m3.V(p.x, to.Y, p.z)
}

// push returns where a circle at p comes to that is pushed out of the obstacles, deepest first; before,
// if that does not end, as in a gap that is too narrow.
func (o *Obstacles) push(p, before flat, y, radius float32) flat {
	const tries, enough = 8, 1e-4 // m
	for range tries {
		d, out := o.nearest(p, y, radius)
		if d >= -enough {
			return p
		}
		p = p.sub(out.scale(d))
	}
	return before
}

// nearest returns how far a circle at p and height y is from the nearest obstacle in the cells that it
// touches, m, below 0 inside of one, and the unit direction away from it.
func (o *Obstacles) nearest(p flat, y, radius float32) (d float32, out flat) {
	d = math.MaxFloat32
	x0, x1 := cellgrid.Column(p.x-radius), cellgrid.Column(p.x+radius)
	z0, z1 := cellgrid.Column(p.z-radius), cellgrid.Column(p.z+radius)
	for z := z0; z <= z1; z++ {
		for x := x0; x <= x1; x++ {
			for _, i := range o.grid.Cell(x, z) {
				s := &o.shapes[i]
				if y < s.low || y >= s.high {
					continue
				}
				if di, n := s.distance(p); di-radius < d {
					d, out = di-radius, n
				}
			}
		}
	}
	return d, out
}
