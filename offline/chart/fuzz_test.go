package chart

import (
	"encoding/binary"
	"math"
	"testing"

	"gonum.org/v1/plot"
)

// Any numbers are refused, or give few ticks and lines. To draw them is too slow for a fuzzer.
func FuzzPlot(f *testing.F) {
	numbers := func(v ...float64) (b []byte) {
		for _, v := range v {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		return b
	}
	f.Add(numbers(0, 1, 1, 1e308, 2, -1e-300), true)
	f.Add(numbers(0, -9e307, 1, 9e307, math.NaN(), 5), false)
	f.Add(numbers(1, 1e16, 1, 1e16+2, math.Inf(1), 0), false)
	f.Fuzz(func(t *testing.T, b []byte, log bool) {
		var s Series
		for ; len(b) >= 16 && len(s.X) < 100; b = b[16:] {
			s.X = append(s.X, math.Float64frombits(binary.LittleEndian.Uint64(b)))
			s.Y = append(s.Y, math.Float64frombits(binary.LittleEndian.Uint64(b[8:])))
		}
		c := Chart{LogY: log, Width: 60, Height: 50, Series: []Series{s}}
		p, err := c.plot()
		if err != nil {
			return
		}
		for _, a := range []plot.Axis{p.X, p.Y} {
			if n := len(a.Tick.Marker.Ticks(a.Min, a.Max)); n > 300 {
				t.Fatalf("%d ticks from %g to %g", n, a.Min, a.Max)
			}
		}
		points := 0
		for _, line := range c.view(p).strokes(s, log) {
			points += len(line)
		}
		if points > 2*len(s.X) {
			t.Fatalf("%d points of %d", points, len(s.X))
		}
	})
}
