package body

import (
	"fmt"
	"math"
	"sync"

	"mannequin/engine/m3"
)

// blob is a tapered capsule from a to b, scaled along one direction: the building block of a shape.
type blob struct {
	joint  int     // the joint that carries it
	a, b   m3.Vec3 // ends of the axis, m
	ra, rb float32 // radii at the ends, m
	flat   m3.Vec3 // unit direction of the scaling
	squash float32 // scale along flat; 1 is round
	blend  float32 // width of the blend with earlier blobs, m
	cut    m3.Vec3 // normal of a plane that cuts it; zero for none
	end    float32 // offset of that plane: largest p·cut in the blob, m
	carve  bool    // it is cut out of the earlier blobs instead of joined to them
}

func (k *blob) flatten(dir m3.Vec3, share float32) *blob {
	k.flat, k.squash = dir, share
	return k
}

// ending cuts the blob with a plane at p whose outward normal is dir.
func (k *blob) ending(p, dir m3.Vec3) *blob {
	k.cut, k.end = dir, p.Dot(dir)
	return k
}

// dist returns the approximate distance of p from the blob; negative inside, exact on the surface.
func (k *blob) dist(p m3.Vec3) float32 {
	ap, ab := p.Sub(k.a), k.b.Sub(k.a)
	if k.squash != 1 {
		ap = ap.Add(k.flat.Scale(ap.Dot(k.flat) * (1/k.squash - 1)))
		ab = ab.Add(k.flat.Scale(ab.Dot(k.flat) * (1/k.squash - 1)))
	}
	t := float32(0)
	if l2 := ab.Dot(ab); l2 > 1e-12 {
		t = m3.Clamp(ap.Dot(ab)/l2, 0, 1)
	}
	d := ap.Sub(ab.Scale(t)).Len() - m3.Lerp(k.ra, k.rb, t)
	if d < 0 && k.squash < 1 {
		// Inside, stretched space overstates the depth.
		d *= k.squash
	}
	if k.cut != (m3.Vec3{}) {
		d = max(d, p.Dot(k.cut)-k.end)
	}
	return d
}

// reach returns a sphere around the blob and its blending.
func (k *blob) reach() (m3.Vec3, float32) {
	r := max(k.ra, k.rb)*max(k.squash, 1) + k.blend
	return k.a.Lerp(k.b, 0.5), r + k.a.Dist(k.b)/2
}

// box returns a box outside which the blob is farther than margin.
func (k *blob) box(margin float32) (lo, hi m3.Vec3) {
	r := (max(k.ra, k.rb) + margin) * max(k.squash, 1)
	lo, hi = bounds([]m3.Vec3{k.a, k.b})
	return lo.Sub(m3.V(r, r, r)), hi.Add(m3.V(r, r, r))
}

// shape is a smooth union of blobs.
type shape []blob

// dist evaluates the union at p: a polynomial smooth minimum, its bulge limited to the blend width.
func (s shape) dist(p m3.Vec3) float32 {
	d := float32(math.MaxFloat32)
	for i := range s {
		if s[i].carve {
			d = -smin(-d, s[i].dist(p), s[i].blend)
		} else {
			d = smin(d, s[i].dist(p), s[i].blend)
		}
	}
	return d
}

func smin(a, b, k float32) float32 {
	h := max(k-m3.Abs(a-b), 0)
	if h == 0 {
		return min(a, b)
	}
	return min(a, b) - h*h/(4*k)
}

// gradient returns the direction in which dist grows, by central differences.
func (s shape) gradient(p m3.Vec3, h float32) m3.Vec3 {
	d := func(q m3.Vec3) float32 { return s.dist(p.Add(q)) - s.dist(p.Sub(q)) }
	return m3.V(d(m3.V(h, 0, 0)), d(m3.V(0, h, 0)), d(m3.V(0, 0, h))).Scale(1 / (2 * h))
}

// margin returns the distance from the surface beyond which no blob changes it.
func (s shape) margin() (m float32) {
	for i := range s {
		m = max(m, 2*s[i].blend)
	}
	return m
}

// near appends to dst the blobs nearer to p than margin.
func (s shape) near(dst shape, p m3.Vec3, margin float32) shape {
	for i := range s {
		c := s[i].a.Lerp(s[i].b, 0.5)
		r := (max(s[i].ra, s[i].rb)+margin)*max(s[i].squash, 1) + s[i].a.Dist(s[i].b)/2
		if p.Dist(c) <= r {
			dst = append(dst, s[i])
		}
	}
	return dst
}

// project moves p onto the surface by a few Newton steps of at most a cell, and returns the normal.
func (s shape) project(p m3.Vec3, cell float32) (m3.Vec3, m3.Vec3) {
	h := cell / 8
	for range 4 {
		g := s.gradient(p, h)
		g2 := g.Dot(g)
		if g2 < 1e-6 {
			break
		}
		step := g.Scale(-s.dist(p) / g2)
		if l := step.Len(); l > cell {
			step = step.Scale(cell / l)
		}
		p = p.Add(step)
	}
	// A wider difference than the step's smooths the creases between blobs.
	return p, s.gradient(p, cell/2).Normalize(m3.Up)
}

// maxLattice limits the lattice points: far above any character, and bounded memory for odd rigs.
const maxLattice = 4 << 20

// surface polygonises the zero level of the shape on a lattice of the given
// cell size with naive surface nets (Gibson 1998): one vertex per cell that the
// surface crosses, at the mean of the crossed edges; one quad per crossed edge.
func (s shape) surface(cell float32) ([]m3.Vec3, []uint32, error) {
	return s.surfaceFrom(float32(math.Inf(-1)), cell)
}

