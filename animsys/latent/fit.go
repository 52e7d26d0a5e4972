package latent

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Fit is one call of Coder.Fit: it finds the clip nearest to wanted frames.
//
// The cost is Σ w·(y − Want)²/deviation² over frames and columns, divided by Σ w, where w is Weight
// and deviation that of the column in the training data, plus Prior times the mean square of the
// free components. Clips like the training data have small components.
type Fit struct {
	Components []float32 // (values) in: the start; out: the clip's components
	Fixed      []bool    // (values) those that stay; nil: none
	Want       []float32 // (Frames, columns) raw
	Weight     []float32 // (Frames, columns) of the squared errors, or (Frames) for all columns; nil: 1
	Prior      float64   // weight of the components, 0 or more
	Iterations int       // each decodes a clip for every free component

	Before, After float64 // out: the cost
}

// RefineIterations is the number of iterations after which a fit to a whole clip hardly changes.
const RefineIterations = 6

// step is the finite difference of a component, in deviations. The networks are piecewise linear; a
// smaller step sees only rounding.
const step = 0.05

// dampings are the factors of the last best damping that every iteration tries, in one batch.
var dampings = [...]float64{0.1, 1, 10, 100}

// Fit runs the fit by the Gauss–Newton method with Levenberg–Marquardt damping. Derivatives are
// differences of decoded clips. The thesis descends along the gradient (Lüdi 2016, eq. 4.10) to the
// same minimum. It ends with an iteration without improvement.
func (c *Coder) Fit(f *Fit) error {
	if c.m == nil {
		return errZeroModel
	}
	m := c.m
	size := Frames * m.Layout.Columns()
	switch {
	case len(f.Components) != m.Values || f.Fixed != nil && len(f.Fixed) != m.Values:
		return fmt.Errorf("latent: Fit.Components has %d values and Fixed %d, want %d", len(f.Components), len(f.Fixed), m.Values)
	case len(f.Want) != size || f.Weight != nil && len(f.Weight) != size && len(f.Weight) != Frames:
		return fmt.Errorf("latent: Fit.Want has %d values and Weight %d, want %d", len(f.Want), len(f.Weight), size)
	case !(f.Prior >= 0) || f.Iterations < 0:
		return fmt.Errorf("latent: Fit.Prior is %g and Iterations %d, want 0 or more", f.Prior, f.Iterations)
	}
	t := &c.fitting
	total := t.weigh(f, m.weight)
	if !(total > 0) || math.IsInf(total, 1) {
		return fmt.Errorf("latent: Fit.Weight sums up to %g, want more than 0", total)
	}
	t.free = t.free[:0]
	for k := range m.Values {
		if f.Fixed == nil || !f.Fixed[k] {
			t.free = append(t.free, k)
		}
	}
	n := max(len(t.free), len(dampings))
	resize(&t.candidates, n*m.Values)
	resize(&t.rows, n*size)
	resize(&t.best, size+len(t.free))
	resize(&t.other, size+len(t.free))
	t.values, t.prior = m.Values, math.Sqrt(f.Prior/float64(m.Values))
	copy(t.candidates, f.Components)
	if err := c.decodeComponents(t.rows, t.candidates, 1); err != nil {
		return err
	}
	cost := t.errors(t.best, f.Want, 0)
	f.Before, f.After = cost, cost
	damping := 1e-3
	for range f.Iterations {
		if len(t.free) == 0 {
			break
		}
		for i, k := range t.free {
			copy(t.candidates[i*m.Values:], f.Components)
			t.candidates[i*m.Values+k] += step
		}
		if err := c.decodeComponents(t.rows, t.candidates, len(t.free)); err != nil {
			return err
		}
		t.linearise(f.Want)
		for i, by := range dampings {
			to := t.candidates[i*m.Values:][:m.Values]
			copy(to, f.Components)
			t.descend(to, damping*by)
		}
		if err := c.decodeComponents(t.rows, t.candidates, len(dampings)); err != nil {
			return err
		}
		best := -1
		for i := range dampings {
			if e := t.errors(t.other, f.Want, i); e < cost {
				best, cost = i, e
				t.best, t.other = t.other, t.best
			}
		}
		if best < 0 {
			break
		}
		copy(f.Components, t.candidates[best*m.Values:][:m.Values])
		damping = max(damping*dampings[best], 1e-9)
	}
	f.After = cost
	return nil
}

