package baseline

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mannequin/internal/testing/must"
)

// curve is a gait of two joints and what a smooth function makes of it: not
// linear, and of position and velocity. The time is from and on.
func curve(from, rate float64, frames int) Pair {
	p := Pair{mat.NewDense(frames, 2, nil), mat.NewDense(frames, 2, nil), make([]float64, frames)}
	for f := range frames {
		a := from + rate*float64(f)
		p.X.SetRow(f, []float64{math.Sin(a), 0.5 * math.Cos(a)})
		p.Y.SetRow(f, []float64{math.Sin(a) + 0.3*math.Cos(3*a), math.Exp(0.4*math.Sin(2*a)) / (1 + rate)})
		p.Step[f] = 1 + 0.3*math.Sin(a)*math.Sin(a)
	}
	return p
}

func TestGPSmoothFunction(t *testing.T) {
	pairs := []Pair{curve(0, 0.18, 38), curve(1, 0.2, 38), curve(2, 0.22, 38)}
	for _, o := range []GPOptions{{}, {MaxPoints: 60}} {
		m := must.Get(FitGP(pairs, o))(t)
		if n, _ := m.points.Dims(); o.MaxPoints > 0 && n != o.MaxPoints {
			t.Errorf("%d points, not %d", n, o.MaxPoints)
		}
		fresh := curve(0.456, 0.21, 40)
		y, step := must.Get2(m.Translate(fresh.X))(t)
		for d := range 2 {
			if e := relative(y, fresh.Y, d, 1); !(e < 0.01) {
				t.Errorf("%+v: degree of freedom %d: relative error %.3g", o, d, e)
			}
		}
		for f, s := range step[1:] {
			if math.Abs(s-fresh.Step[f+1]) > 0.01 {
				t.Errorf("%+v: step %v, is %v", o, s, fresh.Step[f+1])
				break
			}
		}
	}
}

// One degree of freedom has one component, the standardised column itself up to
// its sign, which distances do not see: everything can be written out.
func TestGPFormula(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 12
	x, y := walk(r, n), noise(r, n)
	m := must.Get(FitGP([]Pair{{columns(x), columns(y), ones(n)}}, GPOptions{}))(t)
	var mean, square, offset float64
	for f := range n {
		mean += x[f] / n
		offset += (y[f] - x[f]) / n
	}
	for f := range n {
		square += (x[f] - mean) * (x[f] - mean) / n
	}
	feature := func(x []float64, f int) [2]float64 {
		now := max(f, 1)
		return [2]float64{(x[f] - mean) / math.Sqrt(square), (x[now] - x[now-1]) / math.Sqrt(square)}
	}
	cov := func(p, q [2]float64) float64 {
		var d float64
		for i, s := range m.kernel.scale {
			d += s * s * (p[i] - q[i]) * (p[i] - q[i])
		}
		return math.Exp(-d / 2)
	}
	k, target := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		for j := range n {
			k.Set(i, j, cov(feature(x, i), feature(x, j)))
		}
		k.Set(i, i, k.At(i, i)+m.kernel.noise)
		target.SetVec(i, y[i]-x[i]-offset)
	}
	var inverse mat.Dense
	must.Do(t, inverse.Inverse(k))
	var alpha mat.VecDense
	alpha.MulVec(&inverse, target)
	fresh := walk(r, 20)
	got, _ := must.Get2(m.Translate(columns(fresh)))(t)
	for f := range fresh {
		want := fresh[f] + offset
		for i := range n {
			want += cov(feature(fresh, f), feature(x, i)) * alpha.AtVec(i)
		}
		if math.Abs(got.At(f, 0)-want) > 1e-9 {
			t.Errorf("frame %d: %v, is %v", f, got.At(f, 0), want)
		}
	}
}

// With all frames as points the projected process is the exact one.
func TestGPProjected(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	points, y := mat.NewDense(50, 3, noise(r, 150)), mat.NewDense(50, 2, noise(r, 100))
	k := kernel{noise: 0.01}
	want := must.Get(exact(k, points, y))(t)
	got := must.Get(projected(k, points, points, y))(t)
	fresh := mat.NewDense(10, 3, noise(r, 30))
	var a, b mat.Dense
	a.Mul(k.between(fresh, points), want)
	b.Mul(k.between(fresh, points), got)
	if !mat.EqualApprox(&a, &b, 1e-5) {
		t.Errorf("predictions\n%v, are\n%v", mat.Formatted(&b), mat.Formatted(&a))
	}
}

// The density of a multivariate normal distribution at the best of many signal variances.
func TestLogLikelihood(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n, d = 7, 3
	features, outputs := mat.NewDense(n, 2, noise(r, 2*n)), mat.NewDense(n, d, noise(r, n*d))
	direct := func(k kernel) float64 {
		best := math.Inf(-1)
		for log := -6.0; log < 3; log += 0.01 {
			var cov, inverse mat.Dense
			cov.Scale(math.Exp(log), k.noisy(k.scaled(features)))
			must.Do(t, inverse.Inverse(&cov))
			det := math.Log(mat.Det(&cov))
			var l float64
			for j := range d {
				y := outputs.ColView(j)
				l += -0.5*mat.Inner(y, &inverse, y) - 0.5*det
			}
			best = max(best, l)
		}
		return best
	}
	a, b := kernel{[]float64{1, 0.5}, 0.1}, kernel{[]float64{0.3, 2}, 0.5}
	got := logLikelihood(a, features, outputs) - logLikelihood(b, features, outputs)
	if want := direct(a) - direct(b); math.Abs(got-want) > 1e-3 {
		t.Errorf("difference of log likelihoods %v, is %v", got, want)
	}
}

// A process with a known kernel: what the search finds is as likely, up to its last steps.
func TestFitKernel(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const n, d = 60, 5
	features := mat.NewDense(n, 4, noise(r, 4*n))
	variance := columnVariances(features)
	truth := newKernel(hyper{length: 1.5, noise: 0.01, velocity: 0.5, whiten: 0.5}, variance)
	var chol mat.Cholesky
	if !chol.Factorize(truth.noisy(truth.scaled(features))) {
		t.Fatal("no root of the covariance")
	}
	var root mat.TriDense
	chol.LTo(&root)
	var outputs mat.Dense
	outputs.Mul(&root, mat.NewDense(n, d, noise(r, n*d)))
	found := fitKernel(features, &outputs, variance)
	if f, l := logLikelihood(found, features, &outputs), logLikelihood(truth, features, &outputs); f < l-0.5 {
		t.Errorf("log likelihood %v of %+v, that of the truth is %v", f, found, l)
	}
	if found.noise < 0.002 || found.noise > 0.05 {
		t.Errorf("noise %v, is 0.01", found.noise)
	}
}
