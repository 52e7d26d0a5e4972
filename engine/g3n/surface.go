package g3n

import (
	"embed"
	"fmt"
	"image"
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
	unitBase = 8 + iota
	unitRough
	unitNormal
	unitEmissive
	unitBones
	unitOrder
	unitEnd
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
	of       *body.Material // nil: the coat alone
	textures [unitBones - unitBase]picture

	uFog, uRange, uBase, uEmissive, uRough gls.Uniform
}

// picture is a texture of a material, which is uploaded with its first use.
type picture struct {
	image   *image.NRGBA
	sRGB    bool
	id      uint32
	sampler gls.Uniform
}

func newSurface(cover body.Cover, of *body.Material) *surface {
	s := &surface{of: of, uFog: gpu.Uniform("FogColor"), uRange: gpu.Uniform("FogRange"),
		uBase: gpu.Uniform("BaseColor"), uEmissive: gpu.Uniform("Emissive"), uRough: gpu.Uniform("Roughness")}
	s.Material.Init()
	s.SetShader("mannequin_crowd")
	s.SetBlending(material.BlendNone)
	s.ShaderDefines.Set("COVER", strconv.Itoa(int(cover)))
	if of == nil {
		return s
	}
	s.SetShader("mannequin_material")
	s.ShaderDefines.Set("COVER", strconv.Itoa(int(body.Paint))) // no hair, no clothes
	if of.DoubleSided {
		s.SetSide(material.SideDouble)
	}
	for k, t := range []picture{{image: of.BaseTexture, sRGB: true, sampler: gpu.Uniform("BaseMap")}, {image: of.MetalRough, sampler: gpu.Uniform("RoughMap")},
		{image: of.NormalMap, sampler: gpu.Uniform("NormalMap")}, {image: of.Emission, sRGB: true, sampler: gpu.Uniform("EmissiveMap")}} {
		if s.textures[k] = t; t.image != nil {
			s.ShaderDefines.Set([]string{"BASE_MAP", "ROUGH_MAP", "NORMAL_MAP", "EMISSIVE_MAP"}[k], "1")
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
	m := s.of
	if m == nil {
		return
	}
	gs.Uniform4f(s.uBase.Location(gs), m.BaseColor[0], m.BaseColor[1], m.BaseColor[2], m.BaseColor[3])
	gs.Uniform4f(s.uEmissive.Location(gs), m.Emissive[0], m.Emissive[1], m.Emissive[2], m.Cutoff)
	gs.Uniform3f(s.uRough.Location(gs), m.Metallic, m.Roughness, m.NormalScale)
	for k := range s.textures {
		t := &s.textures[k]
		if t.image == nil {
			continue
		}
		if t.id == 0 {
			t.upload(gs, uint32(unitBase+k), m)
		}
		gpu.BindTexture(gs, uint32(unitBase+k), t.id, &t.sampler)
	}
}

func setFog(gs *gls.GLS, f *Fog, colour, between *gls.Uniform) {
	gs.Uniform4f(colour.Location(gs), f.Color.R, f.Color.G, f.Color.B, f.Density)
	gs.Uniform2f(between.Location(gs), f.Near, f.Far)
}

// upload makes the texture, with mipmaps.
func (t *picture) upload(gs *gls.GLS, unit uint32, m *body.Material) {
	t.id = gpu.NewTexture(gs, unit, gl.LINEAR)
	wrap := func(k int) int32 {
		switch {
		case m.Clamped[k]:
			return gl.CLAMP_TO_EDGE
		case m.Mirrored[k]:
			return gl.MIRRORED_REPEAT
		}
		return gl.REPEAT
	}
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, wrap(0))
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, wrap(1))
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAX_LEVEL, 16)
	format := int32(gl.RGBA8)
	if t.sRGB {
		format = gl.SRGB8_ALPHA8
	}
	w, h := t.image.Rect.Dx(), t.image.Rect.Dy()
	pix := t.image.Pix
	if t.image.Stride != 4*w {
		pix = nil
		for y := range h {
			pix = append(pix, t.image.Pix[y*t.image.Stride:][:4*w]...)
		}
	}
	gl.TexImage2D(gl.TEXTURE_2D, 0, format, int32(w), int32(h), gl.RGBA, gl.UNSIGNED_BYTE, pix)
	gl.GenerateMipmap(gl.TEXTURE_2D)
}

func (s *surface) free() {
	for k := range s.textures {
		if t := &s.textures[k]; t.id != 0 {
			gl.DeleteTexture(t.id)
			t.id = 0
		}
	}
}
