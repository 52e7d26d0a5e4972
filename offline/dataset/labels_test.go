package dataset

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/must"
)

func TestRamps(t *testing.T) {
	// 40 frames of action 0, then 8 of action 1, then 60 of action 2.
	hard := slices.Concat(slices.Repeat([]int{0}, 40), slices.Repeat([]int{1}, 8), slices.Repeat([]int{2}, 60))
	w := ramps(hard, 3, 15)
	// Keys: 29 (a quarter of 40 inside), 42 and 45 (a quarter of 8), 63 (15).
	want := func(f int) [3]float64 {
		lin := func(a, b int) float64 { return float64(f-a) / float64(b-a) }
		switch {
		case f <= 29:
			return [3]float64{1, 0, 0}
		case f < 42:
			return [3]float64{1 - lin(29, 42), lin(29, 42), 0}
		case f <= 45:
			return [3]float64{0, 1, 0}
		case f < 63:
			return [3]float64{0, 1 - lin(45, 63), lin(45, 63)}
		}
		return [3]float64{0, 0, 1}
	}
	for f := range hard {
		for a, v := range want(f) {
			if d := math.Abs(float64(w[f*3+a]) - v); !(d <= 1e-6) {
				t.Errorf("frame %d action %d: %g, want %g", f, a, w[f*3+a], v)
			}
		}
	}
}

func TestRampsOfShortRuns(t *testing.T) {
	for _, hard := range [][]int{{0}, {0, 1}, {1, 0, 1, 0}, {0, 0, 1, 1, 1, 0}} {
		w := ramps(hard, 2, 15)
		for f, a := range hard {
			if w[2*f]+w[2*f+1] != 1 || w[2*f+a] != 1 {
				t.Errorf("%v: frame %d has %v", hard, f, w[2*f:2*f+2])
			}
		}
	}
	if w := ramps(slices.Concat(slices.Repeat([]int{0}, 30), slices.Repeat([]int{1}, 30)), 2, 0); w[29*2] != 1 || w[30*2+1] != 1 {
		t.Error("ramp 0 is not hard")
	}
}

func TestOverlapsGoToTheRarerAction(t *testing.T) {
	c := Labels{Frames: 40, Segments: map[string][]Range{"Walk": {{0, 29}}, "Jump": {{10, 14}}, "Sit": {{28, 39}}, "Sprint": {{5, 20}}}}
	w := must.Get(c.weights(feature.Dog().Actions, 0))(t)
	for f, a := range map[int]int{0: 1, 9: 1, 10: 2, 14: 2, 15: 1, 27: 1, 28: 3, 39: 3} {
		if w[f*6+a] != 1 {
			t.Errorf("frame %d: %v, want action %d", f, w[f*6:f*6+6], a)
		}
	}
}

func TestParseLabelsRejects(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{``, "line 1: unexpected end"},
		{"{\"a\": {\"frames\": 10,\n", "line 2: unexpected end"},
		{"{\n\"a\": {\n\"frames\": 10,\n}}", "line 4: invalid character"},
		{"{}\n{}", "line 2: invalid character"},
		{`{"a": {"frames": "ten"}}`, "a: frames is a JSON string"},
		{`{"a": {"frames": 10, "train_range_0based": [3, 9]}}`, "a: range 3 is not a pair"},
		{`{"a": {"frames": 10, "train_range_0based": [[3, 5, 9]]}}`, "a: range [3, 5, 9] is not a pair"},
		{`{"a": {"frames": 10, "train_range_0based": [null]}}`, "a: range null is not a pair"},
		{`{"a": {"frames": 10, "train_range": [[3, 9]]}}`, `phase_keys_0based; did you mean train_range_0based?`},
		{`[1]`, "want an object"},
		{`{}`, "no recording"},
		{`null`, "no recording"},
		{`{"a": {"frames": 0}}`, "frames is 0"},
		{`{"a": {"frames": 2147483648}}`, "frames is 2147483648"},
		{`{"a": {"frames": 10, "train_range_0based": [[0, 10]]}}`, "train range [0 10]"},
		{`{"a": {"frames": 10, "train_range_0based": [[-1, 3]]}}`, "train range [-1 3]"},
		{`{"a": {"frames": 10, "segments_0based_inclusive": {"Walk": [[5, 4]]}}}`, "Walk segment [5 4]"},
		{`{"a": {"frames": 10, "segments_0based_inclusive": {"Fly": []}}}`, `unknown label "Fly", want one of Idle, Jump, `},
	} {
		if _, err := parseLabels([]byte(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.in, err, c.want)
		}
	}
	c := Labels{Frames: 10, Segments: map[string][]Range{"Walk": {{0, 8}}}}
	if _, err := c.weights(feature.Dog().Actions, 15); err == nil || !strings.Contains(err.Error(), "frame 9 has no label") {
		t.Errorf("unlabelled frame: %v", err)
	}
	if _, err := c.weights([]string{"idle"}, 15); err == nil || !strings.Contains(err.Error(), `"move"`) {
		t.Errorf("layout without the action: %v", err)
	}
}

// A file that says the same a thousand times makes the same rows, once each, in memory for one.
func TestRangesRepeat(t *testing.T) {
	const frames, times = 4000, 4000
	many := walking(frames)
	many.Train = slices.Repeat(many.Train, times)
	many.Segments["Walk"] = slices.Repeat(many.Segments["Walk"], times)
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	got := many.rowFrames(1)
	w, err := many.weights(feature.Dog().Actions, 15)
	runtime.ReadMemStats(&b)
	if err != nil {
		t.Fatal(err)
	}
	one := walking(frames)
	want, _ := one.weights(feature.Dog().Actions, 15)
	if !slices.Equal(got, one.rowFrames(1)) || !slices.Equal(w, want) || len(got) != frames-2 {
		t.Errorf("%d rows", len(got))
	}
	if used := b.TotalAlloc - a.TotalAlloc; used > 2<<20 {
		t.Errorf("%d bytes for %d frames", used, frames)
	}
}

func FuzzLabels(f *testing.F) {
	f.Add([]byte(`{"a": {"frames": 100, "train_range_0based": [[3, 90]], "clip": "x", "phase_keys_0based": [0, 9], "segments_0based_inclusive": {"Walk": [[0, 60]], "Sit": [[61, 99]], "Jump": [[50, 62]]}}}`))
	f.Add([]byte(`{"a": {"frames": 1, "segments_0based_inclusive": {"Sleep": [[0, 0]]}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := parseLabels(b)
		if err != nil {
			return
		}
		for _, c := range all {
			if c.Frames > 4096 {
				continue
			}
			w, err := c.weights(feature.Dog().Actions, 15)
			if err != nil {
				continue
			}
			for f := range c.Frames {
				var sum float32
				for _, v := range w[f*6 : f*6+6] {
					if v < 0 {
						t.Fatalf("frame %d: negative weight", f)
					}
					sum += v
				}
				if sum < 0.9999 || sum > 1.0001 {
					t.Fatalf("frame %d: weights sum to %g", f, sum)
				}
			}
			for _, r := range c.rowFrames(1) {
				if r < 1 || r > c.Frames-2 {
					t.Fatalf("row at frame %d of %d", r, c.Frames)
				}
			}
		}
	})
}
