package character

import (
	"image"
	"strings"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/engine/draw"
	"mannequin/engine/m3"
	"mannequin/internal/atomicfile"
	"mannequin/offline/clipset"
	"mannequin/offline/eval/figure"
)

// review writes the labels of a set, and a picture of its clips beside them: each at its beginning, in the middle and at
// its end, seen from ahead and aside.
func review(path string, set *clipset.Set) error {
	if err := atomicfile.Write(path, set.WriteLabels); err != nil {
		return err
	}
	const (
		w, h, cols = 240, 150, 6
		most       = 600 // pictures
		moments    = 3
	)
	reach := float32(0.3)
	for _, c := range set.Clips {
		for _, p := range figure.Positions(c.Motion, 0) {
			reach = max(reach, p.Y, p.Sub(c.Motion.Pos[0]).Flat().Len())
		}
	}
	clips := set.Clips[:min(len(set.Clips), most)]
	return figure.WritePNG(cli.Stem(path)+".png", draw.Sheet(cols, w, h, len(clips), func(i int, tile *image.RGBA) {
		c := &clips[i]
		cam := draw.ThreeQuarter(m3.V(0, 0.45*reach, 0), 2.1*reach)
		for k := range moments {
			f := k * (c.Motion.Frames - 1) / (moments - 1)
			pos := figure.Positions(c.Motion, f)
			aside := c.Motion.Pos[f*set.Skel.Len()].Flat().Sub(m3.V(0.78, 0, -0.78).Scale(reach * float32(k-1)))
			for j := range pos {
				pos[j] = pos[j].Sub(aside)
			}
			draw.Skeleton(tile, cam, set.Skel.Parents, pos, draw.Blue)
		}
		draw.Text(tile, 6, 4, 12, draw.Ink, c.Name)
		draw.Text(tile, 6, h-18, 11, draw.Ink, strings.Join(c.Shows(), ", "))
	}))
}
