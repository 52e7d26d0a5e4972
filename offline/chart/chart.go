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
	const inch = 96
	w, h := charts[0].size()
	rows := make([][]*plot.Plot, len(charts))
	for i, c := range charts {
		p, err := c.plot()
		if err != nil {
			return err
		}
		rows[i] = []*plot.Plot{p}
	}
	out, err := draw.NewFormattedCanvas(vg.Length(w)*vg.Inch/inch, vg.Length(len(charts)*h)*vg.Inch/inch, ext[1:])
	if err != nil {
		return fmt.Errorf("chart: %w", err)
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
	return atomicfile.Write(path, func(f io.Writer) error { _, err := out.WriteTo(f); return err })
}

func (c Chart) size() (w, h int) {
	return cmp.Or(c.Width, 1200), cmp.Or(c.Height, 640)
}

func (c Chart) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.XLabel, c.YLabel
	p.Legend.Top = true
	if c.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, logTicks{}
	}
	p.Add(plotter.NewGrid())
	points := 0
	for i, s := range c.Series {
		xy := s.finite(c.LogY)
		if len(xy) == 0 {
			continue
		}
		points += len(xy)
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
		if s.Name != "" {
			p.Legend.Add(s.Name, line)
		}
	}
	if points == 0 {
		return nil, fmt.Errorf("chart: nothing to draw in %q: no series has a finite point", c.Title)
	}
	switch {
	case c.YRange != [2]float64{}:
		p.Y.Min, p.Y.Max = c.YRange[0], c.YRange[1]
	case !c.LogY && len(c.Series) > 1:
		// Room above the lines for the legend.
		p.Y.Max += 0.2 * (p.Y.Max - p.Y.Min)
	}
	// The library would widen an empty range by one each way, and a
	// logarithmic axis cannot begin below zero.
	if c.LogY && p.Y.Min == p.Y.Max {
		p.Y.Min, p.Y.Max = p.Y.Min/2, p.Y.Max*2
	}
	return p, nil
}

func (s Series) finite(positive bool) plotter.XYs {
	var xy plotter.XYs
	for i := range min(len(s.X), len(s.Y)) {
		x, y := s.X[i], s.Y[i]
		if x-x == 0 && y-y == 0 && (!positive || y > 0) {
			xy = append(xy, plotter.XY{X: x, Y: y})
		}
	}
	return xy
}

// logTicks marks 1, 2, … 9 times every power of ten. Labels are at the powers, and at 2 and 5 times
// them in a short range. With fewer than two labels the ticks are a linear axis's.
type logTicks struct{}

func (logTicks) Ticks(low, high float64) []plot.Tick {
	var out []plot.Tick
	labels := 0
	short := high/low < 1000
	for k := math.Floor(math.Log10(low)); k <= math.Log10(high); k++ {
		for d := 1.0; d < 10; d++ {
			v := d * math.Pow(10, k)
			if v < low || v > high {
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
		return plot.DefaultTicks{}.Ticks(low, high)
	}
	return out
}
