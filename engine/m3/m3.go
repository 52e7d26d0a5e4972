// Package m3 holds the module's float32 vectors, quaternions, transforms and springs.
//
// Conventions in the whole module: metres, seconds, radians; right-handed axes with +Y up;
// characters face +Z, and +X is their left. Quaternions are stored x, y, z, w and have unit length.
package m3

import "math"

// Vec3 is a point or direction in space.
type Vec3 struct{ X, Y, Z float32 }

// V is short for Vec3{x, y, z}.
func V(x, y, z float32) Vec3 { return Vec3{x, y, z} }

// Up is the world's vertical axis, +Y.
var Up = Vec3{0, 1, 0}

// Add returns a + b.
func (a Vec3) Add(b Vec3) Vec3 { return Vec3{a.X + b.X, a.Y + b.Y, a.Z + b.Z} }

// Sub returns a − b.
func (a Vec3) Sub(b Vec3) Vec3 { return Vec3{a.X - b.X, a.Y - b.Y, a.Z - b.Z} }

// Scale returns s·a.
func (a Vec3) Scale(s float32) Vec3 { return Vec3{s * a.X, s * a.Y, s * a.Z} }

// Neg returns −a.
func (a Vec3) Neg() Vec3 { return Vec3{-a.X, -a.Y, -a.Z} }

// Dot returns the inner product of a and b.
func (a Vec3) Dot(b Vec3) float32 { return a.X*b.X + a.Y*b.Y + a.Z*b.Z }

// Cross returns the right-handed vector product a × b.
func (a Vec3) Cross(b Vec3) Vec3 {
	return Vec3{a.Y*b.Z - a.Z*b.Y, a.Z*b.X - a.X*b.Z, a.X*b.Y - a.Y*b.X}
}

// Len returns the Euclidean length of a.
func (a Vec3) Len() float32 { return Sqrt(a.Dot(a)) }

// Dist returns the distance between a and b.
func (a Vec3) Dist(b Vec3) float32 { return a.Sub(b).Len() }

// Normalize returns a scaled to unit length, or fallback if a is shorter than 1e-9.
func (a Vec3) Normalize(fallback Vec3) Vec3 {
	l := a.Len()
	if !(l > 1e-9) {
		return fallback
	}
	return a.Scale(1 / l)
}

// Lerp returns a + t·(b − a).
func (a Vec3) Lerp(b Vec3, t float32) Vec3 { return a.Add(b.Sub(a).Scale(t)) }

// OnSegment returns the point of the segment from b to c that is nearest to a.
func (a Vec3) OnSegment(b, c Vec3) Vec3 {
	way := c.Sub(b)
	return b.Add(way.Scale(Clamp(a.Sub(b).Dot(way)/max(way.Dot(way), 1e-9), 0, 1)))
}

// Flat returns a with its height set to zero.
func (a Vec3) Flat() Vec3 { return Vec3{a.X, 0, a.Z} }

// Finite reports whether no component of a is NaN or infinite.
func (a Vec3) Finite() bool { return Finite(0*a.X + 0*a.Y + 0*a.Z) }

// Xform is a rigid transform: a rotation followed by a translation.
type Xform struct {
	Pos Vec3
	Rot Quat
}

// Identity is the transform without rotation and translation.
var Identity = Xform{Rot: Quat{0, 0, 0, 1}}

// Mul returns the transform that applies b first and a second: for a parent a
// and a child's local transform b it is the child in a's space.
func (a Xform) Mul(b Xform) Xform {
	return Xform{a.Pos.Add(a.Rot.Rotate(b.Pos)), a.Rot.Mul(b.Rot)}
}

// Apply returns the point p, given in a's local space, in a's parent space.
func (a Xform) Apply(p Vec3) Vec3 { return a.Pos.Add(a.Rot.Rotate(p)) }

// Inv returns the inverse transform.
func (a Xform) Inv() Xform {
	r := a.Rot.Conj()
	return Xform{r.Rotate(a.Pos.Neg()), r}
}

// Finite reports whether no component of f is NaN or infinite.
func Finite(f float32) bool { return f-f == 0 }

// Sqrt is the float32 square root.
func Sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// Sin, Cos and the functions below are the float32 forms of package math.
func Sin(x float32) float32 { return float32(math.Sin(float64(x))) }

// Cos returns the cosine of x radians.
func Cos(x float32) float32 { return float32(math.Cos(float64(x))) }

// Acos returns the arc cosine of x clamped to [−1, 1], in radians.
func Acos(x float32) float32 { return float32(math.Acos(float64(Clamp(x, -1, 1)))) }

// Atan2 returns the angle of the point (x, y), in radians.
func Atan2(y, x float32) float32 { return float32(math.Atan2(float64(y), float64(x))) }

// Exp returns e to the power x: see Exp64.
func Exp(x float32) float32 { return float32(Exp64(float64(x))) }

// Pow returns x to the power y for x ≥ 0: see Pow64.
func Pow(x, y float32) float32 { return float32(Pow64(float64(x), float64(y))) }

// Abs returns the magnitude of x.
func Abs(x float32) float32 { return float32(math.Abs(float64(x))) }

// Clamp returns x limited to [lo, hi].
func Clamp(x, lo, hi float32) float32 { return max(lo, min(hi, x)) }

// Lerp returns a + t·(b − a).
func Lerp(a, b, t float32) float32 { return a + t*(b-a) }

// SmoothStep returns 0 at and below from, 1 at and above to, and between them the cubic that is level at both ends.
func SmoothStep(from, to, x float32) float32 {
	u := Clamp((x-from)/(to-from), 0, 1)
	return u * u * (3 - 2*u)
}

// WrapAngle returns x shifted by whole turns into [−π, π].
func WrapAngle(x float32) float32 { return float32(math.Remainder(float64(x), 2*math.Pi)) }
