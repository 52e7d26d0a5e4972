package crowd

import (
	"math/rand/v2"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/scenes"

	arche "github.com/mlange-42/arche/ecs"
)

// How they keep out of each other's way.
const (
	personal = 2.6  // m: whoever is farther is not minded
	touching = 0.75 // m between the middles of two who are as close as they may be,
	longer   = 0.4  // more where both are dogs
	foresee  = 2.0  // s ahead in which two who would meet turn aside
	aside    = 1.6  // weight of turning aside, beside going on
	apart    = 2.2  // weight of keeping apart
	rocky    = 4    // weight of keeping off a rock
	arrived  = 2.5  // m from a spot, where one has come to it
	giveUp   = 40   // s on the way to one spot
	packed   = 5    // dogs in a pack, of which the first leads
	stray    = 2.0  // m from its leader at which a dog of a pack hurries after it
	border   = 3    // m
)

// mind is what someone has in it.
type mind struct {
	rng    rand.PCG
	look   uint64         // of coat or clothes
	goal   uint8          // which spot they go to
	lane   uint8          // for those on lanes
	start  float32        // along it, m
	pace   float32        // m/s
	left   float32        // s until they choose anew
	rest   control.Action // Move where they walk
	leader arche.Entity   // of a dog's pack; none for one that leads
	speed  float32        // they were told, m/s
}

// bits returns the next random number.
func (m *mind) bits() uint64 { return m.rng.Uint64() }

// uniform returns one in [0, 1).
func (m *mind) uniform() float32 { return float32(m.bits()>>40) / (1 << 24) }

// steer is the system that tells everybody where to go: to one of the spots, around the
// rocks, in a pack or along a lane, and out of each other's way.
type steer struct {
	s  *Scene
	at []m3.Vec3 // everybody's middle on the ground, kind by kind, then the rocks
	v  []m3.Vec3 // how fast they go, m/s
	n  int       // of them, without rocks
}

// Initialize has nothing to do.
func (t *steer) Initialize(*arche.World) {}

// Finalize has nothing to do.
func (t *steer) Finalize(*arche.World) {}

// Update tells those who take a step in this tick, of the others every fourth.
func (t *steer) Update(*arche.World) {
	s := t.s
	t.gather()
	i := 0
	for _, k := range s.kinds {
		for row := range k.crowd.Agents() {
			if rate := k.crowd.UpdateRateAt(row); rate != animsys.Frozen && (rate == animsys.EveryTick || (s.tick+row)%int(rate) == 0) {
				m := &k.minds[row]
				w := t.wish(k, m, row, i, float32(rate)/scenes.TickRate)
				m.speed = w.speed
				k.tell(k.crowd.Rows.Entity(row), row, m, w)
			}
			i++
		}
	}
	s.tick++
}

// gather notes where everybody is and where they go.
func (t *steer) gather() {
	s := t.s
	t.n = 0
	for _, k := range s.kinds {
		for row, root := range k.crowd.Roots[:k.crowd.Agents()] {
			t.at[t.n] = root.Pos.Flat()
			if k.crowd.UpdateRateAt(row) == animsys.Frozen {
				k.minds[row].speed = 0
			}
			t.v[t.n] = root.Rot.Rotate(m3.V(0, 0, k.minds[row].speed))
			t.n++
		}
	}
	s.grid.Fill(t.at[:t.n])
}

// wish returns where row of a kind, the i-th of all, wants to go. dt is the time since it was
// last asked.
func (t *steer) wish(k *kind, m *mind, row, i int, dt float32) wish {
	s, me := t.s, t.at[i]
	root := k.crowd.Roots[row]
	facing := root.Rot.Forward().Flat()
	var w wish
	switch {
	case k.stays:
		m.left -= dt
		return w
	case k.laned:
		w = wish{ahead: facing, speed: m.pace, rest: control.Idle}
	default:
		w = t.plan(k, m, me, facing, dt)
	}
	if w.speed == 0 {
		return w
	}
	push, blocked := t.avoid(k, i, facing, w.speed)
	off := s.place.off(me).Add(s.place.off(me.Add(facing.Scale(k.glance * w.speed))))
	push = push.Add(off.Add(around(off, w.ahead)).Scale(rocky))
	if out := me.Len() - (s.place.radius + border); out > 0 {
		push = push.Add(me.Normalize(m3.Vec3{}).Scale(-out))
	}
	if blocked {
		w.speed = 0
		if !k.laned { // they turn aside on the spot
			w.speed = min(m.pace, 0.5)
		}
	}
	if k.laned {
		return w
	}
	w.ahead = w.ahead.Add(push).Normalize(facing)
	// Nobody runs round a hairpin.
	if w.ahead.Dot(facing) < 0.6 {
		w.speed = min(w.speed, control.PaceSpeed)
	}
	return w
}

