package latent

import (
	"errors"
	"fmt"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/internal/turns"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
)

// Stream keeps many people walking without end, a clip after the other, each as their
// Sliders say. Every half second somebody's clip goes on to the next: a network tells
// which one begins as theirs ends, those of all whose turn comes at once go through the
// decoder in one batch, on a goroutine beside the ticks until then, and the two are faded
// over the half second that they share. Turns are spread evenly over the ticks.
//
// It is a [generator.Generator]. All methods belong to one goroutine, but what
// Sample and Pose do for other rows may be done by others meanwhile. Somebody's
// motion has the same bits alone or among others, but for when in their step they
// begin.
type Stream struct {
	sliders []Sliders // (people)
	still   []bool    // (people) agents that stay as they are
	model   *Model
	coder   *Coder
	next    *Next
	steered uint32

	rows  int
	body  []walking // (people)
	clips []float32 // (people, Frames, columns) what is played
	now   []float32 // (people, values) its components
	first [2]start  // clips that people begin with
	turns turns.Turns
	asked []Sliders // (due)
	was   []float32 // (due, values) the components of their clips
	is, z []float32 // (due, values) those of the next ones, and as latent values
	made  []float32 // (due, Frames, columns)
	fit   []bool    // (due) it is finite
	lost  int
}

// hop is after how many frames the next clip begins.
const hop = Frames - Overlap

// walking is one person.
type walking struct {
	place feature.Place
	leapt bool // they began anew, or play again what they played
}

// start is a clip to begin with.
type start struct{ components, clip []float32 }

// Leads is by how many deviations of Lead a foot is ahead in clips that people begin
// with: with none ahead the legs are those of no clip, between left and right, and
// hardly walk.
const Leads = 1.5

// StreamOptions say what a stream is for.
type StreamOptions struct {
	People  int               // most at a time, at least 1
	Workers int               // goroutines that make clips, at least 1
	Open    netruntime.Opener // what computes networks; nil is the processor
	BF16    bool              // see netruntime.SessionOptions

	// Every is how many ticks lie between those in which people's turns come at all, the
	// first of them From; it is for how long clips are made. The longer, the more people
	// have theirs made at once, which costs less. 0 is 1; it divides the ticks of half a
	// second.
	Every, From int
}

// NewStream returns a stream, with nobody in it. next tells how clips go on: see
// NewNext.
func (m *Model) NewStream(next *netruntime.Net, o StreamOptions) (*Stream, error) {
	o.Workers = generator.Workers(o.Workers, o.People)
	if o.People < 1 || o.Workers < 1 {
		return nil, fmt.Errorf("latent: a stream of %d people on %d workers: want at least one", o.People, o.Workers)
	}
	if m.Skel.Len() > maxJoints || len(m.Layout.Joints) > maxJoints || len(m.Layout.Contacts) > 8 {
		return nil, fmt.Errorf("latent: a stream of people of %d joints and %d contacts: at most %d and 8", m.Skel.Len(), len(m.Layout.Contacts), maxJoints)
	}
	turn, err := turns.New(o.People, hop, o.Every, o.From)
	if err != nil {
		return nil, fmt.Errorf("latent: a stream in which %w", err)
	}
	batch := turn.Most()
	cols := m.Layout.Columns()
	s := &Stream{
		sliders: make([]Sliders, o.People), still: make([]bool, o.People), model: m,
		body: make([]walking, o.People), clips: make([]float32, o.People*Frames*cols), now: make([]float32, o.People*m.Values),
		turns: turn, fit: make([]bool, batch), asked: make([]Sliders, batch), made: make([]float32, batch*Frames*cols),
		was: make([]float32, batch*m.Values), is: make([]float32, batch*m.Values), z: make([]float32, batch*m.Values),
	}
	opt := CoderOptions{Batch: batch, Workers: o.Workers, Open: o.Open}
	if s.next, err = m.NewNext(next, opt); err != nil {
		return nil, err
	}
	opt.BF16 = o.BF16
	if s.coder, err = m.newDecoder(opt); err != nil {
		return nil, errors.Join(err, s.next.Close())
	}
	for k, steered := range m.Components.Steered() {
		if steered {
			s.steered |= 1 << k
		}
	}
	lead := m.Components.Index(Lead)
	for i := range s.first {
		f := start{make([]float32, m.Values), make([]float32, Frames*cols)}
		if lead >= 0 {
			f.components[lead] = Leads * float32(1-2*i)
		}
		if err := s.coder.decodeComponents(f.clip, f.components, 1); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		if !feature.Finite(f.clip) {
			return nil, errors.Join(fmt.Errorf("latent: model %q makes a mean clip that is not finite", m.Net.Meta().Name), s.Close())
		}
		m.Carry(f.clip)
		s.first[i] = f
	}
	s.turns.Do(turns.Work{Order: s.order, Make: s.make, Take: s.take})
	return s, nil
}

