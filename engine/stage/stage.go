// Package stage draws characters on a terrain, in a window or offscreen, with
// g3n: an instanced skinned crowd, ground, sky, one sun with shadows, text. It
// is the only package that touches a window or OpenGL.
//
// A Stage belongs to the goroutine that opened it, which stays on its thread.
package stage

import (
	"errors"
	"fmt"
	"image"
	"runtime"
	"strings"

	"github.com/g3n/engine/core"
	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/material"
	"github.com/g3n/engine/math32"
	"github.com/g3n/engine/renderer"

	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/engine/stage/internal/gl"
)

// Options says how to open a stage.
type Options struct {
	Title         string
	Width, Height int    // pixels, 16 to 8192
	Offscreen     bool   // without a window, by EGL
	Samples       int    // per pixel for smooth edges, 1 is none; 0 is 4, but 1 in a window drawn in software
	Gamepads      string // mappings besides glfw's own, as GamepadMappings returns them
}

// Stage is an open picture. Its zero value is unusable; see Open.
type Stage struct {
	Camera *Camera

	gs      *gls.GLS
	win     *windowState // nil offscreen
	render  *renderer.Renderer
	scene   *core.Node // what the camera sees
	shadows *core.Node // what throws shadows
	over    *core.Node // what lies over the picture

	target   *target
	shadowFB uint32
	air      air
	eye, sun lens
	skyMat   math32.Matrix4
	skyUni   gls.Uniform

	crowds    []*Crowd
	ground    *ground
	contacts  *contacts
	path      *mesh
	pathMesh  *graphic.Mesh
	pathV     []float32
	pathI     []uint32
	lines     *strokes
	hud, help *panel
	controls  *panel
	knobs     knobs // what controls shows
	view      *panel
	choices   choices // what view shows
	graphs    *graphs
	caption   caption
	drawn     bool // a picture has been
}

// View is what to draw besides the crowds, which hold their own poses.
type View struct {
	Focus m3.Vec3    // what the shadows and the ground centre on, world, m
	Path  []m3.Vec3  // a dashed line on the ground, world, m; may be empty
	Lines []hud.Line // over everything, which shines through; beyond 32768 they are left out
	HUD   []string   // text at the top left
	Help  []string   // text at the bottom left
	Panel *hud.Panel // sliders and buttons at the top right, which the mouse moves; nil is none

	Graphs  []hud.Graph // at the left, between the texts, as many as there is room for
	Caption string      // large, at the bottom

	// Has are the overlays that there are to choose from, and Show those that are drawn: a
	// panel of buttons below the other one. Where Has is none there is no panel; the keys
	// that choose work all the same.
	Has, Show hud.Overlay
}

// Open makes a window, or with Offscreen a picture in memory.
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

