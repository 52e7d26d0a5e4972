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

// Performance is the component that says what an agent plays. A change takes effect with the window
// begun within Latency, from the first key in it. The transition to another loop is made between
// keys, too.
type Performance struct {
	Loop  *PoseLoop // nil: the current one
	Speed float32   // 1 is as written, and so is 0; from MinPlaybackSpeed to MaxPlaybackSpeed
	Start float64   // time into the loop at which an added agent begins, s, in any round; 0 to a million
}

// Limits of Performance.Speed.
const (
	MinPlaybackSpeed = 0.25
	MaxPlaybackSpeed = 3
)

// Latency is the longest time until a change of a Performance takes effect, s.
const Latency = float64(cycle) / tickRate

// Stream is a [generator.Generator] of people who play pose loops. The motion between keys is made
// in windows of Latency. The windows of all agents that are due come from one run of the network,
// on a goroutine beside the ticks. The agents' windows start evenly spread over the ticks.
//
// An agent's motion has the same bits for any number of workers, and alone or in a crowd, except
// for the tick at which its first window starts.
type Stream struct {
	parts []Performance // (people)

	model   *Model
	session netruntime.Session
	pool    *netruntime.Pool
	body    []performing
	shown   shown
	lost    int

	sched windows.Scheduler
	making
}

// The frames of a window, in ticks: those before its start, of which the first is the pose that was
// shown then; those that are played until the next window; and those after that. The next window is
// faded in over eased of these.
const (
	tickRate = generator.TickRate
	before   = 16
	cycle    = 64
	after    = 48
	window   = before + cycle + after
	eased    = 16
	kept     = cycle + eased + 1
	recalled = cycle - before // the frame that is the first of the next window
)

// performing is the state of an agent.
type performing struct {
	spot feature.Place // place on which it performs
	progress
	before progress    // when its window was requested
	asked  Performance // then
	from   int32       // the first of the frames that were saved or restored
	ended  bool        // it has played its window, and was frozen when the next was to start: it stands in its last frame
}

// progress is an agent's progress through its keys.
type progress struct {
	part   Performance // that is in effect
	last   cursor      // the last key before the end of the window before
	next   cursor      // the first after it
	begun  *PoseLoop   // loop of the last key that it reached
	rounds int32       // completed, of that loop
}

// shown holds the frames that are played, (people, kept): 0 is the last one before the window.
// Places are relative to the spots.
type shown struct {
	joints int
	place  []feature.Place
	height []float32
	rot    []m3.Quat48 // (people, kept, joints that turn)
	stands []uint8
}

// StreamOptions are the options of NewStream.
type StreamOptions struct {
	Capacity int               // maximum number of agents, at least 1
	Workers  int               // goroutines that make windows; 0 lets generator.Workers choose
	Open     netruntime.Opener // opens sessions; nil: on the CPU
	BF16     bool              // see netruntime.SessionOptions

	// Windows start only in every Every-th tick, the first of them From. A larger number makes
	// larger batches, which cost less per window. 0: 1; it must divide the ticks of Latency.
	Every, From int
}

// NewStream returns a stream without agents. It fails if the skeleton lacks joints of
// [ik.HumanRoles].
func (m *Model) NewStream(o StreamOptions) (*Stream, error) {
	if m.Net == nil {
		return nil, errZeroModel
	}
	o.Workers = generator.Workers(o.Workers, o.Capacity)
	if o.Capacity < 1 || o.Workers < 1 {
		return nil, fmt.Errorf("keypose: StreamOptions with a Capacity of %d, on %d workers: want at least one of each", o.Capacity, o.Workers)
	}
	sched, err := windows.New("keypose", o.Capacity, cycle, o.Every, o.From)
	if err != nil {
		return nil, err
	}
	l := m.Layout
	batch := sched.Most()
	n := o.Capacity * kept
	s := &Stream{parts: make([]Performance, o.Capacity), sched: sched, model: m, body: make([]performing, o.Capacity),
		shown: newShown(l, n)}
	workers := min(o.Workers, batch)
	if err := s.making.init(l, batch, workers); err != nil {
		return nil, err
	}
	if s.session, err = o.Open.Session(m.Net, netruntime.SessionOptions{Batch: batch, Length: window / 2, Workers: o.Workers, BF16: o.BF16}); err != nil {
		return nil, err
	}
	if s.x, err = netruntime.Buffer(s.session, batch*window/2*l.Inputs()); err == nil {
		s.y, err = netruntime.Buffer(s.session, batch*window/2*(l.Columns()+Feet))
	}
	if err != nil {
		return nil, errors.Join(err, s.session.Close())
	}
	s.pool = netruntime.NewPool(workers)
	s.begin, s.see, s.end, s.play = s.beginWindow, s.seeWindow, s.endWindow, s.playWindow
	s.sched.Do(windows.Work{Begin: s.ask, Request: s.request, Compute: s.compute, Commit: s.commit, Visit: s.visit, Check: s.check})
	return s, nil
}

