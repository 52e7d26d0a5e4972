package control

import "mannequin/engine/m3"

// Avoidance keeps agents from walking into each other. Each agent tries some directions and speeds
// around the wanted ones, predicts how it and its neighbours then move, and takes the best, as with
// reciprocal velocity obstacles (van den Berg, Lin and Manocha 2008, sec. 4). The cost of a collision
// falls with the time until it, as among people (Karamouzas, Skinner and Guy 2014, eq. 3). Predictions
// know how late each agent obeys, how fast it turns, and what it chose last.
//
// The zero Avoidance is ready to use. In every tick call Begin, Add all agents, call Sort, and Steer
// the agents that move. It allocates memory only to make room for more agents.
type Avoidance struct {
	// Walls are what agents go around before they reach it, for instance Obstacles: see
	// animsys.Options. Optional. Only what is near is seen: ways out of a maze are for a Flow.
	Walls interface {
		Slide(from, to m3.Vec3, radius float32) m3.Vec3
	}

	tick int32
	all  []placed
	grid grid
}

// Walker is an agent in Avoidance. Keep it with the agent from tick to tick, and change its fields at
// any time.
type Walker struct {
	Radius  float32 // of the room that it takes, m
	Middle  float32 // from its root to the middle of that room, m ahead
	Delay   float32 // time after which it begins to obey, s
	Lag     float32 // time constant with which it then takes up a speed and a turn, s
	MaxTurn float32 // rad/s; 0: it stays on a path of its own, and only its speed is changed
	Slowest float32 // speed at which it goes at least unless it stands, m/s
	Pivots  bool    // it can turn on the spot
	Left    float32 // preference for passing on the left, −1 to 1; negative is on the right

	at, velocity flat // in the last tick, m and m/s
	turn, yaw    float32
	asked        [remembered]course // the last choices; the newest is at newest
	newest       uint8
	known        bool  // at is known
	rests        bool  // it wanted speed 0 last
	chose, heard int32 // ticks of the last choice and the last call of Steer

	glances    bool
	glance     int32 // index of the agent at whom it glances
	glanceEnds int32 // tick at which the glance, or the pause after it, ends
}

// course is a direction, unit, and a speed, m/s.
type course struct {
	ahead flat
	speed float32
}

// The settings of avoidance.
const (
	tickRate   = 60
	pathStep   = 0.25 // s, from one point of a prediction to the next
	pathSteps  = 14
	remembered = 16   // choices
	seen       = 6    // distance up to which agents take account of each other, m
	mostSeen   = 16   // neighbours, the nearest
	think      = 6    // ticks from one choice to the next
	forgotten  = 12   // ticks without Steer after which an agent is expected to keep its velocity
	turning    = 1.5  // turn rate for each radian of error in the direction, 1/s
	comfort    = 0.4  // room that agents like to have between them, m
	crowded    = 0.6  // cost of each metre of comfort that is missing; a full overlap costs 1
	grazing    = 0.6  // cost of touching, on the same scale
	loyal      = 0.15 // cost of changing the last choice by the wanted speed; standing still costs 1
	preference = 0.1  // cost of passing on the side that the agent does not prefer
	collision  = 8    // weight of collisions, s²
	horizon    = 3    // s, τ0 of Karamouzas et al.
	wallSeen   = 4    // distance at which a wall begins to matter, m
	wall       = 2    // cost of a wall right ahead
)

// placed is an agent or an obstacle in this tick.
type placed struct {
	walker *Walker // nil: an obstacle
	now    motion
	obeys  motion // when it begins to obey its last choice
	radius float32
	floor  float32         // on which the agent stands, m
	path   [pathSteps]flat // where it will be after one step, two, …
}

// motion is a place, a unit direction, a velocity aside that the agent loses, m/s, its speed ahead, m/s,
// and its turn rate, rad/s.
type motion struct {
	at, ahead, drift flat
	speed, turn      float32
}

// Begin starts a tick of 1/60 s and removes the agents and obstacles of the tick before.
func (a *Avoidance) Begin() {
	a.tick++
	a.all = a.all[:0]
}

