package character

import (
	"fmt"
	"image"
	"strings"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/engine/draw"
	"mannequin/engine/m3"
	"mannequin/internal/atomicfile"
	"mannequin/offline/clipset"
	"mannequin/offline/eval/figure"
)

// review writes the labels of a set, and a picture beside them: each clip at its beginning, in the middle and at its end, seen
// from ahead and aside, and after the clips a row of moments for each cluster of poses.
func review(path string, set *clipset.Set) error {
	if err := atomicfile.Write(path, set.WriteLabels); err != nil {
		return err
	}
	const (
		w, h, cols = 240, 150, 6
		most       = 600 // pictures of clips
		moments    = 3
	)
	reach := float32(0.3)
	for _, c := range set.Clips {
		for _, p := range figure.Positions(c.Motion, 0) {
			reach = max(reach, p.Y, p.Sub(c.Motion.Pos[0]).Flat().Len())
		}
	}
	cam := draw.ThreeQuarter(m3.V(0, 0.45*reach, 0), 2.1*reach)
	// body draws a frame of a clip, turned, and aside of the middle by a share of the reach.
	body := func(tile *image.RGBA, c *clipset.Clip, f int, turn m3.Quat, aside float32) {
		pos := figure.Positions(c.Motion, f)
		at := c.Motion.Pos[f*set.Skel.Len()].Flat()
		for j := range pos {
			pos[j] = turn.Rotate(pos[j].Sub(at)).Add(m3.V(0.78, 0, -0.78).Scale(reach * aside))
		}
		draw.Skeleton(tile, cam, set.Skel.Parents, pos, draw.Blue)
	}
	clips, clusters := set.Clips[:min(len(set.Clips), most)], set.Clusters()
	begin := len(clips) // of the clusters: in a new row
	if len(clusters) > 0 {
		begin = (begin + cols - 1) / cols * cols
	}
	return figure.WritePNG(cli.Stem(path)+".png", draw.Sheet(cols, w, h, begin+cols*len(clusters), func(i int, tile *image.RGBA) {
		switch {
		case i < len(clips):
			c := &clips[i]
			for k := range moments {
				body(tile, c, k*(c.Motion.Frames-1)/(moments-1), m3.Ident, float32(k-1))
			}
			draw.Text(tile, 6, 4, 12, draw.Ink, c.Name)
			draw.Text(tile, 6, h-18, 11, draw.Ink, strings.Join(c.Shows(), ", "))
		case i >= begin:
			row, col := (i-begin)/cols, (i-begin)%cols
			c := &clusters[row]
			n := min(len(c.Moments), cols)
			if col >= n {
				return
			}
			m := c.Moments[col*(len(c.Moments)-1)/max(n-1, 1)] // from its middle to its edge
			clip := &set.Clips[m.Clip]
			f := (m.From + m.To - 1) / 2
			body(tile, clip, f, m3.YawQuat(-clip.Motion.Rot[f*set.Skel.Len()].Yaw()), 0) // all face the same way
			text := fmt.Sprintf("%s at %.1f s", clip.Name, float64(m.From)/clipset.FPS)
			if col == 0 {
				shows, _ := set.Shows(c)
				text = fmt.Sprintf("row %d: %s", row+1, c.Name)
				draw.Text(tile, 6, h-18, 11, draw.Ink, strings.Join(shows, ", "))
			}
			draw.Text(tile, 6, 4, 12, draw.Ink, text)
		}
	}))
}