// Close stops the stream's goroutines.
func (s *Stream) Close() error {
	if s.session == nil {
		return nil
	}
	s.sched.Close()
	s.pool.Close()
	return s.session.Close()
}

// Capacity returns the maximum number of agents.
func (s *Stream) Capacity() int { return s.sched.Capacity }

// Controls returns the Performance of each row, (capacity), to change before Generate.
func (s *Stream) Controls() []Performance { return s.parts }

// Rig returns the people's rig; see [generator.Generator]. It fails unless there are two legs.
func (s *Stream) Rig(roles *ik.Roles) (generator.Rig, error) {
	if s.model == nil {
		return generator.Rig{}, errors.New("keypose: the zero Stream has no rig: make one with Model.NewStream")
	}
	rig, err := generator.Human(s.model.Layout.Skel, roles)
	if err != nil {
		return rig, err
	}
	if n := len(rig.Ground.Rig.Roles.Legs); n != Feet {
		err = fmt.Errorf("keypose: people on %d legs: want %d", n, Feet)
	}
	rig.Contacts = []uint8{0, 1}
	rig.Identity = "keypose " + s.model.Net.Meta().Name + ", " + s.sched.Identity()
	return rig, err
}

// Model returns the stream's model.
func (s *Stream) Model() *Model { return s.model }

// Agents returns the number of agents.
func (s *Stream) Agents() int { return s.sched.Rows }

// Discarded returns the number of windows with unusable values. Their agents played the
// interpolation instead.
func (s *Stream) Discarded() int { return s.lost }

// Add puts an agent on a spot and returns its row, the last. It begins Performance.Start seconds
// into its loop, and plays the interpolation until its first window.
func (s *Stream) Add(at feature.Place, control *Performance) (row int, err error) {
	var p Performance
	if control != nil {
		p = *control
	}
	if err := s.sched.Room(at); err != nil {
		return 0, err
	}
	switch {
	case p.Loop == nil:
		return 0, errors.New("keypose: a performance without a loop")
	case !p.Loop.fits(s.model.Layout):
		return 0, fmt.Errorf("keypose: a loop of another skeleton than that of model %q", s.model.Net.Meta().Name)
	case !(p.Start >= 0 && p.Start <= 1e6):
		return 0, fmt.Errorf("keypose: a performance begins at %g s: want 0 to a million", p.Start)
	}
	row = s.sched.Add()
	s.parts[row] = p
	s.body[row] = performing{progress: progress{part: Performance{Loop: p.Loop}}}
	s.body[row].take(p)
	s.Place(row, at)
	s.first(row, p.Start)
	return row, nil
}

// Place moves a row to a spot, which is finite. It continues there.
func (s *Stream) Place(row int, at feature.Place) {
	s.body[row].spot = feature.Place{Pos: at.Pos.Flat(), Yaw: at.Yaw}
}

// Shift moves all places of a row; see [generator.Generator].
func (s *Stream) Shift(row int, by m3.Vec3) { s.body[row].spot.Pos = s.body[row].spot.Pos.Add(by) }

// Turn turns the place of a row; see [generator.Turner].
func (s *Stream) Turn(row int, by m3.Turn) { s.body[row].spot = s.body[row].spot.Turned(by) }

// Save writes the state of a row; see [generator.Generator].
func (s *Stream) Save(st *generator.State, row int) { s.sched.Save(st, row) }

// Restore adds an agent in a saved state; see [generator.Generator].
func (s *Stream) Restore(st *generator.State) (row int, err error) {
	if s.model == nil {
		return 0, errZeroModel
	}
	row, scheduled, err := s.sched.Restore(st)
	if err != nil {
		return row, err
	}
	b := &s.body[row]
	if !scheduled { // the window that was requested is not made
		b.progress, b.ended = b.before, true
	}
	b.ended = b.ended || s.sched.At(row) < int(b.from)
	return row, nil
}

// visit writes or reads the state of a row, except its schedule.
func (s *Stream) visit(st *generator.State, row int) {
	b := &s.body[row]
	st.Kind("keypose", s.shown.joints, kept)
	s.visitPart(st, &s.parts[row])
	st.Bool(&s.sched.Frozen[row])
	generator.Value(st, &b.spot)
	s.visitProgress(st, &b.progress)
	s.visitProgress(st, &b.before)
	s.visitPart(st, &b.asked)
	st.Bool(&b.ended)
	s.visitFrames(st, row)
}

// visitFrames writes or reads the frames of a row that are to be played.
func (s *Stream) visitFrames(st *generator.State, row int) {
	b, v := &s.body[row], &s.shown
	if !st.Reading() {
		b.from = int32(s.frame(row))
	}
	if generator.Value(st, &b.from); b.from < 1 || b.from > cycle {
		st.Fail(fmt.Errorf("the state has frames from %d on, of %d", b.from, cycle))
		return
	}
	span := func(from, to int) {
		i, k := row*kept+from, row*kept+to
		generator.Block(st, v.place[i:k])
		generator.Block(st, v.rot[i*v.joints:k*v.joints])
		generator.Values(st, v.height[i:k])
		generator.Values(st, v.stands[i:k])
	}
	if b.from > recalled {
		span(recalled, recalled+1)
	}
	span(int(b.from), kept)
}