// Add adds an agent with its root in world space, which faces its +Z; its height matters to Walls
// alone. It returns the agent's index for Steer.
func (a *Avoidance) Add(w *Walker, root m3.Xform) int {
	ahead := root.Rot.Forward().Flat().Normalize(m3.V(0, 0, 1))
	w.observe(flatOf(root.Pos), m3.YawOf(ahead), a.tick)
	to := flatOf(ahead)
	speed := w.velocity.dot(to)
	p := placed{walker: w, radius: w.Radius, floor: root.Pos.Y}
	p.now = motion{flatOf(root.Pos).add(to.scale(w.Middle)), to, w.velocity.sub(to.scale(speed)), speed, w.turn}
	if a.tick-w.heard > forgotten {
		p.obeys = p.now
		p.path[0] = p.now.at.add(w.velocity.scale(pathStep))
		for k := 1; k < pathSteps; k++ {
			p.path[k] = p.path[k-1].add(w.velocity.scale(pathStep))
		}
	} else {
		w.predict(&p)
	}
	a.all = append(a.all, p)
	return len(a.all) - 1
}

// AddObstacle adds something round that never moves.
func (a *Avoidance) AddObstacle(at m3.Vec3, radius float32) {
	p := placed{radius: radius, now: motion{at: flatOf(at)}}
	for k := range p.path {
		p.path[k] = p.now.at
	}
	a.all = append(a.all, p)
}

// Sort makes Steer ready, after the last Add.
func (a *Avoidance) Sort() { a.grid.fill(a.all) }

// Steer returns the turn rate, rad/s to the left, and the speed, m/s, of agent i, which wants to go in
// the direction ahead, a unit vector in world space, at speed, m/s. Speed 0 is to rest. An agent
// chooses a new direction and speed every tenth of a second. The others expect an agent for which
// Steer is not called to keep its velocity. Numbers that are not finite return 0.
func (a *Avoidance) Steer(i int, ahead m3.Vec3, speed float32) (turn, most float32) {
	p := &a.all[i]
	w := p.walker
	if w == nil || !ahead.Finite() || !m3.Finite(speed) {
		return 0, 0
	}
	now := course{p.now.ahead, p.now.speed}
	if a.tick-w.heard > forgotten {
		for k := range w.asked {
			w.asked[k] = now
		}
		w.chose = a.tick - int32(think-i%think)
	}
	w.heard = a.tick
	rests := speed <= 0
	if a.tick-w.chose >= think || rests != w.rests {
		c := course{p.now.ahead, 0}
		if !rests {
			c = a.best(i, course{flatOf(ahead.Flat().Normalize(m3.V(c.ahead.x, 0, c.ahead.z))), speed})
		}
		w.rests, w.chose, w.newest = rests, a.tick, (w.newest+1)%remembered
		w.asked[w.newest] = c
		w.predict(p)
	}
	c := w.asked[w.newest]
	if rests || w.MaxTurn == 0 {
		return 0, c.speed
	}
	return w.toward(p.obeys.ahead, c.ahead), w.slow(p.obeys.ahead, c)
}

// observe takes in where the agent is.
func (w *Walker) observe(at flat, yaw float32, tick int32) {
	const keep, placed = 0.89, 12 // of the velocity: a half-life of 0.1 s; m/s that no agent has
	v, turn := at.sub(w.at).scale(tickRate), m3.WrapAngle(yaw-w.yaw)*tickRate
	if !w.known || !(v.dot(v) < placed*placed) {
		v, turn, w.velocity, w.turn = flat{}, 0, flat{}, 0
		w.heard = tick - forgotten - 1
	}
	w.velocity = w.velocity.scale(keep).add(v.scale(1 - keep))
	w.turn = m3.Lerp(turn, w.turn, keep)
	w.at, w.yaw, w.known = at, yaw, true
}

// late returns the number of steps of a prediction before the agent obeys a new choice.
func (w *Walker) late() int {
	if !(w.Delay > 0) {
		return 0
	}
	return int(min(w.Delay/pathStep+0.5, pathSteps-1))
}

