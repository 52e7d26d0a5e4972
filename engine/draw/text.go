package draw

import (
	"image"
	"image/color"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// goFont parses the embedded font once. Failure is a programming error.
var goFont = sync.OnceValue(func() *opentype.Font {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic("draw: embedded font: " + err.Error())
	}
	return f
})

var (
	faceMu sync.Mutex // a face caches glyphs and is not safe for concurrent use
	faces  = map[float64]font.Face{}
)

func withFace(size float64, f func(font.Face)) {
	faceMu.Lock()
	defer faceMu.Unlock()
	face := faces[size]
	if face == nil {
		var err error
		face, err = opentype.NewFace(goFont(), &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
		if err != nil {
			panic("draw: embedded font: " + err.Error())
		}
		faces[size] = face
	}
	f(face)
}

// Text writes one line with its top left corner at (x, y), size pixels high.
func Text(img *image.RGBA, x, y int, size float64, c color.RGBA, s string) {
	withFace(size, func(f font.Face) {
		d := font.Drawer{Dst: img, Src: image.NewUniform(c), Face: f,
			Dot: fixed.P(x, y+f.Metrics().Ascent.Ceil())}
		d.DrawString(s)
	})
}

// TextSize returns the width and height of Text for s, in pixels.
func TextSize(size float64, s string) (w, h int) {
	withFace(size, func(f font.Face) {
		m := f.Metrics()
		w, h = font.MeasureString(f, s).Ceil(), m.Ascent.Ceil()+m.Descent.Ceil()
	})
	return w, h
}
