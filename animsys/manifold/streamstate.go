package manifold

import (
	"errors"
	"fmt"
	"slices"

	"mannequin/animsys/generator"
)

// Save writes the state of a row; see [generator.Generator].
func (s *Stream) Save(st *generator.State, row int) {
	b, r := &s.scratch.body, &s.scratch.row // local variables would be allocated
	*b = s.bodies[s.seat[row]]
	*r = rowState{tick: int32(s.tick % s.opt.Every), left: -1, added: int32(s.added)}
	if b.busy {
		for _, o := range s.pending {
			for _, w := range o.window[:o.n] {
				if w.seat == s.seat[row] {
					r.left, r.window = int32(o.commit-s.tick), w
				}
			}
		}
	}
	s.visit(st, row, b, r)
	s.visitFrames(st, s.seat[row], b, r)
}

// rowState is the part of a row's state that is not its body.
type rowState struct {
	tick, added int32 // of the stream
	left        int32 // ticks until the window that is being made starts; −1 without one
	window      orderWindow
}

// Restore adds an agent in a saved state; see [generator.Generator].
func (s *Stream) Restore(st *generator.State) (row int, err error) {
	if row = s.rows; row == s.opt.Capacity {
		return 0, fmt.Errorf("manifold: all %d rows of the stream are taken", row)
	}
	b, r := &s.scratch.body, &s.scratch.row
	*b, *r = streamBody{}, rowState{}
	s.visit(st, row, b, r)
	if err := s.check(b, r); err != nil {
		st.Fail(err)
	}
	if err := st.Err(); err != nil {
		return 0, fmt.Errorf("manifold: %w", err)
	}
	if s.empty(); row == 0 {
		s.tick, s.added = int(r.tick), int(r.added)
	}
	seat := s.free[len(s.free)-1]
	s.visitFrames(st, seat, b, r)
	s.seat[row], s.bodies[seat] = seat, *b
	st.Check(row, s.checkRow)
	if err := st.Err(); err != nil {
		return 0, fmt.Errorf("manifold: %w", err)
	}
	s.free = s.free[:len(s.free)-1]
	s.bodies[seat].busy = r.left >= 0 && s.enter(seat, r)
	s.bodies[seat].lost = b.lost || r.left >= 0 && !s.bodies[seat].busy // without a window, the next one plans the way again
	s.rows++
	return row, nil
}

// enter puts the window of a restored agent into the order that is committed in as many ticks. It
// reports false if there is none or no room in it: the window is then requested anew.
func (s *Stream) enter(seat int32, r *rowState) bool {
	commit, at := s.tick+int(r.left), 0
	if (commit-s.opt.Latency)%s.opt.Every != 0 { // it was saved in another tick than the first row
		return false
	}
	s.recall()
	for at < len(s.pending) && s.pending[at].commit < commit {
		at++
	}
	if at == len(s.pending) || s.pending[at].commit > commit {
		if len(s.spare) == 0 {
			return false
		}
		o := s.spare[len(s.spare)-1]
		s.spare = s.spare[:len(s.spare)-1]
		o.n, o.commit = 0, commit
		s.pending = slices.Insert(s.pending, at, o)
	}
	o := s.pending[at]
	if o.n == s.opt.Batch {
		return false
	}
	r.window.seat = seat
	o.window[o.n] = r.window
	o.n++
	return true
}

// visit writes or reads the state of a row, except its frames.
func (s *Stream) visit(st *generator.State, row int, b *streamBody, r *rowState) {
	st.Kind("manifold", len(s.model.Layout.Joints), s.window, s.opt.Latency, s.opt.Every)
	generator.Value(st, &r.tick)
	generator.Value(st, &r.added)
	s.curves[row].visit(st)
	s.visitStyle(st, &s.styles[row])
	generator.Value(st, &s.cadences[row])
	st.Bool(&s.frozen[row])
	for _, n := range [3]*int{&b.at, &b.made, &b.laid} {
		st.Int(n)
	}
	generator.Value(st, &b.base)
	generator.Value(st, &b.who)
	b.curve.visit(st)
	s.visitStyled(st, &b.style)
	b.went.visit(st)
	b.plan.visit(st)
	st.Bool(&b.lost)
	generator.Value(st, &b.stride)
	generator.Value(st, &r.left)
	if r.left < 0 {
		return
	}
	w := &r.window
	st.Bool(&w.changed)
	st.Int(&w.seam)
	generator.Value(st, &w.stride)
	w.curve.visit(st)
	s.visitStyled(st, &w.style)
}

func (c *Curve) visit(st *generator.State) {
	generator.Asset(st, &c.Path)
	generator.Value(st, &c.Origin)
	generator.Value(st, &c.Start)
	generator.Value(st, &c.Speed)
	generator.Value(st, &c.Facing)
	generator.Value(st, &c.Gait)
	generator.Value(st, &c.Acceleration)
	generator.Value(st, &c.PathScale)
}

func (p *planner) visit(st *generator.State) {
	p.curve.visit(st)
	generator.Value(st, &p.arc)
	generator.Value(st, &p.speed)
	generator.Value(st, &p.offset)
	generator.Value(st, &p.velocity)
	generator.Value(st, &p.turn)
	generator.Value(st, &p.want)
	generator.Value(st, &p.wall)
	generator.Value(st, &p.out)
}

func (s *Stream) visitStyle(st *generator.State, v *generator.Style) {
	st.Int(&v.Index)
	generator.Value(st, &v.Weight)
}

