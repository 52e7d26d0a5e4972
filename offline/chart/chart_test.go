package chart

import (
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

func demo() Chart {
	c := Chart{Title: "t", Width: 300, Height: 200, Series: []Series{{Name: "a"}, {Name: "b"}}}
	for i := range 50 {
		x := float64(i) / 10
		c.Series[0].X, c.Series[0].Y = append(c.Series[0].X, x), append(c.Series[0].Y, math.Exp(-x))
		c.Series[1].X, c.Series[1].Y = append(c.Series[1].X, x), append(c.Series[1].Y, math.NaN())
	}
	c.Series[1].Y[3] = 0.5
	return c
}

func readPNG(t *testing.T, path string) image.Image {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	return must.Get(png.Decode(f))(t)
}

func TestSavePNG(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.png")
	must.Do(t, demo().Save(path))
	img := readPNG(t, path)
	if b := img.Bounds(); b.Dx() != 300 || b.Dy() != 200 {
		t.Errorf("size %v", b)
	}
	// The first line's blue must be there.
	blue := 0
	for y := range 200 {
		for x := range 300 {
			if r, _, b, _ := img.At(x, y).RGBA(); r < 0x4000 && b > 0x8000 {
				blue++
			}
		}
	}
	if blue < 50 {
		t.Errorf("only %d blue pixels", blue)
	}
}

func TestSaveSVG(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.svg")
	c := demo()
	c.LogY = true
	must.Do(t, c.Save(path))
	if b, _ := os.ReadFile(path); !strings.Contains(string(b), "<svg") {
		t.Error("no SVG")
	}
}

func TestSaveErrors(t *testing.T) {
	dir := t.TempDir()
	if err := demo().Save(filepath.Join(dir, "c.bmp")); err == nil || !strings.Contains(err.Error(), ".png") {
		t.Errorf("unknown format: %v", err)
	}
	if err := (Chart{}).Save(filepath.Join(dir, "c.png")); err == nil {
		t.Error("an empty chart was drawn")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestLogTicks(t *testing.T) {
	labels := func(low, high float64) string {
		var out []string
		for _, k := range (logTicks{}).Ticks(low, high) {
			if k.Value < low || k.Value > high {
				t.Errorf("tick %v outside %v to %v", k.Value, low, high)
			}
			if k.Label != "" {
				out = append(out, k.Label)
			}
		}
		return strings.Join(out, " ")
	}
	if got := labels(0.11, 0.97); got != "0.2 0.5" {
		t.Errorf("within a decade: %q", got)
	}
	// No loss curve is without numbers at its axis.
	if got := labels(0.31, 0.39); len(strings.Fields(got)) < 2 {
		t.Errorf("between 0.3 and 0.4: %q", got)
	}
	if got := labels(0.02, 30); got != "0.1 1 10" {
		t.Errorf("over three decades: %q", got)
	}
}

// One value, or the same one always, has a logarithm too; zero has none.
func TestSaveFlatLog(t *testing.T) {
	c := Chart{LogY: true, Series: []Series{{X: []float64{0, 1, 2, 3}, Y: []float64{0.3, 0, 0.3, -1}}}}
	if err := c.Save(filepath.Join(t.TempDir(), "c.png")); err != nil {
		t.Error(err)
	}
}

// Charts in a stack share a scale and stand one under the other.
func TestStack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.png")
	flat := Chart{Title: "flat", Width: 300, Height: 100, YRange: [2]float64{0, 1}, Series: []Series{{Name: "a", X: []float64{0, 1}, Y: []float64{0.5, 0.5}}}}
	must.Do(t, Stack(path, flat, flat, flat))
	img := readPNG(t, path)
	if b := img.Bounds(); b.Dx() != 300 || b.Dy() != 300 {
		t.Fatalf("size %v", b)
	}
	// In each, the blue line is at half of the height of the axis.
	var at []int
	for y := range 300 {
		if r, _, b, _ := img.At(100, y).RGBA(); r < 0x4000 && b > 0x8000 && (len(at) == 0 || y > at[len(at)-1]+5) {
			at = append(at, y)
		}
	}
	if len(at) != 3 || at[1]-at[0] != 100 || at[2]-at[1] != 100 || at[0] < 35 || at[0] > 65 {
		t.Errorf("lines at %v", at)
	}
	if err := Stack(path); err == nil {
		t.Error("nothing was drawn")
	}
}

// Two groups of two bars: each series has its colour, and as much of it as its values are high.
func TestBars(t *testing.T) {
	b := Bars{Title: "t", YLabel: "cm", Groups: []string{"walk", "run"}, Width: 600, Height: 400,
		Series: []BarSeries{{"low", []float64{1, 2}}, {"high", []float64{2, 4}}}}
	path := filepath.Join(t.TempDir(), "b.png")
	must.Do(t, b.Save(path))
	img := readPNG(t, path)
	var count [2]int
	for y := range 400 {
		for x := range 600 {
			r, g, bl, _ := img.At(x, y).RGBA()
			for i := range count {
				if c := palette[i]; r>>8 == uint32(c.R) && g>>8 == uint32(c.G) && bl>>8 == uint32(c.B) {
					count[i]++
				}
			}
		}
	}
	if ratio := float64(count[1]) / float64(count[0]); count[0] < 5000 || ratio < 1.8 || ratio > 2.2 {
		t.Errorf("%d pixels of low bars and %d of ones twice as high", count[0], count[1])
	}
	b.Series[1].Values = b.Series[1].Values[:1]
	if err := b.Save(path); err == nil || !strings.Contains(err.Error(), "high") {
		t.Errorf("a missing bar: %v", err)
	}
	if err := b.Save("b.txt"); err == nil {
		t.Error("drawn into a text file")
	}
}
