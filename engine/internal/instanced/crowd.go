// Package instanced draws crowds of characters that share a body: one draw call for all characters
// of a level of detail and a material. The stage and the nodes of other g3n scenes are built on it.
package instanced

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/math32"

	"mannequin/engine/body"
	"mannequin/engine/internal/gl"
	"mannequin/engine/internal/gpu"
	"mannequin/engine/m3"
)

// Widths and heights of textures that every driver allows, also in bones.glsl.
const (
	width  = 1024
	height = 2048
)

// Units are the texture units that a crowd's draw calls use for its poses.
type Units struct{ Bones, Order uint32 }

// Crowd is the poses of characters, and which of them the next draw calls show. Each instance reads
// its bones from a block of texels.
type Crowd struct {
	Body    *body.Body
	Centres []m3.Vec3   // of the characters
	Prints  []Footprint // of the characters, with KeepPrints
	Hidden  []bool      // characters that are not drawn; nil or one each

	KeepPrints bool

	units   Units
	invBind []m3.Xform
	joints  int
	per     int // characters beside each other in the texture

	bones    []float32 // contents of the texture
	changed  bool
	from     uint32 // a buffer of OpenGL that has the matrices, which are then zeros in bones; 0: none
	coats    [][3]float32
	recoat   bool // tints of characters whose matrices are in a buffer have changed
	lines    int  // of the texture
	boneTex  uint32
	order    []int32 // characters to draw: one run after the other
	orderTex uint32
	runs     []run
	level    []int8 // of each character in the run that is being made, −1: not drawn
}

// run is the part of order that one draw call shows.
type run struct{ base, count int32 }

// New returns an empty crowd with room for that many runs.
func New(b *body.Body, runs int, units Units) (*Crowd, error) {
	if len(b.Levels) == 0 || len(b.Bind) == 0 || len(b.Bind) > body.MaxJoints {
		return nil, fmt.Errorf("a body of %d joints and %d meshes cannot be drawn", len(b.Bind), len(b.Levels))
	}
	for k := range b.Levels {
		for i, p := range b.Levels[k].Parts {
			if p.Material < 0 || p.Material >= len(b.Materials) {
				return nil, fmt.Errorf("part %d of level %d has material %d of %d", i, k, p.Material, len(b.Materials))
			}
		}
	}
	c := &Crowd{Body: b, units: units, joints: len(b.Bind), runs: make([]run, runs)}
	c.per = width / c.texels()
	for _, x := range b.Bind {
		c.invBind = append(c.invBind, x.Inv())
	}
	return c, nil
}

// texels returns the texels of a character: three per joint, then its tint and its variation.
func (c *Crowd) texels() int { return 3*c.joints + 2 }

// Max returns the largest number of characters.
func (c *Crowd) Max() int { return c.per * height }

// Joints returns the number of joints.
func (c *Crowd) Joints() int { return c.joints }

// Len returns the number of characters.
func (c *Crowd) Len() int { return len(c.Centres) }

// DefaultTint is a character's colour where none is given, linear.
var DefaultTint = [3]float32{0.42, 0.25, 0.11}

// Set poses the crowd. bones holds each joint's transform in the crowd's space, (characters, joints).
// tint is one linear colour per character, or nil. The slices are not kept.
func (c *Crowd) Set(bones []m3.Xform, tint [][3]float32) error {
	if len(bones)%c.joints != 0 {
		return fmt.Errorf("%d bones do not divide into characters of %d joints", len(bones), c.joints)
	}
	n := len(bones) / c.joints
	if n > c.Max() {
		return fmt.Errorf("%d characters of %d joints: at most %d can be drawn as one crowd", n, c.joints, c.Max())
	}
	if tint != nil && len(tint) != n {
		return fmt.Errorf("%d tints for %d characters", len(tint), n)
	}
	c.changed, c.from = true, 0
	c.Centres, c.Prints = c.Centres[:0], c.Prints[:0]
	size := 4 * c.texels()
	full := (n + c.per - 1) / c.per * c.per // lines are uploaded whole
	if need := size * full; cap(c.bones) < need {
		c.bones = make([]float32, need, need+need/2)
	}
	c.bones = c.bones[:size*full]
	for a := range n {
		dst, own := c.bones[a*size:(a+1)*size], bones[a*c.joints:(a+1)*c.joints]
		for j := range own {
			putRows(dst[12*j:12*j+12], own[j].Mul(c.invBind[j]))
		}
		colour := DefaultTint
		if tint != nil {
			colour = tint[a]
		}
		copy(dst[12*c.joints:], colour[:])
		variation := variationOf(colour)
		copy(dst[12*c.joints+4:], variation[:])
		c.Centres = append(c.Centres, own[0].Pos)
		if c.KeepPrints {
			c.Prints = append(c.Prints, footprintOf(own))
		}
	}
	return nil
}

