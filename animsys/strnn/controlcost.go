package strnn

import (
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// ControlWeights are the weights of a controller's cost: a sum over frames of squared metres,
// metres per frame and radians, and of squared latent values.
type ControlWeights struct {
	Place  float32 // of the distance of the body from its wanted place, m²
	Turn   float32 // of the difference from its wanted facing, radians²
	Slide  float32 // of the movement of each standing contact per frame, m²
	Bone   float32 // of the error of each bone's length, m²
	Latent float32 // of each latent value
}

// DefaultControlWeights returns the weights behind the figures in docs/strnn.md.
func DefaultControlWeights() ControlWeights {
	return ControlWeights{Place: 1, Turn: 0.3, Slide: 2, Bone: 0.05, Latent: 0.001}
}

// controlCost is the cost of predicted motions (Wang et al. 2019, eq. 8 to 11).
type controlCost struct {
	m       *Model
	weights ControlWeights
	job     *Control
}

// controlScratch is the scratch of a worker.
type controlScratch struct {
	cost   feature.Cost
	grad   []float32    // (Predict, columns)
	half   []float32    // (Predict, columns) the Hessian's product with a direction
	pose   [2][]float32 // (Predict, columns) Control.Pose and its weights, for each frame
	offset []float32    // (Predict, feature.MotionLen) difference of the body from its wanted place: x, z and yaw
}

func (m *Model) newControlScratch() controlScratch {
	size := m.Predict * m.Layout.Columns()
	return controlScratch{grad: make([]float32, size), half: make([]float32, size),
		offset: make([]float32, m.Predict*feature.MotionLen), pose: [2][]float32{make([]float32, size), make([]float32, size)},
		cost: feature.Cost{Person: m.Person, DT: 1.0 / Rate, Frames: m.Predict, Stand: make([]float32, m.Predict*len(m.Layout.Contacts))}}
}

// at returns the cost of frames rows of motion i, made from latent values z. It writes the gradient
// by the frames into s.grad.
func (c *controlCost) at(s *controlScratch, i int, rows, z []float32) float64 {
	m, l := c.m, c.m.Layout
	cols, contacts := l.Columns(), len(l.Contacts)
	s.cost.Weights = feature.CostWeights{Slide: c.weights.Slide, Bone: c.weights.Bone}
	want := c.job.body(m, i)
	s.cost.Body, s.cost.Want, s.cost.Weight = want, nil, nil
	if c.job.Pose[0] != nil {
		for k, pose := range c.job.Pose {
			for at := 0; at < len(s.pose[k]); at += cols {
				copy(s.pose[k][at:], pose)
			}
		}
		s.cost.Want, s.cost.Weight = s.pose[0], s.pose[1]
	}
	if c.job.Stand != nil {
		copy(s.cost.Stand, c.job.Stand[i*m.Predict*contacts:][:m.Predict*contacts])
	} else {
		for f := range m.Predict {
			for k := range contacts {
				s.cost.Stand[f*contacts+k] = min(max(rows[f*cols+l.Contact(k)], 0), 1)
			}
		}
	}
	total := s.cost.At(s.grad, rows, nil) + c.path(s, rows, want, s.grad, nil)
	for _, v := range z {
		total += float64(c.weights.Latent) * float64(v) * float64(v)
	}
	return total
}

// product writes the Hessian's product with dir into s.half.
func (c *controlCost) product(s *controlScratch, i int, rows, dir []float32) {
	want := c.job.body(c.m, i)
	s.cost.At(s.half, rows, dir)
	c.path(s, rows, want, s.half, dir)
}

// path adds the gradient of the cost of the body's places to grad, or the Hessian's product with
// dir, and returns the cost. It is linearised: the body's motion counts as if the body had its
// wanted facing.
func (c *controlCost) path(s *controlScratch, rows, want, grad, dir []float32) float64 {
	cols, body := c.m.Layout.Columns(), c.m.Layout.Body()
	const dt = 1.0 / Rate
	var x, z, turn float32 // difference from the wanted place, seen from the start
	yaw, total := float32(0), 0.0
	frames := c.m.Predict
	for f := range frames {
		v, w := rows[f*cols+body:][:feature.MotionLen], want[f*feature.MotionLen:][:feature.MotionLen]
		var d [feature.MotionLen]float32
		for k := range d {
			if d[k] = v[k] - w[k]; dir != nil {
				d[k] = dir[f*cols+body+k]
			}
		}
		way := m3.YawQuat(yaw).Rotate(m3.V(d[feature.MotionX], 0, d[feature.MotionZ]))
		x, z, turn = x+dt*way.X, z+dt*way.Z, turn+dt*d[feature.MotionYaw]
		yaw += dt * w[feature.MotionYaw]
		s.offset[f*3], s.offset[f*3+1], s.offset[f*3+2] = x, z, turn
		total += float64(c.weights.Place)*float64(x*x+z*z) + float64(c.weights.Turn)*float64(turn*turn)
	}
	x, z, turn = 0, 0, 0
	for f := frames - 1; f >= 0; f-- {
		yaw -= dt * want[f*feature.MotionLen+feature.MotionYaw]
		x, z, turn = x+s.offset[f*3], z+s.offset[f*3+1], turn+s.offset[f*3+2]
		back := m3.YawQuat(-yaw).Rotate(m3.V(x, 0, z))
		g := grad[f*cols+body:][:feature.MotionLen]
		g[feature.MotionX] += 2 * c.weights.Place * dt * back.X
		g[feature.MotionZ] += 2 * c.weights.Place * dt * back.Z
		g[feature.MotionYaw] += 2 * c.weights.Turn * dt * turn
	}
	return total
}

// correctEnd distributes the remaining error of the body's end place over the frames.
func (m *Model) correctEnd(rows, want []float32) {
	cols, body := m.Layout.Columns(), m.Layout.Body()
	const dt = 1.0 / Rate
	turn := float32(0)
	for f := range m.Predict {
		turn += want[f*feature.MotionLen+feature.MotionYaw] - rows[f*cols+body+feature.MotionYaw]
	}
	for f := range m.Predict {
		rows[f*cols+body+feature.MotionYaw] += turn / float32(m.Predict)
	}
	var is, shall feature.Place
	for f := range m.Predict {
		is, shall = is.Advance(rows[f*cols+body:], dt), shall.Advance(want[f*feature.MotionLen:], dt)
	}
	step := shall.Pos.Sub(is.Pos).Scale(1 / (dt * float32(m.Predict)))
	at := feature.Place{}
	for f := range m.Predict {
		v := rows[f*cols+body:][:feature.MotionLen]
		by := m3.YawQuat(-at.Yaw).Rotate(step)
		at = at.Advance(v, dt)
		v[feature.MotionX] += by.X
		v[feature.MotionZ] += by.Z
	}
}

// BodyMotionAlong writes the body's motion, (len(to), feature.MotionLen) raw, with which a body at
// from follows the places to frame by frame. start is the place before to[0]; the offset of from
// from it fades out until the end.
func BodyMotionAlong(body []float32, from feature.Place, start feature.Place, to []feature.Place) {
	off, turn := from.Pos.Sub(start.Pos), m3.WrapAngle(from.Yaw-start.Yaw)
	at := from
	for f, p := range to {
		left := float32(f+1) / float32(len(to))
		left = 1 - left*left*(3-2*left)
		p.Pos, p.Yaw = p.Pos.Add(off.Scale(left)), p.Yaw+turn*left
		way := m3.YawQuat(-at.Yaw).Rotate(p.Pos.Sub(at.Pos))
		v := body[f*feature.MotionLen:][:feature.MotionLen]
		v[feature.MotionX], v[feature.MotionZ], v[feature.MotionYaw] = way.X*Rate, way.Z*Rate, m3.WrapAngle(p.Yaw-at.Yaw)*Rate
		at = p
	}
}
