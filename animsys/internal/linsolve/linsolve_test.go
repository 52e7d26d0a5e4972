package linsolve_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/animsys/internal/linsolve"
)

// definite returns a random positive definite matrix, (n, n).
func definite(r *rand.Rand, n int) []float64 {
	x, a := make([]float64, n*n), make([]float64, n*n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	for i := range n {
		for j := range n {
			for k := range n {
				a[i*n+j] += x[i*n+k] * x[j*n+k]
			}
		}
		a[i*n+i] += 0.1
	}
	return a
}

// Solutions fulfil their equations.
func TestSolutions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 3, 7} {
		const columns = 2
		a, want := definite(r, n), make([]float64, n*columns)
		for i := range want {
			want[i] = r.NormFloat64()
		}
		b := make([]float64, n*columns)
		for i := range n {
			for k := range n {
				for q := range columns {
					b[i*columns+q] += a[i*n+k] * want[k*columns+q]
				}
			}
		}
		if n == 3 {
			var m [3][4]float64
			for i := range m {
				copy(m[i][:], a[3*i:][:3])
				m[i][3] = b[i*columns]
			}
			for i, v := range linsolve.Three(m) {
				if math.Abs(v-want[i*columns]) > 1e-9 {
					t.Errorf("three: x[%d] is %g, want %g", i, v, want[i*columns])
				}
			}
		}
		if !linsolve.Factor(a, n, 0) {
			t.Fatalf("n=%d: a positive definite matrix was refused", n)
		}
		linsolve.Substitute(a, b, n, columns)
		for i, v := range b {
			if math.Abs(v-want[i]) > 1e-9 {
				t.Errorf("n=%d: value %d is %g, want %g", n, i, v, want[i])
			}
		}
	}
}

// A matrix that is not positive definite is refused, unless least bounds its pivots.
func TestIndefinite(t *testing.T) {
	for _, a := range [][]float64{{1, 2, 2, 1}, {0, 0, 0, 0}, {math.NaN(), 0, 0, 1}} {
		if linsolve.Factor(append([]float64(nil), a...), 2, 0) {
			t.Errorf("%v was accepted", a)
		}
	}
	if !linsolve.Factor([]float64{1, 2, 2, 1}, 2, 1e-9) {
		t.Error("refused although least bounds the pivots")
	}
}
