package chart

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Bars are groups of bars side by side.
type Bars struct {
	Title, YLabel string
	Groups        []string // under the bars
	Series        []BarSeries
	Width, Height int // pixels at 96 per inch; 0: 1200×640
}

// BarSeries is one bar in each group.
type BarSeries struct {
	Name   string
	Values []float64 // (groups)
}

// Save draws b into a file in the format of its extension.
func (b Bars) Save(path string) error {
	ext := strings.ToLower(filepath.Ext(path))
	if !slices.Contains(Formats(), ext) {
		return fmt.Errorf("chart: cannot draw %q: the name must end in %s", path, strings.Join(Formats(), ", "))
	}
	if len(b.Groups) == 0 || len(b.Series) == 0 {
		return fmt.Errorf("chart: no bars to draw in %q", path)
	}
	w, h := Chart{Width: b.Width, Height: b.Height}.size()
	if err := checkSize(w, h, 1); err != nil {
		return err
	}
	p := plot.New()
	p.Title.Text, p.Y.Label.Text = label(b.Title), label(b.YLabel)
	p.Y.Tick.Marker = linearTicks{}
	p.Legend.Top = true
	p.Y.Min = 0
	// Three quarters of a group's width are bars.
	room := vg.Length(w) * vg.Inch / inch * 0.85 / vg.Length(len(b.Groups))
	width := room * 0.75 / vg.Length(len(b.Series))
	for i, s := range b.Series {
		if len(s.Values) != len(b.Groups) {
			return fmt.Errorf("chart: %q has %d bars for %d groups", s.Name, len(s.Values), len(b.Groups))
		}
		for k, v := range s.Values {
			if !(math.Abs(v) <= Limit) {
				return fmt.Errorf("chart: %q of %q is %g, want a number within ±%g", s.Name, b.Groups[k], v, Limit)
			}
		}
		bars, err := plotter.NewBarChart(plotter.Values(s.Values), width)
		if err != nil {
			return fmt.Errorf("chart: %s: %w", s.Name, err)
		}
		bars.Color, bars.LineStyle.Width = palette[i%len(palette)], 0
		bars.Offset = width * (vg.Length(i) - vg.Length(len(b.Series)-1)/2)
		p.Add(bars)
		p.Legend.Add(label(s.Name), bars)
	}
	p.Legend.Left = true
	p.Y.Max *= 1 + 0.06*float64(len(b.Series)+1) // for the legend
	widen(&p.Y, false)
	names := make([]string, len(b.Groups))
	for i, g := range b.Groups {
		names[i] = label(g)
	}
	p.NominalX(names...)
	p.X.Min, p.X.Max = -0.6, float64(len(b.Groups))-0.4
	return p.Save(vg.Length(w)*vg.Inch/inch, vg.Length(h)*vg.Inch/inch, path)
}
