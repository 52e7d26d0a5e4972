package stage

import (
	"image"
	"math"
	"testing"

	"mannequin/engine/hud"
	"mannequin/engine/m3"
)

func threeKnobs() *hud.Panel {
	return &hud.Panel{Title: "made", Selected: 1,
		Sliders: []hud.Slider{{Label: "turn", Min: -3, Max: 3}, {Label: "step", Value: 1, Min: -3, Max: 3}, {Label: "from the left end", Value: 2, Min: 0, Max: 20}},
		Buttons: []hud.Button{{Label: "play", Key: 'P', Lit: true}, {Label: "add a clip", Key: 'A'}, {Label: "undo", Key: 'U', Off: true}},
	}
}

func laid(t *testing.T, p *hud.Panel, w, h int) *widgets {
	t.Helper()
	k := &widgets{}
	if !k.set(p, w, h, panelMargin) || k.set(p, w, h, panelMargin) {
		t.Fatal("a panel is painted when it changes, and only then")
	}
	return k
}

// The panel is at the top right inside a picture of any size, and its parts do not overlap.
func TestKnobsLayout(t *testing.T) {
	many := threeKnobs()
	for len(many.Sliders) < 20 {
		many.Sliders = append(many.Sliders, hud.Slider{Label: "another one", Min: -3, Max: 3})
	}
	for _, size := range []image.Point{{1280, 720}, {640, 360}, {900, 300}} {
		for _, p := range []*hud.Panel{threeKnobs(), many} {
			k := laid(t, p, size.X, size.Y)
			box := k.bounds.Add(k.at)
			if box.Max.X != size.X-panelMargin || box.Min.Y != panelMargin || box.Max.Y > size.Y || box.Min.X < size.X/2 {
				t.Errorf("%v: %d sliders cover %v", size, len(p.Sliders), box)
			}
			parts := append(append([]image.Rectangle{}, k.rows...), k.buttons...)
			if len(parts) != len(p.Sliders)+len(p.Buttons) {
				t.Fatalf("%d parts", len(parts))
			}
			for i, a := range parts {
				if !a.In(k.bounds) {
					t.Errorf("%v: part %d, %v, is outside %v", size, i, a, k.bounds)
				}
				for j, b := range parts[:i] {
					if a.Overlaps(b) {
						t.Errorf("%v: parts %d and %d overlap: %v and %v", size, i, j, a, b)
					}
				}
			}
		}
	}
	k := laid(t, threeKnobs(), 640, 360)
	if !k.set(nil, 640, 360, panelMargin) || !k.bounds.Empty() || k.set(&hud.Panel{}, 640, 360, panelMargin) {
		t.Error("a panel goes, and is painted on")
	}
}

