package body

import (
	"container/heap"
	"math"
	"slices"

	"mannequin/engine/m3"
)

// decimate reduces a mesh to about target triangles. It collapses the edge that moves the surface
// least, measured by quadrics (Garland and Heckbert 1997); borders of open meshes count as surface.
// It stops early if each remaining collapse would flip a triangle or pinch the surface. detail, if
// not nil, returns the importance of a place. The inputs are not changed; unused vertices are
// dropped. from is the index in pos of each vertex, or of the nearest one that it replaces.
func decimate(pos []m3.Vec3, index []uint32, target int, detail func(p m3.Vec3) float32) (thin []m3.Vec3, triangles []uint32, from []int32) {
	if detail == nil {
		detail = func(m3.Vec3) float32 { return 1 }
	}
	d := newDecimator(pos, index, detail)
	for d.live > target && d.queue.Len() > 0 {
		e := heap.Pop(&d.queue).(edge)
		if d.stamp[e.a] == e.sa && d.stamp[e.b] == e.sb {
			d.collapse(e)
		}
	}
	return d.result()
}

type decimator struct {
	start []m3.Vec3 // initial positions of vertices
	from  []int32   // index in start that represents a vertex
	pos   []m3.Vec3
	tri   [][3]int32 // first entry −1: removed
	ring  [][]int32  // triangles at each vertex, in any order
	q     []quadric
	value []float32 // of each vertex, from detail
	stamp []int32   // number of changes of a vertex; −1: removed
	queue edges
	live  int // remaining triangles
}

func newDecimator(pos []m3.Vec3, index []uint32, detail func(p m3.Vec3) float32) *decimator {
	n := len(pos)
	d := &decimator{start: pos, from: make([]int32, n), pos: slices.Clone(pos), ring: make([][]int32, n), q: make([]quadric, n),
		value: make([]float32, n), stamp: make([]int32, n)}
	for i, p := range pos {
		d.value[i] = detail(p)
		d.from[i] = int32(i)
	}
	for i := 0; i+2 < len(index); i += 3 {
		t := [3]int32{int32(index[i]), int32(index[i+1]), int32(index[i+2])}
		k := int32(len(d.tri))
		d.tri = append(d.tri, t)
		area := d.normal(t)
		plane := area.Normalize(m3.Vec3{})
		q := planeQuadric(plane, -plane.Dot(pos[t[0]]), float64(d.value[t[0]]*area.Len())/2)
		for _, v := range t {
			d.ring[v] = append(d.ring[v], k)
			d.q[v].add(&q)
		}
	}
	d.live = len(d.tri)
	borders := d.addBorders()
	for _, t := range d.tri {
		for k := range 3 {
			// Inner edges occur twice, once in each direction.
			if a, b := t[k], t[(k+1)%3]; a < b {
				d.push(a, b)
			}
		}
	}
	for _, e := range borders {
		if a, b := e[1], e[0]; a < b {
			d.push(a, b)
		}
	}
	heap.Init(&d.queue)
	return d
}

// addBorders adds a plane along each border edge of an open mesh, perpendicular to its triangle, so
// that moving the border has a cost. It returns these edges.
func (d *decimator) addBorders() (borders [][2]int32) {
	met := make(map[[2]int32]bool, 3*len(d.tri))
	for _, t := range d.tri {
		for k := range 3 {
			met[[2]int32{t[k], t[(k+1)%3]}] = true
		}
	}
	for _, t := range d.tri {
		for k := range 3 {
			a, b := t[k], t[(k+1)%3]
			if met[[2]int32{b, a}] {
				continue
			}
			along := d.pos[b].Sub(d.pos[a])
			plane := along.Cross(d.normal(t)).Normalize(m3.Vec3{})
			q := planeQuadric(plane, -plane.Dot(d.pos[a]), float64(along.Dot(along)))
			d.q[a].add(&q)
			d.q[b].add(&q)
			borders = append(borders, [2]int32{a, b})
		}
	}
	return borders
}

// normal returns the triangle's normal, as long as twice its area.
func (d *decimator) normal(t [3]int32) m3.Vec3 {
	a := d.pos[t[0]]
	return d.pos[t[1]].Sub(a).Cross(d.pos[t[2]].Sub(a))
}

// push prices the collapse of ab and appends it to the queue.
func (d *decimator) push(a, b int32) {
	q := d.q[a]
	q.add(&d.q[b])
	e := edge{a: a, b: b, sa: d.stamp[a], sb: d.stamp[b]}
	mid := d.pos[a].Lerp(d.pos[b], 0.5)
	e.cost = math.Inf(1)
	try := func(p m3.Vec3) {
		if c := q.at(p); c < e.cost {
			e.cost, e.to = c, p
		}
	}
	if p, ok := q.best(); ok && p.Dist(mid) < 2*d.pos[a].Dist(d.pos[b]) {
		try(p)
	} else {
		try(mid)
		try(d.pos[a])
		try(d.pos[b])
	}
	// A share of the edge's length keeps flat regions from becoming slivers.
	l := float64(d.pos[a].Dist(d.pos[b]))
	e.cost = max(e.cost, 0) + 1e-3*l*l*l*l*float64(max(d.value[a], d.value[b]))
	d.queue = append(d.queue, e)
}

