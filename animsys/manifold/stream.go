package manifold

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Stream is a [generator.Generator] of people who move along curves. It makes motion in windows, in
// one batch for all agents that need one, and joins each window to the motion before it. A window
// begins 60 frames before its seam, the frame at which it takes over. It gets the contacts made
// before the seam, and is pulled toward the existing motion. Over 30 frames the two are cross-faded.
//
// A tick never waits for networks: windows are requested a fixed number of ticks ahead, made on
// another goroutine, and started on exactly that tick. Motion depends on the curves and on when
// they change, never on the speed of the machine. If more windows are requested at once than a
// batch holds, the agents with the most motion left wait for the next batch.
type Stream struct {
	curves   []Curve           // (people)
	styles   []generator.Style // (people)
	cadences []float32         // (people) factor of the step frequency; 0 counts as 1
	frozen   []bool            // (people) agents that do not move

	model  *Model
	maker  *maker
	opt    StreamOptions
	window int // frames of a window: hop + 2·context
	hop    int // frames by which a window extends the motion

	rows   int
	seat   []int32 // (rows) seat of a row's motion
	free   []int32
	bodies []streamBody // (seats)
	ring   int          // frames that are kept of each seat
	way    []point      // (seats, ring) they do not change while a window is being made
	pace   []pace       // (seats, ring)
	track
	walls  generator.Surroundings
	packed feature.Places16
	idle   []feature.Point16 // joints of a standing person
	added  int               // number of agents added or placed
	request
	due     []dueBody
	lost    int
	scratch struct {
		body streamBody
		row  rowState
	}
	checkRow func(row int) error // checkFrames, without an allocation each
}

// track is finished motion: rings of frames, or windows of them.
type track struct {
	place  []spot            // (…, frames) of the body on its curve
	sway   []sway16          // (…, frames) of the body about that
	joints []feature.Point16 // (…, frames, joints) in its frame
	stand  []uint8           // (…, frames) contacts, a bit each
	phase  []float32         // (…, frames) of stepping after the frame, rad
}

func newTrack(frames, joints int) track {
	return track{make([]spot, frames), make([]sway16, frames), make([]feature.Point16, frames*joints), make([]uint8, frames), make([]float32, frames)}
}

// streamBody is the state of an agent. Frames are numbered from its first.
type streamBody struct {
	at     int    // current frame
	made   int    // frames before it are final, and are played; the next window is cross-faded with blend more
	curve  Curve  // wanted
	who    uint32 // the person that moves, unless the curve says
	style  WeightedStyle
	went   Curve   // of the last window that started
	plan   planner // of its trajectory
	laid   int     // frames before it have waypoints
	base   m3.Vec3 // what its places lack, m: the frames of a window that is being made cannot be shifted
	busy   bool    // a window is being made
	gone   bool    // and will not be played
	lost   bool    // the last one was discarded
	stride float32 // Walk.Stride of the next one
}

type dueBody struct {
	row     int32
	left    int32
	changed bool
}

// StreamOptions are the options of NewStream.
type StreamOptions struct {
	Capacity   int               // maximum number of agents, at least 1
	Window     int               // frames of a window, even, 180 to 1200; 0: 240. 120 overlap for any length, so longer windows cost less
	Batch      int               // maximum number of windows requested at once, up to Capacity; 0: twice the average need of Capacity agents. Larger: agents spawned together stand for less time
	Latency    int               // frames from the request of a window to its start, 1 to 60; 0: 24
	Every      int               // frames between requests, 1 to 60; 0: 8
	Iterations int               // of the edit; 0 leaves it out, if the crowd locks feet anyway
	Workers    int               // background goroutines; 0: one less than generator.Workers
	Styles     []*StyleTransfer  // styles for agents, of this model: see StyleSet.For
	Open       netruntime.Opener // opens sessions; nil: on the CPU
	BF16       bool              // see netruntime.SessionOptions
}

