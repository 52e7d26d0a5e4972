package matching

import (
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
)

const dt = 1.0 / TickRate

// body is the simulated body of an agent, on the ground.
type body struct {
	At          feature.Place
	Vel, Acc    m3.Vec3 // m/s, m/s²
	Spin, Along float32 // rad/s; m along the path
	Heading     float32 // that the goal keeps, rad
}

// wish is what a goal asks for, in the row's space.
type wish struct {
	velocity m3.Vec3 // m/s
	turn     float32 // of the velocity and of the facing, rad/s
	facing   float32 // rad
	path     control.Route
	origin   m3.Vec3
	speed    float32 // along the path
}

// wish reads a goal. at is where the agent stands: directions in goals are in its frame.
func (s *Stream) wish(g *control.Goal, b *body, at feature.Place) (w wish) {
	if !g.Finite() {
		g = &control.Goal{}
	}
	speed := m3.Clamp(g.Speed, 0, s.db.fastest)
	if p := g.Route(); p.Path != nil && p.Path.Length() > 0 {
		w = wish{path: p, origin: g.PathOrigin.Flat(), speed: speed, facing: b.Heading}
		s.along(&w, b)
		b.Heading = w.facing
		return w
	}
	move := m3.V(m3.Clamp(g.Move.X, -1, 1), 0, m3.Clamp(g.Move.Z, -1, 1))
	if l := move.Len(); l > 1 {
		move = move.Scale(1 / l)
	}
	frame := b.Heading
	if face := g.Face.Flat(); face != (m3.Vec3{}) {
		frame = at.Yaw
		b.Heading = m3.WrapAngle(at.Yaw + m3.YawOf(face))
	} else if turn := g.Turning(); turn != 0 {
		w.turn = turn * control.MaxTurn
		// The heading runs ahead of a body that cannot turn as fast, up to a leash.
		ahead := m3.Clamp(m3.WrapAngle(b.Heading-at.Yaw)+w.turn*dt, -leash, leash)
		b.Heading = m3.WrapAngle(at.Yaw + ahead)
		frame = b.Heading
	}
	w.facing = b.Heading
	w.velocity = m3.YawQuat(frame).Rotate(move).Scale(speed)
	return w
}

const leash = math.Pi / 4 // between the heading asked for and the real one, in a turn

// Stretches of a path, m, on which the body is looked for: around its last place.
const (
	pathBack  = 0.5
	pathAhead = 1.0
	pathLost  = 1.5 // distance beyond which it is looked for everywhere
)

// along finds the body on its path, and sets velocity and facing to those of the path there.
func (s *Stream) along(w *wish, b *body) {
	from := b.At.Pos.Sub(w.origin)
	d := float32(pathLost)
	if b.Along >= 0 {
		b.Along, d = w.path.NearestFrom(from, b.Along, pathBack, pathAhead)
	}
	if !(d < pathLost) {
		b.Along, _ = w.path.Nearest(from)
	}
	w.velocity, w.facing = s.onPath(w, b.At.Pos, b.Along)
}

// onPath returns the velocity and the facing of a body at a place that is beside the arc length along of the path: to
// where the path is in a third of a second.
func (s *Stream) onPath(w *wish, at m3.Vec3, along float32) (velocity m3.Vec3, facing float32) {
	const soon = 1. / 3
	speed := w.speed
	_, here := w.path.At(along)
	_, there := w.path.At(along + 0.5*speed)
	if turn := m3.Acos(here.Dot(there)) / 0.5; turn > 0 { // rad/s at that speed
		speed = min(speed, max(s.tuning.Grip/turn, 0.3*speed))
	}
	pos, dir := w.path.At(along + soon*speed)
	if left := w.path.Length() - along; !w.path.Closed() && left < soon*speed {
		speed = max(left/soon, 0)
		if left < 0.05 {
			return m3.Vec3{}, m3.YawOf(dir)
		}
	}
	way := pos.Flat().Add(w.origin).Sub(at)
	velocity = way.Normalize(dir.Flat()).Scale(speed)
	return velocity, m3.YawOf(velocity.Normalize(dir))
}

