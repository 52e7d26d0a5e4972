package stage

import (
	"fmt"

	"mannequin/engine/hud"
)

// choices is the panel from which the user chooses what is drawn besides the characters:
// a button per overlay, which a function key presses, too.
type choices struct {
	knobs
	panel     hud.Panel
	has, show hud.Overlay
}

// choiceNames are on the buttons, in order.
var choiceNames = hud.OverlayNames()

// set lays out the panel like knobs.set. has are the overlays that there are, and show
// those that are drawn; without any of the former there is no panel.
func (c *choices) set(has, show hud.Overlay, w, h, top int) bool {
	if has == 0 {
		return c.knobs.set(nil, w, h, top)
	}
	if c.has != has || c.show != show {
		c.has, c.show = has, show
		c.panel.Title, c.panel.Buttons = "view", c.panel.Buttons[:0]
		for i, name := range choiceNames {
			o := hud.Overlay(1) << i
			c.panel.Buttons = append(c.panel.Buttons, hud.Button{Label: fmt.Sprintf("F%d %s", i+1, name), Key: byte(i + 1), Lit: show&o != 0, Off: has&o == 0})
		}
	}
	return c.knobs.set(&c.panel, w, h, top)
}

// chosen returns the overlays that the user turns on or off: by the button whose key is
// press, 0 is none, and by function keys.
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
