package manifold

import (
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

// edited runs 40 steps of an edit. It returns the change of a column in a frame, and the cost afterwards.
func (m *Model) edited(t *testing.T, job *Edit) (change func(f, c int) float64, cost float64) {
	t.Helper()
	job.Iterations = 40
	before, cols := slices.Clone(job.Rows), m.Layout.Columns()
	e := must.Get(m.NewEditor(EditorOptions{Batch: 1, Length: job.Length, Workers: 1}))(t)
	defer e.Close()
	cost = must.Get(e.Run(job))(t).After
	return func(f, c int) float64 { return float64(job.Rows[f*cols+c] - before[f*cols+c]) }, cost
}

// A calm edit leaves hands and head without tremor, and meets the constraints nearly as well.
func TestEditCalm(t *testing.T) {
	m := made(t, 32, 9)
	const length = 60
	var cost [2]float64
	var tremor [2]map[bool]float64 // of legs and of other joints, as a share of the change
	for i, calm := range []bool{false, true} {
		job := m.job(t, 1, length, 6)
		job.Calm = calm
		change, after := m.edited(t, job)
		cost[i] = after
		size, rough := map[bool]float64{}, map[bool]float64{}
		for c := range m.Layout.Body() {
			name := m.Layout.Joints[c/3]
			leg := strings.Contains(name, "Leg") || strings.Contains(name, "Foot") || strings.Contains(name, "Toe")
			for f := 1; f+1 < length; f++ {
				d := change(f-1, c) - 2*change(f, c) + change(f+1, c)
				rough[leg] += d * d
				size[leg] += change(f, c) * change(f, c)
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
		job.CalmLimbs = calm
		change, _ := m.edited(t, job)
		tremor[i] = map[string]float64{}
		for j, name := range m.Layout.Joints {
			size, rough := 0.0, 0.0
			for c := 3 * j; c < 3*j+3; c++ {
				for f := 1; f+1 < length; f++ {
					d := change(f-1, c) - 2*change(f, c) + change(f+1, c)
					rough += d * d
					size += change(f, c) * change(f, c)
				}
			}
			tremor[i][name] = rough / size
		}
		job.Calm = true
		e := must.Get(m.NewEditor(EditorOptions{Batch: 1, Length: length, Workers: 1}))(t)
		defer e.Close()
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
