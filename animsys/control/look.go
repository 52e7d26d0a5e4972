package control

import "mannequin/engine/m3"

// The settings of looks.
const (
	glanceFrom  = 3.5  // distance from which an agent glances at another, m
	glanceSide  = 0.3  // cosine of the angle to its own way within which it sees others
	glanceLeast = 30   // ticks of a glance
	glanceMore  = 50   // ticks that a glance may take longer
	pauseLeast  = 60   // ticks from a glance to the next
	pauseMore   = 240  // ticks that the pause may take longer
	glanceShare = 0.15 // of the choices, every tenth of a second, in which an agent begins a glance
)

// Look returns where agent i looks, after its Steer: the index of an agent at whom it glances, or −1,
// and the direction in which it is about to go, a unit vector. It glances for 0.5 to 1.3 s at others
// who come toward it, not at all of them, and pauses in between. The direction is the last choice,
// which the body obeys later: a head that looks there leads the turn. An agent that does not move
// looks ahead. ecs.LookAt turns its head. Look returns −1 and zero for an obstacle, and without a call
// of Steer in this tick.
func (a *Avoidance) Look(i int) (other int, ahead m3.Vec3) {
	p := &a.all[i]
	w := p.walker
	if w == nil || a.tick != w.heard {
		return -1, m3.Vec3{}
	}
	to := w.asked[w.newest].ahead
	if w.rests {
		to = p.now.ahead
	}
	if w.glances && (a.tick >= w.glanceEnds || int(w.glance) >= len(a.all) || !p.sees(&a.all[w.glance])) {
		w.glances, w.glanceEnds = false, a.tick+pauseLeast+int32(a.chance(i, 1)*pauseMore)
	}
	if !w.glances && a.tick >= w.glanceEnds && w.chose == a.tick && a.chance(i, 0) < glanceShare {
		if k := a.comes(i); k >= 0 {
			w.glances, w.glance, w.glanceEnds = true, int32(k), a.tick+glanceLeast+int32(a.chance(i, 1)*glanceMore)
		}
	}
	other = -1
	if w.glances {
		other = int(w.glance)
	}
	return other, m3.V(to.x, 0, to.z)
}

// comes returns the nearest agent that i sees and that comes nearer, or −1.
func (a *Avoidance) comes(i int) (nearest int) {
	p, least := &a.all[i], float32(glanceFrom*glanceFrom)
	nearest = -1
	for c := range 9 {
		for _, r := range a.grid.cell(p.now.at, c) {
			q := &a.all[r]
			d := q.now.at.sub(p.now.at)
			if int(r) == i || q.walker == nil || !(d.dot(d) < least) || !p.sees(q) {
				continue
			}
			if later := q.path[0].sub(p.path[0]); later.dot(later) < d.dot(d) {
				nearest, least = int(r), d.dot(d)
			}
		}
	}
	return nearest
}

// sees reports whether an agent is before p and near.
func (p *placed) sees(q *placed) bool {
	d := q.now.at.sub(p.now.at)
	square := d.dot(d)
	return square < glanceFrom*glanceFrom && d.dot(p.now.ahead) > glanceSide*m3.Sqrt(square)
}

// chance returns a number from 0 to 1 for agent i in this tick.
func (a *Avoidance) chance(i int, salt uint64) float32 {
	seed := uint64(i)<<33 | uint64(uint32(a.tick))<<1 | salt
	return float32(next(&seed)>>40) / (1 << 24)
}
