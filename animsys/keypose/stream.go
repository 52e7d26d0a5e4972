package keypose

import (
	"errors"
	"fmt"
	"math"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/internal/windows"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
)

// Performance says what somebody performs. Set it at any time: it is taken up when their next
// window is begun, within Latency, and shown from the first key on that they come to in
// it. The way from there to a new routine is made between keys, too.
type Performance struct {
	Loop  *PoseLoop // nil is the one they perform already
	Speed float32   // 1 is as it is written, and so is 0; from MinPlaybackSpeed to MaxPlaybackSpeed
	Start float64   // s into the routine at which an agent begins when it is added, in any of its rounds; 0 to a million
}

// Limits of a part's speed.
const (
	MinPlaybackSpeed = 0.25
	MaxPlaybackSpeed = 3
)

// Latency is after how many seconds at most a part is taken up.
const Latency = float64(cycle) / tickRate

// Stream is a [generator.Generator] of people who perform routines. The motion between keys is made
// in windows of Latency. The windows of all agents that are due come from one run of the network, on
// a goroutine beside the ticks. The agents' windows start evenly spread over the ticks.
//
// An agent's motion has the same bits for any number of workers, and alone or in a crowd, except for
// the tick at which its first window starts.
type Stream struct {
	parts  []Performance // (people)
	frozen []bool        // (people) agents that stay as they are

	model   *Model
	session netruntime.Session
	pool    *netruntime.Pool
	rows    int
	body    []performing
	shown   shown
	lost    int

	sched windows.Scheduler
	making
}

// The frames of a window, in ticks: those before it starts, of which the first is the pose that was
// shown then; those that are played until the next window; and those after that. The next window
// is faded in over eased of these.
const (
	tickRate = generator.TickRate
	before   = 16
	cycle    = 64
	after    = 48
	window   = before + cycle + after
	eased    = 16
	kept     = cycle + eased + 1
)

// performing is the state of an agent.
type performing struct {
	spot feature.Place // on which it performs
	progress
	before progress    // when its window was requested
	asked  Performance // then
}

// progress is how far an agent has come.
type progress struct {
	part   Performance // as it was taken up
	last   cursor      // the last key before the end of the window before
	next   cursor      // the first after it
	begun  *PoseLoop   // whose key it reached last
	rounds int32       // of it
}

// shown is the frames that are played, (people, kept): 0 is the last one before the window. Places
// are relative to the spots.
type shown struct {
	joints int
	place  []feature.Place
	height []float32
	rot    []m3.Quat // (people, kept, joints that turn)
	stands []uint8
}

// StreamOptions say what a stream is for.
type StreamOptions struct {
	People  int               // most at a time, at least 1
	Workers int               // goroutines that make windows, at least 1
	Open    netruntime.Opener // what computes the network; nil is the processor
	BF16    bool              // see netruntime.SessionOptions

	// Every is how many ticks lie between those in which people's turns come at all, the
	// first of them From; it is for how long windows are made. The longer, the more people
	// have theirs made at once, which costs less. 0 is 1; it divides the ticks of Latency.
	Every, From int
}

// NewStream returns a stream, with nobody in it. It is an error where the skeleton lacks
// joints of [ik.HumanRoles].
func (m *Model) NewStream(o StreamOptions) (*Stream, error) {
	o.Workers = generator.Workers(o.Workers, o.People)
	if o.People < 1 || o.Workers < 1 {
		return nil, fmt.Errorf("keypose: a stream of %d people on %d workers: want at least one", o.People, o.Workers)
	}
	open := o.Open
	if open == nil {
		open = (*netruntime.Net).NewSession
	}
	sched, err := windows.New(o.People, cycle, o.Every, o.From)
	if err != nil {
		return nil, fmt.Errorf("keypose: a stream: %w", err)
	}
	l := m.Layout
	batch := sched.Most()
	n := o.People * kept
	s := &Stream{parts: make([]Performance, o.People), frozen: make([]bool, o.People), sched: sched, model: m, body: make([]performing, o.People),
		shown: shown{len(l.Joints), make([]feature.Place, n), make([]float32, n), make([]m3.Quat, n*len(l.Joints)), make([]uint8, n)}}
	workers := min(o.Workers, batch)
	if err := s.making.init(l, batch, workers); err != nil {
		return nil, err
	}
	if s.session, err = open(m.Net, netruntime.SessionOptions{Batch: batch, Length: window / 2, Workers: o.Workers, BF16: o.BF16}); err != nil {
		return nil, err
	}
	for _, b := range []struct {
		of   *[]float32
		wide int
	}{{&s.x, l.Inputs()}, {&s.y, l.Columns() + Feet}} {
		if *b.of, err = netruntime.Buffer(s.session, batch*window/2*b.wide); err != nil {
			return nil, errors.Join(err, s.session.Close())
		}
	}
	s.pool = netruntime.NewPool(workers)
	s.begin, s.see, s.end, s.play = s.beginWindow, s.seeWindow, s.endWindow, s.playWindow
	s.sched.Do(windows.Work{Begin: s.ask, Request: s.request, Compute: s.compute, Commit: s.commit})
	return s, nil
}

