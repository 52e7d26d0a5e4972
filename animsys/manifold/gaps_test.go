package manifold

import (
	"math"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
)

// swaying returns frames in which every joint is a sum of three sines and the body moves straight
// ahead.
func (m *Model) swaying(frames int) []float32 {
	cols := m.Layout.Columns()
	mean, _ := m.Normalisation()
	rows := make([]float32, frames*cols)
	for f := range frames {
		for c := range cols {
			v := &rows[f*cols+c]
			if *v = mean[c]; c < m.Layout.Body() {
				for k := range 3 {
					*v += 0.1 * float32(math.Sin(float64(c*(k+1)))*math.Sin(0.07*float64(f*(k+2))))
				}
			}
		}
		rows[f*cols+m.Layout.Body()+feature.MotionZ] = 1.2
	}
	return rows
}

// Values in gaps are ignored, even if gaps are near each other or overlap. Everything else stays.
func TestGapsNearGaps(t *testing.T) {
	race.Single(t)
	m := made(t, 24, 9)
	const frames = 200
	cols := m.Layout.Columns()
	rows := m.swaying(frames)
	left, right := []string{"LeftHand"}, []string{"RightHand"}
	for name, gaps := range map[string][]Gap{
		"another after it":   {{left, 100, 130}, {right, 142, 150}},
		"another before it":  {{left, 100, 130}, {right, 80, 88}},
		"overlapping":        {{left, 100, 130}, {right, 120, 150}},
		"a frame after it":   {{left, 100, 110}, {left, 111, 120}},
		"all, a frame after": {{nil, 100, 110}, {nil, 111, 120}},
		"all beside a joint": {{nil, 100, 110}, {left, 111, 120}},
		"near a trial gap":   {{left, 10, 30}},
	} {
		missing := must.Get(m.missing(gaps, frames))(t)
		var first []float32
		for _, v := range []float32{5, float32(math.NaN())} {
			damaged := slices.Clone(rows)
			for i, gone := range missing {
				if gone {
					damaged[i] = v
				}
			}
			filled, err := m.Fill(damaged, gaps, 2, 1)
			if err != nil {
				t.Errorf("%s: %g in gaps: %v", name, v, err)
				break
			}
			for i, v := range filled {
				if !missing[i] && i%cols < m.Layout.Body() && v != rows[i] {
					t.Errorf("%s: value %d of frame %d, which is known, changed from %g to %g", name, i%cols, i/cols, rows[i], v)
					break
				}
			}
			if first != nil && !slices.Equal(first, filled) {
				t.Errorf("%s: NaN in gaps changes the result", name)
			}
			first = filled
		}
	}
}

// The body's motion within a gap says how far it moves, not how fast it moves at the ends.
func TestBodyNearGaps(t *testing.T) {
	m := made(t, 24, 9)
	const frames = 200
	cols, z := m.Layout.Columns(), m.Layout.Body()+feature.MotionZ
	for name, gaps := range map[string][]Gap{
		"within":     {{nil, 100, 110}, {nil, 111, 120}},
		"touching":   {{nil, 100, 111}, {nil, 111, 120}},
		"at the end": {{nil, 100, 110}, {nil, 111, frames}},
		"the start":  {{nil, 0, 110}, {nil, 111, 120}},
	} {
		rows := m.swaying(frames)
		want := must.Get(m.Fill(rows, gaps, 2, 1))(t)
		rows[110*cols+z], rows[111*cols+z], rows[112*cols+z] = 4.2, 4.2, -4.8
		got := must.Get(m.Fill(rows, gaps, 2, 1))(t)
		for f := range frames {
			if a, b := got[f*cols+z], want[f*cols+z]; math.Abs(float64(a-b)) > 1e-3 {
				t.Errorf("%s: at frame %d the body moves at %g m/s, want %g", name, f, a, b)
				break
			}
		}
	}
}

// Gaps that cover the whole motion are refused.
func TestGapsOfEverything(t *testing.T) {
	m := made(t, 24, 9)
	const frames = 80
	rows := m.swaying(frames)
	most := m.Layout.Joints[1:]
	for _, gaps := range map[string][]Gap{
		"halves":        {{nil, 0, 40}, {nil, 40, 80}},
		"overlapping":   {{nil, 30, 80}, {nil, 0, 50}},
		"all but hips":  {{most, 0, 80}},
		"joints, then":  {{most[:9], 0, 80}, {nil, 0, 30}, {most[9:], 20, 80}},
		"in three ways": {{nil, 0, 20}, {most, 20, 60}, {nil, 60, 80}},
	} {
		must.Fail(m.Fill(rows, gaps, 1, 1))(t, "nothing is left")
	}
	for name, gaps := range map[string][]Gap{
		"but a frame": {{nil, 0, 40}, {nil, 41, 80}},
		"but a joint": {{most[1:], 0, 80}},
	} {
		if _, err := m.Fill(rows, gaps, 1, 1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
