package manifold

import (
	"math"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// Weights are what an edit minimises, Holden et al. 2016, eq. 10 to 12: a sum
// over frames of squares in metres, metres per frame and radians per frame.
type Weights struct {
	Slide float32 // of how far each standing contact moves over the ground and off it in a frame
	Sink  float32 // of how deep each joint that has a contact is under the ground
	Bone  float32 // of the difference of each bone's length
	Body  float32 // of the difference of the body's motion from what it shall be
}

// DefaultWeights are those of the authors' release: ten for means over contacts
// and over the body's motion, one for the mean over bones.
func (m *Model) DefaultWeights() Weights {
	contacts, bones := float32(max(1, len(m.Layout.Contacts))), float32(max(1, len(m.bones)))
	return Weights{Slide: 2.5 / contacts, Sink: 2.5 / contacts, Bone: 1 / bones, Body: 10.0 / feature.MotionLen}
}

// cost is the sum that an edit minimises, for one motion.
type cost struct {
	m      *Model
	w      Weights
	dt     float32
	frames int
	body   []float32 // (frames, feature.MotionLen) the motion that the body shall have, raw
	stand  []float32 // (frames, contacts) weight of standing still from this frame to the next, 0 to 1
	want   []float32 // (frames, columns) or nil
	weight []float32 // (frames, columns) of the squared difference from want
}

// at writes the gradient of the cost at x, (frames, columns), and returns the
// cost. In place of a gradient it writes, where dir is not nil, the product of
// the Hessian with dir, without the curvature of what is squared (Gauss and
// Newton), and returns its product with dir.
func (c *cost) at(grad, x, dir []float32) float64 {
	cols, body := c.m.Layout.Columns(), c.m.Layout.Body()
	clear(grad)
	total := 0.0
	// The terms are squares w·r²: 2w·r·∂r and, for the Hessian, 2w·(∂r·dir)·∂r.
	for f := range c.frames {
		row, g := x[f*cols:][:cols], grad[f*cols:][:cols]
		v := row
		if dir != nil {
			v = dir[f*cols:][:cols]
		}
		if c.want != nil {
			want, weight := c.want[f*cols:][:cols], c.weight[f*cols:][:cols]
			for i, w := range weight {
				r := v[i]
				if dir == nil {
					r -= want[i]
				}
				if w != 0 {
					g[i] += 2 * w * r
					total += float64(w) * float64(r) * float64(r)
				}
			}
		}
		for k := range feature.MotionLen {
			r := v[body+k]
			if dir == nil {
				r -= c.body[f*feature.MotionLen+k]
			}
			r *= c.dt
			g[body+k] += 2 * c.w.Body * r * c.dt
			total += float64(c.w.Body) * float64(r) * float64(r)
		}
		for _, b := range c.m.bones {
			from, to := 3*b.From, 3*b.To
			d := vec(row, to).Sub(vec(row, from))
			l := d.Len()
			if l < 1e-6 {
				continue
			}
			d = d.Scale(1 / l)
			r := l - b.Length
			if dir != nil {
				r = vec(v, to).Sub(vec(v, from)).Dot(d)
			}
			add(g, to, d.Scale(2*c.w.Bone*r))
			add(g, from, d.Scale(-2*c.w.Bone*r))
			total += float64(c.w.Bone) * float64(r) * float64(r)
		}
		for _, p := range c.m.feet {
			if r := row[p+1]; r < 0 {
				if dir != nil {
					r = v[p+1]
				}
				g[p+1] += 2 * c.w.Sink * r
				total += float64(c.w.Sink) * float64(r) * float64(r)
			}
		}
		if f+1 == c.frames {
			break
		}
		if c.stand != nil {
			total += c.slide(f, v, g, x, dir, grad)
		}
	}
	return total
}

// slide adds the cost of contacts that move from frame f to the next.
func (c *cost) slide(f int, v, g, x, dir, grad []float32) float64 {
	cols, n := c.m.Layout.Columns(), len(c.m.feet)
	next, gNext := x[(f+1)*cols:][:cols], grad[(f+1)*cols:][:cols]
	if dir != nil {
		next = dir[(f+1)*cols:][:cols]
	}
	body := c.body[f*feature.MotionLen:]
	way := m3.V(body[feature.MotionX]*c.dt, 0, body[feature.MotionZ]*c.dt)
	turn := float64(body[feature.MotionYaw] * c.dt)
	s64, c64 := math.Sincos(turn)
	sin, cos := float32(s64), float32(c64)
	if dir != nil {
		way = m3.Vec3{}
	}
	total := 0.0
	for i, p := range c.m.feet {
		w := c.stand[f*n+i] * c.w.Slide
		if !(w > 0) {
			continue
		}
		q := vec(next, p) // where the joint is in the next frame, seen from this one
		q = m3.V(cos*q.X+sin*q.Z, q.Y, cos*q.Z-sin*q.X)
		r := q.Add(way).Sub(vec(v, p))
		d := r.Scale(2 * w)
		add(g, p, d.Neg())
		add(gNext, p, m3.V(cos*d.X-sin*d.Z, d.Y, cos*d.Z+sin*d.X))
		total += float64(w) * float64(r.Dot(r))
	}
	return total
}

func vec(row []float32, at int) m3.Vec3 { return m3.V(row[at], row[at+1], row[at+2]) }

func add(row []float32, at int, v m3.Vec3) {
	row[at] += v.X
	row[at+1] += v.Y
	row[at+2] += v.Z
}