// Close ends its workers.
func (s *Stream) Close() error {
	s.sched.Close()
	s.pool.Close()
	return s.session.Close()
}

// Capacity returns the largest number of people.
func (s *Stream) Capacity() int { return len(s.body) }

// Controls returns what each row performs, (capacity), to change before Generate.
func (s *Stream) Controls() []Performance { return s.parts }

// Rig returns the people's rig; see [generator.Generator]. It fails for other than two
// legs.
func (s *Stream) Rig(roles *ik.Roles) (generator.Rig, error) {
	rig := generator.Rig{Skel: s.model.Layout.Skel, Ground: ik.DefaultHuman(), Contacts: []uint8{0, 1}, Late: true}
	if roles != nil {
		rig.Roles = *roles
	} else {
		var err error
		if rig.Roles, err = ik.HumanRoles(rig.Skel.Names); err != nil {
			return generator.Rig{}, err
		}
	}
	if len(rig.Roles.Legs) != Feet {
		return generator.Rig{}, fmt.Errorf("keypose: people on %d legs: want %d", len(rig.Roles.Legs), Feet)
	}
	return rig, nil
}

// Model returns the model that makes the motion.
func (s *Stream) Model() *Model { return s.model }

// People returns how many there are.
func (s *Stream) People() int { return s.rows }

// Discarded returns how many windows the network made of values that are no person's. Who was
// to play one plays what interpolation makes.
func (s *Stream) Discarded() int { return s.lost }

// Add puts someone on a spot and returns the row, the last. They begin so many seconds
// into the part's routine, of a routine with rounds in any of them; until their first
// turn they go as interpolation makes it.
func (s *Stream) Add(at feature.Place, control *Performance) (row int, err error) {
	var p Performance
	if control != nil {
		p = *control
	}
	switch {
	case !at.Pos.Finite() || !m3.Finite(at.Yaw):
		return 0, fmt.Errorf("keypose: nobody can stand at %+v", at)
	case p.Loop == nil:
		return 0, errors.New("keypose: nobody performs without a routine")
	case !p.Loop.fits(s.model.Layout):
		return 0, fmt.Errorf("keypose: a routine of another skeleton than model %q", s.model.Net.Meta().Name)
	case !(p.Start >= 0 && p.Start <= 1e6):
		return 0, fmt.Errorf("keypose: nobody begins a routine at %g s: want 0 to a million", p.Start)
	case s.rows == len(s.body):
		return 0, fmt.Errorf("keypose: all %d places of the stream are taken", s.rows)
	}
	row = s.rows
	s.rows++
	s.sched.Add(row)
	s.parts[row], s.frozen[row] = p, false
	s.body[row] = performing{progress: progress{part: Performance{Loop: p.Loop}}}
	s.body[row].take(p)
	s.Place(row, at)
	s.first(row, p.Start)
	return row, nil
}

// Place moves row to a spot, finite. They go on there.
func (s *Stream) Place(row int, at feature.Place) {
	s.body[row].spot = feature.Place{Pos: at.Pos.Flat(), Yaw: at.Yaw}
}

// Save writes the state of a row; see [generator.Generator].
func (s *Stream) Save(st *generator.State, row int) {
	s.visit(st, row)
	s.sched.Save(st, row)
}

// Restore adds an agent in a saved state; see [generator.Generator].
func (s *Stream) Restore(st *generator.State) (row int, err error) {
	if row = s.rows; row == len(s.body) {
		return 0, fmt.Errorf("keypose: all %d rows of the stream are taken", row)
	}
	s.visit(st, row)
	if err := st.Err(); err == nil {
		if err := s.check(row); err != nil {
			st.Fail(err)
		}
	}
	scheduled := s.sched.Restore(st, row)
	if err := st.Err(); err != nil {
		return 0, fmt.Errorf("keypose: %w", err)
	}
	s.rows++
	if b := &s.body[row]; !scheduled { // the window that was requested is not made
		b.progress = b.before
	}
	return row, nil
}

// visit writes or reads the state of a row, except its schedule.
func (s *Stream) visit(st *generator.State, row int) {
	b, n := &s.body[row], s.shown.joints
	st.Kind("keypose", n, kept)
	s.parts[row].visit(st)
	st.Bool(&s.frozen[row])
	generator.Value(st, &b.spot)
	b.progress.visit(st)
	b.before.visit(st)
	b.asked.visit(st)
	generator.Values(st, s.shown.place[row*kept:][:kept])
	generator.Values(st, s.shown.height[row*kept:][:kept])
	generator.Values(st, s.shown.rot[row*kept*n:][:kept*n])
	generator.Values(st, s.shown.stands[row*kept:][:kept])
}