// The mouse at a knob has the slider's value; the track's ends and beyond are the range's ends. A
// slider is held until the button is released.
func TestMouse(t *testing.T) {
	k := laid(t, threeKnobs(), 1280, 720)
	place := func(i int, v float32) (x, y float64) {
		p := image.Pt(k.knobX(i, v), (k.rows[i].Min.Y+k.rows[i].Max.Y)/2).Add(k.at)
		return float64(p.X), float64(p.Y)
	}
	for i, s := range threeKnobs().Sliders {
		for _, v := range []float32{s.Min, s.Max, s.Value, s.Min + 0.3*(s.Max-s.Min)} {
			var m mouse
			x, y := place(i, v)
			if got, dx, dy := m.move(x, y, false, k); got != (hud.Touch{}) || dx != 0 || dy != 0 {
				t.Errorf("a mouse that is up does %+v", got)
			}
			got, _, _ := m.move(x, y, true, k)
			if off := math.Abs(float64(got.Value - v)); !got.Set || got.Slider != i || off > float64(s.Max-s.Min)/float64(k.tracks[i].Dx()) {
				t.Errorf("slider %d at %g: %+v", i, v, got)
			}
			// Far off and far down it still is that slider.
			if got, dx, _ := m.move(0, 700, true, k); !got.Set || got.Slider != i || got.Value != s.Min || dx != 0 {
				t.Errorf("slider %d dragged to the left: %+v", i, got)
			}
			if got, _, _ := m.move(1279, 0, true, k); got.Value != s.Max {
				t.Errorf("slider %d dragged to the right: %+v", i, got)
			}
			if got, _, _ := m.move(x, y, false, k); got != (hud.Touch{}) {
				t.Errorf("let go: %+v", got)
			}
		}
	}
	var m mouse
	middle := func(r image.Rectangle) (x, y float64) {
		p := r.Min.Add(r.Max).Div(2).Add(k.at)
		return float64(p.X), float64(p.Y)
	}
	for i, want := range []byte{'P', 'A', 'U'} {
		x, y := middle(k.buttons[i])
		if got, _, _ := m.move(x, y, true, k); got != (hud.Touch{Press: want}) {
			t.Errorf("button %d: %+v", i, got)
		}
		x2, y2 := middle(k.rows[0])
		if got, dx, _ := m.move(x2, y2, true, k); got != (hud.Touch{}) || dx != 0 {
			t.Errorf("button %d held: %+v", i, got)
		}
		m.move(x, y, false, k)
	}
	// Beside the panel the mouse turns the camera, also on its way over it.
	m.move(100, 100, true, k)
	x, y := middle(k.rows[0])
	if got, dx, dy := m.move(x, y, true, k); got != (hud.Touch{}) || dx != x-100 || dy != y-100 {
		t.Errorf("dragging the camera over a slider: %+v, by %g, %g", got, dx, dy)
	}
	// A slider may vanish while it is held.
	m.move(x, y, false, k)
	x, y = middle(k.rows[2])
	m.move(x, y, true, k)
	p := threeKnobs()
	p.Sliders = p.Sliders[:1]
	k.set(p, 1280, 720, panelMargin)
	if got, _, _ := m.move(x, y, true, k); got != (hud.Touch{}) {
		t.Errorf("a slider that is gone: %+v", got)
	}
}

// A slider that moves changes the picture in its row, and nowhere else; a button
// that lights up in its own box; and the panel goes as it came.
func TestKnobsAreDrawn(t *testing.T) {
	const w, h = 640, 360
	s := open(t, w, h)
	s.Camera.Place(m3.V(0, 1, 0), m3.V(0, 1, -1))
	none := shoot(t, s, View{})
	p := threeKnobs()
	was := shoot(t, s, View{Panel: p})
	changed := func(a, b *image.RGBA) (box image.Rectangle) {
		for y := range h {
			for x := range w {
				if a.RGBAAt(x, y) != b.RGBAAt(x, y) {
					box = box.Union(image.Rect(x, y, x+1, y+1))
				}
			}
		}
		return box
	}
	if box, want := changed(none, was), s.widgets.bounds.Add(s.widgets.at); box != want {
		t.Errorf("the panel covers %v, want %v", box, want)
	}
	bright := func(img *image.RGBA, v float32) float64 {
		r := s.widgets.tracks[2]
		return light(mean(img, image.Pt(s.widgets.knobX(2, v), (r.Min.Y+r.Max.Y)/2).Add(s.widgets.at)))
	}
	p.Sliders[2].Value = 15
	is := shoot(t, s, View{Panel: p})
	row := s.widgets.rows[2].Add(s.widgets.at)
	if box := changed(was, is); box.Empty() || !box.In(row) {
		t.Errorf("a slider that moves changes %v, its row is %v", box, row)
	}
	if a, b := bright(was, 2), bright(is, 15); a < 200 || b < 200 || bright(was, 15) > 180 {
		t.Errorf("the knob is as bright as %g and %g where it is", a, b)
	}
	p.Buttons[1].Lit = true
	if box, want := changed(is, shoot(t, s, View{Panel: p})), s.widgets.buttons[1].Add(s.widgets.at); box.Empty() || !box.In(want) {
		t.Errorf("a button that lights up changes %v, want %v", box, want)
	}
	if box := changed(none, shoot(t, s, View{})); !box.Empty() {
		t.Errorf("the panel stays in %v when it is gone", box)
	}
}

// mean returns the mean colour of 3×3 pixels.
func mean(img *image.RGBA, p image.Point) (c [3]float64) {
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			q := img.RGBAAt(p.X+dx, p.Y+dy)
			for i, v := range []uint8{q.R, q.G, q.B} {
				c[i] += float64(v) / 9
			}
		}
	}
	return c
}
