package gpu

import (
	"github.com/g3n/engine/gls"

	"mannequin/engine/internal/gl"
)

// Uniform returns the uniform of that name.
func Uniform(name string) (u gls.Uniform) {
	u.Init(name)
	return u
}

// BindTexture binds tex to a texture unit and sets the sampler u to it.
func BindTexture(gs *gls.GLS, unit uint32, tex uint32, u *gls.Uniform) {
	gs.ActiveTexture(gls.TEXTURE0 + unit)
	gl.BindTexture(gl.TEXTURE_2D, tex)
	gs.Uniform1i(u.Location(gs), int32(unit))
}

// NewTexture makes a texture with the given filter (gl.NEAREST or gl.LINEAR)
// and without mipmaps, bound to unit.
func NewTexture(gs *gls.GLS, unit uint32, filter int32) uint32 {
	t := gl.GenTexture()
	gs.ActiveTexture(gls.TEXTURE0 + unit)
	gl.BindTexture(gl.TEXTURE_2D, t)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAX_LEVEL, 0)
	return t
}
