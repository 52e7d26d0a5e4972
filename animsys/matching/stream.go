package matching

import (
	"fmt"
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// Stream plays a database for agents that are steered by goals: a [generator.Generator]. Agents do not depend on
// each other, except that those added one after another search in different ticks.
type Stream struct {
	steering
	db     *Database
	frames []int32 // (capacity) that rows show
	device *device // searches for all rows at once; nil without StreamOptions.Nearest
}

var (
	_ generator.Generator[control.Goal] = (*Stream)(nil)
	_ generator.Walled                  = (*Stream)(nil)
)

// NewStream returns a stream without agents.
func (d *Database) NewStream(o StreamOptions) (*Stream, error) {
	if d.Skel == nil {
		return nil, errZero
	}
	of, err := newSteering(&d.Character, &o)
	if err != nil {
		return nil, err
	}
	s := &Stream{steering: of, db: d, frames: make([]int32, o.Capacity)}
	if o.Nearest != nil {
		if s.device, err = newDevice(s, &o); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Close frees what a stream has on a device.
func (s *Stream) Close() error {
	if s.closed || s.device == nil {
		s.closed = true
		return nil
	}
	s.closed = true
	return s.device.close()
}

// Rig returns the database's skeleton with its legs; see [generator.Generator].
func (s *Stream) Rig(roles *ik.Roles) (generator.Rig, error) {
	if s.db == nil {
		return generator.Rig{}, errZero
	}
	return s.standing(s.rig(roles, fmt.Sprintf("matching %016x", s.db.Fingerprint())))
}

// Add puts an agent at a place and returns its row. It stands, if any frame of the database does.
func (s *Stream) Add(at feature.Place, goal *control.Goal) (row int, err error) {
	if row, err = s.add(at, goal); err == nil {
		s.frames[row] = s.db.rest
	}
	return row, err
}

// Remove takes a row out. The last row becomes this one.
func (s *Stream) Remove(row int) {
	s.remove(row)
	s.frames[row] = s.frames[s.rows]
	if s.device != nil {
		s.device.looks[row].ready, s.device.looks[s.rows].ready = false, false
	}
}

// Save writes the state of a row; see [generator.Generator].
func (s *Stream) Save(st *generator.State, row int) {
	if s.db != nil {
		s.visit(st, row)
	}
}

// Restore adds an agent in a saved state; see [generator.Generator].
func (s *Stream) Restore(st *generator.State) (row int, err error) {
	if err := s.room(); err != nil {
		return 0, err
	}
	row = s.rows
	s.visit(st, row)
	if f := s.frames[row]; f < 0 || int(f) >= s.db.Frames() {
		st.Fail(errForeign)
	}
	return s.restored(row, st)
}

func (s *Stream) visit(st *generator.State, row int) {
	st.Kind("matching", s.db.Frames(), s.db.Skel.Len())
	s.steering.visit(st, row)
	generator.Value(st, &s.frames[row])
}

// Generate begins a tick. If a device searches, it does so here, for all rows.
func (s *Stream) Generate(frozen []bool) error {
	if err := s.begin(frozen); err != nil || s.device == nil {
		return err
	}
	s.device.search()
	return nil
}

// Sample advances rows r0 to r1−1 by a tick, and writes the poses of rows with p.Update.
func (s *Stream) Sample(p *generator.Poses, r0, r1 int) {
	for r := r0; r < r1; r++ {
		if !s.frozen[r] {
			s.advance(r)
		}
	}
	p.Pose(s, r0, r1)
}

// maxColumns bounds the features of a frame: those of eight legs.
const maxColumns = 6*8 + 15

// look is what a row does in a tick until it knows where it goes on: it may look for a frame.
type look struct {
	next     int32 // frame that it shows if it finds none, or −1
	found    int32 // frame that a search found, or −1
	searches bool
	ready    bool                // found is known
	from     int                 // of lasting: the first search; the last one comes after all others
	target   Target              // without its query
	query    [maxColumns]float32 // of the database's columns
}

// lasting are the times for which what a row at rest looks for should go on, ticks: one after another, until a frame is found.
var lasting = [...]int{3 * TickRate, TickRate, 0}

// advance moves a row by a tick.
func (s *Stream) advance(row int) {
	if s.device != nil && s.device.looks[row].ready {
		l := &s.device.looks[row]
		l.ready = false
		s.play(row, l)
		return
	}
	var l look
	if s.decide(row, &l); l.searches {
		l.found = s.db.first(&l)
	}
	s.play(row, &l)
}

// decide advances the simulated body of a row by a tick, and finds out which frame follows and whether the row looks for another.
func (s *Stream) decide(row int, l *look) {
	a, frame, d := &s.agents[row], s.frames[row], s.db
	w, due := s.plan(row, 0, 0, false)
	c := d.span(frame)
	next := c.next(frame)
	if w.rests = w.rests && !(c.once && next >= 0); w.rests { // who plays a clip once plays it to its end
		w.must = d.idle
	} else if w.walks && !(c.once && next >= 0) {
		w.must = d.walk
	}
	must, never := w.must&^d.walk, w.never
	if next >= 0 && (d.tags[next]&must != must || !c.once && d.tags[next]&never != 0) {
		next = -1
	}
	l.next, l.found, l.searches = next, -1, false
	held := c.holds && frame == c.end-1 && must != 0 && d.tags[frame]&must == must
	switch {
	case held || (c.once || w.rests) && next >= 0: // it goes on
		a.Wait = max(a.Wait, 0)
	case next < 0 || due:
		l.searches = s.seek(row, &w, l)
	}
}

// play shows a row the frame that it found, or the next one, and moves its root.
func (s *Stream) play(row int, l *look) {
	a, frame, next, d := &s.agents[row], s.frames[row], l.next, s.db
	jumps := l.found >= 0 && l.found != next
	if jumps {
		next, a.Restart = l.found, 1
	}
	var m move
	switch {
	case jumps:
		m = d.moves[next]
	case next < 0: // nothing fits, or the last pose is held: it waits
		next = frame
	default:
		m = d.moves[frame]
	}
	s.frames[row] = next
	c := d.span(next)
	from, begins := a.At.Pos, c.once && next-c.first < beginning
	if begins {
		m = a.begins(m)
	}
	var aloft, done float32
	if c.once {
		var x [maxColumns]float32
		aloft, done = d.aloft(d.AppendFeatures(x[:0], int(next))), float32(next-c.first)/float32(c.end-c.first)
	}
	a.At = m.after(a.At)
	if a.join(&s.tuning, m, s.share(row, c.once, d.tags[next], aloft, done)); !begins {
		a.Went = a.At.Pos.Sub(from)
	}
}

// seek writes what a row looks for, and reports whether a frame can be nearer to that than the next one.
func (s *Stream) seek(row int, w *wish, l *look) bool {
	d, next := s.db, l.next
	q := l.query[:d.Columns()]
	pose := next
	if pose < 0 {
		pose = s.frames[row]
	}
	d.AppendFeatures(q[:0], int(pose))
	s.ask(row, w, q)
	l.from = len(lasting) - 1
	l.target = Target{Must: w.must, Never: w.never, Near: int(s.frames[row]), Skip: 1} // it would stay where it is
	if next >= 0 && w.must&d.walk&^d.tags[next] != 0 {
		l.target.Near, l.target.Skip = int(next), ending+1 // it runs, and should walk: any walk is better
	} else if next >= 0 {
		var there [maxColumns]float32
		if l.target.Below = cost(d.AppendFeatures(there[:0], int(next)), q) - s.tuning.Stay; !(l.target.Below > 0) {
			return false
		}
		l.target.Near, l.target.Skip = int(next), ending+1
	}
	if next < 0 && w.rests {
		l.from = 0
	}
	return true
}

// first returns the frame that a row's searches find first, or −1.
func (d *Database) first(l *look) int32 {
	t := l.target
	t.Query = l.query[:d.Columns()]
	for _, t.Lasts = range lasting[l.from:] {
		if found, _ := d.Search(&t); found >= 0 {
			return int32(found)
		}
	}
	return -1
}

// Frame returns the frame that a row shows.
func (s *Stream) Frame(row int) int { return int(s.frames[row]) }

// Weight returns 1 if the frame of a row shows an action, otherwise 0.
func (s *Stream) Weight(row int, a control.Action) float32 {
	if s.db == nil {
		return 0
	}
	return s.shows(row, s.db.tags[s.frames[row]], a)
}

// Clip returns the name of the clip that a row plays, and the number of the frame in it.
func (s *Stream) Clip(row int) (name string, at int) { return s.db.Clip(s.Frame(row)) }

// Pose writes the pose of a row.
func (s *Stream) Pose(p *generator.Poses, row int) {
	a, d := &s.agents[row], s.db
	if a.Restart != 0 {
		a.Restart, p.Restarted[row] = 0, true
	}
	var stands uint8
	if len(p.Contacts) > 0 {
		var x [maxColumns]float32
		stands = d.stands(d.AppendFeatures(x[:0], int(s.frames[row])))
	}
	p.Put(row, a.At, stands)
	pos, rot := p.Joints(row, d.Skel.Len())
	d.Pose(int(s.frames[row]), pos, rot)
	root := p.Roots[row]
	pos[0], rot[0] = root.Apply(pos[0]), root.Rot.Mul(rot[0])
	shows := d.tags[s.frames[row]]
	s.lean(p, row, shows, shows&d.acts != 0)
}

// settle finds what streams need of the database: the frame that is nearest to standing, the speeds, and the
// tags of actions that a search finds.
func (d *Database) settle() {
	for _, any := range d.index.nodes[0].any {
		d.found |= any
	}
	d.name()
	for i := range d.index.leafs {
		l := &d.index.leafs[i]
		for _, tags := range l.tags[:l.frames] {
			if tags&d.acts == 0 {
				d.idle |= tags & d.actions[control.Idle]
			}
		}
	}
	d.slow()
	d.speeds, d.walks = d.moving(), d.walking()
	least, stands := float32(math.Inf(1)), false
	var row []float32
	for f, m := range d.moves {
		speed := m3.V(m.X, 0, m.Z).Len() * TickRate
		for i := range d.Tags {
			if d.tags[f]>>i&1 != 0 {
				d.fastest[i] = max(d.fastest[i], speed)
			}
		}
		if d.tags[f]&d.acts != 0 {
			continue
		}
		if d.fastest[maxTags] = max(d.fastest[maxTags], speed); d.next(int32(f)) < 0 {
			continue
		}
		// Standing is a future that stays here, of a frame that shows idle if there is one.
		idle := d.idle != 0 && d.shows(int32(f), d.idle, 1)
		if stands && !idle {
			continue
		}
		var still float32
		row = d.AppendFeatures(row[:0], f)
		for i := range horizon {
			c := d.trajectory() + 2*i
			for k := range 2 {
				still += m3.Abs(row[c+k] + d.mean[c+k]*d.scale[c+k])
			}
		}
		if still < least || idle && !stands {
			least, stands, d.rest = still, idle, int32(f)
		}
	}
}
