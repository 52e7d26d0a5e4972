package draw

import (
	"image"
	"image/color"
	"math"

	"mannequin/engine/m3"
)

// Colours that read well on Paper.
var (
	Paper  = color.RGBA{248, 248, 245, 255}
	Ink    = color.RGBA{40, 44, 52, 255}
	Faint  = color.RGBA{205, 208, 212, 255}
	Blue   = color.RGBA{38, 97, 176, 255}
	Red    = color.RGBA{200, 60, 50, 255}
	Green  = color.RGBA{50, 140, 80, 255}
	Orange = color.RGBA{222, 130, 30, 255}
)

// New returns a w×h picture filled with bg.
func New(w, h int, bg color.RGBA) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	Fill(img, img.Rect, bg)
	return img
}

// Fill paints the part of r that lies inside img.
func Fill(img *image.RGBA, r image.Rectangle, c color.RGBA) {
	r = r.Intersect(img.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := img.Pix[img.PixOffset(r.Min.X, y):img.PixOffset(r.Max.X, y)]
		for i := 0; i+3 < len(row); i += 4 {
			row[i], row[i+1], row[i+2], row[i+3] = c.R, c.G, c.B, c.A
		}
	}
}

// blend mixes c into the pixel at (x, y), which must be inside img, with coverage a in [0, 1].
func blend(img *image.RGBA, x, y int, c color.RGBA, a float32) {
	i := img.PixOffset(x, y)
	p := img.Pix[i : i+4 : i+4]
	a *= float32(c.A) / 255
	mix := func(d, s uint8) uint8 { return uint8(float32(d) + (float32(s)-float32(d))*a + 0.5) }
	p[0], p[1], p[2] = mix(p[0], c.R), mix(p[1], c.G), mix(p[2], c.B)
	p[3] = max(p[3], uint8(a*255+0.5))
}

// stroke draws an anti-aliased segment with round ends between points of the picture, or a dot.
func stroke(img *image.RGBA, ax, ay, bx, by, width float32, c color.RGBA) {
	r := img.Rect
	half := max(width, 1) / 2
	ax, ay, bx, by, ok := clip(ax, ay, bx, by, r, half+1)
	if !ok {
		return
	}
	x0 := max(int(math.Floor(float64(min(ax, bx)-half-1))), r.Min.X)
	x1 := min(int(math.Ceil(float64(max(ax, bx)+half+1))), r.Max.X)
	y0 := max(int(math.Floor(float64(min(ay, by)-half-1))), r.Min.Y)
	y1 := min(int(math.Ceil(float64(max(ay, by)+half+1))), r.Max.Y)
	dx, dy := bx-ax, by-ay
	inv := float32(0)
	if l2 := dx*dx + dy*dy; l2 > 0 {
		inv = 1 / l2
	}
	for y := y0; y < y1; y++ {
		py := float32(y) + 0.5 - ay
		xs, xe := x0, x1
		if m3.Abs(dy) > 1e-3 && m3.Abs(dx) > 1 {
			// Only the columns that the thick line crosses in this row.
			mid, reach := ax+py*dx/dy, (half+1)*m3.Sqrt(1+dx*dx/(dy*dy))+1
			xs, xe = max(xs, int(mid-reach)), min(xe, int(mid+reach)+1)
		}
		for x := xs; x < xe; x++ {
			px := float32(x) + 0.5 - ax
			t := m3.Clamp((px*dx+py*dy)*inv, 0, 1)
			ex, ey := px-t*dx, py-t*dy
			if cov := half + 0.5 - m3.Sqrt(ex*ex+ey*ey); cov > 0 {
				blend(img, x, y, c, min(cov, 1)*min(width, 1))
			}
		}
	}
}

