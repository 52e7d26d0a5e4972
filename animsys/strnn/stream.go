package strnn

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/internal/windows"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
)

// Stream is a [generator.Generator] of people on windows of predicted frames, steered by Steer. The
// next windows of all agents that are due are made in one batch, on a goroutine beside the ticks.
// The agents' windows start evenly spread over the ticks.
//
// An agent's motion follows from the seed, the number of agents added before it, and its Steer. It
// has the same bits for any number of workers, and alone or in a crowd, except for the tick at
// which its first window starts.
type Stream struct {
	wanders []Steer // (people)
	model   *Model
	search  *Controller
	draws   int
	steps   int
	spread  float32
	seed    uint64
	guide   *Guide

	added   uint64
	body    []wandering        // (people)
	frames  []float32          // (people, Encode+Predict, columns) the frames before the current window, and the window
	starts  []float32          // (streamStarts, Encode+Predict, columns) frames with which agents begin
	begun   [streamStarts]gait // gaits at their end
	lively  []livelyColumn
	legs    []leg
	carried []int     // columns of heights of what they carry
	places  []float32 // (people, 1+Predict, columns of joints) what is shown of the last frame before the window, and of the window
	sched   windows.Scheduler
	walls   generator.Surroundings
	lost    int

	making
}

// wandering is the state of an agent.
type wandering struct {
	last    feature.Place // place of the body in the frame before the tick, or in the tick
	at      feature.Place // place of the body
	gait    gait          // at the end of the current window
	asked   Steer         // when the next window was requested, along walls
	agent   uint64        // number of agents added before it
	windows uint64        // played
}

// StreamOptions are the options of NewStream.
type StreamOptions struct {
	Capacity int               // maximum number of agents, at least 1
	Workers  int               // goroutines that make windows; 0 lets generator.Workers choose
	Seed     uint64            // of the drawn latent values
	Samples  int               // candidates for each window, the first of them the guide's, of which the best is played; 0: 1
	Steps    int               // search steps from the best candidate, each as expensive as Latent+1 candidates: see Control
	Spread   float32           // deviation of the drawn candidates, around the guide's and around the likeliest values; 0: 0.5
	Open     netruntime.Opener // opens sessions; nil: on the CPU
	BF16     bool              // see netruntime.SessionOptions
	Filter   bool              // run the residual network as well: more time for little, because cleanup removes the same noise

	// Windows start only in every Every-th tick, the first of them From. A larger number makes
	// larger batches, which cost less per window. 0: 1; it must divide the ticks of a window.
	Every, From int
}

// streamStarts is the number of different windows with which agents begin.
const streamStarts = 4

