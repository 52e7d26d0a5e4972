// Package affine has transforms in float64, as readers of files combine them: rotation, scale, shear
// and translation.
package affine

import (
	"math"

	"mannequin/engine/m3"
)

// Transform is a 3×4 matrix, row-major.
type Transform [12]float64

// Identity changes nothing.
var Identity = Transform{0: 1, 5: 1, 10: 1}

// Mul returns the transform that applies b first and a second.
func (a *Transform) Mul(b *Transform) (out Transform) {
	for r := range 3 {
		for c := range 4 {
			for k := range 3 {
				out[4*r+c] += a[4*r+k] * b[4*k+c]
			}
		}
		out[4*r+3] += a[4*r+3]
	}
	return out
}

// Apply transforms a point.
func (a *Transform) Apply(x, y, z float64) [3]float64 {
	var out [3]float64
	for r := range out {
		out[r] = a[4*r]*x + a[4*r+1]*y + a[4*r+2]*z + a[4*r+3]
	}
	return out
}

// Inverse returns the transform back, and whether there is one.
func (a *Transform) Inverse() (out Transform, ok bool) {
	d := a.Det()
	if d == 0 || math.IsNaN(d) || math.IsInf(1/d, 0) {
		return out, false
	}
	for r := range 3 {
		for c := range 3 { // the cofactor of (c, r)
			r1, r2, c1, c2 := (c+1)%3, (c+2)%3, (r+1)%3, (r+2)%3
			out[4*r+c] = (a[4*r1+c1]*a[4*r2+c2] - a[4*r1+c2]*a[4*r2+c1]) / d
		}
	}
	t := out.Apply(a[3], a[7], a[11]) // out has no translation yet
	out[3], out[7], out[11] = -t[0], -t[1], -t[2]
	return out, true
}

// Normal transforms a normal by the cofactors, the inverse transpose up to a factor: unit or zero.
func (a *Transform) Normal(n m3.Vec3) m3.Vec3 {
	row := func(i int) [3]float64 { return [3]float64{a[4*i], a[4*i+1], a[4*i+2]} }
	cross := func(u, v [3]float64) [3]float64 {
		return [3]float64{u[1]*v[2] - u[2]*v[1], u[2]*v[0] - u[0]*v[2], u[0]*v[1] - u[1]*v[0]}
	}
	var out [3]float64
	for i := range out {
		c := cross(row((i+1)%3), row((i+2)%3))
		out[i] = c[0]*float64(n.X) + c[1]*float64(n.Y) + c[2]*float64(n.Z)
	}
	l := math.Sqrt(out[0]*out[0] + out[1]*out[1] + out[2]*out[2])
	if !(l > 0) || math.IsInf(l, 0) {
		return m3.Vec3{}
	}
	if a.Det() < 0 {
		l = -l
	}
	return m3.V(float32(out[0]/l), float32(out[1]/l), float32(out[2]/l))
}

// Det returns the determinant, which is negative if the transform mirrors.
func (a *Transform) Det() float64 {
	return a[0]*(a[5]*a[10]-a[6]*a[9]) - a[1]*(a[4]*a[10]-a[6]*a[8]) + a[2]*(a[4]*a[9]-a[5]*a[8])
}

// Finite reports whether all numbers are finite and not absurdly large.
func (a *Transform) Finite() bool {
	for _, v := range a {
		if !(math.Abs(v) < 1e12) {
			return false
		}
	}
	return true
}
