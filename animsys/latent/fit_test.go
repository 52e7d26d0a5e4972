package latent

import (
	"math"
	"slices"
	"testing"

	"mannequin/internal/testing/must"
)

// A fit recovers a decoded clip from another start. Fixed components stay.
func TestFit(t *testing.T) {
	m := made(t)
	c := coder(t, m, 8, 2) // fewer clips at a time than a fit needs
	want := make([]float32, Frames*m.Layout.Columns())
	truth := noise(values, 11)
	must.Do(t, c.decodeComponents(want, truth, 1))
	f := Fit{Components: slices.Clone(truth), Want: want, Iterations: 20}
	for k := range f.Components {
		f.Components[k] += 0.3 * float32(k%3-1)
	}
	must.Do(t, c.Fit(&f))
	if f.Before < 1e-3 || f.After > 1e-4*f.Before {
		t.Errorf("cost %g after %g", f.After, f.Before)
	}
	for k := range truth {
		if math.Abs(float64(f.Components[k]-truth[k])) > 0.02 {
			t.Errorf("component %d is %g, want %g", k, f.Components[k], truth[k])
		}
	}
	// With one component fixed elsewhere the others come as near as possible.
	f = Fit{Components: slices.Clone(truth), Fixed: make([]bool, values), Want: want, Iterations: 10}
	f.Components[1], f.Fixed[1] = truth[1]+0.5, true
	must.Do(t, c.Fit(&f))
	if f.Components[1] != truth[1]+0.5 || !(f.After < f.Before) || f.After == 0 {
		t.Errorf("component 1 went from %g to %g, cost %g to %g", truth[1]+0.5, f.Components[1], f.Before, f.After)
	}
	// A very large prior leads to the mean.
	f = Fit{Components: slices.Clone(truth), Want: want, Prior: 1e9, Iterations: 10}
	must.Do(t, c.Fit(&f))
	for k, v := range f.Components {
		if math.Abs(float64(v)) > 1e-3 {
			t.Errorf("component %d is %g", k, v)
		}
	}
	// No component is free.
	all := slices.Repeat([]bool{true}, values)
	f = Fit{Components: make([]float32, values), Fixed: all, Want: want, Iterations: 3}
	if err := c.Fit(&f); err != nil || f.After != f.Before {
		t.Errorf("%v, cost %g, before %g", err, f.After, f.Before)
	}
	for _, bad := range []Fit{
		{Components: make([]float32, 1), Want: want}, {Components: make([]float32, values), Want: want[:1]},
		{Components: make([]float32, values), Want: want, Weight: make([]float32, Frames)}, {Components: make([]float32, values), Want: want, Prior: math.NaN()},
	} {
		if c.Fit(&bad) == nil {
			t.Errorf("%d components, %d wanted, %d weights, prior %g accepted", len(bad.Components), len(bad.Want), len(bad.Weight), bad.Prior)
		}
	}
}

// A chain continues the motion, keeps fixed components and is reproducible.
func TestAppend(t *testing.T) {
	m := made(t)
	c := coder(t, m, 32, 2)
	cols := m.Layout.Columns()
	fixed := make([]bool, values)
	fixed[0] = true
	var before []float32
	chain := func() (rows, last []float32, misses []float64) {
		for i := range 3 {
			last = make([]float32, values)
			last[0] = 0.2 * float32(i)
			before = slices.Clone(rows)
			var miss float64
			var err error
			if rows, miss, err = c.Append(rows, last, fixed); err != nil {
				t.Fatal(err)
			}
			if want := Frames + i*(Frames-Overlap); len(rows) != want*cols {
				t.Fatalf("%d values after %d clips, want %d frames", len(rows), i+1, want)
			}
			if n := len(before) - Overlap*cols; n > 0 && !slices.Equal(rows[:n], before[:n]) {
				t.Error("motion before the overlap changed")
			}
			misses = append(misses, miss)
		}
		return rows, last, misses
	}
	rows, last, misses := chain()
	if last[0] != 0.4 || last[3] == 0 {
		t.Errorf("components %v: the first is fixed at 0.4, the others are searched", last)
	}
	again, _, _ := chain()
	if !slices.Equal(rows, again) {
		t.Error("the same arguments give another chain")
	}
	// The last clip ends as decoded, and the overlap fades from one to the other.
	clip := make([]float32, Frames*cols)
	must.Do(t, c.decodeComponents(clip, last, 1))
	if !slices.Equal(rows[len(rows)-(Frames-Overlap)*cols:], clip[Overlap*cols:]) {
		t.Error("the motion does not end with the last clip")
	}
	for f := range Overlap {
		share := float64(f) / Overlap // of the fade from the motion before to the clip
		for k := range cols {
			was, is := float64(before[len(before)-(Overlap-f)*cols+k]), float64(clip[f*cols+k])
			got := float64(rows[len(before)-(Overlap-f)*cols+k])
			if way := math.Abs(is - was); math.Abs(got-was) > (share+0.2)*way+1e-5 || math.Abs(got-is) > (1.2-share)*way+1e-5 {
				t.Fatalf("value %d of frame %d of the overlap is %g, between %g and %g", k, f, got, was, is)
			}
		}
	}
	// The search leaves a smaller gap than an arbitrary clip.
	free := make([]float32, values)
	free[0] = 0.4
	must.Do(t, c.decodeComponents(clip, free, 1))
	joints, sum := m.Layout.Body(), 0.0
	end := rows[len(rows)-Frames*cols:] // mostly the clip before at the overlap's start
	for f := range 4 {
		for k := range joints {
			d := float64(end[f*cols+k] - clip[f*cols+k])
			sum += d * d
		}
	}
	if any := math.Sqrt(sum / float64(4*len(m.Layout.Joints))); !(misses[2] < any) {
		t.Errorf("%g m apart after the search, %g without", misses[2], any)
	}
	if _, _, err := c.Append(rows[:cols], last, fixed); err == nil {
		t.Error("a motion of one frame accepted")
	}
}
