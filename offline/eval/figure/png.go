package figure

import (
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"slices"

	"mannequin/internal/atomicfile"
)

// Folder makes the folder for figures, before anything is measured. It does nothing without a name.
func Folder(dir string) error {
	if dir == "" {
		return nil
	}
	return os.MkdirAll(dir, 0o755)
}

// WritePNG writes a picture.
func WritePNG(path string, img image.Image) error {
	return atomicfile.Write(path, func(w io.Writer) error { return png.Encode(w, img) })
}

// Recorded is the colour of recorded motion.
var Recorded = color.RGBA{150, 154, 160, 255}

// figureColours is the largest number of colours in a figure: few enough for a small file, enough
// for smooth lines.
const figureColours = 64

// Save writes a drawing as a PNG of few colours.
func Save(path string, img *image.RGBA) error {
	return WritePNG(path, fewColours(img))
}

// fewColours returns the picture in its most frequent colours. Other colours become the nearest of
// these.
func fewColours(img *image.RGBA) *image.Paletted {
	var index []int32 // (pixels) index of the colour in all
	var all []color.RGBA
	var count []int
	of := map[color.RGBA]int32{}
	last := color.RGBA{} // most pixels have the colour of the last
	at := int32(-1)
	for i := 0; i < len(img.Pix); i += 4 {
		p := img.Pix[i : i+4 : i+4]
		if c := (color.RGBA{p[0], p[1], p[2], p[3]}); at < 0 || c != last {
			var ok bool
			if at, ok = of[c]; !ok {
				at = int32(len(all))
				all, count, of[c] = append(all, c), append(count, 0), at
			}
			last = c
		}
		count[at]++
		index = append(index, at)
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return count[b] - count[a] })
	var few color.Palette
	for _, i := range order[:min(figureColours, len(order))] {
		few = append(few, all[i])
	}
	nearest := make([]uint8, len(all))
	for i, c := range all {
		nearest[i] = uint8(few.Index(c))
	}
	out := image.NewPaletted(image.Rect(0, 0, img.Rect.Dx(), img.Rect.Dy()), few)
	for i := range out.Pix {
		out.Pix[i] = nearest[index[i]]
	}
	return out
}