// blend is the number of frames of the cross-fade at a seam.
const blend = 30

// join is the number of frames after a seam from which the trajectory may change. The smoothing of
// trajectories looks about as far ahead.
const join = 30

func (o *StreamOptions) fill() error {
	o.Window = cmp.Or(o.Window, 240)
	o.Latency = cmp.Or(o.Latency, 24)
	o.Every = cmp.Or(o.Every, 8)
	o.Workers = cmp.Or(o.Workers, max(1, generator.Workers(0, o.Capacity)-1)) // the tick has the others
	switch {
	case o.Capacity < 1 || o.Workers < 1:
		return fmt.Errorf("manifold: StreamOptions with a Capacity of %d, on %d workers: want at least one of each", o.Capacity, o.Workers)
	case o.Window < 180 || o.Window > 1200 || o.Window%2 != 0:
		return fmt.Errorf("manifold: windows of %d frames: want an even number from 180 to 1200", o.Window)
	case o.Iterations < 0:
		return fmt.Errorf("manifold: %d iterations of the edit: want 0 or more", o.Iterations)
	case o.Latency < 1 || o.Latency > 60 || o.Every < 1 || o.Every > 60:
		return fmt.Errorf("manifold: a latency of %d frames, every %d: want 1 to 60", o.Latency, o.Every)
	case (o.Latency/o.Every+1)*o.Every > o.Window-2*context:
		return fmt.Errorf("manifold: a window of %d frames adds %d: too few for a latency of %d and a request every %d frames", o.Window, o.Window-2*context, o.Latency, o.Every)
	}
	if hop := o.Window - 2*context; o.Batch == 0 {
		o.Batch = 2*o.Capacity*o.Every/hop + 1
	}
	if o.Batch = min(o.Batch, o.Capacity); o.Batch < 1 {
		return fmt.Errorf("manifold: %d windows at a time: want at least one", o.Batch)
	}
	return nil
}

