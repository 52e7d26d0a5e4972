package matching

import (
	"errors"
	"fmt"
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
)

// Times after a jump, ticks.
const (
	again = 40 // a row does not jump back to where it jumped
	calm  = 12 // a row does not jump because of its pose alone
)

// LearnedStream is a [generator.Generator] as [Stream] is, of a [Learned]. In a tick the projector runs once for all agents
// that search, and the stepper once for all agents. The decompressor runs for those whose pose is shown, some of them at
// a time; with StreamOptions.Open once for all agents.
type LearnedStream struct {
	steering
	of    *Learned
	size  int // of a state
	bf16  bool
	state []float32 // (capacity, size)
	must  []Tags    // (capacity) that the state shows
	acts  []act     // (capacity)
	last  []float32 // (capacity, columns) the features to which a row jumped last
	ago   []int32   // (capacity) ticks since then, at most again
	rest  []resting // (capacity)
	upper []upper   // (capacity)

	wishes []wish  // (capacity) of this tick
	due    []bool  // (capacity) rows that search
	search []int32 // the same, compact
	query  []float32
	answer []float32
	change []float32 // (capacity, size + 3)

	pool                     *netruntime.Pool
	projector, stepper       netruntime.Session
	poser                    netruntime.Session // the decompressor, for all rows at once; nil without StreamOptions.Open
	poses                    []float32          // (capacity, outputs) its outputs
	posed                    []bool             // (capacity) they are of the row's state
	decoders                 chan *decoder
	planning, asking, moving func(worker, i int)
}

var (
	_ generator.Generator[control.Goal] = (*LearnedStream)(nil)
	_ generator.Walled                  = (*LearnedStream)(nil)
)

// act is the action that a row plays once.
type act struct {
	of   int32 // among Networks.Acts, or −1
	left int32 // ticks; 0: it is over
}

// resting is what a row does that stays where it is: it plays one idle of its stance after another.
type resting struct {
	of   int32  // among Networks.Idles, or −1
	at   int32  // ticks from its beginning; of none: for which the row has stood without one
	seed uint32 // of the choices
	was  int32  // the one before, which it still leaves, or −1
	soon int32  // 1: the row comes to it from far: soon, over feet that stay
}

const (
	restTicks = (IdleKeys - 1) * IdleTicks // of an idle
	restShare = 0.25                       // of the way to the idle's state, in a tick
	restEases = 180                        // ticks from its beginning in which that share grows
	restSoon  = 32                         // the same of one that is far
	restNear  = 4                          // greatest square of a distance to one that is near
	restOut   = 12                         // ticks before the end of an action from which on an idle takes over, at most a quarter of it
	restSits  = 0.15                       // m between the feet of a pose and of an idle: if they are farther apart, the root moves and the feet stay
	restFades = 90                         // ticks from its beginning in which it takes over from the one before
	restWaits = 24                         // ticks for which a row stands beside all idles before it plays the nearest
)

// begin begins an idle at a place, which decides what comes after it.
func (r *resting) begin(of int32, at feature.Place) {
	r.of, r.at, r.was, r.soon = of, 0, -1, 0
	r.seed = math.Float32bits(at.Pos.X)*31 ^ math.Float32bits(at.Pos.Z)*17 ^ math.Float32bits(at.Yaw)
}

// next chooses an idle of the same stance, at random, which takes over slowly.
func (r *resting) next(all []Idle) {
	r.seed = r.seed*1664525 + 1013904223
	tags, n := all[r.of].Tags, int32(0)
	for i := range all {
		if all[i].Tags == tags {
			n++
		}
	}
	left := int32(r.seed>>8) % n
	for i := range all {
		if all[i].Tags != tags {
			continue
		}
		if left == 0 {
			r.of, r.at, r.was, r.soon = int32(i), 0, r.of, 0
			return
		}
		left--
	}
}

