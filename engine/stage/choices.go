package stage

import (
	"fmt"

	"mannequin/engine/hud"
)

// choices is the panel of overlays: a button for each, also pressed by a function key.
type choices struct {
	widgets
	panel     hud.Panel
	has, show hud.Overlay
}

// choiceNames are the labels of the buttons in order.
var choiceNames = hud.OverlayNames()

// set lays out the panel like widgets.set. has are the overlays on offer and show those that are
// drawn. Without overlays there is no panel.
func (c *choices) set(has, show hud.Overlay, w, h, top int) bool {
	if has == 0 {
		return c.widgets.set(nil, w, h, top)
	}
	if c.has != has || c.show != show {
		c.has, c.show = has, show
		c.panel.Title, c.panel.Buttons = "view", c.panel.Buttons[:0]
		for i, name := range choiceNames {
			o := hud.Overlay(1) << i
			c.panel.Buttons = append(c.panel.Buttons, hud.Button{Label: fmt.Sprintf("F%d %s", i+1, name), Key: byte(i + 1), Lit: show&o != 0, Off: has&o == 0})
		}
	}
	return c.widgets.set(&c.panel, w, h, top)
}

// chosen returns the overlays that the user toggles: by the button press, 0 is none, and by keys.
func (c *choices) chosen(press byte, hit *[Keys]bool) (o hud.Overlay) {
	if press > 0 {
		o = 1 << (press - 1)
	}
	for i := range choiceNames {
		if hit[KeyF1+Key(i)] {
			o ^= 1 << i
		}
	}
	return o
}
