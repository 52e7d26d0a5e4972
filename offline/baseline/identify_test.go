package baseline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Each of two records of two filters is held out once. The other one's filter is learnt, and its
// error is the difference between the two.
func TestHeldOut(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	other := transfer{num: []float64{0.4, 0.1}, den: []float64{1, -0.3}}
	mine := transfer{num: order1.num, den: order1.den}
	var records []record
	var want float64
	for _, f := range []transfer{mine, other} {
		u := walk(r, 300)
		records = append(records, record{u: u, y: f.run(u)})
		wrong := mine.run(u)
		for t, v := range other.run(u) {
			want += (v - wrong[t]) * (v - wrong[t])
		}
	}
	s := search{maxOrder: 1, horizon: 8, folds: 2, radius: defaultMaxPole}
	spans := s.spans(records)
	parts := []*windows{newWindows(8, 1), newWindows(8, 1)}
	for _, sp := range spans {
		parts[sp.fold].take(records[sp.record], sp, 1)
	}
	got := s.tryAll(parts, records, spans, 1, 1)[choice{order: 1}].run
	if !(math.Abs(got/want-1) < 1e-9) {
		t.Errorf("squared error %v, is %v", got, want)
	}
}

// Errors of alternating sign cancel in times, but not in poses.
func TestTrialSums(t *testing.T) {
	missing := []float64{1, -1, 1, -1}
	if sum := (&trial{summed: true}).square(missing); sum != 2 {
		t.Errorf("squared error of the sums %v, is 2", sum)
	}
	if sum := (&trial{}).square(missing); sum != 4 {
		t.Errorf("squared error %v, is 4", sum)
	}
}

// Two equal inputs share the gain of one.
func TestLeastSquaresOfEqualInputs(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	rec := record{}
	for _, v := range walk(r, 100) {
		rec.u = append(rec.u, v, v, 0)
		rec.y = append(rec.y, 3*v+1)
	}
	g := newGains(nil, nil, 3)
	g.take(rec, span{to: 100}, 1)
	s := g.solve().system(0)
	for i, want := range []float64{1.5, 1.5, 0} {
		if !(math.Abs(s.d[i]-want) <= 1e-9) {
			t.Errorf("D = %v", s.d)
			break
		}
	}
	if !(math.Abs(s.offset-1) <= 1e-9) {
		t.Errorf("offset %v", s.offset)
	}
}

// Reflected poles are inside and in the places where theory has them: the
// eigenvalues are taken by another routine.
func TestStabilise(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 200 {
		n := 1 + r.IntN(8)
		a, c := noise(r, n*n), noise(r, n)
		var before, after mat.Eigen
		if !before.Factorize(mat.NewDense(n, n, slices.Clone(a)), mat.EigenNone) {
			t.Fatal("no eigenvalues")
		}
		want := before.Values(nil)
		for i, v := range want {
			if radius := math.Hypot(real(v), imag(v)); radius > defaultMaxPole {
				want[i] = v / complex(radius, 0) * complex(min(1/radius, defaultMaxPole), 0)
			}
		}
		if !stabilise(a, c, defaultMaxPole) || !after.Factorize(mat.NewDense(n, n, a), mat.EigenNone) {
			t.Fatal("no eigenvalues afterwards")
		}
		for _, got := range after.Values(nil) {
			near := slices.IndexFunc(want, func(w complex128) bool { return math.Hypot(real(w-got), imag(w-got)) < 1e-8 })
			if near < 0 {
				t.Fatalf("order %d: pole %v is not among %v", n, got, want)
			}
			want = slices.Delete(want, near, near+1)
		}
	}
}

// A stable system's outputs are not changed by the new coordinates.
func TestStabiliseKeepsStable(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	const n = 5
	a, c := noise(r, n*n), noise(r, n)
	for i := range a {
		a[i] *= 0.2
	}
	a2, c2 := slices.Clone(a), slices.Clone(c)
	if !stabilise(a2, c2, defaultMaxPole) {
		t.Fatal("no eigenvalues")
	}
	// Only |C Aᵏ| over all starts can be compared: new coordinates are a rotation.
	v, w := mat.NewVecDense(n, c), mat.NewVecDense(n, c2)
	for range 6 {
		if math.Abs(mat.Norm(v, 2)-mat.Norm(w, 2)) > 1e-12 {
			t.Fatalf("|C Aᵏ| is %v, was %v", mat.Norm(w, 2), mat.Norm(v, 2))
		}
		var x, y mat.VecDense
		x.MulVec(mat.NewDense(n, n, a).T(), v)
		y.MulVec(mat.NewDense(n, n, a2).T(), w)
		v, w = &x, &y
	}
}