// surfaceFrom returns the part of the surface from x on, on a lattice that begins there. If x is
// −∞, it returns all.
func (s shape) surfaceFrom(x, cell float32) ([]m3.Vec3, []uint32, error) {
	if len(s) == 0 {
		return nil, nil, fmt.Errorf("body: nothing to make a surface of")
	}
	var ends []m3.Vec3
	for i := range s {
		if c, r := s[i].reach(); !s[i].carve {
			ends = append(ends, c.Sub(m3.V(r, r, r)), c.Add(m3.V(r, r, r)))
		}
	}
	lo, hi := bounds(ends)
	lo = lo.Sub(m3.V(2*cell, 2*cell, 2*cell))
	if !math.IsInf(float64(x), -1) {
		lo.X = x
	}
	size := hi.Sub(lo)
	n := [3]int{int(size.X/cell) + 3, int(size.Y/cell) + 3, int(size.Z/cell) + 3}
	if total := n[0] * n[1] * n[2]; total <= 0 || total > maxLattice {
		return nil, nil, fmt.Errorf("body: a character of %.1f×%.1f×%.1f m is too large for cells of %.3f m", size.X, size.Y, size.Z, cell)
	}
	at := func(x, y, z int) int { return (z*n[1]+y)*n[0] + x }
	point := func(x, y, z int) m3.Vec3 {
		return lo.Add(m3.V(float32(x), float32(y), float32(z)).Scale(cell))
	}
	val := s.sample(n, cell, point)

	var pos []m3.Vec3
	vert := make([]int32, len(val)) // 1 + vertex of the cell, 0 for none
	corner := func(i int) (int, int, int) { return i & 1, i >> 1 & 1, i >> 2 }
	for z := range n[2] - 1 {
		for y := range n[1] - 1 {
			for x := range n[0] - 1 {
				var v [8]float32
				inside := 0
				for i := range v {
					dx, dy, dz := corner(i)
					v[i] = val[at(x+dx, y+dy, z+dz)]
					if v[i] < 0 {
						inside++
					}
				}
				if inside == 0 || inside == 8 {
					continue
				}
				var sum m3.Vec3
				crossed := float32(0)
				for i := range v {
					for axis := range 3 {
						j := i | 1<<axis
						if j == i || (v[i] < 0) == (v[j] < 0) {
							continue
						}
						ix, iy, iz := corner(i)
						jx, jy, jz := corner(j)
						sum = sum.Add(point(x+ix, y+iy, z+iz).Lerp(point(x+jx, y+jy, z+jz), v[i]/(v[i]-v[j])))
						crossed++
					}
				}
				pos = append(pos, sum.Scale(1/crossed))
				vert[at(x, y, z)] = int32(len(pos))
			}
		}
	}
	return pos, quads(n, at, val, vert), nil
}

// quads joins the four cells around every lattice edge that crosses the
// surface, wound so that the outside is counter-clockwise.
func quads(n [3]int, at func(x, y, z int) int, val []float32, vert []int32) []uint32 {
	var index []uint32
	for z := 1; z < n[2]-1; z++ {
		for y := 1; y < n[1]-1; y++ {
			for x := 1; x < n[0]-1; x++ {
				in := val[at(x, y, z)] < 0
				c := [3]int{x, y, z}
				for axis := range 3 {
					e := c
					e[axis]++
					if in == (val[at(e[0], e[1], e[2])] < 0) {
						continue
					}
					var q [4]uint32
					for k := range 4 {
						f := c
						f[(axis+1)%3] -= k&1 ^ k>>1 // 0 1 1 0: round the edge
						f[(axis+2)%3] -= k >> 1     // 0 0 1 1
						q[k] = uint32(vert[at(f[0], f[1], f[2])] - 1)
					}
					if in {
						index = append(index, q[0], q[1], q[2], q[0], q[2], q[3])
					} else {
						index = append(index, q[0], q[2], q[1], q[0], q[3], q[2])
					}
				}
			}
		}
	}
	return index
}

// sample evaluates each lattice point, layers in parallel, without blobs far from a layer or row.
func (s shape) sample(n [3]int, cell float32, point func(x, y, z int) m3.Vec3) []float32 {
	val := make([]float32, n[0]*n[1]*n[2])
	margin := s.margin() + 2*cell
	thin := float32(1) // factor by which distances may be overstated
	for i := range s {
		thin = min(thin, s[i].squash)
	}
	var wg sync.WaitGroup
	for z := range n[2] {
		wg.Go(func() {
			zc := point(0, 0, z).Z
			var layer, near shape
			for i := range s {
				c, r := s[i].reach()
				if lo, hi := s[i].box(margin); m3.Abs(zc-c.Z) <= r+2*cell && lo.Z <= zc && zc <= hi.Z {
					layer = append(layer, s[i])
				}
			}
			for y := range n[1] {
				yc := point(0, y, 0).Y
				near = near[:0]
				for i := range layer {
					if lo, hi := layer[i].box(margin); lo.Y <= yc && yc <= hi.Y {
						near = append(near, layer[i])
					}
				}
				row := val[(z*n[1]+y)*n[0]:]
				for x := 0; x < n[0]; {
					d := near.dist(point(x, y, z))
					// Up to the distance of the surface only the sign matters.
					last := x + int(min(0.4*thin*m3.Abs(d)/cell, float32(n[0])))
					for ; x <= last && x < n[0]; x++ {
						row[x] = d
					}
				}
			}
		})
	}
	wg.Wait()
	return val
}