func (p *progress) visit(st *generator.State) {
	p.part.visit(st)
	p.last.visit(st)
	p.next.visit(st)
	generator.Asset(st, &p.begun)
	generator.Value(st, &p.rounds)
}

func (p *Performance) visit(st *generator.State) {
	generator.Asset(st, &p.Loop)
	generator.Value(st, &p.Speed)
	generator.Value(st, &p.Start)
}

func (c *cursor) visit(st *generator.State) {
	generator.Asset(st, &c.routine)
	generator.Value(st, &c.key)
	generator.Value(st, &c.at)
}

// check returns an error if the state that was read for row is none.
func (s *Stream) check(row int) error {
	b, n := &s.body[row], s.shown.joints
	for _, p := range [2]*progress{&b.progress, &b.before} {
		for _, c := range [2]*cursor{&p.last, &p.next} {
			if p == &b.before && c.routine == nil {
				continue
			}
			if c.routine == nil || !c.routine.fits(s.model.Layout) || c.key < 0 || int(c.key) >= len(c.routine.time) || !(math.Abs(c.at) <= 1e6) {
				return errors.New("the state has a key that is not one of its routine's")
			}
		}
	}
	for _, r := range [3]*PoseLoop{b.part.Loop, b.asked.Loop, s.parts[row].Loop} {
		if r != nil && !r.fits(s.model.Layout) {
			return errors.New("the state has a routine of another skeleton")
		}
	}
	if b.part.Loop == nil || !(b.part.Speed >= MinPlaybackSpeed && b.part.Speed <= MaxPlaybackSpeed) {
		return errors.New("the state has no routine, or a speed out of range")
	}
	ok := b.spot.Pos.Finite() && m3.Finite(b.spot.Yaw) && feature.Finite(s.shown.height[row*kept:][:kept])
	for _, p := range s.shown.place[row*kept:][:kept] {
		ok = ok && p.Pos.Finite() && m3.Finite(p.Yaw)
	}
	for _, q := range s.shown.rot[row*kept*n:][:kept*n] {
		ok = ok && q.Finite()
	}
	if !ok {
		return errors.New("the state is not finite")
	}
	return nil
}

// Remove takes a row out. The last row becomes this one.
func (s *Stream) Remove(row int) {
	s.rows--
	s.sched.Remove(row, s.rows)
	if last := s.rows; row != last {
		s.parts[row], s.body[row], s.frozen[row] = s.parts[last], s.body[last], s.frozen[last]
		s.shown.copy(row, last)
	}
	s.parts[s.rows], s.body[s.rows] = Performance{}, performing{}
}

// copy gives row what another plays.
func (s *shown) copy(row, of int) {
	copy(s.place[row*kept:][:kept], s.place[of*kept:])
	copy(s.height[row*kept:][:kept], s.height[of*kept:])
	copy(s.stands[row*kept:][:kept], s.stands[of*kept:])
	copy(s.rot[row*kept*s.joints:][:kept*s.joints], s.rot[of*kept*s.joints:])
}

// Loops returns how often row had come to the last key of their routine, since they
// came to its first, when their last turn was.
func (s *Stream) Loops(row int) int { return int(s.body[row].rounds) }

// Root returns where the root of row is over the ground.
func (s *Stream) Root(row int) feature.Place {
	spot, p := s.body[row].spot, s.shown.place[row*kept+s.sched.At(row)]
	return feature.Place{Pos: spot.Pos.Add(m3.YawQuat(spot.Yaw).Rotate(p.Pos)), Yaw: m3.WrapAngle(spot.Yaw + p.Yaw)}
}

// Contacts reports which feet of row stand: bit 0 is the left one, bit 1 the right one.
func (s *Stream) Contacts(row int) uint8 { return s.shown.stands[row*kept+s.sched.At(row)] }

// Sample poses those of rows r0 to r1−1 that update.
func (s *Stream) Sample(p *generator.Poses, r0, r1 int) {
	for r := r0; r < r1; r++ {
		if p.Update[r] {
			s.Pose(p, r)
		}
	}
}

// Pose writes the pose of a row.
func (s *Stream) Pose(to *generator.Poses, row int) {
	pos, rot := to.Joints(row, s.model.Layout.Skel.Len())
	to.Put(row, s.Root(row), s.Contacts(row))
	l, f := s.model.Layout, row*kept+s.sched.At(row)
	copy(pos, l.Skel.Offsets)
	for j := range rot {
		rot[j] = m3.Quat{W: 1}
	}
	in := s.shown.rot[f*s.shown.joints:][:s.shown.joints]
	for i, j := range l.Joints {
		rot[j] = in[i]
	}
	p := s.Root(row)
	pos[0] = m3.V(p.Pos.X, s.shown.height[f], p.Pos.Z)
	rot[0] = m3.YawQuat(p.Yaw).Mul(in[0])
}
