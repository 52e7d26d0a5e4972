package dataset

import (
	"math"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/internal/testing/must"
)

// A slow walk comes a second time, backward: the same places in the other order.
// Fast ones, sharp turns and low bodies, as of a dog that gets up, do not.
func TestReverse(t *testing.T) {
	sk := synthSkeleton()
	slow, fast, curve := circle{4000, 1e-4, 400}, circle{20000, 1e-4, 400}, circle{0.2, 2, 400}
	stops := walking(400)
	stops.Segments = map[string][]Range{"Walk": {{0, 349}}, "Idle": {{350, 399}}}
	back := slow.clip(sk) // goes backward as it is
	for a, b := 0, back.Frames-1; a < b; a, b = a+1, b-1 {
		p, q := back.Frame(a)
		x, y := back.Frame(b)
		for j := range p {
			p[j], x[j], q[j], y[j] = x[j], p[j], y[j], q[j]
		}
	}
	rising := slow.clip(sk)
	for f := range 150 {
		pos, _ := rising.Frame(f)
		pos[0].Y *= 0.9
	}
	dir := folder(t, map[string]*skel.Clip{"back": back, "slow": slow.clip(sk), "fast": fast.clip(sk), "curve": curve.clip(sk), "held": slow.clip(sk), "rising": rising},
		map[string]Labels{"back": walking(400), "slow": stops, "fast": walking(400), "curve": walking(400), "held": walking(400), "rising": walking(400)})
	opt := Options{HeldOut: []string{"held"}}
	plain, _ := must.Get2(BuildMANN(dir, opt))(t)
	opt.Reverse = true
	set, held := must.Get2(BuildMANN(dir, opt))(t)
	if set.Reversed != 2 || plain.Reversed != 0 || held.Reversed != 0 {
		t.Errorf("%d recordings are backward in time, %d without, %d held out", set.Reversed, plain.Reversed, held.Reversed)
	}
	if len(held.Clips) != 1 || len(set.Clips) != 7 || set.Clips[5] != "rising reversed" || set.Clips[6] != "slow reversed" {
		t.Fatalf("recordings %v, held out %v", set.Clips, held.Clips)
	}
	first := plain.Rows / 2 // the reversed rows follow the others
	for r := range first {
		for c, v := range plain.Output(r) {
			if set.Output(r)[c] != v {
				t.Fatalf("row %d has changed", r)
			}
		}
	}
	// The dog that rises is upright from frame 150 on, the 249th backward.
	const upright = 249
	if a, b := set.Frame[first], set.Frame[first+upright-1]; a != 1 || b != 399-150 || set.Clip[first+upright] == set.Clip[first] {
		t.Fatalf("who rises goes backward from frame %d to %d, want 1 to 249", a, b)
	}
	first += upright
	l := set.Layout
	n := set.Rows/2 - first
	// It walks from frame 30, half a second into the recording, to 334, where its
	// label begins to fade, and three quarters of a second more on either side.
	if a, b := set.Frame[first], set.Frame[first+n-1]; a != 399-(334+reverseEdge) || b != 399-1 || int(b-a) != n-1 {
		t.Fatalf("%d rows backward, of frames %d to %d", n, a, b)
	}
	for r := first; r < first+n; r++ {
		if z := set.Output(r)[l.OutRoot()+feature.RootZ]; math.Abs(float64(z)+0.4) > 1e-3 {
			t.Fatalf("row %d: goes %g m/s ahead, want -0.4", r, z)
		}
		x := set.Input(r)
		// The stop has become a start: frames 0 to 49 are idle, except for half of either ramp.
		idle, f := x[l.InActions(feature.TrajNow)], set.Frame[r]
		if f < 50 && idle < 0.5 || f > 50 && idle > 0.5 {
			t.Fatalf("row of frame %d: %g idle", f, idle)
		}
		if v := x[l.InSample(feature.TrajNow)+feature.SampleSpeed]; math.Abs(float64(v)-0.4) > 1e-3 {
			t.Fatalf("row %d: speed %g", r, v)
		}
		if d := x[l.InSample(feature.TrajNow)+feature.SampleDir+1]; d < 0.999 {
			t.Fatalf("row %d faces %g ahead", r, d)
		}
	}
}

func TestReverseDog(t *testing.T) {
	plain, _, dir := dog(t)
	set, _ := must.Get2(BuildMANN(dir, Options{Reverse: true}))(t)
	l := set.Layout
	rows, back := 0, 0
	for r := range set.Rows / 2 {
		if strings.HasSuffix(set.Clips[set.Clip[r]], " reversed") {
			rows++
			if set.Output(r)[l.OutRoot()+feature.RootZ] < -0.05 {
				back++
			}
		}
	}
	t.Logf("%d of %d rows are walks backward in time, %d of them go back", rows, set.Rows/2, back)
	if rows != (set.Rows-plain.Rows)/2 || rows < 1000 || back < rows*7/10 {
		t.Errorf("%d rows, %d go back", rows, back)
	}
}
