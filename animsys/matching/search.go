package matching

import (
	"cmp"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/netruntime/vec"
)

// index is a tree over the frames that a search can find: a node has up to 16 children, a leaf up to 16 frames. A
// node bounds the features below each child by a box. A child is left out if its box is farther from the query than
// the best frame so far, so the result is that of a comparison with all frames. That is exact: box and frame are
// compared by the same sums, and rounding keeps their order.
type index struct {
	cols  int
	nodes []node
	boxes []float32 // (nodes, 2, cols, 16) least and greatest features below each child
	leafs []leaf
	rows  []float32 // (leafs, cols, 16) the features of their frames
}

type node struct {
	children int
	child    [lanes]int32 // a node, or −1−leaf
	any, all [lanes]Tags  // of the frames below
}

type leaf struct {
	frames int
	frame  [lanes]int32
	tags   [lanes]Tags
}

// lanes is the number of boxes or frames that are compared at once.
const lanes = 16

// build makes the index.
func (d *Database) build() {
	d.index = index{cols: d.Columns()}
	var all []int32
	acts, scraps := d.actTags(), d.scraps()
	var lasting Tags // of actions that go on somewhere
	d.stretches(func(c *span, first, end int32) {
		if end-first >= lasts {
			lasting |= d.tags[first] & acts
		}
	})
	d.stretches(func(c *span, first, end int32) {
		if of := d.tags[first] & acts; !c.once && end-first < brief && of != 0 && of&^lasting == 0 {
			return
		}
		last := c.findable()
		if end < c.end { // what comes after is another action
			last = min(last, end-min(ending, (end-first)/2))
		}
		for f := first; f < last; f++ {
			if !scraps[f] {
				all = append(all, f)
			}
		}
	})
	if len(all) > 0 {
		features := make([]float32, 0, len(d.features))
		for f := range d.moves {
			features = d.AppendFeatures(features, f)
		}
		d.index.node(d, &table{d.Columns(), features}, all)
	}
}

// table is the features of all frames as float32, while an index is made.
type table struct {
	cols int
	v    []float32
}

func (t *table) row(frame int32) []float32 { return t.v[int(frame)*t.cols:][:t.cols] }

// A goal holds an action: stretches of less than brief frames are not found if others of the same action have lasts and more.
const brief, lasts = TickRate, 2 * TickRate

// stretches visits the parts of clips whose frames show the same action.
func (d *Database) stretches(visit func(c *span, first, end int32)) {
	acts := d.actTags()
	for i := range d.clips {
		c := &d.clips[i]
		for first := c.first; first < c.end; {
			end := first + 1
			for end < c.end && (c.once || (d.tags[end]^d.tags[first])&acts == 0) {
				end++
			}
			visit(c, first, end)
			first = end
		}
	}
}

// scraps says which frames belong to moments of less than brief in which recordings go backward or aside, where loops go there and
// recordings hardly ever do. A body that is asked to go there would jump from one such moment to the next for ever.
func (d *Database) scraps() []bool {
	const (
		window = TickRate / 4  // ticks on either side over which a way is measured
		goes   = 0.1           // m/s
		angle  = 0.7           // cosine of the largest angle between the facing and a way ahead
		enough = 10 * TickRate // of a way in recordings, mirrored ones too
	)
	const (
		elsewhere = iota
		back
		left
		right
		ways
	)
	way := func(first, end int32) int8 {
		var at feature.Place
		for f := first; f < end; f++ {
			at = d.moves[f].after(at)
		}
		v := m3.YawQuat(-at.Yaw / 2).Rotate(at.Pos).Scale(TickRate / float32(end-first))
		switch speed := v.Len(); {
		case speed < goes || v.Z > angle*speed:
			return elsewhere
		case v.Z < -angle*speed:
			return back
		case v.X > 0:
			return left
		}
		return right
	}
	acts := d.actTags()
	of := make([]int8, d.Frames())
	var loops, recorded [ways]int
	for i := range d.clips {
		c := &d.clips[i]
		if c.loop {
			loops[way(c.first, c.end)]++
			continue
		}
		for f := c.first + window; f+window < c.end && !c.once; f++ {
			if d.tags[f]&acts == 0 {
				of[f] = way(f-window, f+window)
			}
		}
	}
	moments := func(visit func(way int8, first, end int)) {
		for first := 0; first < len(of); {
			end := first + 1
			for end < len(of) && of[end] == of[first] {
				end++
			}
			visit(of[first], first, end)
			first = end
		}
	}
	moments(func(way int8, first, end int) {
		if end-first >= brief {
			recorded[way] += end - first
		}
	})
	out := make([]bool, d.Frames())
	moments(func(way int8, first, end int) {
		if way != elsewhere && end-first < brief && loops[way] > 0 && recorded[way] < enough {
			for f := first; f < end; f++ {
				out[f] = true
			}
		}
	})
	return out
}