// collapse moves a to the edge's target and removes b, unless a triangle would flip or parts join.
func (d *decimator) collapse(e edge) {
	shared, sides := 0, 0 // neighbours of both; triangles at the edge, one at a border
	for _, v := range d.neighbours(e.a) {
		if slices.Contains(d.neighbours(e.b), v) {
			shared++
		}
	}
	for _, k := range d.ring[e.a] {
		if t := d.tri[k]; t[0] >= 0 && slices.Contains(t[:], e.b) {
			sides++
		}
	}
	if shared != sides || sides == 0 || sides > 2 || d.flips(e.a, e.b, e.to) || d.flips(e.b, e.a, e.to) {
		return
	}
	d.pos[e.a] = e.to
	if d.start[d.from[e.b]].Dist(e.to) < d.start[d.from[e.a]].Dist(e.to) {
		d.from[e.a] = d.from[e.b]
	}
	d.q[e.a].add(&d.q[e.b])
	d.stamp[e.b] = -1
	d.stamp[e.a]++
	for _, k := range d.ring[e.b] {
		t := &d.tri[k]
		if t[0] < 0 {
			continue
		}
		if slices.Contains(t[:], e.a) {
			t[0] = -1
			d.live--
			continue
		}
		t[slices.Index(t[:], e.b)] = e.a
		d.ring[e.a] = append(d.ring[e.a], k)
	}
	d.ring[e.a] = slices.DeleteFunc(d.ring[e.a], func(k int32) bool { return d.tri[k][0] < 0 })
	for _, v := range d.neighbours(e.a) {
		n := len(d.queue)
		d.push(min(e.a, v), max(e.a, v))
		heap.Fix(&d.queue, n)
	}
}

// neighbours returns the vertices that share an edge with v.
func (d *decimator) neighbours(v int32) []int32 {
	var out []int32
	for _, k := range d.ring[v] {
		t := d.tri[k]
		if t[0] < 0 {
			continue
		}
		for _, u := range t {
			if u != v && !slices.Contains(out, u) {
				out = append(out, u)
			}
		}
	}
	return out
}

// flips reports whether moving v to p would tilt one of its triangles by more than about 70°,
// except those that vanish with the edge to gone.
func (d *decimator) flips(v, gone int32, p m3.Vec3) bool {
	for _, k := range d.ring[v] {
		t := d.tri[k]
		if t[0] < 0 || slices.Contains(t[:], gone) {
			continue
		}
		before := d.normal(t)
		old := d.pos[v]
		d.pos[v] = p
		after := d.normal(t)
		d.pos[v] = old
		if before.Dot(after) < 0.35*before.Len()*after.Len() {
			return true
		}
	}
	return false
}

func (d *decimator) result() (pos []m3.Vec3, index []uint32, from []int32) {
	number := make([]int32, len(d.pos))
	for _, t := range d.tri {
		if t[0] < 0 {
			continue
		}
		for _, v := range t {
			if number[v] == 0 {
				pos, from = append(pos, d.pos[v]), append(from, d.from[v])
				number[v] = int32(len(pos))
			}
			index = append(index, uint32(number[v]-1))
		}
	}
	return pos, index, from
}

// edge is a collapse whose cost was computed when its ends had the stamps sa and sb.
type edge struct {
	cost         float64
	a, b, sa, sb int32
	to           m3.Vec3
}

// edges is a heap, cheapest first. Ties are ordered by vertex, so its history does not matter.
type edges []edge

func (h edges) Len() int      { return len(h) }
func (h edges) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h edges) Less(i, j int) bool {
	a, b := &h[i], &h[j]
	return a.cost < b.cost || a.cost == b.cost && (a.a < b.a || a.a == b.a && a.b < b.b)
}
func (h *edges) Push(x any) { *h = append(*h, x.(edge)) }
func (h *edges) Pop() any {
	old := *h
	e := old[len(old)-1]
	*h = old[:len(old)-1]
	return e
}

// quadric is the matrix of a sum of squared plane distances: xx xy xz xw yy yz yw zz zw ww.
type quadric [10]float64

func planeQuadric(n m3.Vec3, d float32, weight float64) quadric {
	x, y, z, w := float64(n.X), float64(n.Y), float64(n.Z), float64(d)
	q := quadric{x * x, x * y, x * z, x * w, y * y, y * z, y * w, z * z, z * w, w * w}
	for i := range q {
		q[i] *= weight
	}
	return q
}

func (q *quadric) add(o *quadric) {
	for i := range q {
		q[i] += o[i]
	}
}

func (q *quadric) at(p m3.Vec3) float64 {
	x, y, z := float64(p.X), float64(p.Y), float64(p.Z)
	return q[0]*x*x + q[4]*y*y + q[7]*z*z + q[9] +
		2*(q[1]*x*y+q[2]*x*z+q[5]*y*z+q[3]*x+q[6]*y+q[8]*z)
}

// best returns the point of least error, by Cramer's rule, if it is well defined.
func (q *quadric) best() (m3.Vec3, bool) {
	a, b, c, e, f, i := q[0], q[1], q[2], q[4], q[5], q[7]
	c0, c1, c2 := e*i-f*f, c*f-b*i, b*f-c*e
	det := a*c0 + b*c1 + c*c2
	trace := a + e + i
	if det <= 1e-4*trace*trace*trace {
		return m3.Vec3{}, false
	}
	r, s, t := -q[3], -q[6], -q[8]
	x := (r*c0 + s*c1 + t*c2) / det
	y := (r*c1 + s*(a*i-c*c) + t*(b*c-a*f)) / det
	z := (r*c2 + s*(b*c-a*f) + t*(a*e-b*b)) / det
	return m3.V(float32(x), float32(y), float32(z)), true
}
