package baseline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mannequin/internal/testing/must"
)

// fits are all models, in the order of their names.
var fits = []struct {
	name string
	fit  func([]Pair) (Translator, error)
}{
	{"lti own", func(p []Pair) (Translator, error) { return fitted(FitLTI(p, LTIOptions{MaxOrder: 2, Horizon: 6})) }},
	{"lti pose", func(p []Pair) (Translator, error) {
		return fitted(FitLTI(p, LTIOptions{MaxOrder: 2, Pose: true, Components: 2}))
	}},
	{"global ar", func(p []Pair) (Translator, error) { return fitted(FitGlobalAR(p, GlobalAROptions{})) }},
	{"gp", func(p []Pair) (Translator, error) { return fitted(FitGP(p, GPOptions{Components: 3})) }},
	{"gp projected", func(p []Pair) (Translator, error) { return fitted(FitGP(p, GPOptions{Components: 3, MaxPoints: 30})) }},
}

// fitted keeps nil pointers from becoming models.
func fitted[M Translator](m M, err error) (Translator, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

func small() []Pair { return performances(rand.New(rand.NewPCG(1, 2)), 3, 40, 4) }

// Steps follow the pose: their logarithm is linear in it.
func TestSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	make := func(sigma float64) Pair {
		p := filtered(r, 40, 0, order0, order1, order0)
		for f := range p.Step {
			p.Step[f] = math.Exp(0.5*p.X.At(f, 0) - 0.3*p.X.At(f, 1) + 0.2 + sigma*r.NormFloat64())
		}
		return p
	}
	for _, c := range fits {
		train := []Pair{make(0), make(0), make(0)}
		m, err := c.fit(train)
		if err != nil {
			t.Fatal(c.name, err)
		}
		fresh := make(0)
		_, step, err := m.Translate(fresh.X)
		if err != nil {
			t.Fatal(c.name, err)
		}
		// What components leave out and a ridge pulls in, they cannot know.
		bound := map[string]float64{"lti own": 1e-6, "lti pose": 0.5, "global ar": 1e-3, "gp": 0.05, "gp projected": 0.1}[c.name]
		for f, s := range step {
			if math.Abs(s/fresh.Step[f]-1) > bound {
				t.Errorf("%s: step %v at frame %d, is %v", c.name, s, f, fresh.Step[f])
				break
			}
		}
		wild := mat.DenseCopyOf(fresh.X)
		wild.Scale(1e5, wild)
		if _, step, err = m.Translate(wild); err != nil {
			t.Fatal(c.name, err)
		}
		for f, s := range step {
			if !(s > 0) || math.IsInf(s, 0) {
				t.Errorf("%s: step %v at frame %d of an input beyond reason", c.name, s, f)
				break
			}
		}
	}
}

// Steps that cannot be predicted still add up to the time that passed.
func TestTimePasses(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	p := filtered(r, 70, 0.01, order1)
	var want float64
	for f := range p.Step {
		p.Step[f] = math.Exp(0.8 * r.NormFloat64())
		want += p.Step[f]
	}
	for _, c := range fits {
		m, err := c.fit([]Pair{p})
		if err != nil {
			t.Fatal(c.name, err)
		}
		_, step, err := m.Translate(p.X)
		if err != nil {
			t.Fatal(c.name, err)
		}
		var got float64
		for _, s := range step {
			got += s
		}
		if math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s: %v frames of time pass, not %v", c.name, got, want)
		}
	}
}

// A model in a game cannot see the future, so a part of a sequence has the same output. A velocity
// takes two frames.
func TestCausal(t *testing.T) {
	pairs := small()
	for _, c := range fits {
		m, err := c.fit(pairs)
		if err != nil {
			t.Fatal(c.name, err)
		}
		x := pairs[1].X
		y, step, err := m.Translate(x)
		if err != nil {
			t.Fatal(c.name, err)
		}
		for _, frames := range []int{2, 7, 30} {
			y2, step2, err := m.Translate(mat.DenseCopyOf(x.Slice(0, frames, 0, 4)))
			if err != nil {
				t.Fatal(c.name, err)
			}
			for f := range frames {
				if math.Abs(step[f]-step2[f]) > 1e-12 {
					t.Errorf("%s: step %v at frame %d, but %v when it is cut to %d", c.name, step[f], f, step2[f], frames)
				}
			}
			if !mat.EqualApprox(y.Slice(0, frames, 0, 4), y2, 1e-9) {
				t.Errorf("%s: poses depend on what comes after frame %d", c.name, frames)
			}
		}
		if _, step, err := m.Translate(mat.DenseCopyOf(x.Slice(0, 1, 0, 4))); err != nil || len(step) != 1 {
			t.Errorf("%s: one frame: %v, %v", c.name, step, err)
		}
	}
}