// NewStream returns a stream without agents.
func (n *Networks) NewStream(o StreamOptions) (*Stream, error) {
	if n.Model == nil {
		return nil, errZeroNetworks
	}
	m := n.Model
	if err := o.fill(); err != nil {
		return nil, err
	}
	if len(m.Layout.Contacts) > 8 || m.Skel.Len() > maxJoints {
		return nil, fmt.Errorf("manifold: a stream of bodies of %d joints and %d contacts: at most %d and 8", m.Skel.Len(), len(m.Layout.Contacts), maxJoints)
	}
	for i, t := range o.Styles {
		if !t.BelongsTo(m) {
			return nil, fmt.Errorf("manifold: style %d is of another model: take what StyleSet.For returns for this one", i)
		}
	}
	s := &Stream{model: m, packed: m.person.Places16(), opt: o, window: o.Window, hop: o.Window - 2*context, due: make([]dueBody, 0, o.Capacity)}
	var err error
	if s.maker, err = n.newMaker(s); err != nil {
		return nil, err
	}
	if s.idle, err = s.maker.idle(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	// Orders may hold seats whose agents are gone.
	seats := o.Capacity + o.Batch*s.Orders()
	s.ring = s.hop + 2*context + 2*lookahead + o.Latency + 2*o.Every + join
	s.curves, s.styles, s.seat = make([]Curve, o.Capacity), make([]generator.Style, o.Capacity), make([]int32, o.Capacity)
	s.cadences, s.frozen = make([]float32, o.Capacity), make([]bool, o.Capacity)
	s.way, s.pace = make([]point, seats*s.ring), make([]pace, seats*s.ring)
	s.bodies, s.track = make([]streamBody, seats), newTrack(seats*s.ring, len(m.Layout.Joints))
	for i := range seats {
		s.free = append(s.free, int32(seats-1-i))
	}
	s.checkRow = s.checkFrames
	s.request.start(s)
	return s, nil
}

// Close stops the stream's goroutines.
func (s *Stream) Close() error {
	if s.model == nil {
		return nil
	}
	s.request.stop()
	return s.maker.close()
}

// Orders returns the maximum number of batches that are made at the same time.
func (s *Stream) Orders() int { return s.opt.Latency/max(s.opt.Every, 1) + 1 }

// Options returns the options with their defaults filled in.
func (s *Stream) Options() StreamOptions { return s.opt }

// Agents returns the number of agents.
func (s *Stream) Agents() int { return s.rows }

// Discarded returns the number of windows with values that were not finite. Their agents stood
// still instead.
func (s *Stream) Discarded() int { return s.lost }

// Add puts an agent at a place and returns its row, the last. It stands there until the first window
// of its curve starts.
func (s *Stream) Add(at feature.Place, control *Curve) (row int, err error) {
	if !at.Finite() {
		return 0, fmt.Errorf("manifold: no agent can stand at %+v", at)
	}
	if row = s.rows; row == s.opt.Capacity {
		return 0, fmt.Errorf("manifold: all %d rows of the stream are taken", row)
	}
	s.empty()
	s.rows++
	s.curves[row], s.styles[row], s.cadences[row], s.frozen[row] = Curve{}, generator.Style{}, 0, false
	if control != nil {
		s.curves[row] = *control
	}
	phase := s.nextPhase()
	s.seat[row] = s.sit(at, phase, uint32(s.added))
	return row, nil
}

// Place moves a row to a place, which is finite. It stands there until a new window starts.
func (s *Stream) Place(row int, at feature.Place) {
	old := s.seat[row]
	s.leave(old) // a window that is being made belongs to the old place
	s.seat[row] = s.sit(at, s.nextPhase(), s.bodies[old].who)
}

// Remove takes a row out. The last row becomes this one.
func (s *Stream) Remove(row int) {
	s.rows--
	s.leave(s.seat[row])
	last := s.rows
	s.seat[row], s.curves[row], s.styles[row], s.cadences[row], s.frozen[row] = s.seat[last], s.curves[last], s.styles[last], s.cadences[last], s.frozen[last]
}

// leave frees a seat, or lets take free it if a window is being made.
func (s *Stream) leave(seat int32) {
	if b := &s.bodies[seat]; b.busy {
		b.gone = true
	} else {
		s.free = append(s.free, seat)
	}
}

// sit fills a seat with a standing agent.
func (s *Stream) sit(at feature.Place, phase float32, who uint32) int32 {
	seat := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	first := s.ring // the ring also holds the frames before
	b := &s.bodies[seat]
	*b = streamBody{at: first, made: first + s.opt.Latency + 1, who: who, stride: 1}
	b.curve.Gait.Person = who
	s.stay(seat, first-context-lookahead-2, first+s.ring-context-lookahead-2, at, sway16{}, 0, s.idle, phase)
	b.laid = b.made + context + lookahead + 2
	i := s.slot(seat, first)
	stands := s.way[i].waypoint(s.pace[i])
	b.plan.follow(Curve{}, stands, stands)
	return seat
}

// stay makes a seat's agent stand in the pose joints from frame f0 to f1, at arc on the path.
func (s *Stream) stay(seat int32, f0, f1 int, at feature.Place, off sway16, arc float32, joints []feature.Point16, phase float32) {
	p := point{at.Pos.X, at.Pos.Z, turnsOf(float64(at.Yaw))}
	for f := f0; f < f1; f++ {
		i := s.slot(seat, f)
		s.way[i], s.pace[i] = p, pace{arc: arc}
		s.place[i], s.sway[i], s.stand[i], s.phase[i] = spot{at.Pos.X, at.Pos.Z, at.Yaw}, off, 1<<len(s.model.Layout.Contacts)-1, phase
		copy(s.joints[i*len(joints):][:len(joints)], joints)
	}
}

// slot returns the index of frame f of a seat.
func (s *Stream) slot(seat int32, f int) int { return int(seat)*s.ring + f%s.ring }

// ask fills o with the windows that are needed next, and reports whether there are any: for agents
// whose motion ends soon, and for those whose curve or style has changed.
func (s *Stream) ask(o *order) bool {
	o.n = 0
	s.due = s.due[:0]
	lead := s.opt.Latency + 2*s.opt.Every
	for r := range s.rows {
		b := &s.bodies[s.seat[r]]
		if b.busy || s.frozen[r] {
			continue
		}
		changed := b.lost || !s.curve(r).equal(b.curve) || s.style(r) != b.style
		if left := b.made - b.at; left <= lead || changed {
			s.due = append(s.due, dueBody{int32(r), int32(left), changed})
		}
	}
	slices.SortFunc(s.due, func(a, b dueBody) int { return cmp.Or(cmp.Compare(a.left, b.left), cmp.Compare(a.row, b.row)) })
	for _, d := range s.due[:min(len(s.due), s.opt.Batch)] {
		seat := s.seat[d.row]
		b := &s.bodies[seat]
		s.rebase(seat)
		b.curve, b.style, b.busy = s.curve(int(d.row)), s.style(int(d.row)), true
		soonest := b.at + s.opt.Latency + 1
		seam := soonest
		if !d.changed {
			seam = max(b.made, soonest)
		}
		o.window[o.n] = orderWindow{seat, d.changed, min(seam, b.made), b.stride, b.curve, b.style}
		s.lay(int(d.row), &o.window[o.n])
		o.n++
	}
	return o.n > 0
}

// take starts the windows of o. If making them failed with err, or made values that are not finite,
// their agents stand instead.
func (s *Stream) take(o *order, err error) {
	n, frames := len(s.model.Layout.Joints), s.hop+blend
	for k, w := range o.window[:o.n] {
		seat, seam := w.seat, w.seam
		b := &s.bodies[seat]
		if b.busy = false; b.gone {
			b.gone = false
			s.free = append(s.free, seat)
			continue
		}
		b.made = seam + s.hop
		if b.lost = err != nil || o.failed[k]; b.lost {
			s.lost++
			b.plan.curve = b.went // from which the next window continues
			b.laid = b.made + context + lookahead + 2
			last := s.slot(seat, seam-1)
			// The ring holds less than a window, and what smoothing needs before it.
			s.stay(seat, seam, b.laid, s.place[last].place(), s.sway[last], s.pace[last].arc, s.joints[last*n:][:n], s.phase[last])
			for f := seam - 2*lookahead; f < seam; f++ {
				to, from := s.slot(seat, f), s.slot(seat, seam)
				s.way[to], s.pace[to] = s.way[from], s.pace[from]
			}
			continue
		}
		b.went, b.stride = w.curve, o.stride[k]
		for j := range frames {
			i, from := s.slot(seat, seam+j), k*frames+j
			s.place[i], s.sway[i], s.stand[i], s.phase[i] = o.place[k*s.placed()+j], o.sway[from], o.stand[from], o.phase[from]
			joints := s.joints[i*n:][:n]
			if j < blend {
				feature.Mix16(joints, joints, o.joints[from*n:], fade(j))
			} else { // what was there may be of any age
				copy(joints, o.joints[from*n:])
			}
		}
	}
}

// fade returns the share of a window in the frame j frames after its seam.
func fade(j int) float32 {
	if j >= blend {
		return 1
	}
	u := float32(j+1) / (blend + 1)
	return u * u * (3 - 2*u)
}

// advance advances rows r0 to r1−1 by a frame. Agents without more motion wait.
func (s *Stream) advance(r0, r1 int) {
	for r := r0; r < r1; r++ {
		if b := &s.bodies[s.seat[r]]; !s.frozen[r] && b.at+1 < b.made {
			b.at++
		}
	}
}
