package animsys

import (
	"mannequin/animsys/blend"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Rate says how often an agent's motion is worked on: every so many ticks, between
// which its bones are led from one pose to the next. What is far away needs no more.
type Rate uint8

// The rates.
const (
	Frozen  Rate = 0 // not at all: the agent stays as it is
	Full    Rate = 1 // every tick, as everyone has it who is not told otherwise
	Half    Rate = 2
	Quarter Rate = 4
)

// SetRate says at which rate row goes on, from its next step on: it takes a few ticks
// until everyone's turns are spread. Dogs go at a lower rate where the crowd has a
// network that goes by so many ticks at a time (Options.Far), else at the next higher
// one; people in a style of ecs.MAR, which is given frame by frame, lose it before they go
// at another than the full one. People are shown so many ticks late as the rate is less than full.
func (b *Bodies) SetRate(row int, r Rate) { b.rates[row].want = r }

// Rate returns the rate at which row goes on.
func (b *Bodies) Rate(row int) Rate { return b.rates[row].rate }

// rated is how often a row takes a step.
type rated struct {
	want, rate Rate
	left       uint8 // ticks until it shows the pose of its last step, in which it takes no other
	span       uint8 // ticks that its last step was long
	turn       uint8 // in which of four ticks it takes a step at Quarter
}

// start gives row the full rate, and a turn.
func (b *Bodies) start(row int) {
	b.rates[row] = rated{want: Full, rate: Full, span: 1, turn: b.turns % uint8(Quarter)}
	b.turns++
}

// pick decides whether row takes a step in this tick.
func (b *Bodies) pick(row int) {
	r := &b.rates[row]
	if r.left > 0 {
		return
	}
	was, next := r.rate, r.want
	if b.fresh[row] && next == Frozen {
		next = Full // once, to be seen where they are now
	}
	if b.finest != nil && next > Full {
		next = b.finest(row, next)
	}
	// A lower rate begins when it is the row's turn.
	if next > was && (b.tick+r.turn)%uint8(next) != 0 {
		next = was
	}
	r.rate, r.left = next, uint8(next)
	if next == Frozen {
		return
	}
	if was == Frozen && b.late {
		b.Inertial.Jump(row) // what is played has gone on
	}
	span := uint8(next)
	if b.late {
		span = uint8(max(was, Full)) // since the step before
	}
	if span != r.span {
		r.span = span
		b.Inertial.Pause(row)
	}
}

// follow has b lead on those who are played from a stream: it shows what they do late, and
// says who is frozen.
func (b *Bodies) follow(still []bool) {
	b.late = true
	b.picked = func() {
		for r := range b.Rows.Len() {
			still[r] = b.rates[r].rate == Frozen
		}
	}
}

// steps reports whether row takes a step in this tick.
func (b *Bodies) steps(row int) bool {
	r := &b.rates[row]
	return r.left > 0 && r.left == uint8(r.rate)
}

// eachStep calls do for those rows from r0 up to r1 that take a step in this tick.
func (b *Bodies) eachStep(r0, r1 int, do func(r0, r1 int)) {
	for r := r0; r < r1; r++ {
		if b.steps(r) {
			do(r, r+1)
		}
	}
}

// blend hides jumps in the poses of those rows from r0 up to r1 that take a step.
func (b *Bodies) blend(r0, r1 int) {
	for r := r0; r < r1; r++ {
		if b.steps(r) {
			b.inertial[b.rates[r].span].Run(b.Pos, b.Rot, b.Roots, r, r+1)
		}
	}
}

// ground stands them on the terrain.
func (b *Bodies) ground(r0, r1 int) {
	for r := r0; r < r1; r++ {
		if b.steps(r) {
			b.solvers[b.rates[r].span].Run(r, r+1)
		}
	}
}

// tune gives what works on steps of several ticks the settings of what works on one,
// which are anybody's to change between ticks.
func (b *Bodies) tune() {
	for span := 1; span <= int(Quarter); span++ {
		b.inertial[span], b.solvers[span] = *b.Inertial, b.Ground
		b.inertial[span].DT *= float32(span)
		b.solvers[span].DT *= float32(span)
	}
}

// publish leads the bones of the rows from r0 up to r1 to the grounded poses of their
// last steps, and keeps those of the tick before.
func (b *Bodies) publish(r0, r1 int) {
	for r := r0; r < r1; r++ {
		i, k := r*b.joints, (r+1)*b.joints
		last, now, to := b.last[i:k], b.now[i:k], b.Ground.Model[i:k]
		copy(last, now)
		switch rate := &b.rates[r]; {
		case b.fresh[r] && rate.left > 0:
			b.fresh[r], rate.left = false, rate.left-1
			copy(now, to)
			copy(last, to)
		case rate.left == 1:
			rate.left = 0
			copy(now, to)
		case rate.left > 1:
			b.Skel.Interpolate(now, now, to, 1/float32(rate.left))
			rate.left--
		}
	}
}

// Pick decides who takes a step in this tick. It comes first.
type Pick struct{ all []*Bodies }

// Initialize finds all bodies.
func (s *Pick) Initialize(w *arche.World) {
	if res := generic.NewResource[cast](w); res.Has() {
		s.all = res.Get().all
	}
}

// Update picks.
func (s *Pick) Update(*arche.World) {
	for _, b := range s.all {
		b.tune()
		for r := range b.Rows.Len() {
			b.pick(r)
		}
		if b.picked != nil {
			b.picked()
		}
		b.tick = (b.tick + 1) % uint8(Quarter)
	}
}

// Finalize has nothing to do: bodies are closed by their owners.
func (s *Pick) Finalize(*arche.World) {}

// pacing is what Bodies keep of rates.
type pacing struct {
	rates  []rated // (rows)
	tick   uint8   // of four
	turns  uint8   // handed out
	late   bool    // a step is the time since the last, not the time until the next
	finest func(row int, r Rate) Rate
	picked func() // called when all have been picked

	inertial [Quarter + 1]blend.Inertial // by the ticks of a step
	solvers  [Quarter + 1]ik.Legged
}

var _ ecs.System = (*Pick)(nil)

// Attention says how far from where a crowd is watched agents have which rate.
type Attention struct {
	Full, Half, Quarter float32 // m: up to where agents go on at these rates; beyond they are frozen. 0 is no bound
	Behind              float32 // m: whoever is out of sight and farther than this has the next lower rate,
	Unseen              float32 // and beyond this is frozen; 0 is no bound
	Sight               float32 // cosine of the angle around where one looks within which agents are in sight
}

// DefaultAttention suits a crowd of people and dogs that is watched by a camera near the ground.
func DefaultAttention() Attention {
	return Attention{Full: 14, Half: 28, Quarter: 80, Behind: 3, Unseen: 12, Sight: 0.4}
}

// hold is how much farther off than the bound an agent keeps its rate that has it: those
// at a bound do not go to and fro.
const hold = 1.08

// Attend gives all agents the rates that attention has for them, seen from eye and looking
// ahead, of unit length; zero is everywhere. saving, 0 to 1, is how much of its distances
// is to be saved. Call it between ticks.
func (b *Bodies) Attend(a *Attention, eye, ahead m3.Vec3, saving float32) {
	if !eye.Finite() || !ahead.Finite() || !m3.Finite(saving) {
		return
	}
	saving = m3.Clamp(saving, 0, 1)
	near, far := 1-saving, 1-saving*saving // those who are frozen in sight are the last to save by
	bounds := [...]float32{a.Full * near, a.Half * near, a.Quarter * far}
	for row := range b.Rows.Len() {
		at := b.now[row*b.joints].Pos
		if b.fresh[row] { // placed elsewhere since
			at = b.Roots[row].Pos
		}
		to := at.Sub(eye)
		dist := to.Len()
		out := ahead != (m3.Vec3{}) && dist > a.Behind && to.Dot(ahead) < a.Sight*dist
		now, tier := tierOf(b.rates[row].want), len(bounds)
		for i, bound := range bounds {
			if a.bound(i) == 0 {
				tier = i
				break
			}
			if i >= now {
				bound *= hold
			}
			if dist <= bound {
				tier = i
				break
			}
		}
		switch {
		case out && a.Unseen > 0 && dist > a.Unseen:
			tier = len(bounds)
		case out:
			tier++
		}
		b.SetRate(row, tiers[min(tier, len(tiers)-1)])
	}
}

func (a *Attention) bound(i int) float32 { return [...]float32{a.Full, a.Half, a.Quarter}[i] }

var tiers = [...]Rate{Full, Half, Quarter, Frozen}

func tierOf(r Rate) int {
	switch r {
	case Full:
		return 0
	case Half:
		return 1
	case Quarter:
		return 2
	}
	return 3
}