// play leads a state on by a tick of an idle, and returns the root's motion.
func (r *resting) play(all []Idle, state []float32) move {
	n := len(state) + 3
	a, b, between := all[r.of].at(r.at, n)
	eases := float32(restEases)
	if r.soon != 0 {
		eases = restSoon
	}
	begun := min(float32(r.at)/eases, 1)
	share, ease := restShare*begun*begun, float32(1)
	was, now, before := a, b, between // without an idle before: all of this one
	if r.was >= 0 {
		was, now, before = all[r.was].at(min(restTicks-restFades+r.at, restTicks-1), n)
		share, ease = restShare, m3.SmoothStep(0, restFades, float32(r.at))
	}
	for i, v := range state {
		from, to := was[i]+before*(now[i]-was[i]), a[i]+between*(b[i]-a[i])
		state[i] += share * (from + ease*(to-from) - v)
	}
	if r.at++; r.at == 2*restSoon {
		r.soon = 0
	}
	lerp := func(i int) float32 { return m3.Lerp(was[i], a[i], ease) }
	return move{lerp(n - 3), lerp(n - 2), lerp(n - 1)}
}

// feet returns the middle of the feet over the ground in features or a state, seen from the root, m.
func (c *Character) feet(x []float32) (middle m3.Vec3) {
	for leg := range c.legs {
		middle = middle.Add(c.foot(x, leg).Flat().Scale(1 / float32(c.legs)))
	}
	return middle
}

// at returns the states before and after a tick, of n values each, and how far it is from the one to the other.
func (l *Idle) at(tick int32, n int) (a, b []float32, between float32) {
	k := int(tick) / IdleTicks
	return l.States[k*n:][:n], l.States[(k+1)*n:][:n], float32(int(tick)-k*IdleTicks) / IdleTicks
}

// decoder runs the decompressor on the processor for some rows.
type decoder struct {
	session netruntime.Session
	x, y    []float32 // (decoded, size), (decoded, outputs)
	rows    []int32
	model   []m3.Quat
}

const (
	planned = 32 // rows that a worker takes at a time
	decoded = 64 // most rows of a run of the decompressor
)

// NewStream returns a stream without agents.
func (l *Learned) NewStream(o StreamOptions) (*LearnedStream, error) {
	if l.Skel == nil {
		return nil, errZero
	}
	of, err := newSteering(&l.Character, &o)
	if err != nil {
		return nil, err
	}
	if o.Workers < 0 {
		return nil, fmt.Errorf("matching: StreamOptions.Workers is %d: want 0 or more", o.Workers)
	}
	n, workers := o.Capacity, generator.Workers(o.Workers, o.Capacity)
	size := l.Columns() + l.latent
	s := &LearnedStream{
		steering: of, of: l, size: size, bf16: o.BF16, state: make([]float32, n*size), must: make([]Tags, n), acts: make([]act, n), last: make([]float32, n*l.Columns()), ago: make([]int32, n), rest: make([]resting, n), upper: make([]upper, n),
		wishes: make([]wish, n), due: make([]bool, n), search: make([]int32, 0, n),
		posed: make([]bool, n), decoders: make(chan *decoder, workers),
	}
	s.planning, s.asking, s.moving = s.planRows, s.askRows, s.moveRows
	l.uppers() // not within a tick
	open := func(by netruntime.Opener, net *netruntime.Net, batch, workers int) (session netruntime.Session) {
		if err == nil {
			session, err = by.Session(net, netruntime.SessionOptions{Batch: batch, Workers: workers, BF16: o.BF16})
		}
		if err != nil {
			return nil
		}
		return session
	}
	buffer := func(session netruntime.Session, rows, width int) (b []float32) {
		if err == nil {
			b, err = netruntime.Buffer(session, rows*width)
		}
		return b
	}
	s.projector, s.stepper = open(o.Open, l.net.Projector, n, workers), open(o.Open, l.net.Stepper, n, workers)
	s.query, s.answer = buffer(s.projector, n, l.net.Projector.Inputs()), buffer(s.projector, n, size)
	s.change = buffer(s.stepper, n, l.net.Stepper.Outputs())
	outputs := l.net.Decompressor.Outputs()
	if o.Open != nil {
		s.poser = open(o.Open, l.net.Decompressor, n, workers)
		s.poses = buffer(s.poser, n, outputs)
	}
	for range workers {
		d := &decoder{session: open(nil, l.net.Decompressor, decoded, 1), rows: make([]int32, 0, decoded), model: make([]m3.Quat, l.Skel.Len())}
		d.x, d.y = make([]float32, decoded*size), make([]float32, decoded*outputs)
		s.decoders <- d
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("matching: %w", err), s.Close())
	}
	s.pool = netruntime.NewPool(workers)
	return s, nil
}

