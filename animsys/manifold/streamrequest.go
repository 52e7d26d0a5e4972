package manifold

import (
	"math"

	"mannequin/animsys/generator"
	"mannequin/ik"
	"mannequin/netruntime"
)

// request is how a stream has windows made beside the ticks.
type request struct {
	// Waits counts the ticks that had to wait for windows: there were too many, or the
	// processor was too slow, for what StreamOptions say. Motion does not depend on it.
	Waits int

	tick    int
	spare   []*Order
	pending []int // ticks at which the orders under way are committed, oldest first
	work    chan *Order
	done    chan madeOrder
}

type madeOrder struct {
	order *Order
	err   error
}

// start starts the goroutine that makes windows.
func (r *request) start(s *Stream) {
	n := s.Orders()
	r.pending = make([]int, 0, n)
	for range n {
		r.spare = append(r.spare, s.NewOrder())
	}
	r.work, r.done = make(chan *Order, n), make(chan madeOrder, n)
	go func() {
		for o := range r.work {
			r.done <- madeOrder{o, netruntime.Aside(func() error { return s.maker.run(o) })}
		}
		close(r.done)
	}()
}

// stop ends it, after what is under way.
func (r *request) stop() {
	if r.work == nil {
		return
	}
	close(r.work)
	for range r.done {
	}
	r.work = nil
}

// Generate commits windows that are due, and requests those that are needed next.
func (s *Stream) Generate(frozen []bool) error {
	copy(s.still, frozen)
	if len(s.pending) > 0 && s.pending[0] == s.tick {
		if err := s.commit(); err != nil {
			return err
		}
	}
	if s.tick%s.opt.Every == 0 {
		o := s.spare[len(s.spare)-1]
		if s.ask(o); o.Len() > 0 {
			s.spare = s.spare[:len(s.spare)-1]
			s.pending = append(s.pending, s.tick+s.opt.Latency)
			s.work <- o
		}
	}
	s.tick++
	return nil
}

// commit plays the oldest order, and waits for it if it must.
func (s *Stream) commit() error {
	copy(s.pending, s.pending[1:])
	s.pending = s.pending[:len(s.pending)-1]
	var m madeOrder
	select {
	case m = <-s.done:
	default:
		s.Waits++
		m = netruntime.Await(s.done)
	}
	s.take(m.order, m.err)
	s.spare = append(s.spare, m.order)
	return m.err
}

// Capacity returns the largest number of people.
func (s *Stream) Capacity() int { return s.opt.People }

// Controls returns the curve of each row, (capacity), to change before Generate.
func (s *Stream) Controls() []Curve { return s.curves }

// Styles returns the style of each row, (capacity); see [generator.Styled].
func (s *Stream) Styles() []generator.Style { return s.styles }

// Cadences returns by what the step frequency of each row is multiplied, (capacity).
func (s *Stream) Cadences() []float32 { return s.cadences }

// Rig returns the people's rig; see [generator.Generator].
func (s *Stream) Rig(roles *ik.Roles) (generator.Rig, error) {
	return generator.Person(s.model.Layout, s.model.Skel, roles)
}

// curve returns the curve of a row with its cadence.
func (s *Stream) curve(row int) Curve {
	c := s.curves[row]
	if often := s.cadences[row]; often != 0 {
		if c.Gait.Cadence == 0 {
			c.Gait.Cadence = 1
		}
		c.Gait.Cadence *= often
	}
	return c.sane()
}

// style returns the style of a row.
func (s *Stream) style(row int) Styled {
	g := s.styles[row]
	if g.Index < 0 || g.Index >= len(s.opt.Styles) || !(g.Weight > 0) {
		return Styled{}
	}
	return s.model.suits(Styled{With: s.opt.Styles[g.Index], Weight: g.Weight})
}

// nextPhase returns the phase of the next agent's first step: evenly spread, so that
// people who set out together do not walk in step.
func (s *Stream) nextPhase() float32 {
	const golden = 2.399963229728653
	s.seated++
	return float32(math.Remainder(golden*float64(s.seated), 2*math.Pi))
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
