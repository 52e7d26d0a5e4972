package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot/plotter"

	"mannequin/internal/testing/must"
)

// within fails the test if draw takes longer than limit.
func within(t *testing.T, limit time.Duration, name string, draw func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- draw() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	case <-time.After(limit):
		t.Fatalf("%s: not drawn within %v", name, limit)
	}
}

// Any pair of numbers is drawn, on both axes and both scales, or left out: no endless loop, no
// panic.
func TestExtremes(t *testing.T) {
	numbers := []float64{0, 1, 5e-324, 1e-310, 1e-300, 1e-14, 1e16, 1e16 + 2, 1 << 53, 1e22, 9e99, 1e299, 1e300,
		math.Nextafter(1e300, 0), 9e307, 1e308, math.MaxFloat64, math.Inf(1), math.NaN()}
	numbers = append(numbers, -1, -5e-324, -1e16, -1e300, -math.MaxFloat64)
	dir := t.TempDir()
	for i, a := range numbers {
		for _, b := range append(numbers[i:len(numbers):len(numbers)], math.Nextafter(a, 2*a), a+1, 2*a) {
			for _, log := range []bool{false, true} {
				c := Chart{LogY: log, Width: 60, Height: 50, Series: []Series{{X: []float64{a, b, 0}, Y: []float64{a, b, 1}}, {X: []float64{a, b}, Y: []float64{a, b}}}}
				if (a+b)*0 != 0 || max(math.Abs(a), math.Abs(b)) > Limit {
					c.Series[0].X[2] = 2 // something is left
				}
				within(t, 10*time.Second, fmt.Sprintf("%g and %g, log %v", a, b, log), func() error {
					_, err := render("svg", []Chart{c})
					return err
				})
			}
		}
	}
	// A range that data exceed by far.
	c := Chart{YRange: [2]float64{0, 1}, Series: []Series{{X: []float64{-1e300, 0, 1e300}, Y: []float64{-1e300, 0.5, 1e300}}}}
	for _, ext := range Formats() {
		within(t, 10*time.Second, "a narrow range", func() error { return c.Save(filepath.Join(dir, "c"+ext)) })
	}
}

// Ticks are few, whatever the ends of the axis.
func TestTicksAreFew(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		low := math.Pow(10, r.Float64()*600-300)
		high := low * math.Pow(10, math.Pow(10, r.Float64()*20-17))
		if !(low < high && high <= Limit) {
			continue
		}
		within(t, 10*time.Second, fmt.Sprintf("%g to %g", low, high), func() error {
			if n := len(logTicks{}.Ticks(low, high)); n > 300 {
				return fmt.Errorf("%d ticks", n)
			}
			for _, ends := range [][2]float64{{low, high}, {-high, -low}, {-low, high}} {
				if n := len(linearTicks{}.Ticks(ends[0], ends[1])); n > 100 {
					return fmt.Errorf("%d ticks", n)
				}
			}
			return nil
		})
	}
}

