package judge

import "mannequin/engine/m3"

// A step is the moment at which one foot passes the other.
type step struct {
	at   float64 // frame
	left bool    // the left foot is ahead from now on
}

// passing is how far one foot gets ahead of the other in a step, at least, m.
const passing = 0.06

// findSteps finds the steps along the body's facing.
func (b *body) findSteps() {
	ahead := func(f int) float64 {
		d := b.at[ankle[0]][f].Sub(b.at[ankle[1]][f])
		return float64(d.Dot(m3.YawQuat(b.yaw[f]).Forward()))
	}
	side, crossed := 0, 0.0 // who was ahead by passing, and the last frame at which the feet were level
	for f := range b.n {
		now := ahead(f)
		if f > 0 {
			if was := ahead(f - 1); (was < 0) != (now < 0) {
				crossed = float64(f-1) + was/(was-now)
			}
		}
		is := 0
		switch {
		case now > passing:
			is = 1
		case now < -passing:
			is = -1
		default:
			continue
		}
		if side != 0 && is != side {
			b.steps = append(b.steps, step{crossed, is > 0})
		}
		side = is
	}
}

// phases is the number of poses in a stride.
const phases = 20

// stride is a pair of steps, left then right, as the joints' places from the body.
type stride struct {
	from, to float64 // frames
	speed    float64 // m/s
	turn     float64 // degrees per second
	pose     [phases][]m3.Vec3
}

// longestStep bounds the time between two steps of a gait, frames.
const longestStep = 1.2 * Rate

// strides finds the strides whose frames all have the kind. Neighbours share a step.
func (b *body) strides(k Kind) (out []stride) {
	steps := b.steps
	for i := 0; i+2 < len(steps); i++ {
		s := stride{from: steps[i].at, to: steps[i+2].at}
		if !steps[i].left || s.to-s.from > 2*longestStep {
			continue
		}
		whole := true
		for f := int(s.from); f <= int(s.to); f++ {
			whole = whole && b.kinds[f].has(k)
		}
		if !whole {
			continue
		}
		mid := int((s.from + s.to) / 2)
		s.speed, s.turn = b.speed[mid], b.turn[mid]
		for p := range phases {
			t := s.from + (s.to-s.from)*float64(p)/phases
			f := int(t)
			for _, j := range joints {
				s.pose[p] = append(s.pose[p], b.local(j, f).Lerp(b.local(j, min(f+1, b.n-1)), float32(t-float64(f))))
			}
		}
		out = append(out, s)
	}
	return out
}

// apart returns the mean distance of joints of two strides at one phase, m.
func (s *stride) apart(o *stride) (d float64) {
	for p := range phases {
		for i := range s.pose[p] {
			d += float64(s.pose[p][i].Dist(o.pose[p][i])) / float64(phases*len(joints))
		}
	}
	return d
}
