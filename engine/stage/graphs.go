package stage

import (
	"fmt"
	"image"
	"image/color"
	"slices"
	"strconv"

	"github.com/g3n/engine/core"
	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/math32"

	"mannequin/engine/draw"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
)

// graphs draws graphs at the left of the picture, one below the other. Their boxes are painted when
// they change; the curves are lines that are drawn in each picture.
type graphs struct {
	boxes  []*graphBox
	curves *strokes
	over   *core.Node
}

// graphBox is the painted box of one graph.
type graphBox struct {
	*panel
	shown hud.Graph // without its values
	size  image.Point
	plot  image.Rectangle // area of the curves in the box
}

// Sizes of graphs, pixels.
const (
	widestGraph, narrowestGraph = 380, 170
	highestGraph, lowestGraph   = 170, 80
	lowestPlot                  = 22   // without title and legend
	mostValues                  = 1024 // newest values of a curve that are drawn
)

// curveColours are the colours of a graph's curves in order, linear RGB. They repeat.
var curveColours = [...][3]float32{
	{1.00, 0.40, 0.02}, {0.06, 0.42, 1.00}, {0.12, 0.75, 0.10}, {1.00, 0.80, 0.05}, {0.80, 0.12, 0.75},
	{0.05, 0.75, 0.75}, {0.85, 0.01, 0.04}, {0.60, 0.60, 0.60}, {0.45, 0.25, 0.10}, {1.00, 0.30, 0.45},
}

func newGraphs(over *core.Node) *graphs {
	g := &graphs{curves: newStrokes(), over: over}
	g.curves.add(over, 1, 1, func(m *shade) { m.SetDepthTest(false) })
	return g
}

// set draws the graphs that fit between top and bottom of a w×h picture and returns their width.
func (g *graphs) set(gs *gls.GLS, all []hud.Graph, w, h, top, bottom int) (wide int) {
	g.curves.clear()
	shown := 0
	for i := range all {
		if drawable(&all[i]) {
			shown++
		}
	}
	size := graphSize(shown, w, bottom-top)
	n := 0
	for i := range all {
		if size.Y == 0 || !drawable(&all[i]) || top+size.Y > bottom {
			continue
		}
		if n == len(g.boxes) {
			g.boxes = append(g.boxes, &graphBox{panel: newPanel(gs, placed, 0)})
			g.over.Add(g.boxes[n])
		}
		b := g.boxes[n]
		b.set(gs, &all[i], size)
		b.view, b.pos = [2]int{w, h}, image.Pt(panelMargin, top)
		b.curves(g.curves, all[i].Values)
		top += size.Y + panelGap
		wide = size.X
		n++
	}
	for _, b := range g.boxes[n:] {
		b.SetVisible(false)
		b.size = image.Point{}
	}
	g.curves.matrix = math32.Matrix4{
		2 / float32(w), 0, 0, 0,
		0, -2 / float32(h), 0, 0,
		0, 0, 1, 0,
		-1, 1, 0, 1}
	g.curves.show(w, h, 1.6)
	return wide
}

// graphsIn returns the number of graphs that fit in room rows.
func graphsIn(all []hud.Graph, room int) (n int) {
	for i := range all {
		if drawable(&all[i]) {
			n++
		}
	}
	return min(n, max(room, 0)/(lowestGraph+panelGap))
}

func drawable(g *hud.Graph) bool {
	return m3.Finite(g.Min) && m3.Finite(g.Max) && g.Min < g.Max
}

// graphSize returns the size of n graphs in a picture w wide with room rows; 0 if they do not fit.
func graphSize(n, w, room int) image.Point {
	if n == 0 {
		return image.Point{}
	}
	size := image.Pt(min(max(w*3/10, narrowestGraph), widestGraph), min(room/n-panelGap, highestGraph))
	if size.Y < lowestGraph { // fewer graphs are shown
		size.Y = lowestGraph
	}
	if size.Y > room || size.X > w/2 {
		return image.Point{}
	}
	return size
}

func (b *graphBox) set(gs *gls.GLS, g *hud.Graph, size image.Point) {
	s := &b.shown
	if b.size == size && s.Title == g.Title && s.Min == g.Min && s.Max == g.Max && s.Unit == g.Unit && s.Seconds == g.Seconds && slices.Equal(s.Names, g.Names) {
		return
	}
	names := append(s.Names[:0], g.Names...)
	*s = *g
	s.Names, s.Values, b.size = names, nil, size
	b.show(gs, b.paint())
}

