package mann

import (
	"math"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
)

// body returns circles that cover the joints of the rest pose, from behind to ahead.
func (m *Model) body() []generator.Disc {
	const skin, nose = 0.06, 0.03 // from the outermost joints, m
	var wide, back, front float32
	for j := range m.Skel.Len() {
		p := m.rest[j*feature.BoneChannels+feature.BonePos:]
		wide, back, front = max(wide, m3.Abs(p[0])), min(back, p[2]), max(front, p[2])
	}
	r := wide + skin
	first, last := back+r, max(back+r, front+nose-r)
	n := int(math.Ceil(float64((last-first)/r))) + 1
	discs := make([]generator.Disc, n)
	for i := range discs {
		discs[i] = generator.Disc{Ahead: m3.Lerp(first, last, float32(i)/float32(max(n-1, 1))), Radius: r}
	}
	return discs
}

// SetWalls makes all rows plan along walls; see [generator.Walled].
func (b *Batch) SetWalls(walls generator.Surroundings) {
	// Plans need not be as exact as bodies, which the crowd keeps out of walls.
	if body := walls.Body; len(body) > 3 {
		walls.Body = []generator.Disc{body[0], body[len(body)/2], body[len(body)-1]}
	}
	b.walls = walls
}

// alongWalls bends the future of row along the walls that it leads into: places and velocities slide
// along them, and a direction that points into a wall turns along it, unless it is nearly at right
// angles to it. Holden, Komura and Saito 2017 (phase-functioned networks) move trajectories out of
// walls, too.
func (b *Batch) alongWalls(r int) {
	if b.walls.Walls == nil {
		return
	}
	p, d, v := b.pos[r*points:][:points], b.dir[r*points:][:points], b.vel[r*points:][:points]
	at := func(i int, off vec2) m3.Xform {
		return m3.Xform{Pos: p[i].add(off).vec3(), Rot: m3.YawQuat(m3.Atan2(d[i].X, d[i].Z))}
	}
	const step = feature.TrajStep
	defer func(is vec2) {
		// Who has turned along a wall means to face there: the next turn begins from what is seen.
		if d[points-1] != is {
			h := &b.agent[r].heading
			*h = h.lerp(b.root(r).fwd, over(headingYields, int(b.agent[r].stride))).unit(*h)
		}
	}(d[points-1])
	var off vec2 // of the sample before from where it was planned
	for i := now; i+step < points; i += step {
		by := flat(b.walls.Slide(r, at(i, off), at(i+step, off)))
		before := off
		off = off.add(by)
		if off == (vec2{}) {
			continue
		}
		out := by.unit(vec2{})
		for k := 1; k <= step; k++ {
			u := float32(k) / step
			p[i+k] = p[i+k].add(before.lerp(off, u))
			v[i+k] = v[i+k].add(out.scale(max(-v[i+k].dot(out), 0)))
			if in := -d[i+k].dot(out); in > 0 && in < headOn {
				d[i+k] = d[i+k].add(out.scale(in * u)).unit(d[i+k])
			}
		}
	}
}

// headingYields is the share per tick in which an agent that a wall turns gives up the heading that it had.
const headingYields = 0.1

// headOn is the cosine of the angle to a wall's normal above which an agent does not turn along it.
const headOn = 0.95
