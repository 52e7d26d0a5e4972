package manifold

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

// A motion's result is bit-identical alone or in a batch, for any number of workers and in a larger
// optimizer. A motion that is not finite is unchanged.
func TestStyleBatchInvariance(t *testing.T) {
	const batch, length = 5, 40
	var want []float32
	for _, workers := range []int{1, 3} {
		m, s, job := styled(t, 16, batch+1, length+10, 48, workers)
		other := must.Get(m.NewStyle(m.stray(t, 1, 36, 30), workers))(t)
		n := length * m.Layout.Columns()
		job.Batch, job.Length, job.Rows, job.Iterations = batch, length, m.stray(t, batch, length, 23), 12
		job.Styles = []*Style{job.Styles[0], job.Styles[0], other, other, job.Styles[0]}
		job.Weights = []StyleWeights{{0.1, 1}, {0.3, 1}, {0.1, 1}, {0.1, 2}, {0.1, 1}}
		for i := range job.Rows[4*n : 5*n] {
			job.Rows[4*n+i] *= 1e30 // too large for float32 costs
		}
		if want == nil {
			alone := must.Get(m.NewGramOptimizer(GramOptimizerOptions{Batch: 1, Length: length, Workers: 1}))(t)
			defer alone.Close()
			for b := range batch {
				one := *job
				one.Batch, one.Rows, one.Styles, one.Weights = 1, slices.Clone(job.Rows[b*n:][:n]), job.Styles[b:b+1], job.Weights[b:b+1]
				if _, _, err := alone.Run(&one); err != nil {
					t.Fatal(err)
				}
				want = append(want, one.Rows...)
			}
		}
		job.Rows[2*n+17] = float32(math.NaN())
		was := slices.Clone(job.Rows)
		reports, edit, err := s.Run(job)
		if err != nil {
			t.Fatal(err)
		}
		for b, r := range reports {
			if failed := b == 2 || b == 4; r.Failed != failed || math.IsNaN(r.Ratio()) || r.After > r.Before {
				t.Errorf("motion %d: %+v", b, r)
			}
		}
		if len(reports) != batch || math.IsNaN(edit.After) {
			t.Errorf("%d reports, edit %+v", len(reports), edit)
		}
		for i, v := range job.Rows {
			switch b := i / n; {
			case b == 2 || b == 4:
				if math.Float32bits(v) != math.Float32bits(was[i]) {
					t.Fatalf("%d workers: motion %d, which is not finite, was changed", workers, b)
				}
			case v != want[i]:
				t.Fatalf("%d workers: value %d of motion %d is %g, alone %g", workers, i%n, b, v, want[i])
			}
		}
		copy(job.Rows, was)
		job.Start = FromContent
		reports, _, err = s.Run(job)
		if err != nil {
			t.Fatal(err)
		}
		for b, r := range reports {
			if failed := b == 2 || b == 4; r.Failed != failed || math.IsNaN(r.After) {
				t.Errorf("from the content: motion %d: %+v", b, r)
			}
		}
	}
}

// A time budget ends the descent and the edit, and a descent can continue later.
func TestStyleBudget(t *testing.T) {
	m, s, job := styled(t, 16, 2, 40, 48, 1)
	contents := slices.Clone(job.Rows)
	job.Hidden = make([]float32, 40*m.Units)
	asked := 0
	job.Stop = func() bool { asked++; return asked >= 3 }
	reports, edit, err := s.Run(job)
	if err != nil {
		t.Fatal(err)
	}
	if reports[0].Steps != 3 || reports[1].Steps != 3 || edit.Steps != 1 {
		t.Errorf("%d and %d steps and %d of the edit, the budget ends after 3", reports[0].Steps, reports[1].Steps, edit.Steps)
	}
	end := reports[0].After
	hidden, style := wide(job.Hidden[:20*m.Units]), wide(job.Styles[0].gram)
	near(t, "the Gram distance at the end of the budget", reports[0].GramHidden, squaredDistance(gramOracle(hidden, m.Units), style), 1e-3)
	copy(job.Rows, contents)
	job.Stop, job.Start = nil, FromHidden
	reports, _, err = s.Run(job)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the cost at the continuation", reports[0].Before, end, 1e-4)
	copy(job.Rows, contents)
	asked, job.Edit, job.Stop = 0, 0, func() bool { asked++; return false }
	if reports, _, err = s.Run(job); err != nil {
		t.Fatal(err)
	}
	if most := max(reports[0].Steps, reports[1].Steps); most > 200 || asked > most+1 {
		t.Errorf("Stop was called %d times, the motions took %d steps", asked, most)
	}

	job.Iterations, job.Edit, job.Start = 5, 3, FromNoise
	run := func(seed uint64) []float32 {
		copy(job.Rows, contents)
		job.Seed = seed
		if _, _, err := s.Run(job); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(job.Rows)
	}
	a, b := run(7), run(8)
	if slices.Equal(a, b) {
		t.Error("another seed gives the same result")
	}
	if !slices.Equal(a, run(7)) {
		t.Error("the same seed gives another result")
	}
	if n := testing.AllocsPerRun(3, func() { copy(job.Rows, contents); s.Run(job) }); n > 0 {
		t.Errorf("a run allocates %g times", n)
	}
}

func TestLineMinimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		p := [5]float64{rng.Float64(), -rng.Float64(), 2 * rng.NormFloat64(), 2 * rng.NormFloat64(), 0.01 + rng.Float64()}
		x := lineMinimum(p)
		if d := 1e-4 * x; !(x > 0) || !(evalPoly(p, x) < p[0]) && !(evalPoly(p, x) < evalPoly(p, x/2)) ||
			evalPoly(p, x) > evalPoly(p, x-d) || evalPoly(p, x) > evalPoly(p, x+d) {
			t.Errorf("%v has no minimum at %g", p, x)
		}
	}
	near(t, "the minimum of a parabola", lineMinimum([5]float64{1, -2, 0.25}), 4, 1e-9)
	if x := lineMinimum([5]float64{1, -1}); x != 0 {
		t.Errorf("a falling line has its minimum at %g", x)
	}
}

func TestStyleRefuses(t *testing.T) {
	m, s, job := styled(t, 10, 2, 30, 48, 1)
	for _, frames := range []int{0, MinStyleFrames - 2, MinStyleFrames + 1} {
		must.Fail(m.NewStyle(make([]float32, frames*m.Layout.Columns()), 1))(t, "at least 30")
	}
	rows := m.stray(t, 1, 30, 1)
	rows[7] = float32(math.Inf(1))
	must.Fail(m.NewStyle(rows, 1))(t, "not finite")
	for _, o := range []GramOptimizerOptions{{}, {1, 0, 1, nil}, {1, 3, 1, nil}, {1, 2, 0, nil}} {
		if _, err := m.NewGramOptimizer(o); err == nil {
			t.Errorf("options %+v accepted", o)
		}
	}
	stranger := must.Get(made(t, 10, 9).NewStyle(m.stray(t, 1, 30, 1), 1))(t)
	for _, c := range []struct {
		want  string
		spoil func(*StyleJob)
	}{
		{"3 motions", func(j *StyleJob) { j.Batch = 3 }},
		{"29 frames", func(j *StyleJob) { j.Length = 29 }},
		{"32 frames", func(j *StyleJob) { j.Length = 32 }},
		{"Rows", func(j *StyleJob) { j.Rows = j.Rows[1:] }},
		{"3 styles", func(j *StyleJob) { j.Styles = make([]*Style, 3) }},
		{"not of this optimizer's model", func(j *StyleJob) { j.Styles = []*Style{stranger} }},
		{"not of this optimizer's model", func(j *StyleJob) { j.Styles = []*Style{nil} }},
		{"3 pairs", func(j *StyleJob) { j.Weights = make([]StyleWeights, 3) }},
		{"not below 0", func(j *StyleJob) { j.Weights = []StyleWeights{{-1, 1}} }},
		{"finite", func(j *StyleJob) { j.Weights = []StyleWeights{{1, float32(math.NaN())}} }},
		{"both 0", func(j *StyleJob) { j.Weights = make([]StyleWeights, 2) }},
		{"Hidden", func(j *StyleJob) { j.Hidden = make([]float32, 3) }},
		{"Hidden", func(j *StyleJob) { j.Start = FromHidden }},
		{"Start", func(j *StyleJob) { j.Start = 9 }},
		{"steps", func(j *StyleJob) { j.Iterations = 0 }},
		{"steps", func(j *StyleJob) { j.Edit = -1 }},
	} {
		bad := *job
		c.spoil(&bad)
		if _, _, err := s.Run(&bad); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.want, err)
		}
	}
}
