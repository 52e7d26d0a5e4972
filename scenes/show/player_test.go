package show

import (
	"math"
	"slices"
	"testing"

	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/engine/stage"
	"mannequin/scenes"
)

// polled is what a poll finds: keys and buttons that are held, and that were hit.
type polled struct {
	held, hit   []stage.Key
	buttons     []stage.Button // held
	hitButtons  []stage.Button
	left, right stage.Stick
	touch       hud.Touch
}

func (p polled) controls() (c stage.Controls) {
	for _, k := range p.held {
		c.Held[k] = true
	}
	for _, k := range p.hit {
		c.Hit[k] = true
	}
	for _, b := range p.buttons {
		c.Gamepad.Held[b] = true
	}
	for _, b := range p.hitButtons {
		c.Gamepad.Hit[b] = true
	}
	c.Gamepad.Left, c.Gamepad.Right, c.Touch = p.left, p.right, p.touch
	return c
}

func letter(c byte) []stage.Key { return []stage.Key{stage.Letter(c)} }

// Keys and gamepads give the same input, and several at a time.
func TestMeaning(t *testing.T) {
	type in = scenes.Input
	panel := &hud.Panel{Sliders: make([]hud.Slider, 3), Buttons: []hud.Button{{Label: "undo", Key: 'U'}}}
	for name, c := range map[string]struct {
		polled
		want in
	}{
		"nothing":           {},
		"W":                 {polled{held: letter('W')}, in{Forward: 1}},
		"ahead and back":    {polled{held: []stage.Key{stage.Letter('W'), stage.Letter('S')}}, in{}},
		"two ways ahead":    {polled{held: []stage.Key{stage.Letter('W'), stage.KeyUp}}, in{Forward: 1}},
		"E":                 {polled{held: letter('E')}, in{Side: -1}},
		"D, a tap":          {polled{hit: letter('D')}, in{Turn: -1}},
		"left":              {polled{held: []stage.Key{stage.KeyLeft}}, in{Turn: 1, Touch: hud.Touch{Move: -1}}},
		"down, held":        {polled{held: []stage.Key{stage.KeyDown}}, in{Forward: -1}},
		"down":              {polled{hit: []stage.Key{stage.KeyDown}}, in{Forward: -1, Touch: hud.Touch{Select: 1}}},
		"X":                 {polled{held: letter('X')}, in{Sit: true}},
		"C":                 {polled{held: letter('C')}, in{Lie: true}},
		"V":                 {polled{held: letter('V')}, in{Stand: true}},
		"space, a tap":      {polled{hit: []stage.Key{stage.KeySpace}}, in{Jump: true}},
		"R":                 {polled{hit: letter('R')}, in{Reset: true}},
		"R, held":           {polled{held: letter('R')}, in{}},
		"3":                 {polled{hit: []stage.Key{stage.Digit(3)}}, in{Gait: scenes.Trot}},
		"U":                 {polled{hit: letter('U')}, in{Touch: hud.Touch{Press: 'U'}}},
		"U, held":           {polled{held: letter('U')}, in{}},
		"the mouse slides":  {polled{touch: hud.Touch{Set: true, Slider: 2, Value: 0.5}}, in{Touch: hud.Touch{Set: true, Slider: 2, Value: 0.5}}},
		"the mouse presses": {polled{touch: hud.Touch{Press: 'U'}}, in{Touch: hud.Touch{Press: 'U'}}},

		"stick ahead":  {polled{left: stage.Stick{Y: 0.5}}, in{Forward: 0.5}},
		"cross up":     {polled{buttons: []stage.Button{stage.ButtonUp}}, in{Forward: 1}},
		"cross left":   {polled{buttons: []stage.Button{stage.ButtonLeft}}, in{Side: 1, Touch: hud.Touch{Move: -1}}},
		"cross, a tap": {polled{hitButtons: []stage.Button{stage.ButtonDown}}, in{Forward: -1, Touch: hud.Touch{Select: 1}}},
		"A":            {polled{buttons: []stage.Button{stage.ButtonA}}, in{Jump: true}},
		"B":            {polled{buttons: []stage.Button{stage.ButtonB}}, in{Sit: true}},
		"pad's X":      {polled{buttons: []stage.Button{stage.ButtonX}}, in{Lie: true}},
		"Y":            {polled{buttons: []stage.Button{stage.ButtonY}}, in{Stand: true}},
		"LB":           {polled{hitButtons: []stage.Button{stage.ButtonLB}}, in{Gait: scenes.Slower}},
		"RB":           {polled{hitButtons: []stage.Button{stage.ButtonRB}}, in{Gait: scenes.Faster}},
		"back":         {polled{hitButtons: []stage.Button{stage.ButtonBack}}, in{Reset: true}},
		"both ahead":   {polled{held: letter('W'), left: stage.Stick{Y: 1}}, in{Forward: 1}},
	} {
		var p player
		p.observe(c.controls(), panel)
		if got := p.input(0, 0, false); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		// The next tick has what is held, but not what was pressed.
		p.observe(polled{held: c.held, buttons: c.buttons, left: c.left}.controls(), panel)
		p.input(0, 0, false)
		var held player
		held.observe(polled{held: c.held, buttons: c.buttons, left: c.left}.controls(), panel)
		if got, want := p.input(0, 0, false), held.input(0, 0, false); got != want {
			t.Errorf("%s, later: %+v, want %+v", name, got, want)
		}
	}
}

