package stage

import (
	"fmt"
	"image"
	"image/color"

	"mannequin/engine/draw"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
)

// widgets lays out and paints a panel of sliders and buttons. Its zero value shows nothing.
type widgets struct {
	shown   hud.Panel
	view    [3]int // size of the picture, and top of the panel, pixels
	at      image.Point
	bounds  image.Rectangle // relative to the panel's corner; empty if nothing is shown
	size    float64         // of the text, pixels
	rows    []image.Rectangle
	tracks  []image.Rectangle // range of the middle of each knob
	buttons []image.Rectangle
}

// Sizes in text heights.
const (
	largestText, smallestText = 15.0, 8.0 // pixels
	trackWide                 = 10
	buttonsWide               = 15 // if there are no sliders
	knobWide                  = 0.5
)

// Colours of the panel, premultiplied.
var (
	panelBack  = color.RGBA{8, 11, 15, 150}
	panelText  = color.RGBA{244, 244, 238, 255}
	panelDim   = color.RGBA{140, 142, 144, 255}
	panelDeep  = color.RGBA{8, 11, 15, 200}
	panelRaise = color.RGBA{66, 74, 84, 255}
	panelLight = color.RGBA{38, 97, 176, 255}
	panelTrack = color.RGBA{120, 126, 134, 255}
)

// set lays out p at the right of a w×h picture, from top down, and reports whether to paint it
// again. A panel that starts lower and does not fit is left out.
func (k *widgets) set(p *hud.Panel, w, h, top int) bool {
	if p == nil {
		p = &hud.Panel{}
	}
	view := [3]int{w, h, top}
	if k.view == view && k.shown.Equal(p) {
		return false
	}
	k.view = view
	k.shown.Copy(p)
	if p.Empty() {
		k.bounds = image.Rectangle{}
		return true
	}
	for k.size = largestText; ; k.size-- {
		k.layout()
		if k.size <= smallestText || k.bounds.Dy() <= h-top-panelMargin && k.bounds.Dx() <= w/3 {
			break
		}
	}
	k.at = image.Pt(w-panelMargin-k.bounds.Dx(), top)
	if top > panelMargin && top+k.bounds.Dy() > h-panelMargin {
		k.bounds, k.rows, k.tracks, k.buttons = image.Rectangle{}, k.rows[:0], k.tracks[:0], k.buttons[:0]
	}
	return true
}

