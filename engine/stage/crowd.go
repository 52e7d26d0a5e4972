package stage

import (
	"fmt"
	"math"

	"github.com/g3n/engine/core"
	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/math32"

	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/engine/stage/internal/gl"
)

// Crowd draws any number of characters that share one body with a few draw calls. Each instance
// reads its bones from one row of a texture. Distant characters use coarser meshes.
type Crowd struct {
	s       *Stage
	body    *body.Body
	invBind []m3.Xform
	joints  int
	max     int // rows that the driver's textures allow

	bones     []float32 // (rows, 3·joints+2, 4) contents of the texture
	rows      int       // characters now
	capacity  int       // rows of the texture
	boneTex   uint32
	order     []int32 // rows to draw: one run per level, then the shadow's
	orderTex  uint32
	runs      []run // one per level, then the shadow's
	centres   []m3.Vec3
	prints    []footprint
	near, far float32 // m: distances at which the middle level begins and ends
}

// run is the part of order that one draw call shows.
type run struct{ base, count int32 }

// orderWidth is the width of the order texture, also in bones.glsl.
const orderWidth = 1024

// NewCrowd adds an empty crowd with body b to the stage.
func (s *Stage) NewCrowd(b *body.Body) (*Crowd, error) {
	if len(b.Levels) == 0 || len(b.Bind) == 0 || len(b.Bind) > body.MaxJoints {
		return nil, fmt.Errorf("stage: a body of %d joints and %d meshes cannot be drawn", len(b.Bind), len(b.Levels))
	}
	size := gl.GetInteger(gl.MAX_TEXTURE_SIZE)
	c := &Crowd{s: s, body: b, joints: len(b.Bind), max: int(size), near: 5, far: 14}
	if 3*c.joints+2 > int(size) {
		return nil, fmt.Errorf("stage: %d joints need a texture %d wide, this driver has %d", c.joints, 3*c.joints+2, size)
	}
	for _, x := range b.Bind {
		c.invBind = append(c.invBind, x.Inv())
	}
	c.boneTex = newTexture(s.gs, unitBones, gl.NEAREST)
	c.orderTex = newTexture(s.gs, unitOrder, gl.NEAREST)
	c.runs = make([]run, len(b.Levels)+1)
	for k := range b.Levels {
		s.scene.Add(newInstances(c, k, &b.Levels[k], false))
	}
	s.shadows.Add(newInstances(c, len(b.Levels), &b.Levels[min(1, len(b.Levels)-1)], true))
	s.crowds = append(s.crowds, c)
	return c, glError("made a crowd")
}

// Set poses the crowd. bones holds each joint's world transform, (characters, joints). tint is one
// linear RGB colour of coat or shirt per character, or nil for a default. The slices are not kept.
func (c *Crowd) Set(bones []m3.Xform, tint [][3]float32) error {
	if len(bones)%c.joints != 0 {
		return fmt.Errorf("stage: %d bones do not divide into characters of %d joints", len(bones), c.joints)
	}
	n := len(bones) / c.joints
	if n > c.max {
		return fmt.Errorf("stage: %d characters, this driver can draw %d", n, c.max)
	}
	if tint != nil && len(tint) != n {
		return fmt.Errorf("stage: %d tints for %d characters", len(tint), n)
	}
	c.rows = n
	c.centres, c.prints = c.centres[:0], c.prints[:0]
	row := 4 * (3*c.joints + 2)
	if need := row * n; cap(c.bones) < need {
		c.bones = make([]float32, need, need+need/2)
	}
	c.bones = c.bones[:row*n]
	for a := range n {
		dst := c.bones[a*row : (a+1)*row]
		for j := range c.joints {
			putRows(dst[12*j:12*j+12], bones[a*c.joints+j].Mul(c.invBind[j]))
		}
		colour := [3]float32{0.42, 0.25, 0.11}
		if tint != nil {
			colour = tint[a]
		}
		copy(dst[12*c.joints:], colour[:])
		variation := variationOf(colour)
		copy(dst[12*c.joints+4:], variation[:])
		c.prints = append(c.prints, footprintOf(bones[a*c.joints:(a+1)*c.joints]))
		c.centres = append(c.centres, bones[a*c.joints].Pos)
	}
	return nil
}

// variationOf returns four values from 0 to 1 that vary a character's looks, by its colour alone.
func variationOf(colour [3]float32) (variation [4]float32) {
	h := uint32(0)
	for _, c := range colour {
		h = (h ^ math.Float32bits(c)) * 0x9E3779B1
		h ^= h >> 16
	}
	for k := range variation {
		variation[k] = unit(h + uint32(k)*0x85EBCA77)
	}
	return variation
}

func putRows(dst []float32, x m3.Xform) {
	q := x.Rot
	xx, yy, zz := q.X*q.X, q.Y*q.Y, q.Z*q.Z
	xy, xz, yz := q.X*q.Y, q.X*q.Z, q.Y*q.Z
	wx, wy, wz := q.W*q.X, q.W*q.Y, q.W*q.Z
	dst[0], dst[1], dst[2], dst[3] = 1-2*(yy+zz), 2*(xy-wz), 2*(xz+wy), x.Pos.X
	dst[4], dst[5], dst[6], dst[7] = 2*(xy+wz), 1-2*(xx+zz), 2*(yz-wx), x.Pos.Y
	dst[8], dst[9], dst[10], dst[11] = 2*(xz-wy), 2*(yz+wx), 1-2*(xx+yy), x.Pos.Z
}

