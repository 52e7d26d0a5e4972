package control

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"mannequin/engine/m3"
)

// pathSamples is the number of samples per segment of a path (Zhang, Starke et al. 2018, sec. 9, as
// released).
const pathSamples = 50

// Limits on paths.
const (
	MaxPathPoints = 10000
	maxCoordinate = 1 << 15 // metres, as generator.Farthest
)

// Path is a Catmull-Rom curve through control points on the ground, open or closed, sampled and
// measured by arc length. It is immutable and safe to share.
type Path struct {
	closed bool
	pos    []m3.Vec3 // samples; a closed path ends with its first point again
	dir    []m3.Vec3 // unit tangents at the samples
	arc    []float32 // arc length from the start to each sample, m
}

// NewPath returns the curve through the points, without their heights. An open path needs two
// points, a closed one three. Neighbours, in a closed path also last and first, must not coincide.
func NewPath(points []m3.Vec3, closed bool) (*Path, error) {
	n, need := len(points), 2
	if closed {
		need = 3
	}
	if n < need || n > MaxPathPoints {
		return nil, fmt.Errorf("control: path has %d points, want %d to %d", n, need, MaxPathPoints)
	}
	segs := n - 1
	if closed {
		segs = n
	}
	for i, p := range points {
		if !p.Finite() || m3.Abs(p.X) > maxCoordinate || m3.Abs(p.Z) > maxCoordinate {
			return nil, fmt.Errorf("control: point %d of the path, %v, is not finite or beyond %d m: make the path around its own origin, and place it with Goal.PathOrigin", i+1, p, maxCoordinate)
		}
		if i < segs && p.Flat().Dist(points[(i+1)%n].Flat()) < 1e-3 {
			return nil, fmt.Errorf("control: points %d and %d of the path coincide", i+1, (i+1)%n+1)
		}
	}
	// Beyond the ends of an open path the curve continues straight.
	at := func(i int) m3.Vec3 {
		switch {
		case closed:
			return points[(i+n)%n].Flat()
		case i < 0:
			return points[0].Scale(2).Sub(points[1]).Flat()
		case i >= n:
			return points[n-1].Scale(2).Sub(points[n-2]).Flat()
		}
		return points[i].Flat()
	}
	total := segs*pathSamples + 1
	p := &Path{closed, make([]m3.Vec3, total), make([]m3.Vec3, total), make([]float32, total)}
	length := 0.0 // float64: thousands of short chords add up
	for k := range total {
		seg := min(k/pathSamples, segs-1)
		t := float32(k-seg*pathSamples) / pathSamples
		a, b, c, d := at(seg-1), at(seg), at(seg+1), at(seg+2)
		p.pos[k] = catmullRom(a, b, c, d, t)
		p.dir[k] = catmullRomSlope(a, b, c, d, t).Normalize(c.Sub(b).Normalize(m3.V(0, 0, 1)))
		if k > 0 {
			length += float64(p.pos[k].Dist(p.pos[k-1]))
			p.arc[k] = float32(length)
		}
	}
	return p, nil
}

// catmullRom returns the uniform Catmull-Rom curve between b (t = 0) and c (t = 1).
func catmullRom(a, b, c, d m3.Vec3, t float32) m3.Vec3 {
	m0, m1 := c.Sub(a).Scale(0.5), d.Sub(b).Scale(0.5)
	t2, t3 := t*t, t*t*t
	return b.Scale(2*t3 - 3*t2 + 1).Add(m0.Scale(t3 - 2*t2 + t)).Add(c.Scale(3*t2 - 2*t3)).Add(m1.Scale(t3 - t2))
}

func catmullRomSlope(a, b, c, d m3.Vec3, t float32) m3.Vec3 {
	m0, m1 := c.Sub(a).Scale(0.5), d.Sub(b).Scale(0.5)
	t2 := t * t
	return b.Sub(c).Scale(6*t2 - 6*t).Add(m0.Scale(3*t2 - 4*t + 1)).Add(m1.Scale(3*t2 - 2*t))
}

// Closed reports whether the path returns to its start.
func (p *Path) Closed() bool { return p.closed }

// Length returns the arc length, m; 0 for the zero Path.
func (p *Path) Length() float32 {
	if len(p.arc) == 0 {
		return 0
	}
	return p.arc[len(p.arc)-1]
}

// At returns the point and unit tangent at arc length s, m, which is wrapped (closed) or clamped. The
// zero Path is the origin, with the tangent +Z.
func (p *Path) At(s float32) (pos, dir m3.Vec3) {
	if len(p.arc) == 0 {
		return m3.Vec3{}, m3.V(0, 0, 1)
	}
	s = p.wrap(s)
	i := p.segment(s)
	t := (s - p.arc[i]) / max(p.arc[i+1]-p.arc[i], 1e-9)
	return p.pos[i].Lerp(p.pos[i+1], t), p.dir[i].Lerp(p.dir[i+1], t).Normalize(p.dir[i])
}

// Route is a path that is larger or smaller, about its own origin. Its methods are those of Path.
type Route struct {
	Path  *Path
	Scale float32 // 0 is 1
}

// Closed is Path.Closed.
func (r Route) Closed() bool { return r.path().Closed() }

// Length is Path.Length.
func (r Route) Length() float32 { return r.path().Length() * r.scale() }

// At is Path.At.
func (r Route) At(s float32) (pos, dir m3.Vec3) {
	k := r.scale()
	pos, dir = r.path().At(s / k)
	return pos.Scale(k), dir
}

// Nearest is Path.Nearest.
func (r Route) Nearest(q m3.Vec3) (s, dist float32) {
	k := r.scale()
	s, dist = r.path().Nearest(q.Scale(1 / k))
	return s * k, dist * k
}

