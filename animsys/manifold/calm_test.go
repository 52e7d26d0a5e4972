package manifold

import (
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

// A calm edit leaves hands and head without tremor, and meets the constraints nearly as well.
func TestEditCalm(t *testing.T) {
	m := made(t, 32, 9)
	const length = 60
	var cost [2]float64
	var tremor [2]map[bool]float64 // of legs and of other joints, as a share of the change
	for i, calm := range []bool{false, true} {
		job := m.job(t, 1, length, 6)
		job.Iterations, job.Calm = 40, calm
		before := slices.Clone(job.Rows)
		e := must.Get(m.NewEditor(EditorOptions{Batch: 1, Length: length, Workers: 1}))(t)
		defer e.Close()
		cost[i] = must.Get(e.Run(job))(t).After
		cols := m.Layout.Columns()
		size, rough := map[bool]float64{}, map[bool]float64{}
		for c := range m.Layout.Body() {
			name := m.Layout.Joints[c/3]
			leg := strings.Contains(name, "Leg") || strings.Contains(name, "Foot") || strings.Contains(name, "Toe")
			change := func(f int) float64 { return float64(job.Rows[f*cols+c] - before[f*cols+c]) }
			for f := 1; f+1 < length; f++ {
				d := change(f-1) - 2*change(f) + change(f+1)
				rough[leg] += d * d
				size[leg] += change(f) * change(f)
			}
		}
		tremor[i] = map[bool]float64{true: rough[true] / size[true], false: rough[false] / size[false]}
	}
	if plain, calm := tremor[0][false], tremor[1][false]; calm > 0.2*plain {
		t.Errorf("tremor of joints above the legs is %g, of an edit that is not calm %g", calm, plain)
	}
	if plain, calm := tremor[0][true], tremor[1][true]; calm < 0.5*plain {
		t.Errorf("the legs are smoothed: %g, of an edit that is not calm %g", calm, plain)
	}
	if cost[1] > 1.5*cost[0] {
		t.Errorf("the cost is %g, of an edit that is not calm %g", cost[1], cost[0])
	}
}

// CalmLimbs leaves arms without tremor, and trunk and feet as quick as they are.
func TestEditCalmLimbs(t *testing.T) {
	m := made(t, 32, 9)
	const length = 60
	var tremor [2]map[string]float64 // of joints, as a share of the change
	for i, calm := range []bool{false, true} {
		job := m.job(t, 1, length, 6)
		job.Iterations, job.CalmLimbs = 40, calm
		before := slices.Clone(job.Rows)
		e := must.Get(m.NewEditor(EditorOptions{Batch: 1, Length: length, Workers: 1}))(t)
		defer e.Close()
		must.Get(e.Run(job))(t)
		cols := m.Layout.Columns()
		tremor[i] = map[string]float64{}
		for j, name := range m.Layout.Joints {
			size, rough := 0.0, 0.0
			for c := 3 * j; c < 3*j+3; c++ {
				change := func(f int) float64 { return float64(job.Rows[f*cols+c] - before[f*cols+c]) }
				for f := 1; f+1 < length; f++ {
					d := change(f-1) - 2*change(f) + change(f+1)
					rough += d * d
					size += change(f) * change(f)
				}
			}
			tremor[i][name] = rough / size
		}
		job.Calm = true
		if _, err := e.Run(job); calm != (err != nil) {
			t.Errorf("Calm with CalmLimbs %t: %v", calm, err)
		}
	}
	for _, name := range []string{"LeftHand", "RightForeArm", "LeftLeg"} {
		if plain, calm := tremor[0][name], tremor[1][name]; calm > 0.75*plain {
			t.Errorf("tremor of %s is %g, of an edit that is not calm %g", name, calm, plain)
		}
	}
	for _, name := range []string{"Hips", "Spine1", "LeftFoot"} {
		if plain, calm := tremor[0][name], tremor[1][name]; calm < 0.5*plain {
			t.Errorf("%s is smoothed: %g, of an edit that is not calm %g", name, calm, plain)
		}
	}
}