// visitStyled writes or reads a style as its number among the stream's.
func (s *Stream) visitStyled(st *generator.State, v *WeightedStyle) {
	number := int32(-1)
	for i, t := range s.opt.Styles {
		if v.Transfer == t {
			number = int32(i)
		}
	}
	generator.Value(st, &number)
	generator.Value(st, &v.Weight)
	if !st.Reading() {
		return
	}
	switch {
	case number == -1:
		v.Transfer = nil
	case number >= 0 && int(number) < len(s.opt.Styles):
		v.Transfer = s.opt.Styles[number]
	default:
		st.Fail(fmt.Errorf("the state has style %d of %d", number, len(s.opt.Styles)))
	}
}

// span is frames from one up to another.
type span struct{ from, to int }

// spans are the frames of a body that are shown from now on, and that its next windows need.
type spans struct{ joints, motion, phase, way, pace span }

func (s *Stream) spans(b *streamBody, r *rowState) spans {
	// The next window begins with a frame from seam to b.made.
	seam, last := min(b.at+s.opt.Latency+1, b.made), b.made+blend
	if r.left >= 0 {
		seam = min(seam, r.window.seam)
	}
	first := min(b.at, seam-context)
	v := spans{joints: span{b.at, last}, motion: span{first, last}, phase: span{seam - 1, last},
		way: span{seam - lookahead, b.laid}, pace: span{seam - 1, b.laid}}
	if s.opt.Iterations > 0 { // the edit holds on to the joints before a window
		v.joints.from = first
	}
	return v
}

// visitFrames writes or reads the frames of a seat.
func (s *Stream) visitFrames(st *generator.State, seat int32, b *streamBody, r *rowState) {
	v, n := s.spans(b, r), len(s.model.Layout.Joints)
	s.pieces(seat, v.joints, func(i, k int) { generator.Block(st, s.joints[i*n:k*n]) })
	s.pieces(seat, v.motion, func(i, k int) {
		generator.Block(st, s.sway[i:k])
		generator.Block(st, s.stand[i:k])
		generator.Block(st, s.place[i:k])
	})
	s.pieces(seat, v.phase, func(i, k int) { generator.Block(st, s.phase[i:k]) })
	s.pieces(seat, v.way, func(i, k int) { generator.Block(st, s.way[i:k]) })
	s.pieces(seat, v.pace, func(i, k int) { generator.Block(st, s.pace[i:k]) })
}

// pieces calls f with the slots of frames of a seat, in one or two pieces of its ring.
func (s *Stream) pieces(seat int32, v span, f func(i, k int)) {
	for v.from < v.to {
		n := min(v.to-v.from, s.ring-v.from%s.ring)
		i := s.slot(seat, v.from)
		f(i, i+n)
		v.from += n
	}
}

// check returns an error if what was read is no body.
func (s *Stream) check(b *streamBody, r *rowState) error {
	w, from := &r.window, b.at-context
	switch far := 1 << 40; {
	case b.at < s.ring || b.at > far || b.made > b.at+s.ring || b.laid < b.made || b.made+blend-from > s.ring || b.laid-from > s.ring,
		b.at >= b.made:
		return fmt.Errorf("the state has frames %d, %d, %d, of which %d are kept", b.at, b.made, b.laid, s.ring)
	case r.tick < 0 || int(r.tick) >= s.opt.Every || r.added < 0 || int(r.left) >= s.opt.Latency:
		return fmt.Errorf("the state is of tick %d, with a window in %d ticks", r.tick, r.left)
	case r.left >= 0 && (w.seam <= b.at || w.seam > b.made || b.laid < s.planned(w.seam)):
		return fmt.Errorf("the state has a window at frame %d of %d to %d", w.seam, b.at, b.made)
	}
	for _, c := range [...]*Curve{&b.curve, &b.went, &b.plan.curve, &w.curve} {
		if *c != c.clamped() {
			return errors.New("the state has a curve out of range")
		}
	}
	for _, stride := range [...]float32{b.stride, w.stride} {
		if stride != 0 && !(stride >= leastStride && stride <= mostStride) {
			return fmt.Errorf("the state has a stride of %g times the way", stride)
		}
	}
	if !b.base.Finite() {
		return errors.New("the state is not finite")
	}
	p := &b.plan
	for _, v := range [...]float64{p.arc, p.speed, p.offset[0], p.offset[1], p.velocity[0], p.velocity[1], p.turn.x, p.turn.v, p.want, p.wall, float64(p.out[0]), float64(p.out[1])} {
		if !finite(v) {
			return errors.New("the state is not finite")
		}
	}
	return nil
}

// checkFrames returns an error if frames of a row are not finite.
func (s *Stream) checkFrames(row int) error {
	seat := s.seat[row]
	b := &s.bodies[seat]
	v := s.spans(b, &rowState{left: -1})
	var sum float32 // 0, or NaN
	s.pieces(seat, v.phase, func(i, k int) {
		for _, x := range s.phase[i:k] {
			sum += 0 * x
		}
	})
	s.pieces(seat, v.motion, func(i, k int) {
		for _, p := range s.place[i:k] {
			sum += 0*p.x + 0*p.z + 0*p.yaw
		}
	})
	s.pieces(seat, v.way, func(i, k int) {
		for _, p := range s.way[i:k] {
			sum += 0*p.x + 0*p.z
		}
	})
	s.pieces(seat, v.pace, func(i, k int) {
		for _, p := range s.pace[i:k] {
			sum += 0*p.arc + 0*p.speed
		}
	})
	if sum != 0 {
		return errors.New("the state is not finite")
	}
	return nil
}