// predict fills in the path of an agent that keeps to its last choice.
func (w *Walker) predict(p *placed) {
	const each = float32(think) / tickRate // s, from one choice to the next
	n := w.late()
	p.obeys = p.now
	for k := range n {
		ago := uint8(m3.Clamp((w.Delay-float32(k)*pathStep)/each, 0, remembered-1))
		p.obeys = w.follow(&p.path, p.obeys, k, k+1, w.asked[(w.newest-ago)%remembered])
	}
	w.follow(&p.path, p.obeys, n, pathSteps, w.asked[w.newest])
}

// follow fills in a path from one step to another with a course, and returns the motion after them.
func (w *Walker) follow(path *[pathSteps]flat, m motion, from, to int, c course) motion {
	lag := pathStep / (pathStep + w.Lag)
	for k := from; k < to; k++ {
		want := c.speed
		if w.MaxTurn > 0 {
			m.turn += lag * (w.toward(m.ahead, c.ahead) - m.turn)
			want = w.slow(m.ahead, c)
		}
		m.speed += lag * (want - m.speed)
		a := m.turn * pathStep // small
		m.ahead = m.ahead.add(flat{m.ahead.z, -m.ahead.x}.scale(a)).scale(1 / m3.Sqrt(1+a*a))
		m.drift = m.drift.scale(1 - lag)
		m.at = m.at.add(m.ahead.scale(m.speed).add(m.drift).scale(pathStep))
		path[k] = m.at
	}
	return m
}

// toward returns the turn rate, rad/s, at which an agent that faces one direction takes another.
func (w *Walker) toward(from, to flat) float32 {
	aside := from.left(to) // about the angle
	switch behind := from.dot(to) < 0; {
	case behind && aside < 0:
		aside = -2 - aside
	case behind:
		aside = 2 - aside
	}
	return m3.Clamp(turning*aside, -w.MaxTurn, w.MaxTurn)
}

// slow returns the speed at which an agent goes while it turns to a course.
func (w *Walker) slow(from flat, c course) float32 {
	v := c.speed * m3.Clamp((from.dot(c.ahead)-0.2)/0.6, 0, 1)
	if v < w.Slowest/2 && (w.Pivots || c.speed == 0) {
		return 0
	}
	return max(v, w.Slowest)
}

// The choices of an agent: cosines and sines of the angles from the wanted direction, and shares of the
// wanted speed.
var (
	choiceAngles = func() (out [13]flat) {
		for i, a := range [...]float32{0, 0.25, -0.25, 0.5, -0.5, 0.8, -0.8, 1.15, -1.15, 1.6, -1.6, 2.2, -2.2} {
			out[i] = flat{m3.Sin(a), m3.Cos(a)}
		}
		return out
	}()
	choiceSpeeds = [...]float32{1, 0.7, 0.4}
)

// neighbour is an agent or an obstacle near the agent that chooses.
type neighbour struct {
	path *[pathSteps]flat
	room float32 // distance of the middles at which both touch, m
	dist float32 // m
}

// best returns the best course of agent i.
func (a *Avoidance) best(i int, wish course) course {
	p := &a.all[i]
	w := p.walker
	var near [mostSeen]neighbour
	n := a.around(&near, i)
	if n == 0 && a.Walls == nil {
		return wish
	}
	path, from, last := p.path, w.late(), w.asked[w.newest]
	best, most := wish, float32(1e9)
	try := func(c course) {
		v := c.ahead.scale(c.speed)
		d, e := v.sub(wish.ahead.scale(wish.speed)), v.sub(last.ahead.scale(last.speed))
		cost := (m3.Sqrt(d.dot(d)) + loyal*m3.Sqrt(e.dot(e))) / wish.speed
		if side := wish.ahead.left(c.ahead); side*w.Left < 0 {
			cost -= preference * side * w.Left
		}
		if cost < most {
			cost += a.blocked(p, c)
		}
		if cost < most {
			w.follow(&path, p.obeys, from, pathSteps, c)
			if cost = danger(&path, from, near[:n], cost, most); cost < most {
				cost += a.touched(p, &path, from)
			}
			if cost < most {
				best, most = c, cost
			}
		}
	}
	if try(wish); most < 2*loyal { // the wanted course is free
		return best
	}
	try(course{p.now.ahead, 0})
	for _, share := range choiceSpeeds {
		for _, r := range choiceAngles {
			try(course{wish.ahead.rotate(r), max(share*wish.speed, w.Slowest)})
			if w.MaxTurn == 0 { // it stays on its path
				break
			}
		}
	}
	return best
}

