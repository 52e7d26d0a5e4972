package recipes

import (
	"fmt"
	"math"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/must"
	"mannequin/offline/dataset"
)

// strollers returns a clip for each person: walks at several speeds, with arms that hang lower or
// higher by what is given for the person, and for everybody with the speed.
func strollers(arms ...float32) *dataset.MotionSet {
	const frames = 600
	m := &dataset.MotionSet{Layout: feature.Human(), Length: 240}
	cols := m.Layout.Columns()
	hand := m.Layout.Pos(m.Layout.Joint("LeftHand")) + 1
	for i, a := range arms {
		c := dataset.MotionClip{Name: fmt.Sprint(i), Frames: frames, Rows: make([]float32, frames*cols)}
		for f := range frames {
			speed := 1 + 0.4*float32(math.Sin(float64(f)/100+float64(i)))
			c.Rows[f*cols+m.Layout.Body()+feature.MotionZ] = speed
			c.Rows[f*cols+hand] = 0.8 + a + 0.3*speed
		}
		m.Clips = append(m.Clips, c)
	}
	return m
}

// A person's manner is their own posture, not what comes with the speed, also of held-out people.
func TestManners(t *testing.T) {
	m := must.Get(newManners(2, strollers(-0.1, 0, 0.1), strollers(-0.1, 0.1)))(t)
	mean := func(v []float32) (sum, spread float64) {
		for f := 0; f < len(v); f += 2 {
			sum += float64(v[f]) * 2 / float64(len(v))
		}
		for f := 0; f < len(v); f += 2 {
			spread = max(spread, math.Abs(float64(v[f])-sum))
		}
		return sum, spread
	}
	low, _ := mean(m.train[0])
	middle, _ := mean(m.train[1])
	high, _ := mean(m.train[2])
	if math.Abs(low+high) > 0.1 || math.Abs(middle) > 0.1 || math.Abs(math.Abs(low)-math.Sqrt(1.5)) > 0.1 {
		t.Errorf("people with arms low, between and high have %.2f, %.2f and %.2f, want 0 between and a deviation of 1", low, middle, high)
	}
	for i, want := range []float64{low, high} {
		if got, spread := mean(m.heldOut[i]); math.Abs(got-want) > 0.05 || spread > 0.2 {
			t.Errorf("held-out person %d has %.2f, changing by %.2f, want %.2f", i, got, spread, want)
		}
	}
}