// clip cuts the segment to r grown by pad (Liang and Barsky's test): distant points cost no time.
func clip(ax, ay, bx, by float32, r image.Rectangle, pad float32) (_, _, _, _ float32, ok bool) {
	t0, t1 := float32(0), float32(1)
	dx, dy := bx-ax, by-ay
	for _, e := range [4][2]float32{
		{-dx, ax - (float32(r.Min.X) - pad)}, {dx, float32(r.Max.X) + pad - ax},
		{-dy, ay - (float32(r.Min.Y) - pad)}, {dy, float32(r.Max.Y) + pad - ay},
	} {
		switch p, q := e[0], e[1]; {
		case p == 0:
			if q < 0 {
				return 0, 0, 0, 0, false
			}
		case p < 0:
			t0 = max(t0, q/p)
		default:
			t1 = min(t1, q/p)
		}
	}
	if !(t0 <= t1) {
		return 0, 0, 0, 0, false
	}
	return ax + t0*dx, ay + t0*dy, ax + t1*dx, ay + t1*dy, true
}

// Line draws the world segment ab, width pixels wide, if it is finite and before the camera.
func Line(img *image.RGBA, cam Camera, a, b m3.Vec3, width float32, c color.RGBA) {
	v := cam.view(img.Rect.Dx(), img.Rect.Dy())
	v.line(img, a, b, width, c)
}

func (v *view) line(img *image.RGBA, a, b m3.Vec3, width float32, c color.RGBA) {
	if ax, ay, bx, by, ok := v.segment(a, b); ok {
		ox, oy := float32(img.Rect.Min.X), float32(img.Rect.Min.Y)
		stroke(img, ax+ox, ay+oy, bx+ox, by+oy, width, c)
	}
}

// Dot draws a disc of the given diameter, in pixels, at the world point p.
func Dot(img *image.RGBA, cam Camera, p m3.Vec3, diameter float32, c color.RGBA) {
	Line(img, cam, p, p, diameter, c)
}

// Path draws the world points as one open line, width pixels wide.
func Path(img *image.RGBA, cam Camera, points []m3.Vec3, width float32, c color.RGBA) {
	v := cam.view(img.Rect.Dx(), img.Rect.Dy())
	for i := 1; i < len(points); i++ {
		v.line(img, points[i-1], points[i], width, c)
	}
}

// Grid draws ground lines at height 0, step metres apart, up to size metres from centre along X and
// Z. The lines through the world's origin are darker.
func Grid(img *image.RGBA, cam Camera, centre m3.Vec3, size, step float32) {
	if !(step > 0) || !(size > 0) || size/step > 1000 || !centre.Finite() {
		return
	}
	v := cam.view(img.Rect.Dx(), img.Rect.Dy())
	n := int(size / step)
	x0, z0 := float32(math.Round(float64(centre.X/step))), float32(math.Round(float64(centre.Z/step)))
	for k := -n; k <= n; k++ {
		x, z := (x0+float32(k))*step, (z0+float32(k))*step
		v.line(img, m3.V(x, 0, (z0-float32(n))*step), m3.V(x, 0, (z0+float32(n))*step), 1, gridColour(x))
		v.line(img, m3.V((x0-float32(n))*step, 0, z), m3.V((x0+float32(n))*step, 0, z), 1, gridColour(z))
	}
}

func gridColour(at float32) color.RGBA {
	if at == 0 {
		return color.RGBA{150, 155, 160, 255}
	}
	return Faint
}

// Skeleton draws the bones of a pose: lines about 3 pixels wide, and dots for joints. parents has
// each joint's parent, −1 for a root. Joints that are not finite are skipped.
func Skeleton(img *image.RGBA, cam Camera, parents []int16, pos []m3.Vec3, c color.RGBA) {
	if len(parents) != len(pos) {
		panic("draw: Skeleton: parents and pos differ in length")
	}
	v := cam.view(img.Rect.Dx(), img.Rect.Dy())
	for i, p := range parents {
		if p >= 0 {
			v.line(img, pos[p], pos[i], 2.5, c)
		}
	}
	for _, p := range pos {
		v.line(img, p, p, 4.5, c)
	}
}

// Positions returns the translations of model transforms, for Skeleton.
func Positions(model []m3.Xform) []m3.Vec3 {
	out := make([]m3.Vec3, len(model))
	for i, x := range model {
		out[i] = x.Pos
	}
	return out
}
