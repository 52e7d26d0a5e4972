package stage

import (
	"embed"
	"fmt"
	"strings"

	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/material"
	"github.com/g3n/engine/math32"
	"github.com/g3n/engine/renderer"

	"mannequin/engine/internal/gl"
	"mannequin/engine/internal/gpu"
	"mannequin/engine/internal/instanced"
	"mannequin/engine/m3"
)

//go:embed shaders
var shaderFiles embed.FS

// addShaders adds our programs to r: each name.vert has a name.frag, and a name.glsl is included.
func addShaders(r *renderer.Renderer) error {
	for name, text := range instanced.Chunks() {
		r.AddChunk(name, text)
	}
	files, err := shaderFiles.ReadDir("shaders")
	if err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	for _, f := range files {
		b, err := shaderFiles.ReadFile("shaders/" + f.Name())
		if err != nil {
			return fmt.Errorf("stage: %w", err)
		}
		name, kind, _ := strings.Cut(f.Name(), ".")
		switch kind {
		case "glsl":
			r.AddChunk(name, string(b))
		case "vert":
			r.AddShader(f.Name(), gl.Precision+string(b))
			r.AddProgram(name, f.Name(), name+".frag")
		case "frag":
			r.AddShader(f.Name(), gl.Precision+string(b))
		}
	}
	return nil
}

// lighting is the input of light.glsl, for each program that includes it.
type lighting struct {
	eye, sun  m3.Vec3
	fog       float32 // m
	shadow    math32.Matrix4
	shadowMap uint32 // texture
	grain     uint32 // texture
}

// shade is a g3n material for one of our programs, whose uniforms are here.
type shade struct {
	material.Material
	lighting         *lighting // nil for programs without light
	uEye, uSun, uFog gls.Uniform
	uShadow, uMap    gls.Uniform
	uGrain           gls.Uniform
	setup            func(gs *gls.GLS) // sets the program's own uniforms; may be nil
}

// Texture units: the shadow map and the grain have their own in every program.
const (
	unitPicture = 0
	unitBones   = 1
	unitOrder   = 2
	unitShadow  = 3
	unitGrain   = 4

	unitMaterial = 5 // and the next ones
)

func newShade(program string, a *lighting, setup func(gs *gls.GLS)) *shade {
	s := &shade{lighting: a, setup: setup, uEye: gpu.Uniform("Eye"), uSun: gpu.Uniform("SunDir"), uFog: gpu.Uniform("Fog"),
		uShadow: gpu.Uniform("ShadowMatrix"), uMap: gpu.Uniform("ShadowMap"), uGrain: gpu.Uniform("Grain")}
	s.Material.Init()
	s.SetShader(program)
	s.SetShaderUnique(true)
	s.SetUseLights(material.UseLightNone)
	s.SetBlending(material.BlendNone)
	return s
}

// RenderSetup is called by the renderer with the program in use.
func (s *shade) RenderSetup(gs *gls.GLS) {
	s.Material.RenderSetup(gs)
	if a := s.lighting; a != nil {
		gs.Uniform3f(s.uEye.Location(gs), a.eye.X, a.eye.Y, a.eye.Z)
		gs.Uniform3f(s.uSun.Location(gs), a.sun.X, a.sun.Y, a.sun.Z)
		gs.Uniform1f(s.uFog.Location(gs), a.fog)
		gs.UniformMatrix4fv(s.uShadow.Location(gs), 1, false, &a.shadow[0])
		gpu.BindTexture(gs, unitShadow, a.shadowMap, &s.uMap)
		gpu.BindTexture(gs, unitGrain, a.grain, &s.uGrain)
	}
	if s.setup != nil {
		s.setup(gs)
	}
}

func glError(what string) error {
	code := gl.GetError()
	if code == gl.NO_ERROR {
		return nil
	}
	for range 16 { // later errors follow from the first
		if gl.GetError() == gl.NO_ERROR {
			break
		}
	}
	if displayGone() {
		return errGone
	}
	return fmt.Errorf("stage: OpenGL error 0x%04x while it %s", code, what)
}
