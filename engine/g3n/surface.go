package g3n

import (
	"embed"
	"fmt"
	"strconv"

	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/material"
	"github.com/g3n/engine/renderer/shaders"

	"mannequin/engine/body"
	"mannequin/engine/internal/gl"
	"mannequin/engine/internal/gpu"
	"mannequin/engine/internal/instanced"
)

//go:embed shaders
var files embed.FS

// g3n collects shaders in tables that renderers copy when they are made: ours must be in them before
// the game makes its renderer.
func init() {
	for name, text := range instanced.Chunks() {
		shaders.AddInclude(name, text)
	}
	read := func(file string) string {
		b, err := files.ReadFile("shaders/" + file)
		if err != nil {
			panic(err) // it is embedded
		}
		return string(b)
	}
	shaders.AddInclude("mannequin_lighting", read("mannequin_lighting.glsl"))
	for _, file := range []string{"crowd.vert", "crowd.frag", "material.frag", "patch.vert", "patch.frag"} {
		shaders.AddShader("mannequin_"+file, gl.Precision+read(file))
	}
	shaders.AddProgram("mannequin_crowd", "mannequin_crowd.vert", "mannequin_crowd.frag")
	shaders.AddProgram("mannequin_material", "mannequin_crowd.vert", "mannequin_material.frag")
	shaders.AddProgram("mannequin_patch", "mannequin_patch.vert", "mannequin_patch.frag")
}

// Texture units. g3n's own materials use the first ones.
const (
	unitBase  = 8
	unitBones = unitBase + instanced.TextureUnits
	unitOrder = unitBones + 1
	unitEnd   = unitOrder + 1
)

// state is OpenGL state that drawing changes and others may rely on.
type state struct {
	active   uint32
	textures [unitEnd - unitBase]uint32
}

func (s *state) save(gs *gls.GLS) {
	s.active = uint32(gl.GetInteger(gl.ACTIVE_TEXTURE))
	for k := range s.textures {
		gs.ActiveTexture(uint32(gl.TEXTURE0 + unitBase + k))
		s.textures[k] = gl.Binding(gl.TEXTURE_BINDING_2D)
	}
}

func (s *state) restore(gs *gls.GLS) {
	for k, t := range s.textures {
		gs.ActiveTexture(uint32(gl.TEXTURE0 + unitBase + k))
		gl.BindTexture(gl.TEXTURE_2D, t)
	}
	gs.ActiveTexture(s.active)
}

// readyFor is the last context that OpenGL's functions were looked up for.
var readyFor *gls.GLS

// ready looks up OpenGL's functions.
func ready(gs *gls.GLS) {
	if readyFor == gs {
		return
	}
	if err := gl.Load(); err != nil {
		panic(fmt.Sprintf("g3n: %v", err)) // on a desktop the renderer needs all that we need
	}
	readyFor = gs
}

// surface is the material of a part of a body.
type surface struct {
	material.Material
	own          *instanced.Textures // nil: the coat alone
	uFog, uRange gls.Uniform
}

// newSurface returns the material of a part, which may be nil. soft is the second pass of one that blends.
func newSurface(cover body.Cover, of *body.Material, soft bool) *surface {
	s := &surface{uFog: gpu.Uniform("FogColor"), uRange: gpu.Uniform("FogRange")}
	s.Material.Init()
	s.SetShader("mannequin_crowd")
	s.SetBlending(material.BlendNone)
	s.ShaderDefines.Set("COVER", strconv.Itoa(int(cover)))
	if of != nil {
		s.SetShader("mannequin_material")
		s.own = instanced.NewTextures(of, unitBase, &s.Material)
		if of.Blend {
			s.own.Blend(soft, &s.Material)
		}
	}
	return s
}

// RenderSetup is called by the renderer before all else.
func (s *surface) RenderSetup(gs *gls.GLS) {
	ready(gs)
	s.Material.RenderSetup(gs)
}

// begin sets the uniforms, with the program in use.
func (s *surface) begin(gs *gls.GLS, fog *Fog) {
	setFog(gs, fog, &s.uFog, &s.uRange)
	if s.own != nil {
		s.own.Bind(gs)
	}
}

func setFog(gs *gls.GLS, f *Fog, colour, between *gls.Uniform) {
	gs.Uniform4f(colour.Location(gs), f.Color.R, f.Color.G, f.Color.B, f.Density)
	gs.Uniform2f(between.Location(gs), f.Near, f.Far)
}

func (s *surface) free() {
	if s.own != nil {
		s.own.Dispose()
	}
}
