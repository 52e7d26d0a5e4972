package golden

import (
	"image"
	"testing"
)

// The comparison finds a picture that is a little darker, and one in which
// something stands elsewhere, and lets rounding pass.
func TestGoldenComparison(t *testing.T) {
	was := image.NewRGBA(image.Rect(0, 0, 320, 180))
	for i := range was.Pix {
		was.Pix[i] = uint8(60 + i/5%120)
		if i%4 == 3 {
			was.Pix[i] = 255
		}
	}
	change := func(f func(x, y int, v uint8) uint8) bool {
		now := image.NewRGBA(was.Rect)
		for i, v := range was.Pix {
			if now.Pix[i] = v; i%4 != 3 {
				now.Pix[i] = f(i/4%320, i/4/320, v)
			}
		}
		mean, share := differ(t, now, was)
		return mean > mostMean || share > mostShare
	}
	if change(func(x, y int, v uint8) uint8 { return v&^7 | 4 }) {
		t.Error("rounding counts")
	}
	if !change(func(x, y int, v uint8) uint8 { return v - v/10 }) {
		t.Error("less light does not count")
	}
	if !change(func(x, y int, v uint8) uint8 {
		if x >= 140 && x < 190 && y >= 80 && y < 130 {
			return v / 2
		}
		return v
	}) {
		t.Error("an additional character does not count")
	}
}
