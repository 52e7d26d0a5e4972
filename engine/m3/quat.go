package m3

import "math"

// Quat is a unit quaternion, x, y, z, w.
type Quat struct{ X, Y, Z, W float32 }

// Ident is the identity rotation.
var Ident = Quat{0, 0, 0, 1}

// AxisAngle returns the rotation by angle radians about the unit vector axis.
func AxisAngle(axis Vec3, angle float32) Quat {
	s, c := math.Sincos(float64(angle) / 2)
	f := float32(s)
	return Quat{axis.X * f, axis.Y * f, axis.Z * f, float32(c)}
}

// YawQuat returns the rotation by yaw radians about +Y; it carries +Z to (sin yaw, 0, cos yaw).
func YawQuat(yaw float32) Quat { return AxisAngle(Up, yaw) }

// YawOf returns the heading of the direction d: the yaw that carries +Z onto d's ground projection.
func YawOf(d Vec3) float32 { return Atan2(d.X, d.Z) }

// Yaw returns the heading of the rotated +Z axis: the angle about +Y, in radians.
func (a Quat) Yaw() float32 { return YawOf(a.Forward()) }

// Forward returns the rotated +Z axis.
func (a Quat) Forward() Vec3 { return a.Rotate(Vec3{0, 0, 1}) }

// Mul returns the rotation that applies b first and a second.
func (a Quat) Mul(b Quat) Quat {
	return Quat{
		a.W*b.X + a.X*b.W + a.Y*b.Z - a.Z*b.Y,
		a.W*b.Y - a.X*b.Z + a.Y*b.W + a.Z*b.X,
		a.W*b.Z + a.X*b.Y - a.Y*b.X + a.Z*b.W,
		a.W*b.W - a.X*b.X - a.Y*b.Y - a.Z*b.Z,
	}
}

// Conj returns the inverse rotation.
func (a Quat) Conj() Quat { return Quat{-a.X, -a.Y, -a.Z, a.W} }

// Neg returns the same rotation with every component negated.
func (a Quat) Neg() Quat { return Quat{-a.X, -a.Y, -a.Z, -a.W} }

// Dot returns the four-dimensional inner product.
func (a Quat) Dot(b Quat) float32 { return a.X*b.X + a.Y*b.Y + a.Z*b.Z + a.W*b.W }

// Rotate returns v turned by a.
func (a Quat) Rotate(v Vec3) Vec3 {
	q := Vec3{a.X, a.Y, a.Z}
	t := q.Cross(v).Scale(2)
	return v.Add(t.Scale(a.W)).Add(q.Cross(t))
}

// Normalize returns a scaled to unit length, or the identity if a has no length or is not finite.
func (a Quat) Normalize() Quat {
	// Products of unit quaternions are nearly unit: they need no root.
	if d := a.X*a.X + a.Y*a.Y + a.Z*a.Z + a.W*a.W - 1; d > -1e-3 && d < 1e-3 {
		s := 1 - d*(0.5-0.375*d)
		return Quat{a.X * s, a.Y * s, a.Z * s, a.W * s}
	}
	n := float64(a.X)*float64(a.X) + float64(a.Y)*float64(a.Y) + float64(a.Z)*float64(a.Z) + float64(a.W)*float64(a.W)
	if !(n > 1e-24) || math.IsInf(n, 0) {
		return Ident
	}
	s := float32(1 / math.Sqrt(n))
	return Quat{a.X * s, a.Y * s, a.Z * s, a.W * s}
}

// Slerp returns the rotation a fraction t of the way from a to b along the shorter arc.
func (a Quat) Slerp(b Quat, t float32) Quat {
	d := a.Dot(b)
	if d < 0 {
		b, d = b.Neg(), -d
	}
	if d > 0.9995 {
		return Quat{Lerp(a.X, b.X, t), Lerp(a.Y, b.Y, t), Lerp(a.Z, b.Z, t), Lerp(a.W, b.W, t)}.Normalize()
	}
	th := math.Acos(float64(d))
	s := math.Sin(th)
	wa := float32(math.Sin((1-float64(t))*th) / s)
	wb := float32(math.Sin(float64(t)*th) / s)
	return Quat{wa*a.X + wb*b.X, wa*a.Y + wb*b.Y, wa*a.Z + wb*b.Z, wa*a.W + wb*b.W}.Normalize()
}

