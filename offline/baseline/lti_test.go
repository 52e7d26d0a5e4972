package baseline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mannequin/internal/testing/must"
)

// transfer is a filter with a difference equation, which knows nothing of state
// spaces: y(t) = Σ num[k] x(t-k) - Σ den[k] y(t-k) + constant, from rest.
type transfer struct {
	num, den []float64 // den[0] is 1
	constant float64
}

func (f transfer) run(x []float64) []float64 {
	y := make([]float64, len(x))
	for t := range y {
		y[t] = f.constant
		for k, b := range f.num {
			if t >= k {
				y[t] += b * x[t-k]
			}
		}
		for k, a := range f.den[1:] {
			if t > k {
				y[t] -= a * y[t-k-1]
			}
		}
	}
	return y
}

// Poles: none; 0.8; 0.9·exp(±0.3i); 0.95·exp(±0.2i), 0.7·exp(±1.1i); unstable 1.02·exp(±0.2i).
var (
	order0 = transfer{num: []float64{1.7}, den: []float64{1}, constant: 0.3}
	order1 = transfer{num: []float64{0.5, 0.2}, den: []float64{1, -0.8}, constant: 0.1}
	order2 = transfer{num: []float64{0.3, 0.1, -0.2}, den: polynomial(0.9, 0.3), constant: -0.2}
	order4 = transfer{num: []float64{0.2, -0.1, 0.3, 0.05, 0.1}, den: product(polynomial(0.95, 0.2), polynomial(0.7, 1.1)), constant: 0.4}
	beyond = transfer{num: []float64{0.1, 0.1}, den: polynomial(1.02, 0.2)}
)

func polynomial(radius, angle float64) []float64 {
	return []float64{1, -2 * radius * math.Cos(angle), radius * radius}
}

func product(a, b []float64) []float64 {
	p := make([]float64, len(a)+len(b)-1)
	for i, v := range a {
		for j, w := range b {
			p[i+j] += v * w
		}
	}
	return p
}

// noise is white; walk is smoother than that, as motion is, but has no period.
func noise(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for t := range x {
		x[t] = r.NormFloat64()
	}
	return x
}

func walk(r *rand.Rand, n int) []float64 {
	const before = 40 // until it is as smooth as later on
	x := noise(r, before+n)
	for range 2 {
		for t := 1; t < len(x); t++ {
			x[t] = 0.7*x[t-1] + 0.3*x[t]
		}
	}
	return x[before:]
}

// columns are a matrix of these columns.
func columns(c ...[]float64) *mat.Dense {
	m := mat.NewDense(len(c[0]), len(c), nil)
	for j, v := range c {
		m.SetCol(j, v)
	}
	return m
}

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// filtered is a pair of one degree of freedom per filter.
func filtered(r *rand.Rand, frames int, sigma float64, filters ...transfer) Pair {
	var x, y [][]float64
	for _, f := range filters {
		in := walk(r, frames)
		out := f.run(in)
		for t := range out {
			out[t] += sigma * r.NormFloat64()
		}
		x, y = append(x, in), append(y, out)
	}
	return Pair{columns(x...), columns(y...), ones(frames)}
}

// relative is the root mean square of the difference of two columns of y from frame
// from on, over the deviation of want.
func relative(got, want *mat.Dense, column, from int) float64 {
	r, _ := want.Dims()
	var mean, square, diff float64
	for t := from; t < r; t++ {
		mean += want.At(t, column) / float64(r-from)
	}
	for t := from; t < r; t++ {
		d := got.At(t, column) - want.At(t, column)
		v := want.At(t, column) - mean
		diff, square = diff+d*d, square+v*v
	}
	return math.Sqrt(diff / square)
}

var filters = []transfer{order0, order1, order2, order4}

// settled is the frame after which no filter remembers its start.
const settled = 400

