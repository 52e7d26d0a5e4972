package strnn

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Stream keeps many people going without end on windows of predicted frames, each as
// their Wander asks. Whose frames are played goes on: all whose turn it is in a tick do in
// one batch. Turns are spread evenly over the ticks.
//
// A tick, of 1/60 s, is Continue, then Advance. All methods belong to one goroutine, but
// what Advance and Pose do for other rows may be done by others meanwhile. Somebody's
// motion follows from the seed, from how many were added before them, and from what they
// are asked to: it has the same bits alone or among others, but for when they begin to go
// on, and for any number of workers.
type Stream struct {
	Wanders []Wander // (people) the caller's to change before Continue
	Still   []bool   // (people) who stays as they are: no motion is made for them, and Advance passes them by; the caller's to change before Continue

	model  *Model
	search *Controller
	draws  int
	steps  int
	spread float32
	seed   uint64
	guide  *Guide
	every  int
	from   int

	rows   int
	people int // most rows
	added  uint64
	body   []wandering        // (people)
	frames []float32          // (people, Encode+Predict, columns) the last frames before those that are played, and those
	starts []float32          // (streamStarts, Encode+Predict, columns) what people begin with
	begun  [streamStarts]gait // how they go at the end of it
	turns  []int              // how many go on at each tick of a cycle
	tick   int                // of the cycle, for which the next Continue is
	lost   int

	turning
}

// wandering is one person.
type wandering struct {
	last    feature.Place // where the body is in the frame before the tick, or in the tick
	at      feature.Place // where it is
	gait    gait          // at the end of the frames that are played
	turn    int32         // the tick of the cycle at which they go on
	person  uint64        // how many were added before them
	windows uint64        // played
	leapt   bool          // they began anew
}

// TickRate is that of a stream, per second: the frames between two of the network's are
// interpolated.
const TickRate = 2 * Rate

// StreamOptions say what a stream is for.
type StreamOptions struct {
	People  int               // most at a time, at least 1
	Workers int               // goroutines of Continue, at least 1
	Seed    uint64            // of what is drawn
	Draws   int               // ways of which each goes on in the one that is most as asked, the first of them the guide's; 0 is 1
	Steps   int               // of a search from there, each of which costs as much as Latent+1 draws: see Control
	Spread  float32           // deviation of the latent values that are drawn, around the guide's and around the likeliest ones; 0 is 0.5
	Open    netruntime.Opener // what computes networks; nil is the processor
	BF16    bool              // see netruntime.SessionOptions
	Filter  bool              // with the residual network, which takes more time: what it takes off frames are settled without

	// Every is how many ticks lie between those in which people go on at all, the first of
	// them From: what goes on beside these may have the others. 0 is 1; it divides the
	// ticks of a window.
	Every, From int
}

// streamStarts is with how many windows people begin.
const streamStarts = 4

