package matching

import (
	"errors"
	"fmt"
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// StreamOptions configure a stream.
type StreamOptions struct {
	Capacity int     // largest number of agents, at least 1
	Tuning   *Tuning // nil is DefaultTuning
}

// Stream plays a database for agents that are steered by goals: a [generator.Generator]. Agents do not depend on
// each other, except that those added one after another search in different ticks.
type Stream struct {
	db     *Database
	tuning Tuning
	goals  []control.Goal // (capacity)
	agents []agent        // (capacity)
	rows   int
	frozen []bool // (rows) of this tick
	walls  struct {
		generator.Walls
		body   []generator.Disc
		spaces []generator.Space
	}
	closed bool
}

var (
	_ generator.Generator[control.Goal] = (*Stream)(nil)
	_ generator.Walled                  = (*Stream)(nil)
)

// agent is the state of a row.
type agent struct {
	At       feature.Place // root
	Body     body
	Velocity m3.Vec3 // that was asked for when it searched last
	Facing   float32
	Frame    int32
	Since    int32 // ticks since it searched
	Wait     int32 // ticks until it searches
	Restart  int32 // 1: its pose does not continue the one before
}

// NewStream returns a stream without agents.
func (d *Database) NewStream(o StreamOptions) (*Stream, error) {
	if d.Skel == nil {
		return nil, errZero
	}
	if o.Capacity < 1 {
		return nil, fmt.Errorf("matching: StreamOptions.Capacity is %d: want at least 1", o.Capacity)
	}
	s := &Stream{db: d, tuning: DefaultTuning(), goals: make([]control.Goal, o.Capacity), agents: make([]agent, o.Capacity)}
	if o.Tuning != nil {
		if err := o.Tuning.Validate(); err != nil {
			return nil, err
		}
		s.tuning = *o.Tuning
	}
	return s, nil
}

// Close does nothing: a stream has no goroutines.
func (s *Stream) Close() error { s.closed = true; return nil }

// Capacity returns the largest number of agents.
func (s *Stream) Capacity() int { return len(s.goals) }

// Controls returns the goal of each row, (capacity), to change before Generate.
func (s *Stream) Controls() []control.Goal { return s.goals }

// Rig returns the database's skeleton with its legs; see [generator.Generator].
func (s *Stream) Rig(roles *ik.Roles) (generator.Rig, error) {
	if s.db == nil {
		return generator.Rig{}, errZero
	}
	if roles == nil {
		roles = &s.db.Roles
	}
	if s.db.upright {
		rig, err := generator.Human(s.db.Skel, roles)
		rig.Identity = s.identity()
		rig.Ground.MaxFootAccel = max(rig.Ground.MaxFootAccel, s.db.footAccel)
		return rig, err
	}
	rig, err := generator.NewRig(s.db.Skel, ik.DefaultDog(), roles, nil)
	if err != nil {
		return rig, err
	}
	rig.Late = true
	rig.Ground.MaxFootAccel = max(rig.Ground.MaxFootAccel, s.db.footAccel)
	rig.Body = []generator.Disc{{Radius: 0.3}}
	rig.Identity = s.identity()
	return rig, nil
}

func (s *Stream) identity() string {
	return fmt.Sprintf("matching %016x, tuning %+v", s.db.Fingerprint(), s.tuning)
}

// SetWalls makes all rows plan along walls; see [generator.Walled].
func (s *Stream) SetWalls(w generator.Walls, body []generator.Disc, spaces []generator.Space) {
	s.walls.Walls, s.walls.body, s.walls.spaces = w, body, spaces
}

// Add puts an agent at a place and returns its row. It stands, if any frame of the database does.
func (s *Stream) Add(at feature.Place, goal *control.Goal) (row int, err error) {
	if err := s.room(); err != nil {
		return 0, err
	}
	row = s.rows
	s.rows++
	if s.goals[row] = (control.Goal{}); goal != nil {
		s.goals[row] = *goal
	}
	s.agents[row] = agent{Frame: s.db.rest, Wait: int32(row % s.tuning.Every)}
	s.Place(row, at)
	return row, nil
}

// room returns an error if there is no row for another agent.
func (s *Stream) room() error {
	switch {
	case s.db == nil:
		return errZero
	case s.rows == len(s.goals):
		return fmt.Errorf("matching: all %d rows of the stream are taken", s.rows)
	}
	return nil
}

// Place puts row at a place, where it goes on.
func (s *Stream) Place(row int, at feature.Place) {
	a := &s.agents[row]
	at.Pos, at.Yaw = at.Pos.Flat(), m3.WrapAngle(at.Yaw)
	a.At = at
	a.Body = body{At: at, Along: -1, Heading: at.Yaw}
}

// Shift moves all places of a row; see [generator.Generator].
func (s *Stream) Shift(row int, by m3.Vec3) {
	a := &s.agents[row]
	a.At.Pos, a.Body.At.Pos = a.At.Pos.Add(by), a.Body.At.Pos.Add(by)
}

// Remove takes a row out. The last row becomes this one.
func (s *Stream) Remove(row int) {
	s.rows--
	s.agents[row], s.goals[row] = s.agents[s.rows], s.goals[s.rows]
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
	a := &s.agents[row]
	ok := a.At.Finite() && a.Body.At.Finite() && a.Body.Vel.Finite() && a.Body.Acc.Finite() && a.Velocity.Finite()
	for _, v := range [...]float32{a.Body.Spin, a.Body.Along, a.Body.Heading, a.Facing} {
		ok = ok && m3.Finite(v)
	}
	if !ok || a.Frame < 0 || int(a.Frame) >= s.db.Frames() || a.Since < 0 || a.Wait < 0 || a.Wait > 60 {
		st.Fail(errors.New("the state is none of an agent of this database"))
	}
	if err := st.Err(); err != nil {
		s.agents[row] = agent{}
		return 0, fmt.Errorf("matching: %w", err)
	}
	s.rows++
	return row, nil
}

func (s *Stream) visit(st *generator.State, row int) {
	st.Kind("matching", s.db.Frames(), s.db.Skel.Len())
	generator.Goal(st, &s.goals[row])
	generator.Value(st, &s.agents[row])
}

// Generate begins a tick.
func (s *Stream) Generate(frozen []bool) error {
	if s.closed {
		return errors.New("matching: the stream is closed")
	}
	s.frozen = frozen
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

// advance moves a row by a tick.
func (s *Stream) advance(row int) {
	a, d, t := &s.agents[row], s.db, &s.tuning
	w := s.wish(&s.goals[row], &a.Body, a.At)
	s.step(row, &a.Body, w.velocity, w.facing, dt)
	must, never := d.wants(s.goals[row].Action)
	c := d.span(a.Frame)
	next, jumps := c.next(a.Frame), false
	if next >= 0 && (d.tags[next]&must != must || !c.once && d.tags[next]&never != 0) {
		next = -1
	}
	held := c.holds && a.Frame == c.end-1 && must != 0 && d.tags[a.Frame]&must == must
	a.Since, a.Wait = a.Since+1, a.Wait-1
	changed := a.Velocity.Dist(w.velocity) > t.WishVelocity || m3.Abs(m3.WrapAngle(a.Facing-w.facing)) > t.WishFacing
	switch {
	case held || c.once && next >= 0: // it goes on
		a.Wait = max(a.Wait, 0)
	case next < 0 || a.Wait < 0 || changed && a.Since > 1:
		a.Wait, a.Since = int32(t.Every-1), 0
		a.Velocity, a.Facing = w.velocity, w.facing
		if found := s.search(a, next, s.future(row, &w), must, never); found >= 0 && found != next {
			next, jumps, a.Restart = found, true, 1
		}
	}
	var m move
	switch {
	case jumps:
		m = d.moves[next]
	case next < 0: // nothing fits, or the last pose is held: it waits
		next = a.Frame
	default:
		m = d.moves[a.Frame]
	}
	a.Frame = next
	a.At = m.after(a.At)
	a.join(t, m)
}

// search returns the frame to go on from: next, or one that is nearer to what is wanted. −1 is none.
func (s *Stream) search(a *agent, next int32, future [len(horizon)]feature.Place, must, never Tags) int32 {
	d := s.db
	var query [maxColumns]float32
	q := query[:d.Columns()]
	pose := next
	if pose < 0 {
		pose = a.Frame
	}
	copy(q, d.Feature(int(pose)))
	back := m3.YawQuat(-a.At.Yaw)
	for i, p := range future {
		way, ahead := back.Rotate(p.Pos.Sub(a.At.Pos)), m3.YawQuat(p.Yaw-a.At.Yaw).Forward()
		for k, v := range [...]float32{way.X, way.Z} {
			c := d.trajectory() + 2*i + k
			q[c] = (v - d.mean[c]) * d.scale[c]
		}
		for k, v := range [...]float32{ahead.X, ahead.Z} {
			c := d.facings() + 2*i + k
			q[c] = (v - d.mean[c]) * d.scale[c]
		}
	}
	target := Target{Query: q, Must: must, Never: never}
	if next >= 0 {
		cost := float32(0)
		for c, v := range d.Feature(int(next)) {
			e := q[c] - v
			cost += e * e
		}
		if target.Below = cost - s.tuning.Stay; !(target.Below > 0) {
			return next
		}
		target.Near, target.Skip = int(next), ending+1
	}
	found, _ := d.Search(&target)
	if found < 0 {
		return next
	}
	return int32(found)
}

// Root returns the place of a row's root.
func (s *Stream) Root(row int) feature.Place { return s.agents[row].At }

// Frame returns the frame that a row shows.
func (s *Stream) Frame(row int) int { return int(s.agents[row].Frame) }

// Pose writes the pose of a row.
func (s *Stream) Pose(p *generator.Poses, row int) {
	a, d := &s.agents[row], s.db
	if a.Restart != 0 {
		a.Restart, p.Restarted[row] = 0, true
	}
	p.Put(row, a.At, 0)
	pos, rot := p.Joints(row, d.Skel.Len())
	from := d.rot[int(a.Frame)*len(rot):][:len(rot)]
	copy(pos, d.Skel.Offsets)
	root := p.Roots[row]
	pos[0] = root.Apply(d.hips[a.Frame])
	for j := range rot {
		rot[j] = from[j].quat()
	}
	rot[0] = root.Rot.Mul(rot[0])
}

// wants returns the tags of an action.
func (d *Database) wants(a control.Action) (must, never Tags) {
	if i := a.Tag(); i >= 0 && d.found>>i&1 != 0 {
		return 1 << i, 0
	}
	if a == control.Idle || a == control.Move || int(a) >= len(d.actions) || d.actions[a] == 0 {
		return 0, d.acts
	}
	return d.actions[a], 0
}

// settle finds what streams need of the database: the frame that is nearest to standing, the greatest speeds, and the
// tags of actions that a search finds.
func (d *Database) settle() {
	for _, any := range d.index.nodes[0].any {
		d.found |= any
	}
	for i, name := range d.Tags {
		bit := Tags(1) << i
		if a, err := control.ParseAction(name); err == nil {
			d.actions[a] = bit & d.found
		}
		if name != control.Idle.String() && name != control.Move.String() {
			d.acts |= bit
		}
	}
	d.slow()
	least := float32(math.Inf(1))
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
		// Standing is a future that stays here.
		var still float32
		for i := range horizon {
			c := d.trajectory() + 2*i
			for k := range 2 {
				still += m3.Abs(d.Feature(f)[c+k] + d.mean[c+k]*d.scale[c+k])
			}
		}
		if still < least {
			least, d.rest = still, int32(f)
		}
	}
}