// Close ends the workers.
func (s *LearnedStream) Close() (err error) {
	if s.of == nil || s.closed {
		return nil
	}
	s.closed, s.query, s.answer, s.change, s.poses = true, nil, nil, nil, nil
	sessions := []netruntime.Session{s.projector, s.stepper, s.poser}
	for range cap(s.decoders) {
		sessions = append(sessions, (<-s.decoders).session)
	}
	for _, session := range sessions {
		if session != nil {
			err = errors.Join(err, session.Close())
		}
	}
	if s.pool != nil {
		s.pool.Close()
	}
	return err
}

// Rig returns the character's skeleton with its legs; see [generator.Generator].
func (s *LearnedStream) Rig(roles *ik.Roles) (generator.Rig, error) {
	if s.of == nil {
		return generator.Rig{}, errZero
	}
	return s.standing(s.rig(roles, fmt.Sprintf("learned matching %016x, bfloat16 %t", s.of.Fingerprint(), s.bf16)))
}

// row returns the state of a row.
func (s *LearnedStream) row(row int) []float32 { return s.state[row*s.size:][:s.size:s.size] }

// jumped returns the features to which a row jumped last.
func (s *LearnedStream) jumped(row int) []float32 {
	n := s.of.Columns()
	return s.last[row*n:][:n:n]
}

// Add puts an agent at a place and returns its row. It stands, if any frame of the database did.
func (s *LearnedStream) Add(at feature.Place, goal *control.Goal) (row int, err error) {
	if row, err = s.add(at, goal); err == nil {
		s.reset(row)
	}
	return row, err
}

// reset lets a row stand.
func (s *LearnedStream) reset(row int) {
	copy(s.row(row), s.of.net.Rest)
	s.must[row], s.acts[row], s.posed[row] = 0, act{of: -1}, false
	s.ago[row], s.rest[row], s.upper[row] = again, resting{of: -1}, upper{Of: -1}
}

// Remove takes a row out. The last row becomes this one.
func (s *LearnedStream) Remove(row int) {
	s.remove(row)
	copy(s.row(row), s.row(s.rows))
	copy(s.jumped(row), s.jumped(s.rows))
	s.must[row], s.acts[row], s.ago[row], s.rest[row], s.upper[row], s.posed[row] = s.must[s.rows], s.acts[s.rows], s.ago[s.rows], s.rest[s.rows], s.upper[s.rows], false
}

// Save writes the state of a row; see [generator.Generator].
func (s *LearnedStream) Save(st *generator.State, row int) {
	if s.of != nil {
		s.visit(st, row)
	}
}

// Restore adds an agent in a saved state; see [generator.Generator].
func (s *LearnedStream) Restore(st *generator.State) (row int, err error) {
	if err := s.room(); err != nil {
		return 0, err
	}
	row = s.rows
	s.visit(st, row)
	s.posed[row] = false
	if !s.sound(row) {
		st.Fail(errForeign)
	}
	return s.restored(row, st)
}

// sound reports whether what a row remembers is of this character.
func (s *LearnedStream) sound(row int) bool {
	if a := s.acts[row]; !s.within(row) || a.of < -1 || int(a.of) >= len(s.of.net.Acts) || a.left < 0 || a.left > maxFrames || s.ago[row] < 0 || s.ago[row] > again || !feature.Finite(s.jumped(row)) {
		return false
	}
	if u := s.upper[row]; u.Of < -1 || int(u.Of) >= len(s.of.net.Acts) || u.At < 0 || u.Of >= 0 && (int(u.At) >= s.of.net.Acts[u.Of].Ticks || s.of.uppers()[u.Of] == nil) {
		return false
	}
	r := s.rest[row]
	return r.of >= -1 && int(r.of) < len(s.of.net.Idles) && r.at >= 0 && r.at <= restTicks-restFades && (r.of < 0 || r.was >= -1 && int(r.was) < len(s.of.net.Idles)) && r.soon >= 0 && r.soon <= 1
}

