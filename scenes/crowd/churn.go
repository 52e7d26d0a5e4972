package crowd

import (
	"math"
	"math/rand/v2"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// perTick is how many come or go in one tick at most, besides those who come and go
// anyway.
const perTick = 4

// comeAndGo sees to it that there are as many as there shall be.
func (s *Scene) comeAndGo() error {
	for s.due += s.churn; s.due >= 1; s.due-- {
		before := s.Agents()
		if err := s.leave(); err != nil {
			return err
		}
		if s.Agents() < before {
			if err := s.come(); err != nil {
				return err
			}
		}
	}
	for range perTick {
		switch n := s.Agents(); {
		case n < s.want:
			if err := s.come(); err != nil {
				return err
			}
		case n > s.want:
			if err := s.leave(); err != nil {
				return err
			}
		}
	}
	return nil
}

// lacking returns the kind of which there are too few, or with more the one of which
// there are too many, for so many in all.
func (s *Scene) lacking(n int, more bool) *kind {
	var shares int
	for _, k := range s.kinds {
		shares += k.share
	}
	var best *kind
	var most float32
	for _, k := range s.kinds {
		lack := float32(n*k.share)/float32(shares) - float32(k.crowd.Agents())
		if more {
			lack = -lack
		}
		if more && k.crowd.Agents() == 0 || !more && k.crowd.Agents() == k.crowd.Rows.Cap() {
			continue
		}
		if best == nil || lack > most {
			best, most = k, lack
		}
	}
	return best
}

// come brings one more.
func (s *Scene) come() error {
	k := s.lacking(s.Agents()+1, false)
	if k == nil || s.Agents() == s.room {
		return nil
	}
	row := k.crowd.Agents()
	m := &k.minds[row]
	*m = mind{rng: *rand.NewPCG(s.seed, uint64(s.born)), rest: control.Move, left: giveUp}
	s.born++
	m.look = m.bits()
	m.goal, m.lane = uint8(m.bits()%uint64(len(s.place.spots))), uint8(m.bits()%uint64(len(s.place.lanes)))
	at, yaw := s.gap(k, m)
	switch {
	case k.stays:
		m.left = 4 + 8*m.uniform()
	case k.laned:
		m.pace = laneSlow + (laneFast-laneSlow)*m.uniform()
	case k.dogs:
		m.pace = [...]float32{control.WalkSpeed, control.PaceSpeed, control.PaceSpeed, control.TrotSpeed}[m.bits()%4]
	default:
		m.pace = wanderSlow + (wanderFast-wanderSlow)*m.uniform()
	}
	e, err := k.spawn(at, yaw, m)
	if err != nil {
		return err
	}
	if k.dogs {
		if s.inPack%packed == 0 {
			s.pack = e
		} else {
			m.leader = s.pack
		}
		s.inPack++
	}
	if k.born != nil {
		k.born(e, m)
	}
	return nil
}

// gap returns where there is room for one more.
func (s *Scene) gap(k *kind, m *mind) (at m3.Vec3, yaw float32) {
	for range 12 {
		yaw = m3.WrapAngle(2 * math.Pi * m.uniform())
		if k.laned {
			lane := s.place.lanes[m.lane]
			m.start = lane.Length() * m.uniform()
			var ahead m3.Vec3
			at, ahead = lane.At(m.start)
			yaw = m3.YawOf(ahead)
		} else {
			a, r := 2*math.Pi*float64(m.uniform()), s.place.radius*m3.Sqrt(m.uniform())
			at = m3.V(r*float32(math.Sin(a)), 0, r*float32(math.Cos(a)))
		}
		if s.place.free(at, clearance) && s.alone(at) {
			break
		}
	}
	return at, yaw
}

// alone reports whether nobody is near at.
func (s *Scene) alone(at m3.Vec3) bool {
	for _, k := range s.kinds {
		for _, root := range k.crowd.Roots[:k.crowd.Agents()] {
			if root.Pos.Flat().Dist(at) < 1.2 {
				return false
			}
		}
	}
	return true
}

// leave has someone go, whoever it is, but not the one who is watched.
func (s *Scene) leave() error {
	k := s.lacking(s.Agents()-1, true)
	if k == nil || s.Agents() <= 1 {
		return nil
	}
	row := s.rng.IntN(k.crowd.Agents())
	e := k.crowd.Rows.Entity(row)
	if e == s.watched { // the next one, if there is one
		row = (row + 1) % k.crowd.Agents()
		if e = k.crowd.Rows.Entity(row); e == s.watched {
			return nil
		}
	}
	last := k.crowd.Agents() - 1
	if err := k.crowd.Despawn(e); err != nil {
		return err
	}
	k.minds[row] = k.minds[last]
	return nil
}
