package keypose

import (
	"testing"

	"mannequin/engine/m3"
)

// Smoothing takes the corners out of an interpolation, leaves its keys, and a path that is keyed in
// every frame.
func TestSmoother(t *testing.T) {
	l := layout(t)
	const frames = 181
	was, is := keyed(l, swaying(frames, 1), 60, 0, 50, 90, 180), keyed(l, swaying(frames, 1), 60, 0, 50, 90, 180)
	for f := range frames {
		for _, track := range []*Track{was, is} {
			track.Place[f].Pos = m3.V(m3.Abs(float32(f)-70)/60, 0, 1)
			track.Weight[f*l.Groups()+GroupPath] = 1
		}
	}
	was.Interpolate()
	is.Interpolate()
	var s smoother
	s.run(is)
	for f := range frames {
		if was.Place[f] != is.Place[f] {
			t.Fatalf("frame %d: a keyed path is smoothed", f)
		}
		d := apart(was, is, f)
		if key := f == 0 || f == 50 || f == 90 || f == 180; key && d != 0 || d > 0.01 {
			t.Errorf("frame %d: joints are moved by %g m", f, d)
		}
	}
	corner := func(track *Track, f int) float32 {
		h := track.Height
		return m3.Abs(h[f-1] - 2*h[f] + h[f+1])
	}
	for _, f := range []int{50, 90} {
		if a, b := corner(was, f), corner(is, f); a < 1e-4 || b > 0.6*a {
			t.Errorf("the corner at the key of frame %d is %g, before %g", f, b, a)
		}
	}
}

// BenchmarkSmoother smooths four seconds.
func BenchmarkSmoother(b *testing.B) {
	l := layout(b)
	track := keyed(l, swaying(241, 1), 60, 0, 120, 240)
	track.Interpolate()
	var s smoother
	for b.Loop() {
		s.run(track)
	}
}
