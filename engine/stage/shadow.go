package stage

import (
	"fmt"

	"github.com/g3n/engine/gls"

	"mannequin/engine/internal/gl"
	"mannequin/engine/internal/gpu"
)

// shadowSize is the shadow map's side in texels.
const shadowSize = 2048

// shadowReach returns half the width of the shadow map in metres, for a camera at distance from its
// target. Nearby a texel is 7 mm, fine enough to see whether a paw touches the ground. It grows in
// steps, so that shadows do not crawl during a zoom.
func shadowReach(distance float32) float32 {
	reach := float32(7)
	for reach < 1.6*distance && reach < 60 {
		reach *= 1.5
	}
	return reach
}

// newShadow returns the framebuffer and the depth texture of the shadow map.
func newShadow(gs *gls.GLS) (fb, tex uint32, err error) {
	tex = gpu.NewTexture(gs, unitShadow, gl.LINEAR)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL)
	gl.TexImage2D(gl.TEXTURE_2D, 0, gl.DEPTH_COMPONENT24, shadowSize, shadowSize, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, nil)
	fb = gl.GenFramebuffer()
	gl.BindFramebuffer(gl.FRAMEBUFFER, fb)
	gl.FramebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, tex, 0)
	gl.DrawBuffer(gl.NONE)
	gl.ReadBuffer(gl.NONE)
	if s := gl.CheckFramebufferStatus(gl.FRAMEBUFFER); s != gl.FRAMEBUFFER_COMPLETE {
		return 0, 0, fmt.Errorf("stage: the driver refuses a shadow map (framebuffer status 0x%x)", s)
	}
	return fb, tex, glError("made the shadow map")
}
