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

// curveSpeed returns the greatest speed, m/s and no more than speed, whose
// product with what the path turns by in the second after the arc length s is
// no more than the tuning's Grip: around a curve that product is the sideways
// acceleration.
func (b *Batch) curveSpeed(path *control.Path, s, speed float32) float32 {
	const parts = 8
	_, last := path.At(s)
	var turn, slower, pull float32 // so far; the last speed that was slow enough, and its product
	for i := range parts {
		v := speed * float32(i+1) / parts
		_, d := path.At(s + v)
		turn += m3.Acos(last.Dot(d))
		last = d
		next := v * turn
		if next > b.tuning.Grip {
			return m3.Lerp(slower, v, (b.tuning.Grip-pull)/(next-pull))
		}
		slower, pull = v, next
	}
	return speed
}

// followPath mixes the next second of the path into the future with weight τ
// (paper, sec. 9), covered by going over evenly from the speed of the last sixth
// of a second to the target's: a second at full speed would put the future
// where no recorded start or curve has it. Directions and velocities lean toward
// the path in proportion to the distance, the less the farther ahead: networks
// follow those, and hardly notice that all positions lie a little to one side.
// Far off, at a distance of off metres, the future is the next second of the
// straight way to the path.
func (b *Batch) followPath(r int, off float32) {
	path, tau, root := b.path[r], b.tuning.PathBlend, b.root(r)
	p, d, v := b.pos[r*points:][:points], b.dir[r*points:][:points], b.vel[r*points:][:points]
	have, speed := p[now].sub(p[now-Rate/6]).length()*6, b.targetVel[r].length()
	nearest, _ := path.At(b.along[r])
	back := flat(nearest).sub(root.pos)
	way := back.unit(root.fwd)
	for i := now + 1; i < points; i++ {
		w := float32(i-now) / future
		ahead, rate := have*w+(speed-have)*w*w/2, have+(speed-have)*w
		pos, dir := root.pos.add(way.scale(ahead)), way
		if off < pathLost {
			s := b.along[r] + ahead
			at, tangent := path.At(s)
			lean := min(b.tuning.Homing*(1-w)*off, maxLean*rate)
			pos, dir = flat(at), flat(tangent).scale(rate).add(way.scale(lean)).unit(flat(tangent))
			if !path.Closed() && s > path.Length() {
				rate = 0
			}
		}
		p[i] = p[i].lerp(pos, tau)
		d[i] = d[i].lerp(dir, tau).unit(dir)
		v[i] = v[i].lerp(dir.scale(rate), tau)
	}
}
