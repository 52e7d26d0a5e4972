package registration

import (
	"math"
	"testing"

	"mannequin/animsys/mar"
)

// timed is a take of n frames that begins at start and goes on by slope.
func timed(name string, n int, start, slope float64) *Take {
	t := &Take{Take: mar.Take{Name: name, Times: make([]float64, n)}}
	for f := range t.Times {
		t.Times[f] = start + slope*float64(f)
	}
	return t
}

func TestMatchGoesBackByWholeCycles(t *testing.T) {
	tl := &Timeline{Frames: 10, Period: 10}
	a := timed("a", 100, 3, 1)
	b := timed("b", 50, 5, 0.5) // 5 to 29.5: two cycles and a half
	frames, marks := tl.Match(a, b)
	jumps := 0
	for f, g := range frames {
		if d := math.Mod(a.Times[f]-(5+0.5*g), 10); math.Abs(d-10*math.Round(d/10)) > 1e-9 {
			t.Fatalf("frame %d is matched to %g: phases differ by %g", f, g, d)
		}
		switch {
		case f == 0:
			if g != 16 || marks[0] { // 3 is not reached, 13 is
				t.Errorf("the first frame meets %g, marked %v: want 16", g, marks[0])
			}
		case marks[f]:
			jumps++
			if g >= frames[f-1] {
				t.Errorf("frame %d is marked, and %g follows %g", f, g, frames[f-1])
			}
		case math.Abs(g-frames[f-1]-2) > 1e-9:
			t.Errorf("frame %d: %g follows %g", f, g, frames[f-1])
		}
	}
	// From 13 on 17 frames reach 29.5; later runs lack at most a cycle and cover two.
	if jumps < 4 || jumps > 5 {
		t.Errorf("%d jumps in 100 frames over a take that covers 24", jumps)
	}
}

func TestMatchOfPartOfACycle(t *testing.T) {
	tl := &Timeline{Frames: 10, Period: 10}
	a := timed("a", 30, 0, 1)
	b := timed("b", 6, 2, 1) // 2 to 7
	frames, marks := tl.Match(a, b)
	for f, g := range frames {
		p := f % 10
		inside := p >= 2 && p <= 7
		switch {
		case inside && g != float64(p-2):
			t.Errorf("frame %d: %g", f, g)
		case !inside && (g != 0 && g != 5 || !marks[f]):
			t.Errorf("frame %d is out of reach: %g, marked %v", f, g, marks[f])
		case inside && marks[f] != (p == 2):
			t.Errorf("frame %d: marked %v", f, marks[f])
		}
	}
}

func TestMatchOnce(t *testing.T) {
	tl := &Timeline{Frames: 100}
	a, b := timed("a", 50, 0, 2), timed("b", 30, 20, 2)
	frames, marks := tl.Match(a, b)
	for f, g := range frames {
		want, mark := float64(f-10), f < 10 || f > 39
		if f < 10 {
			want = 0
		}
		if f > 39 {
			want = 29
		}
		if g != want || marks[f] != (mark || f == 10) {
			t.Errorf("frame %d: %g, marked %v; want %g", f, g, marks[f], want)
		}
	}
	if self, marks := tl.Match(a, a); self[17] != 17 || marks[17] || self[49] != 49 || marks[49] {
		t.Errorf("a take is not matched to itself: %v %v", self, marks)
	}
}

func TestMatchPanicsWithoutTimes(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	(&Timeline{}).Match(&Take{Take: mar.Take{Name: "a", Times: []float64{1}}}, &Take{Take: mar.Take{Name: "b"}})
}
