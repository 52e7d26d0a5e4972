package mar

import (
	"cmp"
	"math"
	"slices"

	"mannequin/engine/m3"
)

// lanes is the number of interleaved windows: that many distances are computed at a time.
const lanes = 16

// index finds the windows that are nearest to a query, exactly: it skips only windows that are
// farther by the triangle inequality.
//
// The windows of a class are halved by which of two distant ones they are nearer to, and again,
// until sixteen or fewer are left: a leaf. A leaf has a middle, one of its windows, and a radius,
// the greatest distance of its windows from there.
type index struct {
	metric  *metric
	cols    int
	classes []class
	leaves  []leaf
	windows []float32 // (leaves, cols, lanes) coordinates
	middles []float32 // (blocks, near, lanes) first part of the coordinates of the leaves' middles; each class begins a block
	near    int       // columns of middles
}

// class is a part of the index that is searched by itself.
type class struct {
	leaf0, leaf1 int32
	block        int32 // of its first middles
	windows      int32
}

type leaf struct {
	window [lanes]int32 // −1 means none
	radius float32
}

// newIndex returns the index of windows with the coordinates rows, (windows, cols). of is the class
// of each, in 0…classes−1, or −1 to leave it out.
func newIndex(m *metric, rows []float32, of []int32, classes int) *index {
	x := &index{metric: m, cols: m.columns(), near: m.parts[0].columns(), classes: make([]class, classes)}
	members := make([][]int32, classes)
	for w, c := range of {
		if c >= 0 {
			members[c] = append(members[c], int32(w))
		}
	}
	b := &builder{index: x, rows: rows, turned: make([]float32, x.cols), d: make([]float32, len(of)), to: make([]float32, len(of))}
	for c, all := range members {
		cl := &x.classes[c]
		cl.leaf0, cl.windows = int32(len(x.leaves)), int32(len(all))
		if len(all) > 0 {
			b.split(all)
		}
		cl.leaf1 = int32(len(x.leaves))
	}
	b.pack()
	return x
}

// builder makes an index.
type builder struct {
	*index
	rows   []float32
	turned []float32
	d, to  []float32 // per window
	mids   []int32   // per leaf: the window in its middle
}

func (b *builder) row(w int32) []float32 { return b.rows[int(w)*b.cols:][:b.cols] }

// measure writes the distances from window a to all of ws into d, by window, and returns the
// farthest.
func (b *builder) measure(d []float32, a int32, ws []int32) (farthest int32) {
	q := b.row(a)
	b.metric.turned(b.turned, q)
	most := float32(-1)
	for _, w := range ws {
		if d[w] = b.metric.distance(q, b.turned, b.row(w)); d[w] > most {
			most, farthest = d[w], w
		}
	}
	return farthest
}

func (b *builder) split(ws []int32) {
	if len(ws) <= lanes {
		b.leaf(ws)
		return
	}
	one := b.measure(b.d, ws[0], ws)
	two := b.measure(b.d, one, ws)
	b.measure(b.to, two, ws)
	slices.SortFunc(ws, func(i, j int32) int {
		return cmp.Or(cmp.Compare(b.d[i]-b.to[i], b.d[j]-b.to[j]), cmp.Compare(i, j))
	})
	half := (len(ws)/2 + lanes - 1) / lanes * lanes // full leaves but for the last
	b.split(ws[:half])
	b.split(ws[half:])
}

func (b *builder) leaf(ws []int32) {
	slices.Sort(ws)
	l, best := leaf{radius: inf}, int32(0)
	for _, w := range ws {
		if r := b.d[b.measure(b.d, w, ws)]; r < l.radius {
			l.radius, best = r, w
		}
	}
	for i := range l.window {
		l.window[i] = -1
		if i < len(ws) {
			l.window[i] = ws[i]
		}
	}
	b.leaves, b.mids = append(b.leaves, l), append(b.mids, best)
}

// pack interleaves the windows. Lanes without a window hold copies.
func (b *builder) pack() {
	side := func(dst []float32, w int32, lane int) {
		row := b.row(w)
		for c := range len(dst) / lanes {
			dst[c*lanes+lane] = row[c]
		}
	}
	size := b.cols * lanes
	b.windows = make([]float32, len(b.leaves)*size)
	for i, l := range b.leaves {
		for lane, w := range l.window {
			if w < 0 {
				w = l.window[0]
			}
			side(b.windows[i*size:][:size], w, lane)
		}
	}
	size = b.near * lanes
	blocks := 0
	for i := range b.classes {
		c := &b.classes[i]
		c.block = int32(blocks)
		blocks += (int(c.leaf1-c.leaf0) + lanes - 1) / lanes
	}
	b.middles = make([]float32, blocks*size)
	for _, c := range b.classes {
		for i := range (c.leaf1 - c.leaf0 + lanes - 1) / lanes * lanes {
			side(b.middles[int(c.block+i/lanes)*size:][:size], b.mids[min(c.leaf0+i, c.leaf1-1)], int(i%lanes))
		}
	}
}

