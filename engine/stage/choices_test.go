//go:build !js

package stage

import (
	"image"
	"testing"

	"github.com/go-gl/glfw/v3.3/glfw"

	"mannequin/engine/hud"
)

// The panel of overlays is below the scene's. It shows what is on and what the scene lacks, and
// reacts to the mouse and to function keys.
func TestChoices(t *testing.T) {
	s := open(t, 1280, 720)
	has := hud.AllOverlays &^ hud.Activations
	v := View{Panel: threeKnobs(), Has: has, Show: hud.Contacts | hud.Roots}
	shoot(t, s, v)
	c := &s.choices
	if box, above := c.bounds.Add(c.at), s.widgets.bounds.Add(s.widgets.at); box.Min.Y < above.Max.Y || box.Max.X != 1280-panelMargin || len(c.buttons) != 8 {
		t.Fatalf("%d choices in %v, below %v", len(c.buttons), box, above)
	}
	var m mouse
	for i, b := range c.panel.Buttons {
		o := hud.Overlay(1) << i
		if b.Lit != (v.Show&o != 0) || b.Off != (has&o == 0) {
			t.Errorf("button %+v", b)
		}
		p := c.buttons[i].Add(c.at).Min.Add(image.Pt(3, 3))
		got, dx, _ := m.move(float64(p.X), float64(p.Y), true, &s.widgets, &c.widgets)
		if m.on != &c.widgets || dx != 0 || c.chosen(got.Press, &[Keys]bool{}) != o {
			t.Errorf("a click on %q is %+v", b.Label, got)
		}
		m.move(0, 0, false, &s.widgets, &c.widgets)
		key, ok := keyOf(glfw.KeyF1 + glfw.Key(i))
		hit := [Keys]bool{}
		if hit[key] = true; !ok || c.chosen(0, &hit) != o {
			t.Errorf("F%d chooses %v, want %v", i+1, c.chosen(0, &hit), o)
		}
	}
	if k, ok := keyOf(glfw.KeyTab); !ok || k != KeyTab {
		t.Errorf("Tab is key %d", k)
	}
	if _, ok := keyOf(glfw.KeyF9); ok {
		t.Error("F9 is a known key")
	}
	// The scene's panel still works, and without room for both it is alone.
	p := s.widgets.buttons[0].Add(s.widgets.at).Min.Add(image.Pt(3, 3))
	if got, _, _ := m.move(float64(p.X), float64(p.Y), true, &s.widgets, &c.widgets); got.Press != 'P' || m.on != &s.widgets {
		t.Errorf("a click on the scene's panel is %+v", got)
	}
	shoot(t, s, View{Panel: threeKnobs()})
	if !c.bounds.Empty() || s.view.Visible() {
		t.Error("choices stay when there are none")
	}
	s.Close()
	low := open(t, 640, 120)
	shoot(t, low, v)
	if !low.choices.bounds.Empty() || low.view.Visible() {
		t.Errorf("choices in %v of a picture 120 high", low.choices.bounds)
	}
}