// node makes a node of frames and what is below it, and returns its number.
func (x *index) node(d *Database, t *table, frames []int32) int32 {
	each := lanes // frames of a child
	for each*lanes < len(frames) {
		each *= lanes
	}
	at := len(x.nodes)
	n := node{children: (len(frames) + each - 1) / each}
	x.nodes = append(x.nodes, n)
	x.boxes = append(x.boxes, slices.Repeat([]float32{float32(math.Inf(1))}, x.cols*lanes)...)
	x.boxes = append(x.boxes, slices.Repeat([]float32{float32(math.Inf(-1))}, x.cols*lanes)...)
	for i, part := range t.parts(nil, frames, n.children) {
		least, most := x.box(at)
		n.all[i] = math.MaxUint64
		for _, f := range part {
			for c, v := range t.row(f) {
				l, m := &least[c*lanes+i], &most[c*lanes+i]
				*l, *m = min(*l, v), max(*m, v)
			}
			n.any[i] |= d.tags[f]
			n.all[i] &= d.tags[f]
		}
		if each == lanes {
			n.child[i] = x.leaf(d, t, part)
		} else {
			n.child[i] = x.node(d, t, part)
		}
	}
	x.nodes[at] = n
	return int32(at)
}

// leaf makes a leaf of frames, and returns −1 less its number.
func (x *index) leaf(d *Database, t *table, frames []int32) int32 {
	l := leaf{frames: len(frames)}
	rows := slices.Repeat([]float32{float32(math.Inf(1))}, x.cols*lanes)
	for i, f := range frames {
		l.frame[i], l.tags[i] = f, d.tags[f]
		for c, v := range t.row(f) {
			rows[c*lanes+i] = v
		}
	}
	x.leafs, x.rows = append(x.leafs, l), append(x.rows, rows...)
	return -int32(len(x.leafs))
}

// parts divides frames into n parts of about equal size, always across the feature that differs most.
func (t *table) parts(out [][]int32, frames []int32, n int) [][]int32 {
	if n <= 1 {
		return append(out, frames)
	}
	widest, most := 0, 0.0
	for c := range t.cols {
		var sum, square float64
		for _, f := range frames {
			v := float64(t.row(f)[c])
			sum, square = sum+v, square+v*v
		}
		if spread := square - sum*sum/float64(len(frames)); spread > most {
			widest, most = c, spread
		}
	}
	slices.SortFunc(frames, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.row(a)[widest], t.row(b)[widest]), cmp.Compare(a, b))
	})
	half := n / 2
	mid := len(frames) * half / n
	return t.parts(t.parts(out, frames[:mid], half), frames[mid:], n-half)
}

func (x *index) box(node int) (least, most []float32) {
	n := x.cols * lanes
	b := x.boxes[node*2*n:][:2*n]
	return b[:n], b[n:]
}

// Target is what Search looks for.
type Target struct {
	Query []float32 // (Columns) normalised features
	Must  Tags      // what the frame shows
	Never Tags      // what it does not show
	Near  int       // a frame; those of its clip that are less than Skip frames away are not found
	Skip  int       // 0 leaves out none
	Below float32   // the cost that the frame has to be below; 0 is any
	Lasts int       // ticks for which the clip goes on to show Must
}

