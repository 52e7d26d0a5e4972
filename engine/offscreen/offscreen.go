// Package offscreen gives g3n scenes a picture without a window: on servers, and in tests.
package offscreen

import (
	"errors"
	"fmt"
	"image"
	"runtime"

	"github.com/g3n/engine/camera"
	"github.com/g3n/engine/core"
	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/renderer"

	"mannequin/engine/internal/egl"
	"mannequin/engine/internal/gl"
	"mannequin/engine/internal/gpu"
)

// Screen is a picture in memory that a g3n renderer draws into. It belongs to the goroutine that
// opened it, which stays on its thread. There may be one at a time.
type Screen struct {
	GLS    *gls.GLS
	target *gpu.Target
}

// Open returns a screen of w × h pixels with that many samples per pixel for smooth edges; 1 is
// none. On Linux it needs EGL, which draws in software where there is no graphics card.
func Open(w, h, samples int) (*Screen, error) {
	if w < 1 || h < 1 || w > 8192 || h > 8192 {
		return nil, fmt.Errorf("offscreen: picture of %d×%d pixels: want 1 to 8192 each way", w, h)
	}
	runtime.LockOSThread()
	gs, err := egl.Open()
	if err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("offscreen: %w", err)
	}
	s := &Screen{GLS: gs}
	if s.target, err = gpu.NewTarget(w, h, samples); err != nil {
		s.Close()
		return nil, fmt.Errorf("offscreen: %w", err)
	}
	return s, nil
}

// Renderer returns a renderer with the shaders that g3n knows, as app.App has it.
func (s *Screen) Renderer() (*renderer.Renderer, error) {
	r := renderer.NewRenderer(s.GLS)
	if err := r.AddDefaultShaders(); err != nil {
		return nil, fmt.Errorf("offscreen: %w", err)
	}
	return r, nil
}

// Draw clears the picture to GLS's clear colour, renders the scene, and returns the picture. It
// reuses dst if the size fits; dst may be nil.
func (s *Screen) Draw(r *renderer.Renderer, scene core.INode, cam camera.ICamera, dst *image.RGBA) (*image.RGBA, error) {
	if s.target == nil {
		return nil, errors.New("offscreen: drawing on a closed screen")
	}
	s.target.Begin(s.GLS)
	if err := r.Render(scene, cam); err != nil {
		return nil, fmt.Errorf("offscreen: %w", err)
	}
	s.target.Resolve()
	dst = s.target.Read(dst)
	if code := gl.GetError(); code != gl.NO_ERROR {
		return nil, fmt.Errorf("offscreen: OpenGL error 0x%04x", code)
	}
	return dst, nil
}

// Close ends the picture and its context. Closing twice is allowed.
func (s *Screen) Close() {
	if s.GLS == nil {
		return
	}
	if s.target != nil {
		s.target.Dispose()
		s.target = nil
	}
	egl.Close()
	s.GLS = nil
	runtime.UnlockOSThread()
}