// Angle returns the angle between the rotations a and b, in radians in [0, π].
func (a Quat) Angle(b Quat) float32 {
	r := a.Conj().Mul(b)
	v := math.Sqrt(float64(r.X)*float64(r.X) + float64(r.Y)*float64(r.Y) + float64(r.Z)*float64(r.Z))
	return float32(2 * math.Atan2(v, math.Abs(float64(r.W))))
}

// Between returns the shortest rotation that carries the unit vector from onto
// the unit vector to. For opposite vectors it turns about any perpendicular.
func Between(from, to Vec3) Quat {
	d := from.Dot(to)
	if d > -0.9 {
		c := from.Cross(to)
		return Quat{c.X, c.Y, c.Z, 1 + d}.Normalize()
	}
	// For nearly opposite vectors 1 + d is mostly rounding, but the sum is exact.
	sum := from.Add(to)
	c, n := from.Cross(sum), sum.Len()
	if c.Len() < 1e-6 {
		axis := Vec3{1, 0, 0}.Cross(from)
		if axis.Dot(axis) < 1e-6 {
			axis = Vec3{0, 0, 1}.Cross(from)
		}
		return AxisAngle(axis.Normalize(Up), math.Pi)
	}
	return Quat{c.X / n, c.Y / n, c.Z / n, n / 2}.Normalize()
}

// LookRotation returns the rotation whose +Z axis is forward and whose +Y axis
// is as near to up as it can be. It returns the identity for a zero forward,
// and any roll for an up parallel to forward.
func LookRotation(forward, up Vec3) Quat {
	z := forward.Normalize(Vec3{})
	if z == (Vec3{}) {
		return Ident
	}
	x := up.Cross(z)
	if x.Dot(x) < 1e-12 {
		x = Vec3{1, 0, 0}
		if Abs(z.X) > 0.9 {
			x = Vec3{0, 0, 1}.Cross(z)
		} else {
			x = x.Sub(z.Scale(x.Dot(z)))
		}
	}
	x = x.Normalize(Vec3{1, 0, 0})
	return FromAxes(x, z.Cross(x), z)
}

// FromAxes returns the rotation whose matrix has the columns x, y, z: three
// perpendicular unit vectors of a right-handed frame.
func FromAxes(x, y, z Vec3) Quat {
	switch t := x.X + y.Y + z.Z; {
	case t > 0:
		s := Sqrt(t+1) * 2
		return Quat{(y.Z - z.Y) / s, (z.X - x.Z) / s, (x.Y - y.X) / s, s / 4}.Normalize()
	case x.X > y.Y && x.X > z.Z:
		s := Sqrt(1+x.X-y.Y-z.Z) * 2
		return Quat{s / 4, (y.X + x.Y) / s, (z.X + x.Z) / s, (y.Z - z.Y) / s}.Normalize()
	case y.Y > z.Z:
		s := Sqrt(1+y.Y-x.X-z.Z) * 2
		return Quat{(y.X + x.Y) / s, s / 4, (z.Y + y.Z) / s, (z.X - x.Z) / s}.Normalize()
	default:
		s := Sqrt(1+z.Z-x.X-y.Y) * 2
		return Quat{(z.X + x.Z) / s, (z.Y + y.Z) / s, s / 4, (x.Y - y.X) / s}.Normalize()
	}
}

// RotationVector returns the axis of a scaled by its angle in radians, with the
// angle in [0, π] (the exponential map's logarithm).
func (a Quat) RotationVector() Vec3 {
	if a.W < 0 {
		a = a.Neg()
	}
	v := Vec3{a.X, a.Y, a.Z}
	s := v.Len()
	if s < 1e-7 {
		return v.Scale(2)
	}
	return v.Scale(2 * Atan2(s, a.W) / s)
}

// FromRotationVector returns the rotation about v by v's length in radians.
func FromRotationVector(v Vec3) Quat {
	l := v.Len()
	if l < 1e-7 {
		return Quat{v.X / 2, v.Y / 2, v.Z / 2, 1}.Normalize()
	}
	return AxisAngle(v.Scale(1/l), l)
}

// Finite reports whether no component of a is NaN or infinite.
func (a Quat) Finite() bool { return Finite(0*a.X + 0*a.Y + 0*a.Z + 0*a.W) }
