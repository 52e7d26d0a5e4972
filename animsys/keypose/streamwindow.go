package keypose

import (
	"errors"

	"mannequin/animsys/feature"
	"mannequin/animsys/internal/windows"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// making holds the buffers of the windows that are due.
type making struct {
	x, y     []float32 // (due, network frames, inputs) and (due, network frames, columns + Feet)
	run      netruntime.Sequences
	tracks   []*Track    // (due)
	stand    []float32   // (due, window, Feet)
	turns    []m3.Quat48 // (due, kept, joints) packed, of the frames that are played
	failed   []bool      // (due) the window is interpolated
	all      bool        // every window is
	makers   []windowMaker
	own      windowMaker // for windows that are interpolated within a tick, into track
	track    *Track
	standing []float32   // (window, Feet) their contacts
	turned   []m3.Quat48 // (kept, joints)
	tails    shown       // (due + 1, eased) the frames over which windows are faded in; the last are of track

	begin, see, end, play func(worker, i int)
}

// windowMaker is the scratch of a worker.
type windowMaker struct {
	reader      *InputEncoder
	holder      *FootLock
	raw, pinned []float32
	last        []int32 // (groups) the last frame with a key
	soft        softener
}

func (t *making) init(l *Layout, batch, workers int) error {
	*t = making{failed: make([]bool, batch), stand: make([]float32, batch*window*Feet), turns: make([]m3.Quat48, batch*kept*len(l.Joints)), turned: make([]m3.Quat48, kept*len(l.Joints)), tails: newShown(l, (batch+1)*eased), track: l.NewTrack(window, tickRate), standing: make([]float32, window*Feet)}
	stands(t.standing)
	for range batch {
		t.tracks = append(t.tracks, l.NewTrack(window, tickRate))
	}
	for i := range workers + 1 {
		h, err := l.NewFootLock()
		if err != nil {
			return err
		}
		w := windowMaker{
			reader: l.NewInputEncoder(), holder: h, last: make([]int32, l.Groups()), soft: newSoftener(l, window),
			raw: make([]float32, window*l.Columns()), pinned: make([]float32, window*l.Columns()),
		}
		if i == workers {
			t.own = w
		} else {
			t.makers = append(t.makers, w)
		}
	}
	return nil
}

// Generate starts the windows that are due and requests those that are due next. If the network
// failed it returns the error, and their agents play the interpolation. So do agents that were
// frozen, or not there yet, when theirs should have been requested.
func (s *Stream) Generate(frozen []bool) error { return s.sched.Step(frozen) }

// commit starts the windows that are made, and interpolates those that are not.
func (s *Stream) commit(failed error) (err error) {
	for _, row := range s.sched.Skipped {
		s.body[row].ended = true
	}
	s.pool.Run(len(s.sched.Due), s.play)
	for _, late := range s.sched.Missed {
		row := int(late)
		err = errors.Join(err, s.suit(row))
		s.own.lay(s.track, &s.body[row].progress, s.parts[row], func() { s.recall(s.track, row) })
		s.interpolated(row, true)
	}
	for i, row := range s.sched.Due {
		if s.failed[i] && failed == nil && row != windows.None {
			s.lost++
		}
	}
	return err
}

// ask records the Performance and the progress of a row at its request.
func (s *Stream) ask(row int) error {
	err := s.suit(row)
	b := &s.body[row]
	b.asked, b.before = s.parts[row], b.progress
	return err
}

// request writes the keys of the windows that are due.
func (s *Stream) request() { s.pool.Run(len(s.sched.Due), s.begin) }

// suit drops a Performance of another skeleton.
func (s *Stream) suit(row int) error {
	if p := s.parts[row].Loop; p != nil && p != s.body[row].part.Loop && !p.fits(s.model.Layout) {
		s.parts[row].Loop = nil
		return errors.New("a performance with a loop of another skeleton is ignored")
	}
	return nil
}

// compute makes the windows that are due.
func (s *Stream) compute() error {
	n := len(s.sched.Due)
	s.pool.Run(n, s.see)
	in, wide := s.model.Layout.Inputs(), s.model.Layout.Columns()+Feet
	err := s.run.Run(s.session, s.y[:n*window/2*wide], s.x[:n*window/2*in], n, window/2)
	s.all = err != nil
	s.pool.Run(n, s.end)
	return err
}

// beginWindow writes the i-th window's keys.
func (s *Stream) beginWindow(worker, i int) {
	t, row := s.tracks[i], int(s.sched.Due[i])
	b := &s.body[row]
	b.progress = b.before
	s.tails.keep(i, &s.shown, row)
	s.makers[worker].lay(t, &b.progress, b.asked, func() { s.recall(t, row) })
}

// seeWindow writes the i-th window's network input.
func (s *Stream) seeWindow(worker, i int) {
	size := window / 2 * s.model.Layout.Inputs()
	s.makers[worker].reader.Encode(s.x[i*size:][:size], s.tracks[i], 2)
}

// recall writes the pose that a row shows at the start of its window into the window's first frame.
func (s *Stream) recall(t *Track, row int) {
	f, n := row*kept+recalled, s.shown.joints
	t.Place[0], t.Height[0] = s.shown.place[f], s.shown.height[f]
	for i, q := range s.shown.rot[f*n:][:n] {
		t.Rot[i] = q.Quat()
	}
	t.Key(0)
}

// maxOutput bounds the network's corrections, m or rad.
const maxOutput = 100

// endWindow corrects the i-th window by the network's output.
func (s *Stream) endWindow(worker, i int) {
	w, t, stand := &s.makers[worker], s.tracks[i], s.stand[i*window*Feet:][:window*Feet]
	size := window / 2 * (s.model.Layout.Columns() + Feet)
	y := s.y[i*size:][:size]
	if s.failed[i] = s.all || !feature.Within(y, maxOutput); s.failed[i] {
		stands(stand)
	} else {
		t.correct(y, 2, w.raw, w.pinned, stand)
		w.holder.apply(t, stand)
	}
	w.soft.run(t)
	s.tails.ease(t, i)
	pack(s.turns[i*len(s.turned):][:len(s.turned)], t)
}

// pack packs the rotations of the frames of a window that are played.
func pack(dst []m3.Quat48, t *Track) {
	from := t.Rot[before*len(t.Layout.Joints):]
	for i := range dst {
		dst[i] = from[i].Pack()
	}
}

// playWindow starts the i-th window.
func (s *Stream) playWindow(_, i int) {
	if row := s.sched.Due[i]; row != windows.None {
		s.body[row].ended = false
		s.shown.play(int(row), s.tracks[i], s.turns[i*len(s.turned):][:len(s.turned)], s.stand[i*window*Feet:][:window*Feet])
	}
}

// interpolated starts the interpolated s.track in a row, eased in or not.
func (s *Stream) interpolated(row int, ease bool) {
	s.body[row].ended = false
	s.own.soft.run(s.track)
	if ease {
		last := len(s.tracks)
		s.tails.keep(last, &s.shown, row)
		s.tails.ease(s.track, last)
	}
	pack(s.turned, s.track)
	s.shown.play(row, s.track, s.turned, s.standing)
}

// stands marks both feet as standing throughout.
func stands(stand []float32) {
	for i := range stand {
		stand[i] = 1
	}
}

// ease fades a window in over the frames that row showed after the one before, (rows, eased).
func (s *shown) ease(t *Track, row int) {
	n := s.joints
	for f := range eased {
		at, from := before+f, row*eased+f
		u := float32(f) / eased
		u *= u * (3 - 2*u)
		a, b := s.place[from], &t.Place[at]
		b.Pos, b.Yaw = a.Pos.Lerp(b.Pos, u), m3.WrapAngle(a.Yaw+u*m3.WrapAngle(b.Yaw-a.Yaw))
		t.Height[at] = m3.Lerp(s.height[from], t.Height[at], u)
		for i, q := range t.Rot[at*n:][:n] {
			t.Rot[at*n+i] = s.rot[from*n+i].Quat().Slerp(q, u)
		}
	}
}

// keep copies the frames that row of shown will show after its window, for ease.
func (s *shown) keep(i int, of *shown, row int) {
	from, n := row*kept+cycle, s.joints
	copy(s.place[i*eased:][:eased], of.place[from:])
	copy(s.height[i*eased:][:eased], of.height[from:])
	copy(s.rot[i*eased*n:][:eased*n], of.rot[from*n:])
}

// play starts a window in a row. turns are its rotations, packed.
func (s *shown) play(row int, t *Track, turns []m3.Quat48, stand []float32) {
	copy(s.place[row*kept:][:kept], t.Place[before:])
	copy(s.height[row*kept:][:kept], t.Height[before:])
	copy(s.rot[row*len(turns):][:len(turns)], turns)
	for f := range kept {
		to := &s.stands[row*kept+f]
		*to = 0
		for i := range Feet {
			if stand[(before+f)*Feet+i] > 0.5 {
				*to |= 1 << i
			}
		}
	}
}
