package keypose

import (
	"errors"
	"math"

	"mannequin/animsys/feature"
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
		t.makers = append(t.makers, windowMaker{l.NewReader(), h, make([]float32, window*l.Columns()), make([]float32, window*l.Columns()), make([]float32, window*Feet), make([]int32, l.Groups()), softener{make([]feature.Place, window), make([]float32, window), make([]m3.Quat, window*len(l.Joints))}})
	}
	return nil
}

// Continue has the windows made of those whose turn it is. Where the network fails it
// returns the error, and they play what interpolation makes.
func (s *Stream) Continue() error {
	s.due = s.due[:0]
	var wrong error
	for r := range s.rows {
		if b := &s.body[r]; int(b.turn) == s.tick {
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
	s.shown.play(row, t, w.stand, ease16)
}

// unfit reports whether a value is not finite.
func unfit(v []float32) bool {
	for _, x := range v {
		if !m3.Finite(x) {
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

// first has row begin so many seconds into the routine, with a window that
// interpolation makes.
func (s *Stream) first(row int, from float64) {
	b, w, t := &s.body[row], &s.makers[0], s.tracks[0]
	r := b.part.Routine
	if r.every > 0 {
		from = math.Mod(from, r.every)
	}
	c := cursor{routine: r, at: float64(s.at(row)) - tickRate*from/float64(b.part.Speed)}
	for n := c.next(b.part); n.at <= -before; n = c.next(b.part) {
		c = n
	}
	// What they do before their window is as if they had come to it.
	b.last, b.next = c, c
	b.last.at += cycle
	b.next.at += cycle
	w.lay(t, b, b.part, func() {
		t.put(0, c)
		if n := c.next(b.part); c.at < -before {
			t.put(1, n)
			u := m3.Clamp(float32((-before-c.at)/(n.at-c.at)), 0, 1)
			for g := range t.Layout.Groups() {
				t.mix(g, 0, 0, 1, u)
			}
			clear(t.Weight[t.Layout.Groups():][:t.Layout.Groups()])
		}
		t.Key(0)
	})
	w.stands()
	w.soft.run(t)
	s.shown.play(row, t, w.stand, 0)
}

// take has b do as they are asked from their next key on.
func (b *performing) take(asked Part) {
	if asked.Routine != nil {
		b.part.Routine = asked.Routine
	}
	if b.part.Speed = 1; asked.Speed > 0 {
		b.part.Speed = m3.Clamp(asked.Speed, Slowest, Quickest)
	}
}

// lay interpolates the window of b's next turn. recall writes its first frame.
func (w *windowMaker) lay(t *Track, b *performing, asked Part, recall func()) {
	clear(t.Weight)
	clear(w.last)
	recall()
	was, c := b.last, b.next
	was.at -= cycle
	c.at -= cycle
	for ; c.at <= 0; was, c = c, c.next(b.part) {
		w.key(t, was, c)
		b.pass(c)
	}
	b.take(asked)
	b.last, b.next = was, c
	for ; frameAt(was.at) < window; was, c = c, c.next(b.part) {
		w.key(t, was, c)
	}
	w.beyond(t, was, b.part)
	t.Interpolate()
}

// pass counts the rounds of who has come to a key.
func (b *performing) pass(c cursor) {
	switch last := int(c.key) == len(c.routine.time)-1; {
	case b.begun != c.routine:
		b.begun, b.rounds = c.routine, 0
		if last {
			b.rounds = 1
		}
	case last && (c.routine.every > 0 || b.rounds == 0):
		b.rounds++
	}
}

// frameAt returns the frame of a window that is so many ticks from its beginning.
func frameAt(at float64) int { return before + int(math.Round(at)) }

// key keys the frame of c, which comes after was, if it lies in the window behind the
// first. The way to another routine is lightly keyed such that it begins and ends slowly.
func (w *windowMaker) key(t *Track, was, c cursor) {
	if c.routine != was.routine {
		for _, ease := range [2][2]float64{{0.25, 0.16}, {0.75, 0.84}} {
			if f := frameAt(was.at + ease[0]*(c.at-was.at)); f > 0 && f < window {
				t.between(f, was, c, float32(ease[1]))
				w.keyed(t, f)
			}
		}
	}
	if f := frameAt(c.at); f > 0 && f < window {
		t.put(f, c)
		w.keyed(t, f)
	}
}

// keyed remembers what frame f has keys of.
func (w *windowMaker) keyed(t *Track, f int) {
	groups := t.Layout.Groups()
	for g, k := range t.Weight[f*groups:][:groups] {
		if k > 0 {
			w.last[g] = int32(f)
		}
	}
}

// hint is the weight of what is no key, but on the way between two.
const hint = 0.3

// beyond keys the last frame lightly with what lies on the way to the keys after the
// window, from c on.
func (w *windowMaker) beyond(t *Track, c cursor, p Part) {
	groups, n := t.Layout.Groups(), len(t.Layout.Joints)
	end := window - 1
	weight := t.Weight[end*groups:][:groups]
	for open := groups; open > 0; c = c.next(p) {
		r, k := c.routine, int(c.key)
		open = 0
		for g := range groups {
			switch {
			case weight[g] > 0:
			case r.weight[k*groups+g] == 0:
				open++
			default:
				switch {
				case g == GroupPath:
					t.Place[end] = r.place[k]
				case g == GroupRoot:
					t.Height[end] = r.height[k]
					fallthrough
				default:
					t.Rot[end*n+g-groupJoint] = r.rot[k*n+g-groupJoint]
				}
				prev := w.last[g]
				u := (float64(end) - float64(prev)) / (c.at + before - float64(prev))
				t.mix(g, end, int(prev), end, float32(u))
				weight[g] = hint
			}
		}
	}
}

// softener rounds motion off: nobody turns back within a tick, as what goes straight
// from key to key does.
type softener struct {
	place  []feature.Place
	height []float32
	rot    []m3.Quat
}

// taps are the weights of the frames around one: a binomial of 47 ms to a side.
var taps = [...]float32{1. / 256, 8. / 256, 28. / 256, 56. / 256, 70. / 256, 56. / 256, 28. / 256, 8. / 256, 1. / 256}

func (s *softener) run(t *Track) {
	const side = len(taps) / 2
	n := len(t.Layout.Joints)
	copy(s.place, t.Place)
	copy(s.height, t.Height)
	copy(s.rot, t.Rot)
	for f := side; f < t.Frames-side; f++ {
		near := s.place[f]
		p, rot := feature.Place{Yaw: near.Yaw}, t.Rot[f*n:][:n]
		t.Height[f] = 0
		clear(rot)
		for k, u := range taps {
			from := f + k - side
			q := s.place[from]
			p.Pos = p.Pos.Add(q.Pos.Scale(u))
			p.Yaw += u * m3.WrapAngle(q.Yaw-near.Yaw)
			t.Height[f] += u * s.height[from]
			for i, q := range s.rot[from*n:][:n] {
				if q.Dot(s.rot[f*n+i]) < 0 {
					q = q.Neg()
				}
				r := &rot[i]
				r.X, r.Y, r.Z, r.W = r.X+u*q.X, r.Y+u*q.Y, r.Z+u*q.Z, r.W+u*q.W
			}
		}
		for i := range rot {
			rot[i] = rot[i].Normalize()
		}
		t.Place[f] = p
	}
}
