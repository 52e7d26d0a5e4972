package baseline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// centre subtracts the columns' means from m and returns them.
func centre(m *mat.Dense) []float64 {
	r, c := m.Dims()
	mean := make([]float64, c)
	for t := range r {
		for j, v := range m.RawRowView(t) {
			mean[j] += v
		}
	}
	for j := range mean {
		mean[j] /= float64(r)
	}
	for t := range r {
		row := m.RawRowView(t)
		for j, v := range mean {
			row[j] -= v
		}
	}
	return mean
}

func columnVariances(m *mat.Dense) []float64 {
	d := mat.DenseCopyOf(m)
	centre(d)
	r, c := d.Dims()
	out := make([]float64, c)
	for t := range r {
		for j, v := range d.RawRowView(t) {
			out[j] += v * v / float64(r)
		}
	}
	return out
}

// stride returns at most n rows of m, evenly spread.
func stride(m *mat.Dense, n int) *mat.Dense {
	r, c := m.Dims()
	if r <= n {
		return mat.DenseCopyOf(m)
	}
	out := mat.NewDense(n, c, nil)
	for i := range n {
		copy(out.RawRowView(i), m.RawRowView(i*r/n))
	}
	return out
}

// softened divides the columns of m by their soft scales, so that all units have equal influence.
func softened(m *mat.Dense) *mat.Dense {
	deviation := columnVariances(m)
	for j, v := range deviation {
		deviation[j] = math.Sqrt(v)
	}
	scale := softScale(deviation)
	r, _ := m.Dims()
	for t := range r {
		row := m.RawRowView(t)
		for j, s := range scale {
			row[j] /= s
		}
	}
	return m
}

// farthest returns n rows that cover m: the row nearest to the mean, then always the farthest one.
func farthest(m *mat.Dense, n int) *mat.Dense {
	r, c := m.Dims()
	middle := centre(mat.DenseCopyOf(m))
	next, least := 0, math.Inf(1)
	for t := range r {
		if d := distance2(middle, m.RawRowView(t)); d < least {
			next, least = t, d
		}
	}
	away := slices.Repeat([]float64{math.Inf(1)}, r) // squared distance from the nearest chosen row
	out := mat.NewDense(n, c, nil)
	for i := range n {
		chosen := m.RawRowView(next)
		copy(out.RawRowView(i), chosen)
		next = 0
		for t := range r {
			away[t] = min(away[t], distance2(chosen, m.RawRowView(t)))
			if away[t] > away[next] {
				next = t
			}
		}
	}
	return out
}
