package stage

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/g3n/engine/math32"

	"mannequin/engine/body"
	"mannequin/engine/internal/instanced"
	"mannequin/engine/m3"
)

// Crowd draws any number of characters that share one body with a few draw calls. Distant
// characters use coarser meshes.
type Crowd struct {
	s      *Stage
	all    *instanced.Crowd // one run per level, then the shadow's, then, for materials that blend, one per level again
	blends bool             // a material does
	places []m3.Vec3        // of SetFrom
}

// NewCrowd adds an empty crowd with body b to the stage. What a material of alpha mode BLEND has solid is drawn with all
// that is opaque, and the rest after that, from the farthest character to the nearest. Crowds that blend are drawn one
// after the other.
func (s *Stage) NewCrowd(b *body.Body) (*Crowd, error) {
	runs, blends := len(b.Levels)+1, slices.ContainsFunc(b.Materials, func(m body.Material) bool { return m.Blend })
	soft := runs
	if blends {
		runs += len(b.Levels)
	}
	all, err := instanced.New(b, runs, instanced.Units{Bones: unitBones, Order: unitOrder})
	if err != nil {
		return nil, fmt.Errorf("stage: %w", err)
	}
	all.KeepPrints = true
	c := &Crowd{s: s, all: all, blends: blends}
	for k := range b.Levels {
		m := &b.Levels[k]
		for part := range max(len(m.Parts), 1) {
			var mat *body.Material
			if len(m.Parts) > 0 {
				mat = &b.Materials[m.Parts[part].Material]
			}
			s.scene.Add(instanced.NewGraphic(all, k, m, part, instanced.Full, s.coat(b.Cover, mat, false)))
			if mat != nil && mat.Blend {
				g := instanced.NewGraphic(all, soft+k, m, part, instanced.Full, s.coat(b.Cover, mat, true))
				g.SetRenderOrder(-k) // coarse levels are farther away than fine ones
				s.scene.Add(g)
			}
		}
	}
	casting := &b.Levels[min(1, len(b.Levels)-1)]
	for part := range max(len(casting.Parts), 1) {
		shade := newShade("shadow", nil, nil)
		// Depths are pushed away from the light by slope, so that a surface does not shade itself.
		shade.SetPolygonOffset(1.5, 2)
		s.shadows.Add(instanced.NewGraphic(all, len(b.Levels), casting, part, instanced.Bare, shade))
	}
	s.crowds = append(s.crowds, c)
	return c, glError("made a crowd")
}

// coat returns the material of a part of a body, which may have none of its own. soft is the second pass of one that blends.
func (s *Stage) coat(cover body.Cover, of *body.Material, soft bool) *shade {
	shade := newShade("crowd", &s.lighting, nil)
	shade.SetShaderUnique(false)
	shade.ShaderDefines.Set("COVER", strconv.Itoa(int(cover)))
	if of != nil {
		t := instanced.NewTextures(of, unitMaterial, &shade.Material)
		if of.Blend {
			t.Blend(soft, &shade.Material)
		}
		shade.setup = t.Bind
	}
	return shade
}

// Set poses the crowd. bones holds each joint's world transform, (characters, joints). tint is one
// linear RGB colour of coat or shirt per character, or nil for a default. The slices are not kept.
func (c *Crowd) Set(bones []m3.Xform, tint [][3]float32) error {
	if err := c.all.Set(bones, tint); err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	return nil
}

// SetFrom poses the crowd by matrices that are on the graphics card already, so that no pose passes through the processor. matrices is the
// name of a buffer of the stage's OpenGL with (characters, joints, 12) float32s: the rows of the 3×4 matrix that takes each joint's vertices
// from the bind pose to the world, as mannequin/animsys/resident.Crowd.Matrices has them with Stage.Compute. hips are joint 0 of each
// character, turned to where it faces; one whose place is not finite is not drawn. tint is as in Set, but not nil.
func (c *Crowd) SetFrom(matrices uint32, hips []m3.Xform, tint [][3]float32) error {
	if matrices == 0 {
		return errors.New("stage: SetFrom of no buffer: are the characters still on the GPU?")
	}
	c.places = c.places[:0]
	for i := range hips {
		c.places = append(c.places, hips[i].Pos)
	}
	if err := c.all.SetFrom(matrices, c.places, tint); err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	c.all.Stand(hips)
	return nil
}

// plan sorts the characters into levels by distance from the eye, leaves out those outside both
// views, and uploads poses and order.
func (c *Crowd) plan(eye m3.Vec3, seen, shaded *math32.Frustum) {
	c.all.Begin()
	c.all.Levels(seen, func(p m3.Vec3) float32 { return p.Dist(eye) })
	levels := len(c.all.Body.Levels)
	c.all.All(levels, shaded)
	if c.blends {
		c.all.Far(levels+1, func(p m3.Vec3) float32 { return p.Dist(eye) })
	}
	c.all.Upload(c.s.gs)
}