// slack bounds the rounding error of distances, m.
const slack = 2e-4

// neighbour is a window and its distance from a query.
type neighbour struct {
	window int32
	d      float32 // m
}

func (n neighbour) before(o neighbour) bool {
	return n.d < o.d || n.d == o.d && n.window < o.window
}

// search is the workspace of queries, one per goroutine.
type search struct {
	q, turned []float32   // coordinates
	best      []neighbour // found, nearest first
	order     []bound     // leaves, a heap
}

// bound is a leaf and a lower bound of the distances of its windows.
type bound struct {
	low  float32
	leaf int32
}

// newSearch returns a workspace for k neighbours.
func (x *index) newSearch(k int) *search {
	most := 0
	for _, c := range x.classes {
		most = max(most, int(c.leaf1-c.leaf0))
	}
	return &search{q: make([]float32, x.cols), turned: make([]float32, x.cols), order: make([]bound, 0, most), best: make([]neighbour, 0, k)}
}

// distanceBounds are bounds of the distances from a query to the k nearest windows of a class. When
// the query moves by d, low falls and high grows by at most d, by the triangle inequality of
// Euclidean norms.
type distanceBounds struct {
	low  float32 // of the root of their mean square: D of eq. 4 is at least low²
	high float32 // of the k-th distance
}

// unknown are the bounds before the first query.
var unknown = distanceBounds{0, inf}

func (a *distanceBounds) move(d float32) {
	a.low -= d
	a.high += d
}

// nearest writes the k windows of a class that are nearest to the query to s.best. Equally near
// windows come in the order of the data. If the root of their mean square is limit or more, it may
// find none. It updates the class's bounds.
func (x *index) nearest(s *search, class, k int, limit float32, known *distanceBounds) {
	c := &x.classes[class]
	s.best, s.order = s.best[:0], s.order[:0]
	size := x.cols * lanes
	var d [lanes]float32
	near := inf
	for i := c.leaf0; i < c.leaf1; i += lanes {
		x.metric.bounds(&d, s.q, s.turned, x.middles[int(c.block+(i-c.leaf0)/lanes)*x.near*lanes:][:x.near*lanes])
		for l := range min(lanes, c.leaf1-i) {
			low := d[l] - x.leaves[i+l].radius - slack
			near = min(near, low)
			if low <= known.high {
				s.order = append(s.order, bound{low, i + l})
			}
		}
	}
	n := min(k, int(c.windows))
	known.low = max(known.low, near)
	if known.low >= limit {
		return
	}
	heapify(s.order)
	for len(s.order) > 0 {
		b := s.order[0]
		if len(s.best) == k && b.low > s.best[k-1].d {
			break
		}
		if low := s.atLeast(n, b.low); low >= limit {
			known.low, s.best = max(known.low, low), s.best[:0]
			return
		}
		s.order = pop(s.order)
		far := inf
		if len(s.best) == k {
			far = s.best[k-1].d + slack
		}
		if !x.metric.distances(&d, s.q, s.turned, x.windows[int(b.leaf)*size:][:size], far) {
			continue
		}
		for l, w := range x.leaves[b.leaf].window {
			if w >= 0 {
				s.offer(neighbour{w, d[l]}, k)
			}
		}
	}
	known.low = s.atLeast(n, inf) - slack
	if len(s.best) == k {
		known.high = s.best[k-1].d + slack
	}
}

// atLeast returns a lower bound of the root mean square of the n least distances, if all windows
// not found yet are at least low away.
func (s *search) atLeast(n int, low float32) float32 {
	low = max(low, 0)
	var sum float32
	for i := range n {
		if i == len(s.best) || s.best[i].d >= low {
			sum += float32(n-i) * low * low
			break
		}
		sum += s.best[i].d * s.best[i].d
	}
	return m3.Sqrt(sum / float32(n))
}

// offer inserts n if it is among the k nearest.
func (s *search) offer(n neighbour, k int) {
	switch {
	case len(s.best) < k:
		s.best = append(s.best, n)
	case n.before(s.best[k-1]):
		s.best[k-1] = n
	default:
		return
	}
	for i := len(s.best) - 1; i > 0 && s.best[i].before(s.best[i-1]); i-- {
		s.best[i], s.best[i-1] = s.best[i-1], s.best[i]
	}
}

// heapify makes h a heap with the least bound first.
func heapify(h []bound) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		sink(h, i)
	}
}

// pop removes the first of a heap.
func pop(h []bound) []bound {
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	sink(h, 0)
	return h
}

func sink(h []bound, i int) {
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && h[c+1].low < h[c].low {
			c++
		}
		if h[i].low <= h[c].low {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

var inf = float32(math.Inf(1))