// fitting is the scratch of Fit. Errors are those of a clip's frames and columns, then of its free
// components.
type fitting struct {
	values             int
	weight             []float64 // (Frames, columns) of errors
	prior              float64   // weight of free components
	free               []int     // components
	candidates, rows   []float32 // components of clips, and their decoded frames
	best, other        []float64 // (errors) of the best clip, and of another
	jacobian           []float64 // (errors, free)
	normal, chol       []float64 // (free, free) normal matrix, and its damped factors
	gradient, solution []float64 // (free)
}

// resize gives s length n, with any values.
func resize[T any](s *[]T, n int) { *s = slices.Grow((*s)[:0], n)[:n] }

// weigh fills weight from f and the columns' weights. It returns the sum of f's weights.
func (t *fitting) weigh(f *Fit, columns []float32) (total float64) {
	resize(&t.weight, len(f.Want))
	for i := range t.weight {
		by := float32(1)
		switch len(f.Weight) {
		case len(f.Want):
			by = f.Weight[i]
		case Frames:
			by = f.Weight[i/len(columns)]
		}
		t.weight[i] = float64(by * columns[i%len(columns)])
		total += float64(by)
	}
	for i := range t.weight {
		t.weight[i] = math.Sqrt(t.weight[i] / total)
	}
	return total
}

// errors writes the errors of decoded clip i and returns the sum of their squares.
func (t *fitting) errors(dst []float64, want []float32, i int) float64 {
	size := len(want)
	for k, v := range t.rows[i*size:][:size] {
		dst[k] = t.weight[k] * float64(v-want[k])
	}
	for k, q := range t.free {
		dst[size+k] = t.prior * float64(t.candidates[i*t.values+q])
	}
	return blas64.Dot(vector(dst), vector(dst))
}

func vector(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Inc: 1, Data: v} }

// linearise computes the derivatives of the errors by the free components, from one decoded clip
// for each.
func (t *fitting) linearise(want []float32) {
	n, m := len(t.free), len(t.best)
	resize(&t.jacobian, m*n)
	for i := range n {
		t.errors(t.other, want, i)
		for k, e := range t.other {
			t.jacobian[k*n+i] = (e - t.best[k]) * (1 / step)
		}
	}
	resize(&t.normal, n*n)
	resize(&t.gradient, n)
	slope := blas64.General{Rows: m, Cols: n, Stride: n, Data: t.jacobian}
	blas64.Syrk(blas.Trans, 1, slope, 0, symmetric(t.normal, n))
	blas64.Gemv(blas.Trans, 1, slope, vector(t.best), 0, vector(t.gradient))
}

func symmetric(a []float64, n int) blas64.Symmetric {
	return blas64.Symmetric{N: n, Stride: n, Data: a, Uplo: blas.Upper}
}

// descend takes a step from components. damping is relative to the largest diagonal element.
// Without a solution components stay.
func (t *fitting) descend(components []float32, damping float64) {
	n := len(t.free)
	t.chol, t.solution = append(t.chol[:0], t.normal...), append(t.solution[:0], t.gradient...)
	most := 0.0
	for i := range n {
		most = max(most, t.normal[i*n+i])
	}
	for i := range n {
		t.chol[i*n+i] += damping * most
	}
	half, ok := lapack64.Potrf(symmetric(t.chol, n))
	if !ok {
		return
	}
	lapack64.Potrs(half, blas64.General{Rows: n, Cols: 1, Stride: 1, Data: t.solution})
	for i, k := range t.free {
		components[k] -= float32(t.solution[i])
	}
}

// decodeComponents decodes n clips, (n, values) of components, in batches of the coder's size.
func (c *Coder) decodeComponents(rows, components []float32, n int) error {
	m := c.m
	size := Frames * m.Layout.Columns()
	resize(&c.z, min(n, c.batch)*m.Values)
	for at := 0; at < n; at += c.batch {
		k := min(c.batch, n-at)
		for i := range k {
			m.Components.ToLatent(c.z[i*m.Values:][:m.Values], components[(at+i)*m.Values:][:m.Values])
		}
		if err := c.Decode(rows[at*size:][:k*size], c.z[:k*m.Values], k); err != nil {
			return err
		}
	}
	return nil
}
