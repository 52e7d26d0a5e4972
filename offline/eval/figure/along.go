// Package figure draws recorded and generated motion for evaluations.
package figure

import (
	"fmt"
	"image"
	"image/color"

	"mannequin/animsys/skel"
	"mannequin/engine/draw"
	"mannequin/engine/m3"
)

// Positions returns the joints' positions in frame f.
func Positions(c *skel.Clip, f int) []m3.Vec3 {
	model := make([]m3.Xform, c.Skel.Len())
	c.Model(model, f)
	return draw.Positions(model)
}

// Along is a motion that is drawn as skeletons along its path.
type Along struct {
	Title   string
	Parents []int16
	Joints  [][]m3.Vec3 // (frames, joints) in the world, m; the first is the hips
	Frames  []int       // to draw
	Colour  func(frame int) color.RGBA
	Keys    []Key
}

// Key is a highlighted pose, drawn over the motion.
type Key struct {
	Joints []m3.Vec3
	Label  string // beneath it
	Colour color.RGBA
}

const (
	alongWide   = 1200 // pixels
	alongMargin = 14   // at both sides
	AlongTitle  = 30   // height of the title
	alongLabel  = 24   // height of the label
	alongScale  = 300  // pixels per metre, at most
)

// axes returns the directions to the right and up in an orthographic camera's picture.
func axes(c draw.Camera) (right, up m3.Vec3) {
	ahead := c.Target.Sub(c.Eye).Normalize(m3.V(0, 0, -1))
	right = ahead.Cross(m3.Up).Normalize(m3.V(1, 0, 0))
	return right, right.Cross(ahead)
}

// Sheet draws motions below each other, all over the same piece of ground, by an orthographic camera
// that looks towards aim.
func Sheet(aim m3.Vec3, rows ...Along) *image.RGBA {
	cam := draw.Camera{Eye: aim.Scale(-10)}
	right, up := axes(cam)
	var lo, hi [2]float32
	first := true
	widen := func(pose []m3.Vec3) {
		for _, p := range pose {
			for _, p := range []m3.Vec3{p, p.Flat()} {
				x, y := p.Dot(right), p.Dot(up)
				if first {
					lo, hi, first = [2]float32{x, y}, [2]float32{x, y}, false
				}
				lo, hi = [2]float32{min(lo[0], x), min(lo[1], y)}, [2]float32{max(hi[0], x), max(hi[1], y)}
			}
		}
	}
	for _, r := range rows {
		for _, f := range r.Frames {
			widen(r.Joints[f])
		}
		for _, k := range r.Keys {
			widen(k.Joints)
		}
	}
	scale := min((alongWide-2*alongMargin)/(hi[0]-lo[0]), alongScale)
	high := int(scale*(hi[1]-lo[1])) + AlongTitle + alongLabel
	// The middle of the picture is above the middle of the drawing by half the difference of title
	// and label.
	middle := (lo[1]+hi[1])/2 + (AlongTitle-alongLabel)/(2*scale)
	cam.Target = right.Scale((lo[0] + hi[0]) / 2).Add(up.Scale(middle))
	cam.Eye = cam.Target.Sub(aim.Scale(20))
	cam.Height = float32(high) / scale
	return draw.Sheet(1, alongWide, high, len(rows), func(i int, tile *image.RGBA) {
		rows[i].draw(tile, cam)
		draw.Text(tile, 10, 6, 17, draw.Ink, rows[i].Title)
	})
}

// draw draws the motion.
func (a *Along) draw(img *image.RGBA, cam draw.Camera) {
	var path []m3.Vec3
	for _, pose := range a.Joints {
		path = append(path, pose[0].Flat())
	}
	draw.Grid(img, cam, path[len(path)/2], 20, 1)
	for f := range path[1:] {
		draw.Line(img, cam, path[f], path[f+1], 2, a.Colour(f))
	}
	for _, f := range a.Frames {
		draw.Skeleton(img, cam, a.Parents, a.Joints[f], a.Colour(f))
	}
	for _, k := range a.Keys {
		draw.Skeleton(img, cam, a.Parents, k.Joints, k.Colour)
		at := k.Joints[0].Flat()
		draw.Dot(img, cam, at, 8, k.Colour)
		if x, y, ok := cam.Project(img.Rect.Dx(), img.Rect.Dy(), at); ok && k.Label != "" {
			w, _ := draw.TextSize(13, k.Label)
			draw.Text(img, int(x)-w/2, min(int(y)+8, img.Rect.Dy()-18), 13, k.Colour, k.Label)
		}
	}
}

// Every returns the frames 0, hop, 2 hop and so on, up to last.
func Every(hop, last int) (frames []int) {
	for f := 0; f <= last; f += hop {
		frames = append(frames, f)
	}
	return frames
}

// Joints returns the positions of the named joints of a clip, and the parent of each among them.
func Joints(c *skel.Clip, names []string) (parents []int16, joints [][]m3.Vec3, err error) {
	at, of := make([]int, 0, len(names)), map[int]int16{-1: -1}
	for i, name := range names {
		j := c.Skel.Index(name)
		if j < 0 {
			return nil, nil, fmt.Errorf("its skeleton has no joint %q", name)
		}
		at = append(at, j)
		of[j] = int16(i)
	}
	for _, j := range at {
		p := int(c.Skel.Parents[j])
		for p >= 0 {
			if _, ok := of[p]; ok {
				break
			}
			p = int(c.Skel.Parents[p])
		}
		parents = append(parents, of[p])
	}
	for f := range c.Frames {
		all := Positions(c, f)
		pose := make([]m3.Vec3, 0, len(at))
		for _, j := range at {
			pose = append(pose, all[j])
		}
		joints = append(joints, pose)
	}
	return parents, joints, nil
}
