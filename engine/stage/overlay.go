package stage

import (
	"image"
	"math"
	"slices"
	"strings"

	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/material"

	"mannequin/engine/draw"
	"mannequin/engine/stage/internal/gl"
)

// setOver has what lies over a picture of w×h pixels show v.
func (s *Stage) setOver(v *View, w, h int) {
	top := panelMargin
	if s.knobs.set(v.Panel, w, h, top) {
		s.controls.knobs(s.gs, &s.knobs)
	}
	s.controls.view, s.controls.pos = [2]int{w, h}, s.knobs.at
	if !s.knobs.bounds.Empty() {
		top += s.knobs.bounds.Dy() + panelGap
	}
	if s.choices.set(v.Has, v.Show, w, h, top) {
		s.view.knobs(s.gs, &s.choices.knobs)
	}
	s.view.view, s.view.pos = [2]int{w, h}, s.choices.at
	taken := s.knobs.bounds.Add(s.knobs.at).Union(s.choices.bounds.Add(s.choices.at))
	s.hud.set(s.gs, v.HUD, w, h, taken)
	s.help.set(s.gs, v.Help, w, h, taken)
	top, bottom := s.hud.height(), h-s.help.height()
	if free := h - panelMargin; graphsIn(v.Graphs, free-top) > graphsIn(v.Graphs, bottom-top) { // the help gives way
		s.help.SetVisible(false)
		bottom = free
	}
	wide := s.graphs.set(s.gs, v.Graphs, w, h, top, bottom)
	s.caption.set(s.gs, v.Caption, w, h, wide, s.help)
}

// corner says where a panel sits.
type corner int

const (
	topLeft corner = iota
	bottomLeft
	placed // at panel.pos
)

// panel is a box over the picture, of lines of text or what else is painted on the
// CPU, when it changes, and drawn as one textured quad.
type panel struct {
	*graphic.Mesh
	at      corner
	pos     image.Point // of the top left corner, where at is placed
	lines   []string
	size    float64 // of the text in a picture that is high enough, pixels
	shown   float64 // of the text now
	w, h    int     // pixels, 0 when empty
	tex     uint32
	picture gls.Uniform
	rect    gls.Uniform
	view    [2]int // the picture's size
}

// Pixels from the picture's edge, and from one panel to the next.
const panelMargin, panelGap = 14, 8

// quad covers −1…1.
func newQuad() ([]float32, []uint32) {
	return []float32{-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0}, []uint32{0, 1, 2, 0, 2, 3}
}

func newPanel(gs *gls.GLS, at corner, size float64) *panel {
	p := &panel{at: at, size: size, tex: newTexture(gs, unitPicture, gl.LINEAR)}
	p.picture.Init("Picture")
	p.rect.Init("Rect")
	s := newShade("panel", nil, p.uniforms)
	s.SetBlending(material.BlendNormal)
	s.SetTransparent(true)
	s.SetDepthTest(false)
	v, i := newQuad()
	p.Mesh = newMesh(newGeometry(v, i, 3), s, 0)
	p.SetVisible(false)
	return p
}

// set paints lines for a picture of w×h pixels, of which the part taken, at the right,
// shows something else.
func (p *panel) set(gs *gls.GLS, lines []string, w, h int, taken image.Rectangle) {
	p.view = [2]int{w, h}
	size := textSize(p.size, h)
	if lines = fit(lines, size, p.at, w, h, taken); slices.Equal(lines, p.lines) && size == p.shown {
		p.SetVisible(len(lines) > 0)
		return
	}
	p.lines, p.shown = append(p.lines[:0], lines...), size
	if len(lines) == 0 {
		p.show(gs, nil)
		return
	}
	p.show(gs, paintPanel(lines, size))
}

// textSize returns how large text of the given size is in a picture h pixels high: smaller
// in a small one, so that it does not hide the scene.
func textSize(size float64, h int) float64 {
	const enough, smallest = 540, 0.65
	return math.Round(size * min(max(float64(h)/enough, smallest), 1))
}