func (s *LearnedStream) visit(st *generator.State, row int) {
	st.Kind("learned", s.size, len(s.of.Tags), s.of.Skel.Len())
	s.steering.visit(st, row)
	generator.Value(st, &s.must[row])
	generator.Value(st, &s.acts[row])
	generator.Value(st, &s.ago[row])
	generator.Value(st, &s.rest[row])
	generator.Value(st, &s.upper[row])
	generator.Values(st, s.jumped(row))
	generator.Values(st, s.row(row))
}

// within reports whether the state of a row is within its bounds.
func (s *LearnedStream) within(row int) bool {
	n := &s.of.net
	for i, v := range s.row(row) {
		if !(v >= n.Least[i] && v <= n.Most[i]) {
			return false
		}
	}
	return true
}

// Generate advances all rows that are not frozen by a tick.
func (s *LearnedStream) Generate(frozen []bool) error {
	if err := s.begin(frozen); err != nil || s.rows == 0 {
		return err
	}
	s.pool.Run((s.rows+planned-1)/planned, s.planning)
	s.search = s.search[:0]
	for row := range s.rows {
		if s.due[row] {
			s.search = append(s.search, int32(row))
		}
	}
	if n := len(s.search); n > 0 {
		s.pool.Run((n+planned-1)/planned, s.asking)
		if err := s.projector.Run(s.answer, s.query, n); err != nil {
			return err
		}
		for i, row := range s.search {
			s.choose(i, int(row))
		}
	}
	if err := s.stepper.Run(s.change, s.state, s.rows); err != nil {
		return err
	}
	s.pool.Run((s.rows+planned-1)/planned, s.moving)
	if s.poser == nil {
		return nil
	}
	for row := range s.rows {
		s.posed[row] = true
	}
	return s.poser.Run(s.poses, s.state, s.rows)
}

// planRows advances the simulated bodies of some rows.
func (s *LearnedStream) planRows(_, i int) {
	for row := i * planned; row < min((i+1)*planned, s.rows); row++ {
		if s.due[row] = false; !s.frozen[row] {
			w, due := s.plan(row, s.goesOn(row), s.must[row]&s.of.acts, s.seated(row))
			s.end(row, &w)
			switch {
			case s.acts[row].of >= 0:
			case w.rests:
				w.must = s.of.idle
			case w.walks:
				w.must = s.of.walk
			}
			asked := s.shown(row, w.must)
			switch a := s.acts[row]; {
			case a.of < 0:
				due = due || !asked
			case a.left > 0 && (asked || w.must == 0) || asked && s.of.net.Acts[a.of].Holds: // it goes on
				due, s.agents[row].Wait = false, max(s.agents[row].Wait, 0)
			default:
				due = true
			}
			r := &s.rest[row]
			switch {
			case !w.stands || s.acts[row].of >= 0:
				r.of, r.at = -1, 0
			case !asked:
				if r.of >= 0 {
					r.of, r.at = -1, 0
				}
			case r.of < 0:
				if r.at = min(r.at+1, restWaits+1); s.ago[row] == again || r.at > restWaits { // it stands by now
					s.settle(row)
				}
			}
			if r.of >= 0 {
				due, s.agents[row].Wait = false, max(s.agents[row].Wait, 0)
			}
			s.wishes[row], s.due[row] = w, due
		}
	}
}

// seated reports whether a row stays with its hips behind its feet: it gets up before it goes.
func (s *LearnedStream) seated(row int) bool {
	return s.rest[row].of >= 0 && s.of.feet(s.row(row)).Z > s.of.restBehind()
}

// restBehind is how far the hips of a body that first has to get up are behind its feet, m. Those of animals are.
func (c *Character) restBehind() float32 {
	if c.upright {
		return 0.2
	}
	return math.MaxFloat32
}

