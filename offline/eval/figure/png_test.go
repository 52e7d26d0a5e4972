package figure

import (
	"image/color"
	"testing"

	"mannequin/engine/draw"
)

// A figure has few colours: those that it has most of as they are, others nearly.
func TestFewColours(t *testing.T) {
	img := draw.New(300, 2, draw.Paper)
	for x := range 256 {
		img.SetRGBA(x, 0, color.RGBA{uint8(x), 0, 0, 255})
	}
	out := fewColours(img)
	if out.Rect != img.Rect || len(out.Palette) != mostColours || out.At(7, 1) != color.Color(draw.Paper) || out.At(299, 0) != color.Color(draw.Paper) {
		t.Errorf("%d colours in %v, %v", len(out.Palette), out.Rect, out.At(7, 1))
	}
	if r, _, _, _ := out.At(30, 0).RGBA(); r>>8 != 30 {
		t.Errorf("red 30 is %d", r>>8)
	}
}
