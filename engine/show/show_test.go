package show

import (
	"testing"

	"mannequin/engine/stage"
	"mannequin/scenes"
)

func TestKeys(t *testing.T) {
	press := func(keys ...stage.Key) (c stage.Controls) {
		for _, k := range keys {
			c.Held[k] = true
		}
		return c
	}
	var none, hits [stage.Keys]bool
	if got := Input(press(), none); got != (scenes.Input{}) {
		t.Errorf("no key is %+v", got)
	}
	if got := Input(press(stage.Letter('W'), stage.KeyLeft, stage.Letter('E')), none); got.Forward != 1 || got.Turn != 1 || got.Side != -1 {
		t.Errorf("W, left and E are %+v", got)
	}
	if got := Input(press(stage.Letter('W'), stage.KeyDown), none); got.Forward != 0 {
		t.Errorf("ahead and back are %+v", got)
	}
	if got := Input(press(stage.Letter('X'), stage.KeySpace), none); !got.Sit || !got.Jump || got.Lie || got.Stand {
		t.Errorf("X and space are %+v", got)
	}
	// A tap between two ticks counts, a gait changes once.
	hits[stage.Digit(3)], hits[stage.Letter('R')], hits[stage.KeySpace] = true, true, true
	if got := Input(press(), hits); got.Gait != scenes.Trot || !got.Reset || !got.Jump {
		t.Errorf("taps on 3, R and space are %+v", got)
	}
}

// Arrows choose and move sliders, letters press buttons of the panel, and the mouse
// does what it does.
func TestTouch(t *testing.T) {
	p := &scenes.Panel{Sliders: make([]scenes.Slider, 3), Buttons: []scenes.Button{{Label: "add", Key: 'A'}}}
	mouse := scenes.Touch{Set: true, Slider: 2, Value: 0.5}
	for name, c := range map[string]struct {
		held, hit []stage.Key
		mouse     scenes.Touch
		want      scenes.Touch
	}{
		"nothing":       {},
		"down":          {hit: []stage.Key{stage.KeyDown}, want: scenes.Touch{Select: 1}},
		"up, held":      {held: []stage.Key{stage.KeyUp}},
		"up":            {hit: []stage.Key{stage.KeyUp}, want: scenes.Touch{Select: -1}},
		"right, held":   {held: []stage.Key{stage.KeyRight}, want: scenes.Touch{Move: 1}},
		"left, a tap":   {hit: []stage.Key{stage.KeyLeft}, want: scenes.Touch{Move: -1}},
		"a button":      {hit: []stage.Key{stage.Letter('A')}, want: scenes.Touch{Press: 'A'}},
		"no button":     {hit: []stage.Key{stage.Letter('B')}},
		"button, held":  {held: []stage.Key{stage.Letter('A')}},
		"mouse":         {mouse: mouse, want: mouse},
		"mouse's press": {mouse: scenes.Touch{Press: 'A'}, want: scenes.Touch{Press: 'A'}},
	} {
		var keys stage.Controls
		var hits [stage.Keys]bool
		for _, k := range c.held {
			keys.Held[k] = true
		}
		for _, k := range c.hit {
			hits[k] = true
		}
		if got := Touch(p, c.mouse, keys, hits); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