// end ends a row's action that is nearly over, if it is to stand in a stance with idles: it begins to play one of them.
func (s *LearnedStream) end(row int, w *wish) {
	a, must := &s.acts[row], w.must
	if w.rests {
		must = s.of.idle
	} else if !s.shown(row, must) {
		return
	}
	if a.of < 0 || !w.stands || a.left > min(restOut, int32(s.of.net.Acts[a.of].Ticks/4)) {
		return
	}
	if at := s.idle(must, s.row(row)[:s.of.Columns()], float32(math.Inf(1))); at >= 0 {
		a.of, s.must[row] = -1, must
		s.stay(row, at)
		s.agents[row].Restart = 1 // the pose is the same, but it moved
	}
}

// shown reports whether the state of a row shows what is asked for.
func (s *LearnedStream) shown(row int, must Tags) bool {
	return must == s.must[row] || must == 0 && s.must[row] == s.of.walk
}

// settle begins to play the nearest idle of the row's stance. It must be near, if the row stands upright and has not for long: it may be about
// to take a step.
func (s *LearnedStream) settle(row int) {
	least := float32(math.Inf(1))
	if s.must[row] == s.of.idle && s.rest[row].at < restWaits {
		least = restNear
	}
	if at := s.idle(s.must[row], s.row(row)[:s.of.Columns()], least); at >= 0 {
		s.stay(row, at)
	}
}

// stay begins to play an idle. Features of poses may be alike though the bodies are not: the latent values tell.
func (s *LearnedStream) stay(row int, idle int32) {
	r := &s.rest[row]
	if r.begin(idle, s.agents[row].At); cost(s.row(row), s.of.net.Idles[idle].States) > restNear {
		r.soon = 1
	}
}

// idle returns the idle of a stance whose beginning is nearest to a query, if it costs less than least, or −1.
func (s *LearnedStream) idle(must Tags, q []float32, least float32) int32 {
	best := int32(-1)
	for i := range s.of.net.Idles {
		idle := &s.of.net.Idles[i]
		if c := cost(idle.States[:len(q)], q); idle.Tags == must && c < least {
			best, least = int32(i), c
		}
	}
	return best
}

// askRows writes the queries of some rows that search.
func (s *LearnedStream) askRows(_, i int) {
	cols, n := s.of.Columns(), s.of.Columns()+len(s.of.Tags)
	for k := i * planned; k < min((i+1)*planned, len(s.search)); k++ {
		row := int(s.search[k])
		q := s.query[k*n:][:n]
		copy(q, s.row(row)[:cols])
		s.ask(row, &s.wishes[row], q)
		WriteTags(q[cols:], s.wishes[row].must)
	}
}

// WriteTags writes 1 for the tags that are set, and 0 for others: the inputs of a projector.
func WriteTags(x []float32, tags Tags) {
	for i := range x {
		x[i] = float32(tags >> i & 1)
	}
}