// Names that people write keep an SVG well-formed, and long ones cost no time.
func TestHostileNames(t *testing.T) {
	name := "<a>&\x00\x01\x1b[2J\n\u202e\xff" + strings.Repeat("é", 1<<20)
	c := Chart{Title: name, XLabel: name, YLabel: name, Series: []Series{{Name: name, X: []float64{0, 1}, Y: []float64{0, 1}}}}
	for _, ext := range Formats() {
		var b bytes.Buffer
		within(t, 10*time.Second, ext, func() error {
			_, err := must.Get(render(ext[1:], []Chart{c}))(t).WriteTo(&b)
			return err
		})
		if ext == ".svg" {
			if err := xml.Unmarshal(b.Bytes(), new(struct{})); err != nil || b.Len() > 1<<16 {
				t.Errorf("%d bytes: %v", b.Len(), err)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "b.svg")
	must.Do(t, Bars{Title: name, YLabel: name, Groups: []string{name}, Series: []BarSeries{{name, []float64{1}}}}.Save(path))
	if err := xml.Unmarshal(must.Get(os.ReadFile(path))(t), new(struct{})); err != nil {
		t.Error(err)
	}
}

// Sizes and ranges that cannot be drawn are errors, not panics and no memory.
func TestBadCharts(t *testing.T) {
	dir := t.TempDir()
	one := []Series{{X: []float64{1, 2}, Y: []float64{1, 2}}}
	for i, save := range []func(string) error{
		Chart{Series: one, Width: -1}.Save,
		Chart{Series: one, Width: 1 << 30, Height: 1}.Save,
		Chart{Series: one, Width: 1 << 15, Height: 1 << 15}.Save,
		Chart{Series: one, YRange: [2]float64{math.NaN(), 1}}.Save,
		Chart{Series: one, YRange: [2]float64{0, math.Inf(1)}}.Save,
		Chart{Series: one, YRange: [2]float64{-math.MaxFloat64, math.MaxFloat64}}.Save,
		Chart{Series: one, YRange: [2]float64{0, 1}, LogY: true}.Save,
		Chart{Series: []Series{{X: []float64{0}, Y: []float64{1e301}}}}.Save,
		Bars{Groups: []string{"a"}, Series: []BarSeries{{"b", []float64{1e308}}}}.Save,
		Bars{Groups: []string{"a"}, Series: []BarSeries{{"b", []float64{math.NaN()}}}}.Save,
		Bars{Groups: []string{"a"}, Series: []BarSeries{{"b", []float64{1}}}, Width: 1 << 40}.Save,
	} {
		if err := save(filepath.Join(dir, "c.png")); err == nil {
			t.Errorf("chart %d was drawn", i)
		}
	}
	for _, v := range []float64{0, 5e-324, -1e300, 1e300, -1} {
		within(t, 10*time.Second, fmt.Sprint("a bar of ", v), func() error {
			return Bars{Groups: []string{"a", "b"}, Series: []BarSeries{{"b", []float64{v, v}}}}.Save(filepath.Join(dir, "b.png"))
		})
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// zigzag returns n rows of a curve that fills the chart.
func zigzag(n int) Series {
	s := Series{Name: "zigzag"}
	for i := range n {
		s.X, s.Y = append(s.X, float64(i)), append(s.Y, float64(i%7))
	}
	return s
}

// A curve that fills the chart is drawn quickly, whichever axis it zigzags along.
func TestZigzagIsQuick(t *testing.T) {
	s, dir := zigzag(50000), t.TempDir()
	for _, ext := range Formats() {
		for _, s := range []Series{s, {X: s.Y, Y: s.X}} {
			start := time.Now()
			within(t, time.Minute, ext, func() error { return Chart{Series: []Series{s}}.Save(filepath.Join(dir, "z"+ext)) })
			took := time.Since(start)
			t.Logf("%s: %v", ext, took)
			if took > 30*time.Second { // half a second on an idle machine, over a minute without thinning
				t.Errorf("%s: drawn in %v", ext, took)
			}
		}
	}
}

// The lines drawn for a long curve cover the pixels that all its points do, to within a pixel.
func TestThinnedLooksTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	c := Chart{Width: 200, Height: 150}
	const n = 6000
	var noise, wave, circle Series
	for i := range n {
		x := float64(i) / n
		noise.X, noise.Y = append(noise.X, x), append(noise.Y, math.Pow(r.Float64(), 9))
		wave.X, wave.Y = append(wave.X, x), append(wave.Y, math.Exp(-4*x)*(1.1+math.Sin(60*x)))
		circle.X, circle.Y = append(circle.X, math.Sin(9*x)), append(circle.Y, math.Cos(9*x))
	}
	for name, s := range map[string]Series{"noise": noise, "noise upwards": {X: noise.Y, Y: noise.X}, "wave": wave, "circle": circle} {
		c.Series = []Series{s}
		v := c.view(must.Get(c.plot())(t))
		lines, all := v.strokes(s, false), plotter.XYs(slices.Collect(s.points(false)))
		points := 0
		for _, l := range lines {
			points += len(l)
		}
		if points > n*2/3 {
			t.Errorf("%s: %d of %d points are drawn", name, points, n)
		}
		got, want := v.pixels(lines...), v.pixels(all)
		for _, k := range []struct {
			in, of map[image.Point]bool
			what   string
		}{{got, want, "missing"}, {want, got, "new"}} {
			for p := range k.of {
				near := false
				for dy := -1; dy <= 1; dy++ {
					for dx := -1; dx <= 1; dx++ {
						near = near || k.in[p.Add(image.Pt(dx, dy))]
					}
				}
				if !near {
					t.Fatalf("%s: pixel %v is %s", name, p, k.what)
				}
			}
		}
	}
}

// pixels returns the pixels that lines cross.
func (v *view) pixels(lines ...plotter.XYs) map[image.Point]bool {
	set := map[image.Point]bool{}
	for _, l := range lines {
		for i := range len(l) - 1 {
			x, y := v.x(l[i].X), v.y(l[i].Y)
			dx, dy := v.x(l[i+1].X)-x, v.y(l[i+1].Y)-y
			steps := math.Ceil(2*max(math.Abs(dx), math.Abs(dy))) + 1
			for k := range int(steps) + 1 {
				set[image.Pt(int(x+dx*float64(k)/steps), int(y+dy*float64(k)/steps))] = true
			}
		}
	}
	return set
}

// A usual curve is one line with all its points.
func TestUsualCurveIsWhole(t *testing.T) {
	c := demo()
	v := c.view(must.Get(c.plot())(t))
	if got := v.strokes(c.Series[0], false); len(got) != 1 || len(got[0]) != 50 {
		t.Errorf("%d lines", len(got))
	}
}
