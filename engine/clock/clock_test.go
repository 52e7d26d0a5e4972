package clock

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mannequin/internal/testing/must"
)

func TestNoDriftAtSixtyHertz(t *testing.T) {
	c := must.Get(New(60, 10))(t)
	// An hour in frames of 7.3 ms: the count may differ by the part of a step
	// that is still in the accumulator, never by more.
	const dt = 7300 * time.Microsecond
	frames, steps := int(time.Hour/dt), 0
	for range frames {
		steps += c.Advance(dt)
	}
	want := (time.Duration(frames) * dt).Seconds() * 60
	if got := float64(steps) + float64(c.Alpha()); math.Abs(got-want) > 1e-3 {
		t.Errorf("%.4f steps, want %.4f", got, want)
	}
}

// However a span of time is cut into frames, the same number of steps results,
// as long as no frame hits the limit.
func TestStepsDoNotDependOnFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.IntRange(1, 240).Draw(t, "rate")
		cuts := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Second)), 1, 40).Draw(t, "frames")
		a, _ := New(rate, 1<<30)
		b, _ := New(rate, 1<<30)
		var total time.Duration
		steps := 0
		for _, c := range cuts {
			steps += a.Advance(time.Duration(c))
			total += time.Duration(c)
			if al := a.Alpha(); al < 0 || al >= 1 {
				t.Fatalf("alpha %g", al)
			}
		}
		if n := b.Advance(total); steps != n || a.Alpha() != b.Alpha() {
			t.Fatalf("%d steps + %g in pieces, %d + %g at once", steps, a.Alpha(), n, b.Alpha())
		}
	})
}

func TestCatchUpLimit(t *testing.T) {
	c, _ := New(60, 4)
	if n := c.Advance(time.Second); n != 4 {
		t.Errorf("took %d steps, want 4", n)
	}
	if n := c.Advance(0); n != 0 || c.Alpha() != 0 {
		t.Errorf("the dropped time came back: %d steps", n)
	}
	if n := c.Advance(-time.Hour); n != 0 || c.Alpha() < 0 {
		t.Errorf("time ran backwards: %d steps, alpha %g", n, c.Alpha())
	}
	if n := c.Advance(math.MaxInt64); n != 4 {
		t.Errorf("%d steps after the longest frame, want 4", n)
	}
}

func TestBadArguments(t *testing.T) {
	for _, a := range [][2]int{{0, 1}, {-60, 1}, {2000, 1}, {60, 0}} {
		if _, err := New(a[0], a[1]); err == nil {
			t.Errorf("New(%d, %d) was accepted", a[0], a[1])
		}
	}
}