// choose lets a row go on from the i-th answer of the projector, if that is nearer to what is wanted, or if the row goes where it
// should in a pose that is none of the recordings.
func (s *LearnedStream) choose(i, row int) {
	cols, state, answer := s.of.Columns(), s.row(row), s.answer[i*s.size:][:s.size]
	q := s.query[i*(cols+len(s.of.Tags)):][:cols]
	must := s.wishes[row].must
	if at := s.act(must, q); at >= 0 {
		a := &s.of.net.Acts[at]
		copy(state, a.State)
		s.acts[row] = act{at, int32(a.Ticks)}
		s.must[row], s.agents[row].Restart = must, 1
		return
	}
	// An agent that sits down, crouches or stands up takes an idle of the new stance at once: the stepper might jump on the way up.
	if s.wishes[row].stands && must != s.must[row] && (must != s.of.idle || s.acts[row].of < 0 && s.must[row]&s.of.acts != 0) {
		if at := s.idle(must, q, float32(math.Inf(1))); at >= 0 {
			there := s.of.net.Idles[at].States
			s.acts[row], s.must[row] = act{of: -1}, must
			s.stay(row, at)
			if s.of.feet(state).Dist(s.of.feet(there)) <= restSits {
				copy(state, there)
				s.agents[row].Restart = 1
			}
			return
		}
	}
	if s.acts[row].of < 0 && s.shown(row, must) {
		is := cost(state[:cols], q)
		// What leads away from the query at first may be the way there, such as the step before a turn.
		back := s.ago[row] < again && cost(answer[:cols], s.jumped(row)) < 0.25*cost(answer[:cols], state[:cols])
		nearer := cost(answer[:cols], q) < is-s.tuning.Stay
		// The stepper's errors add up: in a pose that no recording has it may come to rest in the middle of a stride. A body that
		// does not go where it should yet is on its way there, and its pose differs from the projector's. Jumps at each
		// search would take from the swing of the legs, most of all at low update rates.
		const (
			about = 1  // the square of a distance between features
			lost  = 50 // such a square, of a body that is not even on its way
		)
		way := s.of.trajectory()
		off := cost(answer[:way], state[:way]) > s.tuning.Stay
		left := off && s.ago[row] >= calm && cost(state[way:cols], q[way:]) < about
		// The projector finds the recorded state that is nearest to the query. So a state that is much nearer was not recorded:
		// for example, a mixture of a walk and a gallop, at a speed that no clip has.
		none := off && s.ago[row] >= calm/2 && is < lost && cost(answer[:cols], q) > 1.5*is+2*about
		if back || !nearer && !left && !none {
			// Where the projector knows no way, a body would go on as before for ever. It comes to rest.
			if s.ago[row] < again || is < lost {
				return
			}
			answer = s.of.net.Rest
		}
	}
	copy(s.jumped(row), answer)
	s.ago[row] = 0
	for k, v := range answer {
		state[k] = m3.Clamp(v, s.of.net.Least[k], s.of.net.Most[k])
	}
	if s.acts[row].of >= 0 { // who stands after an action need not step first
		s.acts[row], s.rest[row] = act{of: -1}, resting{of: -1, at: restWaits}
	}
	s.must[row], s.agents[row].Restart = must, 1
}

// act returns the action with some tags whose beginning is nearest to a query, or −1.
func (s *LearnedStream) act(must Tags, q []float32) int32 {
	best, least := int32(-1), float32(math.Inf(1))
	if must == 0 {
		return best
	}
	for i := range s.of.net.Acts {
		a := &s.of.net.Acts[i]
		if c := cost(a.State[:len(q)], q); a.Tags&must == must && c < least {
			best, least = int32(i), c
		}
	}
	return best
}

// moveRows adds the changes to the states of some rows, and moves their roots.
func (s *LearnedStream) moveRows(_, i int) {
	for row := i * planned; row < min((i+1)*planned, s.rows); row++ {
		if s.frozen[row] {
			continue
		}
		n, a := &s.of.net, &s.agents[row]
		from := a.At.Pos
		s.ago[row] = min(s.ago[row]+1, again)
		if p := &s.acts[row]; p.of >= 0 {
			if p.left == 0 { // its last pose is held
				a.join(&s.tuning, move{}, 0)
				a.Went = a.At.Pos.Sub(from)
				continue
			}
			p.left--
		}
		change, state := s.change[row*(s.size+3):][:s.size+3], s.row(row)
		if r := &s.rest[row]; r.of >= 0 {
			if r.at == restTicks-restFades {
				r.next(n.Idles)
			}
			var stood m3.Vec3
			soon := r.soon != 0
			if soon {
				stood = s.of.feet(state)
			}
			m := r.play(n.Idles, state)
			if soon {
				if by := stood.Sub(s.of.feet(state)); by.Finite() {
					m.X, m.Z = by.X, by.Z
				}
			}
			a.At = m.after(a.At)
			a.join(&s.tuning, move{}, 0)
			a.Went = a.At.Pos.Sub(from)
			continue
		}
		sound := true
		for k, v := range state {
			v += change[k]
			sound = sound && m3.Finite(v)
			state[k] = m3.Clamp(v, n.Least[k], n.Most[k])
		}
		m := move{change[s.size], change[s.size+1], change[s.size+2]}
		if !sound || !m3.Finite(m.X+m.Z+m.Yaw) {
			copy(state, n.Rest)
			m, a.Restart = move{}, 1
		}
		p := &s.acts[row]
		begins := p.of >= 0 && n.Acts[p.of].Ticks-int(p.left) <= beginning
		if begins {
			m = a.begins(m)
		}
		a.At = m.after(a.At)
		var aloft, done float32
		if p.of >= 0 {
			aloft, done = s.of.aloft(state), 1-float32(p.left)/float32(n.Acts[p.of].Ticks)
		}
		if a.join(&s.tuning, m, s.share(row, p.of >= 0, s.must[row], aloft, done)); !begins {
			a.Went = a.At.Pos.Sub(from)
		}
	}
}

