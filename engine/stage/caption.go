package stage

import (
	"image"
	"image/color"

	"github.com/g3n/engine/gls"

	"mannequin/engine/draw"
)

// caption is large text in the middle of the picture's bottom.
type caption struct {
	*panel
	text string
	room image.Point // that the text was painted for
}

// captionBack is the background of captions, premultiplied.
var captionBack = color.RGBA{5, 7, 10, 170}

// set shows text in a picture of w×h pixels, beside graphs pixels of graphs at the left. It lies
// above the help if they would overlap.
func (c *caption) set(gs *gls.GLS, text string, w, h, graphs int, help *panel) {
	c.view = [2]int{w, h}
	left := 0
	if graphs > 0 {
		left = panelMargin + graphs
	}
	room := image.Pt(min(w*7/10, w-left-2*panelMargin), h/3)
	if text != c.text || text != "" && room != c.room {
		c.text, c.room = text, room
		if text == "" || room.X < narrowestCaption {
			c.show(gs, nil)
		} else {
			c.show(gs, paintCaption(text, room))
		}
	}
	if !c.Visible() {
		return
	}
	c.pos = image.Pt((left+w-c.w)/2, h-2*panelMargin-c.h)
	if help.Visible() && c.pos.X < panelMargin+help.w+panelGap {
		c.pos.Y = h - help.height() - c.h
	}
}

// Sizes of a caption's text, and the minimum width of a caption, pixels.
const largestCaption, smallestCaption, narrowestCaption = 64, 11, 32

// paintCaption paints centred, wrapped text on a soft background, as large as fits room.
func paintCaption(text string, room image.Point) *image.RGBA {
	size := min(max(room.Y/7, smallestCaption), largestCaption)
	var lines []string
	var pad, line int
	for ; ; size-- {
		pad = size / 2
		lines = wrapLines([]string{text}, float64(size), room.X-4*pad)
		_, line = draw.TextSize(float64(size), "Ag")
		if size <= smallestCaption || line*len(lines)+2*pad <= room.Y {
			break
		}
	}
	wide := 0
	for _, l := range lines {
		w, _ := draw.TextSize(float64(size), l)
		wide = max(wide, w)
	}
	// Text that is far too long is cut.
	img := image.NewRGBA(image.Rect(0, 0, min(wide+4*pad, room.X), min(line*len(lines)+2*pad, 2*room.Y)))
	softBox(img, captionBack, pad)
	for i, l := range lines {
		w, _ := draw.TextSize(float64(size), l)
		draw.Text(img, (img.Rect.Dx()-w)/2, pad+i*line, float64(size), panelText, l)
	}
	return img
}

// softBox fills img with c, which fades over the outermost soft pixels.
func softBox(img *image.RGBA, c color.RGBA, soft int) {
	b := img.Rect
	for y := range b.Dy() {
		for x := range b.Dx() {
			fx, fy := edge(x, b.Dx(), soft), edge(y, b.Dy(), soft)
			at := func(v uint8) uint8 { return uint8(float32(v) * fx * fy) }
			img.SetRGBA(x, y, color.RGBA{at(c.R), at(c.G), at(c.B), at(c.A)})
		}
	}
}

// edge rises smoothly from 0 at either end of n pixels to 1 at soft pixels from the end.
func edge(i, n, soft int) float32 {
	u := min(float32(min(i, n-1-i))/float32(soft), 1)
	return u * u * (3 - 2*u)
}