// NewStream returns a stream without agents. The network itself makes the frames with which agents
// begin, from a standing person. A model without a Guide needs a search: Samples or Steps.
func (m *Model) NewStream(o StreamOptions) (*Stream, error) {
	if m.Net == nil {
		return nil, errZeroModel
	}
	if m.Guide == nil && o.Samples <= 1 && o.Steps == 0 {
		return nil, fmt.Errorf("strnn: model %q has no guide to steer people: train one with mannequin train guide, or set Samples and Steps, which take far more time", m.Net.Meta().Name)
	}
	s, err := m.newStream(o, streamStarts)
	if err != nil {
		return nil, err
	}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// newStream returns a stream of batches of at least batch agents. Agents begin standing.
func (m *Model) newStream(o StreamOptions, batch int) (*Stream, error) {
	o.Spread = cmp.Or(o.Spread, 0.5)
	o.Samples = cmp.Or(o.Samples, 1)
	o.Workers = generator.Workers(o.Workers, o.Capacity)
	if o.Capacity < 1 {
		return nil, fmt.Errorf("strnn: StreamOptions.Capacity is %d: want at least 1", o.Capacity)
	}
	if o.Workers < 1 || o.Samples < 1 || o.Steps < 0 || !(o.Spread > 0) {
		return nil, fmt.Errorf("strnn: %d workers, %d samples with a spread of %g and %d steps: want at least one worker and one sample, a spread above 0 and at least 0 steps", o.Workers, o.Samples, o.Spread, o.Steps)
	}
	l := m.Layout
	if m.Skel.Len() > maxJoints || len(l.Joints) > maxJoints || len(l.Contacts) > 8 {
		return nil, fmt.Errorf("strnn: a stream of people of %d joints and %d contacts: at most %d and 8", m.Skel.Len(), len(l.Contacts), maxJoints)
	}
	if m.Encode < 2 || m.Predict < 2 {
		return nil, fmt.Errorf("strnn: model %q observes %d frames and predicts %d: a stream wants at least 2 of both", m.Net.Meta().Name, m.Encode, m.Predict)
	}
	people := max(o.Capacity, streamStarts)
	sched, err := windows.New("strnn", people, 2*m.Predict, o.Every, o.From)
	if err != nil {
		return nil, err
	}
	sched.Capacity = o.Capacity
	batch = max(batch, sched.Most())
	search, err := m.NewController(ControllerOptions{Batch: batch, Samples: o.Samples, Workers: o.Workers, Open: o.Open, BF16: o.BF16, SkipFilter: !o.Filter})
	if err != nil {
		return nil, err
	}
	cols := l.Columns()
	size := (m.Encode + m.Predict) * cols
	s := &Stream{
		wanders: make([]Steer, people), model: m, search: search, draws: o.Samples, steps: o.Steps, spread: o.Spread, seed: o.Seed, guide: m.Guide, sched: sched,
		body: make([]wandering, people), frames: make([]float32, people*size), lively: m.livelyColumns(), places: make([]float32, people*(1+m.Predict)*l.Body()), starts: make([]float32, streamStarts*size),
		making: making{
			seen: make([]float32, batch*m.Encode*cols), next: make([]float32, batch*m.Predict*cols), want: make([]float32, batch*m.Predict*feature.MotionLen),
			stand: make([]float32, batch*m.Predict*len(l.Contacts)), stances: stancesOf(l), gaits: make([]gait, batch), ways: make([]float32, batch*o.Samples*m.Latent),
			sees: make([]float32, batch*GuideInputs(l)), fit: make([]bool, batch), codes: make([]float32, batch*m.Manner),
		},
	}
	s.legs, s.carried = m.uprightColumns()
	s.rand, s.settle, s.play = rand.New(&s.pcg), s.settleOne, s.playOne
	s.sched.Do(windows.Work{Begin: s.ask, Request: s.request, Compute: s.compute, Commit: s.commit, Visit: s.visit, Check: s.check})
	for range search.pool.Workers() {
		s.settlings = append(s.settlings, m.newCleanup())
	}
	stands := m.standing(s.settlings[0].soleHeight)
	s.bearing = [2][]float32{stands, m.uprightWeights()}
	for at := 0; at < len(s.starts); at += cols {
		copy(s.starts[at:], stands)
	}
	return s, nil
}

// prepareWindows is the number of windows that prepare makes.
const prepareWindows = 16

// prepare lets standing agents walk at different speeds, and keeps the result as the frames with
// which agents begin.
func (s *Stream) prepare() error {
	size := len(s.starts) / streamStarts
	for i := range streamStarts {
		s.add(feature.Place{})
		s.wanders[i] = Steer{Speed: 1.1 + 0.1*float32(i)}
	}
	for range prepareWindows {
		if err := s.goOn(streamStarts); err != nil {
			return err
		}
	}
	if s.lost > 0 {
		return fmt.Errorf("strnn: model %q does not walk: %d of its first %d windows are unusable", s.model.Net.Meta().Name, s.lost, prepareWindows*streamStarts)
	}
	copy(s.starts, s.frames[:streamStarts*size])
	for i := range s.begun {
		s.begun[i] = s.body[i].gait
	}
	s.clear()
	s.wanders = s.wanders[:s.sched.Capacity]
	return nil
}

// clear removes all agents.
func (s *Stream) clear() {
	for s.sched.Rows > 0 {
		s.Remove(s.sched.Rows - 1)
	}
}

// Close ends the stream's goroutines.
func (s *Stream) Close() error {
	if s.search == nil {
		return nil
	}
	s.sched.Close()
	return s.search.Close()
}

// Capacity returns the maximum number of agents.
func (s *Stream) Capacity() int { return s.sched.Capacity }

// Controls returns the Steer of each row, (capacity), to change before Generate.
func (s *Stream) Controls() []Steer { return s.wanders }

// Rig returns the people's rig; see [generator.Generator].
func (s *Stream) Rig(roles *ik.Roles) (generator.Rig, error) {
	if s.search == nil {
		return generator.Rig{}, errors.New("strnn: the zero Stream has no rig: make one with Model.NewStream")
	}
	rig, err := generator.Person(s.model.Layout, s.model.Skel, roles)
	rig.Identity = fmt.Sprintf("strnn %s, %s, %d samples, %d steps, spread %g, seed %d", s.model.Net.Meta().Name, s.sched.Identity(), s.draws, s.steps, s.spread, s.seed)
	return rig, err
}

// Model returns the stream's model.
func (s *Stream) Model() *Model { return s.model }

// Agents returns the number of agents.
func (s *Stream) Agents() int { return s.sched.Rows }

// Discarded returns the number of unusable windows. Their agents started again from the first
// frames.
func (s *Stream) Discarded() int { return s.lost }

// Add puts an agent at a place and returns its row, the last. It walks until its first window,
// which follows its Steer: by default it stops.
func (s *Stream) Add(at feature.Place, control *Steer) (row int, err error) {
	if err := s.sched.Room(at); err != nil {
		return 0, err
	}
	row = s.add(at)
	if control != nil {
		s.wanders[row] = *control
	}
	return row, nil
}

func (s *Stream) add(at feature.Place) (row int) {
	if row = s.sched.Add(); row == 0 {
		s.added = 0 // a stream without agents is as new
	}
	s.body[row] = wandering{agent: s.added}
	s.added++
	s.wanders[row] = Steer{}
	s.begin(row)
	s.Place(row, at)
	return row
}

// begin starts the first frames in a row.
func (s *Stream) begin(row int) {
	w, k := s.window(row), int(s.body[row].agent%streamStarts)
	copy(w, s.starts[k*len(w):])
	s.body[row].gait = s.begun[k]
	s.enliven(row)
}

// gaitOf returns the gait of a free agent from the second half of its window. The phase continues
// at that speed.
func (s *Stream) gaitOf(row int) gait {
	m, window := s.model, s.window(row)
	g := gait{phase: s.body[row].gait.phase}
	cols, n := m.Layout.Columns(), m.Predict/2
	for f := m.Encode + m.Predict - n; f < m.Encode+m.Predict; f++ {
		v := window[f*cols+m.Layout.Body():]
		g.speed[0] += v[feature.MotionZ] / float32(n)
		g.turn[0] += v[feature.MotionYaw] / float32(n)
	}
	for range m.Predict {
		g.next(g.speed[0], g.turn[0])
	}
	return g
}

// Place moves a row to a place, which is finite. It continues there.
func (s *Stream) Place(row int, at feature.Place) {
	b := &s.body[row]
	b.at = feature.Place{Pos: at.Pos.Flat(), Yaw: at.Yaw}
	if b.last = b.at; s.sched.At(row)%2 == 1 { // half a frame before
		v := s.frame(row, (s.sched.At(row)-1)/2)[s.model.Layout.Body():]
		b.last.Yaw -= v[feature.MotionYaw] / generator.TickRate
		b.last.Pos = b.at.Pos.Sub(m3.YawQuat(b.last.Yaw).Rotate(m3.V(v[feature.MotionX], 0, v[feature.MotionZ])).Scale(1.0 / generator.TickRate))
	}
}

// Shift moves all places of a row; see [generator.Generator].
func (s *Stream) Shift(row int, by m3.Vec3) {
	b := &s.body[row]
	b.last.Pos, b.at.Pos = b.last.Pos.Add(by), b.at.Pos.Add(by)
}

// Turn turns all places of a row; see [generator.Turner].
func (s *Stream) Turn(row int, by m3.Turn) {
	b := &s.body[row]
	b.last, b.at = b.last.Turned(by), b.at.Turned(by)
}

// Save writes the state of a row; see [generator.Generator].
func (s *Stream) Save(st *generator.State, row int) { s.sched.Save(st, row) }

// Restore adds an agent in a saved state; see [generator.Generator].
func (s *Stream) Restore(st *generator.State) (row int, err error) {
	row, _, err = s.sched.Restore(st)
	return row, err
}

// check returns an error if the state that was read for row is none. What is shown follows from it.
func (s *Stream) check(row int) error {
	b := &s.body[row]
	ok := feature.Finite(s.window(row)) && b.last.Finite() && b.at.Finite()
	for _, v := range [...]float32{b.gait.speed[0], b.gait.speed[1], b.gait.turn[0], b.gait.turn[1]} {
		ok = ok && m3.Finite(v)
	}
	if !ok || !(b.gait.phase >= 0 && b.gait.phase < 1) {
		return errors.New("the state is not finite")
	}
	s.enliven(row)
	return nil
}

// visit writes or reads the state of a row, except its schedule. The first row that is read also
// restores the number of agents that were added.
func (s *Stream) visit(st *generator.State, row int) {
	b, added := &s.body[row], s.added
	st.Kind("strnn", s.model.Encode, s.model.Predict, s.model.Layout.Columns())
	if generator.Value(st, &added); row == 0 {
		s.added = added
	}
	s.wanders[row].visit(st)
	b.asked.visit(st)
	st.Bool(&s.sched.Frozen[row])
	generator.Value(st, &b.last)
	generator.Value(st, &b.at)
	generator.Value(st, &b.gait)
	generator.Value(st, &b.agent)
	generator.Value(st, &b.windows)
	st.Bool(&s.sched.Restarted[row])
	generator.Block(st, s.window(row))
}

func (w *Steer) visit(st *generator.State) {
	generator.Value(st, &w.Speed)
	generator.Value(st, &w.Turn)
	st.Bool(&w.Free)
}

// Remove takes a row out. The last row becomes this one.
func (s *Stream) Remove(row int) {
	last := s.sched.Remove(row)
	s.body[row], s.wanders[row] = s.body[last], s.wanders[last]
	copy(s.window(row), s.window(last))
	copy(s.joints(row), s.joints(last))
}

func (s *Stream) window(row int) []float32 {
	n := len(s.starts) / streamStarts
	return s.frames[row*n:][:n]
}

// Generate starts the windows that are due and requests those that are due next. If making them
// failed it returns the error, and their agents replay their last frames. So do agents that were
// frozen, or not there yet, when theirs should have been requested.
func (s *Stream) Generate(frozen []bool) error { return s.sched.Step(frozen) }

// frame returns the frame of a row's window after the given number of frames, 0 to Predict; 0 is
// the last one before the window.
func (s *Stream) frame(row, after int) []float32 {
	cols := s.model.Layout.Columns()
	return s.window(row)[(s.model.Encode-1+after)*cols:][:cols]
}

// Sample advances rows r0 to r1−1 by a tick, and writes the poses of rows with p.Update.
func (s *Stream) Sample(p *generator.Poses, r0, r1 int) {
	s.advance(r0, r1)
	p.Pose(s, r0, r1)
}

func (s *Stream) advance(r0, r1 int) {
	for r := r0; r < r1; r++ {
		if s.sched.Frozen[r] {
			continue
		}
		b, at := &s.body[r], s.sched.At(r)
		v := s.frame(r, (at-1)/2)[s.model.Layout.Body():]
		if at%2 == 1 { // half a frame on
			b.at = b.last.Advance(v, 1.0/generator.TickRate)
		} else {
			b.at = b.last.Advance(v, 1.0/Rate)
			b.last = b.at
		}
		b.at.Yaw = m3.WrapAngle(b.at.Yaw)
	}
}

// Root returns the place of a row's body.
func (s *Stream) Root(row int) feature.Place { return s.body[row].at }

// Preview appends the future places of a row's body to dst, every n of the network's frames, at least
// 1, to the end of its window.
func (s *Stream) Preview(dst []feature.Place, row, n int) []feature.Place {
	b, done := &s.body[row], s.sched.At(row)/2 // frames behind b.last
	p := b.last
	n = max(n, 1)
	for f := done; f < s.model.Predict; f++ {
		if p = p.Advance(s.frame(row, f)[s.model.Layout.Body():], 1.0/Rate); (f+1-done)%n == 0 {
			dst = append(dst, p)
		}
	}
	return dst
}

// shown returns the frames around the current time of a row, and the share of the second.
func (s *Stream) shown(row int) (a, b []float32, share float32) {
	at := s.sched.At(row)
	return s.frame(row, at/2), s.frame(row, (at+1)/2), 0.5 * float32(at%2)
}

// Contacts returns the contacts of a row, a bit each in the layout's order.
func (s *Stream) Contacts(row int) (stands uint8) {
	a, b, share := s.shown(row)
	for c := range s.model.Layout.Contacts {
		if k := s.model.Layout.Contact(c); m3.Lerp(a[k], b[k], share) > 0.5 {
			stands |= 1 << c
		}
	}
	return stands
}

// maxJoints bounds the joints of a stream's skeleton.
const maxJoints = 64

// Pose writes the pose of a row.
func (s *Stream) Pose(p *generator.Poses, row int) {
	if s.sched.Restarted[row] {
		s.sched.Restarted[row], p.Restarted[row] = false, true
	}
	pos, rot := p.Joints(row, s.model.Skel.Len())
	p.Put(row, s.Root(row), s.Contacts(row))
	var before, points [maxJoints]m3.Vec3
	var model [maxJoints]m3.Xform
	n := len(s.model.Layout.Joints)
	at, width, joints := s.sched.At(row), s.model.Layout.Body(), s.joints(row)
	share := 0.5 * float32(at%2)
	s.Root(row).Joints(before[:n], joints[at/2*width:])
	s.Root(row).Joints(points[:n], joints[(at+1)/2*width:])
	for j := range n {
		points[j] = before[j].Lerp(points[j], share)
	}
	s.model.Fit(model[:s.model.Skel.Len()], pos, rot, points[:n])
}

// WindowStarted reports whether a row's window started in this tick.
func (s *Stream) WindowStarted(row int) bool { return s.sched.At(row) == 1 }
