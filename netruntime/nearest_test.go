package netruntime_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mannequin/netruntime"
	"mannequin/netruntime/vec"
)

// processors compute squares of distances in float32: the CPU's kernel, and others that sum in other orders and round to nearest, down or up.
func processors() (all []func(q, p []float32) float32) {
	all = append(all, func(q, p []float32) float32 {
		var d [16]float32
		rows := make([]float32, 16*len(p))
		for c, v := range p {
			rows[16*c] = v
		}
		vec.BoxDistances16(&d, rows, rows, q)
		return d[0]
	})
	for _, reverse := range []bool{false, true} {
		for _, way := range []float64{0, math.Inf(-1), math.Inf(1)} {
			round := func(v float64) float32 {
				f := float32(v)
				switch {
				case way < 0 && float64(f) > v:
					f = math.Nextafter32(f, float32(way))
				case way > 0 && float64(f) < v:
					f = math.Nextafter32(f, float32(way))
				}
				return f
			}
			all = append(all, func(q, p []float32) (sum float32) {
				for i := range q {
					if reverse {
						i = len(q) - 1 - i
					}
					e := round(float64(q[i]) - float64(p[i]))
					sum = round(float64(sum) + float64(round(float64(e)*float64(e))))
				}
				return sum
			})
		}
	}
	return all
}

// What one processor's costs call certain is so on every other.
func TestCertain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := processors()
	certain, open := 0, 0
	for _, columns := range []int{1, 2, 27, 63} {
		for range 5000 {
			q, a, b := make([]float32, columns), make([]float32, columns), make([]float32, columns)
			size := math.Pow(10, 6*r.Float64()-3)
			for c := range q {
				q[c], a[c] = float32(r.NormFloat64()), float32(size*r.NormFloat64())
				b[c] = a[c]
			}
			b[r.IntN(columns)] *= float32(1 + math.Pow(10, -3-5*r.Float64()))
			near, far := make([]float32, len(all)), make([]float32, len(all))
			for i, cost := range all {
				near[i], far[i] = cost(q, a), cost(q, b)
			}
			if near[0] > far[0] {
				near, far = far, near
			}
			for i := range all {
				f := netruntime.Found{Cost: min(near[i], far[i]), Next: max(near[i], far[i])}
				if f.AtLeast(columns) > float64(slices.Min(near)) && f.AtLeast(columns) > float64(slices.Min(far)) {
					t.Fatalf("%d columns: at least %g, but %g", columns, f.AtLeast(columns), min(slices.Min(near), slices.Min(far)))
				}
				if !f.Certain(columns) {
					open++
					continue
				}
				certain++
				for k := range all {
					if near[k] >= far[k] != (near[i] >= far[i]) {
						t.Fatalf("%d columns: %+v of processor %d is certain, but %d has %g and %g", columns, f, i, k, near[k], far[k])
					}
				}
			}
		}
	}
	t.Logf("%d certain, %d open", certain, open)
	if certain < 1000 || open < 1000 {
		t.Error("too few of one kind")
	}
	for _, f := range []netruntime.Found{{Point: -1}, {Cost: 1, Next: 2}, {Cost: 1, Next: float32(math.Inf(1))}, {Next: 1}} {
		if !f.Certain(27) {
			t.Errorf("%+v is not certain", f)
		}
	}
	nan := float32(math.NaN())
	for _, f := range []netruntime.Found{{Cost: 1, Next: 1}, {}, {Cost: nan, Next: 1}, {Cost: 1, Next: nan}} {
		if f.Certain(27) {
			t.Errorf("%+v is certain", f)
		}
	}
}