// height returns how many of the picture's rows it takes up at its edge.
func (p *panel) height() int {
	if !p.Visible() {
		return panelMargin
	}
	return panelMargin + p.h + panelGap
}

// show shows img, premultiplied, from now on; nil is nothing.
func (p *panel) show(gs *gls.GLS, img *image.RGBA) {
	p.SetVisible(img != nil)
	if img == nil {
		return
	}
	p.w, p.h = img.Rect.Dx(), img.Rect.Dy()
	gs.ActiveTexture(gls.TEXTURE0 + unitPicture)
	gl.BindTexture(gl.TEXTURE_2D, p.tex)
	gl.TexImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, int32(p.w), int32(p.h), gl.RGBA, gl.UNSIGNED_BYTE, img.Pix)
}

// knobs shows k.
func (p *panel) knobs(gs *gls.GLS, k *knobs) {
	if k.bounds.Empty() {
		p.show(gs, nil)
	} else {
		p.show(gs, k.paint())
	}
}

// textPad is between text and the edge of its box, pixels.
const textPad = 10

// textBox returns the size of the box around lines, and how high a line is.
func textBox(lines []string, size float64) (box image.Point, line int) {
	_, line = draw.TextSize(size, "Ag")
	line += 3
	w := 0
	for _, l := range lines {
		lw, _ := draw.TextSize(size, l)
		w = max(w, lw)
	}
	return image.Pt(w+2*textPad, line*len(lines)+2*textPad-3), line
}

// fit breaks lines that leave the picture of w×h pixels, or lie over what is taken, at
// its right. It returns nil where they would fill a quarter of the picture's height.
func fit(lines []string, size float64, at corner, w, h int, taken image.Rectangle) []string {
	room := w - 2*panelMargin - 2*textPad
	out := broken(lines, size, room)
	box, _ := textBox(out, size)
	top := panelMargin
	if at == bottomLeft {
		top = h - panelMargin - box.Y
	}
	if image.Rect(panelMargin, top, panelMargin+box.X, top+box.Y).Overlaps(taken) {
		out = broken(lines, size, taken.Min.X-2*panelMargin-2*textPad)
		box, _ = textBox(out, size)
	}
	if len(out) != len(lines) && (box.Y > h/4 || box.X > w-2*panelMargin) {
		return nil
	}
	return out
}

// broken breaks lines between words, so that none is wider than room pixels where its
// words allow that.
func broken(lines []string, size float64, room int) (out []string) {
	for _, l := range lines {
		if w, _ := draw.TextSize(size, l); w <= room {
			out = append(out, l)
			continue
		}
		now := ""
		for _, word := range strings.Split(l, " ") {
			longer := now + " " + word
			if now == "" {
				longer = word
			}
			if w, _ := draw.TextSize(size, longer); w > room && now != "" {
				out = append(out, strings.TrimRight(now, " "))
				longer = word
			}
			now = longer
		}
		out = append(out, now)
	}
	return out
}

// paintPanel returns the lines on a translucent box.
func paintPanel(lines []string, size float64) *image.RGBA {
	box, line := textBox(lines, size)
	img := image.NewRGBA(image.Rectangle{Max: box})
	draw.Fill(img, img.Rect, panelBack)
	for i, l := range lines {
		draw.Text(img, textPad, textPad+i*line, size, panelText, l)
	}
	return img
}

func (p *panel) uniforms(gs *gls.GLS) {
	bindTexture(gs, unitPicture, p.tex, &p.picture)
	x0, y1 := panelMargin, p.view[1]-panelMargin // pixels, from the bottom
	switch p.at {
	case bottomLeft:
		y1 = panelMargin + p.h
	case placed:
		x0, y1 = p.pos.X, p.view[1]-p.pos.Y
	}
	cx := func(x int) float32 { return 2*float32(x)/float32(p.view[0]) - 1 }
	cy := func(y int) float32 { return 2*float32(y)/float32(p.view[1]) - 1 }
	gs.Uniform4f(p.rect.Location(gs), cx(x0), cy(y1-p.h), cx(x0+p.w), cy(y1))
}
