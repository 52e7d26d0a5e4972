package stage

import (
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/material"
	"github.com/g3n/engine/math32"

	"mannequin/engine/m3"
)

// contacts darken the ground below characters, where their bodies hide the sky, by a soft oval
// patch for each. Beyond the shadow map the patches replace shadows.
type contacts struct {
	graphic  *graphic.Mesh
	geom     *mesh
	vertices []float32
	index    []uint32
}

// Darkness of a patch in its middle, and its range.
const (
	contactNear = 0.42   // below a character with a shadow
	contactFar  = 0.62   // below a character without a shadow
	contactEnd  = 150    // m from the eye
	contactRise = 1 / .9 // fades per m above the ground
)

func newContacts(a *lighting) *contacts {
	c := &contacts{geom: newGeometry(nil, nil, 3, 3)} // position, patch coordinates and darkness
	s := newShade("contact", a, nil)
	s.SetBlending(material.BlendNormal)
	s.SetDepthMask(false)
	s.SetSide(material.SideDouble)
	c.graphic = newMesh(c.geom, s, 1) // after the ground, before the characters
	c.graphic.SetVisible(false)
	return c
}

// footprint is the oval on the ground that encloses a character's joints.
type footprint struct {
	centre m3.Vec3 // of the joints; Y is the lowest joint's
	along  m3.Vec3 // horizontal unit vector of the long axis
	a, b   float32 // half length and half width, m
}

func footprintOf(bones []m3.Xform) footprint {
	var x, z, xx, xz, zz float32
	low := bones[0].Pos.Y
	origin := bones[0].Pos // sums relative to it stay accurate far from the world's origin
	for i := range bones {
		p := bones[i].Pos.Sub(origin)
		x, z, low = x+p.X, z+p.Z, min(low, bones[i].Pos.Y)
		xx, xz, zz = xx+p.X*p.X, xz+p.X*p.Z, zz+p.Z*p.Z
	}
	n := 1 / float32(len(bones))
	x, z = x*n, z*n
	xx, xz, zz = xx*n-x*x, xz*n-x*z, zz*n-z*z
	// Axes and variances along them: the covariance's eigenvectors.
	turn := m3.Atan2(2*xz, xx-zz) / 2
	spread := m3.Sqrt((xx-zz)*(xx-zz)/4 + xz*xz)
	mean := (xx + zz) / 2
	half := func(variance float32) float32 { return 0.16 + 1.7*m3.Sqrt(max(variance, 0)) }
	return footprint{m3.V(origin.X+x, low, origin.Z+z), m3.V(m3.Cos(turn), 0, m3.Sin(turn)), half(mean + spread), half(mean - spread)}
}

// set lays patches under the characters that the camera sees.
func (c *contacts) set(crowds []*Crowd, height HeightFunc, seen *math32.Frustum, a *lighting) {
	c.vertices, c.index = c.vertices[:0], c.index[:0]
	for _, crowd := range crowds {
		for i, p := range crowd.centres {
			ball := math32.Sphere{Center: math32.Vector3{X: p.X, Y: p.Y, Z: p.Z}, Radius: crowd.body.Size}
			if height == nil || !p.Finite() || p.Dist(a.eye) > contactEnd || !seen.IntersectsSphere(&ball) {
				continue
			}
			c.patch(&crowd.prints[i], height, m3.Lerp(contactFar, contactNear, a.mapped(p)))
		}
	}
	c.graphic.SetVisible(len(c.index) > 0)
	if len(c.index) > 0 {
		c.geom.set(c.vertices, c.index)
	}
}

// patch appends a patch of 3×3 vertices on the ground.
func (c *contacts) patch(f *footprint, height HeightFunc, dark float32) {
	dark *= m3.Clamp(1-contactRise*(f.centre.Y-height(f.centre.X, f.centre.Z)-0.1), 0, 1)
	if !(dark > 0.01) || !m3.Finite(f.a) || !m3.Finite(f.b) {
		return
	}
	base := uint32(len(c.vertices) / 6)
	aside := m3.V(-f.along.Z, 0, f.along.X)
	for k := range 3 {
		for i := range 3 {
			u, v := float32(i-1), float32(k-1)
			p := f.centre.Add(f.along.Scale(u * f.a)).Add(aside.Scale(v * f.b))
			c.vertices = append(c.vertices, p.X, height(p.X, p.Z)+0.01, p.Z, u, v, dark)
		}
	}
	for k := range uint32(2) {
		for i := range uint32(2) {
			o := base + 3*k + i
			c.index = append(c.index, o, o+3, o+1, o+1, o+3, o+4)
		}
	}
}

// mapped returns the share of p's shadow that the shadow map covers, 0 to 1; see light.glsl.
func (a *lighting) mapped(p m3.Vec3) float32 {
	m := &a.shadow
	x := m[0]*p.X + m[4]*p.Y + m[8]*p.Z + m[12]
	y := m[1]*p.X + m[5]*p.Y + m[9]*p.Z + m[13]
	t := m3.Clamp((1-max(m3.Abs(x), m3.Abs(y)))/0.15, 0, 1)
	return t * t * (3 - 2*t)
}
