package matching

import (
	"fmt"
	"slices"
	"sync/atomic"

	"mannequin/animsys/generator"
	"mannequin/engine/m3"
	"mannequin/netruntime"
	"mannequin/netruntime/vec"
)

// device searches for all rows of a stream at once. What it finds is what Database.Search finds: where rounding leaves two frames to
// choose from, and after an error, the processor searches.
type device struct {
	s       *Stream
	nearest netruntime.Nearest
	points  []int32 // of each point, by frames: its leaf times lanes, plus its place there
	looks   []look  // (capacity) of this tick

	asks    []int32 // rows of the queries
	from    []int32 // (asks) the first of the row's wants
	wants   []netruntime.Want
	queries []float32 // (wants, columns)
	found   []netruntime.Found
	answers bool // found is of this tick

	pool               *netruntime.Pool
	deciding, choosing func(worker, i int)

	searches, again atomic.Int64
}

// sets are the times for which a set of tags lasts, ticks: those that streams search for.
var sets = [...]int{0, walkTicks, TickRate, 3 * TickRate}

// set returns the set of tags that last for some ticks.
func set(ticks int) (int, bool) {
	i := slices.Index(sets[:], ticks)
	return max(i, 0), i >= 0
}

// newDevice returns the device of a stream, or nil if there is none.
func newDevice(s *Stream, o *StreamOptions) (*device, error) {
	if o.Workers < 0 {
		return nil, fmt.Errorf("matching: StreamOptions.Workers is %d: want 0 or more", o.Workers)
	}
	n, wants := o.Capacity, len(lasting)*o.Capacity
	d := &device{s: s, points: s.db.points()}
	var err error
	if d.nearest, err = o.Nearest(s.db.table(d.points), wants); err != nil || d.nearest == nil {
		return nil, err
	}
	d.looks, d.asks, d.from = make([]look, n), make([]int32, 0, n), make([]int32, 0, n)
	d.wants, d.found = make([]netruntime.Want, 0, wants), make([]netruntime.Found, wants)
	d.queries = make([]float32, 0, wants*s.db.Columns())
	d.pool, d.deciding, d.choosing = netruntime.NewPool(generator.Workers(o.Workers, n)), d.decide, d.choose
	return d, nil
}

func (d *device) close() error {
	d.pool.Close()
	return d.nearest.Close()
}

// points returns the places of all frames that a search finds, in the order of frames.
func (d *Database) points() (all []int32) {
	for i := range d.index.leafs {
		for k := range d.index.leafs[i].frames {
			all = append(all, int32(i*lanes+k))
		}
	}
	slices.SortFunc(all, func(a, b int32) int { return int(d.index.frame(a) - d.index.frame(b)) })
	return all
}

// frame returns the frame at a place: a leaf times lanes, plus the place there.
func (x *index) frame(at int32) int32 { return x.leafs[at/lanes].frame[at%lanes] }

// table returns the features and the tags of points.
func (d *Database) table(points []int32) *netruntime.Points {
	p := &netruntime.Points{Columns: d.Columns(), Features: make([]float32, 0, len(points)*d.Columns())}
	for _, ticks := range sets {
		tags := make([]uint64, len(points))
		for i, at := range points {
			f := d.index.frame(at)
			if ticks == 0 {
				p.Features = d.AppendFeatures(p.Features, int(f))
			}
			for left := d.tags[f]; left != 0; left &= left - 1 {
				if must := left & -left; d.shows(f, must, ticks) {
					tags[i] |= uint64(must)
				}
			}
		}
		p.Tags = append(p.Tags, tags)
	}
	return p
}