func (s *Stage) build(opt Options) error {
	// g3n ends the program on an OpenGL error; we return it.
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
	if s.target, err = newTarget(opt.Width, opt.Height, opt.Samples); err != nil {
		return err
	}
	if s.shadowFB, s.air.shadowMap, err = newShadow(s.gs); err != nil {
		return err
	}
	s.air.sun = m3.V(0.55, 0.68, -0.45).Normalize(m3.Up)
	s.air.fog = 105
	s.air.grain = newGrain(s.gs, !s.software())
	s.scene, s.shadows, s.over = core.NewNode(), core.NewNode(), core.NewNode()

	s.ground = newGround()
	s.scene.Add(newMesh(s.ground.geom, newShade("ground", &s.air, nil), 2))
	s.contacts = newContacts(&s.air)
	s.scene.Add(s.contacts.graphic)
	v, i := newQuad()
	s.skyUni.Init("Unproject")
	sky := newShade("sky", &s.air, func(gs *gls.GLS) {
		gs.UniformMatrix4fv(s.skyUni.Location(gs), 1, false, &s.skyMat[0])
	})
	sky.SetDepthMask(false)
	s.scene.Add(newMesh(newGeometry(v, i, 3), sky, -1)) // opaque things are drawn from high order to low
	s.path = newGeometry(nil, nil, 3, 2)                // position, coordinate
	line := newShade("line", &s.air, nil)
	line.SetBlending(material.BlendNormal)
	line.SetTransparent(true)
	line.SetDepthMask(false)
	line.SetSide(material.SideDouble)
	s.pathMesh = newMesh(s.path, line, 0)
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

// Driver names what draws: a graphics card, or a program in its place.
func (s *Stage) Driver() string { return gl.Renderer() }

// software reports whether the processor draws, which is slow.
func (s *Stage) software() bool {
	d := s.Driver()
	for _, name := range []string{"llvmpipe", "softpipe", "SwiftShader"} {
		if strings.Contains(d, name) {
			return true
		}
	}
	return false
}

// SetGround sets the terrain that is drawn; nil removes it.
func (s *Stage) SetGround(h HeightFunc) {
	s.ground.height, s.ground.valid = h, false
}

// Size returns the picture's width and height in pixels.
func (s *Stage) Size() (w, h int) { return s.target.w, s.target.h }

var errGone = errors.New(goneMessage)

// Draw renders one picture. It is an error if the window's display has gone.
func (s *Stage) Draw(v View) error {
	if s.target == nil {
		return errors.New("stage: drawing on a closed stage")
	}
	if s.win != nil {
		if displayGone() {
			return errGone
		}
		w, h := s.win.size()
		if displayGone() { // w and h are anything
			return errGone
		}
		if err := s.target.resize(w, h); err != nil {
			return err
		}
	}
	if !v.Focus.Finite() {
		v.Focus = s.Camera.target
	}
	w, h := s.Size()
	s.Camera.aim(&s.eye, float32(w)/float32(h))
	sunLens(&s.sun, s.air.sun, v.Focus, shadowReach(s.Camera.eye.Dist(s.Camera.target)))
	s.air.eye = s.Camera.eye
	s.air.shadow = s.sun.clip()
	s.skyMat = s.eye.unproject()
	s.ground.move(v.Focus)
	s.setPath(v.Path)
	s.setLines(v.Lines)
	s.setOver(&v, w, h)
	eyeClip := s.eye.clip()
	seen, shaded := math32.NewFrustumFromMatrix(&eyeClip), math32.NewFrustumFromMatrix(&s.air.shadow)
	for _, c := range s.crowds {
		c.plan(s.Camera.eye, seen, shaded)
	}
	s.contacts.set(s.crowds, s.ground.height, seen, &s.air)

	gl.BindFramebuffer(gl.FRAMEBUFFER, s.shadowFB)
	s.gs.Viewport(0, 0, shadowSize, shadowSize)
	s.gs.DepthMask(true)
	s.gs.Clear(gls.DEPTH_BUFFER_BIT)
	gl.Enable(gl.POLYGON_OFFSET_FILL)
	if err := s.render.Render(s.shadows, &s.sun); err != nil {
		return fmt.Errorf("stage: shadows: %w", err)
	}
	gl.Disable(gl.POLYGON_OFFSET_FILL)
	s.target.begin(s.gs)
	if err := s.render.Render(s.scene, &s.eye); err != nil {
		return fmt.Errorf("stage: scene: %w", err)
	}
	s.target.resolve()
	if err := s.render.Render(s.over, &s.eye); err != nil {
		return fmt.Errorf("stage: text: %w", err)
	}
	if s.drawn && gl.SlowErrors {
		return nil // nor were there errors the first time
	}
	s.drawn = true
	return glError("drew a picture")
}

func (s *Stage) setPath(points []m3.Vec3) {
	s.pathV, s.pathI = ribbon(s.pathV, s.pathI, points)
	s.pathMesh.SetVisible(len(s.pathI) > 0)
	if len(s.pathI) > 0 {
		s.path.set(s.pathV, s.pathI)
	}
}

// Capture returns the last picture drawn, in dst where its size fits, else in a
// new image.
func (s *Stage) Capture(dst *image.RGBA) (*image.RGBA, error) {
	img := s.target.read(dst)
	return img, glError("read the picture")
}

// Instances returns how many characters the last Draw showed at each level of
// detail, finest first, and how many threw shadows.
func (c *Crowd) Instances() (levels []int, shadows int) {
	last := len(c.runs) - 1
	for _, r := range c.runs[:last] {
		levels = append(levels, int(r.count))
	}
	return levels, int(c.runs[last].count)
}

// Gone reports whether the window's display, or in a browser the graphics, have gone: nothing
// can be drawn any more but on another stage, once HasDisplay says so.
func (s *Stage) Gone() bool { return s.win != nil && displayGone() }

// Close ends the stage and its window. Closing twice is allowed.
func (s *Stage) Close() {
	if s.target != nil {
		if s.win == nil || !displayGone() {
			s.target.dispose()
		}
		s.target = nil
	}
	if s.win != nil {
		s.win.close()
		s.win = nil
	} else if s.gs != nil {
		s.closeOffscreen()
	}
	s.gs = nil
	runtime.UnlockOSThread()
}
