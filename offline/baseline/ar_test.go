package baseline

import (
	"cmp"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mannequin/internal/testing/must"
)

// recursion runs β on x from y(-1) = x(-1) = x(0), as a translation does.
func recursion(beta [4]float64, x []float64) []float64 {
	y := make([]float64, len(x))
	before, last := x[0], x[0]
	for t, v := range x {
		y[t] = beta[0]*before + beta[1]*last + beta[2]*v + beta[3]
		before, last = v, y[t]
	}
	return y
}

func TestGlobalARRecovers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	betas := [][4]float64{{0.3, 0.5, -0.7, 0.1}, {-1.2, 0.97, 1.25, -0.02}, {0, -0.4, 2, 5}}
	make := func() Pair {
		var x, y [][]float64
		for _, b := range betas {
			in := walk(r, 400)
			x, y = append(x, in), append(y, recursion(b, in))
		}
		return Pair{columns(x...), columns(y...), ones(400)}
	}
	m := must.Get(FitGlobalAR([]Pair{make(), make()}, GlobalAROptions{Lambda: 1e-14}))(t)
	fresh := make()
	y, _ := must.Get2(m.Translate(fresh.X))(t)
	for d, want := range betas {
		for i, got := range m.beta[d] {
			if math.Abs(got-want[i]) > 1e-7 {
				t.Errorf("degree of freedom %d: β = %v, is %v", d, m.beta[d], want)
				break
			}
		}
		if e := relative(y, fresh.Y, d, 0); !(e < 1e-6) {
			t.Errorf("degree of freedom %d: relative error %.3g", d, e)
		}
	}
}

// The normal equations, inverted.
func TestGlobalARRidge(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pairs := []Pair{filtered(r, 40, 0.1, order1, order2), filtered(r, 25, 0.1, order1, order2)}
	for _, lambda := range []float64{0, 0.1, 3} { // 0: the default, which is 0.1
		m := must.Get(FitGlobalAR(pairs, GlobalAROptions{Lambda: lambda}))(t)
		lambda = cmp.Or(lambda, 0.1)
		for d := range 2 {
			gram, right := mat.NewDense(4, 4, nil), mat.NewVecDense(4, nil)
			for i := range 4 {
				gram.Set(i, i, lambda)
			}
			for _, p := range pairs {
				for f := 1; f < len(p.Step); f++ {
					u := []float64{p.X.At(f-1, d), p.Y.At(f-1, d), p.X.At(f, d), 1}
					for i, v := range u {
						for j, w := range u {
							gram.Set(i, j, gram.At(i, j)+v*w)
						}
						right.SetVec(i, right.AtVec(i)+v*p.Y.At(f, d))
					}
				}
			}
			var inverse mat.Dense
			must.Do(t, inverse.Inverse(gram))
			var want mat.VecDense
			want.MulVec(&inverse, right)
			for i, got := range m.beta[d] {
				if math.Abs(got-want.AtVec(i)) > 1e-10 {
					t.Errorf("λ = %v, degree of freedom %d: β[%d] = %v, is %v", lambda, d, i, got, want.AtVec(i))
				}
			}
		}
	}
}

// An output that doubles and doubles is fitted best by b = 2, and runs away.
func TestGlobalARDoesNotRunAway(t *testing.T) {
	x, y := make([]float64, 30), make([]float64, 30)
	for f := range y {
		x[f] = math.Sin(0.3 * float64(f))
		y[f] = math.Exp2(float64(f) / 3)
	}
	m := must.Get(FitGlobalAR([]Pair{{columns(x), columns(y), ones(30)}}, GlobalAROptions{}))(t)
	if b := m.beta[0][1]; !(math.Abs(b) < 1) {
		t.Errorf("b = %v", b)
	}
	long := make([]float64, 100000)
	got, _ := must.Get2(m.Translate(columns(long)))(t)
	if last := got.At(len(long)-1, 0); !(math.Abs(last) < 1e7) {
		t.Errorf("the output is %v in the end", last)
	}
}
