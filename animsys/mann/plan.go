package mann

import (
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// maxDeviation bounds the speed asked for, in standard deviations above the mean of the training
// data. Recorded dogs reach 10.5.
const maxDeviation = 10

// Plan bends the future trajectory of rows r0 to r1 toward their goals, indexed by row.
func (b *Batch) Plan(goals []control.Goal, r0, r1 int) {
	b.check(r0, r1)
	for r := r0; r < r1; r++ {
		b.planRow(&goals[r], r)
	}
}

// planRow plans row r for the goal g. A goal that is not finite counts as none.
func (b *Batch) planRow(g *control.Goal, r int) {
	if !g.Finite() {
		g = &control.Goal{}
	}
	t := &b.tuning
	move := vec2{m3.Clamp(g.Move.X, -1, 1), m3.Clamp(g.Move.Z, -1, 1)}
	if l := move.length(); l > 1 {
		move = move.scale(1 / l)
	}
	turn := g.Turning()
	path := g.Route()
	follows := path.Path != nil && path.Path.Length() > 0 // made by NewPath
	var off float32                                       // metres from the path
	if follows {
		move, turn = vec2{0, 1}, 0
		off = b.locate(r, path, flat(g.PathOrigin))
		if !path.Closed() && off < pathLost && path.Length()-b.agent[r].along < pathEnd {
			move = vec2{}
		}
	} else {
		b.path[r] = nil
	}
	want := g.Action
	if want == control.Jump && b.low(r) && b.Weight(r, control.Jump) == 0 {
		want = control.Idle // it gets up first
	}
	action := b.choose(r, want, &move, &turn)
	speed := m3.Clamp(g.Speed, 0, b.Model.fastest)
	switch {
	case action == control.Idle && b.low(r):
		// Dogs get up with a step forward in nearly all recordings. A network that is asked to idle
		// instead may stay down.
		action, move, speed = control.Move, vec2{0, 1}, t.Rise
	case follows:
		speed = min(speed, b.curveSpeed(path, b.agent[r].along, speed))
	case move != vec2{}:
		move, speed = b.reach(move, speed)
	case turn != 0:
		// Without a step the paws would turn with the body.
		move, speed = vec2{0, 1}, t.Pivot*m3.Abs(turn)*control.MaxTurn
	}
	shares := &b.shares[b.agent[r].stride]
	wants, gain := move != (vec2{}) || turn != 0, shares.decay
	if wants {
		gain = shares.gain
	}
	speed *= move.length()
	speed = b.regulate(r, speed, action)

	goalDir := b.face(r, turn, wants && !follows)
	b.agent[r].targetDir = b.agent[r].targetDir.lerp(goalDir, gain).unit(goalDir)
	goalVel := frame{fwd: b.agent[r].targetDir}.out(move.unit(vec2{})).scale(speed)
	b.agent[r].targetVel = b.agent[r].targetVel.lerp(goalVel, gain)
	// The stronger the goal, the more the network's own future corrects ours.
	b.agent[r].correct = m3.Lerp(b.agent[r].correct, max(min(move.length(), 1), m3.Abs(turn)), gain)

	if b.path[r] != nil && move != (vec2{}) {
		b.agent[r].correct = 1 // τ weighs path and network in followPath
		b.followPath(r, path, flat(g.PathOrigin), off)
	} else {
		b.steer(r)
	}
	b.alongWalls(r)
	seconds := t.Ramp[action]
	if b.Weight(r, control.Jump) > 0 {
		seconds = min(seconds, t.Ramp[control.Jump])
	}
	b.ramp(r, b.Model.action[action], seconds, gain)
	switch w := b.Weight(r, control.Jump); {
	case w > 0.99:
		b.agent[r].leap += int32(b.agent[r].stride)
	case w == 0:
		b.agent[r].leap = 0
	}
}

// low reports whether the hips of row are lower than in standing.
func (b *Batch) low(r int) bool {
	const share = 0.85 // of the rest pose; recorded dogs go as low as 0.9 on their feet
	return b.bonePos[r*b.joints].Y < share*b.Model.rest[feature.BonePos+1]
}

// reach returns the nearest direction and speed that the tuning allows sideways and backward. The
// length of move stays.
func (b *Batch) reach(move vec2, speed float32) (vec2, float32) {
	v := move.unit(move).scale(speed)
	v.X, v.Z = m3.Clamp(v.X, -b.tuning.Sideways, b.tuning.Sideways), max(v.Z, -b.tuning.Backward)
	return v.unit(move.unit(move)).scale(move.length()), v.length()
}

// face turns the heading of row at the goal's rate and returns the direction to ask for in a
// second. A steered row has a heading apart from its real one, so that the network's deviations are
// corrected instead of adding up. A leash keeps the two together.
func (b *Batch) face(r int, turn float32, steered bool) vec2 {
	fwd := b.root(r).fwd
	if !steered {
		b.agent[r].heading = fwd
		return fwd
	}
	rate := turn * control.MaxTurn
	h := b.agent[r].heading.turned(rate * float32(b.agent[r].stride) / Rate)
	if off := b.root(r).angleTo(h); m3.Abs(off) > b.tuning.Leash {
		h = fwd.turned(m3.Clamp(off, -b.tuning.Leash, b.tuning.Leash))
	}
	b.agent[r].heading = h.unit(fwd)
	return b.agent[r].heading.turned(rate)
}

// choose applies the rules of jumping and sitting to the goal: it returns the action, and clears
// motion that does not go with it.
func (b *Batch) choose(r int, want control.Action, move *vec2, turn *float32) control.Action {
	t := &b.tuning
	if !b.Model.Can(want) {
		want = control.Idle
	}
	speed := b.vel[r*points+now].length()
	moving := *move != (vec2{}) || *turn != 0
	switch want {
	case control.Jump:
		if b.curvature(r) > t.Curvature || float32(b.agent[r].leap) >= t.Leap*Rate {
			want = control.Move
		} else if !moving {
			*move = vec2{0, 1}
			moving = true
		}
	case control.Sit, control.Lie, control.Stand:
		*move, *turn = vec2{}, 0
		if speed > t.SlowSpeed {
			want = control.Move
		}
	}
	// A character that slows down still moves.
	going := moving || speed > t.SlowSpeed
	switch {
	case want == control.Idle && going:
		return control.Move
	case want == control.Move && !going:
		return control.Idle
	}
	return want
}

// curvature returns the total turn of the trajectory as a share of a half turn, 0 to 1.
func (b *Batch) curvature(r int) float32 {
	const step = 10
	p := b.pos[r*points:][:points]
	var sum float32
	for i := step; i < points-step; i += step {
		u, v := p[i].sub(p[i-step]), p[i+step].sub(p[i])
		if min(u.length(), v.length()) < 0.02 {
			continue // a shift of weight is no turn
		}
		sum += m3.Atan2(u.Z*v.X-u.X*v.Z, u.dot(v))
	}
	return min(m3.Abs(sum)/math.Pi, 1)
}

// regulate returns the speed to aim for if the goal asks for speed, m/s. The weights of actions
// that fade in and out mix their speeds.
func (b *Batch) regulate(r int, speed float32, action control.Action) float32 {
	t := &b.tuning
	want := speed*b.Weight(r, control.Move) + t.JumpSpeed*b.Weight(r, control.Jump)
	have := b.vel[r*points+now].length()
	if action != control.Move && action != control.Jump || want == 0 {
		b.agent[r].pace, b.agent[r].lack = have, 0
		return want
	}
	// A speed between that of a plausible change and the one asked for has no error, nor has one
	// within a twentieth: if pushed on, a trot becomes a canter. After the error changes its sign, the
	// sum unwinds faster, or one overshoot would follow another. At most half the speed is added, so
	// that a character that is held back does not wind up.
	const slack, unwind, most = 0.05, 3, 0.5
	ticks := float32(b.agent[r].stride)
	b.agent[r].pace, _ = t.change(b.agent[r].pace, want, ticks/Rate)
	lacks := m3.Clamp(have, min(b.agent[r].pace, want), max(b.agent[r].pace, want)) - have
	lacks = excess(lacks, slack*want)
	if lacks*b.agent[r].lack < 0 {
		lacks *= unwind
	}
	limit := most * want / t.SpeedI
	b.agent[r].lack = m3.Clamp(b.agent[r].lack+lacks*ticks/Rate, -limit, limit)
	ask := want + t.SpeedP*(min(b.agent[r].pace, want)-have) + t.SpeedI*b.agent[r].lack
	return m3.Clamp(ask, 0, min((1+most)*want, b.Model.fastest))
}

// excess returns how far x is above slack or below −slack.
func excess(x, slack float32) float32 { return x - m3.Clamp(x, -slack, slack) }

// steer bends the future toward arcs: directions toward one that turns evenly from the character's
// facing to the target direction, velocities toward one that turns as the heading will. The
// released system bends every point toward the targets themselves. Then the future would end its
// turn half-way, and recorded dogs that end a turn look out of it. The blend grows along the
// future; positions add up blended steps.
func (b *Batch) steer(r int) {
	p, d, v := b.pos[r*points:][:points], b.dir[r*points:][:points], b.vel[r*points:][:points]
	facing := arcTo(b.agent[r].targetDir, b.root(r).angleTo(b.agent[r].targetDir))
	course := arcTo(b.agent[r].targetVel, frame{fwd: b.agent[r].heading}.angleTo(b.agent[r].targetDir))
	at, before := p[now], p[now] // blended; as it was
	for i := now + 1; i < points; i++ {
		w, old := &b.blend[i-now], p[i]
		facing.step()
		course.step()
		at = at.add(old.sub(before).lerp(course.at.scale(1./future), w.pos))
		before, p[i] = old, at
		d[i] = d[i].lerp(facing.at, w.dir).unit(d[i])
		v[i] = v[i].lerp(course.at, w.vel)
	}
}

// arc is a vector that turns evenly from point to point of the future.
type arc struct {
	at       vec2
	sin, cos float32
}

// arcTo returns the arc that ends at the vector to after turning by by, rad.
func arcTo(to vec2, by float32) arc {
	sin, cos := math.Sincos(float64(by / future))
	return arc{to.turned(-by), float32(sin), float32(cos)}
}

func (a *arc) step() { a.at = a.at.rotate(a.sin, a.cos) }

// ramp raises the weight of an action, a column of the layout, to 1 within some seconds, in the present
// and in the future, and moves their desired speed toward the target's. Weights change at an even rate,
// as the recordings' labels do between two keys. The future is the rest of that line.
func (b *Batch) ramp(r, goal int, seconds, gain float32) {
	perTick, ticks := 1/(seconds*Rate), float32(b.agent[r].stride)
	desired := b.agent[r].targetVel.length()
	present := b.act[(r*points+now)*b.actions:][:b.actions]
	left := max(1-present[goal], 1e-6)   // weight still to move
	for i := points - 1; i >= now; i-- { // the present last, because all points start from it
		k := r*points + i
		ahead := ticks + float32(i-now)*Rate/future
		mix(b.act[k*b.actions:][:b.actions], present, goal, min(ahead*perTick/left, 1))
		b.speed[k] = m3.Lerp(b.speed[k], desired, gain)
	}
}

// mix sets the distribution dst to from, with a share moved to the entry goal. dst and from may be
// the same.
func mix(dst, from []float32, goal int, share float32) {
	var rest float32
	for a := range dst {
		if a != goal {
			dst[a] = from[a] * (1 - share)
			rest += dst[a]
		}
	}
	dst[goal] = max(1-rest, 0)
}
