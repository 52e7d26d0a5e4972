package gpu

import (
	"fmt"
	"image"

	"github.com/g3n/engine/gls"

	"mannequin/engine/internal/gl"
)

// Target is the picture being drawn: a multisampled framebuffer for the scene, and a plain one that
// it is resolved into. Overlays are drawn on the plain one, and captures read it. Windows and
// offscreen rendering share it, so that both show the same pixels.
type Target struct {
	W, H         int
	samples      int32 // 0 is one per pixel
	multi, plain uint32
	buffers      [3]uint32 // multisampled colour and depth, plain colour
	bottomUp     []byte
}

// NewTarget returns a target of w × h pixels with that many samples each.
func NewTarget(w, h, samples int) (*Target, error) {
	t := &Target{}
	t.multi, t.plain = gl.GenFramebuffer(), gl.GenFramebuffer()
	for i := range t.buffers {
		t.buffers[i] = gl.GenRenderbuffer()
	}
	if samples > 1 {
		t.samples = min(int32(samples), gl.GetInteger(gl.MAX_SAMPLES))
	}
	return t, t.Resize(w, h)
}

// Resize changes the size.
func (t *Target) Resize(w, h int) error {
	if w == t.W && h == t.H {
		return nil
	}
	t.W, t.H = w, h
	attach := func(fb, buffer, point, format uint32, samples int32) {
		gl.BindRenderbuffer(gl.RENDERBUFFER, buffer)
		gl.RenderbufferStorage(gl.RENDERBUFFER, samples, format, int32(w), int32(h))
		gl.BindFramebuffer(gl.FRAMEBUFFER, fb)
		gl.FramebufferRenderbuffer(gl.FRAMEBUFFER, point, gl.RENDERBUFFER, buffer)
	}
	attach(t.multi, t.buffers[0], gl.COLOR_ATTACHMENT0, gl.RGBA8, t.samples)
	attach(t.multi, t.buffers[1], gl.DEPTH_ATTACHMENT, gl.DEPTH_COMPONENT24, t.samples)
	multi := gl.CheckFramebufferStatus(gl.FRAMEBUFFER)
	attach(t.plain, t.buffers[2], gl.COLOR_ATTACHMENT0, gl.RGBA8, 0)
	for _, s := range []uint32{multi, gl.CheckFramebufferStatus(gl.FRAMEBUFFER)} {
		if s != gl.FRAMEBUFFER_COMPLETE {
			return fmt.Errorf("the driver refuses a %d×%d picture (framebuffer status 0x%x)", w, h, s)
		}
	}
	return nil
}

// Begin directs drawing to the scene's framebuffer and clears it.
func (t *Target) Begin(gs *gls.GLS) {
	gl.BindFramebuffer(gl.FRAMEBUFFER, t.multi)
	gs.Viewport(0, 0, int32(t.W), int32(t.H))
	gs.DepthMask(true)
	gs.Clear(gls.DEPTH_BUFFER_BIT | gls.COLOR_BUFFER_BIT)
}

// Resolve averages the samples and directs drawing to the plain framebuffer.
func (t *Target) Resolve() {
	gl.BindFramebuffer(gl.READ_FRAMEBUFFER, t.multi)
	gl.BindFramebuffer(gl.DRAW_FRAMEBUFFER, t.plain)
	gl.BlitFramebuffer(0, 0, int32(t.W), int32(t.H), 0, 0, int32(t.W), int32(t.H), gl.COLOR_BUFFER_BIT, gl.NEAREST)
	gl.BindFramebuffer(gl.FRAMEBUFFER, t.plain)
}

// Show copies the picture to the window. After a change of the window's size it is not scaled:
// OpenGL cannot scale into a framebuffer with samples.
func (t *Target) Show() {
	gl.BindFramebuffer(gl.READ_FRAMEBUFFER, t.plain)
	gl.BindFramebuffer(gl.DRAW_FRAMEBUFFER, 0)
	gl.BlitFramebuffer(0, 0, int32(t.W), int32(t.H), 0, 0, int32(t.W), int32(t.H), gl.COLOR_BUFFER_BIT, gl.NEAREST)
}

// Read returns the picture, opaque. It reuses dst if the size fits.
func (t *Target) Read(dst *image.RGBA) *image.RGBA {
	r := image.Rect(0, 0, t.W, t.H)
	if dst == nil || dst.Rect != r || dst.Stride != 4*t.W {
		dst = image.NewRGBA(r)
	}
	n := 4 * t.W * t.H
	if len(t.bottomUp) != n {
		t.bottomUp = make([]byte, n)
	}
	gl.BindFramebuffer(gl.READ_FRAMEBUFFER, t.plain)
	gl.PixelStorei(gl.PACK_ALIGNMENT, 1)
	gl.ReadPixels(0, 0, int32(t.W), int32(t.H), gl.RGBA, gl.UNSIGNED_BYTE, t.bottomUp)
	for y := range t.H {
		copy(dst.Pix[y*dst.Stride:y*dst.Stride+4*t.W], t.bottomUp[4*t.W*(t.H-1-y):])
	}
	for i := 3; i < len(dst.Pix); i += 4 {
		dst.Pix[i] = 255
	}
	return dst
}

// Dispose frees the buffers.
func (t *Target) Dispose() {
	gl.DeleteFramebuffer(t.multi)
	gl.DeleteFramebuffer(t.plain)
	for _, b := range t.buffers {
		gl.DeleteRenderbuffer(b)
	}
}
