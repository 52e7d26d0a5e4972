package strnn

import (
	"math"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testgen"
	"mannequin/models/human"
)

// steps returns a model and frames of a walk on the spot, of which the standing foot goes back under the
// body by back m/s, while the body moves at speed: those seen and those made.
func steps(t *testing.T, back, speed float32) (m *Model, seen, rows []float32) {
	t.Helper()
	meta := must.Get(human.Open())(t).Meta()
	p, differ := feature.ReadPerson(meta.Schema, meta.SchemaHash, meta.Skeleton)
	if p == nil {
		t.Fatal(differ)
	}
	m = &Model{Person: p, Encode: 20, Predict: 20}
	l := m.Layout
	rest, cols := testgen.Rest(p, 0), l.Columns()
	all := make([]float32, (m.Encode+m.Predict)*cols)
	const stride = 20 // frames; each foot stands in half of them
	for f := range m.Encode + m.Predict {
		row := all[f*cols:][:cols]
		copy(row, rest)
		row[l.Body()+feature.MotionZ] = speed
		for side, name := range []string{"Left", "Right"} {
			phase := (f + side*stride/2) % stride
			forth := float32(stride/4 - phase)
			if phase > stride/2 {
				forth = float32(phase - stride*3/4)
			}
			for _, part := range []string{"Leg", "Foot", "ToeBase"} {
				at, share := l.Pos(l.Joint(name+part)), float32(1)
				if part == "Leg" {
					share = 0.5
				}
				row[at+2] += share * forth * back / Rate
				if phase > stride/2 {
					row[at+1] += share * 0.15 * m3.Sin(math.Pi*float32(phase-stride/2)/(stride/2))
				}
			}
		}
	}
	return m, all[:m.Encode*cols], all[m.Encode*cols:]
}

// Feet that are slower under the body than the body over the ground slide less with a larger swing, and
// not at all if the body follows them, too.
func TestStride(t *testing.T) {
	const back, speed = 1, 1.4
	m, seen, rows := steps(t, back, speed)
	c, cols := m.newCleanup(), m.Layout.Columns()
	if !c.fit(rows) || !c.fit(seen) {
		t.Fatal("no pose")
	}
	pace := func() float64 { return m.Layout.MeanSpeed(rows) }
	before, went := c.slide(rows, seen), pace()
	mean := make([]float32, 2*cols)
	MannerOf(mean, seen, cols)
	if !c.stride(rows, seen, mean[:cols]) {
		t.Fatal("unusable")
	}
	wider := c.slide(rows, seen)
	if pace() != went {
		t.Error("the swing changes the body's motion")
	}
	c.follow(rows, seen)
	after, goes := c.slide(rows, seen), pace()
	t.Logf("slide %.3f, %.3f, %.3f; speed %.2f", before, wider, after, goes)
	if !(wider < 0.9*before && after < 0.8*wider) || goes < 0.8*speed || goes > speed {
		t.Errorf("feet slide by %g of the speed, with a larger swing %g, followed %g at %g m/s", before, wider, after, goes)
	}
}

// A person at rest whose joints tremble is calmed, a person who steps keeps its motion.
func TestCalm(t *testing.T) {
	tremor := func(back float32) (before, after float32) {
		m, seen, rows := steps(t, back, 0)
		c, l := m.newCleanup(), m.Layout
		cols := l.Columns()
		all := append(seen, rows...)
		hand := l.Pos(l.Joint("LeftHand")) + 1
		n := len(all) / cols
		if back == 0 {
			for f := 1; f < n; f++ {
				copy(all[f*cols:][:cols], all[:cols])
			}
		}
		shakes := func() (sum float32) {
			for f := groundReach; f+groundReach+1 < n; f++ {
				sum += m3.Abs(all[(f+1)*cols+hand] - all[f*cols+hand])
			}
			return sum
		}
		for f := range n {
			all[f*cols+hand] += 0.01 * float32(f%2)
		}
		if !c.fit(all) {
			t.Fatal("no pose")
		}
		before = shakes()
		if !c.calm(all, groundReach, n-groundReach) {
			t.Fatal("unusable")
		}
		return before, shakes()
	}
	if before, after := tremor(0); !(after < 0.3*before) {
		t.Errorf("at rest a hand trembles by %g m, before %g", after, before)
	}
	if before, after := tremor(1); !(after > 0.9*before) {
		t.Errorf("a step leaves %g m of the tremor of a hand, %g", after, before)
	}
}
