package main

import (
	"cmp"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"slices"

	"mannequin/internal/atomicfile"
)

// figuresFolder makes the folder that figures are drawn into, before anything is
// measured. No name is no figures.
func figuresFolder(dir string) error {
	if dir == "" {
		return nil
	}
	return os.MkdirAll(dir, 0o755)
}

// figureColours is how many colours a figure has at most: few make a small file, and
// leave lines smooth.
const figureColours = 64

// saveFigure writes a drawing as a PNG of few colours.
func saveFigure(path string, img *image.RGBA) error {
	e := png.Encoder{CompressionLevel: png.BestCompression}
	return atomicfile.Write(path, func(w io.Writer) error { return e.Encode(w, fewColours(img)) })
}

// fewColours returns the picture in its most frequent colours; the others become
// the nearest of them.
func fewColours(img *image.RGBA) *image.Paletted {
	count := map[color.RGBA]int{}
	for i := 0; i < len(img.Pix); i += 4 {
		count[color.RGBA{img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3]}]++
	}
	all := make([]color.RGBA, 0, len(count))
	for c := range count {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B), cmp.Compare(a.A, b.A))
	})
	var of color.Palette
	for _, c := range all[:min(figureColours, len(all))] {
		of = append(of, c)
	}
	index := map[color.RGBA]uint8{}
	for _, c := range all {
		index[c] = uint8(of.Index(c))
	}
	out := image.NewPaletted(image.Rect(0, 0, img.Rect.Dx(), img.Rect.Dy()), of)
	for i := range out.Pix {
		p := img.Pix[4*i:]
		out.Pix[i] = index[color.RGBA{p[0], p[1], p[2], p[3]}]
	}
	return out
}
