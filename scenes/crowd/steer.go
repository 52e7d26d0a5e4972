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
	rocky   = 4   // weight of keeping off a rock; that of going on is 1
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
}

// bits returns 64 random bits.
func (a *agentState) bits() uint64 { return a.rng.Uint64() }

// uniform returns a random number in [0, 1).
func (a *agentState) uniform() float32 { return float32(a.bits()>>40) / (1 << 24) }

// steering is the system that gives all agents their intents: to go to one of the spots, around the
// rocks, in a pack or along a lane, and to avoid each other.
type steering struct {
	steer.Passive
	s         *Scene
	neighbors *steer.Neighbors // population by population
}

func newSteering(s *Scene) *steering {
	reach := s.place.radius + edge
	return &steering{s: s, neighbors: steer.NewNeighbors(steer.Quick, -reach, -reach, reach, reach, s.room)}
}

// Update steers the agents that update in this tick, and every fourth of the others.
func (t *steering) Update(*arche.World) {
	s := t.s
	t.gather()
	i := 0
	for _, p := range s.populations {
		for row := range p.Agents() {
			if rate := p.UpdateRateAt(row); rate != animsys.Frozen && (rate == animsys.EveryTick || (s.tick+row)%int(rate) == 0) {
				a := &p.states[row]
				want := t.intent(p, a, row, i, float32(rate)/scenes.TickRate)
				a.speed = want.Speed
				p.control(p.Entity(row), row, a, want)
			}
			i++
		}
	}
	s.tick++
}

// gather notes the agents' places and velocities.
func (t *steering) gather() {
	t.neighbors.Clear()
	for _, p := range t.s.populations {
		if p.dogs { // they are the first population
			t.neighbors.Dogs = p.Agents()
		}
		for row, root := range p.Roots[:p.Agents()] {
			if p.UpdateRateAt(row) == animsys.Frozen {
				p.states[row].speed = 0
			}
			t.neighbors.Add(root, p.states[row].speed)
		}
	}
	t.neighbors.Sort()
}

// intent returns what a row of a population, agent i of all, wants. dt is the time since the last
// intent.
func (t *steering) intent(p *population, a *agentState, row, i int, dt float32) steer.Intent {
	s, me := t.s, t.neighbors.At[i]
	facing := p.Roots[row].Rot.Forward().Flat()
	var w steer.Intent
	switch {
	case p.stays:
		a.left -= dt
		return w
	case p.laned:
		w = steer.Intent{Ahead: facing, Speed: a.pace, Rest: control.Idle}
	default:
		w = t.plan(p, a, me, facing, dt)
	}
	if w.Speed == 0 {
		return w
	}
	push, blocked := t.neighbors.Avoid(i, facing, w.Speed)
	off := s.place.off(me).Add(s.place.off(me.Add(facing.Scale(p.glance * w.Speed))))
	push = push.Add(off.Add(steer.Around(off, w.Ahead)).Scale(rocky))
	if out := me.Len() - (s.place.radius + border); out > 0 {
		push = push.Add(me.Normalize(m3.Vec3{}).Scale(-out))
	}
	if blocked {
		w.Speed = 0
		if !p.laned { // the others turn aside on the spot
			w.Speed = min(a.pace, 0.5)
		}
	}
	if p.laned {
		return w
	}
	w.Ahead = w.Ahead.Add(push).Normalize(facing)
	// Nobody runs round a hairpin.
	if w.Ahead.Dot(facing) < 0.6 {
		w.Speed = min(w.Speed, control.PaceSpeed)
	}
	return w
}

// plan returns the intent of an agent that goes from spot to spot.
func (t *steering) plan(p *population, a *agentState, me, facing m3.Vec3, dt float32) steer.Intent {
	s := t.s
	if p.dogs && !a.leader.IsZero() {
		if row, ok := p.Row(a.leader); ok {
			return t.follow(p, a, row, me, facing)
		}
		a.leader = arche.Entity{} // it was removed: this dog leads on
	}
	a.left -= dt
	dist, ahead := s.place.flows[a.goal].Way(me)
	if a.left <= 0 || a.rest == control.Move && dist < arrived {
		s.choose(p, a)
		_, ahead = s.place.flows[a.goal].Way(me)
	}
	if a.rest != control.Move {
		return steer.Intent{Rest: a.rest}
	}
	if ahead == (m3.Vec3{}) { // on a rock
		ahead = s.place.off(me).Normalize(facing)
	}
	return steer.Intent{Ahead: ahead, Speed: a.pace, Rest: control.Idle}
}

// follow returns the intent of a dog whose pack the dog in row lead leads: it stays near the
// leader, goes as fast, and rests when the leader rests.
func (t *steering) follow(p *population, a *agentState, lead int, me, facing m3.Vec3) steer.Intent {
	to := p.Roots[lead].Pos.Flat().Sub(me)
	leader, dist := &p.states[lead], to.Len()
	if leader.speed == 0 && dist < 2*stray {
		return steer.Intent{Rest: leader.rest}
	}
	ahead := p.Roots[lead].Rot.Forward().Flat()
	near := m3.Clamp(dist/(2*stray), 0, 1)
	ahead = ahead.Scale(1 - near).Add(to.Scale(near / max(dist, 1e-3))).Normalize(facing)
	speed := max(leader.speed, control.WalkSpeed)
	return steer.Intent{Ahead: ahead, Speed: min(speed+0.6*max(dist-stray, 0), control.CanterSpeed), Rest: control.Idle}
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