// search moves the simulated bodies of all rows, and searches for those that look for a frame.
func (d *device) search() {
	rows, cols := d.s.rows, d.s.db.Columns()
	d.pool.Run((rows+planned-1)/planned, d.deciding)
	d.asks, d.from, d.wants, d.queries = d.asks[:0], d.from[:0], d.wants[:0], d.queries[:0]
	for row := range rows {
		l := &d.looks[row]
		if !l.ready || !l.searches {
			continue
		}
		d.asks, d.from = append(d.asks, int32(row)), append(d.from, int32(len(d.wants)))
		if !d.asked(l) {
			continue
		}
		for range lasting[l.from:] {
			d.queries = append(d.queries, l.query[:cols]...)
		}
	}
	if len(d.asks) == 0 {
		return
	}
	d.answers = len(d.wants) > 0 && d.nearest.Find(d.found[:len(d.wants)], d.queries, d.wants)
	d.pool.Run((len(d.asks)+planned-1)/planned, d.choosing)
}

// decide moves the simulated bodies of some rows.
func (d *device) decide(_, i int) {
	for row := i * planned; row < min((i+1)*planned, d.s.rows); row++ {
		if d.looks[row].ready = false; !d.s.frozen[row] {
			d.s.decide(row, &d.looks[row])
			d.looks[row].ready = true
		}
	}
}

// asked appends what a row wants, unless the device cannot search for it.
func (d *device) asked(l *look) bool {
	const most = 1e6 // features of recordings are below 60,000
	for _, v := range l.query[:d.s.db.Columns()] {
		if !(m3.Abs(v) <= most) {
			return false
		}
	}
	n := len(d.wants)
	t := l.target
	first, end := d.leftOut(&t)
	for _, t.Lasts = range lasting[l.from:] {
		lasts := d.s.db.lasts(&t)
		set, ok := set(lasts)
		if !ok || lasts > 0 && t.Must == 0 {
			d.wants = d.wants[:n]
			return false
		}
		d.wants = append(d.wants, netruntime.Want{Must: uint64(t.Must), Never: uint64(t.Never), Set: set, First: first, End: end})
	}
	return true
}

// leftOut returns the points around a frame that a target leaves out.
func (d *device) leftOut(t *Target) (first, end int) {
	lo, hi := d.s.db.leftOut(t)
	at := func(frame int32) int {
		i, _ := slices.BinarySearchFunc(d.points, frame, func(at, frame int32) int { return int(d.s.db.index.frame(at) - frame) })
		return i
	}
	return at(lo), at(hi + 1)
}

// choose takes the frames that were found for some rows.
func (d *device) choose(_, i int) {
	for k := i * planned; k < min((i+1)*planned, len(d.asks)); k++ {
		l := &d.looks[d.asks[k]]
		end := int32(len(d.wants))
		if k+1 < len(d.from) {
			end = d.from[k+1]
		}
		d.searches.Add(1)
		var known bool
		if d.answers && d.from[k] < end {
			l.found, known = d.answer(l, d.found[d.from[k]:end])
		}
		if !known {
			d.again.Add(1)
			l.found = d.s.db.first(l)
		}
	}
}

// answer returns the frame that the first of a row's searches found, or −1, unless rounding leaves it open.
func (d *device) answer(l *look, all []netruntime.Found) (frame int32, known bool) {
	x, n := &d.s.db.index, d.s.db.Columns()
	for i := range all {
		f := &all[i]
		if f.Point < 0 || l.target.Below > 0 && f.AtLeast(n) > float64(l.target.Below) {
			continue
		}
		if !f.Certain(n) {
			return -1, false
		}
		at := d.points[f.Point]
		if l.target.Below > 0 {
			var costs [lanes]float32
			rows := x.rows[int(at)/lanes*n*lanes:][:n*lanes]
			vec.BoxDistances16(&costs, rows, rows, l.query[:n])
			if !(costs[at%lanes] < l.target.Below) {
				continue
			}
		}
		return x.frame(at), true
	}
	return -1, true
}

// Searched returns how many searches a device was asked for, and how many of them the processor did again: because rounding left two frames to
// choose from, or the device had no answer.
func (s *Stream) Searched() (all, again int) {
	if s.device == nil {
		return 0, 0
	}
	return int(s.device.searches.Load()), int(s.device.again.Load())
}
