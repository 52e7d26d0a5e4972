package fbx

import "math"

// triangles cuts polygons into triangles.
type triangles struct {
	work int          // comparisons of corners that may still be made
	flat [][2]float64 // the corners of a polygon, seen from its front
	left []int        // corners that are not cut off
}

// maxWork is the comparisons for all polygons of a file; without it, polygons of very many corners would
// take very long.
const maxWork = 1 << 26

// cut calls use with the corners of each triangle of a polygon of n corners. at returns a corner's place.
// A polygon of any shape is cut ear by ear (Meisters 1975, "Polygons have ears"). Of the two ways to cut a
// convex quadrilateral, the shorter one is taken.
func (t *triangles) cut(n int, at func(i int) [3]float64, use func(a, b, c int)) {
	if n < 3 {
		return
	}
	if n == 3 {
		use(0, 1, 2)
		return
	}
	// The polygon is seen along the largest axis of its normal.
	normal := newell(n, at)
	k := 0
	for i := range normal {
		if math.Abs(normal[i]) > math.Abs(normal[k]) {
			k = i
		}
	}
	u, v := (k+1)%3, (k+2)%3
	if normal[k] < 0 {
		u, v = v, u
	}
	t.flat, t.left = t.flat[:0], t.left[:0]
	for i := range n {
		p := at(i)
		t.flat, t.left = append(t.flat, [2]float64{p[u], p[v]}), append(t.left, i)
	}
	if n == 4 {
		one := t.turn(0, 1, 2) > 0 && t.turn(0, 2, 3) > 0
		two := t.turn(0, 1, 3) > 0 && t.turn(1, 2, 3) > 0
		if two && (!one || apart2(at(1), at(3)) < apart2(at(0), at(2))) {
			use(0, 1, 3)
			use(1, 2, 3)
		} else {
			use(0, 1, 2)
			use(0, 2, 3)
		}
		return
	}
	for len(t.left) > 3 {
		ear := t.ear()
		if ear < 0 {
			break
		}
		m := len(t.left)
		use(t.left[(ear+m-1)%m], t.left[ear], t.left[(ear+1)%m])
		t.left = append(t.left[:ear], t.left[ear+1:]...)
	}
	for i := 2; i < len(t.left); i++ {
		use(t.left[0], t.left[i-1], t.left[i])
	}
}

// newell returns the normal of a polygon with corners at at, as long as twice its area.
func newell(n int, at func(i int) [3]float64) (normal [3]float64) {
	for i := range n {
		p, q := at(i), at((i+1)%n)
		for k := range normal {
			u, v := (k+1)%3, (k+2)%3
			normal[k] += (p[u] - q[u]) * (p[v] + q[v])
		}
	}
	return normal
}

// ear returns the place in left of a corner that can be cut off, or −1 if there is none, because the
// polygon crosses itself, or too much work was done.
func (t *triangles) ear() int {
	m := len(t.left)
	for i := range t.left {
		i = (i + 1) % m // a convex polygon becomes a fan around its first corner
		a, b, c := t.left[(i+m-1)%m], t.left[i], t.left[(i+1)%m]
		if t.work--; t.work < 0 {
			return -1
		}
		if t.turn(a, b, c) <= 0 {
			continue
		}
		free := true
		t.work -= m
		for _, p := range t.left {
			if p != a && p != b && p != c && t.turn(a, b, p) >= 0 && t.turn(b, c, p) >= 0 && t.turn(c, a, p) >= 0 &&
				t.flat[p] != t.flat[a] && t.flat[p] != t.flat[b] && t.flat[p] != t.flat[c] {
				free = false
				break
			}
		}
		if free {
			return i
		}
	}
	return -1
}

// turn is positive if three corners turn left.
func (t *triangles) turn(a, b, c int) float64 {
	p, q, r := t.flat[a], t.flat[b], t.flat[c]
	return (q[0]-p[0])*(r[1]-p[1]) - (q[1]-p[1])*(r[0]-p[0])
}

func apart2(p, q [3]float64) float64 {
	x, y, z := p[0]-q[0], p[1]-q[1], p[2]-q[2]
	return x*x + y*y + z*z
}
