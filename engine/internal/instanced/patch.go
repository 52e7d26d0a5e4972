package instanced

import "mannequin/engine/m3"

// Footprint is the oval on the ground that encloses a character's joints.
type Footprint struct {
	centre m3.Vec3 // of the joints; Y is the lowest joint's
	along  m3.Vec3 // horizontal unit vector of the long axis
	a, b   float32 // half length and half width, m
}

func footprintOf(bones []m3.Xform) Footprint {
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
	return Footprint{m3.V(origin.X+x, low, origin.Z+z), m3.V(m3.Cos(turn), 0, m3.Sin(turn)), half(mean + spread), half(mean - spread)}
}

// Patches are soft ovals that darken the ground below characters, where their bodies hide the sky.
// Vertices have a position, the place in the patch, −1…1 twice, and the darkness in its middle.
type Patches struct {
	Vertices []float32
	Index    []uint32
}

// contactRise is by how much a patch fades per m above the ground.
const contactRise = 1 / .9

// Clear removes all patches.
func (c *Patches) Clear() { c.Vertices, c.Index = c.Vertices[:0], c.Index[:0] }

// Add appends a patch of 3×3 vertices on the ground.
func (c *Patches) Add(f *Footprint, height func(x, z float32) float32, dark float32) {
	dark *= m3.Clamp(1-contactRise*(f.centre.Y-height(f.centre.X, f.centre.Z)-0.1), 0, 1)
	if !(dark > 0.01) || !m3.Finite(f.a) || !m3.Finite(f.b) {
		return
	}
	base := uint32(len(c.Vertices) / 6)
	aside := m3.V(-f.along.Z, 0, f.along.X)
	for k := range 3 {
		for i := range 3 {
			u, v := float32(i-1), float32(k-1)
			p := f.centre.Add(f.along.Scale(u * f.a)).Add(aside.Scale(v * f.b))
			c.Vertices = append(c.Vertices, p.X, height(p.X, p.Z)+0.01, p.Z, u, v, dark)
		}
	}
	for k := range uint32(2) {
		for i := range uint32(2) {
			o := base + 3*k + i
			c.Index = append(c.Index, o, o+3, o+1, o+1, o+3, o+4)
		}
	}
}
