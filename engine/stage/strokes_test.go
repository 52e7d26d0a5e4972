package stage

import (
	"bytes"
	"image"
	"math"
	"testing"

	"mannequin/engine/hud"
	"mannequin/engine/m3"
)

var red = [3]float32{1, 0, 0}

// redRows returns how many pixels above each other are red at the world point p.
func redRows(t *testing.T, s *Stage, img *image.RGBA, p m3.Vec3) (n int) {
	t.Helper()
	x, _ := pixel(t, s, img, p)
	for y := range img.Rect.Dy() {
		if c := img.RGBAAt(x, y); c.R > 150 && c.G < 110 && c.B < 110 {
			n++
		}
	}
	return n
}

// A line has its place in the world, its colour, and the same width at any distance.
func TestLines(t *testing.T) {
	s := open(t, 320, 240)
	s.Camera.Place(m3.V(0, 1, 4), m3.V(0, 1, 0))
	lines := []hud.Line{
		{From: m3.V(-0.2, 0.8, 2), To: m3.V(0.2, 0.8, 2), Colour: red},
		{From: m3.V(-8, 6, -30), To: m3.V(8, 6, -30), Colour: red},
		{From: m3.V(-0.3, 0.9, 3), To: m3.V(-0.3, 0.9, 40), Colour: [3]float32{0, 0, 1}}, // on past the eye
		{From: m3.V(0.3, 0.9, 40), To: m3.V(0.3, 0.9, 3), Colour: [3]float32{0, 0, 1}},   // and back
	}
	img := shoot(t, s, View{Lines: lines})
	for _, p := range []m3.Vec3{{X: 0, Y: 0.8, Z: 2}, {X: -5, Y: 6, Z: -30}, {X: 5, Y: 6, Z: -30}} {
		if n := redRows(t, s, img, p); n < 2 || n > 4 {
			t.Errorf("the line through %v is %d pixels wide, want 2 to 4", p, n)
		}
	}
	s.Camera.Place(m3.V(0, 1, 6), m3.V(0, 1, 0))
	img = shoot(t, s, View{Lines: lines})
	for _, x := range []float32{-0.3, 0.3} {
		on, before := at(t, s, img, m3.V(x, 0.9, 4)), at(t, s, img, m3.V(x, 0.9, 2))
		if on[2] < on[0]+100 || before[2] > before[0]+100 {
			t.Errorf("the line at %g on past the eye is %v, and %v before its beginning", x, on, before)
		}
	}
	none := shoot(t, s, View{})
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	broken := []hud.Line{{From: m3.V(nan, 0, 0), Colour: red}, {To: m3.V(0, inf, 0), Colour: red}, {From: m3.V(0, 1, 9), To: m3.V(0, 2, 12), Colour: red}}
	if got := shoot(t, s, View{Lines: broken}); !bytes.Equal(got.Pix, none.Pix) {
		t.Error("lines that are not finite, or behind the eye, are drawn")
	}
	if n := len(s.lines.index) / 6; n != 1 {
		t.Errorf("%d of 3 lines are given to the driver, want the one that is finite", n)
	}
}

// Hidden parts of a line are dimmed.
func TestHiddenLines(t *testing.T) {
	s := open(t, 320, 240)
	s.Camera.Place(m3.V(0, 0.5, 3), m3.V(0, 0.5, 0))
	newCrowd(t, s, post(t), stand(nil, m3.Vec3{}, m3.Ident), [][3]float32{{0.02, 0.02, 0.02}})
	line := []hud.Line{{From: m3.V(-0.5, 0.3, -0.5), To: m3.V(0.5, 0.3, -0.5), Colour: red}}
	without := at(t, s, shoot(t, s, View{}), m3.V(0, 0.3, -0.5))
	img := shoot(t, s, View{Lines: line})
	open, hidden := at(t, s, img, m3.V(0.3, 0.3, -0.5)), at(t, s, img, m3.V(0, 0.3, -0.5))
	if hidden[0] < without[0]+20 || hidden[0] > open[0]-20 {
		t.Errorf("a line is %v in the open and %v behind a post that is %v: want it to shine through", open, hidden, without)
	}
}
