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
	"mannequin/engine/internal/gl"
	"mannequin/engine/internal/gpu"
)

// setOver updates everything over a picture of w×h pixels.
func (s *Stage) setOver(v *View, w, h int) {
	top := panelMargin
	if s.widgets.set(v.Panel, w, h, top) {
		s.controls.widgets(s.gs, &s.widgets)
	}
	s.controls.view, s.controls.pos = [2]int{w, h}, s.widgets.at
	if !s.widgets.bounds.Empty() {
		top += s.widgets.bounds.Dy() + panelGap
	}
	if s.choices.set(v.Has, v.Show, w, h, top) {
		s.view.widgets(s.gs, &s.choices.widgets)
	}
	s.view.view, s.view.pos = [2]int{w, h}, s.choices.at
	taken := s.widgets.bounds.Add(s.widgets.at).Union(s.choices.bounds.Add(s.choices.at))
	s.hud.set(s.gs, v.HUD, w, h, taken)
	s.help.set(s.gs, v.Help, w, h, taken)
	top, bottom := s.hud.height(), h-s.help.height()
	if free := h - panelMargin; graphsIn(v.Graphs, free-top) > graphsIn(v.Graphs, bottom-top) { // the help makes room
		s.help.SetVisible(false)
		bottom = free
	}
	wide := s.graphs.set(s.gs, v.Graphs, w, h, top, bottom)
	s.caption.set(s.gs, v.Caption, w, h, wide, s.help)
}

// corner is the position of a panel.
type corner int

const (
	topLeft corner = iota
	bottomLeft
	placed // at panel.pos
)

// panel is a box over the picture, painted on the CPU when it changes, drawn as a textured quad.
type panel struct {
	*graphic.Mesh
	at      corner
	pos     image.Point // of the top left corner, if at is placed
	lines   []string
	size    float64 // of the text in a picture that is high enough, pixels
	shown   float64 // present size of the text
	w, h    int     // pixels, 0 when empty
	tex     uint32
	picture gls.Uniform
	rect    gls.Uniform
	view    [2]int // size of the picture
}

// Distances of panels from the picture's edge and from each other, pixels.
const panelMargin, panelGap = 14, 8

func newQuad() ([]float32, []uint32) {
	return []float32{-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0}, []uint32{0, 1, 2, 0, 2, 3}
}

func newPanel(gs *gls.GLS, at corner, size float64) *panel {
	p := &panel{at: at, size: size, tex: gpu.NewTexture(gs, unitPicture, gl.LINEAR), picture: gpu.Uniform("Picture"), rect: gpu.Uniform("Rect")}
	s := newShade("panel", nil, p.uniforms)
	s.SetBlending(material.BlendNormal)
	s.SetTransparent(true)
	s.SetDepthTest(false)
	v, i := newQuad()
	p.Mesh = gpu.NewMesh(gpu.NewGeometry(v, i, 3), s, 0)
	p.SetVisible(false)
	return p
}

// set shows lines in a picture of w×h pixels, where taken is covered by other panels at the right.
func (p *panel) set(gs *gls.GLS, lines []string, w, h int, taken image.Rectangle) {
	p.view = [2]int{w, h}
	size := textSize(p.size, h)
	if lines = fitLines(lines, size, p.at, w, h, taken); slices.Equal(lines, p.lines) && size == p.shown {
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

// textSize returns the size of text in a picture h pixels high. Text is smaller in small pictures.
func textSize(size float64, h int) float64 {
	const enough, smallest = 540, 0.65
	return math.Round(size * min(max(float64(h)/enough, smallest), 1))
}

// height returns the rows that the panel covers, from the edge of the picture.
func (p *panel) height() int {
	if !p.Visible() {
		return panelMargin
	}
	return panelMargin + p.h + panelGap
}

// show shows img, premultiplied; nil hides the panel.
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

func (p *panel) widgets(gs *gls.GLS, k *widgets) {
	if k.bounds.Empty() {
		p.show(gs, nil)
	} else {
		p.show(gs, k.paint())
	}
}

// textPad is the distance of text from the edge of its box, pixels.
const textPad = 10

// textBox returns the size of the box around lines and the height of a line.
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

// fitLines wraps lines that would leave the picture of w×h pixels or overlap taken, at its right.
// It returns nil if they would then fill more than a quarter of the picture's height.
func fitLines(lines []string, size float64, at corner, w, h int, taken image.Rectangle) []string {
	room := w - 2*panelMargin - 2*textPad
	out := wrapLines(lines, size, room)
	box, _ := textBox(out, size)
	top := panelMargin
	if at == bottomLeft {
		top = h - panelMargin - box.Y
	}
	if image.Rect(panelMargin, top, panelMargin+box.X, top+box.Y).Overlaps(taken) {
		out = wrapLines(lines, size, taken.Min.X-2*panelMargin-2*textPad)
		box, _ = textBox(out, size)
	}
	if len(out) != len(lines) && (box.Y > h/4 || box.X > w-2*panelMargin) {
		return nil
	}
	return out
}

// wrapLines wraps lines between words to room pixels. A longer word stays whole.
func wrapLines(lines []string, size float64, room int) (out []string) {
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
	gpu.BindTexture(gs, unitPicture, p.tex, &p.picture)
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