// around returns what leads past a rock that pushes off someone who would go ahead into
// it: along its edge, to the side that is nearer to ahead, as strongly.
func around(off, ahead m3.Vec3) m3.Vec3 {
	n := off.Normalize(m3.Vec3{})
	if n == (m3.Vec3{}) || n.Dot(ahead) >= 0 {
		return m3.Vec3{}
	}
	side := m3.V(-n.Z, 0, n.X)
	if side.Dot(ahead) < 0 {
		side = side.Neg()
	}
	return side.Scale(off.Len())
}

// plan returns the wish of who goes from spot to spot.
func (t *steer) plan(k *kind, m *mind, me, facing m3.Vec3, dt float32) wish {
	s := t.s
	if k.dogs && !m.leader.IsZero() {
		if row, ok := k.crowd.Rows.Row(m.leader); ok {
			return t.follow(k, m, row, me, facing)
		}
		m.leader = arche.Entity{} // it has gone: this one leads on
	}
	m.left -= dt
	dist, ahead := s.place.flows[m.goal].Way(me)
	if m.left <= 0 || m.rest == control.Move && dist < arrived {
		s.choose(k, m)
		_, ahead = s.place.flows[m.goal].Way(me)
	}
	if m.rest != control.Move {
		return wish{rest: m.rest}
	}
	if ahead == (m3.Vec3{}) { // on a rock
		ahead = s.place.off(me).Normalize(facing)
	}
	return wish{ahead: ahead, speed: m.pace, rest: control.Idle}
}

// follow returns the wish of a dog whose pack is led by that in row lead: it stays with
// it, goes as it goes, and rests where it rests.
func (t *steer) follow(k *kind, m *mind, lead int, me, facing m3.Vec3) wish {
	to := k.crowd.Roots[lead].Pos.Flat().Sub(me)
	leader, dist := &k.minds[lead], to.Len()
	if leader.speed == 0 && dist < 2*stray {
		return wish{rest: leader.rest}
	}
	ahead := k.crowd.Roots[lead].Rot.Forward().Flat()
	near := m3.Clamp(dist/(2*stray), 0, 1)
	ahead = ahead.Scale(1 - near).Add(to.Scale(near / max(dist, 1e-3))).Normalize(facing)
	speed := max(leader.speed, control.WalkSpeed)
	return wish{ahead: ahead, speed: min(speed+0.6*max(dist-stray, 0), control.CanterSpeed), rest: control.Idle}
}

// choose has someone go to another spot, or rest where they are.
func (s *Scene) choose(k *kind, m *mind) {
	if m.rest == control.Move && m.uniform() < 0.4 {
		m.left = 2 + 6*m.uniform()
		m.rest = control.Idle
		if k.dogs {
			m.rest = [...]control.Action{control.Idle, control.Sit, control.Lie}[m.bits()%3]
		}
		return
	}
	m.rest, m.left = control.Move, giveUp
	m.goal = uint8((int(m.goal) + 1 + int(m.bits()%uint64(len(s.place.flows)-1))) % len(s.place.flows))
}

// avoid returns what turns the i-th of all aside, and whether someone stands in the way.
func (t *steer) avoid(of *kind, i int, facing m3.Vec3, speed float32) (push m3.Vec3, blocked bool) {
	me, v := t.at[i], facing.Scale(speed)
	for strip := range 3 {
		for _, r := range t.s.grid.Near(me, strip) {
			k := int(r)
			to := t.at[k].Sub(me)
			dist := to.Len()
			if k == i || !(dist < personal) {
				continue
			}
			close := float32(touching)
			if of.dogs && k < of.crowd.Agents() { // dogs are the first of all
				close += longer
			}
			away := facing.Cross(m3.Up) // to the right, of whoever is on the spot
			if dist > 1e-3 {
				away = to.Scale(-1 / dist)
			}
			if dist < 1.5*close {
				push = push.Add(away.Scale(apart * (1.5*close - dist) / close))
			}
			ahead := -away.Dot(facing)
			if dist < close && ahead > 0.6 && k < i { // of two who meet the latter waits
				blocked = true
			}
			push = push.Add(dodge(to, v.Sub(t.v[k]), facing, 1.3*close))
		}
	}
	return push, blocked
}

// dodge returns what turns someone aside who would come too close to another that is at
// to and comes nearer by v, closer than reach: both go to the right of each other where they meet head on.
func dodge(to, v, facing m3.Vec3, reach float32) m3.Vec3 {
	square := v.Dot(v)
	if square < 1e-4 {
		return m3.Vec3{}
	}
	when := to.Dot(v) / square
	if when <= 0 || when > foresee {
		return m3.Vec3{}
	}
	miss := to.Sub(v.Scale(when)) // where the other is then
	l := miss.Len()
	if l >= reach {
		return m3.Vec3{}
	}
	right := m3.V(-facing.Z, 0, facing.X)
	side := right
	if miss.Dot(right) > 0.1 {
		side = right.Neg()
	}
	return side.Scale(aside * (1 - when/foresee) * (1 - l/reach))
}
