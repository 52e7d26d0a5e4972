package draw

import (
	"image"
	"image/color"

	"mannequin/engine/m3"
)

// Mesh draws triangles of world points, each in a shade of c by how it faces the camera. Nearer ones
// hide farther ones of the same call. index has three points per triangle; triangles with points that
// are missing, not finite or behind the camera are skipped.
func Mesh(img *image.RGBA, cam Camera, pos []m3.Vec3, index []uint32, c color.RGBA) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	v := cam.view(w, h)
	depth := make([]float32, w*h) // larger is nearer
	full := make([]bool, w*h)
	for i := 0; i+2 < len(index); i += 3 {
		var at [3]m3.Vec3 // camera space
		var x, y [3]float32
		ok := true
		for k := range 3 {
			if int(index[i+k]) >= len(pos) || !pos[index[i+k]].Finite() {
				ok = false
				break
			}
			if at[k] = v.cameraSpace(pos[index[i+k]]); at[k].Z < near {
				ok = false
				break
			}
			x[k], y[k] = v.screen(at[k])
		}
		if !ok {
			continue
		}
		n := at[1].Sub(at[0]).Cross(at[2].Sub(at[0])).Normalize(m3.V(0, 0, 1))
		shade := 0.45 + 0.45*m3.Abs(n.Z) + 0.1*n.Y
		area := (x[1]-x[0])*(y[2]-y[0]) - (x[2]-x[0])*(y[1]-y[0])
		if area == 0 || !m3.Finite(area) {
			continue
		}
		x0, x1 := clampInt(min(x[0], x[1], x[2]), w), clampInt(max(x[0], x[1], x[2])+1, w)
		y0, y1 := clampInt(min(y[0], y[1], y[2]), h), clampInt(max(y[0], y[1], y[2])+1, h)
		for py := y0; py < y1; py++ {
			for px := x0; px < x1; px++ {
				fx, fy := float32(px)+0.5, float32(py)+0.5
				a := ((x[1]-fx)*(y[2]-fy) - (x[2]-fx)*(y[1]-fy)) / area
				b := ((x[2]-fx)*(y[0]-fy) - (x[0]-fx)*(y[2]-fy)) / area
				d := 1 - a - b
				if a < 0 || b < 0 || d < 0 {
					continue
				}
				z := -(a*at[0].Z + b*at[1].Z + d*at[2].Z)
				if o := py*w + px; !full[o] || z > depth[o] {
					full[o], depth[o] = true, z
					img.SetRGBA(img.Rect.Min.X+px, img.Rect.Min.Y+py, color.RGBA{shaded(c.R, shade), shaded(c.G, shade), shaded(c.B, shade), 255})
				}
			}
		}
	}
}

func clampInt(x float32, hi int) int { return int(m3.Clamp(x, 0, float32(hi))) }

func shaded(c uint8, by float32) uint8 { return uint8(m3.Clamp(float32(c)*by, 0, 255)) }
