package g3n

import (
	"github.com/g3n/engine/core"
	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/material"

	"mannequin/engine/internal/gpu"
	"mannequin/engine/internal/instanced"
	"mannequin/engine/m3"
)

// shadow draws soft ovals on the ground below agents: g3n has no shadows.
type shadow struct {
	*graphic.Mesh
	geometry *gpu.Geometry
	height   func(x, z float32) float32
	dark     float32
	patches  instanced.Patches
	crowd    *Crowd

	uFog, uRange, uProject gls.Uniform
}

// SetShadow darkens the ground below agents by soft ovals, from the next Update on. height returns
// the ground's height in the crowd's space, m; nil removes the shadows. dark is the darkness in the
// middle, 0 to 1.
func (c *Crowd) SetShadow(height func(x, z float32) float32, dark float32) {
	if c.all == nil {
		return
	}
	c.all.KeepPrints = height != nil
	if height == nil {
		if c.shadow != nil {
			c.Node.Remove(c.shadow)
			c.shadow.geometry.Dispose()
			c.shadow = nil
		}
		return
	}
	if c.shadow == nil {
		s := &shadow{crowd: c, geometry: gpu.NewGeometry(nil, nil, 3, 3),
			uFog: gpu.Uniform("FogColor"), uRange: gpu.Uniform("FogRange"), uProject: gpu.Uniform("Project")}
		m := &material.Material{}
		m.Init()
		m.SetShader("mannequin_patch")
		m.SetUseLights(material.UseLightNone)
		m.SetBlending(material.BlendNormal)
		m.SetTransparent(true)
		m.SetDepthMask(false)
		m.SetSide(material.SideDouble)
		s.Mesh = gpu.NewMesh(s.geometry, nil, 0)
		s.Mesh.Graphic.AddMaterial(s, m, 0, 0)
		s.SetRenderOrder(groundOrder)
		s.SetIGraphic(s)
		s.SetVisible(false)
		c.shadow = s
		c.Node.Add(s)
	}
	c.shadow.height, c.shadow.dark = height, m3.Clamp(dark, 0, 1)
}

// groundOrder is the render order of what lies on the ground: before all else that is transparent.
const groundOrder = -100

// update lays the patches.
func (s *shadow) update(c *Crowd) {
	s.patches.Clear()
	for i := range c.all.Prints {
		if !c.hidden[i] && c.all.Centres[i].Finite() {
			s.patches.Add(&c.all.Prints[i], s.height, s.dark)
		}
	}
	s.SetVisible(len(s.patches.Index) > 0)
	if len(s.patches.Index) > 0 {
		s.geometry.Set(s.patches.Vertices, s.patches.Index)
	}
}

// RenderSetup is called by the renderer before it draws.
func (s *shadow) RenderSetup(gs *gls.GLS, info *core.RenderInfo) {
	s.Mesh.RenderSetup(gs, info)
	setFog(gs, &s.crowd.fog, &s.uFog, &s.uRange)
	gs.UniformMatrix4fv(s.uProject.Location(gs), 1, false, &info.ProjMatrix[0])
}
