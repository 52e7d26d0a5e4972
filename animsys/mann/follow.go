package mann

import (
	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// How far along its path, in metres, a follower may be found behind and ahead
// of where it was a tick ago, before the whole path is searched.
const (
	pathBack  = 0.5
	pathAhead = 1
	pathLost  = 1   // m: farther off, the whole path is searched, and approached straight
	pathEnd   = 0.1 // m before the end of an open path where the follower may stop
	maxLean   = 0.5 // slope at which a follower comes back to the path at most

	// A follower turns its nose to a path that is farther than slack, in metres;
	// nearer, it drifts there sideways. turnBack is its speed toward the path then,
	// per metre beyond slack, 1/s.
	slack, turnBack = 0.05, 6

	maxFacing = 0.8 // radians by which an error in facing turns what is asked for at most
)

// locate finds row's place on the path and returns the distance to it.
func (b *Batch) locate(r int, path *control.Path) float32 {
	at := b.root(r).pos.vec3()
	if b.path[r] == path {
		s, d := path.NearestFrom(at, b.along[r], pathBack, pathAhead)
		if d < pathLost {
			b.along[r] = s
			return d
		}
	}
	b.path[r] = path
	s, d := path.Nearest(at)
	b.along[r] = s
	return d
}

// curveSpeed returns the greatest speed, m/s and no more than speed, at which
// what the path turns by in the second after the arc length s stays below the
// tuning's Spin, and its product with the speed below Grip: around a curve that
// product is the sideways acceleration. Nobody turns without going anywhere:
// slower than a turn on the spot at the most, it is never.
func (b *Batch) curveSpeed(path *control.Path, s, speed float32) float32 {
	const parts = 8
	t := &b.tuning
	least := min(speed, t.Pivot*control.MaxTurn)
	_, last := path.At(s)
	var turn, slower, load float32 // so far; the last speed that was slow enough, and its share of the bounds
	for i := range parts {
		v := speed * float32(i+1) / parts
		_, d := path.At(s + v)
		turn += m3.Acos(last.Dot(d))
		last = d
		next := max(turn/t.Spin, v*turn/t.Grip)
		if next > 1 {
			return max(m3.Lerp(slower, v, (1-load)/(next-load)), least)
		}
		slower, load = v, next
	}
	return speed
}

// followPath mixes the next second of the path into the future with weight τ
// (paper, sec. 9), covered by going over from the speed of the last sixth of a
// second to the target's as a plausible change does: a second at full speed would
// put the future where no recorded start or curve has it, and a slower change
// would not bring who stands before a corner to go. What is asked for leans to where the
// path is and where it faces, the less the farther ahead. Networks follow
// directions best, velocities a little, and hardly notice that all positions lie
// to one side: so velocities lean in proportion to the distance, and directions
// turn in proportion to the error in facing, and to the distance only where
// that is large. Far off, at a distance of off metres, the future is the next
// second of the straight way to the path.
func (b *Batch) followPath(r int, off float32) {
	path, tau, root := b.path[r], b.tuning.PathBlend, b.root(r)
	p, d, v := b.pos[r*points:][:points], b.dir[r*points:][:points], b.vel[r*points:][:points]
	have, speed := p[now].sub(p[now-Rate/6]).length()*6, b.targetVel[r].length()
	nearest, along := path.At(b.along[r])
	way := flat(nearest).sub(root.pos).unit(root.fwd)
	// toward returns the direction along the path's tangent that comes nearer to
	// it at the speed lean, m/s, while moving at the speed rate.
	toward := func(tangent vec2, rate, lean float32) vec2 {
		return tangent.scale(rate).add(way.scale(min(lean, maxLean*rate))).unit(tangent)
	}
	far := turnBack * max(off-slack, 0)
	facing := b.tuning.Facing * root.angleTo(toward(flat(along), speed, far))
	facing = m3.Clamp(facing, -maxFacing, maxFacing)
	for i := now + 1; i < points; i++ {
		w := float32(i-now) / future
		rate, ahead := b.tuning.change(have, speed, w)
		pos, dir, course := root.pos.add(way.scale(ahead)), way, way
		if off < pathLost {
			s := b.along[r] + ahead
			at, tangent := path.At(s)
			pos, course = flat(at), toward(flat(tangent), rate, b.tuning.Homing*(1-w)*off)
			dir = toward(flat(tangent), rate, far*(1-w)).turned(facing * (1 - w))
			if !path.Closed() && s > path.Length() {
				rate = 0
			}
		}
		p[i] = p[i].lerp(pos, tau)
		d[i] = d[i].lerp(dir, tau).unit(dir)
		v[i] = v[i].lerp(course.scale(rate), tau)
	}
}