func TestDeterministic(t *testing.T) {
	pairs := small()
	before := mat.DenseCopyOf(pairs[0].X)
	bits := func(m Translator) string {
		y, step := must.Get2(m.Translate(pairs[2].X))(t)
		return fmt.Sprintf("%x %x", y.RawMatrix().Data, step)
	}
	for _, c := range fits {
		var got []string
		for range 2 {
			m, err := c.fit(pairs)
			if err != nil {
				t.Fatal(c.name, err)
			}
			got = append(got, bits(m), bits(m))
		}
		if len(slices.Compact(got)) != 1 {
			t.Errorf("%s: not the same bits again", c.name)
		}
	}
	var got []string
	for _, workers := range []int{1, 2, 7} {
		m := must.Get(FitLTI(pairs, LTIOptions{MaxOrder: 2, Workers: workers}))(t)
		got = append(got, bits(m))
	}
	if len(slices.Compact(got)) != 1 {
		t.Error("LTI: other bits with other workers")
	}
	if !mat.Equal(before, pairs[0].X) {
		t.Error("a fit changed its input")
	}
}

// Some degrees of freedom never move, and some only in one of the styles.
func TestStill(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	p := filtered(r, 70, 0, order1, order0, order0, order0)
	for f := range 70 {
		p.X.Set(f, 1, 3)
		p.Y.Set(f, 1, 4)
		p.X.Set(f, 2, -1)
		p.Y.Set(f, 3, 2)
	}
	still := Pair{mat.NewDense(70, 4, nil), mat.NewDense(70, 4, nil), ones(70)}
	for _, c := range fits {
		for name, pair := range map[string]Pair{"some": p, "all": still} {
			m, err := c.fit([]Pair{pair})
			if err != nil {
				t.Errorf("%s: %s still: %v", c.name, name, err)
				continue
			}
			y, step := must.Get2(m.Translate(pair.X))(t)
			if err := checkFinite(y, "the output"); err != nil {
				t.Errorf("%s: %s still: %v", c.name, name, err)
			}
			if name == "some" && c.name != "global ar" && math.Abs(y.At(50, 1)-4) > 1e-6 {
				t.Errorf("%s: %v where everything is 4", c.name, y.At(50, 1))
			}
			if math.Abs(step[50]-1) > 1e-3 {
				t.Errorf("%s: step %v where all are 1", c.name, step[50])
			}
		}
	}
}

func TestErrors(t *testing.T) {
	good := func() []Pair { return performances(rand.New(rand.NewPCG(1, 2)), 2, 60, 3) }
	for _, c := range []struct {
		want  string
		spoil func([]Pair) []Pair
	}{
		{"no pairs", func(p []Pair) []Pair { return nil }},
		{"pair 1: X or Y is empty", func(p []Pair) []Pair { p[1].Y = nil; return p }},
		{"pair 0: X or Y is empty", func(p []Pair) []Pair { p[0].X = new(mat.Dense); return p }},
		{"pair 1: X is 60×3, Y is 59×3", func(p []Pair) []Pair { p[1].Y = mat.NewDense(59, 3, nil); return p }},
		{"pair 1: X is 60×3, Y is 60×2", func(p []Pair) []Pair { p[1].Y = mat.NewDense(60, 2, nil); return p }},
		{"pair 1: X has 2 degrees", func(p []Pair) []Pair {
			p[1].X, p[1].Y = mat.NewDense(60, 2, nil), mat.NewDense(60, 2, nil)
			return p
		}},
		{"pair 0: 59 steps for 60 frames", func(p []Pair) []Pair { p[0].Step = p[0].Step[1:]; return p }},
		{"pair 1: X is NaN at frame 7, degree of freedom 2", func(p []Pair) []Pair { p[1].X.Set(7, 2, math.NaN()); return p }},
		{"pair 0: Y is +Inf at frame 8, degree of freedom 1", func(p []Pair) []Pair { p[0].Y.Set(8, 1, math.Inf(1)); return p }},
		{"pair 0: step 0 at frame 3", func(p []Pair) []Pair { p[0].Step[3] = 0; return p }},
		{"pair 0: step NaN at frame 4", func(p []Pair) []Pair { p[0].Step[4] = math.NaN(); return p }},
		{"single frame", func(p []Pair) []Pair {
			return []Pair{{mat.NewDense(1, 3, nil), mat.NewDense(1, 3, nil), ones(1)}}
		}},
	} {
		for _, f := range fits {
			if _, err := f.fit(c.spoil(good())); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, wanted %q", f.name, err, c.want)
			}
		}
	}
	for want, o := range map[string]LTIOptions{
		"orders of 0 to 50":  {MaxOrder: -1},
		"more than MaxOrder": {MaxOrder: 5, Horizon: 5},
		"MaxPole is 1":       {MaxPole: 1},
		"needs 121 windows":  {MaxOrder: 28},
		"needs 201 windows":  {Horizon: 50},
	} {
		if _, err := FitLTI(good(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, wanted %q", o, err, want)
		}
	}
	if _, err := FitGlobalAR(good(), GlobalAROptions{Lambda: -1}); err == nil {
		t.Error("λ below 0")
	}
	if _, err := FitGP(good(), GPOptions{MaxPoints: -1}); err == nil {
		t.Error("points below 0")
	}
	for _, f := range fits {
		m, err := f.fit(good())
		if err != nil {
			t.Fatal(f.name, err)
		}
		bad := mat.NewDense(4, 3, nil)
		bad.Set(2, 1, math.NaN())
		for want, x := range map[string]*mat.Dense{
			"empty": nil, "is empty": new(mat.Dense), "fitted to 3": mat.NewDense(4, 2, nil), "frame 2, degree of freedom 1": bad,
		} {
			if _, _, err := m.Translate(x); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, wanted %q", f.name, err, want)
			}
		}
	}
}