// NewStream returns a stream, with nobody in it. The frames that people begin with are
// made by the network, from somebody who stands. A model without a Guide needs a search: Draws
// or Steps.
func (m *Model) NewStream(o StreamOptions) (*Stream, error) {
	if m.Guide == nil && o.Draws <= 1 && o.Steps == 0 {
		return nil, fmt.Errorf("strnn: model %q has no guide, which tells how people go on as they are asked: learn one with mannequin train guide, or give Draws and Steps, with which they take far more time", m.Net.Meta().Name)
	}
	s, err := m.newStream(o, max(streamStarts, (o.People*max(o.Every, 1)+2*m.Predict-1)/(2*m.Predict))) // somebody new goes on when the fewest do: never more do at once
	if err != nil {
		return nil, err
	}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// newStream returns a stream of which batch people go on at a time at most. People begin
// standing.
func (m *Model) newStream(o StreamOptions, batch int) (*Stream, error) {
	if o.Spread == 0 {
		o.Spread = 0.5
	}
	if o.Draws == 0 {
		o.Draws = 1
	}
	if o.Every == 0 {
		o.Every = 1
	}
	if o.Every < 0 || 2*m.Predict%o.Every != 0 || o.From < 0 || o.From >= o.Every {
		return nil, fmt.Errorf("strnn: a stream in which people go on every %d ticks from %d on: want a divisor of %d, and less than it", o.Every, o.From, 2*m.Predict)
	}
	if o.People < 1 || o.Workers < 1 || o.Draws < 1 || o.Steps < 0 || !(o.Spread > 0) {
		return nil, fmt.Errorf("strnn: a stream of %d people on %d workers, with %d draws of spread %g and %d steps: want at least one, one, one, more than 0 and no less than 0", o.People, o.Workers, o.Draws, o.Spread, o.Steps)
	}
	l := m.Layout
	if m.Skel.Len() > maxJoints || len(l.Joints) > maxJoints || len(l.Contacts) > 8 {
		return nil, fmt.Errorf("strnn: a stream of people of %d joints and %d contacts: at most %d and 8", m.Skel.Len(), len(l.Contacts), maxJoints)
	}
	if m.Encode < 2 || m.Predict < 2 {
		return nil, fmt.Errorf("strnn: model %q sees %d frames and makes %d: a stream wants at least 2 of both", m.Net.Meta().Name, m.Encode, m.Predict)
	}
	search, err := m.NewController(ControllerOptions{Batch: batch, Draws: o.Draws, Workers: o.Workers, Open: o.Open, BF16: o.BF16, Rough: !o.Filter})
	if err != nil {
		return nil, err
	}
	people, cols := max(o.People, streamStarts), l.Columns()
	size := (m.Encode + m.Predict) * cols
	s := &Stream{
		Wanders: make([]Wander, people), Still: make([]bool, people), model: m, people: o.People, search: search, draws: o.Draws, steps: o.Steps, spread: o.Spread, seed: o.Seed, guide: m.Guide, every: o.Every, from: o.From,
		body: make([]wandering, people), frames: make([]float32, people*size), starts: make([]float32, streamStarts*size), turns: make([]int, 2*m.Predict),
		turning: turning{
			due: make([]int32, 0, batch), seen: make([]float32, batch*m.Encode*cols), next: make([]float32, batch*m.Predict*cols), want: make([]float32, batch*m.Predict*feature.MotionLen),
			stand: make([]float32, batch*m.Predict*len(l.Contacts)), stances: stancesOf(l), gaits: make([]gait, batch), ways: make([]float32, batch*o.Draws*m.Latent),
			sees: make([]float32, batch*GuideInputs(l)), fit: make([]bool, batch),
		},
	}
	s.rand, s.settle = rand.New(&s.pcg), s.settleOne
	for range search.pool.Workers() {
		s.settlings = append(s.settlings, m.newSettling())
	}
	stands := m.standing(s.settlings[0].sole)
	s.bearing = [2][]float32{stands, m.bearing()}
	for at := 0; at < len(s.starts); at += cols {
		copy(s.starts[at:], stands)
	}
	return s, nil
}

// prepareWindows is for how many windows those who stand at first walk before people begin
// with what is made of them.
const prepareWindows = 16

// prepare has those walk who stand at first, each at another speed, and keeps
// what they come to for people to begin with.
func (s *Stream) prepare() error {
	size := len(s.starts) / streamStarts
	for i := range streamStarts {
		s.add(feature.Place{}, 0)
		s.Wanders[i] = Wander{Speed: 1.1 + 0.1*float32(i)}
	}
	for range prepareWindows {
		s.due = s.due[:0]
		for i := range streamStarts {
			s.due = append(s.due, int32(i))
		}
		if err := s.goOn(); err != nil {
			return err
		}
	}
	if s.lost > 0 {
		return fmt.Errorf("strnn: model %q does not walk: %d of %d windows of people who set out are no person's", s.model.Net.Meta().Name, s.lost, prepareWindows*streamStarts)
	}
	copy(s.starts, s.frames[:streamStarts*size])
	for i := range s.begun {
		s.begun[i] = s.body[i].gait
	}
	for s.rows > 0 {
		s.Remove(s.rows - 1)
	}
	s.added, s.Wanders = 0, s.Wanders[:s.people]
	return nil
}

// Close ends its workers.
func (s *Stream) Close() error { return s.search.Close() }

// Model returns the model that predicts.
func (s *Stream) Model() *Model { return s.model }

// People returns how many there are.
func (s *Stream) People() int { return s.rows }

// Lost returns how many windows held values that are none of a person's. Who was to play
// one goes on from what people begin with.
func (s *Stream) Lost() int { return s.lost }

// Add puts someone at a place and returns the row, the last. They walk, and at their
// first turn begin to do as their Wander asks, which is to stand until it is set.
func (s *Stream) Add(at feature.Place) (row int, err error) {
	if !at.Pos.Finite() || !m3.Finite(at.Yaw) {
		return 0, fmt.Errorf("strnn: nobody can walk at %+v", at)
	}
	if s.rows == s.people {
		return 0, fmt.Errorf("strnn: all %d places of the stream are taken", s.rows)
	}
	cycle := len(s.turns)
	ahead := (s.from - s.tick%s.every + s.every) % s.every // ticks until the first of the turns that the fewest have
	for k := ahead; k < cycle; k += s.every {
		if s.turns[(s.tick+k)%cycle] < s.turns[(s.tick+ahead)%cycle] {
			ahead = k
		}
	}
	return s.add(at, (s.tick+ahead)%cycle), nil
}

func (s *Stream) add(at feature.Place, turn int) (row int) {
	row = s.rows
	s.rows++
	s.turns[turn]++
	s.body[row] = wandering{turn: int32(turn), person: s.added}
	s.added++
	s.Wanders[row], s.Still[row] = Wander{}, false
	s.begin(row)
	s.Place(row, at)
	return row
}

// begin has row play what people begin with.
func (s *Stream) begin(row int) {
	w, k := s.window(row), int(s.body[row].person%streamStarts)
	copy(w, s.starts[k*len(w):])
	s.body[row].gait = s.begun[k]
}

// gaitOf returns how somebody who is free goes, by the last half of the frames that are
// played: their stride goes on as fast as they do.
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

// Leapt reports whether row has begun anew, from another pose, since it was last asked.
// It may be asked of different rows at a time.
func (s *Stream) Leapt(row int) bool {
	leapt := s.body[row].leapt
	s.body[row].leapt = false
	return leapt
}

// Place moves row to a place, finite. They go on there.
func (s *Stream) Place(row int, at feature.Place) {
	b := &s.body[row]
	b.at = feature.Place{Pos: at.Pos.Flat(), Yaw: at.Yaw}
	if b.last = b.at; s.at(row)%2 == 1 { // half a frame before
		v := s.frame(row, (s.at(row)-1)/2)[s.model.Layout.Body():]
		b.last.Yaw -= v[feature.MotionYaw] / TickRate
		b.last.Pos = b.at.Pos.Sub(m3.YawQuat(b.last.Yaw).Rotate(m3.V(v[feature.MotionX], 0, v[feature.MotionZ])).Scale(1.0 / TickRate))
	}
}

// Remove takes row out and gives it to the one in the last.
func (s *Stream) Remove(row int) {
	s.rows--
	s.turns[s.body[row].turn]--
	if last := s.rows; row != last {
		s.body[row], s.Wanders[row], s.Still[row] = s.body[last], s.Wanders[last], s.Still[last]
		copy(s.window(row), s.window(last))
	}
}

func (s *Stream) window(row int) []float32 {
	n := len(s.starts) / streamStarts
	return s.frames[row*n:][:n]
}

// Continue has those whose turn it is go on. Where it fails they play their last frames
// again.
func (s *Stream) Continue() error {
	s.due = s.due[:0]
	for r := range s.rows {
		if int(s.body[r].turn) == s.tick && !s.Still[r] {
			s.due = append(s.due, int32(r))
		}
	}
	s.tick = (s.tick + 1) % len(s.turns)
	return s.goOn()
}

// at returns how many ticks row has played its frames, 1 to 2·Predict.
func (s *Stream) at(row int) int {
	cycle := len(s.turns)
	return (s.tick+cycle-1-int(s.body[row].turn))%cycle + 1
}

// frame returns the frame that row shows after so many frames of those that it plays, 0
// to Predict; with 0 it is the last one before them.
func (s *Stream) frame(row, after int) []float32 {
	cols := s.model.Layout.Columns()
	return s.window(row)[(s.model.Encode-1+after)*cols:][:cols]
}

// Advance goes on by a tick for the rows from r0 up to r1.
func (s *Stream) Advance(r0, r1 int) {
	for r := r0; r < r1; r++ {
		if s.Still[r] {
			continue
		}
		b, at := &s.body[r], s.at(r)
		v := s.frame(r, (at-1)/2)[s.model.Layout.Body():]
		if at%2 == 1 { // half a frame on
			b.at = b.last.Advance(v, 1.0/TickRate)
		} else {
			b.at = b.last.Advance(v, 1.0/Rate)
			b.last = b.at
		}
		b.at.Yaw = m3.WrapAngle(b.at.Yaw)
	}
}

// Where returns where the body of row is.
func (s *Stream) Where(row int) feature.Place { return s.body[row].at }

// Ahead appends the places to dst where the body of row will be, n frames of the network's
// from one to the next, to the end of those that it plays.
func (s *Stream) Ahead(dst []feature.Place, row, n int) []feature.Place {
	b, done := &s.body[row], s.at(row)/2 // frames behind b.last
	p := b.last
	for f := done; f < s.model.Predict; f++ {
		if p = p.Advance(s.frame(row, f)[s.model.Layout.Body():], 1.0/Rate); (f+1-done)%n == 0 {
			dst = append(dst, p)
		}
	}
	return dst
}

// shown returns the frames before and after what row shows, and the share of the latter.
func (s *Stream) shown(row int) (a, b []float32, share float32) {
	at := s.at(row)
	return s.frame(row, at/2), s.frame(row, (at+1)/2), 0.5 * float32(at%2)
}

// Stands reports which contacts of row stand, a bit each in the layout's order.
func (s *Stream) Stands(row int) (stands uint8) {
	a, b, share := s.shown(row)
	for c := range s.model.Layout.Contacts {
		if k := s.model.Layout.Contact(c); m3.Lerp(a[k], b[k], share) > 0.5 {
			stands |= 1 << c
		}
	}
	return stands
}

// maxJoints are the most joints of a streamed skeleton.
const maxJoints = 64

// Pose writes the pose of row, (joints) of the model's skeleton: translations and
// rotations in the parent's space, the root's in the world.
func (s *Stream) Pose(row int, pos []m3.Vec3, rot []m3.Quat) {
	var before, points [maxJoints]m3.Vec3
	var model [maxJoints]m3.Xform
	n := len(s.model.Layout.Joints)
	a, b, share := s.shown(row)
	s.Where(row).Joints(before[:n], a)
	s.Where(row).Joints(points[:n], b)
	for j := range n {
		points[j] = before[j].Lerp(points[j], share)
	}
	s.model.Fit(model[:s.model.Skel.Len()], pos, rot, points[:n])
}

// Began reports whether row plays new frames since this tick.
func (s *Stream) Began(row int) bool { return s.at(row) == 1 }
