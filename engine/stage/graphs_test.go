package stage

import (
	"bytes"
	"image"
	"math"
	"slices"
	"testing"

	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

func ramp(n int) *hud.Graph {
	g := &hud.Graph{Title: "a ramp", Names: []string{"up", "flat"}, Values: make([][]float32, 2), Max: 2, Unit: "m", Seconds: 4}
	for i := range n {
		g.Values[0] = append(g.Values[0], 2*float32(i)/float32(n-1))
		g.Values[1] = append(g.Values[1], 0.5)
	}
	return g
}

// like reports whether a pixel near p is of the colour of curve c.
func like(img *image.RGBA, p image.Point, c int) bool {
	want := pixelColour(curveColours[c])
	near := func(a, b uint8) bool { return math.Abs(float64(a)-float64(b)) < 40 }
	for y := p.Y - 2; y <= p.Y+2; y++ {
		if got := img.RGBAAt(p.X, y); near(got.R, want.R) && near(got.G, want.G) && near(got.B, want.B) {
			return true
		}
	}
	return false
}

// Curves pass through their values, with gaps at values that are not finite, and are clamped.
func TestGraph(t *testing.T) {
	s := open(t, 640, 360)
	g := ramp(100)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for i := 40; i < 60; i++ {
		g.Values[0][i] = nan
	}
	g.Values[0][50] = inf
	g.Values[1][90], g.Values[1][91], g.Values[1][92] = 7, 7, 7
	img := shoot(t, s, View{Graphs: []hud.Graph{*g}})
	p := s.graphs.boxes[0].plot.Add(s.graphs.boxes[0].pos)
	at := func(i int, v float32) image.Point {
		return image.Pt(p.Min.X+1+i*(p.Dx()-2)/99, p.Max.Y-int(v/2*float32(p.Dy())))
	}
	for _, i := range []int{10, 35, 65, 80} {
		if !like(img, at(i, 2*float32(i)/99), 0) {
			t.Errorf("curve 0 is not at its value %d", i)
		}
	}
	for _, i := range []int{45, 50, 55} {
		if like(img, at(i, 2*float32(i)/99), 0) {
			t.Errorf("curve 0 is drawn at %d, where it has a gap", i)
		}
	}
	if !like(img, at(30, 0.5), 1) || !like(img, at(91, 2), 1) {
		t.Error("curve 1 is not at its values, or leaves the axis")
	}
}

// Graphs stay between the texts in any picture, and are left out without a range or room.
func TestGraphsFit(t *testing.T) {
	nan := float32(math.NaN())
	for _, size := range []image.Point{{1280, 720}, {640, 360}, {480, 270}, {320, 180}, {64, 64}} {
		s := open(t, size.X, size.Y)
		v := View{HUD: []string{"one", "two"}, Help: []string{"help"}, Graphs: []hud.Graph{{Title: "no range"}, *ramp(5), *ramp(3000), {Min: nan, Max: 1}, *ramp(1), *ramp(9)}}
		v.Graphs[2].Names = []string{"a name that is long", "and another", "a third", "a fourth that is longer than the rest", "and more", "and more", "and more"}
		must.Do(t, s.Draw(v))
		shown, from := 0, s.hud.height()
		for _, b := range s.graphs.boxes {
			if !b.Visible() {
				continue
			}
			shown++
			box := image.Rectangle{Min: b.pos, Max: b.pos.Add(b.size)}
			if box.Min.Y < from || box.Max.Y > size.Y-s.help.height() || box.Max.X > size.X/2+panelMargin || !b.plot.In(image.Rectangle{Max: b.size}) || b.plot.Dy() < lowestPlot-2 {
				t.Errorf("%v: a graph in %v with curves in %v", size, box, b.plot)
			}
			from = box.Max.Y
		}
		if want := map[int]int{720: 4, 360: 3, 270: 2, 180: 0, 64: 0}[size.Y]; shown != want {
			t.Errorf("%v: %d graphs, want %d", size, shown, want)
		}
		s.Close()
	}
}

// In a small picture the text is small too, and the help leaves room for a graph. With more graphs
// the help is hidden, and comes back.
func TestGraphsInSmallPicture(t *testing.T) {
	s := open(t, 640, 360)
	v := View{HUD: slices.Repeat([]string{"what is going on"}, 3), Help: slices.Repeat([]string{"what a key does, or another one"}, 8)}
	for _, c := range []struct {
		graphs int
		help   bool
	}{{0, true}, {1, true}, {2, false}, {0, true}} {
		v.Graphs = slices.Repeat([]hud.Graph{*ramp(5)}, c.graphs)
		must.Do(t, s.Draw(v))
		shown := 0
		for _, b := range s.graphs.boxes {
			if b.Visible() {
				shown++
			}
		}
		if shown != c.graphs || s.help.Visible() != c.help {
			t.Errorf("%d graphs of %d, with help: %v", shown, c.graphs, s.help.Visible())
		}
		if box := image.Pt(s.help.w, s.help.h); c.help && (box.X > 640/2 || box.Y > 360/2) {
			t.Errorf("the help takes up %v of a picture of 640×360", box)
		}
	}
	for h, want := range map[int]float64{2000: 15, 720: 15, 540: 15, 360: 10, 64: 10} {
		if got := textSize(15, h); got != want {
			t.Errorf("text of %g pixels in a picture %d high, want %g", got, h, want)
		}
	}
}

// A graph's labels are plain numbers, and its curves' colours are distinct.
func TestGraphLabels(t *testing.T) {
	for v, want := range map[float32]string{0: "0", 0.1: "0.1", 9999.999: "10000", 20000: "20000", 0.33333: "0.3333", -2.5: "-2.5", 1e7: "10000000"} {
		if got := number(v); got != want {
			t.Errorf("%g is labelled %s, want %s", v, got, want)
		}
	}
	for i, a := range curveColours {
		for k, b := range curveColours[:i] {
			p, q := pixelColour(a), pixelColour(b)
			d := func(x, y uint8) float64 { return float64(x) - float64(y) }
			if far := math.Hypot(math.Hypot(d(p.R, q.R), d(p.G, q.G)), d(p.B, q.B)); far < 60 {
				t.Errorf("curves %d and %d look the same: %v, %v", k, i, p, q)
			}
		}
	}
}

// Graphs come and go, and their boxes are painted only when they change.
func TestGraphsComeAndGo(t *testing.T) {
	s := open(t, 640, 360)
	none := shoot(t, s, View{})
	shoot(t, s, View{Graphs: []hud.Graph{*ramp(20), *ramp(30)}})
	if got := shoot(t, s, View{}); !bytes.Equal(got.Pix, none.Pix) {
		t.Error("graphs stay when they are gone")
	}
	v := View{Graphs: []hud.Graph{*ramp(20)}, Lines: []hud.Line{{To: m3.V(1, 1, 1)}}, Caption: "said", Has: hud.AllOverlays, Show: hud.Roots}
	shoot(t, s, v)
	if n := testing.AllocsPerRun(10, func() {
		v.Graphs[0].Values[0][3] += 0.01
		s.setOver(&v, 640, 360)
		s.setLines(v.Lines)
	}); n > 2 {
		t.Errorf("a picture like the last takes %g allocations", n)
	}
}