// Input between two ticks reaches them in order, each press once.
func TestInputsWait(t *testing.T) {
	panel := &hud.Panel{Sliders: make([]hud.Slider, 9), Buttons: []hud.Button{{Key: 'A'}, {Key: 'U'}}}
	var p player
	for _, c := range []polled{
		{hit: []stage.Key{stage.Digit(4)}}, {}, {hit: []stage.Key{stage.Digit(2), stage.KeyDown}}, {hitButtons: []stage.Button{stage.ButtonRB, stage.ButtonDown}},
		{hit: []stage.Key{stage.KeyDown, stage.Letter('A')}}, {hit: letter('R')}, {hit: letter('U')}, {hit: letter('A')},
		{touch: hud.Touch{Set: true, Slider: 1, Value: 0.1}}, {touch: hud.Touch{Set: true, Slider: 1, Value: 0.2}}, {touch: hud.Touch{Set: true, Slider: 2, Value: 0.3}},
	} {
		p.observe(c.controls(), panel)
	}
	var gaits []scenes.Gait
	var touches []hud.Touch
	resets, selects := 0, 0
	for range 10 {
		in := p.input(0, 0, false)
		if in.Gait != scenes.KeepGait {
			gaits = append(gaits, in.Gait)
		}
		if in.Reset {
			resets++
		}
		selects += in.Touch.Select
		if in.Touch.Select = 0; in.Touch != (hud.Touch{}) {
			touches = append(touches, in.Touch)
		}
	}
	if !slices.Equal(gaits, []scenes.Gait{scenes.Canter, scenes.Pace, scenes.Faster}) || resets != 1 || selects != 3 {
		t.Errorf("gaits %v, %d resets, %d sliders down", gaits, resets, selects)
	}
	want := []hud.Touch{{Press: 'A'}, {Press: 'U'}, {Press: 'A'}, {Set: true, Slider: 1, Value: 0.2}, {Set: true, Slider: 2, Value: 0.3}}
	if !slices.Equal(touches, want) {
		t.Errorf("touches %+v", touches)
	}
	for range 1000 {
		p.observe(polled{hit: []stage.Key{stage.Digit(1), stage.Letter('A')}}.controls(), panel)
	}
	if len(p.gaits) > maxWaiting || len(p.touches) > maxWaiting {
		t.Errorf("%d gaits and %d touches wait", len(p.gaits), len(p.touches))
	}
}

// The stick is a direction on the screen: the character ends up going there, for any direction of
// the camera.
func TestSteer(t *testing.T) {
	for _, view := range []float32{0, 1, -2.5, 3.1} {
		for angle := float32(-3); angle <= 3; angle += 0.5 {
			s := stage.Stick{X: 0.8 * m3.Sin(angle), Y: 0.8 * m3.Cos(angle)}
			heading := view
			var forward, turn float32
			for range 600 {
				forward, turn = steer(s, view, heading)
				if !(m3.Abs(turn) <= 1) || !(forward >= 0 && forward <= 0.8+1e-5) {
					t.Fatalf("forward %g, turn %g", forward, turn)
				}
				heading += turn / 60
			}
			// The right of the screen is a turn to the right, which is negative.
			if off := m3.WrapAngle(heading - view + angle); m3.Abs(off) > 0.08 || m3.Abs(forward-0.8) > 0.01 {
				t.Errorf("stick at %g, view %g: %g off, forward %g", angle, view, off, forward)
			}
		}
	}
	if f, turn := steer(stage.Stick{Y: -1}, 0, math.Pi/2); f <= 0 || f > 0.5 || turn == 0 {
		t.Errorf("back, to be reached by turning round: forward %g, turn %g", f, turn)
	}
}

// Where a stick is a direction in the world, keys and pads mean the same on the screen, however the character faces.
func TestInWorld(t *testing.T) {
	for name, p := range map[string]polled{"keys": {held: []stage.Key{stage.Letter('D')}}, "stick": {left: stage.Stick{X: 1}}} {
		var user player
		user.observe(p.controls(), &hud.Panel{})
		in := user.input(math.Pi/2, 2, true) // the camera looks along +X: right is +Z
		if m3.Abs(in.Forward-1) > 1e-5 || m3.Abs(in.Side) > 1e-5 || in.Turn != 0 || in.Lock {
			t.Errorf("%s: %+v", name, in)
		}
	}
	var user player
	user.observe(polled{held: letter('Q')}.controls(), &hud.Panel{})
	if in := user.input(0, 0, true); !in.Lock || in.Side != 0 || in.Forward != 0 {
		t.Errorf("Q: %+v", in)
	}
	for want, p := range map[uint8]polled{1: {held: []stage.Key{stage.Digit(5)}}, 6: {hit: []stage.Key{stage.Digit(0)}}, 0: {held: []stage.Key{stage.Digit(4)}}} {
		var user player
		user.observe(p.controls(), &hud.Panel{})
		if in := user.input(0, 0, true); in.Own != want {
			t.Errorf("own action %d, want %d", in.Own, want)
		}
		if in := user.input(0, 0, false); in.Own != 0 {
			t.Errorf("own action %d where no keys are for it", in.Own)
		}
	}
	user = player{}
	user.observe(polled{buttons: []stage.Button{stage.ButtonRightStick}}.controls(), &hud.Panel{})
	if in := user.input(0, 0, true); in.Own != 1 {
		t.Errorf("the right stick: own action %d", in.Own)
	}
}
