// Package draw paints skeletons, paths, grids and labels into an image.RGBA on the CPU. Tools and
// tests use it to show motion without a graphics driver.
//
// Everything is drawn in call order, without depth.
package draw

import "mannequin/engine/m3"

// Camera maps world space to the picture. With FOV > 0 it is a perspective
// camera; with FOV = 0 an orthographic one that shows Height metres.
type Camera struct {
	Eye    m3.Vec3 // world, m
	Target m3.Vec3 // world, m; shown in the middle of the picture
	FOV    float32 // vertical field of view, radians; 0 is orthographic
	Height float32 // vertical extent of the orthographic view, m
}

// near is the near plane of perspective cameras, in metres.
const near = 0.05

// Side looks at centre along +X, from the right: a character that walks ahead walks to the right.
func Side(centre m3.Vec3, height float32) Camera {
	return Camera{Eye: centre.Add(m3.V(-10, 0, 0)), Target: centre, Height: height}
}

// Front looks at centre along −Z, at the character's face. The character's left is on the right.
func Front(centre m3.Vec3, height float32) Camera {
	return Camera{Eye: centre.Add(m3.V(0, 0, 10)), Target: centre, Height: height}
}

// Top looks straight down at centre with +Z up in the picture and +X to the left.
func Top(centre m3.Vec3, height float32) Camera {
	return Camera{Eye: centre.Add(m3.V(0, 10, 0)), Target: centre, Height: height}
}

// ThreeQuarter is a perspective view from front, left and above of about size metres around centre.
func ThreeQuarter(centre m3.Vec3, size float32) Camera {
	return Camera{Eye: centre.Add(m3.V(0.9, 0.55, 0.9).Scale(size)), Target: centre, FOV: 0.7}
}

// view is a camera prepared for one picture size.
type view struct {
	cam        Camera
	x, y, z    m3.Vec3 // right, up, forward
	cx, cy, sc float32
}

func (c Camera) view(w, h int) view {
	v := view{cam: c, cx: float32(w) / 2, cy: float32(h) / 2}
	v.z = c.Target.Sub(c.Eye).Normalize(m3.V(0, 0, -1))
	up := m3.Up
	if m3.Abs(v.z.Y) > 0.999 {
		up = m3.V(0, 0, 1)
	}
	v.x = v.z.Cross(up).Normalize(m3.V(1, 0, 0))
	v.y = v.x.Cross(v.z)
	if c.FOV > 0 {
		v.sc = v.cy / (m3.Sin(c.FOV/2) / m3.Cos(c.FOV/2))
	} else {
		v.sc = float32(h) / max(c.Height, 1e-6)
	}
	return v
}

// cameraSpace returns p in camera space: X right, Y up, Z ahead of the eye.
func (v *view) cameraSpace(p m3.Vec3) m3.Vec3 {
	d := p.Sub(v.cam.Eye)
	return m3.V(d.Dot(v.x), d.Dot(v.y), d.Dot(v.z))
}

func (v *view) screen(c m3.Vec3) (x, y float32) {
	s := v.sc
	if v.cam.FOV > 0 {
		s /= c.Z
	}
	return v.cx + c.X*s, v.cy - c.Y*s
}

// segment returns the part of ab before the camera in picture coordinates, false if there is none.
func (v *view) segment(a, b m3.Vec3) (ax, ay, bx, by float32, ok bool) {
	if !a.Finite() || !b.Finite() {
		return
	}
	ca, cb := v.cameraSpace(a), v.cameraSpace(b)
	if v.cam.FOV > 0 {
		if ca.Z < near && cb.Z < near {
			return
		}
		if ca.Z < near {
			ca = ca.Lerp(cb, (near-ca.Z)/(cb.Z-ca.Z))
		} else if cb.Z < near {
			cb = cb.Lerp(ca, (near-cb.Z)/(ca.Z-cb.Z))
		}
	}
	ax, ay = v.screen(ca)
	bx, by = v.screen(cb)
	return ax, ay, bx, by, true
}

// Project returns the position of the world point p in a picture of w×h pixels, from the top left
// corner. ok is false if the point is behind the camera or not finite.
func (c Camera) Project(w, h int, p m3.Vec3) (x, y float32, ok bool) {
	v := c.view(w, h)
	q := v.cameraSpace(p)
	if !q.Finite() || (c.FOV > 0 && q.Z < near) {
		return 0, 0, false
	}
	x, y = v.screen(q)
	return x, y, true
}