// danger returns cost and what a path costs from step first on: collisions, the more the sooner and the
// deeper, and the lack of comfort. It returns early when that is limit or more.
func danger(path *[pathSteps]flat, first int, near []neighbour, cost, limit float32) float32 {
	for i := range near {
		q := &near[i]
		most := q.room + comfort
		last := path[max(first-1, 0)].sub(q.path[max(first-1, 0)])
		for k := first; k < pathSteps; k++ {
			d := path[k].sub(q.path[k])
			by := last.sub(d)
			length := by.dot(by)
			if d.dot(d) < 2*(most*most+length) {
				// The least distance since the last step.
				at := last.sub(by.scale(m3.Clamp(last.dot(by)/max(length, 1e-6), 0, 1)))
				if square := at.dot(at); square < most*most {
					dist := m3.Sqrt(square)
					cost += urgency[k-first] * crowded * (most - dist)
					if dist < q.room {
						cost += urgency[k-first] * (grazing + (1 - dist/q.room))
					}
					if cost >= limit {
						return cost
					}
				}
			}
			last = d
		}
	}
	return cost
}

// blocked returns what a course of p costs because a wall is ahead: nothing if it is farther than
// wallSeen or if p stands, and more than any other direction costs if it is near. Unlike other agents, a
// wall is there whenever p comes.
func (a *Avoidance) blocked(p *placed, c course) float32 {
	if a.Walls == nil || c.speed <= 0 {
		return 0
	}
	ahead := m3.V(c.ahead.x, 0, c.ahead.z)
	from := p.on(p.obeys.at)
	free := a.Walls.Slide(from, from.Add(ahead.Scale(wallSeen)), p.radius).Sub(from).Dot(ahead)
	return wall * m3.Clamp(1-free/wallSeen, 0, 1)
}

// touched returns what a path of p costs from step first on because it touches a wall.
func (a *Avoidance) touched(p *placed, path *[pathSteps]flat, first int) float32 {
	if a.Walls == nil {
		return 0
	}
	const touches = 0.02 // m
	last := p.obeys.at
	for k := first; k < pathSteps; k++ {
		to := p.on(path[k])
		if miss := a.Walls.Slide(p.on(last), to, p.radius).Sub(to).Flat().Len(); miss > touches {
			return urgency[k-first] * (1 + grazing)
		}
		last = path[k]
	}
	return 0
}

// on returns a place on p's floor.
func (p *placed) on(at flat) m3.Vec3 { return m3.V(at.x, p.floor, at.z) }

// urgency is the cost of being in another agent, by the steps until then.
var urgency = func() (out [pathSteps]float32) {
	for k := range out {
		t := float32(k+1)*pathStep + 0.25
		out[k] = collision * pathStep / (t * t) * m3.Exp(-t/horizon)
	}
	return out
}()

// around fills in the nearest neighbours of agent i and returns their number.
func (a *Avoidance) around(near *[mostSeen]neighbour, i int) (n int) {
	p := &a.all[i]
	for c := range 9 {
		for _, r := range a.grid.cell(p.now.at, c) {
			q := &a.all[r]
			d := q.now.at.sub(p.now.at)
			dist, room := m3.Sqrt(d.dot(d)), p.radius+q.radius
			free := func(k int) float32 { return near[k].dist - near[k].room }
			if int(r) == i || !(dist < seen) || n == mostSeen && free(n-1) <= dist-room {
				continue
			}
			n = min(n+1, mostSeen)
			k := n - 1
			for ; k > 0 && free(k-1) > dist-room; k-- {
				near[k] = near[k-1]
			}
			near[k] = neighbour{&q.path, room, dist}
		}
	}
	return n
}
