package stage

import (
	"image"
	"slices"
	"strings"
	"testing"

	"mannequin/engine/hud"
	"mannequin/internal/testing/must"
)

// Text stays in the picture and off the panel. It wraps between words, or is left out without room.
func TestTextFits(t *testing.T) {
	status := []string{"no clips yet: A adds the present one; adding …"}
	help := []string{"up, down: another slider   left, right: move it   or the mouse", "P, V, A … as on the buttons; V: all clips added, or the one of the sliders"}
	for _, c := range []struct {
		name  string
		lines []string
		size  float64
		at    corner
		w, h  int
		taken image.Rectangle
		want  int // lines
	}{
		{"status in a wide picture", status, 17, topLeft, 1280, 720, image.Rect(1014, 14, 1266, 283), 1},
		{"status beside the panel", status, 17, topLeft, 480, 270, image.Rect(315, 14, 466, 172), 2},
		{"status without one", status, 17, topLeft, 480, 270, image.Rectangle{}, 1},
		{"help in a wide picture", help, 15, bottomLeft, 1280, 720, image.Rect(1014, 14, 1266, 283), 2},
		{"help below the panel", help, 15, bottomLeft, 480, 360, image.Rect(315, 14, 466, 172), 3},
		{"help beside the panel", help, 15, bottomLeft, 480, 480, image.Rect(315, 14, 466, 470), 4},
		{"help that would hide the scene", help, 15, bottomLeft, 480, 270, image.Rect(315, 14, 466, 172), 0},
		{"much help that fits", slices.Repeat([]string{"a line"}, 8), 15, bottomLeft, 480, 270, image.Rectangle{}, 8},
		{"nothing", nil, 15, bottomLeft, 480, 270, image.Rectangle{}, 0},
	} {
		got := fitLines(c.lines, c.size, c.at, c.w, c.h, c.taken)
		if len(got) != c.want {
			t.Errorf("%s: %q, want %d lines", c.name, got, c.want)
		}
		if c.want == 0 {
			continue
		}
		box, _ := textBox(got, c.size)
		over := image.Rectangle{Max: box}.Add(image.Pt(panelMargin, panelMargin))
		if c.at == bottomLeft {
			over = over.Add(image.Pt(0, c.h-2*panelMargin-box.Y))
		}
		if over.Overlaps(c.taken) || !over.In(image.Rect(0, 0, c.w, c.h)) {
			t.Errorf("%s: text in %v, panel in %v", c.name, over, c.taken)
		}
	}
	if got, want := wrapLines([]string{"one two   three", "four"}, 15, 60), []string{"one two", "three", "four"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A caption is in the middle of the bottom, above the help if they overlap, and beside graphs.
func TestCaption(t *testing.T) {
	s := open(t, 640, 360)
	box := func(v View) image.Rectangle {
		t.Helper()
		must.Do(t, s.Draw(v))
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
	s.Close()
	for _, size := range []int{200, 64, 16} {
		s := open(t, size, size)
		shoot(t, s, View{Caption: strings.Repeat("word ", 3000)})
		shoot(t, s, View{Caption: strings.Repeat("x", 3000)})
		s.Close()
	}
}
