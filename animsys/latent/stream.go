package latent

import (
	"errors"
	"fmt"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/internal/windows"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
)

// Stream is a [generator.Generator] of walking people. Each plays one clip after the other, as
// its Sliders ask. Every half second an agent starts its next clip: a network predicts the clip
// that continues the present one, the decoder makes the clips of all agents that are due in one
// batch, on a goroutine beside the ticks, and the two clips are cross-faded over the half second
// that they share. The agents' clips start evenly spread over the ticks.
//
// An agent's motion has the same bits alone or in a crowd, except for the tick at which its first
// clip starts.
type Stream struct {
	sliders []Sliders // (people)
	model   *Model
	coder   *Coder
	next    *NextClip
	steered uint32

	body  []walking // (people)
	clips packed    // (people) current clips
	now   []float32 // (people, values) components of the current clips
	first [2]start  // clips with which agents begin
	sched windows.Scheduler
	asked []Sliders // (due)
	was   []float32 // (due, values) components of the current clips
	is, z []float32 // (due, values) components of the next clips, and as latent values
	made  []float32 // (due, Frames, columns)
	ready packed    // (due) the same
	fit   []bool    // (due) the clip is finite
	lost  int
}

// hop is the number of frames from the start of a clip to that of the next.
const hop = Frames - Overlap

// walking is the state of an agent.
type walking struct {
	place feature.Place
	asked Sliders // when its next clip was requested
}

// start is a clip to begin with.
type start struct {
	components []float32
	clip       packed
}

// StartLead is the component Lead of the clips in which agents begin: how far one foot is ahead, in
// standard deviations. With 0 the legs are between left and right, as in no clip, and hardly walk.
const StartLead = 1.5

// StreamOptions configure a stream.
type StreamOptions struct {
	Capacity int               // maximum number of agents, at least 1
	Workers  int               // goroutines that make clips; 0 lets generator.Workers choose
	Open     netruntime.Opener // computes networks; nil is the processor
	BF16     bool              // see netruntime.SessionOptions

	// Clips start only in every Every-th tick, the first of them From. A larger number makes larger
	// batches, which cost less per clip. 0: 1; it must divide the ticks of half a second.
	Every, From int
}

// NewStream returns a stream without agents. next predicts how clips continue: see NewNextClip.
func (m *Model) NewStream(next *netruntime.Net, o StreamOptions) (*Stream, error) {
	if m.Net == nil {
		return nil, errZeroModel
	}
	o.Workers = generator.Workers(o.Workers, o.Capacity)
	if o.Capacity < 1 || o.Workers < 1 {
		return nil, fmt.Errorf("latent: StreamOptions with a Capacity of %d, on %d workers: want at least one of each", o.Capacity, o.Workers)
	}
	if m.Skel.Len() > maxJoints || len(m.Layout.Joints) > maxJoints || len(m.Layout.Contacts) > 8 {
		return nil, fmt.Errorf("latent: a stream of people of %d joints and %d contacts: at most %d and 8", m.Skel.Len(), len(m.Layout.Contacts), maxJoints)
	}
	sched, err := windows.New("latent", o.Capacity, hop, o.Every, o.From)
	if err != nil {
		return nil, err
	}
	batch := sched.Most()
	cols, places := m.Layout.Columns(), m.Places16()
	s := &Stream{
		sliders: make([]Sliders, o.Capacity), model: m,
		body: make([]walking, o.Capacity), clips: newPacked(o.Capacity, m.Layout, &places), now: make([]float32, o.Capacity*m.Values),
		sched: sched, fit: make([]bool, batch), asked: make([]Sliders, batch), made: make([]float32, batch*Frames*cols), ready: newPacked(batch, m.Layout, &places),
		was: make([]float32, batch*m.Values), is: make([]float32, batch*m.Values), z: make([]float32, batch*m.Values),
	}
	opt := CoderOptions{Batch: batch, Workers: o.Workers, Open: o.Open}
	if s.next, err = m.NewNextClip(next, opt); err != nil {
		return nil, err
	}
	opt.BF16 = o.BF16
	if s.coder, err = m.newDecoder(opt); err != nil {
		return nil, errors.Join(err, s.next.Close())
	}
	for k, steered := range m.Components.Controllable() {
		if steered {
			s.steered |= 1 << k
		}
	}
	lead := m.Components.Index(Lead)
	for i := range s.first {
		f, clip := start{make([]float32, m.Values), newPacked(1, m.Layout, &places)}, s.made[:Frames*cols]
		if lead >= 0 {
			f.components[lead] = StartLead * float32(1-2*i)
		}
		if err := s.coder.decodeComponents(clip, f.components, 1); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		if !feature.Finite(clip) {
			return nil, errors.Join(fmt.Errorf("latent: model %q makes a mean clip that is not finite", m.Net.Meta().Name), s.Close())
		}
		m.MatchRootToFeet(clip)
		f.clip.pack(clip)
		s.first[i] = f
	}
	s.sched.Do(windows.Work{Begin: s.ask, Request: s.request, Compute: s.compute, Commit: s.commit, Visit: s.visit, Check: s.check})
	return s, nil
}

