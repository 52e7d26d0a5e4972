package strnn

import (
	"math/rand/v2"

	"mannequin/animsys/feature"
	"mannequin/animsys/internal/windows"
	"mannequin/engine/m3"
)

// making holds the buffers of the windows that are due. Steered agents come first, free ones after
// them.
type making struct {
	led        int          // number of steered agents
	seen, next []float32    // (due, Encode, columns) and (due, Predict, columns)
	want       []float32    // (led, Predict, feature.MotionLen) wanted motion of their bodies
	stand      []float32    // (led, Predict, contacts) weights of their contacts
	stances    []stance     // (contacts)
	bearing    [2][]float32 // Control.Pose
	gaits      []gait       // (led) at the end of the frames
	ways       []float32    // (led, draws, Latent), then (free, Latent)
	sees       []float32    // (led, GuideInputs) inputs of the guide
	codes      []float32    // (due, Manner) codes of the agents' manners
	found      func() error // called when next has the frames of steered agents; may be nil
	fit        []bool       // (due) the frames are usable
	job        Control
	settlings  []*cleanup // by worker
	settle     func(worker, i int)
	play       func(worker, i int)
	pcg        rand.PCG
	rand       *rand.Rand
}

// ask records the Steer of a row at its request.
func (s *Stream) ask(row int) error {
	s.body[row].asked = s.alongWalls(row, s.wanders[row])
	return nil
}

// request writes the inputs of the windows that are due.
func (s *Stream) request() {
	m, due := s.model, s.sched.Due
	s.led = 0
	for i, r := range due {
		if !s.body[r].asked.Free {
			s.sched.Swap(i, s.led)
			s.led++
		}
	}
	cols := m.Layout.Columns()
	seen, next := m.Encode*cols, m.Predict*cols
	for i, r := range due {
		copy(s.seen[i*seen:][:seen], s.window(int(r))[next:])
		s.target(i)
	}
}

// compute predicts the windows that are due.
func (s *Stream) compute() error {
	m, n := s.model, len(s.sched.Due)
	cols := m.Layout.Columns()
	seen, next := m.Encode*cols, m.Predict*cols
	manners := s.search.predict.codes
	defer clear(manners)
	if led := s.led; led > 0 {
		copy(manners, s.codes[:led*m.Manner])
		s.job = Control{Body: s.want[:led*m.Predict*feature.MotionLen], Stand: s.stand[:led*m.Predict*len(s.stances)], Pose: s.bearing, Samples: s.draws, Latents: s.ways[:led*s.draws*m.Latent], Steps: s.steps}
		if _, err := s.search.Run(s.next[:led*next], s.seen[:led*seen], led, &s.job); err != nil {
			return err
		}
		if s.found != nil {
			if err := s.found(); err != nil {
				return err
			}
		}
	}
	if free := n - s.led; free > 0 {
		copy(manners, s.codes[s.led*m.Manner:n*m.Manner])
		ways := s.ways[s.led*s.draws*m.Latent:]
		if err := s.search.predict.Predict(s.next[s.led*next:n*next], s.seen[s.led*seen:n*seen], ways[:free*m.Latent], free); err != nil {
			return err
		}
	}
	s.search.pool.Run(n, s.settle)
	return nil
}

// commit starts the windows that are due. Agents without one replay their last frames.
func (s *Stream) commit(err error) error {
	if err != nil {
		return nil
	}
	s.search.pool.Run(len(s.sched.Due), s.play)
	for i, r := range s.sched.Due {
		if r == windows.None {
			continue
		}
		if s.body[r].windows++; !s.fit[i] {
			s.lost++
			s.begin(int(r))
			s.sched.Restarted[r] = true
		}
	}
	return nil
}

// goOn makes and starts the next window of the first n agents at once.
func (s *Stream) goOn(n int) error {
	for row := range n {
		s.sched.Begin(row)
		s.ask(row)
	}
	s.request()
	err := s.compute()
	s.commit(err)
	s.sched.Clear()
	return err
}

// mannerSpread is the standard deviation of the values in an agent's code of the manner. Codes of recorded
// people have about the same.
const mannerSpread = 0.4

// target writes the manner and the targets of the i-th agent that is due: for a steered one the
// motion of its body and the candidates, the guide's first; for a free one drawn latent values.
func (s *Stream) target(i int) {
	m, r := s.model, s.sched.Due[i]
	b := &s.body[r]
	code := s.codes[i*m.Manner:][:m.Manner]
	s.pcg.Seed(s.seed, ^b.agent) // the same in all of the agent's windows
	for k := range code {
		code[k] = m3.Clamp(mannerSpread*float32(s.rand.NormFloat64()), -1, 1)
	}
	s.pcg.Seed(s.seed, b.agent<<32^b.windows)
	draw := func(z []float32) {
		for k := range z {
			z[k] = s.spread * float32(s.rand.NormFloat64())
		}
	}
	if i >= s.led {
		draw(s.ways[(s.led*s.draws+i-s.led)*m.Latent:][:m.Latent])
		return
	}
	want, g := s.want[i*m.Predict*feature.MotionLen:][:m.Predict*feature.MotionLen], b.gait
	speed, turn := b.asked.clamped()
	var ends [2]gait
	for f := range m.Predict {
		if g.next(speed, turn); f == 0 {
			ends[0] = g
		}
		v := want[f*feature.MotionLen:]
		v[feature.MotionX], v[feature.MotionZ], v[feature.MotionYaw] = 0, g.speed[0], g.turn[0]
		for c := range s.stances {
			stand := &s.stand[(i*m.Predict+f)*len(s.stances)+c]
			if *stand = 0; g.stands(&s.stances[c]) {
				*stand = 1
			}
		}
	}
	s.gaits[i], ends[1] = g, g
	for k := range code { // people who stand are steadier without
		code[k] *= min(1, g.effort()/guideSteps)
	}
	ways := s.ways[i*s.draws*m.Latent:][:s.draws*m.Latent]
	draw(ways)
	first := ways[:m.Latent]
	clear(first)
	n := GuideInputs(m.Layout)
	sees := s.sees[i*n:][:n]
	m.guideInput(sees, s.seen[i*m.Encode*m.Layout.Columns():], want, ends)
	if s.guide == nil {
		return
	}
	s.guide.run(first, sees)
	for w := 1; w < s.draws; w += 2 { // every second one around the guide's, the others around the likeliest
		for k, v := range first {
			ways[w*m.Latent+k] += v
		}
	}
}

// settleOne cleans the i-th window up.
func (s *Stream) settleOne(worker, i int) {
	m := s.model
	cols := m.Layout.Columns()
	var want []float32
	if i < s.led {
		want = s.job.body(m, i)
	}
	s.fit[i] = s.settlings[worker].run(s.next[i*m.Predict*cols:][:m.Predict*cols], s.seen[i*m.Encode*cols:][:m.Encode*cols], want)
}

// playOne starts the i-th window, if it is usable.
func (s *Stream) playOne(_, i int) {
	m, r := s.model, int(s.sched.Due[i])
	if r == windows.None || !s.fit[i] {
		return
	}
	cols := m.Layout.Columns()
	w, next := s.window(r), s.next[i*m.Predict*cols:][:m.Predict*cols]
	copy(w, w[len(next):])
	copy(w[m.Encode*cols:], next)
	if i < s.led {
		s.body[r].gait = s.gaits[i]
	} else {
		s.body[r].gait = s.gaitOf(r)
	}
	s.enliven(r)
}
