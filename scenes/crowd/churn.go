package crowd

import (
	"math"
	"math/rand/v2"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/scenes/internal/steer"
)

// perTick is the largest number of agents that are added or removed in a tick, besides those
// replaced.
const perTick = 4

// churnAgents replaces agents, and adds or removes some until there are as many as asked for.
func (s *Scene) churnAgents() error {
	var err error
	for s.due += s.churn; s.due >= 1 && err == nil; s.due-- {
		before := s.Agents()
		if err = s.remove(); err == nil && s.Agents() < before {
			err = s.add()
		}
	}
	for k := 0; k < perTick && err == nil; k++ {
		switch n := s.Agents(); {
		case n < s.want:
			err = s.add()
		case n > s.want:
			err = s.remove()
		}
	}
	return err
}

// lacking returns the population that has most too few agents by its share of n, or with more, most
// too many.
func (s *Scene) lacking(n int, more bool) *population {
	var shares int
	for _, p := range s.populations {
		shares += p.share
	}
	var best *population
	var most float32
	for _, p := range s.populations {
		lack, limit := float32(n*p.share)/float32(shares)-float32(p.size()), p.Capacity()
		if more {
			lack, limit = -lack, 0
		}
		if p.size() != limit && (best == nil || lack > most) {
			best, most = p, lack
		}
	}
	return best
}

// add adds an agent.
func (s *Scene) add() error {
	p := s.lacking(s.Agents()+1, false)
	if p == nil || s.Agents() == s.room {
		return nil
	}
	a := &p.states[p.size()]
	*a = agentState{rng: *rand.NewPCG(s.Seed, uint64(s.born)), rest: control.Move, left: giveUp}
	s.born++
	a.look = a.bits()
	a.walker = p.walker
	a.walker.Left = steer.Side(uint64(s.born))
	a.goal, a.lane = uint8(a.bits()%uint64(len(s.place.spots))), uint8(a.bits()%uint64(len(s.place.lanes)))
	at, yaw := s.gap(p, a)
	switch {
	case p.paces != nil:
		a.pace = p.paces[a.bits()%uint64(len(p.paces))]
	case p.stays:
		a.left = 4 + 8*a.uniform()
	case p.laned:
		a.pace = laneSlow + (laneFast-laneSlow)*a.uniform()
	case p.dogs:
		a.pace = [...]float32{control.WalkSpeed, control.PaceSpeed, control.PaceSpeed, control.TrotSpeed}[a.bits()%4]
	default:
		a.pace = wanderSlow + (wanderFast-wanderSlow)*a.uniform()
	}
	e, err := p.spawn(at, yaw, a)
	if err != nil {
		return err
	}
	if p.far != nil {
		p.far.Add(p.tint(a))
	}
	if p.dogs {
		if s.inPack%packed == 0 {
			s.pack = e
		} else {
			a.leader = s.pack
		}
		s.inPack++
	}
	if p.born != nil {
		p.born(e, a)
	}
	return nil
}

// gap returns a place with room for an agent.
func (s *Scene) gap(p *population, a *agentState) (at m3.Vec3, yaw float32) {
	for range 12 {
		yaw = m3.WrapAngle(2 * math.Pi * a.uniform())
		if p.laned {
			lane := s.place.lanes[a.lane]
			a.start = lane.Length() * a.uniform()
			var ahead m3.Vec3
			at, ahead = lane.At(a.start)
			yaw = m3.YawOf(ahead)
		} else {
			angle, r := 2*math.Pi*float64(a.uniform()), s.place.radius*m3.Sqrt(a.uniform())
			at = m3.V(r*float32(math.Sin(angle)), 0, r*float32(math.Cos(angle)))
		}
		if s.place.free(at, clearance) && s.alone(at) {
			break
		}
	}
	return at, yaw
}

// alone reports whether no agent is near at.
func (s *Scene) alone(at m3.Vec3) bool {
	for _, p := range s.populations {
		for _, root := range p.places() {
			if root.Pos.Flat().Dist(at) < 2 {
				return false
			}
		}
	}
	return true
}

// remove removes a random agent, except the watched one.
func (s *Scene) remove() error {
	p := s.lacking(s.Agents()-1, true)
	if p == nil || s.Agents() <= 1 {
		return nil
	}
	n := p.size()
	i := s.rng.IntN(n)
	watched := func(i int) bool { return !s.watched.IsZero() && p.who(i) == s.watched }
	if watched(i) { // the next one, if there is one
		if i = (i + 1) % n; watched(i) {
			return nil
		}
	}
	var err error
	if p.far != nil {
		err = p.far.Remove(i)
	} else {
		err = p.Despawn(p.who(i))
	}
	if err == nil {
		p.states[i] = p.states[n-1]
	}
	return err
}