// step advances the body by t seconds toward a velocity and a facing.
func (b *body) step(t *Tuning, velocity m3.Vec3, facing, dt float32) {
	y := float32(2*math.Ln2) / t.Velocity
	e := m3.Exp(-y * dt)
	j0 := b.Vel.Sub(velocity)
	j1 := b.Acc.Add(j0.Scale(y))
	// x' = v, integrated in closed form.
	b.At.Pos = b.At.Pos.Add(velocity.Scale(dt)).
		Add(j1.Scale(1 / (y * y)).Add(j0.Scale(1 / y))).
		Sub(j1.Scale(1 / (y * y)).Add(j0.Add(j1.Scale(dt)).Scale(1 / y)).Scale(e))
	b.Vel = j0.Add(j1.Scale(dt)).Scale(e).Add(velocity)
	b.Acc = b.Acc.Sub(j1.Scale(y * dt)).Scale(e)
	goal := b.At.Yaw + m3.WrapAngle(facing-b.At.Yaw)
	yaw, spin := m3.Spring(b.At.Yaw, b.Spin, goal, t.Facing, dt)
	if turn := yaw - b.At.Yaw; m3.Abs(turn) > t.Spin*dt {
		yaw, spin = b.At.Yaw+m3.Clamp(turn, -t.Spin*dt, t.Spin*dt), m3.Clamp(spin, -t.Spin, t.Spin)
	}
	b.At.Yaw, b.Spin = m3.WrapAngle(yaw), spin
}

// simulate advances the body of a row by a tick, and returns where it will be at the horizon.
func (s *Stream) simulate(row int, w *wish) (future [len(horizon)]feature.Place) {
	b := &s.agents[row].Body
	was := b.At
	b.step(&s.tuning, w.velocity, w.facing, dt)
	s.alongWalls(row, b, was)
	ahead := *b
	const step = 10 // ticks
	velocity, facing := w.velocity, w.facing
	for k, i := step, 0; i < len(horizon); k += step {
		t := float32(k-step/2) * dt
		switch {
		case w.path.Path != nil:
			velocity, facing = s.onPath(w, ahead.At.Pos, ahead.Along)
			ahead.Along += velocity.Len() * step * dt
		case w.turn != 0:
			velocity, facing = m3.YawQuat(w.turn*t).Rotate(w.velocity), w.facing+w.turn*t
		}
		was := ahead.At
		ahead.step(&s.tuning, velocity, facing, step*dt)
		s.alongWalls(row, &ahead, was)
		if k == horizon[i] {
			future[i] = ahead.At
			i++
		}
	}
	return future
}

// alongWalls keeps a body that was at was out of walls. It loses the velocity into them.
func (s *Stream) alongWalls(row int, b *body, was feature.Place) {
	if s.walls.Walls == nil {
		return
	}
	by := generator.Slide(s.walls.Walls, s.walls.body, xform(was), xform(b.At), &s.walls.spaces[row])
	if by == (m3.Vec3{}) {
		return
	}
	b.At.Pos = b.At.Pos.Add(by)
	out := by.Normalize(m3.Vec3{})
	if in := -b.Vel.Dot(out); in > 0 {
		b.Vel = b.Vel.Add(out.Scale(in))
	}
	if in := -b.Acc.Dot(out); in > 0 {
		b.Acc = b.Acc.Add(out.Scale(in))
	}
}

// join draws an agent's root, which has moved by the recording's motion, to its simulated body, and the body to the
// root.
func (a *agent) join(t *Tuning, m move) {
	share := 1 - m3.Exp(-math.Ln2*dt/t.Follow)
	by, most := a.Body.At.Pos.Sub(a.At.Pos).Scale(share), t.Share*m3.V(m.X, 0, m.Z).Len()
	if l := by.Len(); l > most {
		by = by.Scale(most / l)
	}
	a.At.Pos = a.At.Pos.Add(by)
	turn := share * m3.WrapAngle(a.Body.At.Yaw-a.At.Yaw)
	// A root that goes around a curve turns about as fast as it moves.
	limit := t.Share * max(m3.Abs(m.Yaw), m3.V(m.X, 0, m.Z).Len())
	a.At.Yaw = m3.WrapAngle(a.At.Yaw + m3.Clamp(turn, -limit, limit))

	if away := a.Body.At.Pos.Sub(a.At.Pos); away.Len() > t.Away {
		a.Body.At.Pos = a.At.Pos.Add(away.Scale(t.Away / away.Len()))
	}
	if turned := m3.WrapAngle(a.Body.At.Yaw - a.At.Yaw); m3.Abs(turned) > t.Turned {
		a.Body.At.Yaw = m3.WrapAngle(a.At.Yaw + m3.Clamp(turned, -t.Turned, t.Turned))
	}
}
