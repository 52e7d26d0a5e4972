package registration

import (
	"math"
	"testing"

	"mannequin/internal/testing/must"
)

// column1 are features of one column.
func column1(v []float64) *features {
	return &features{frames: len(v), cols: 1, rows: v, weight: []float64{1}, fps: 60, own: make([]uint8, len(v))}
}

// hump is a rise to height and back, still for some frames before and after.
func hump(still, frames int, height float64) []float64 {
	v := make([]float64, still+frames+still)
	for i := range frames {
		v[still+i] = height * 0.5 * (1 - math.Cos(2*math.Pi*float64(i)/float64(frames)))
	}
	return v
}

// A small gesture is a whole one all the same: it does not pass for the beginning of a large one.
func TestPathCoversTheTemplate(t *testing.T) {
	w := warper{maxSlope: 3, smooth: 0.5}
	for _, height := range []float64{1, 0.5, 0.3} {
		take := column1(hump(30, 80, height))
		tm := &template{frames: 100, hold: 60, rows: hump(10, 80, 1)}
		path, g := must.Get2(w.path(take, tm, []float64{1}, []float64{0}))(t)
		times := w.times(path, g, take.frames, 60)
		if at := times[70]; math.Abs(at-50) > 10 {
			t.Errorf("height %g: its middle is at %.1f of the template, want 50; it ends at %.1f", height, at, times[len(times)-1])
		}
	}
}

// A registration counts the frames of both: no take lingers at a roughly similar pose.
func TestPathDoesNotLinger(t *testing.T) {
	w := warper{maxSlope: 3, smooth: 0.5}
	take, tm := column1(hump(5, 60, 0.6)), &template{frames: 70, hold: 60, rows: hump(5, 60, 1)}
	for i := range take.rows { // a tremble that the template does not have
		take.rows[i] += 0.15 * math.Sin(float64(i))
	}
	path, _ := must.Get2(w.path(take, tm, []float64{1}, []float64{0}))(t)
	if first, last := path[0], path[len(path)-1]; math.Abs(first) > 8 || math.Abs(last-69) > 8 {
		t.Errorf("%.1f to %.1f of the template are covered, want about all of 0 to 69", first, last)
	}
}

// A path too wild to be followed is smoothed no more than needed.
func TestTimesStayNearThePath(t *testing.T) {
	w := warper{maxSlope: 3, smooth: 0.1}
	path := []float64{0}
	for c := range 110 {
		slope := 1.0
		switch {
		case c >= 60:
			slope = 1. / 3
		case c >= 50:
			slope = 3
		}
		path = append(path, path[c]+2*slope)
	}
	times := w.times(path, grid{stride: 2}, 221, 60)
	if !bounded(times, 0.999/3, 3.001) {
		t.Error("slopes are out of bounds")
	}
	for c, p := range path {
		if d := math.Abs(times[2*c] - p); d > 5 {
			t.Fatalf("column %d: %g from the path", c, d)
		}
	}
}

// The period is the first good one, even if two cycles are a little more alike.
func TestPeriod(t *testing.T) {
	v := make([]float64, 300)
	for i := range v {
		v[i] = math.Sin(2 * math.Pi * float64(i) / 40)
		if i/40%2 == 1 {
			v[i] *= 0.8
		}
	}
	if p, alike := column1(v).period(); p != 40 || alike < 0.95 {
		t.Errorf("%d frames, %g: want 40", p, alike)
	}
	if p, _ := column1(hump(30, 80, 1)).period(); p != 0 {
		t.Errorf("a hump has a period of %d", p)
	}
	if p, _ := column1(v[:20]).period(); p != 0 {
		t.Errorf("20 frames have a period of %d", p)
	}
}

// Every column has mean 0 and deviation 1, except those that hardly move.
func TestFeaturesAreStandardised(t *testing.T) {
	for _, cyclic := range []bool{true, false} {
		f := must.Get(featuresOf(figure{frames: 128, phase: steady(0, 64), swing: 0.5, arms: 0.5}.walk(), cyclic))(t)
		sum, full := 0.0, 0
		for k, w := range f.weight {
			v := make([]float64, f.frames)
			for i := range v {
				v[i] = f.rows[i*f.cols+k]
			}
			mean, dev := moments(v)
			if math.Abs(mean) > 1e-6 || dev > 1+1e-6 {
				t.Errorf("column %d: mean %g, deviation %g", k, mean, dev)
			}
			if dev > 0.99 {
				full++
			}
			sum += w
		}
		if math.Abs(sum-1) > 1e-9 || full < f.cols/2 {
			t.Errorf("weights sum to %g; %d of %d columns move", sum, full, f.cols)
		}
	}
}

// The mean counts each take once; contacts are the majority's.
func TestMeanAndMajority(t *testing.T) {
	r := &registrar{cyclic: true, template: &template{frames: 4, cyclic: true, rows: make([]float64, 4)}, spread: []float64{math.Sqrt(1.25)}}
	add := func(rows []float64, own []uint8) {
		f := column1(rows)
		copy(f.own, own)
		times := make([]float64, len(rows))
		for i := range times {
			times[i] = float64(i)
		}
		r.feat, r.times = append(r.feat, f), append(r.times, times)
		r.gain, r.offset = append(r.gain, []float64{1}), append(r.offset, []float64{0})
	}
	add([]float64{-1, 0, 1, 2, -3, -2, -1, 0}, []uint8{1, 1, 3, 0, 1, 1, 3, 0}) // its mean cycle is −2 −1 0 1
	add([]float64{-1, 0, 1, 2}, []uint8{1, 0, 2, 2})
	add([]float64{-1.5, -0.5, 0.5, 1.5}, []uint8{0, 0, 3, 2})
	r.average()
	for i, v := range r.template.rows {
		if want := float64(i) - 1.5; math.Abs(v-want) > 1e-9 {
			t.Errorf("frame %d: %g, want %g", i, v, want)
		}
	}
	for i, want := range []uint8{1, 0, 3, 2} {
		if got := r.majority()[i]; got != want {
			t.Errorf("frame %d: contacts %b, want %b", i, got, want)
		}
	}
}
