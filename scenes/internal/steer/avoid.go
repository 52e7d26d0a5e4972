// Package steer is how the agents of scenes find their way: [Neighbors] keeps agents off each other,
// [Roam] makes them wander near their homes, and [Herd] keeps dogs apart and out of a player's way.
package steer

import (
	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// Intent is what an agent wants to do next.
type Intent struct {
	Ahead m3.Vec3        // where to go, unit, on the ground
	Speed float32        // m/s; 0 is to stand
	Rest  control.Action // what to do while it stands
}

// Settings are how agents avoid each other.
type Settings struct {
	Personal float32 // distance up to which agents avoid each other, m
	Touching float32 // least distance between the middles of two agents, m,
	Longer   float32 // and more between two dogs
	Foresee  float32 // time ahead in which an agent avoids a collision, s
	Aside    float32 // weight of turning aside from a collision; that of going on is 1
	Apart    float32 // weight of separation
	Reaction float32 // time that agents take to slow down, s
}

// Quick are the settings of agents that obey at once, Slow those of agents that obey about a second
// later.
var (
	Quick = Settings{Personal: 2.6, Touching: 0.75, Longer: 0.4, Foresee: 2, Aside: 1.6, Apart: 2.2}
	Slow  = Settings{Personal: 3.5, Touching: 0.9, Foresee: 3, Aside: 6, Apart: 6, Reaction: 1.5}
)

// Neighbors is the avoidance of agents: separation of those that are near, and turning aside from
// those that an agent would collide with. Clear it, add all agents and sort it in every tick.
type Neighbors struct {
	Settings
	At, V []m3.Vec3 // the agents' middles on the ground, m, and their velocities, m/s
	Dogs  int       // that many of the first agents are dogs, which are longer
	grid  *Grid
}

// NewNeighbors returns room for n agents on the ground between two corners.
func NewNeighbors(s Settings, x0, z0, x1, z1 float32, n int) *Neighbors {
	return &Neighbors{Settings: s, At: make([]m3.Vec3, 0, n), V: make([]m3.Vec3, 0, n), grid: NewGrid(x0, z0, x1, z1, s.Personal, n)}
}

// Clear removes all agents.
func (n *Neighbors) Clear() { n.At, n.V = n.At[:0], n.V[:0] }

// Add adds the next agent, which faces as root and goes ahead at a speed in m/s.
func (n *Neighbors) Add(root m3.Xform, speed float32) {
	n.At, n.V = append(n.At, root.Pos.Flat()), append(n.V, root.Rot.Rotate(m3.V(0, 0, speed)))
}

// Sort makes the agents ready for Avoid.
func (n *Neighbors) Sort() { n.grid.Fill(n.At) }

// Avoid returns what turns agent i aside, which goes at a speed in the direction facing, and whether
// it has to wait for an agent in front.
func (n *Neighbors) Avoid(i int, facing m3.Vec3, speed float32) (push m3.Vec3, blocked bool) {
	me, v := n.At[i], facing.Scale(speed)
	for strip := range 3 {
		for _, r := range n.grid.Near(me, strip) {
			k := int(r)
			to := n.At[k].Sub(me)
			dist := to.Len()
			if k == i || !(dist < n.Personal) {
				continue
			}
			close := n.Touching
			if i < n.Dogs && k < n.Dogs {
				close += n.Longer
			}
			away := facing.Cross(m3.Up) // to the right, if both are on one spot
			if dist > 1e-3 {
				away = to.Scale(-1 / dist)
			}
			if dist < 1.5*close {
				push = push.Add(away.Scale(n.Apart * (1.5*close - dist) / close))
			}
			ahead := -away.Dot(facing)
			if dist < close && ahead > 0.6 && k < i { // of two who meet the latter waits
				blocked = true
			}
			push = push.Add(n.dodge(to, v.Sub(n.V[k]), facing, 1.3*close))
		}
	}
	return push, blocked
}

// Yield returns the speed at which agent i can still stop for the others, at most speed. It looks
// in the direction facing. Of two that meet, the first goes on unless they are near.
func (n *Neighbors) Yield(i int, facing m3.Vec3, speed float32) float32 {
	const front = 0.3 // cosine of the angle from straight ahead up to which others are in front
	me, out := n.At[i], speed
	for strip := range 3 {
		for _, r := range n.grid.Near(me, strip) {
			k := int(r)
			to := n.At[k].Sub(me)
			dist := to.Len()
			ahead := to.Dot(facing)
			if k == i || !(dist < n.Personal) || ahead < front*dist {
				continue
			}
			if m3.Abs(to.Cross(facing).Y) < n.Touching { // in the way
				out = min(out, (ahead-n.Touching)/n.Reaction+min(n.V[k].Dot(facing), 0))
			}
			near := n.V[i].Sub(n.V[k])
			square := near.Dot(near)
			if square < 1e-4 {
				continue
			}
			when := m3.Clamp(to.Dot(near)/square, 0, n.Foresee) // they are nearest
			first := i < k && n.V[k].Dot(to) < -front*dist*n.V[k].Len()
			if to.Sub(near.Scale(when)).Len() < n.Touching && (!first || dist < 2*n.Touching) {
				out = min(out, speed*(when-0.5)/n.Reaction)
			}
		}
	}
	return max(out, 0)
}

// dodge returns what turns an agent aside that would come closer than reach to another. The other
// is at to and approaches at v. Agents that meet head on both turn right.
func (n *Neighbors) dodge(to, v, facing m3.Vec3, reach float32) m3.Vec3 {
	square := v.Dot(v)
	if square < 1e-4 {
		return m3.Vec3{}
	}
	when := to.Dot(v) / square
	if when <= 0 || when > n.Foresee {
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
	return side.Scale(n.Aside * (1 - when/n.Foresee) * (1 - l/reach))
}

// Around returns what leads past an obstacle that pushes off an agent going ahead into it: along its
// edge, to the side that is nearer to ahead, as strongly.
func Around(off, ahead m3.Vec3) m3.Vec3 {
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

// Follow returns the speed of an agent that wants to go at speed behind another on a lane, which is
// a gap ahead and goes at its own speed, m and m/s. Agents on lanes obey about a second later.
func Follow(speed, gap, ahead float32) float32 {
	const room, rate = 1.6, 0.4 // m that are left between them, and 1/s at which they are reached
	return m3.Clamp(ahead+rate*(gap-room), 0, speed)
}
