package matching

import (
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

const dt = 1.0 / TickRate

// body is the simulated body of an agent, on the ground.
type body struct {
	At          feature.Place
	Vel, Acc    m3.Vec3 // m/s, m/s²
	Spin, Along float32 // rad/s; m along the path
	Heading     float32 // that the goal keeps, rad
	Faced       float32 // 1: the last goal had a direction to face
}

// wish is what a goal asks for, in the row's space.
type wish struct {
	velocity m3.Vec3 // m/s
	turn     float32 // of the velocity and of the facing, rad/s
	facing   float32 // rad
	path     control.Route
	origin   m3.Vec3
	speed    float32 // along the path

	must, never Tags // of the frames that its action asks for
	stands      bool // the velocity is zero, and the body has come to rest
	rests       bool // it asks for nothing, and the body has come to rest: frames that show idle are shown, if there are some
	walks       bool // it asks for no action, and to go ahead or backward as fast as one walks: frames with WalkTag are shown, if there are some
}

// wish reads a goal. An action with the tags apart is ignored, and the stance with the tags keeps goes on; see plan. Directions in the goal are in the
// frame of at, the agent's root.
func (s *steering) wish(g *control.Goal, b *body, at feature.Place, apart, keeps Tags) (w wish) {
	if w.must, w.never = s.character.wants(g.Action); w.must&apart != 0 {
		w.must, w.never = s.character.Wanted(keeps)
	}
	if !g.Finite() {
		g = &control.Goal{}
	}
	speed := s.character.pace(g.Speed, w.must)
	if p := g.Route(); p.Path != nil && p.Path.Length() > 0 {
		w.path, w.origin, w.speed, w.facing = p, g.PathOrigin.Flat(), speed, b.Heading
		s.along(&w, b)
		b.Heading = w.facing
		return w
	}
	b.Along = -1 // the next path is followed from its nearest point
	move := m3.V(m3.Clamp(g.Move.X, -1, 1), 0, m3.Clamp(g.Move.Z, -1, 1))
	if l := move.Len(); l > 1 {
		move = move.Scale(1 / l)
	}
	face := g.Face.Flat()
	if b.Faced != 0 && face == (m3.Vec3{}) { // it goes on as it stands, turned or not
		b.Heading, b.Faced = at.Yaw, 0
	}
	frame := b.Heading
	if face != (m3.Vec3{}) {
		frame, b.Faced = at.Yaw, 1
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
func (s *steering) along(w *wish, b *body) {
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

// onPath returns the velocity and the facing of a body at a place that is beside the arc length along of the path: as
// the path goes where the body will have the velocity, and back to it.
func (s *steering) onPath(w *wish, at m3.Vec3, along float32) (velocity m3.Vec3, facing float32) {
	const (
		back  = 2    // of the way to the path, 1/s
		bend  = 0.5  // seconds ahead over which the path's curvature is taken
		stops = 2.8  // lags before the end at which the body begins to brake: recordings take a step more
		stop  = 0.05 // distance from the end of an open path at which the body may stop, m
	)
	lag := s.tuning.Velocity / math.Ln2 // seconds by which a velocity comes later than it is asked for
	speed := w.speed
	here, dir := w.path.At(along)
	_, there := w.path.At(along + bend*speed)
	if turn := m3.Acos(dir.Dot(there)) / bend; turn > 0 { // rad/s at that speed
		speed = min(speed, max(s.tuning.Grip/turn, 0.3*speed))
	}
	_, soon := w.path.At(along + lag*speed)
	if left := w.path.Length() - along; !w.path.Closed() {
		if left < stop {
			return m3.Vec3{}, m3.YawOf(soon)
		}
		speed = min(speed, left/(stops*lag))
	}
	velocity = soon.Flat().Scale(speed).Add(here.Flat().Add(w.origin).Sub(at).Scale(back))
	if l := velocity.Len(); l > speed {
		velocity = velocity.Scale(speed / l)
	}
	return velocity, m3.YawOf(velocity.Normalize(soon))
}

// step advances the body by t seconds toward a velocity and a facing.
func (b *body) step(t *Tuning, velocity m3.Vec3, facing, dt float32) {
	y := float32(2*math.Ln2) / t.Velocity
	e := m3.Exp(-y * dt)
	j0 := b.Vel.Sub(velocity)
	j1 := b.Acc.Add(j0.Scale(y))
	was := *b
	// x' = v, integrated in closed form.
	b.At.Pos = b.At.Pos.Add(velocity.Scale(dt)).
		Add(j1.Scale(1 / (y * y)).Add(j0.Scale(1 / y))).
		Sub(j1.Scale(1 / (y * y)).Add(j0.Add(j1.Scale(dt)).Scale(1 / y)).Scale(e))
	b.Vel = j0.Add(j1.Scale(dt)).Scale(e).Add(velocity)
	b.Acc = b.Acc.Sub(j1.Scale(y * dt)).Scale(e)
	by, change := b.Vel.Sub(was.Vel), float32(math.MaxFloat32)
	if t.Accel > 0 {
		change = t.Accel * dt
	}
	if t.Jerk > 0 && b.Vel.Dot(by) > 0 {
		change = min(change, (was.Acc.Len()+t.Jerk*dt)*dt)
	}
	if by.Len() > change {
		by = by.Scale(change / by.Len())
		b.Vel, b.Acc = was.Vel.Add(by), by.Scale(1/dt)
		b.At.Pos = was.At.Pos.Add(was.Vel.Add(b.Vel).Scale(dt / 2))
	}
	goal := b.At.Yaw + m3.WrapAngle(facing-b.At.Yaw)
	yaw, spin := m3.Spring(b.At.Yaw, b.Spin, goal, t.Facing, dt)
	const goes = 1 // m/s at which a body turns as soon as any
	most := min(t.Spin, t.Spot+max(t.Spin-t.Spot, 0)*max(b.Vel.Len(), velocity.Len())/goes)
	if turn := yaw - b.At.Yaw; m3.Abs(turn) > most*dt {
		yaw, spin = b.At.Yaw+m3.Clamp(turn, -most*dt, most*dt), m3.Clamp(spin, -most, most)
	}
	b.At.Yaw, b.Spin = m3.WrapAngle(yaw), spin
}

// future writes the body of a row as it will be in step ticks, in twice as many and so on.
func (s *steering) future(row int, w *wish, step int, future []body) {
	ahead, seconds := s.agents[row].Body, float32(step)*dt
	velocity, facing := w.velocity, w.facing
	for i := range future {
		t := (float32(i) + 0.5) * seconds
		switch {
		case w.path.Path != nil:
			velocity, facing = s.onPath(w, ahead.At.Pos, ahead.Along)
			// Who is beside the path comes along it only as far as the way goes with it.
			_, dir := w.path.At(ahead.Along)
			ahead.Along += max(velocity.Dot(dir), 0) * seconds
		case w.turn != 0:
			velocity, facing = m3.YawQuat(w.turn*t).Rotate(w.velocity), w.facing+w.turn*t
		}
		s.step(row, &ahead, velocity, facing, seconds)
		future[i] = ahead
	}
}

// headOn is the cosine of the angle to a wall's normal above which a body does not turn along it.
const headOn = 0.95

// yields is the share per step in which a body that a wall turns gives up the heading that it had.
const yields = 0.1

// step advances a row's body by t seconds toward a velocity and a facing. Walls turn both along, and keep the body out.
func (s *steering) step(row int, b *body, velocity m3.Vec3, facing, t float32) {
	if s.walls.Walls == nil {
		b.step(&s.tuning, velocity, facing, t)
		return
	}
	const soon = 0.1 // s
	was := b.At
	asked := feature.Place{Pos: was.Pos.Add(velocity.Scale(soon)), Yaw: was.Yaw}
	if out := s.slide(row, was, asked).Normalize(m3.Vec3{}); out != (m3.Vec3{}) {
		velocity = velocity.Add(out.Scale(max(-velocity.Dot(out), 0)))
		ahead := m3.YawQuat(facing).Forward()
		if in := -ahead.Dot(out); in > 0 && in < headOn {
			facing = m3.YawOf(ahead.Add(out.Scale(in)))
			// Who has turned along a wall means to face there.
			b.Heading = m3.WrapAngle(b.Heading + yields*m3.WrapAngle(facing-b.Heading))
		}
	}
	b.step(&s.tuning, velocity, facing, t)
	by := s.slide(row, was, b.At)
	if by == (m3.Vec3{}) {
		return
	}
	b.At.Pos = b.At.Pos.Add(by)
	out := by.Normalize(m3.Vec3{})
	b.Vel = b.Vel.Add(out.Scale(max(-b.Vel.Dot(out), 0)))
	b.Acc = b.Acc.Add(out.Scale(max(-b.Acc.Dot(out), 0)))
}

// slide returns by how much walls push a row's body aside.
func (s *steering) slide(row int, from, to feature.Place) m3.Vec3 {
	return s.walls.Slide(row, xform(from), xform(to))
}

// beginning is the ticks of an action in which a root that stood, or went elsewhere, may not yet go as the recording does.
const beginning = 15

// begins returns the motion of a root whose action has begun: a clip may begin in the midst of a leap.
func (a *agent) begins(m move) move {
	const most = 25 * dt * dt // m a tick, of an acceleration in m/s²
	was := m3.YawQuat(-a.At.Yaw).Rotate(a.Went)
	by := m3.V(m.X-was.X, 0, m.Z-was.Z)
	if l := by.Len(); l > most {
		by = by.Scale(most / l)
	}
	m.X, m.Z = was.X+by.X, was.Z+by.Z
	a.Went = m3.YawQuat(a.At.Yaw).Rotate(m3.V(m.X, 0, m.Z))
	return m
}

// share returns the bound on the motion of a row's root to its body, as a share of its own: Tuning.Share, but an action that is played once goes where
// its feet take it, and hardly elsewhere while they are aloft, from 0 to 1. A jump is steered until it lands, and if it is to end on the spot;
// done is how much of it is over, from 0 to 1.
func (s *steering) share(row int, once bool, shows Tags, aloft, done float32) float32 {
	const acts, slow = 0.3, 0.3 // m/s
	jumps := shows&s.character.actions[control.Jump] != 0
	switch {
	case !once || jumps && (done < 0.5 || s.agents[row].Body.Vel.Len() < slow):
		return s.tuning.Share
	case jumps:
		return s.tuning.Share * aloft
	default:
		return min(s.tuning.Share, acts) * aloft
	}
}

// join draws an agent's root, which has moved by the recording's motion, to its simulated body by at most a share of that motion, and the body to
// the root.
func (a *agent) join(t *Tuning, m move, most float32) {
	share := 1 - m3.Exp(-math.Ln2*dt/t.Follow)
	by, limit := a.Body.At.Pos.Sub(a.At.Pos).Scale(share), most*m3.V(m.X, 0, m.Z).Len()
	if l := by.Len(); l > limit {
		by = by.Scale(limit / l)
	}
	a.At.Pos = a.At.Pos.Add(by)
	turn := share * m3.WrapAngle(a.Body.At.Yaw-a.At.Yaw)
	// A root that goes around a curve turns about as fast as it moves.
	limit = most * max(m3.Abs(m.Yaw), m3.V(m.X, 0, m.Z).Len())
	a.At.Yaw = m3.WrapAngle(a.At.Yaw + m3.Clamp(turn, -limit, limit))

	if away := a.Body.At.Pos.Sub(a.At.Pos); away.Len() > t.Away {
		a.Body.At.Pos = a.At.Pos.Add(away.Scale(t.Away / away.Len()))
	}
	if turned := m3.WrapAngle(a.Body.At.Yaw - a.At.Yaw); m3.Abs(turned) > t.Turned {
		a.Body.At.Yaw = m3.WrapAngle(a.At.Yaw + m3.Clamp(turned, -t.Turned, t.Turned))
	}
}
