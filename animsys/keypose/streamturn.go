package keypose

import (
	"errors"

	"mannequin/engine/m3"
)

// turning is what Continue makes windows with.
type turning struct {
	due        []int32   // rows whose turn it is in this tick
	x, y       []float32 // (due, network frames, inputs) and (due, network frames, columns + Feet)
	in, out    [][]float32
	tracks     []*Track // (due)
	failed     []bool   // (due) their window is interpolated
	all        bool     // every window is
	makers     []windowMaker
	begin, end func(worker, i int)
}

// windowMaker is what one worker needs.
type windowMaker struct {
	reader             *Reader
	holder             *Holder
	raw, pinned, stand []float32
	last               []int32 // (groups) the last frame with a key
	soft               softener
}

func (t *turning) init(l *Layout, batch, workers int) error {
	*t = turning{due: make([]int32, 0, batch), in: make([][]float32, 1), out: make([][]float32, 1), failed: make([]bool, batch)}
	for range batch {
		t.tracks = append(t.tracks, l.NewTrack(window, tickRate))
	}
	for range workers {
		h, err := l.NewHolder()
		if err != nil {
			return err
		}
		t.makers = append(t.makers, windowMaker{
			reader: l.NewReader(), holder: h, last: make([]int32, l.Groups()), soft: newSoftener(l, window),
			raw: make([]float32, window*l.Columns()), pinned: make([]float32, window*l.Columns()), stand: make([]float32, window*Feet),
		})
	}
	return nil
}

// Continue has the windows made of those whose turn it is. Where the network fails it
// returns the error, and they play what interpolation makes.
func (s *Stream) Continue() error {
	s.due = s.due[:0]
	var wrong error
	for r := range s.rows {
		if b := &s.body[r]; int(b.turn) == s.tick && !s.Still[r] {
			s.due = append(s.due, int32(r))
			if p := s.Parts[r].Routine; p != nil && p != b.part.Routine && !p.fits(s.model.Layout) {
				s.Parts[r].Routine, wrong = nil, errors.New("keypose: a part with a routine of another skeleton: they go on with theirs")
			}
		}
	}
	s.tick = (s.tick + 1) % cycle
	n := len(s.due)
	if n == 0 {
		return nil
	}
	s.pool.Run(n, s.begin)
	in, wide := s.model.Layout.Inputs(), s.model.Layout.Columns()+Feet
	s.in[0], s.out[0] = s.x[:n*window/2*in], s.y[:n*window/2*wide]
	err := s.session.RunSequences(s.out, s.in, n, window/2)
	s.all = err != nil
	s.pool.Run(n, s.end)
	for _, failed := range s.failed[:n] {
		if failed && err == nil {
			s.lost++
		}
	}
	return errors.Join(wrong, err)
}

// beginWindow writes the i-th window's keys, and what the network sees of them.
func (s *Stream) beginWindow(worker, i int) {
	w, t, row := &s.makers[worker], s.tracks[i], int(s.due[i])
	w.lay(t, &s.body[row], s.Parts[row], func() { s.recall(t, row) })
	size := window / 2 * s.model.Layout.Inputs()
	w.reader.Read(s.x[i*size:][:size], t, 2)
}

// recall writes what row shows at the beginning of their window into its first frame.
func (s *Stream) recall(t *Track, row int) {
	f, n := row*kept+cycle-before, s.shown.joints
	t.Place[0], t.Height[0] = s.shown.place[f], s.shown.height[f]
	copy(t.Rot[:n], s.shown.rot[f*n:])
	t.Key(0)
}

// endWindow makes the i-th window of what the network has made.
func (s *Stream) endWindow(worker, i int) {
	w, t, row := &s.makers[worker], s.tracks[i], int(s.due[i])
	size := window / 2 * (s.model.Layout.Columns() + Feet)
	y := s.y[i*size:][:size]
	if s.failed[i] = s.all || unfit(y); s.failed[i] {
		w.stands()
	} else {
		t.correct(y, 2, w.raw, w.pinned, w.stand)
		w.holder.hold(t, w.stand)
	}
	w.soft.run(t)
	s.shown.play(row, t, w.stand, eased)
}

// unfit reports whether a network's output is no correction of a person: a value is not
// finite, or beyond 100 m or rad.
func unfit(v []float32) bool {
	for _, x := range v {
		if !(m3.Abs(x) < 100) {
			return true
		}
	}
	return false
}

// stands has both feet stand all the time.
func (w *windowMaker) stands() {
	for i := range w.stand {
		w.stand[i] = 1
	}
}

// play makes the frames of a window those that row plays, eased over from those that
// they played before in so many ticks.
func (s *shown) play(row int, t *Track, stand []float32, ticks int) {
	for f := range kept {
		to, from, n := row*kept+f, row*kept+f+cycle, s.joints
		at := f + before
		u := float32(1)
		if f < ticks {
			x := float32(f) / float32(ticks)
			u = x * x * (3 - 2*x)
		}
		if s.stands[to] = 0; u == 1 {
			s.place[to], s.height[to] = t.Place[at], t.Height[at]
			copy(s.rot[to*n:][:n], t.Rot[at*n:])
		} else {
			a, b := s.place[from], t.Place[at]
			s.place[to].Pos, s.place[to].Yaw = a.Pos.Lerp(b.Pos, u), m3.WrapAngle(a.Yaw+u*m3.WrapAngle(b.Yaw-a.Yaw))
			s.height[to] = m3.Lerp(s.height[from], t.Height[at], u)
			for i := range n {
				s.rot[to*n+i] = s.rot[from*n+i].Slerp(t.Rot[at*n+i], u)
			}
		}
		for i := range Feet {
			if stand[at*Feet+i] > 0.5 {
				s.stands[to] |= 1 << i
			}
		}
	}
}
