package mann

import (
	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// An agent is searched on the stretch of its path around its last place.
const (
	pathBack   = 0.5 // stretch behind, m
	pathAhead  = 1   // stretch ahead, m
	pathLost   = 1   // distance beyond which the whole path is searched and approached straight, m
	pathSearch = 6   // ticks between such searches
	pathEnd    = 0.1 // distance from the end of an open path at which the agent may stop, m
	maxFacing  = 0.8 // bound on the turn that an error in facing adds, rad
)

// locate finds row's place on the path, whose origin is given, and returns the distance to it, m.
func (b *Batch) locate(r int, path control.Route, origin vec2) float32 {
	at := b.root(r).pos.sub(origin).vec3()
	if path.Path.Equal(b.path[r]) {
		s, d := path.NearestFrom(at, b.agent[r].along, pathBack, pathAhead)
		if d < pathLost || b.agent[r].age%pathSearch >= uint32(b.agent[r].stride) {
			b.agent[r].along = s
			return d
		}
	}
	b.path[r] = path.Path
	s, d := path.Nearest(at)
	b.agent[r].along = s
	return d
}

// curveSpeed returns the greatest speed of at most speed, m/s, for the curve of the next second
// after the arc length s. The turn stays below the tuning's Spin, and turn times speed, the
// sideways acceleration, below Grip. The result is never less than the speed of a turn on the spot:
// an agent that turns also moves.
func (b *Batch) curveSpeed(path control.Route, s, speed float32) float32 {
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

// followPath mixes the next second of the path into the future with weight τ (paper, sec. 9). The
// speed goes from the mean of the last sixth of a second to the target's as a plausible change
// does: a second at full speed would put the future where no recording has it, and a slower change
// would not start an agent that stands before a corner. Directions ask for more than the path's, in
// proportion to the error in facing and less farther ahead. If the path is off metres away and that
// is far, the future is the next second of the straight way to it.
func (b *Batch) followPath(r int, path control.Route, origin vec2, off float32) {
	tau, root := b.tuning.PathBlend, b.root(r)
	p, d, v := b.pos[r*points:][:points], b.dir[r*points:][:points], b.vel[r*points:][:points]
	have, speed := p[now].sub(p[now-Rate/6]).length()*6, b.agent[r].targetVel.length()
	nearest, along := path.At(b.agent[r].along)
	way := flat(nearest).add(origin).sub(root.pos).unit(root.fwd)
	facing := m3.Clamp(b.tuning.Facing*root.angleTo(flat(along)), -maxFacing, maxFacing)
	for i := now + 1; i < points; i++ {
		w := float32(i-now) / future
		rate, ahead := b.tuning.change(have, speed, w)
		pos, course, dir := root.pos.add(way.scale(ahead)), way, way
		if off < pathLost {
			s := b.agent[r].along + ahead
			at, tangent := path.At(s)
			pos, course = flat(at).add(origin), flat(tangent)
			dir = course.turned(facing * (1 - w))
			if !path.Closed() && s > path.Length() {
				rate = 0
			}
		}
		p[i] = p[i].lerp(pos, tau)
		d[i] = d[i].lerp(dir, tau).unit(dir)
		v[i] = v[i].lerp(course.scale(rate), tau)
	}
}
