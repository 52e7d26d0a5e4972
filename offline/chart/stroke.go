package chart

import (
	"iter"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// points returns the points of s that can be drawn, in order.
func (s Series) points(log bool) iter.Seq[plotter.XY] {
	return func(yield func(plotter.XY) bool) {
		for i := range min(len(s.X), len(s.Y)) {
			x, y := s.X[i], s.Y[i]
			if math.Abs(x) <= Limit && math.Abs(y) <= Limit && (!log || y >= 1/Limit) && !yield(plotter.XY{X: x, Y: y}) {
				return
			}
		}
	}
}

// view is where points are drawn, in pixels of a picture without borders.
type view struct {
	x, y func(v float64) float64
	w, h float64
}

// view returns the view of the axes of p.
func (c Chart) view(p *plot.Plot) *view {
	w, h := c.size()
	x, y := p.X, p.Y
	return &view{
		func(v float64) float64 { return x.Norm(v) * float64(w) },
		func(v float64) float64 { return y.Norm(v) * float64(h) },
		float64(w), float64(h),
	}
}

// strokes returns the lines to draw for a series. A usual curve is one line with all its points. The
// time to draw a line grows with the square of the pixels it crosses, so a curve that fills the
// picture is drawn in short lines, and what would only cover its own ink is left out.
func (v *view) strokes(s Series, log bool) []plotter.XYs {
	n := 0
	for range s.points(log) {
		n++
	}
	points := s.points(log)
	if n > 4*int(v.w) {
		points = thin(points, func(p plotter.XY) int { return int(v.x(p.X)) })
	}
	all := plotter.XYs(slices.Collect(points))
	if len(all) == 0 {
		return nil
	}
	length := 0.0
	for i := range len(all) - 1 {
		dx, dy := v.step(all[i], all[i+1])
		length += math.Abs(dx) + math.Abs(dy)
	}
	if length < 20*(v.w+v.h) {
		return []plotter.XYs{all}
	}
	const short = 16 // lines
	var out []plotter.XYs
	inked, begin := make([]bool, int(v.w+1)*int(v.h+1)), 0
	flush := func(end int) { // draws the points [begin, end]
		for ; begin < end; begin += short {
			out = append(out, all[begin:min(begin+short+1, end)+1]) // one line more, for the corner
		}
	}
	for i := range len(all) - 1 {
		if !v.ink(inked, all[i], all[i+1]) {
			flush(i)
			begin = i + 1
		}
	}
	flush(len(all) - 1)
	return out
}

// step returns the way from a to b in pixels.
func (v *view) step(a, b plotter.XY) (dx, dy float64) {
	return v.x(b.X) - v.x(a.X), v.y(b.Y) - v.y(a.Y)
}

// ink marks the pixels between two points and reports whether one was white, or the way is short:
// short lines do not cover their pixels.
func (v *view) ink(inked []bool, a, b plotter.XY) bool {
	dx, dy := v.step(a, b)
	x, y, steps := v.x(a.X), v.y(a.Y), max(math.Abs(dx), math.Abs(dy))
	if !(steps < 2*(v.w+v.h)) {
		return true // beyond the picture, which has a range of its own
	}
	steps = math.Ceil(steps) + 1
	new := steps < 8
	for k := range int(steps) + 1 {
		at := float64(k) / steps
		px, py := int(x+dx*at), int(y+dy*at)
		if px < 0 || py < 0 || px > int(v.w) || py > int(v.h) {
			continue
		}
		p := &inked[py*int(v.w+1)+px]
		new = new || !*p
		*p = true
	}
	return new
}

// thin keeps, of points in a row in the same column, the first, the lowest, the highest and the last.
func thin(points iter.Seq[plotter.XY], column func(plotter.XY) int) iter.Seq[plotter.XY] {
	type indexed struct {
		at int
		plotter.XY
	}
	return func(yield func(plotter.XY) bool) {
		var first, low, high, last indexed
		flush := func() bool {
			if low.at > high.at {
				low, high = high, low
			}
			before := -1
			for _, p := range [...]indexed{first, low, high, last} {
				if p.at > before && !yield(p.XY) {
					return false
				}
				before = p.at
			}
			return true
		}
		n := 0
		for p := range points {
			now := indexed{n, p}
			switch {
			case n == 0:
				first, low, high = now, now, now
			case column(p) != column(last.XY):
				if !flush() {
					return
				}
				first, low, high = now, now, now
			case p.Y < low.Y:
				low = now
			case p.Y > high.Y:
				high = now
			}
			last = now
			n++
		}
		if n > 0 {
			flush()
		}
	}
}