func value(s *hud.Slider, v float32) string {
	if s.Whole {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%+.2f", v)
}

func buttonText(b hud.Button) string {
	if b.Key < 'A' || b.Key > 'Z' { // a button of an overlay: its label contains the key
		return b.Label
	}
	return fmt.Sprintf("%s (%c)", b.Label, b.Key)
}

func (k *widgets) layout() {
	p := &k.shown
	width := func(s string) int { w, _ := draw.TextSize(k.size, s); return w }
	_, high := draw.TextSize(k.size, "Ag")
	pad, gap := int(0.6*k.size), int(0.5*k.size)
	row, label, number := high+max(2, int(0.25*k.size)), 0, 0
	for _, s := range p.Sliders {
		label = max(label, width(s.Label))
		number = max(number, width(value(&s, s.Min)), width(value(&s, s.Max)))
	}
	track := int(trackWide * k.size)
	inner := max(label+gap+track+gap+number, width(p.Title))
	y := pad
	if p.Title != "" {
		y += row
	}
	k.rows, k.tracks, k.buttons = k.rows[:0], k.tracks[:0], k.buttons[:0]
	for range p.Sliders {
		x := pad + label + gap
		k.rows = append(k.rows, image.Rect(pad/2, y, inner+pad+pad/2, y+row))
		k.tracks = append(k.tracks, image.Rect(x, y, x+track, y+row))
		y += row
	}
	if len(p.Sliders) > 0 {
		y += gap
	} else {
		inner = max(inner, int(buttonsWide*k.size))
	}
	x := pad
	for _, b := range p.Buttons {
		w := width(buttonText(b)) + 2*gap
		if x > pad && x+w > pad+inner {
			x, y = pad, y+row+gap
		}
		k.buttons = append(k.buttons, image.Rect(x, y, x+w, y+row+gap/2))
		inner = max(inner, w)
		x += w + gap
	}
	if len(p.Buttons) > 0 {
		y += row + gap/2
	}
	k.bounds = image.Rect(0, 0, inner+2*pad, y+pad)
}

func (k *widgets) paint() *image.RGBA {
	p := &k.shown
	img := image.NewRGBA(k.bounds)
	draw.Fill(img, img.Rect, panelDeep)
	_, high := draw.TextSize(k.size, "Ag")
	pad, gap := int(0.6*k.size), int(0.5*k.size)
	text := func(x int, r image.Rectangle, c color.RGBA, s string) {
		draw.Text(img, x, r.Min.Y+(r.Dy()-high)/2, k.size, c, s)
	}
	if p.Title != "" {
		draw.Text(img, pad, pad, k.size, panelDim, p.Title)
	}
	for i, s := range p.Sliders {
		r, t := k.rows[i], k.tracks[i]
		if i == p.Selected {
			draw.Fill(img, r, panelRaise)
		}
		text(pad, r, panelText, s.Label)
		text(t.Max.X+gap, r, panelText, value(&s, s.Value))
		mid, thick := (t.Min.Y+t.Max.Y)/2, max(1, int(0.1*k.size))
		bar := func(x0, x1 int, c color.RGBA) { draw.Fill(img, image.Rect(x0, mid-thick, x1, mid+thick), c) }
		at, zero := k.knobX(i, s.Value), k.knobX(i, m3.Clamp(0, s.Min, s.Max))
		bar(t.Min.X, t.Max.X, panelTrack)
		bar(min(at, zero), max(at, zero), panelLight)
		half, tall := max(1, int(knobWide*k.size/2)), int(0.4*k.size)
		draw.Fill(img, image.Rect(at-half, mid-tall, at+half, mid+tall), panelText)
	}
	for i, b := range p.Buttons {
		back, ink := panelRaise, panelText
		switch {
		case b.Off:
			back, ink = panelDeep, panelDim
		case b.Lit:
			back = panelLight
		}
		draw.Fill(img, k.buttons[i], back)
		text(k.buttons[i].Min.X+gap, k.buttons[i], ink, buttonText(b))
	}
	return img
}

// knobX returns the x of slider i's knob at value v, pixels.
func (k *widgets) knobX(i int, v float32) int {
	s, t := k.shown.Sliders[i], k.tracks[i]
	share := m3.Clamp((v-s.Min)/(s.Max-s.Min), 0, 1)
	return t.Min.X + int(share*float32(t.Dx()-1)+0.5)
}

// valueAt returns the value of slider i with its knob at x, pixels of the picture.
func (k *widgets) valueAt(i int, x float64) float32 {
	s, t := k.shown.Sliders[i], k.tracks[i].Add(k.at)
	return m3.Lerp(s.Min, s.Max, m3.Clamp(float32(x-float64(t.Min.X))/float32(t.Dx()-1), 0, 1))
}

// grip is what the mouse holds while its button is down.
type grip int

const (
	holdsNothing grip = iota
	holdsView         // the camera
	holdsPanel        // a part that does not move
	holdsSlider
)

// mouse is the position of the mouse and what it holds.
type mouse struct {
	x, y   float64 // pixels of the picture
	holds  grip
	on     *widgets // panel that it holds; nil is none
	slider int      // slider that it holds
}

// move moves the mouse to (x, y), pixels from the picture's top left, with a button down or not. It
// returns the input to the panel m.on, and the pixels by which the camera is dragged.
func (m *mouse) move(x, y float64, down bool, panels ...*widgets) (t hud.Touch, dx, dy float64) {
	began := down && m.holds == holdsNothing
	if !down {
		m.holds, m.on = holdsNothing, nil
	}
	if began {
		m.holds = holdsView
		for _, k := range panels {
			if p := image.Pt(int(x), int(y)).Sub(k.at); p.In(k.bounds) {
				t.Press = m.grab(k, p)
			}
		}
	}
	switch {
	case m.holds == holdsView && !began:
		dx, dy = x-m.x, y-m.y
	case m.holds == holdsSlider && m.slider < len(m.on.tracks):
		t.Set, t.Slider, t.Value = true, m.slider, m.on.valueAt(m.slider, x)
	}
	m.x, m.y = x, y
	return t, dx, dy
}

// grab takes hold of the widget at p, relative to the panel, and returns the key of a button there.
func (m *mouse) grab(k *widgets, p image.Point) byte {
	m.holds, m.on = holdsPanel, k
	for i, r := range k.rows {
		if p.In(r) {
			m.holds, m.slider = holdsSlider, i
		}
	}
	for i, r := range k.buttons {
		if p.In(r) {
			return k.shown.Buttons[i].Key
		}
	}
	return 0
}
