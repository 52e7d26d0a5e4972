package fbx

import (
	"math"

	"mannequin/internal/affine"
)

// linearOf returns a transform without its translation.
func linearOf(a *affine.Transform) (m [9]float64) {
	for r := range 3 {
		copy(m[3*r:3*r+3], a[4*r:4*r+3])
	}
	return m
}

func mul3(a, b *[9]float64) (out [9]float64) {
	for r := range 3 {
		for c := range 3 {
			for k := range 3 {
				out[3*r+c] += a[3*r+k] * b[3*k+c]
			}
		}
	}
	return out
}

func transpose(a *[9]float64) [9]float64 {
	return [9]float64{a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]}
}

func det(m *[9]float64) float64 {
	return m[0]*(m[4]*m[8]-m[5]*m[7]) - m[1]*(m[3]*m[8]-m[5]*m[6]) + m[2]*(m[3]*m[7]-m[4]*m[6])
}

func of(m *[9]float64, t [3]float64) affine.Transform {
	return affine.Transform{m[0], m[1], m[2], t[0], m[3], m[4], m[5], t[1], m[6], m[7], m[8], t[2]}
}

func move(t [3]float64) affine.Transform {
	return affine.Transform{0: 1, 5: 1, 10: 1, 3: t[0], 7: t[1], 11: t[2]}
}

func less(t [3]float64) [3]float64 { return [3]float64{-t[0], -t[1], -t[2]} }

// orders are FBX's rotation orders: the axes in the order in which they are applied.
var orders = [...][3]int{{0, 1, 2}, {0, 2, 1}, {1, 2, 0}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0}, {0, 1, 2}}

// euler returns the rotation by three angles in degrees.
func euler(deg [3]float64, order int) [9]float64 {
	out := [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
	for _, k := range orders[order] {
		sin, cos := math.Sincos(deg[k] * math.Pi / 180)
		m := [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
		i, j := (k+1)%3, (k+2)%3
		m[3*i+i], m[3*i+j], m[3*j+i], m[3*j+j] = cos, -sin, sin, cos
		out = mul3(&m, &out)
	}
	return out
}

// pose is a model's transform in the world, its rotation alone, and the transform below its parent.
type pose struct {
	world    affine.Transform
	local    affine.Transform
	rotation [9]float64
	scaled   [9]float64 // the local scale
}

// place returns the transform of a model with the given translation, rotation and scale, below its
// parent, nil for none. See "Computing transformation matrices" in the documentation of Autodesk's FBX
// SDK:
//
//	T · Roff · Rp · Rpre · R · Rpost⁻¹ · Rp⁻¹ · Soff · Sp · S · Sp⁻¹
func (m *model) place(t, s [3]float64, r *[9]float64, parent *pose) pose {
	turn := mul3(&m.pre, r)
	turn = mul3(&turn, &m.post)
	scale := [9]float64{s[0], 0, 0, 0, s[1], 0, 0, 0, s[2]}

	local := move(t)
	for _, step := range []affine.Transform{move(m.roff), move(m.rpiv), of(&turn, [3]float64{}), move(less(m.rpiv)), move(m.soff), move(m.spiv), of(&scale, [3]float64{}), move(less(m.spiv))} {
		local = local.Mul(&step)
	}
	if parent == nil {
		return pose{local, local, turn, scale}
	}
	world := parent.world.Mul(&local)
	rotation := mul3(&parent.rotation, &turn)
	// What the parent has besides its rotation: scale and shear.
	back := transpose(&parent.rotation)
	whole := linearOf(&parent.world)
	stretch := mul3(&back, &whole)
	if m.inherit == 0 { // RrSs: the parent's scale comes after this rotation
		linear := mul3(&rotation, &stretch)
		linear = mul3(&linear, &scale)
		world = of(&linear, [3]float64{world[3], world[7], world[11]})
	} else if m.inherit == 2 { // Rrs: the parent's own scale is not inherited
		var undo [9]float64
		for k := range 3 {
			if d := parent.scaled[4*k]; d != 0 {
				undo[4*k] = 1 / d
			}
		}
		linear := mul3(&stretch, &undo)
		linear = mul3(&rotation, &linear)
		linear = mul3(&linear, &scale)
		world = of(&linear, [3]float64{world[3], world[7], world[11]})
	}
	return pose{world, local, rotation, scale}
}

// quat is a rotation: x, y, z, w.
type quat [4]float64

func quatOf(m *[9]float64) quat {
	// Shepperd's method: the largest component first.
	tr := m[0] + m[4] + m[8]
	var q quat
	switch {
	case tr > 0:
		s := 2 * math.Sqrt(1+tr)
		q = quat{(m[7] - m[5]) / s, (m[2] - m[6]) / s, (m[3] - m[1]) / s, s / 4}
	case m[0] > m[4] && m[0] > m[8]:
		s := 2 * math.Sqrt(1+m[0]-m[4]-m[8])
		q = quat{s / 4, (m[1] + m[3]) / s, (m[2] + m[6]) / s, (m[7] - m[5]) / s}
	case m[4] > m[8]:
		s := 2 * math.Sqrt(1+m[4]-m[0]-m[8])
		q = quat{(m[1] + m[3]) / s, s / 4, (m[5] + m[7]) / s, (m[2] - m[6]) / s}
	default:
		s := 2 * math.Sqrt(1+m[8]-m[0]-m[4])
		q = quat{(m[2] + m[6]) / s, (m[5] + m[7]) / s, s / 4, (m[3] - m[1]) / s}
	}
	return q
}

// unit returns q with length 1.
func (q quat) unit() quat {
	l := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
	for i := range q {
		q[i] = min(max(q[i]/l, -1), 1)
	}
	return q
}

func (q quat) matrix() [9]float64 {
	x, y, z, w := q[0], q[1], q[2], q[3]
	return [9]float64{1 - 2*(y*y+z*z), 2 * (x*y - w*z), 2 * (x*z + w*y),
		2 * (x*y + w*z), 1 - 2*(x*x+z*z), 2 * (y*z - w*x),
		2 * (x*z - w*y), 2 * (y*z + w*x), 1 - 2*(x*x+y*y)}
}

// slerp goes from a to b by the share u, the shorter way.
func slerp(a, b quat, u float64) quat {
	dot := a[0]*b[0] + a[1]*b[1] + a[2]*b[2] + a[3]*b[3]
	if dot < 0 {
		dot = -dot
		for i := range b {
			b[i] = -b[i]
		}
	}
	p, q := 1-u, u
	if dot < 0.9999 {
		angle := math.Acos(dot)
		p, q = math.Sin(p*angle)/math.Sin(angle), math.Sin(q*angle)/math.Sin(angle)
	}
	var out quat
	sum := 0.0
	for i := range out {
		out[i] = p*a[i] + q*b[i]
		sum += out[i] * out[i]
	}
	for i := range out {
		out[i] /= math.Sqrt(sum)
	}
	return out
}