// frame returns the frame that a row shows.
func (s *Stream) frame(row int) int {
	if s.body[row].ended {
		return cycle
	}
	return s.sched.At(row)
}

func (s *Stream) visitProgress(st *generator.State, p *progress) {
	s.visitPart(st, &p.part)
	s.visitCursor(st, &p.last)
	s.visitCursor(st, &p.next)
	s.visitLoop(st, &p.begun)
	generator.Value(st, &p.rounds)
}

func (s *Stream) visitPart(st *generator.State, p *Performance) {
	s.visitLoop(st, &p.Loop)
	generator.Value(st, &p.Speed)
	generator.Value(st, &p.Start)
}

func (s *Stream) visitCursor(st *generator.State, c *cursor) {
	s.visitLoop(st, &c.routine)
	generator.Value(st, &c.key)
	generator.Value(st, &c.at)
}

func (s *Stream) visitLoop(st *generator.State, r **PoseLoop) {
	if generator.Asset(st, r); *r != nil {
		(*r).adopt(s.model.Layout)
	}
}

// check returns an error if the state that was read for row is none.
func (s *Stream) check(row int) error {
	b := &s.body[row]
	for _, p := range [2]*progress{&b.progress, &b.before} {
		for _, c := range [2]*cursor{&p.last, &p.next} {
			if p == &b.before && c.routine == nil {
				continue
			}
			if c.routine == nil || !c.routine.fits(s.model.Layout) || c.key < 0 || int(c.key) >= len(c.routine.time) || !(math.Abs(c.at) <= 1e6) {
				return errors.New("the state has a key that is not one of its loop's")
			}
		}
	}
	for _, r := range [2]*PoseLoop{b.part.Loop, b.asked.Loop} { // what the game asks for is seen when it is taken
		if r != nil && !r.fits(s.model.Layout) {
			return errors.New("the state has a loop of another skeleton")
		}
	}
	if b.part.Loop == nil || !(b.part.Speed >= MinPlaybackSpeed && b.part.Speed <= MaxPlaybackSpeed) {
		return errors.New("the state has no loop, or a speed out of range")
	}
	finite := func(from, to int) bool {
		return feature.Finite(s.shown.height[row*kept+from:row*kept+to]) && feature.AllFinite(s.shown.place[row*kept+from:row*kept+to])
	}
	if !b.spot.Finite() || !finite(recalled, recalled+1) || !finite(int(b.from), kept) {
		return errors.New("the state is not finite")
	}
	return nil
}

// Remove takes a row out. The last row becomes this one.
func (s *Stream) Remove(row int) {
	last := s.sched.Remove(row)
	s.parts[row], s.body[row] = s.parts[last], s.body[last]
	s.shown.copy(row, last)
	s.parts[last], s.body[last] = Performance{}, performing{}
}

func newShown(l *Layout, frames int) shown {
	return shown{len(l.Joints), make([]feature.Place, frames), make([]float32, frames), make([]m3.Quat48, frames*len(l.Joints)), make([]uint8, frames)}
}

// copy copies the frames of row of to row.
func (s *shown) copy(row, of int) {
	copy(s.place[row*kept:][:kept], s.place[of*kept:])
	copy(s.height[row*kept:][:kept], s.height[of*kept:])
	copy(s.stands[row*kept:][:kept], s.stands[of*kept:])
	copy(s.rot[row*kept*s.joints:][:kept*s.joints], s.rot[of*kept*s.joints:])
}

// Loops returns the number of rounds that a row had completed of its loop when its last window was
// requested.
func (s *Stream) Loops(row int) int { return int(s.body[row].rounds) }

// Root returns the place of a row's root over the ground.
func (s *Stream) Root(row int) feature.Place {
	spot, p := s.body[row].spot, s.shown.place[row*kept+s.frame(row)]
	return feature.Place{Pos: spot.Pos.Add(m3.YawQuat(spot.Yaw).Rotate(p.Pos)), Yaw: m3.WrapAngle(spot.Yaw + p.Yaw)}
}

// Contacts returns the contacts of a row: bit 0 is the left foot, bit 1 the right one.
func (s *Stream) Contacts(row int) uint8 { return s.shown.stands[row*kept+s.frame(row)] }

// Sample writes the poses of rows r0 to r1−1 that update.
func (s *Stream) Sample(p *generator.Poses, r0, r1 int) { p.Pose(s, r0, r1) }

// Pose writes the pose of a row.
func (s *Stream) Pose(to *generator.Poses, row int) {
	to.Put(row, s.Root(row), s.Contacts(row))
	pos, rot := to.Joints(row, s.model.Layout.Skel.Len())
	f, l := row*kept+s.frame(row), s.model.Layout
	l.straight(pos, rot)
	for i, j := range l.Joints {
		rot[j] = s.shown.rot[f*s.shown.joints+i].Quat()
	}
	put(pos, rot, s.Root(row), s.shown.height[f])
}
