package feature

import (
	"math"
	"slices"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// CostWeights are the weights of the terms of Cost (Holden et al. 2016, eq. 10 to 12): over frames,
// of squares in metres, metres per frame and radians per frame.
type CostWeights struct {
	Slide float32 // of the motion of each standing contact in a frame
	Sink  float32 // of the depth of each contact's joint under the ground
	Bone  float32 // of the error of each bone's length
	Body  float32 // of the error of the body's motion
}

// DefaultWeights returns the weights of Holden et al.'s release: ten for the means over contacts
// and over the body's motion, one for the mean over bones.
func (p *Person) DefaultWeights() CostWeights {
	if p == nil || p.Layout == nil {
		return CostWeights{}
	}
	contacts, bones := float32(max(1, len(p.Layout.Contacts))), float32(max(1, len(p.bones)))
	return CostWeights{Slide: 2.5 / contacts, Sink: 2.5 / contacts, Bone: 1 / bones, Body: 10.0 / MotionLen}
}

// Cost measures the faults of a motion as a sum of squares: standing feet that move, bones of
// another length, a body that does not move as asked. Optimizers change motions to lessen it.
type Cost struct {
	Person  *Person
	Weights CostWeights
	DT      float32 // time from a frame to the next, s
	Frames  int
	Body    []float32 // (Frames, MotionLen) target of the body's motion, raw
	Stand   []float32 // (Frames, contacts) weight of standing still from this frame to the next, 0 to 1; nil means 0
	Level   []float32 // (Frames, contacts) the share of Stand for the height; nil means 1
	Want    []float32 // (Frames, columns) target of all columns; optional
	Weight  []float32 // (Frames, columns) of the squared difference from Want
}

// At writes the gradient of the cost at x, (Frames, columns) raw, and returns the cost. If dir is
// not nil, it writes the product of the Hessian with dir instead, without the curvature of the
// terms (Gauss-Newton), and returns its product with dir.
func (c *Cost) At(grad, x, dir []float32) float64 {
	if c.Frames < 1 {
		return 0
	}
	cols, body := c.Person.Layout.Columns(), c.Person.Layout.Body()
	clear(grad)
	total := 0.0
	// The terms are squares w·r²: 2w·r·∂r and, for the Hessian, 2w·(∂r·dir)·∂r.
	for f := range c.Frames {
		row, g := x[f*cols:][:cols], grad[f*cols:][:cols]
		v := row
		if dir != nil {
			v = dir[f*cols:][:cols]
		}
		if c.Want != nil {
			want, weight := c.Want[f*cols:][:cols], c.Weight[f*cols:][:cols]
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
		for k := range MotionLen {
			r := v[body+k]
			if dir == nil {
				r -= c.Body[f*MotionLen+k]
			}
			r *= c.DT
			g[body+k] += 2 * c.Weights.Body * r * c.DT
			total += float64(c.Weights.Body) * float64(r) * float64(r)
		}
		for _, b := range c.Person.bones {
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
			add(g, to, d.Scale(2*c.Weights.Bone*r))
			add(g, from, d.Scale(-2*c.Weights.Bone*r))
			total += float64(c.Weights.Bone) * float64(r) * float64(r)
		}
		for _, p := range c.Person.feet {
			if r := row[p+1]; r < 0 {
				if dir != nil {
					r = v[p+1]
				}
				g[p+1] += 2 * c.Weights.Sink * r
				total += float64(c.Weights.Sink) * float64(r) * float64(r)
			}
		}
		if f+1 == c.Frames {
			break
		}
		if c.Stand != nil {
			total += c.slide(f, v, g, x, dir, grad)
		}
	}
	return total
}

// slide adds the cost of contacts that move from frame f to the next.
func (c *Cost) slide(f int, v, g, x, dir, grad []float32) float64 {
	cols, n := c.Person.Layout.Columns(), len(c.Person.feet)
	next, gNext := x[(f+1)*cols:][:cols], grad[(f+1)*cols:][:cols]
	if dir != nil {
		next = dir[(f+1)*cols:][:cols]
	}
	body := c.Body[f*MotionLen:]
	way := m3.V(body[MotionX]*c.DT, 0, body[MotionZ]*c.DT)
	turn := float64(body[MotionYaw] * c.DT)
	s64, c64 := math.Sincos(turn)
	sin, cos := float32(s64), float32(c64)
	if dir != nil {
		way = m3.Vec3{}
	}
	total := 0.0
	for i, p := range c.Person.feet {
		w := c.Stand[f*n+i] * c.Weights.Slide
		if !(w > 0) {
			continue
		}
		q := vec(next, p) // the joint in the next frame, seen from this one
		q = m3.V(cos*q.X+sin*q.Z, q.Y, cos*q.Z-sin*q.X)
		r := q.Add(way).Sub(vec(v, p))
		level := float32(1)
		if c.Level != nil {
			level = c.Level[f*n+i]
		}
		d := m3.V(r.X, r.Y*level, r.Z).Scale(2 * w)
		add(g, p, d.Neg())
		add(gNext, p, m3.V(cos*d.X-sin*d.Z, d.Y, cos*d.Z+sin*d.X))
		total += float64(d.Dot(r)) / 2
	}
	return total
}

func vec(row []float32, at int) m3.Vec3 { return m3.V(row[at], row[at+1], row[at+2]) }

func add(row []float32, at int, v m3.Vec3) {
	row[at] += v.X
	row[at+1] += v.Y
	row[at+2] += v.Z
}

// Bone is a bone of fixed length between two joints of the layout, by index.
type Bone struct {
	From, To int
	Length   float32 // m
}

// Bones returns the bones between the layout's joints whose length no pose changes.
func (p *Person) Bones() []Bone {
	if p == nil {
		return nil
	}
	return slices.Clone(p.bones)
}

// bonesOf returns the bones between the layout's joints whose length no pose changes.
func bonesOf(layout *Motion, sk *skel.Skeleton) (bones []Bone) {
	for i, name := range layout.Joints {
		j := sk.Index(name)
		p := int(sk.Parents[j])
		for p >= 0 && layout.Joint(sk.Names[p]) < 0 && sk.Offsets[p].Len() < 1e-4 {
			p = int(sk.Parents[p])
		}
		if p >= 0 && layout.Joint(sk.Names[p]) >= 0 {
			bones = append(bones, Bone{layout.Joint(sk.Names[p]), i, sk.Offsets[j].Len()})
		}
	}
	return bones
}
