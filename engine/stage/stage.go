// Package stage draws a crowd on a terrain with g3n, in a window or offscreen: instanced, skinned,
// with sky, sun, shadows, text. It is the only package that touches a window or OpenGL.
//
// A Stage belongs to the goroutine that opened it. That goroutine must stay on its thread.
package stage

import (
	"errors"
	"fmt"
	"image"
	"runtime"
	"slices"
	"strings"

	"github.com/g3n/engine/core"
	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/material"
	"github.com/g3n/engine/math32"
	"github.com/g3n/engine/renderer"

	"mannequin/engine/hud"
	"mannequin/engine/internal/egl"
	"mannequin/engine/internal/gl"
	"mannequin/engine/internal/gpu"
	"mannequin/engine/m3"
)

// Options are the settings of a stage.
type Options struct {
	Title         string
	Width, Height int    // pixels, 16 to 8192
	Offscreen     bool   // no window, by EGL
	Samples       int    // per pixel for smooth edges, 1 is none; 0 is 4, or 1 in a window drawn in software
	Gamepads      string // additional mappings, from GamepadMappings
}

// Stage is an open picture. Its zero value is not usable; see Open.
type Stage struct {
	Camera *Camera

	gs      *gls.GLS
	win     *windowState // nil offscreen
	render  *renderer.Renderer
	scene   *core.Node // drawn by the camera
	shadows *core.Node // drawn into the shadow map
	over    *core.Node // drawn over the picture

	target   *gpu.Target
	shadowFB uint32
	lighting lighting
	eye, sun lens
	skyMat   math32.Matrix4
	skyUni   gls.Uniform

	crowds    []*Crowd
	ground    *ground
	contacts  *contacts
	path      *gpu.Geometry
	pathMesh  *graphic.Mesh
	pathV     []float32
	pathI     []uint32
	blocks    *blocks
	lines     *strokes
	hud, help *panel
	controls  *panel
	widgets   widgets // shown by controls
	view      *panel
	choices   choices // shown by view
	graphs    *graphs
	caption   caption
	drawn     bool // at least one picture was drawn
}

// View is what to draw besides the crowds, which hold their own poses.
type View struct {
	Focus  m3.Vec3     // centre of shadows and ground, world, m
	Blocks []hud.Block // walls, floors and ramps
	Path   []m3.Vec3   // a dashed line on the ground, world, m; may be empty
	Lines  []hud.Line  // drawn over everything, dimmed where hidden; at most 32768
	HUD    []string    // text at the top left
	Help   []string    // text at the bottom left
	Panel  *hud.Panel  // sliders and buttons at the top right, for the mouse; nil is none

	Graphs  []hud.Graph // at the left between the texts, as many as fit
	Caption string      // large, at the bottom

	// Has are the overlays on offer and Show those that are drawn: a second panel has a button for
	// each. Without Has there is no such panel, but the keys still work.
	Has, Show hud.Overlay
}