// Search returns the frame whose features are nearest to the target's query, and its cost: the square of the
// distance. Of equally near ones it is the first. A frame of −1 is none. The last frames of clips that are no loops, and those
// before another action, are not found; nor are actions of less than a second that last two seconds elsewhere, nor moments of less than a
// second in which recordings go backward or aside, where loops go there and recordings hardly do. A frame found for WalkTag is followed by half a second of walking.
func (d *Database) Search(t *Target) (frame int, cost float32) {
	s := search{d: d, x: &d.index, t: t, lasts: d.lasts(t), best: -1, cost: float32(math.Inf(1))}
	if t.Below > 0 {
		s.cost = t.Below
	}
	s.lo, s.hi = d.leftOut(t)
	if len(d.index.nodes) == 0 || len(t.Query) != d.index.cols {
		return -1, s.cost
	}
	s.run()
	return int(s.best), s.cost
}

// lasts returns for how many ticks what a target must show has to go on.
func (d *Database) lasts(t *Target) int {
	if t.Must&d.walk != 0 {
		return max(t.Lasts, walkTicks)
	}
	return t.Lasts
}

// leftOut returns the frames that a target leaves out: the last one is before the first if there are none.
func (d *Database) leftOut(t *Target) (first, last int32) {
	if !d.has(t.Near) || t.Skip <= 0 {
		return 0, -1
	}
	c, skip := d.span(int32(t.Near)), min(t.Skip, d.Frames())-1
	return max(int32(t.Near-skip), c.first), min(int32(t.Near+skip), c.end-1)
}

// walkTicks is the least time for which a clip goes on walking after a frame that is found for WalkTag, ticks.
const walkTicks = TickRate / 2

type search struct {
	d      *Database
	x      *index
	t      *Target
	lasts  int   // ticks
	lo, hi int32 // frames that are left out
	best   int32
	cost   float32
}

// waiting is a child that is to be visited if its bound still allows it.
type waiting struct {
	child int32
	bound float32
}

// deepest bounds the waiting children: a tree of maxFrames has five levels.
const deepest = 6 * lanes

// run visits the children of each node by distance.
func (s *search) run() {
	var stack [deepest]waiting
	var d [lanes]float32
	stack[0].child = 0
	for n := 1; n > 0; {
		n--
		w := stack[n]
		switch {
		case w.bound > s.cost:
			continue
		case w.child < 0:
			s.leaf(int(-1-w.child), &d)
			continue
		}
		node := &s.x.nodes[w.child]
		least, most := s.x.box(int(w.child))
		vec.BoxDistances16(&d, least, most, s.t.Query)
		from := n
		for i := range node.children {
			bound := d[i]
			if !(bound <= s.cost) || node.any[i]&s.t.Must != s.t.Must || node.all[i]&s.t.Never != 0 {
				continue
			}
			k := n
			for n++; k > from && stack[k-1].bound < bound; k-- {
				stack[k] = stack[k-1]
			}
			stack[k] = waiting{node.child[i], bound}
		}
	}
}

// leaf compares the frames of a leaf.
func (s *search) leaf(i int, d *[lanes]float32) {
	n := s.x.cols * lanes
	rows := s.x.rows[i*n:][:n]
	vec.BoxDistances16(d, rows, rows, s.t.Query)
	l := &s.x.leafs[i]
	for k := range l.frames {
		f, cost := l.frame[k], d[k]
		better := cost < s.cost || cost == s.cost && s.best >= 0 && f < s.best
		if better && l.tags[k]&s.t.Must == s.t.Must && l.tags[k]&s.t.Never == 0 && !(f >= s.lo && f <= s.hi) && s.d.shows(f, s.t.Must, s.lasts) {
			s.best, s.cost = f, cost
		}
	}
}

// shows reports whether a frame and all frames of the next ticks have the tags must. It is true for 0 ticks.
func (d *Database) shows(frame int32, must Tags, ticks int) bool {
	if ticks <= 0 {
		return true
	}
	c := d.span(frame)
	for range min(ticks, d.Frames()) + 1 {
		if frame < 0 || d.tags[frame]&must != must {
			return false
		}
		frame = c.next(frame)
	}
	return true
}