// NearestFrom is Path.NearestFrom.
func (r Route) NearestFrom(q m3.Vec3, from, back, ahead float32) (s, dist float32) {
	k := r.scale()
	s, dist = r.path().NearestFrom(q.Scale(1/k), from/k, back/k, ahead/k)
	return s * k, dist * k
}

// path returns the zero Path for none.
func (r Route) path() *Path {
	if r.Path == nil {
		return &Path{}
	}
	return r.Path
}

func (r Route) scale() float32 {
	if r.Scale > 0 {
		return r.Scale
	}
	return 1
}

func (p *Path) wrap(s float32) float32 {
	l := p.Length()
	if !p.closed {
		return m3.Clamp(s, 0, l)
	}
	s = float32(math.Mod(float64(s), float64(l)))
	if s < 0 {
		s += l
	}
	return s
}

// Nearest returns the arc length of the point nearest to q on the ground, and its distance, m, which
// is +Inf for the zero Path.
func (p *Path) Nearest(q m3.Vec3) (s, dist float32) { return p.nearest(q, 0, len(p.arc)-1) }

// NearestFrom is Nearest on the stretch from back metres before to ahead metres after the arc
// length from. It keeps a follower on its branch if the path crosses itself or doubles back.
func (p *Path) NearestFrom(q m3.Vec3, from, back, ahead float32) (s, dist float32) {
	l := p.Length()
	if l == 0 || back+ahead >= l {
		return p.Nearest(q)
	}
	lo, hi := from-back, from+ahead
	if !p.closed {
		return p.nearest(q, p.segment(max(lo, 0)), p.segment(min(hi, l))+1)
	}
	lo, hi = p.wrap(lo), p.wrap(hi)
	if lo <= hi {
		return p.nearest(q, p.segment(lo), p.segment(hi)+1)
	}
	s, dist = p.nearest(q, p.segment(lo), len(p.arc)-1)
	if s2, d2 := p.nearest(q, 0, p.segment(hi)+1); d2 < dist {
		return s2, d2
	}
	return s, dist
}

// segment returns the index of the chord with the arc length s in [0, Length].
func (p *Path) segment(s float32) int {
	return min(sort.Search(len(p.arc)-1, func(i int) bool { return p.arc[i+1] > s }), len(p.arc)-2)
}

// nearest searches the chords from sample lo to sample hi.
func (p *Path) nearest(q m3.Vec3, lo, hi int) (s, dist float32) {
	q = q.Flat()
	best := float32(math.Inf(1))
	for i := lo; i < hi; i++ {
		a, ab := p.pos[i], p.pos[i+1].Sub(p.pos[i])
		t := m3.Clamp(q.Sub(a).Dot(ab)/max(ab.Dot(ab), 1e-12), 0, 1)
		off := q.Sub(a.Add(ab.Scale(t)))
		if d := off.Dot(off); d < best {
			best, s = d, p.arc[i]+t*(p.arc[i+1]-p.arc[i])
		}
	}
	return s, m3.Sqrt(best)
}

// Circle returns the circle of radius r metres around the origin, from +Z towards +X. It is an
// error where NewPath cannot take it.
func Circle(r float32) (*Path, error) {
	const n = 16 // keeps the curve within 0.1 mm of a 1.5 m circle
	return polar(n, func(int, float32) float32 { return r })
}

// polar returns the closed curve through n points around the origin, from +Z towards +X, at the
// distances that radius returns for a point and its angle.
func polar(n int, radius func(i int, angle float32) float32) (*Path, error) {
	pts := make([]m3.Vec3, n)
	for i := range pts {
		a := 2 * math.Pi * float32(i) / float32(n)
		r := radius(i, a)
		pts[i] = m3.V(r*m3.Sin(a), 0, r*m3.Cos(a))
	}
	return NewPath(pts, true)
}

// Square returns the square with corners at (±h, ±h) metres, with control points every h/2 so that
// the sides stay straight. It is an error where NewPath cannot take it.
func Square(h float32) (*Path, error) {
	corners := [4]m3.Vec3{{X: -h, Z: h}, {X: h, Z: h}, {X: h, Z: -h}, {X: -h, Z: -h}}
	var pts []m3.Vec3
	for i, c := range corners {
		for k := range 4 {
			pts = append(pts, c.Lerp(corners[(i+1)%4], float32(k)/4))
		}
	}
	return NewPath(pts, true)
}

// Star returns a five-pointed star with tips r metres from the origin, the first at +Z.
func Star(r float32) (*Path, error) {
	// The edges of a pentagram cross at this share of its radius.
	inner := r * (3 - m3.Sqrt(5)) / 2
	return polar(10, func(i int, _ float32) float32 { return [2]float32{r, inner}[i%2] })
}

// Meander returns a closed course of 19 m around the origin that bends both ways without repeating,
// with radii from 0.9 m up to straight.
func Meander() *Path {
	const n = 60 // points about 30 cm apart
	p, err := polar(n, func(_ int, a float32) float32 {
		return 2.5 + 0.75*m3.Sin(2*a) + 0.55*m3.Cos(3*a) + 0.2*m3.Sin(5*a)
	})
	if err != nil {
		panic(err) // these points make a path
	}
	return p
}

// ErrUnknownPath is the error of Builtin for an unknown name.
var ErrUnknownPath = errors.New("control: no built-in path of that name: want circle, square, star or meander")

// Builtin returns the path called circle (radius 1.5 m), square (corners at ±2 m), star (five
// points, radius 2.5 m) or meander (see Meander), all around the origin.
func Builtin(name string) (*Path, error) {
	switch name {
	case "circle":
		return Circle(1.5)
	case "square":
		return Square(2)
	case "star":
		return Star(2.5)
	case "meander":
		return Meander(), nil
	}
	return nil, ErrUnknownPath
}
