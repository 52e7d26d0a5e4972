package control

import (
	"math"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

func svg(element string) []byte {
	return []byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><defs/>` + element + `</svg>`)
}

// The middle of the drawing is the origin, up on the page is +Z, left is +X, and a user unit is 5
// cm: straight lines in every spelling.
func TestSVGLines(t *testing.T) {
	for name, element := range map[string]string{
		"absolute":   `<path d="M 100,100 L 140,100 L 140,60 L 100,60 Z"/>`,
		"relative":   `<path d="m100 100l40 0 0-40-40 0z"/>`,
		"axes":       `<path d="M100 100H140V60H100Z"/>`,
		"rel. axes":  `<path d="m100 100h40v-40h-40z m 5,5 l 900,900"/>`,
		"polygon":    `<g><polygon points="100,100 140,100 140,60 100,60"/></g>`,
		"comes back": `<path d="M1e2 100 L 140 100 L 140 60 L 100 60 L 100 100"/>`,
	} {
		p, err := ReadPath("map.svg", svg(element))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !p.Closed() || math.Abs(float64(p.Length())-8) > 0.1 {
			t.Errorf("%s: closed %v, %g m long, want a closed path of 8 m", name, p.Closed(), p.Length())
		}
		if at, dir := p.At(0); at.Dist(m3.V(1, 0, -1)) > 1e-3 || dir.X > -0.4 {
			t.Errorf("%s: begins at %v towards %v, want the lower left (1, 0, -1), to the right", name, at, dir)
		}
	}
	p := must.Get(ReadPath("map.SVG", svg(`<polyline points="0 0 0 -100"/>`)))(t)
	if _, dir := p.At(2.5); p.Closed() || dir.Dist(m3.V(0, 0, 1)) > 1e-3 {
		t.Errorf("a line up the page leads towards %v, closed %v", dir, p.Closed())
	}
}

// A circle of Bézier curves has the circle's length, in every spelling.
func TestSVGCurves(t *testing.T) {
	const k = "22.0914" // 40·0.5523, the handle of a quarter
	for name, d := range map[string]string{
		"C": "M 40 0 C 40 " + k + " " + k + " 40 0 40 C -" + k + " 40 -40 " + k + " -40 0 C -40 -" + k + " -" + k + " -40 0 -40 C " + k + " -40 40 -" + k + " 40 0 Z",
		"S": "M 40 0 C 40 " + k + " " + k + " 40 0 40 S -40 " + k + " -40 0 S -" + k + " -40 0 -40 S 40 -" + k + " 40 0 Z",
	} {
		p := must.Get(ReadPath("c.svg", svg(`<path d="`+d+`"/>`)))(t)
		if want := 2 * math.Pi * 2; math.Abs(float64(p.Length())-want) > 0.02*want {
			t.Errorf("%s: %g m around, want %g", name, p.Length(), want)
		}
	}
	// A wave of two parabolas: the second's handle is the first's mirrored.
	p := must.Get(ReadPath("q.svg", svg(`<path d="M 0 0 Q 40 40 80 0 T 160 0"/>`)))(t)
	low, high := float32(0), float32(0)
	for s := float32(0); s < p.Length(); s += 0.05 {
		at, _ := p.At(s)
		low, high = min(low, at.Z), max(high, at.Z)
	}
	if m3.Abs(low+1) > 0.03 || m3.Abs(high-1) > 0.03 {
		t.Errorf("the wave reaches from %g to %g m, want -1 to 1", low, high)
	}
}

func TestSVGRefuses(t *testing.T) {
	for text, want := range map[string]string{
		string(svg(`<rect/>`)): "no path", "<svg": "a.svg", string(svg(`<path d="L 1 2"/>`)): "want M",
		string(svg(`<path d="1 2"/>`)): "want M", string(svg(`<path d="M 1 x"/>`)): "number", string(svg(`<path d="M 0 0 A 1 1 0 0 0 2 2"/>`)): "command",
		string(svg(`<path/>`)): "point", string(svg(`<path d="M 0 0 L 1e5 0 1e6 1e6 -1e6 0 0 1e6"/>`)): "points", string(svg(`<path d="M 0 0 L 1e99 0"/>`)): "million",
		string(svg(`<path d="M 5 5"/>`)): "point",
	} {
		if _, err := ReadPath("a.svg", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
