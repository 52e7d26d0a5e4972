package draw

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"mannequin/engine/m3"
)

// Sheet returns a contact sheet of n tiles of w×h pixels, cols per row, each painted by paint. A
// tile's own coordinates go from (0, 0) to (w, h).
func Sheet(cols, w, h, n int, paint func(i int, tile *image.RGBA)) *image.RGBA {
	cols = max(min(cols, n), 1)
	rows := (n + cols - 1) / cols
	img := New(cols*w, rows*h, Paper)
	tile := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range n {
		Fill(tile, tile.Rect, Paper)
		paint(i, tile)
		Fill(tile, image.Rect(0, h-1, w, h), Faint)
		Fill(tile, image.Rect(w-1, 0, w, h), Faint)
		ox, oy := (i%cols)*w, (i/cols)*h
		for y := range h {
			copy(img.Pix[img.PixOffset(ox, oy+y):], tile.Pix[tile.PixOffset(0, y):tile.PixOffset(0, y)+4*w])
		}
	}
	return img
}

// Motion is the input of ClipSheet.
type Motion struct {
	Parents []int16                    // parent of each joint, −1 for a root
	Frames  int                        // frames in the clip
	First   int                        // number of the first frame, for the labels
	FPS     float64                    // frames per second, for the labels
	Pose    func(f int) []m3.Vec3      // world joint positions of frame f, m
	Colour  func(joint int) color.RGBA // colour of the bone that ends in a joint; nil is Blue
	Label   func(f int) string         // text on the tile of frame f; nil is its number and time
	Facing  func(f int) float32        // yaw of the body in frame f, rad; nil is a guess that fits long bodies
}

// ClipSheet shows n evenly spread frames of a clip, cols per row, labelled: a view from the body's
// right that follows the middle of the pose, at least height metres high, with the ground line at height 0. A
// Motion without frames or without Pose gives an empty picture.
func ClipSheet(m Motion, n, cols int, height float32) *image.RGBA {
	if m.Frames < 1 || m.Pose == nil {
		return New(0, 0, Paper)
	}
	n = max(min(n, m.Frames), 1)
	const w, h = 240, 200
	// The longest pose must fit too.
	for i := range n {
		lo, hi := bounds(m.Pose(i * (m.Frames - 1) / max(n-1, 1)))
		height = max(height, 1.15*h/w*hi.Sub(lo).Flat().Len())
	}
	return Sheet(cols, w, h, n, func(i int, tile *image.RGBA) {
		f := 0
		if n > 1 {
			f = int(math.Round(float64(i) * float64(m.Frames-1) / float64(n-1)))
		}
		pos := m.Pose(f)
		if len(pos) == 0 {
			return
		}
		lo, hi := bounds(pos)
		at := lo.Lerp(hi, 0.5)
		at.Y = height * 0.4
		yaw := heading(m.Parents, pos)
		if m.Facing != nil {
			yaw = m.Facing(f)
		}
		cam := SideOf(at, height, yaw)
		v := cam.view(w, h)
		ground := m3.V(at.X, 0, at.Z)
		right := v.x
		v.line(tile, ground.Sub(right.Scale(3*height)), ground.Add(right.Scale(3*height)), 1, Ink)
		for j, p := range m.Parents {
			if p < 0 {
				continue
			}
			c := Blue
			if m.Colour != nil {
				c = m.Colour(j)
			}
			v.line(tile, pos[p], pos[j], 2.5, c)
		}
		for _, p := range pos {
			v.line(tile, p, p, 4, Ink)
		}
		label := fmt.Sprintf("%d", m.First+f)
		if m.FPS > 0 {
			label += fmt.Sprintf("   %.2f s", float64(m.First+f)/m.FPS)
		}
		if m.Label != nil {
			label = m.Label(f)
		}
		Text(tile, 5, 3, 12, Ink, label)
	})
}

// bounds returns the corners of the box around the finite points of a pose.
func bounds(pos []m3.Vec3) (lo, hi m3.Vec3) {
	first := true
	for _, p := range pos {
		switch {
		case !p.Finite():
		case first:
			lo, hi, first = p, p, false
		default:
			lo = m3.V(min(lo.X, p.X), min(lo.Y, p.Y), min(lo.Z, p.Z))
			hi = m3.V(max(hi.X, p.X), max(hi.Y, p.Y), max(hi.Z, p.Z))
		}
	}
	return lo, hi
}

// SideOf looks at centre from the right of a character with the given yaw: it faces right.
func SideOf(centre m3.Vec3, height, yaw float32) Camera {
	return Camera{Eye: centre.Add(m3.YawQuat(yaw).Rotate(m3.V(-10, 0, 0))), Target: centre, Height: height}
}

// heading guesses the facing direction of a pose: from the root to the middle of all joints for a
// long body, else +Z. A dog's head has more joints than its tail.
func heading(parents []int16, pos []m3.Vec3) float32 {
	var mid m3.Vec3
	for _, p := range pos {
		mid = mid.Add(p.Scale(1 / float32(len(pos))))
	}
	d := mid.Sub(pos[0]).Flat()
	if len(parents) == 0 || d.Len() < 0.05 {
		return 0
	}
	return m3.YawOf(d)
}
