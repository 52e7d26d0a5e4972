package instanced

import (
	"image"
	"image/draw"
	"strconv"

	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/material"

	"mannequin/engine/body"
	"mannequin/engine/internal/gl"
	"mannequin/engine/internal/gpu"
)

// TextureUnits is the number of units that Textures use.
const TextureUnits = 4

// Textures are the uniforms and textures of a body's material, for material.glsl.
type Textures struct {
	of       *body.Material
	cutoff   float32
	unit     uint32 // the first one
	pictures [TextureUnits]picture

	uBase, uEmissive, uRough gls.Uniform
}

// picture is a texture of a material, which is uploaded with its first use.
type picture struct {
	image   image.Image
	sRGB    bool
	id      uint32
	sampler gls.Uniform
}

// NewTextures returns the textures of a material of a body, and sets the shader defines and the side
// of the g3n material that it is drawn with.
func NewTextures(of *body.Material, unit uint32, with *material.Material) *Textures {
	t := &Textures{of: of, cutoff: of.Cutoff, unit: unit, uBase: gpu.Uniform("BaseColor"), uEmissive: gpu.Uniform("Emissive"), uRough: gpu.Uniform("Roughness")}
	t.pictures = [TextureUnits]picture{
		{image: of.BaseTexture, sRGB: true, sampler: gpu.Uniform("BaseMap")}, {image: of.MetalRough, sampler: gpu.Uniform("RoughMap")},
		{image: of.NormalMap, sampler: gpu.Uniform("NormalMap")}, {image: of.Emission, sRGB: true, sampler: gpu.Uniform("EmissiveMap")}}
	for k, name := range [TextureUnits]string{"BASE_MAP", "ROUGH_MAP", "NORMAL_MAP", "EMISSIVE_MAP"} {
		if t.pictures[k].image != nil {
			with.ShaderDefines.Set(name, "1")
		}
	}
	with.ShaderDefines.Set("MATERIAL", "1")
	with.ShaderDefines.Set("COVER", strconv.Itoa(int(body.Paint))) // no hair, no clothes
	if of.DoubleSided {
		with.SetSide(material.SideDouble)
	}
	return t
}

// solid is the opacity from which on what blends hides what lies behind.
const solid = 254.5 / 255

// Blend makes the textures those of one of two passes of a material that blends: without soft of what is
// solid, and of the rest with it, which is to be drawn after all that is solid, from back to front.
func (t *Textures) Blend(soft bool, with *material.Material) {
	t.cutoff = solid
	if soft {
		with.ShaderDefines.Set("SOFT", "1")
		with.SetTransparent(true)
		with.SetBlending(material.BlendNormal)
		with.SetDepthMask(false)
	}
}

// Bind sets the uniforms and binds the textures, with the program in use.
func (t *Textures) Bind(gs *gls.GLS) {
	m := t.of
	gs.Uniform4f(t.uBase.Location(gs), m.BaseColor[0], m.BaseColor[1], m.BaseColor[2], m.BaseColor[3])
	gs.Uniform4f(t.uEmissive.Location(gs), m.Emissive[0], m.Emissive[1], m.Emissive[2], t.cutoff)
	gs.Uniform3f(t.uRough.Location(gs), m.Metallic, m.Roughness, m.NormalScale)
	for k := range t.pictures {
		p, unit := &t.pictures[k], t.unit+uint32(k)
		if p.image == nil {
			continue
		}
		if p.id == 0 {
			p.upload(gs, unit, m)
		}
		gpu.BindTexture(gs, unit, p.id, &p.sampler)
	}
}

// upload makes the texture, with mipmaps.
func (p *picture) upload(gs *gls.GLS, unit uint32, m *body.Material) {
	p.id = gpu.NewTexture(gs, unit, gl.LINEAR)
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
	if p.sRGB {
		format = gl.SRGB8_ALPHA8
	}
	pixels, ok := p.image.(*image.NRGBA)
	w, h := p.image.Bounds().Dx(), p.image.Bounds().Dy()
	if !ok || pixels.Stride != 4*w {
		pixels = image.NewNRGBA(image.Rect(0, 0, w, h))
		draw.Draw(pixels, pixels.Rect, p.image, p.image.Bounds().Min, draw.Src)
	}
	gl.TexImage2D(gl.TEXTURE_2D, 0, format, int32(w), int32(h), gl.RGBA, gl.UNSIGNED_BYTE, pixels.Pix[:4*w*h])
	gl.GenerateMipmap(gl.TEXTURE_2D)
}

// Dispose frees the textures. The next Bind makes them again.
func (t *Textures) Dispose() {
	for k := range t.pictures {
		if p := &t.pictures[k]; p.id != 0 {
			gl.DeleteTexture(p.id)
			p.id = 0
		}
	}
}
