package registration

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// At the smoothest fit the gradient of its cost is 0.
func TestWhittakerIsLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stride := rapid.IntRange(1, 4).Draw(t, "stride")
		y := rapid.SliceOfN(rapid.Float64Range(-50, 50), 2, 30).Draw(t, "y")
		n := (len(y)-1)*stride + 1 + rapid.IntRange(0, stride-1).Draw(t, "more")
		stiff := rapid.Float64Range(0.01, 1000).Draw(t, "stiff")
		got := whittaker(y, stride, n, stiff)
		if n < 3 {
			return
		}
		for i := range n {
			g := 0.0
			if i%stride == 0 && i/stride < len(y) {
				g = got[i] - y[i/stride]
			}
			for k, v := range [3]float64{1, -2, 1} { // second differences that i is in
				if j := i - k; j >= 0 && j+2 < n {
					g += stiff * v * (got[j] - 2*got[j+1] + got[j+2])
				}
			}
			if math.Abs(g) > 1e-6*(1+stiff) {
				t.Fatalf("gradient %g at %d of %v", g, i, got)
			}
		}
	})
}

// The curve through any path of the search rises within bounds.
func TestTimesAreBounded(t *testing.T) {
	w := warper{maxSlope: 3, smooth: 0.5}
	slopes := w.slopes()
	if slopes[0] != 4 || slopes[len(slopes)-1] != 36 || !slices.Contains(slopes, 12) {
		t.Fatalf("slopes %v", slopes)
	}
	rapid.Check(t, func(t *rapid.T) {
		g := grid{stride: rapid.IntRange(1, 4).Draw(t, "stride")}
		path := []float64{0}
		for range rapid.IntRange(0, 60).Draw(t, "columns") {
			path = append(path, path[len(path)-1]+float64(g.stride)*float64(rapid.SampledFrom(slopes).Draw(t, "slope"))/fine)
		}
		frames := (len(path)-1)*g.stride + 1
		out := w.times(path, g, frames, 60)
		if len(out) != frames || !bounded(out, 0.999/3, 3.001) {
			t.Fatalf("%v", out)
		}
	})
}

// A template's row wraps around if it repeats, and ends otherwise.
func TestTemplateRow(t *testing.T) {
	row := make([]float64, 1)
	round := &template{frames: 4, cyclic: true, rows: []float64{0, 10, 20, 30}}
	for at, want := range map[float64]float64{0: 0, 1.5: 15, 3.5: 15, 4: 0, -1: 30, 9.25: 12.5} {
		if !round.row(row, at) || row[0] != want {
			t.Errorf("at %g: %g, want %g", at, row[0], want)
		}
	}
	once := &template{frames: 4, rows: round.rows}
	for at, want := range map[float64]bool{-0.1: false, 0: true, 2.5: true, 3: true, 3.1: false, 4: false} {
		if once.row(row, at) != want {
			t.Errorf("reach at %g is %v", at, !want)
		}
	}
}

func TestFitKeepsSides(t *testing.T) {
	f := &features{frames: 100, cols: 2, weight: []float64{0.5, 0.5}, rows: make([]float64, 200)}
	tm := &template{frames: 100, rows: make([]float64, 200)}
	times := make([]float64, 100)
	for i := range 100 {
		x := math.Sin(float64(i) / 5)
		f.rows[2*i], f.rows[2*i+1] = x, x
		tm.rows[2*i], tm.rows[2*i+1] = 2*x+1, -x
		times[i] = float64(i)
	}
	gain, offset := []float64{1, 1}, []float64{0, 0}
	fit(gain, offset, f, tm, times)
	if gain[0] < 1.5 || gain[0] > 2 || math.Abs(offset[0]-1) > 0.2 {
		t.Errorf("gain %g and offset %g, want somewhat below 2, and 1", gain[0], offset[0])
	}
	if gain[1] < 0.3 {
		t.Errorf("gain %g: what goes the other way was turned round", gain[1])
	}
}

func TestSnap(t *testing.T) {
	parse := func(s string) (v []uint8) {
		for _, c := range s {
			v = append(v, uint8(c-'0'))
		}
		return v
	}
	for _, c := range []struct {
		stands, own, want string
		reach             int
	}{
		{"0001111000", "0011111100", "0011111100", 1},
		{"0001111000", "0011111100", "0001111000", 0},
		{"0001111000", "1111111111", "0001111000", 2}, // no change was detected
		{"0003333000", "0013333220", "0013333220", 2}, // feet move apart
		{"1100000011", "1111000111", "1111000111", 3}, // at the ends it stands before and after
		{"0011000", "0000011", "0011000", 4},          // it would begin after it ended
	} {
		if got := snap(parse(c.stands), parse(c.own), c.reach); !slices.Equal(got, parse(c.want)) {
			t.Errorf("%s with %s: %v, want %s", c.stands, c.own, got, c.want)
		}
	}
}

func TestTidy(t *testing.T) {
	v := []bool{true, false, true, true, true, false, false, true, false, false, false}
	tidy(v, false, 2) // gaps
	tidy(v, true, 2)  // stands
	want := []bool{true, true, true, true, true, false, false, false, false, false, false}
	if !slices.Equal(v, want) {
		t.Errorf("%v, want %v", v, want)
	}
}

func TestLanding(t *testing.T) {
	for _, c := range []struct {
		stands []uint8
		want   int
	}{
		{[]uint8{1, 1, 0, 2, 2, 0, 1, 1}, 6},
		{[]uint8{0, 1, 0, 1, 1, 0}, 3},
		{[]uint8{0, 0, 2, 2}, 0},
		{[]uint8{1, 1}, 0},
	} {
		if got := landing(c.stands, LeftStands); got != c.want {
			t.Errorf("%v: %d, want %d", c.stands, got, c.want)
		}
	}
}