// Close ends its workers.
func (s *Stream) Close() error {
	s.turns.Close()
	return errors.Join(s.next.Close(), s.coder.Close())
}

// Capacity returns the largest number of people.
func (s *Stream) Capacity() int { return len(s.body) }

// Controls returns the sliders of each row, (capacity), to change before Generate.
func (s *Stream) Controls() []Sliders { return s.sliders }

// Rig returns the people's rig; see [generator.Generator].
func (s *Stream) Rig(roles *ik.Roles) (generator.Rig, error) {
	return generator.Person(s.model.Layout, s.model.Skel, roles)
}

// Model returns the model whose clips people play.
func (s *Stream) Model() *Model { return s.model }

// People returns how many there are.
func (s *Stream) People() int { return s.rows }

// Lost returns how many clips held values that were not finite. Who was to play one
// walks on as people do on average.
func (s *Stream) Lost() int { return s.lost }

// Add puts someone at a place and returns the row, the last. They walk, as people do
// on average, until their first turn to go on.
func (s *Stream) Add(at feature.Place, control *Sliders) (row int, err error) {
	if !at.Pos.Finite() || !m3.Finite(at.Yaw) {
		return 0, fmt.Errorf("latent: nobody can walk at %+v", at)
	}
	if s.rows == len(s.body) {
		return 0, fmt.Errorf("latent: all %d places of the stream are taken", s.rows)
	}
	row = s.rows
	s.rows++
	s.turns.Add(row)
	s.body[row].leapt = false
	s.Place(row, at)
	s.sliders[row], s.still[row] = Sliders{Asked: s.steered}, false
	if control != nil {
		s.sliders[row] = *control
	}
	s.begin(row)
	return row, nil
}

// begin has row play a clip to begin with.
func (s *Stream) begin(row int) {
	f := &s.first[row%2]
	copy(s.clip(row), f.clip)
	copy(s.components(row), f.components)
}

// Place moves row to a place, finite. They walk on there.
func (s *Stream) Place(row int, at feature.Place) {
	s.body[row].place = feature.Place{Pos: at.Pos.Flat(), Yaw: at.Yaw}
}

// Remove takes row out and gives it to the one in the last.
func (s *Stream) Remove(row int) {
	s.rows--
	s.turns.Remove(row, s.rows)
	if last := s.rows; row != last {
		s.body[row], s.sliders[row], s.still[row] = s.body[last], s.sliders[last], s.still[last]
		copy(s.clip(row), s.clip(last))
		copy(s.components(row), s.components(last))
	}
}

func (s *Stream) clip(row int) []float32 {
	n := Frames * s.model.Layout.Columns()
	return s.clips[row*n:][:n]
}

func (s *Stream) components(row int) []float32 {
	n := s.model.Values
	return s.now[row*n:][:n]
}

// Generate starts the clips that are due and requests those that are due next. If
// making them failed it returns the error, and their agents play their clip again; so
// do agents that were frozen, or not there yet, when theirs should have been requested.
func (s *Stream) Generate(frozen []bool) error {
	copy(s.still, frozen)
	if err := s.turns.Continue(s.still[:s.rows]); err != nil {
		return fmt.Errorf("latent: a stream: %w", err)
	}
	return nil
}

// take has those play their clips who are due.
func (s *Stream) take(err error) error {
	for _, row := range s.turns.Late {
		s.body[row].leapt = true
	}
	for i, row := range s.turns.Due {
		switch {
		case row == turns.None:
		case err != nil:
			s.body[row].leapt = true
		default:
			s.play(i, int(row))
		}
	}
	return nil
}