// SetFrom poses the crowd by matrices in a buffer of OpenGL, which draws them without the processor: (characters, joints, 12) float32s, the
// rows of each joint's 3×4 skinning matrix, in the crowd's space. centres are the places of joint 0.
func (c *Crowd) SetFrom(matrices uint32, centres []m3.Vec3, tint [][3]float32) error {
	n := len(centres)
	if !gl.CopiesBuffers {
		return fmt.Errorf("this OpenGL does not copy buffers into textures")
	}
	if n > c.Max() {
		return fmt.Errorf("%d characters of %d joints: at most %d can be drawn as one crowd", n, c.joints, c.Max())
	}
	if len(tint) != n {
		return fmt.Errorf("%d tints for %d characters", len(tint), n)
	}
	c.Centres, c.Prints = append(c.Centres[:0], centres...), c.Prints[:0]
	if c.changed = true; c.from != 0 && slices.Equal(c.coats, tint) {
		c.from = matrices
		return nil
	}
	c.from, c.recoat, c.coats = matrices, true, append(c.coats[:0], tint...)
	size := 4 * c.texels()
	full := (n + c.per - 1) / c.per * c.per
	c.bones = slices.Grow(c.bones[:0], size*full)[:size*full]
	clear(c.bones)
	for a := range n {
		dst := c.bones[a*size+12*c.joints:]
		copy(dst, tint[a][:])
		variation := variationOf(tint[a])
		copy(dst[4:], variation[:])
	}
	return nil
}

// Stand lays the footprint of the bind pose under each character of the last SetFrom, whose joints the processor does not know. hips are
// their joints 0, turned to where they face.
func (c *Crowd) Stand(hips []m3.Xform) {
	print, from := footprintOf(c.Body.Bind), c.Body.Bind[0]
	for i := range hips {
		yaw := m3.YawQuat(hips[i].Rot.Yaw())
		p := print
		p.centre = hips[i].Pos.Add(yaw.Rotate(print.centre.Sub(from.Pos)))
		p.along = yaw.Rotate(print.along)
		c.Prints = append(c.Prints, p)
	}
}

// copyMatrices copies the matrices of characters from the buffer into the texture that is bound: all that are in one column at once.
func (c *Crowd) copyMatrices() {
	row := 3 * c.joints // texels
	for b := range min(c.per, c.Len()) {
		lines := (c.Len() - b + c.per - 1) / c.per
		gl.TexSubImage2DFrom(c.from, 16*row*b, c.per*row, gl.TEXTURE_2D, int32(b*c.texels()), 0, int32(row), int32(lines), gl.RGBA, gl.FLOAT)
	}
}

// OnGPU reports whether poses are in a buffer of OpenGL: the processor does not know them.
func (c *Crowd) OnGPU() bool { return c.from != 0 }

// variationOf returns four values from 0 to 1 that vary a character's looks, by its colour alone.
func variationOf(colour [3]float32) (variation [4]float32) {
	h := uint32(0)
	for _, c := range colour {
		h = (h ^ math.Float32bits(c)) * 0x9E3779B1
		h ^= h >> 16
	}
	for k := range variation {
		variation[k] = Unit(h + uint32(k)*0x85EBCA77)
	}
	return variation
}