// plan sorts the characters into levels by distance from the eye, leaves out those outside both
// views, and uploads poses and order.
func (c *Crowd) plan(eye m3.Vec3, seen, shaded *math32.Frustum) {
	c.order = c.order[:0]
	for k := range c.runs {
		base := len(c.order)
		for i, p := range c.centres {
			if !p.Finite() {
				continue
			}
			ball := math32.Sphere{Center: math32.Vector3{X: p.X, Y: p.Y, Z: p.Z}, Radius: c.body.Size}
			if k == len(c.body.Levels) {
				if shaded.IntersectsSphere(&ball) {
					c.order = append(c.order, int32(i))
				}
			} else if c.level(p.Dist(eye)) == k && seen.IntersectsSphere(&ball) {
				c.order = append(c.order, int32(i))
			}
		}
		c.runs[k].base, c.runs[k].count = int32(base), int32(len(c.order)-base)
	}
	if c.rows == 0 {
		return
	}
	gs := c.s.gs
	gs.ActiveTexture(gls.TEXTURE0 + unitBones)
	gl.BindTexture(gl.TEXTURE_2D, c.boneTex)
	w := int32(3*c.joints + 2)
	if c.rows > c.capacity {
		c.capacity = min(c.rows+c.rows/2, c.max)
		gl.TexImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, w, int32(c.capacity), gl.RGBA, gl.FLOAT, nil)
	}
	gl.TexSubImage2D(gl.TEXTURE_2D, 0, 0, 0, w, int32(c.rows), gl.RGBA, gl.FLOAT, gl.Bytes(c.bones))

	h := (len(c.order) + orderWidth - 1) / orderWidth
	for len(c.order) < max(h, 1)*orderWidth {
		c.order = append(c.order, 0)
	}
	gs.ActiveTexture(gls.TEXTURE0 + unitOrder)
	gl.BindTexture(gl.TEXTURE_2D, c.orderTex)
	gl.TexImage2D(gl.TEXTURE_2D, 0, gl.R32I, orderWidth, int32(max(h, 1)), gl.RED_INTEGER, gl.INT, gl.Bytes(c.order))
}

func (c *Crowd) level(dist float32) int {
	k := 0
	if dist > c.near*c.body.Size {
		k = 1
	}
	if dist > c.far*c.body.Size {
		k = 2
	}
	return min(k, len(c.body.Levels)-1)
}

// instances is the graphic of one level. g3n has no instancing, so it draws the instances itself
// and leaves g3n an empty material group.
type instances struct {
	*graphic.Mesh
	c   *Crowd
	run int
	n   int32 // indices

	uBones, uOrder, uBase, uJoints gls.Uniform
}

func newInstances(c *Crowd, level int, m *body.Mesh, shadow bool) *instances {
	h := &instances{c: c, run: level, n: int32(len(m.Index)),
		uBones: uniform("Bones"), uOrder: uniform("Order"), uBase: uniform("Base"), uJoints: uniform("Joints")}
	sizes := []int32{3, 3, 4, 4, 4} // position, normal, joints, weights, coat
	program, a := "crowd", &c.s.lighting
	switch c.body.Cover {
	case body.Clothes:
		program = "people"
	case body.Paint:
		program = "paint"
	}
	if shadow {
		sizes = []int32{3, 4, 4} // position, joints, weights
		program, a = "shadow", nil
	}
	var v []float32
	for i, p := range m.Pos {
		n, j, w := m.Normal[i], m.Joints[i], m.Weights[i]
		v = append(v, p.X, p.Y, p.Z)
		if !shadow {
			v = append(v, n.X, n.Y, n.Z)
		}
		v = append(v, float32(j[0]), float32(j[1]), float32(j[2]), float32(j[3]), w[0], w[1], w[2], w[3])
		if !shadow {
			v = append(v, m.Coat[i][:]...)
		}
	}
	s := newShade(program, a, nil)
	if shadow {
		// Depths are pushed away from the light by slope, so that a surface does not shade itself.
		s.SetPolygonOffset(1.5, 2)
	}
	h.Mesh = graphic.NewMesh(newGeometry(v, m.Index, sizes...), nil)
	h.SetIGraphic(h)
	h.SetCullable(false)
	h.Graphic.AddMaterial(h, s, 0, 1)
	return h
}

// RenderSetup draws all instances. The single index that g3n draws afterwards makes no triangle.
func (h *instances) RenderSetup(gs *gls.GLS, info *core.RenderInfo) {
	h.Mesh.RenderSetup(gs, info)
	r := h.c.runs[h.run]
	bindTexture(gs, unitBones, h.c.boneTex, &h.uBones)
	bindTexture(gs, unitOrder, h.c.orderTex, &h.uOrder)
	gs.Uniform1i(h.uBase.Location(gs), r.base)
	gs.Uniform1i(h.uJoints.Location(gs), int32(h.c.joints))
	if r.count > 0 {
		gl.DrawElementsInstanced(gl.TRIANGLES, h.n, gl.UNSIGNED_INT, r.count)
	}
}
