// Package chart draws line charts into PNG, SVG and PDF files.
package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	// The formats register themselves.
	_ "gonum.org/v1/plot/vg/vgimg"
	_ "gonum.org/v1/plot/vg/vgpdf"
	_ "gonum.org/v1/plot/vg/vgsvg"

	"mannequin/internal/atomicfile"
)

// Limit is the largest number on an axis. Points farther from zero are left out, and on a
// logarithmic axis those below 1/Limit.
const Limit = 1e300

// maxPixels bounds the memory of a picture, maxSide its length and its height.
const maxPixels, maxSide = 64 << 20, 1 << 15

// Series is one line: Y over X, of equal length. Points that are not finite are left out.
type Series struct {
	Name string
	X, Y []float64
}

// Chart is a line chart.
type Chart struct {
	Title, XLabel, YLabel string
	LogY                  bool       // logarithmic Y axis; only for positive values
	YRange                [2]float64 // ends of the Y axis; zero: of the data
	Width, Height         int        // pixels at 96 per inch; 0: 1200×640
	Series                []Series
}

// palette has eight colours that most colour-blind readers can tell apart.
var palette = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{86, 180, 233, 255}, {230, 159, 0, 255}, {90, 90, 90, 255}, {110, 50, 10, 255},
}

// Formats lists the file extensions that Save understands.
func Formats() []string { return []string{".png", ".svg", ".pdf"} }

// Save draws c into a file in the format of its extension.
func (c Chart) Save(path string) error { return Stack(path, c) }

// Stack draws charts one below the other, with aligned left ends, into a file in the format of its
// extension. All have the size of the first. Legends stand beside them.
func Stack(path string, charts ...Chart) error {
	ext := strings.ToLower(filepath.Ext(path))
	if !slices.Contains(Formats(), ext) {
		return fmt.Errorf("chart: cannot draw %q: the name must end in %s", path, strings.Join(Formats(), ", "))
	}
	if len(charts) == 0 {
		return fmt.Errorf("chart: nothing to draw in %q", path)
	}
	out, err := render(ext[1:], charts)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(f io.Writer) error { _, err := out.WriteTo(f); return err })
}

// render draws charts in a format, png, svg or pdf.
func render(format string, charts []Chart) (io.WriterTo, error) {
	w, h := charts[0].size()
	if err := checkSize(w, h, len(charts)); err != nil {
		return nil, err
	}
	rows := make([][]*plot.Plot, len(charts))
	for i, c := range charts {
		p, err := c.plot()
		if err != nil {
			return nil, err
		}
		rows[i] = []*plot.Plot{p}
	}
	out, err := draw.NewFormattedCanvas(vg.Length(w)*vg.Inch/inch, vg.Length(len(charts)*h)*vg.Inch/inch, format)
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	tiles := draw.Tiles{Rows: len(charts), Cols: 1}
	if len(charts) > 1 {
		tiles.PadRight = vg.Points(80)
		for _, row := range rows {
			row[0].Legend.XOffs = tiles.PadRight
		}
	}
	for i, row := range plot.Align(rows, tiles, draw.New(out)) {
		rows[i][0].Draw(row[0])
	}
	return out, nil
}

func (c Chart) size() (w, h int) {
	return cmp.Or(c.Width, 1200), cmp.Or(c.Height, 640)
}

// checkSize returns an error for the size of n charts, one below the other, that no picture can have.
func checkSize(w, h, n int) error {
	if w < 1 || h < 1 || max(w, h, n) > maxSide || w*h > maxPixels/n {
		return fmt.Errorf("chart: cannot draw %d charts of %d×%d pixels: at most %d pixels in all, %d on a side", n, w, h, maxPixels, maxSide)
	}
	return nil
}

// inch is the pixels of an inch.
const inch = 96

