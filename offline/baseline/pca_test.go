package baseline

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mannequin/internal/testing/must"
)

func TestTriangle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const rows, n = 500, 6
	m := mat.NewDense(rows, n, noise(r, rows*n))
	all, a, b := newTriangle(n), newTriangle(n), newTriangle(n)
	for i := range rows {
		copy(all.row(), m.RawRowView(i))
		half := a
		if i%3 == 0 {
			half = b
		}
		copy(half.row(), m.RawRowView(i))
	}
	a.add(b, 0)
	a.r()
	for i, v := range a.row() {
		if v != 0 {
			t.Errorf("column %d of a new row is %v", i, v)
		}
	}
	for i := range n {
		for j := range i {
			if v := a.r().At(i, j); v != 0 {
				t.Errorf("R[%d, %d] = %v below the diagonal", i, j, v)
			}
		}
	}
	var want mat.Dense
	want.Mul(m.T(), m)
	for _, got := range []*triangle{all, a} {
		var gram mat.Dense
		gram.Mul(got.r().T(), got.r())
		if !mat.EqualApprox(&gram, &want, 1e-9) {
			t.Errorf("RᵀR =\n%v, is\n%v", mat.Formatted(&gram), mat.Formatted(&want))
		}
	}
}

func TestBasis(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const frames = 500
	x := mat.NewDense(frames, 4, nil)
	for f := range frames {
		a, b := r.NormFloat64(), 0.3*r.NormFloat64()
		x.SetRow(f, []float64{2 + a, 3*a + b, 7, a - b}) // two motions, one column still
	}
	b := must.Get(fitBasis([]Pair{{X: x, Step: ones(frames)}}, 3))(t)
	if len(b.variance) != 2 {
		t.Fatalf("%d components of two motions: %v", len(b.variance), b.variance)
	}
	s := b.scores(x)
	var total float64
	for j, want := range b.variance {
		var mean, square float64
		for f := range frames {
			mean += s.At(f, j) / frames
			square += s.At(f, j) * s.At(f, j) / frames
		}
		if math.Abs(mean) > 1e-12 || math.Abs(square-want) > 1e-9 {
			t.Errorf("scores %d have mean %v and variance %v, wanted 0 and %v", j, mean, square, want)
		}
		total += want
	}
	// Three columns move; the still one's weight is of no matter. Two of them, and
	// so the sum, are standardised, the third moves less than the median.
	if total < 2 || total > 3 {
		t.Errorf("total variance %v", total)
	}
	moving := b.moving(x)
	for f := 1; f < frames; f++ {
		for j := range 2 {
			if moving.At(f, 2+j) != s.At(f, j)-s.At(f-1, j) {
				t.Fatalf("velocity %v at frame %d", moving.At(f, 2+j), f)
			}
		}
	}
}