// Close ends the stream's goroutines.
func (s *Stream) Close() error {
	if s.next == nil {
		return nil
	}
	s.sched.Close()
	return errors.Join(s.next.Close(), s.coder.Close())
}

// Capacity returns the maximum number of agents.
func (s *Stream) Capacity() int { return s.sched.Capacity }

// Controls returns the sliders of each row, (capacity), to change before Generate.
func (s *Stream) Controls() []Sliders { return s.sliders }

// Rig returns the people's rig; see [generator.Generator].
func (s *Stream) Rig(roles *ik.Roles) (generator.Rig, error) {
	if s.next == nil {
		return generator.Rig{}, errors.New("latent: the zero Stream has no rig: make one with Model.NewStream")
	}
	rig, err := generator.Person(s.model.Layout, s.model.Skel, roles)
	rig.Identity = "latent " + s.model.Net.Meta().Name + ", " + s.sched.Identity()
	return rig, err
}

// Model returns the stream's model.
func (s *Stream) Model() *Model { return s.model }

// Agents returns the number of agents.
func (s *Stream) Agents() int { return s.sched.Rows }

// Discarded returns the number of clips with values that were not finite. Their agents played a
// mean clip instead.
func (s *Stream) Discarded() int { return s.lost }

// Add puts an agent at a place and returns its row, the last. It walks as people do on average until
// its first window.
func (s *Stream) Add(at feature.Place, control *Sliders) (row int, err error) {
	if err := s.sched.Room(at); err != nil {
		return 0, err
	}
	row = s.sched.Add()
	s.body[row] = walking{}
	s.Place(row, at)
	s.sliders[row] = Sliders{Controlled: s.steered}
	if control != nil {
		s.sliders[row] = *control
	}
	s.begin(row)
	return row, nil
}

// begin starts a mean clip in a row.
func (s *Stream) begin(row int) {
	f := &s.first[row%2]
	s.clips.of(row).copy(f.clip)
	copy(s.components(row), f.components)
}

// Place moves a row to a place, which is finite. It walks on there.
func (s *Stream) Place(row int, at feature.Place) {
	s.body[row].place = feature.Place{Pos: at.Pos.Flat(), Yaw: at.Yaw}
}

// Shift moves all places of a row; see [generator.Generator].
func (s *Stream) Shift(row int, by m3.Vec3) { s.body[row].place.Pos = s.body[row].place.Pos.Add(by) }

// Turn turns the place of a row; see [generator.Turner].
func (s *Stream) Turn(row int, by m3.Turn) { s.body[row].place = s.body[row].place.Turned(by) }

// Save writes the state of a row; see [generator.Generator].
func (s *Stream) Save(st *generator.State, row int) { s.sched.Save(st, row) }

// Restore adds an agent in a saved state; see [generator.Generator].
func (s *Stream) Restore(st *generator.State) (row int, err error) {
	row, _, err = s.sched.Restore(st)
	return row, err
}

// check returns an error if the state that was read for row is none.
func (s *Stream) check(row int) error {
	if !finite(s.clips.of(row).body) || !feature.Finite(s.components(row)) || !s.body[row].place.Finite() {
		return errors.New("the state is not finite")
	}
	return nil
}

// visit writes or reads the state of a row, except its schedule.
func (s *Stream) visit(st *generator.State, row int) {
	b := &s.body[row]
	st.Kind("latent", s.model.Values, s.model.Layout.Columns())
	generator.Value(st, &s.sliders[row])
	generator.Value(st, &b.asked)
	generator.Value(st, &b.place)
	st.Bool(&s.sched.Restarted[row])
	st.Bool(&s.sched.Frozen[row])
	c := s.clips.of(row)
	generator.Block(st, c.joints)
	generator.Block(st, c.body)
	generator.Block(st, c.contacts)
	generator.Values(st, s.components(row))
}

// Remove takes a row out. The last row becomes this one.
func (s *Stream) Remove(row int) {
	last := s.sched.Remove(row)
	s.body[row], s.sliders[row] = s.body[last], s.sliders[last]
	s.clips.of(row).copy(s.clips.of(last))
	copy(s.components(row), s.components(last))
}

func (s *Stream) components(row int) []float32 {
	n := s.model.Values
	return s.now[row*n:][:n]
}