// Unit returns a pseudorandom value from 0 to 1 that depends only on h.
func Unit(h uint32) float32 {
	h ^= h >> 15
	h *= 0x2C1B3C6D
	h ^= h >> 12
	h *= 0x297A2D39
	h ^= h >> 15
	return float32(h&0xFFFF) / 0xFFFF
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

// Distances in sizes of the body at which the middle and the coarsest level begin, for a camera
// whose pictures are 1.9 times as high as far; see Levels.
const (
	nearLevel = 5
	farLevel  = 14
)

// Begin forgets which characters to draw.
func (c *Crowd) Begin() {
	c.order = c.order[:0]
	clear(c.runs)
}

// Levels sets one run for each level of detail, from run 0 on, to the characters that the frustum
// contains. away returns a character's distance from the eye in metres, times 1 for a camera like
// the stage's, times less for one that magnifies more.
func (c *Crowd) Levels(seen *math32.Frustum, away func(p m3.Vec3) float32) {
	last := int8(len(c.Body.Levels) - 1)
	c.choose(seen, func(p m3.Vec3) int8 {
		switch d := away(p); {
		case d > farLevel*c.Body.Size:
			return min(2, last)
		case d > nearLevel*c.Body.Size:
			return min(1, last)
		}
		return 0
	})
	for k := range c.Body.Levels {
		c.add(k, int8(k))
	}
}

// Far sets one run for each level, from run base on, to the characters of those of Levels, the farthest first. depth returns
// how far a character is from the camera.
func (c *Crowd) Far(base int, depth func(p m3.Vec3) float32) {
	for k := range c.Body.Levels {
		of := c.runs[k]
		from := len(c.order)
		c.order = append(c.order, c.order[of.base:of.base+of.count]...)
		slices.SortStableFunc(c.order[from:], func(a, b int32) int { return cmp.Compare(depth(c.Centres[b]), depth(c.Centres[a])) })
		c.runs[base+k] = run{int32(from), of.count}
	}
}

// All sets run k to the characters that the frustum contains.
func (c *Crowd) All(k int, seen *math32.Frustum) {
	c.choose(seen, func(m3.Vec3) int8 { return 0 })
	c.add(k, 0)
}

// choose sets the level of each character.
func (c *Crowd) choose(seen *math32.Frustum, level func(p m3.Vec3) int8) {
	c.level = c.level[:0]
	ball := math32.Sphere{Radius: c.Body.Size}
	for i, p := range c.Centres {
		ball.Center = math32.Vector3{X: p.X, Y: p.Y, Z: p.Z}
		if i < len(c.Hidden) && c.Hidden[i] || !p.Finite() || !seen.IntersectsSphere(&ball) {
			c.level = append(c.level, -1)
			continue
		}
		c.level = append(c.level, level(p))
	}
}

// add appends the characters of a level to order, as run k.
func (c *Crowd) add(k int, level int8) {
	base := len(c.order)
	for i, l := range c.level {
		if l == level {
			c.order = append(c.order, int32(i))
		}
	}
	c.runs[k] = run{int32(base), int32(len(c.order) - base)}
}

// Count returns the number of characters of run k.
func (c *Crowd) Count(k int) int { return int(c.runs[k].count) }

// Upload sends the poses, if they are new, and the runs to the GPU. It makes other texture units
// active.
func (c *Crowd) Upload(gs *gls.GLS) {
	if c.boneTex == 0 {
		c.boneTex = gpu.NewTexture(gs, c.units.Bones, gl.NEAREST)
		c.orderTex = gpu.NewTexture(gs, c.units.Order, gl.NEAREST)
		c.lines, c.changed, c.recoat = 0, true, true
	}
	if len(c.Centres) == 0 {
		return
	}
	if w, h := c.per*c.texels(), (c.Len()+c.per-1)/c.per; c.changed {
		gs.ActiveTexture(gls.TEXTURE0 + c.units.Bones)
		gl.BindTexture(gl.TEXTURE_2D, c.boneTex)
		if h > c.lines {
			c.lines = min(h+h/2, height)
			gl.TexImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, int32(w), int32(c.lines), gl.RGBA, gl.FLOAT, nil)
			c.recoat = true
		}
		if c.from == 0 || c.recoat {
			gl.TexSubImage2D(gl.TEXTURE_2D, 0, 0, 0, int32(w), int32(h), gl.RGBA, gl.FLOAT, gl.Bytes(c.bones))
		}
		if c.from != 0 {
			c.copyMatrices()
		}
		c.changed, c.recoat = false, false
	}
	h := max((len(c.order)+width-1)/width, 1)
	for len(c.order) < h*width {
		c.order = append(c.order, 0)
	}
	gs.ActiveTexture(gls.TEXTURE0 + c.units.Order)
	gl.BindTexture(gl.TEXTURE_2D, c.orderTex)
	gl.TexImage2D(gl.TEXTURE_2D, 0, gl.R32I, width, int32(h), gl.RED_INTEGER, gl.INT, gl.Bytes(c.order))
}

// Dispose frees the textures. The next Upload makes them again.
func (c *Crowd) Dispose() {
	if c.boneTex != 0 {
		gl.DeleteTexture(c.boneTex)
		gl.DeleteTexture(c.orderTex)
		c.boneTex, c.orderTex = 0, 0
	}
}
