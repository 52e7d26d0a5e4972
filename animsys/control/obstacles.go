package control

import (
	"fmt"
	"math"

	"mannequin/engine/m3"
)

// Obstacle is something on the ground that agents cannot walk through: a rounded rectangle, seen from
// above. [Pillar], [Box] and [Wall] make the usual ones.
type Obstacle struct {
	At           m3.Vec3 // its middle, m; the height does not matter
	Yaw          float32 // heading of its depth, rad
	Width, Depth float32 // at right angles to the heading and along it, m, without the rounding
	Round        float32 // radius by which it is larger on all sides, m
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
	return nil
}

// Obstacles is a set of obstacles in world space: the walls of animsys.Options, if a game has no
// physics of its own to ask. The zero Obstacles is empty. Queries may run on several goroutines at
// once, but not during Set.
type Obstacles struct {
	shapes []shape
	first  [cells*cells + 1]int32 // where each cell's shapes begin in in
	in     []int32                // by cell
}

// shape is an Obstacle with the sine and cosine of its heading.
type shape struct {
	at, ahead  flat
	half       flat // half of its width and depth
	round      float32
	from, to   int32 // columns and rows of cells that it touches
	fromZ, toZ int32
}

// The cells of the grid, whose pattern repeats, so that the ground has no border.
const (
	cells    = 64
	cellSize = 4 // m
)

func cellOf(v float32) int32 {
	const most = 1 << 30
	return int32(math.Floor(float64(m3.Clamp(v/cellSize, -most, most))))
}

// Set replaces all obstacles, between ticks. It allocates memory only to make room for more. An error
// names the first obstacle that is not valid, and then nothing has changed.
func (o *Obstacles) Set(all ...Obstacle) error {
	for i := range all {
		if err := all[i].Validate(); err != nil {
			return fmt.Errorf("obstacle %d: %w", i, err)
		}
	}
	o.shapes, o.in = o.shapes[:0], o.in[:0]
	clear(o.first[:])
	for i := range all {
		s := all[i].shape()
		o.shapes = append(o.shapes, s)
		s.visit(func(cell int) { o.first[cell]++ })
	}
	var sum int32
	for c, n := range o.first {
		sum += n
		o.first[c] = sum
	}
	for int32(len(o.in)) < sum {
		o.in = append(o.in, 0)
	}
	for i := len(o.shapes) - 1; i >= 0; i-- { // each cell's end moves down to its beginning
		o.shapes[i].visit(func(cell int) {
			o.first[cell]--
			o.in[o.first[cell]] = int32(i)
		})
	}
	return nil
}

func (o *Obstacle) shape() shape {
	sin, cos := math.Sincos(float64(o.Yaw))
	s := shape{at: flatOf(o.At), ahead: flat{float32(sin), float32(cos)}, half: flat{o.Width / 2, o.Depth / 2}, round: o.Round}
	x := m3.Abs(s.ahead.z)*s.half.x + m3.Abs(s.ahead.x)*s.half.z + s.round
	z := m3.Abs(s.ahead.x)*s.half.x + m3.Abs(s.ahead.z)*s.half.z + s.round
	s.from, s.to = cellOf(s.at.x-x), cellOf(s.at.x+x)
	s.fromZ, s.toZ = cellOf(s.at.z-z), cellOf(s.at.z+z)
	return s
}

// visit calls f once for each cell that s touches.
func (s *shape) visit(f func(cell int)) {
	for z := s.fromZ; z <= min(s.toZ, s.fromZ+cells-1); z++ {
		for x := s.from; x <= min(s.to, s.from+cells-1); x++ {
			f(int(z&(cells-1))*cells + int(x&(cells-1)))
		}
	}
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

// Slide returns where a circle of radius m comes to that is at from and moves toward to: it stops at
// obstacles and slides along them. A circle that is in an obstacle is pushed out. Heights pass
// unchanged, and so does what is not finite.
func (o *Obstacles) Slide(from, to m3.Vec3, radius float32) m3.Vec3 {
	if len(o.shapes) == 0 || !from.Finite() || !to.Finite() || !(radius >= 0 && radius <= MaxObstacle) {
		return to
	}
	p, left := flatOf(from), flatOf(to).sub(flatOf(from))
	// Steps are so short that no step leads through an obstacle.
	const mostSteps = 64
	steps := 1 + int(min(m3.Sqrt(left.dot(left))/max(radius, 0.05), mostSteps-1))
	for range steps {
		p = o.push(p.add(left.scale(1/float32(steps))), p, radius)
	}
	return m3.V(p.x, to.Y, p.z)
}

// push returns where a circle at p comes to that is pushed out of the obstacles, deepest first; before,
// if that does not end, as in a gap that is too narrow.
func (o *Obstacles) push(p, before flat, radius float32) flat {
	const tries, enough = 8, 1e-4 // m
	for range tries {
		d, out := o.nearest(p, radius)
		if d >= -enough {
			return p
		}
		p = p.sub(out.scale(d))
	}
	return before
}

// nearest returns how far a circle at p is from the nearest obstacle in the cells that it touches, m,
// below 0 inside of one, and the unit direction away from it.
func (o *Obstacles) nearest(p flat, radius float32) (d float32, out flat) {
	d = cellSize
	x0, x1 := cellOf(p.x-radius), cellOf(p.x+radius)
	z0, z1 := cellOf(p.z-radius), cellOf(p.z+radius)
	for z := z0; z <= min(z1, z0+cells-1); z++ {
		for x := x0; x <= min(x1, x0+cells-1); x++ {
			c := int(z&(cells-1))*cells + int(x&(cells-1))
			for _, i := range o.in[o.first[c]:o.first[c+1]] {
				if di, n := o.shapes[i].distance(p); di-radius < d {
					d, out = di-radius, n
				}
			}
		}
	}
	return d, out
}
