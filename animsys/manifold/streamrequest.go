package manifold

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/generator"
	"mannequin/ik"
	"mannequin/netruntime"
)

// request makes a stream's windows in the background.
type request struct {
	// Waits counts the ticks that had to wait for windows: there were too many for StreamOptions,
	// or the processor was too slow. Motion does not depend on it.
	Waits int

	tick    int
	spare   []*order
	pending []*order // being made, in the order of their commits
	again   bool     // rows were restored: pending orders must be made again
	work    chan *order
	done    chan error // of pending orders
}

// order is the windows of one batch.
type order struct {
	n      int
	commit int // tick
	window []orderWindow
	failed []bool
	stride []float32 // of the next window
	track            // (windows, hop + blend) from the seam on; places are (windows, placed)
}

// orderWindow is the input of a window. It does not change while the window is made.
type orderWindow struct {
	seat    int32
	changed bool    // the curve or the style has changed
	seam    int     // frame at which it takes over
	stride  float32 // Walk.Stride
	curve   Curve
	style   WeightedStyle
}

func (s *Stream) newOrder() *order {
	n := s.opt.Batch
	o := &order{window: make([]orderWindow, n), failed: make([]bool, n), stride: make([]float32, n), track: newTrack(n*(s.hop+blend), len(s.model.Layout.Joints))}
	o.place = make([]spot, n*s.placed())
	return o
}

// placed returns how many places of a window are made: the motion of its last frame is to one more.
func (s *Stream) placed() int { return s.hop + context + 1 }

// start starts the goroutine that makes windows.
func (r *request) start(s *Stream) {
	n := s.Orders()
	r.pending = make([]*order, 0, n)
	for range n {
		r.spare = append(r.spare, s.newOrder())
	}
	r.work, r.done = make(chan *order, n), make(chan error, n)
	go func() {
		for o := range r.work {
			r.done <- netruntime.Aside(func() error { return s.maker.run(o) })
		}
		close(r.done)
	}()
}

// stop ends it, after the windows that are being made.
func (r *request) stop() {
	if r.work == nil {
		return
	}
	close(r.work)
	for range r.done {
	}
	r.work = nil
}

// Generate starts the windows that are due and requests those that are needed next.
func (s *Stream) Generate(frozen []bool) error {
	if s.work == nil {
		return errors.New("manifold: the stream is closed")
	}
	copy(s.frozen, frozen)
	if s.rows == 0 { // see empty
		return nil
	}
	if s.again {
		s.again = false
		for _, o := range s.pending {
			s.work <- o
		}
	}
	if len(s.pending) > 0 && s.pending[0].commit == s.tick {
		if err := s.commit(); err != nil {
			return err
		}
	}
	if s.tick%s.opt.Every == 0 {
		if o := s.spare[len(s.spare)-1]; s.ask(o) {
			o.commit = s.tick + s.opt.Latency
			s.spare = s.spare[:len(s.spare)-1]
			s.pending = append(s.pending, o)
			s.work <- o
		}
	}
	s.tick++
	return nil
}

// commit starts the windows of the oldest order, after waiting for them if necessary.
func (s *Stream) commit() (err error) {
	o := s.pending[0]
	select {
	case err = <-s.done:
	default:
		s.Waits++
		err = netruntime.Await(s.done)
	}
	s.take(o, err)
	s.pending = slices.Delete(s.pending, 0, 1)
	s.spare = append(s.spare, o)
	return err
}

// recall waits for the orders that are being made, so that they can be made again.
func (s *Stream) recall() {
	if !s.again {
		for range s.pending {
			netruntime.Await(s.done)
		}
		s.again = true
	}
}

// empty resets a stream without agents.
func (s *Stream) empty() {
	if s.rows > 0 {
		return
	}
	s.recall()
	for _, o := range s.pending {
		for _, w := range o.window[:o.n] {
			s.bodies[w.seat].busy, s.bodies[w.seat].gone = false, false
			s.free = append(s.free, w.seat)
		}
		s.spare = append(s.spare, o)
	}
	s.pending, s.again, s.tick, s.added = s.pending[:0], false, 0, 0
}

// Capacity returns the largest number of people.
func (s *Stream) Capacity() int { return s.opt.Capacity }

// Controls returns the curve of each row, (capacity), to change before Generate.
func (s *Stream) Controls() []Curve { return s.curves }

// Styles returns the style of each row, (capacity); see [generator.Styled].
func (s *Stream) Styles() []generator.Style { return s.styles }

// Cadences returns the factor of each row's step frequency, (capacity); see [generator.Styled].
func (s *Stream) Cadences() []float32 { return s.cadences }

// Rig returns the people's rig; see [generator.Generator].
func (s *Stream) Rig(roles *ik.Roles) (generator.Rig, error) {
	if s.model == nil {
		return generator.Rig{}, errors.New("manifold: the zero Stream has no rig: make one with Networks.NewStream")
	}
	rig, err := generator.Person(s.model.Layout, s.model.Skel, roles)
	rig.Identity = fmt.Sprintf("manifold %s, windows of %d every %d, latency %d, batch %d, %d iterations, %d styles",
		s.model.Net.Meta().Name, s.window, s.opt.Every, s.opt.Latency, s.opt.Batch, s.opt.Iterations, len(s.opt.Styles))
	return rig, err
}

// curve returns the curve of a row with its cadence.
func (s *Stream) curve(row int) Curve {
	c := s.curves[row]
	if often := s.cadences[row]; often != 0 {
		c.Gait.Cadence = cmp.Or(c.Gait.Cadence, 1)
		c.Gait.Cadence *= often
	}
	c.Gait.Person = cmp.Or(c.Gait.Person, s.bodies[s.seat[row]].who)
	return c.clamped()
}

// style returns the style of a row.
func (s *Stream) style(row int) WeightedStyle {
	g := s.styles[row]
	if g.Index < 0 || g.Index >= len(s.opt.Styles) || !(g.Weight > 0) {
		return WeightedStyle{}
	}
	return s.model.validStyle(WeightedStyle{Transfer: s.opt.Styles[g.Index], Weight: g.Weight})
}

// nextPhase returns the phase of the next agent's first step. Phases are evenly spread, so that
// people who start together do not walk in step.
func (s *Stream) nextPhase() float32 {
	const golden = 2.399963229728653
	s.added++
	return float32(math.Remainder(golden*float64(s.added), 2*math.Pi))
}

// Sample advances rows r0 to r1−1 by a frame, and writes the poses of rows with p.Update.
func (s *Stream) Sample(p *generator.Poses, r0, r1 int) {
	s.advance(r0, r1)
	p.Pose(s, r0, r1)
}
