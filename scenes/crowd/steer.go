package crowd

import (
	"math/rand/v2"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/scenes/internal/steer"

	arche "github.com/mlange-42/arche/ecs"
)

// The settings of steering, besides those of avoidance.
const (
	arrived = 2.5 // distance to a spot at which an agent has come to it, m
	giveUp  = 40  // longest time on the way to one spot, s
	packed  = 5   // dogs in a pack, of which the first leads
	stray   = 2.0 // distance to its leader at which a dog of a pack hurries after it, m
	border  = 3   // m
)

// agentState is what an agent has in mind.
type agentState struct {
	rng    rand.PCG
	look   uint64         // of coat or clothes
	goal   uint8          // the spot to go to
	lane   uint8          // of people on lanes
	start  float32        // along it, m
	pace   float32        // m/s
	left   float32        // s until the next choice
	rest   control.Action // Move if it walks
	leader arche.Entity   // of a dog's pack; none if it leads
	speed  float32        // of the last intent, m/s
	walker control.Walker
}

// intent is what an agent wants to do next.
type intent struct {
	ahead m3.Vec3        // where to go, unit, on the ground
	turn  float32        // rad/s, to the left
	speed float32        // m/s; 0 is to stand
	rest  control.Action // what to do while it stands
}

// bits returns 64 random bits.
func (a *agentState) bits() uint64 { return a.rng.Uint64() }

// uniform returns a random number in [0, 1).
func (a *agentState) uniform() float32 { return float32(a.bits()>>40) / (1 << 24) }

// steering is the system that gives all agents their intents: to go to one of the spots, around the
// rocks, in a pack or along a lane, and to avoid each other.
type steering struct {
	steer.Passive
	s     *Scene
	avoid control.Avoidance
}

// Update steers the agents that update in this tick, and every fourth of the others.
func (t *steering) Update(*arche.World) {
	s := t.s
	t.gather()
	i := 0
	for _, p := range s.populations {
		for k, root := range p.places() {
			if rate := p.rate(k); rate != animsys.Frozen && (rate == animsys.EveryTick || (s.tick+k)%int(rate) == 0) {
				a := &p.states[k]
				want := t.intent(p, a, root, i, float32(rate)/scenes.TickRate)
				a.speed = want.speed
				p.control(p.who(k), k, a, want)
			}
			i++
		}
	}
	s.tick++
}

// gather notes where all agents and rocks are.
func (t *steering) gather() {
	t.avoid.Begin()
	for _, p := range t.s.populations {
		for k, root := range p.places() {
			t.avoid.Add(&p.states[k].walker, root)
		}
	}
	for _, r := range t.s.place.rocks {
		t.avoid.AddObstacle(r.At, r.Radius)
	}
	t.avoid.Sort()
}

// intent returns what an agent of a population, i of all, wants and may do. root is where it is, dt the time since the
// last intent.
func (t *steering) intent(p *population, a *agentState, root m3.Xform, i int, dt float32) intent {
	s, me := t.s, root.Pos.Flat()
	facing := root.Rot.Forward().Flat()
	var w intent
	switch {
	case p.stays:
		a.left -= dt
		return w
	case p.laned:
		w = intent{ahead: facing, speed: a.pace}
	default:
		w = t.plan(p, a, me, facing, dt)
	}
	if out := me.Len() - (s.place.radius + border); out > 0 {
		w.ahead = w.ahead.Add(me.Normalize(m3.Vec3{}).Scale(-out)).Normalize(facing)
	}
	w.turn, w.speed = t.avoid.Steer(i, w.ahead, w.speed)
	return w
}

// plan returns the intent of an agent that goes from spot to spot.
func (t *steering) plan(p *population, a *agentState, me, facing m3.Vec3, dt float32) intent {
	s := t.s
	if p.dogs && !a.leader.IsZero() {
		if row, ok := p.Row(a.leader); ok {
			return t.follow(p, a, row, me, facing)
		}
		a.leader = arche.Entity{} // it was removed: this dog leads on
	}
	a.left -= dt
	dist, ahead := s.place.flows[a.goal].Way(me)
	if near := dist < arrived || dist < 2*arrived && a.speed == 0; a.left <= 0 || a.rest == control.Move && near {
		s.choose(p, a)
		_, ahead = s.place.flows[a.goal].Way(me)
	}
	if a.rest != control.Move {
		return intent{rest: a.rest}
	}
	if ahead == (m3.Vec3{}) { // on a rock
		ahead = s.place.off(me).Normalize(facing)
	}
	return intent{ahead: ahead, speed: a.pace}
}

// follow returns the intent of a dog whose pack the dog in row lead leads: it stays near the
// leader, goes as fast, and rests when the leader rests.
func (t *steering) follow(p *population, a *agentState, lead int, me, facing m3.Vec3) intent {
	to := p.Roots[lead].Pos.Flat().Sub(me)
	leader, dist := &p.states[lead], to.Len()
	if leader.speed == 0 && dist < 2*stray {
		return intent{rest: leader.rest}
	}
	ahead := p.Roots[lead].Rot.Forward().Flat()
	near := m3.Clamp(dist/(2*stray), 0, 1)
	ahead = ahead.Scale(1 - near).Add(to.Scale(near / max(dist, 1e-3))).Normalize(facing)
	speed := max(leader.speed, control.WalkSpeed)
	return intent{ahead: ahead, speed: min(speed+0.6*max(dist-stray, 0), control.CanterSpeed)}
}

// choose makes an agent go to another spot, or rest where it is.
func (s *Scene) choose(p *population, a *agentState) {
	if a.rest == control.Move && a.uniform() < 0.4 {
		a.left = 2 + 6*a.uniform()
		a.rest = control.Idle
		if p.dogs {
			a.rest = [...]control.Action{control.Idle, control.Sit, control.Lie}[a.bits()%3]
		}
		return
	}
	a.rest, a.left = control.Move, giveUp
	a.goal = uint8((int(a.goal) + 1 + int(a.bits()%uint64(len(s.place.flows)-1))) % len(s.place.flows))
}