// Open opens a window, or with Offscreen a picture in memory.
func Open(opt Options) (*Stage, error) {
	if opt.Width < 16 || opt.Height < 16 || opt.Width > 8192 || opt.Height > 8192 {
		return nil, fmt.Errorf("stage: picture of %d×%d pixels: want 16 to 8192 each way", opt.Width, opt.Height)
	}
	s := &Stage{Camera: newCamera()}
	runtime.LockOSThread()
	open := s.openWindow
	if opt.Offscreen {
		open = s.openOffscreen
	}
	err := open(opt)
	if err == nil {
		err = s.build(opt)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Stage) openOffscreen(Options) (err error) {
	if s.gs, err = egl.Open(); err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	return nil
}

func (s *Stage) build(opt Options) error {
	// g3n would end the program on an OpenGL error; we return it.
	s.gs.SetCheckErrors(false)
	s.render = renderer.NewRenderer(s.gs)
	if err := addShaders(s.render); err != nil {
		return err
	}
	if opt.Samples == 0 {
		opt.Samples = 4
		if !opt.Offscreen && s.software() {
			opt.Samples = 1
		}
	}
	var err error
	if s.target, err = gpu.NewTarget(opt.Width, opt.Height, opt.Samples); err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	if s.shadowFB, s.lighting.shadowMap, err = newShadow(s.gs); err != nil {
		return err
	}
	s.lighting.sun = m3.V(0.55, 0.68, -0.45).Normalize(m3.Up)
	s.lighting.fog = 105
	s.lighting.grain = newGrain(s.gs, !s.software())
	s.scene, s.shadows, s.over = core.NewNode(), core.NewNode(), core.NewNode()

	s.ground = newGround()
	s.scene.Add(gpu.NewMesh(s.ground.geom, newShade("ground", &s.lighting, nil), 2))
	s.blocks = newBlocks(s)
	s.contacts = newContacts(&s.lighting)
	s.scene.Add(s.contacts.graphic)
	v, i := newQuad()
	s.skyUni = gpu.Uniform("Unproject")
	sky := newShade("sky", &s.lighting, func(gs *gls.GLS) {
		gs.UniformMatrix4fv(s.skyUni.Location(gs), 1, false, &s.skyMat[0])
	})
	sky.SetDepthMask(false)
	s.scene.Add(gpu.NewMesh(gpu.NewGeometry(v, i, 3), sky, -1)) // opaque meshes are drawn from high order to low
	s.path = gpu.NewGeometry(nil, nil, 3, 2)                    // position, coordinate
	line := newShade("line", &s.lighting, nil)
	line.SetBlending(material.BlendNormal)
	line.SetTransparent(true)
	line.SetDepthMask(false)
	line.SetSide(material.SideDouble)
	s.pathMesh = gpu.NewMesh(s.path, line, 0)
	s.pathMesh.SetVisible(false)
	s.scene.Add(s.pathMesh)
	s.lines = newLines(s.scene)

	s.hud, s.help = newPanel(s.gs, topLeft, 17), newPanel(s.gs, bottomLeft, 15)
	s.over.Add(s.hud)
	s.controls, s.view = newPanel(s.gs, placed, 0), newPanel(s.gs, placed, 0)
	s.caption.panel = newPanel(s.gs, placed, 0)
	for _, p := range []*panel{s.help, s.controls, s.view, s.caption.panel} {
		s.over.Add(p)
	}
	s.graphs = newGraphs(s.over)
	return glError("prepared the stage")
}

// Driver returns the name of the graphics card, or of the program that renders in software.
func (s *Stage) Driver() string { return gl.Renderer() }

// software reports whether the processor draws, which is slow.
func (s *Stage) software() bool {
	inDriver := func(name string) bool { return strings.Contains(s.Driver(), name) }
	return slices.ContainsFunc([]string{"llvmpipe", "softpipe", "SwiftShader"}, inDriver)
}

// SetGround sets the terrain; nil removes it.
func (s *Stage) SetGround(h HeightFunc) {
	s.ground.height, s.ground.valid = h, false
}

// Size returns the picture's width and height in pixels.
func (s *Stage) Size() (w, h int) { return s.target.W, s.target.H }

var errGone = errors.New(goneMessage)

// Draw renders one picture. It fails if the window's display is gone.
func (s *Stage) Draw(v View) error {
	if s.target == nil {
		return errors.New("stage: drawing on a closed stage")
	}
	if s.win != nil {
		if displayGone() {
			return errGone
		}
		w, h := s.win.size()
		if displayGone() { // w and h are not valid
			return errGone
		}
		if err := s.target.Resize(w, h); err != nil {
			return fmt.Errorf("stage: %w", err)
		}
	}
	if !v.Focus.Finite() {
		v.Focus = s.Camera.target
	}
	w, h := s.Size()
	s.Camera.aim(&s.eye, float32(w)/float32(h))
	sunLens(&s.sun, s.lighting.sun, v.Focus, shadowReach(s.Camera.eye.Dist(s.Camera.target)))
	s.lighting.eye = s.Camera.eye
	s.lighting.shadow = s.sun.clip()
	s.skyMat = s.eye.unproject()
	s.ground.move(v.Focus)
	s.blocks.set(v.Blocks)
	s.setPath(v.Path)
	s.setLines(v.Lines)
	s.setOver(&v, w, h)
	eyeClip := s.eye.clip()
	seen, shaded := math32.NewFrustumFromMatrix(&eyeClip), math32.NewFrustumFromMatrix(&s.lighting.shadow)
	for _, c := range s.crowds {
		c.plan(s.Camera.eye, seen, shaded)
	}
	s.contacts.set(s.crowds, s.ground.height, seen, &s.lighting)

	gl.BindFramebuffer(gl.FRAMEBUFFER, s.shadowFB)
	s.gs.Viewport(0, 0, shadowSize, shadowSize)
	s.gs.DepthMask(true)
	s.gs.Clear(gls.DEPTH_BUFFER_BIT)
	gl.Enable(gl.POLYGON_OFFSET_FILL)
	if err := s.render.Render(s.shadows, &s.sun); err != nil {
		return fmt.Errorf("stage: shadows: %w", err)
	}
	gl.Disable(gl.POLYGON_OFFSET_FILL)
	s.target.Begin(s.gs)
	if err := s.render.Render(s.scene, &s.eye); err != nil {
		return fmt.Errorf("stage: scene: %w", err)
	}
	s.target.Resolve()
	if err := s.render.Render(s.over, &s.eye); err != nil {
		return fmt.Errorf("stage: text: %w", err)
	}
	if s.drawn && gl.SlowErrors {
		return nil // the first picture had no errors
	}
	s.drawn = true
	return glError("drew a picture")
}

func (s *Stage) setPath(points []m3.Vec3) {
	s.pathV, s.pathI = ribbon(s.pathV, s.pathI, points)
	s.pathMesh.SetVisible(len(s.pathI) > 0)
	if len(s.pathI) > 0 {
		s.path.Set(s.pathV, s.pathI)
	}
}

// Capture returns the last picture. It reuses dst if the size fits.
func (s *Stage) Capture(dst *image.RGBA) (*image.RGBA, error) {
	img := s.target.Read(dst)
	return img, glError("read the picture")
}

// Gone reports whether the window's display is gone, or in a browser the graphics context. Then
// only another stage can draw, once HasDisplay reports true.
func (s *Stage) Gone() bool { return s.win != nil && displayGone() }

// Close closes the stage and its window. Closing twice is allowed.
func (s *Stage) Close() {
	if s.target != nil {
		if s.win == nil || !displayGone() {
			s.target.Dispose()
		}
		s.target = nil
	}
	if s.win != nil {
		s.win.close()
		s.win = nil
	} else if s.gs != nil {
		egl.Close()
	}
	s.gs = nil
	runtime.UnlockOSThread()
}
