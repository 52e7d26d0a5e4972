package hud

import (
	"math"
	"testing"
)

func panel() *Panel {
	return &Panel{Title: "made", Sliders: []Slider{{Label: "a", Min: -1, Max: 1}, {Label: "b", Value: 2, Max: 4}},
		Buttons: []Button{{Label: "go", Key: 'G'}, {Label: "no", Key: 'N', Off: true}}}
}

// Sliders stay in their ranges, and one that is set is selected.
func TestTurn(t *testing.T) {
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		touch             Touch
		changed, selected int
		value             float32 // of the selected one
	}{
		"nothing":       {Touch{}, -1, 0, 0},
		"set":           {Touch{Set: true, Slider: 1, Value: 3}, 1, 1, 3},
		"set too far":   {Touch{Set: true, Slider: 1, Value: 30}, 1, 1, 4},
		"set as it is":  {Touch{Set: true, Slider: 1, Value: 2}, -1, 1, 2},
		"set no number": {Touch{Set: true, Slider: 1, Value: nan}, -1, 1, 2},
		"set none":      {Touch{Set: true, Slider: 2, Value: 1}, -1, 0, 0},
		"set none, too": {Touch{Set: true, Slider: -1, Value: 1}, -1, 0, 0},
		"move":          {Touch{Move: -1}, 0, 0, -1.0 / 60},
		"down":          {Touch{Select: 1}, -1, 1, 2},
		"down and move": {Touch{Select: 1, Move: 0.5}, 1, 1, 2 + 1.0/60},
		"far down":      {Touch{Select: 9}, -1, 1, 2},
		"up":            {Touch{Select: -1}, -1, 0, 0},
	} {
		p := panel()
		changed := p.Turn(c.touch)
		if got := p.Sliders[p.Selected].Value; changed != c.changed || p.Selected != c.selected || math.Abs(float64(got-c.value)) > 1e-6 {
			t.Errorf("%s: slider %d changed, %d is selected at %g; want %d, %d, %g", name, changed, p.Selected, got, c.changed, c.selected, c.value)
		}
	}
	beyond := panel()
	beyond.Sliders[0].Value = 5
	if beyond.Turn(Touch{}) != -1 || beyond.Sliders[0].Value != 5 {
		t.Error("a slider beyond its range moved by itself")
	}
	if (&Panel{}).Turn(Touch{Set: true, Move: 1, Select: 1}) != -1 {
		t.Error("a slider of none changed")
	}
	p := panel()
	if p.Pressed(Touch{Press: 'G'}) != 'G' || p.Pressed(Touch{Press: 'N'}) != 0 || p.Pressed(Touch{Press: 'X'}) != 0 || p.Pressed(Touch{}) != 0 {
		t.Error("pressed the wrong button")
	}
}

func TestPanelCopy(t *testing.T) {
	var p Panel
	if !p.Empty() || panel().Empty() || p.Equal(panel()) {
		t.Error("an empty panel is another's like")
	}
	p.Copy(panel())
	if !p.Equal(panel()) {
		t.Errorf("the copy is %+v", p)
	}
	q := panel()
	q.Sliders[1].Value++
	if p.Equal(q) {
		t.Error("another value shows the same")
	}
	q.Copy(&p)
	q.Buttons[0].Lit = true
	if p.Equal(q) || p.Buttons[0].Lit {
		t.Error("the copy shares its buttons")
	}
}