// Generate starts the clips that are due and requests those that are due next. If making them
// failed it returns the error, and their agents replay their clip. So do agents that were frozen,
// or not there yet, when theirs should have been requested.
func (s *Stream) Generate(frozen []bool) error { return s.sched.Step(frozen) }

// commit starts the clips that are due.
func (s *Stream) commit(err error) error {
	for i, row := range s.sched.Due {
		if err == nil && row != windows.None {
			s.play(i, int(row))
		}
	}
	return nil
}

// ask records the sliders of a row at its request.
func (s *Stream) ask(row int) error {
	s.body[row].asked = s.sliders[row]
	return nil
}

// request writes the inputs of the clips that are due.
func (s *Stream) request() {
	v := s.model.Values
	for i, row := range s.sched.Due {
		s.asked[i] = s.body[row].asked
		copy(s.was[i*v:][:v], s.components(int(row)))
	}
}

// compute makes the clips that are due.
func (s *Stream) compute() error {
	n, v, size := len(s.sched.Due), s.model.Values, Frames*s.model.Layout.Columns()
	if err := s.next.Run(s.is[:n*v], s.was[:n*v], s.asked[:n]); err != nil {
		return err
	}
	for i := range n {
		s.model.Components.ToLatent(s.z[i*v:][:v], s.is[i*v:][:v])
	}
	if err := s.coder.Decode(s.made[:n*size], s.z[:n*v], n); err != nil {
		return err
	}
	for i := range n {
		clip := s.made[i*size:][:size]
		if s.fit[i] = feature.Finite(clip) && feature.Finite(s.is[i*v:][:v]); s.fit[i] {
			s.model.MatchRootToFeet(clip)
			s.ready.of(i).pack(clip)
		}
	}
	return nil
}

// play starts the i-th of the new clips in a row.
func (s *Stream) play(i, row int) {
	v := s.model.Values
	is, y := s.ready.of(i), s.is[i*v:][:v]
	if !s.fit[i] {
		s.lost++
		f := &s.first[row%2]
		is, y = f.clip, f.components
	}
	copy(s.components(row), y)
	s.clips.of(row).follow(is)
}

// Sample advances rows r0 to r1−1 by a frame, and writes the poses of rows with p.Update.
func (s *Stream) Sample(p *generator.Poses, r0, r1 int) {
	if s.model == nil {
		return
	}
	s.advance(r0, r1)
	p.Pose(s, r0, r1)
}

func (s *Stream) advance(r0, r1 int) {
	for r := r0; r < r1; r++ {
		if s.sched.Frozen[r] {
			continue
		}
		b := &s.body[r]
		b.place = b.place.Advance(s.clips.body[r*Frames+s.sched.At(r)-1][:], 1.0/Rate)
		b.place.Yaw = m3.WrapAngle(b.place.Yaw)
	}
}

// Root returns the place of a row's body.
func (s *Stream) Root(row int) feature.Place { return s.body[row].place }

// Preview appends the future places of a row's body to dst, every n frames, at least 1, to the end of
// its clip. The next clip will be faded into its second half.
func (s *Stream) Preview(dst []feature.Place, row, n int) []feature.Place {
	if s.model == nil {
		return dst
	}
	clip, at := s.clips.of(row), s.sched.At(row)
	p := s.body[row].place
	n = max(n, 1)
	for f := at + 1; f < Frames; f++ {
		if p = p.Advance(clip.body[f-1][:], 1.0/Rate); (f-at)%n == 0 {
			dst = append(dst, p)
		}
	}
	return dst
}

// Contacts returns the contacts of a row, a bit each in the layout's order.
func (s *Stream) Contacts(row int) (stands uint8) {
	if s.model == nil {
		return 0
	}
	n, at := len(s.model.Layout.Contacts), row*Frames+s.sched.At(row)
	for c, v := range s.clips.contacts[at*n:][:n] {
		if v > contactUnits/2 {
			stands |= 1 << c
		}
	}
	return stands
}

// maxJoints bounds the joints of a stream's skeleton.
const maxJoints = feature.MaxPacked

// Pose writes the pose of a row.
func (s *Stream) Pose(p *generator.Poses, row int) {
	if s.sched.Restarted[row] {
		s.sched.Restarted[row], p.Restarted[row] = false, true
	}
	pos, rot := p.Joints(row, s.model.Skel.Len())
	p.Put(row, s.Root(row), s.Contacts(row))
	var points [maxJoints]m3.Vec3
	var model [maxJoints]m3.Xform
	n := len(s.model.Layout.Joints)
	s.clips.places.World(points[:n], s.Root(row), s.clips.joints[(row*Frames+s.sched.At(row))*n:])
	s.model.Fit(model[:s.model.Skel.Len()], pos, rot, points[:n])
}