func (c Chart) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = label(c.Title), label(c.XLabel), label(c.YLabel)
	p.Legend.Top = true
	p.X.Tick.Marker, p.Y.Tick.Marker = linearTicks{}, linearTicks{}
	if c.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, logTicks{}
	}
	p.Add(plotter.NewGrid())
	for _, s := range c.Series {
		for at := range s.points(c.LogY) {
			p.X.Min, p.X.Max = min(p.X.Min, at.X), max(p.X.Max, at.X)
			p.Y.Min, p.Y.Max = min(p.Y.Min, at.Y), max(p.Y.Max, at.Y)
		}
	}
	if p.X.Min > p.X.Max {
		return nil, fmt.Errorf("chart: nothing to draw in %q: no series has a point that can be drawn", c.Title)
	}
	switch r := c.YRange; {
	case r != [2]float64{}:
		if !(-Limit <= r[0] && r[0] < r[1] && r[1] <= Limit) || c.LogY && r[0] < 1/Limit {
			return nil, fmt.Errorf("chart: the ends of the Y axis are %g and %g", r[0], r[1])
		}
		p.Y.Min, p.Y.Max = r[0], r[1]
	case !c.LogY && len(c.Series) > 1:
		// Room above the lines for the legend.
		p.Y.Max += 0.2 * (p.Y.Max - p.Y.Min)
	}
	widen(&p.X, false)
	widen(&p.Y, c.LogY)
	x, y, view := p.X, p.Y, c.view(p)
	for i, s := range c.Series {
		for k, xy := range view.strokes(s, c.LogY) {
			line, err := plotter.NewLine(xy)
			if err != nil {
				return nil, fmt.Errorf("chart: %s: %w", s.Name, err)
			}
			line.Color = palette[i%len(palette)]
			line.Width = vg.Points(1.5)
			if i >= len(palette) {
				line.Dashes = []vg.Length{vg.Points(4), vg.Points(2)}
			}
			p.Add(line)
			if s.Name != "" && k == 0 {
				p.Legend.Add(label(s.Name), line)
			}
		}
	}
	p.X, p.Y = x, y // lines widen them
	return p, nil
}

// label returns text without what a picture cannot show, and short enough for one.
func label(text string) string {
	var out []rune
	for _, r := range text {
		if len(out) == 200 {
			return string(out) + "…"
		}
		if unicode.IsPrint(r) {
			out = append(out, r)
		}
	}
	return string(out)
}

// widen makes room around the only value of an axis. The library would widen by one each way, which
// large numbers do not notice, and a logarithmic axis cannot begin below zero.
func widen(a *plot.Axis, log bool) {
	switch {
	case log && a.Max/a.Min < 1+1e-12:
		a.Min, a.Max = a.Min/2, a.Max*2
	case !log && a.Min == a.Max:
		room := max(1, 1e-9*math.Abs(a.Min))
		a.Min, a.Max = a.Min-room, a.Max+room
	}
}

// logTicks marks 1, 2, … 9 times every power of ten. Labels are at the powers, and at 2 and 5 times
// them in a short range. With fewer than two labels the ticks are a linear axis's.
type logTicks struct{}

func (logTicks) Ticks(low, high float64) []plot.Tick {
	var out []plot.Tick
	labels := 0
	short := high/low < 1000
	first, last := math.Floor(math.Log10(low)), math.Log10(high)
	// Over very many powers of ten, every tenth or so is marked alone.
	step := max(1, math.Ceil((last-first)/30))
	for k := first; k <= last; k += step {
		for d := 1.0; d < 10; d++ {
			v := d * math.Pow(10, k)
			if v < low || v > high || step > 1 && d > 1 {
				continue
			}
			t := plot.Tick{Value: v}
			if d == 1 || short && (d == 2 || d == 5) {
				t.Label = strconv.FormatFloat(v, 'g', 4, 64)
				labels++
			}
			out = append(out, t)
		}
	}
	if labels < 2 {
		return linearTicks{}.Ticks(low, high)
	}
	return out
}

// linearTicks are the library's ticks. In a range that is narrow beside its numbers the library may
// never end, and only the ends are marked.
type linearTicks struct{}

func (linearTicks) Ticks(low, high float64) []plot.Tick {
	if high-low < 1e-12*max(math.Abs(low), math.Abs(high)) {
		return []plot.Tick{{Value: low, Label: fmt.Sprint(low)}, {Value: high, Label: fmt.Sprint(high)}}
	}
	return plot.DefaultTicks{}.Ticks(low, high)
}