// paint returns the box without curves, and sets their area.
func (b *graphBox) paint() *image.RGBA {
	const size, pad = 12.0, 7 // text size and padding, pixels
	g := &b.shown
	img := image.NewRGBA(image.Rectangle{Max: b.size})
	draw.Fill(img, img.Rect, panelDeep)
	width := func(s string) int { w, _ := draw.TextSize(size, s); return w }
	_, line := draw.TextSize(size, "Ag")
	draw.Text(img, pad, pad/2, size, panelText, g.Title)
	if g.Seconds > 0 {
		s := fmt.Sprintf("last %.3g s", g.Seconds)
		draw.Text(img, b.size.X-pad-width(s), pad/2, size, panelDim, s)
	}
	low, high := number(g.Min), number(g.Max)
	if g.Unit != "" {
		high += " " + g.Unit
	}
	// The legend has as many lines as leave some room for the curves.
	rows, x, most := 1, pad, max(1, (b.size.Y-line-3*pad-lowestPlot)/line)
	var at []image.Point // column, and line
	for _, n := range g.Names {
		w := width(n) + line + pad
		if x+w > b.size.X && x > pad {
			if rows == most {
				break
			}
			rows, x = rows+1, pad
		}
		at = append(at, image.Pt(x, rows-1))
		x += w
	}
	legend := b.size.Y - pad/2 - rows*line
	b.plot = image.Rect(pad+max(width(low), width(high))+pad/2, pad/2+line+pad/2, b.size.X-pad, legend-pad/2)
	for i, p := range at {
		x, y := p.X, legend+p.Y*line
		draw.Fill(img, image.Rect(x, y+line/2-1, x+line*2/3, y+line/2+2), pixelColour(curveColours[i%len(curveColours)]))
		draw.Text(img, x+line*5/6, y, size, panelText, g.Names[i])
	}
	p := b.plot
	draw.Text(img, p.Min.X-pad/2-width(high), p.Min.Y-line/4, size, panelDim, high)
	draw.Text(img, p.Min.X-pad/2-width(low), p.Max.Y-line*3/4, size, panelDim, low)
	for i := range 5 {
		y := p.Min.Y + i*(p.Dy()-1)/4
		draw.Fill(img, image.Rect(p.Min.X, y, p.Max.X, y+1), panelRaise)
	}
	draw.Fill(img, image.Rect(p.Min.X, p.Min.Y, p.Min.X+1, p.Max.Y), panelTrack)
	return img
}

// number formats v with four digits and without an exponent.
func number(v float32) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', 4, 32), 64)
	return strconv.FormatFloat(short, 'f', -1, 64)
}

func pixelColour(c [3]float32) color.RGBA {
	at := func(v float32) uint8 { return uint8(255*m3.Sqrt(m3.Clamp(v, 0, 1)) + 0.5) }
	return color.RGBA{at(c[0]), at(c[1]), at(c[2]), 255}
}

// curves appends the curves to s, in pixels of the picture.
func (b *graphBox) curves(s *strokes, values [][]float32) {
	g, p := &b.shown, b.plot.Add(b.pos)
	for c, v := range values {
		colour := curveColours[c%len(curveColours)]
		v = v[max(0, len(v)-mostValues):]
		at := func(i int) m3.Vec3 {
			share := (m3.Clamp(v[i], g.Min, g.Max) - g.Min) / (g.Max - g.Min)
			x := float32(p.Max.X) - 1
			if len(v) > 1 {
				x = m3.Lerp(float32(p.Min.X)+1, x, float32(i)/float32(len(v)-1))
			}
			return m3.V(x, m3.Lerp(float32(p.Max.Y), float32(p.Min.Y), share), 0)
		}
		for i := range v {
			switch {
			case !m3.Finite(v[i]):
			case i > 0 && m3.Finite(v[i-1]):
				s.line(at(i-1), at(i), colour)
			case i+1 == len(v) || !m3.Finite(v[i+1]): // a single value
				s.line(at(i), at(i), colour)
			}
		}
	}
}
