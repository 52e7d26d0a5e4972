package stage

import (
	"fmt"
	"strconv"

	"github.com/g3n/engine/math32"

	"mannequin/engine/body"
	"mannequin/engine/internal/instanced"
	"mannequin/engine/m3"
)

// Crowd draws any number of characters that share one body with a few draw calls. Distant
// characters use coarser meshes.
type Crowd struct {
	s   *Stage
	all *instanced.Crowd // one run per level, then the shadow's
}

// NewCrowd adds an empty crowd with body b to the stage.
func (s *Stage) NewCrowd(b *body.Body) (*Crowd, error) {
	all, err := instanced.New(b, len(b.Levels)+1, instanced.Units{Bones: unitBones, Order: unitOrder})
	if err != nil {
		return nil, fmt.Errorf("stage: %w", err)
	}
	all.KeepPrints = true
	c := &Crowd{s: s, all: all}
	for k := range b.Levels {
		for part := range max(len(b.Levels[k].Parts), 1) {
			shade := newShade("crowd", &s.lighting, nil)
			shade.SetShaderUnique(false)
			shade.ShaderDefines.Set("COVER", strconv.Itoa(int(b.Cover)))
			if parts := b.Levels[k].Parts; len(parts) > 0 {
				shade.setup = instanced.NewTextures(&b.Materials[parts[part].Material], unitMaterial, &shade.Material).Bind
			}
			s.scene.Add(instanced.NewGraphic(all, k, &b.Levels[k], part, instanced.Full, shade))
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

// Set poses the crowd. bones holds each joint's world transform, (characters, joints). tint is one
// linear RGB colour of coat or shirt per character, or nil for a default. The slices are not kept.
func (c *Crowd) Set(bones []m3.Xform, tint [][3]float32) error {
	if err := c.all.Set(bones, tint); err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	return nil
}

// plan sorts the characters into levels by distance from the eye, leaves out those outside both
// views, and uploads poses and order.
func (c *Crowd) plan(eye m3.Vec3, seen, shaded *math32.Frustum) {
	c.all.Begin()
	c.all.Levels(seen, func(p m3.Vec3) float32 { return p.Dist(eye) })
	c.all.All(len(c.all.Body.Levels), shaded)
	c.all.Upload(c.s.gs)
}