// order sees what those play who are due, and what they are asked for.
func (s *Stream) order() error {
	v := s.model.Values
	for i, row := range s.turns.Due {
		s.asked[i] = s.sliders[row]
		copy(s.was[i*v:][:v], s.components(int(row)))
	}
	return nil
}

// make makes the clips that are due. It runs beside the ticks: of the stream it touches
// nothing but what it makes them with.
func (s *Stream) make() error {
	n, v, size := len(s.turns.Due), s.model.Values, Frames*s.model.Layout.Columns()
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
			s.model.Carry(clip)
		}
	}
	return nil
}

// play has row go on to the i-th of the clips that were made.
func (s *Stream) play(i, row int) {
	v, cols := s.model.Values, s.model.Layout.Columns()
	is, y := s.made[i*Frames*cols:][:Frames*cols], s.is[i*v:][:v]
	if !s.fit[i] {
		s.lost++
		f := &s.first[row%2]
		is, y = f.clip, f.components
	}
	copy(s.components(row), y)
	to := s.clip(row)
	for f := range Overlap {
		fade(to[f*cols:][:cols], to[(hop+f)*cols:][:cols], is[f*cols:][:cols], f)
	}
	copy(to[Overlap*cols:], is[Overlap*cols:])
}

// Sample moves rows r0 to r1−1 on by a frame, and poses those of p.Update.
func (s *Stream) Sample(p *generator.Poses, r0, r1 int) {
	s.advance(r0, r1)
	for r := r0; r < r1; r++ {
		if p.Update[r] {
			s.Pose(p, r)
		}
	}
}

func (s *Stream) advance(r0, r1 int) {
	cols, body := s.model.Layout.Columns(), s.model.Layout.Body()
	for r := r0; r < r1; r++ {
		if s.still[r] {
			continue
		}
		b := &s.body[r]
		b.place = b.place.Advance(s.clip(r)[(s.turns.At(r)-1)*cols+body:], 1.0/Rate)
		b.place.Yaw = m3.WrapAngle(b.place.Yaw)
	}
}

// Where returns where the body of row is.
func (s *Stream) Where(row int) feature.Place { return s.body[row].place }

// Ahead appends the places to dst where the body of row will be, n frames from one to the
// next, to the end of its clip; into the latter half of that the next clip will be faded.
func (s *Stream) Ahead(dst []feature.Place, row, n int) []feature.Place {
	cols, body := s.model.Layout.Columns(), s.model.Layout.Body()
	clip, at := s.clip(row), s.turns.At(row)
	p := s.body[row].place
	for f := at + 1; f < Frames; f++ {
		if p = p.Advance(clip[(f-1)*cols+body:], 1.0/Rate); (f-at)%n == 0 {
			dst = append(dst, p)
		}
	}
	return dst
}

// frame returns the frame of row's clip that is shown, (columns).
func (s *Stream) frame(row int) []float32 {
	cols := s.model.Layout.Columns()
	return s.clip(row)[s.turns.At(row)*cols:][:cols]
}

// Stands reports which contacts of row stand, a bit each in the layout's order.
func (s *Stream) Stands(row int) (stands uint8) {
	f, l := s.frame(row), s.model.Layout
	for c := range l.Contacts {
		if f[l.Contact(c)] > 0.5 {
			stands |= 1 << c
		}
	}
	return stands
}

// maxJoints are the most joints of a streamed skeleton.
const maxJoints = 64

// Pose writes the pose of a row.
func (s *Stream) Pose(p *generator.Poses, row int) {
	if s.body[row].leapt {
		s.body[row].leapt, p.Restarted[row] = false, true
	}
	pos, rot := p.Joints(row, s.model.Skel.Len())
	p.Put(row, s.Where(row), s.Stands(row))
	var points [maxJoints]m3.Vec3
	var model [maxJoints]m3.Xform
	n := len(s.model.Layout.Joints)
	s.Where(row).Joints(points[:n], s.frame(row))
	s.model.Fit(model[:s.model.Skel.Len()], pos, rot, points[:n])
}
