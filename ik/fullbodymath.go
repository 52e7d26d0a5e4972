package ik

import (
	"math"

	"mannequin/engine/m3"
)

// vec64 and quat64 are vectors and quaternions in double precision, because the normal equations
// square rounding errors and steps add up.
type (
	vec64  [3]float64
	quat64 [4]float64 // x, y, z, w
)

func wide(v m3.Vec3) vec64    { return vec64{float64(v.X), float64(v.Y), float64(v.Z)} }
func (a vec64) slim() m3.Vec3 { return m3.V(float32(a[0]), float32(a[1]), float32(a[2])) }

func (a vec64) add(b vec64) vec64     { return vec64{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }
func (a vec64) sub(b vec64) vec64     { return vec64{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }
func (a vec64) scale(s float64) vec64 { return vec64{s * a[0], s * a[1], s * a[2]} }
func (a vec64) dot(b vec64) float64   { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
func (a vec64) madd(s float64, b vec64) vec64 {
	return vec64{a[0] + s*b[0], a[1] + s*b[1], a[2] + s*b[2]}
}
func (a vec64) cross(b vec64) vec64 {
	return vec64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// wideQuat returns q normalized, or false if q has no direction.
func wideQuat(q m3.Quat) (quat64, bool) {
	w := quat64{float64(q.X), float64(q.Y), float64(q.Z), float64(q.W)}
	n := w[0]*w[0] + w[1]*w[1] + w[2]*w[2] + w[3]*w[3]
	if !(n > 1e-24) || math.IsInf(n, 0) {
		return w, false
	}
	s := 1 / math.Sqrt(n)
	return quat64{s * w[0], s * w[1], s * w[2], s * w[3]}, true
}

func (a quat64) slim() m3.Quat {
	return m3.Quat{X: float32(a[0]), Y: float32(a[1]), Z: float32(a[2]), W: float32(a[3])}.Normalize()
}

func (a quat64) mul(b quat64) quat64 {
	return quat64{
		a[3]*b[0] + a[0]*b[3] + a[1]*b[2] - a[2]*b[1],
		a[3]*b[1] - a[0]*b[2] + a[1]*b[3] + a[2]*b[0],
		a[3]*b[2] + a[0]*b[1] - a[1]*b[0] + a[2]*b[3],
		a[3]*b[3] - a[0]*b[0] - a[1]*b[1] - a[2]*b[2],
	}
}

func (a quat64) rotate(v vec64) vec64 {
	q := vec64{a[0], a[1], a[2]}
	t := q.cross(v).scale(2)
	return v.madd(a[3], t).add(q.cross(t))
}

func (a quat64) unrotate(v vec64) vec64 { return quat64{-a[0], -a[1], -a[2], a[3]}.rotate(v) }

// turn64 is the rotation about v by v's length in radians.
func turn64(v vec64) quat64 {
	l := math.Sqrt(v.dot(v))
	if l < 1e-9 {
		return quat64{v[0] / 2, v[1] / 2, v[2] / 2, 1}
	}
	s, c := math.Sincos(l / 2)
	return quat64{v[0] * s / l, v[1] * s / l, v[2] * s / l, c}
}