func TestLTIRecoversSystems(t *testing.T) {
	for _, c := range []struct {
		name  string
		sigma float64
		pairs int
		o     LTIOptions
		bound float64
	}{
		{"exact, one pair", 0, 1, LTIOptions{MaxOrder: 5}, 1e-6},
		{"exact, three pairs", 0, 3, LTIOptions{MaxOrder: 6}, 1e-6},
		{"noise, three pairs", 0.02, 3, LTIOptions{MaxOrder: 5}, 0.02},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			var pairs []Pair
			for range c.pairs {
				pairs = append(pairs, filtered(r, 600/c.pairs, c.sigma, filters...))
			}
			m := must.Get(FitLTI(pairs, c.o))(t)
			fresh := filtered(r, 600, 0, filters...)
			y, step := must.Get2(m.Translate(fresh.X))(t)
			for d := range filters {
				if e := relative(y, fresh.Y, d, settled); !(e <= c.bound) {
					t.Errorf("degree of freedom %d: relative error %.3g, above %.3g", d, e, c.bound)
				}
			}
			for _, s := range step {
				if math.Abs(s-1) > 1e-9 {
					t.Fatalf("step %v where all are 1", s)
				}
			}
			if c.sigma > 0 {
				return
			}
			if orders, steps := m.Orders(); !slices.Equal(orders, []int{0, 1, 2, 4}) || steps != 0 {
				t.Errorf("orders %v and %d of the systems 0, 1, 2, 4 and constant steps", orders, steps)
			}
		})
	}
}

// One degree of freedom depends on another: only systems that see the pose can know.
func TestLTIPose(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	crossed := func() Pair {
		p := filtered(r, 250, 0, order1, order2)
		y := order2.run(mat.Col(nil, 0, p.X))
		for t, v := range order0.run(mat.Col(nil, 1, p.X)) {
			y[t] += v
		}
		p.Y.SetCol(1, y)
		return p
	}
	pairs, fresh := []Pair{crossed(), crossed(), crossed()}, crossed()
	for _, pose := range []bool{false, true} {
		m := must.Get(FitLTI(pairs, LTIOptions{Pose: pose, MaxOrder: 4}))(t)
		y, _ := must.Get2(m.Translate(fresh.X))(t)
		if e := relative(y, fresh.Y, 0, 100); !(e < 1e-6) {
			t.Errorf("pose %v: relative error %.3g of what its own input does", pose, e)
		}
		if e := relative(y, fresh.Y, 1, 150); pose && !(e < 1e-6) || !pose && e < 0.1 {
			t.Errorf("pose %v: relative error %.3g of what the pose does", pose, e)
		}
	}
}

// A window across the seam between these two pairs would show an input that jumps and an output
// that does not.
func TestLTISeam(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	up, fresh := filtered(r, 300, 0, order4), filtered(r, 600, 0, order4)
	down := filtered(r, 300, 0, order4)
	for f := range 300 {
		// The filter is linear: this is its output long after a step of 5.
		down.X.Set(f, 0, down.X.At(f, 0)+5)
		down.Y.Set(f, 0, down.Y.At(f, 0)+5*gain(order4))
	}
	m := must.Get(FitLTI([]Pair{up, down}, LTIOptions{}))(t)
	y, _ := must.Get2(m.Translate(fresh.X))(t)
	if e := relative(y, fresh.Y, 0, settled); !(e < 1e-6) {
		t.Errorf("relative error %.3g", e)
	}
}

// gain returns a filter's final output for a constant 1.
func gain(f transfer) float64 {
	var num, den float64
	for _, v := range f.num {
		num += v
	}
	for _, v := range f.den {
		den += v
	}
	return num / den
}

// A performance that begins in a held pose looks like an input that never changed before.
func TestLTIStartsFromRest(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	held := func() Pair {
		const before = 600
		x := walk(r, before+300)
		for t := range before {
			x[t] = x[before] + 3
		}
		for t := range 300 {
			x[before+t] += 3
		}
		y := order2.run(x)
		return Pair{columns(x[before:]), columns(y[before:]), ones(300)}
	}
	m := must.Get(FitLTI([]Pair{held(), held(), held()}, LTIOptions{}))(t)
	fresh := held()
	y, _ := must.Get2(m.Translate(fresh.X))(t)
	if e := relative(y, fresh.Y, 0, 0); !(e < 1e-6) {
		t.Errorf("relative error %.3g from the first frame on", e)
	}
}

func TestLTIIsStable(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	m := must.Get(FitLTI([]Pair{filtered(r, 300, 0, beyond), filtered(r, 300, 0, beyond)}, LTIOptions{MaxOrder: 2}))(t)
	const frames = 20000
	y, _ := must.Get2(m.Translate(columns(walk(r, frames))))(t)
	early, late := 0.0, 0.0
	for f := range frames {
		v := math.Abs(y.At(f, 0) - m.meanY[0])
		if f < frames/2 {
			early = max(early, v)
		} else {
			late = max(late, v)
		}
	}
	if !(late < 2*early) {
		t.Errorf("an output of up to %.3g goes up to %.3g later: it grows", early, late)
	}
}
