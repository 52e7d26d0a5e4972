package stage

import (
	"image"
	"strings"
	"testing"

	"mannequin/engine/hud"
)

// A caption is at the bottom in the middle, over the help where that is in its way, and
// beside graphs.
func TestCaption(t *testing.T) {
	s := open(t, 640, 360)
	box := func(v View) image.Rectangle {
		t.Helper()
		if err := s.Draw(v); err != nil {
			t.Fatal(err)
		}
		c := &s.caption
		if !c.Visible() {
			return image.Rectangle{}
		}
		return image.Rectangle{Min: c.pos, Max: c.pos.Add(image.Pt(c.w, c.h))}
	}
	short := box(View{Caption: "A dog."})
	if short.Max.Y > 360-panelMargin || short.Min.Y < 240 || short.Min.X+short.Max.X < 638 || short.Min.X+short.Max.X > 642 {
		t.Errorf("a short caption is in %v", short)
	}
	text := strings.Repeat("What a dog does follows from what it has done. ", 4)
	long := box(View{Caption: text})
	if long.Dx() > 450 || long.Dy() > 120 || long.Dy() < 2*short.Dy()/2 || !long.In(image.Rect(0, 0, 640, 360)) {
		t.Errorf("a long caption is in %v", long)
	}
	help := View{Caption: text, Help: []string{"what keys do: a line that reaches far to the right"}}
	if got := box(help); got.Max.Y > 360-s.help.height() {
		t.Errorf("a caption in %v lies over help of %d×%d pixels", got, s.help.w, s.help.h)
	}
	g := View{Caption: text, Graphs: []hud.Graph{*ramp(5)}}
	if got := box(g); got.Min.X < panelMargin+s.graphs.boxes[0].size.X || got.Max.X > 640 {
		t.Errorf("a caption in %v lies over a graph", got)
	}
	if got := box(View{}); !got.Empty() {
		t.Errorf("no caption is in %v", got)
	}
	// However long it is, and however small the picture.
	for _, size := range []int{200, 64, 16} {
		s := open(t, size, size)
		shoot(t, s, View{Caption: strings.Repeat("word ", 3000)})
		shoot(t, s, View{Caption: strings.Repeat("x", 3000)})
		s.Close()
	}
}
