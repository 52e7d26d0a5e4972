package plot

import (
	"context"
	"fmt"
	"image"
	"path/filepath"
	"strings"

	"mannequin/animsys/skel"
	"mannequin/engine/draw"
	"mannequin/engine/m3"
	"mannequin/engine/media"
	"mannequin/internal/command"
	"mannequin/offline/eval/figure"
)

// mostTogether is the largest number of clips side by side.
const mostTogether = 16

// together shows clips side by side, each with a camera of its own that follows it: as a video, or
// as a sheet with a column for each if out is a .png.
func together(ctx context.Context, names []string, clips []*skel.Clip, from float64, frames int, out string) error {
	const w, h, rate = 300, 340, 30
	end, top := 0.0, float32(0.5)
	for _, c := range clips {
		end = max(end, c.Seconds())
		for f := 0; f < c.Frames; f += max(1, c.Frames/20) {
			for _, p := range figure.Positions(c, f) {
				top = max(top, p.Y)
			}
		}
	}
	paint := func(tile *image.RGBA, clip int, seconds float64) {
		c := clips[clip]
		f := min(int(seconds*c.FPS+0.5), c.Frames-1)
		centre := around(c, f)
		cam := draw.ThreeQuarter(centre.Add(m3.V(0, 0.48*top, 0)), 1.35*top)
		draw.Grid(tile, cam, centre, 3*top, 0.25*top)
		draw.Skeleton(tile, cam, c.Skel.Parents, figure.Positions(c, f), draw.Blue)
		draw.Text(tile, 6, 4, 13, draw.Ink, names[clip])
		draw.Text(tile, 6, h-20, 12, draw.Ink, fmt.Sprintf("%.2f s", from+float64(f)/c.FPS))
	}
	if strings.EqualFold(filepath.Ext(out), ".png") {
		n := len(clips)
		return savePNG(out, draw.Sheet(n, w, h, n*frames, func(i int, tile *image.RGBA) {
			paint(tile, i%n, float64(i/n)*end/float64(max(frames-1, 1)))
		}))
	}
	cols := min(len(clips), 4)
	rows := (len(clips) + cols - 1) / cols
	video, err := media.Create(ctx, out, media.Options{Width: cols * w, Height: rows * h, FPS: rate})
	if err != nil {
		return err
	}
	defer video.Abort()
	for k := 0; float64(k)/rate <= end; k++ {
		if err := video.Frame(draw.Sheet(cols, w, h, len(clips), func(i int, tile *image.RGBA) { paint(tile, i, float64(k)/rate) })); err != nil {
			return err
		}
	}
	return video.Close()
}

// around returns the mean of the root's places on the ground from half a second before to half a
// second after.
func around(c *skel.Clip, f int) m3.Vec3 {
	n, reach := c.Skel.Len(), int(c.FPS/2)
	sum, count := m3.Vec3{}, float32(0)
	for k := max(0, f-reach); k <= min(c.Frames-1, f+reach); k++ {
		sum = sum.Add(c.Pos[k*n].Flat())
		count++
	}
	return sum.Scale(1 / count)
}

// mostTiles bounds the memory of a sheet.
const mostTiles = 400

// checkTogether checks the number of clips side by side.
func checkTogether(paths []string, frames int) error {
	switch {
	case frames*len(paths) > mostTiles:
		return command.Usagef("%d frames of %d clips, at most %d pictures fit on a sheet", frames, len(paths), mostTiles)
	case len(paths) > mostTogether:
		return command.Usagef("%d clips, at most %d fit side by side", len(paths), mostTogether)
	}
	return nil
}