// Sample writes the poses of rows r0 to r1−1 with p.Update.
func (s *LearnedStream) Sample(p *generator.Poses, r0, r1 int) {
	if s.of == nil || s.closed {
		return
	}
	d := <-s.decoders
	defer s.giveBack(d)
	for r := r0; r < r1; r++ {
		if p.Update[r] {
			s.show(p, d, r)
		}
	}
	s.write(p, d)
}

// Pose writes the pose of a row.
func (s *LearnedStream) Pose(p *generator.Poses, row int) {
	if s.of == nil || s.closed {
		return
	}
	d := <-s.decoders
	defer s.giveBack(d)
	s.show(p, d, row)
	s.write(p, d)
}

// show writes the pose of a row, now or with others by write.
func (s *LearnedStream) show(p *generator.Poses, d *decoder, row int) {
	if s.posed[row] {
		n := len(s.poses) / len(s.posed)
		s.put(p, d, row, s.poses[row*n:][:n])
	} else if d.rows = append(d.rows, int32(row)); len(d.rows) == decoded {
		s.write(p, d)
	}
}

// giveBack lets other workers have the decoder, also after a panic: Close waits for all of them.
func (s *LearnedStream) giveBack(d *decoder) {
	d.rows = d.rows[:0]
	s.decoders <- d
}

// write writes the poses of the decoder's rows.
func (s *LearnedStream) write(p *generator.Poses, d *decoder) {
	if len(d.rows) == 0 {
		return
	}
	for i, row := range d.rows {
		copy(d.x[i*s.size:], s.row(int(row)))
	}
	if d.session.Run(d.y, d.x, len(d.rows)) != nil { // closed
		d.rows = d.rows[:0]
		return
	}
	outputs := len(d.y) / decoded
	for i, row := range d.rows {
		s.put(p, d, int(row), d.y[i*outputs:][:outputs])
	}
	d.rows = d.rows[:0]
}

// put writes the pose of a row from the decompressor's outputs.
func (s *LearnedStream) put(p *generator.Poses, d *decoder, row int, y []float32) {
	a := &s.agents[row]
	if a.Restart != 0 {
		a.Restart, p.Restarted[row] = 0, true
	}
	var stands uint8
	if len(p.Contacts) > 0 {
		stands = s.of.stands(s.row(row))
	}
	p.Put(row, a.At, stands)
	pos, rot := p.Joints(row, s.of.Skel.Len())
	s.of.Pose(y, pos, rot, d.model)
	s.turnUpper(row, rot)
	root := p.Roots[row]
	pos[0], rot[0] = root.Apply(pos[0]), root.Rot.Mul(rot[0])
	s.lean(p, row, s.must[row], s.acts[row].of >= 0)
}

// State returns the features and latent values of a row, in the stream's memory.
func (s *LearnedStream) State(row int) []float32 { return s.row(row) }

// Weight returns 1 if the state of a row shows an action, otherwise 0.
func (s *LearnedStream) Weight(row int, a control.Action) float32 {
	if s.of == nil {
		return 0
	}
	shows := s.must[row]
	if u := s.upper[row]; u.Of >= 0 {
		shows |= s.of.net.Acts[u.Of].Tags
	}
	return s.shows(row, shows, a)
}
