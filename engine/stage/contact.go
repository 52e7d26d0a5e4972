package stage

import (
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/material"
	"github.com/g3n/engine/math32"

	"mannequin/engine/internal/gpu"
	"mannequin/engine/internal/instanced"
	"mannequin/engine/m3"
)

// contacts darken the ground below characters, where their bodies hide the sky, by a soft oval
// patch for each. Beyond the shadow map the patches replace shadows.
type contacts struct {
	graphic *graphic.Mesh
	geom    *gpu.Geometry
	patches instanced.Patches
}

// Darkness of a patch in its middle, and its range.
const (
	contactNear = 0.42 // below a character with a shadow
	contactFar  = 0.62 // below a character without a shadow
	contactEnd  = 150  // m from the eye
)

func newContacts(a *lighting) *contacts {
	c := &contacts{geom: gpu.NewGeometry(nil, nil, 3, 3)} // position, patch coordinates and darkness
	s := newShade("contact", a, nil)
	s.SetBlending(material.BlendNormal)
	s.SetDepthMask(false)
	s.SetSide(material.SideDouble)
	c.graphic = gpu.NewMesh(c.geom, s, 1) // after the ground, before the characters
	c.graphic.SetVisible(false)
	return c
}

// set lays patches under the characters that the camera sees.
func (c *contacts) set(crowds []*Crowd, height HeightFunc, seen *math32.Frustum, a *lighting) {
	c.patches.Clear()
	for _, crowd := range crowds {
		for i, p := range crowd.all.Centres {
			ball := math32.Sphere{Center: math32.Vector3{X: p.X, Y: p.Y, Z: p.Z}, Radius: crowd.all.Body.Size}
			if height == nil || !p.Finite() || p.Dist(a.eye) > contactEnd || !seen.IntersectsSphere(&ball) {
				continue
			}
			c.patches.Add(&crowd.all.Prints[i], height, m3.Lerp(contactFar, contactNear, a.mapped(p)))
		}
	}
	c.graphic.SetVisible(len(c.patches.Index) > 0)
	if len(c.patches.Index) > 0 {
		c.geom.Set(c.patches.Vertices, c.patches.Index)
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
