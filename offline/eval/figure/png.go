package figure

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"

	"mannequin/internal/atomicfile"
)

// Album is the pictures that an evaluation draws into a folder.
type Album struct {
	dir   string
	Paths []string
}

// NewAlbum makes the folder, so that an error comes before anything is measured. Without a name it
// returns nil: nothing is to be drawn.
func NewAlbum(dir string) (*Album, error) {
	if dir == "" {
		return nil, nil
	}
	return &Album{dir: dir}, os.MkdirAll(dir, 0o755)
}

// Add draws the picture called name with save, which gets its path.
func (a *Album) Add(name string, save func(path string) error) error {
	path := filepath.Join(a.dir, name)
	a.Paths = append(a.Paths, path)
	return save(path)
}

// Draw adds a drawing as a PNG of few colours.
func (a *Album) Draw(name string, img *image.RGBA) error {
	return a.Add(name, func(path string) error { return WritePNG(path, fewColours(img)) })
}

// WritePNG writes a picture.
func WritePNG(path string, img image.Image) error {
	return atomicfile.Write(path, func(w io.Writer) error { return png.Encode(w, img) })
}

// Recorded is the colour of recorded motion.
var Recorded = color.RGBA{150, 154, 160, 255}

// mostColours is the largest number of colours in a figure: few enough for a small file, enough
// for smooth lines.
const mostColours = 64

// fewColours returns the picture in its most frequent colours. Other colours become the nearest of
// these.
func fewColours(img *image.RGBA) *image.Paletted {
	count := map[color.RGBA]int{}
	var all []color.RGBA // in order of their first pixels
	for i := 0; i < len(img.Pix); i += 4 {
		c := color.RGBA{img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3]}
		if count[c] == 0 {
			all = append(all, c)
		}
		count[c]++
	}
	slices.SortStableFunc(all, func(a, b color.RGBA) int { return count[b] - count[a] })
	var few color.Palette
	for _, c := range all[:min(mostColours, len(all))] {
		few = append(few, c)
	}
	out := image.NewPaletted(img.Rect, few)
	draw.Draw(out, out.Rect, img, img.Rect.Min, draw.Src)
	return out
}
