package latent

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Fit is one call of Coder.Fit: the clip whose frames come nearest to wanted ones.
//
// Its cost is Σ w·(y − Want)²/deviation² over frames and columns, divided by Σ w,
// where w is Weight and the deviation that of the column in the recordings, plus
// Prior times the mean square of the free components: clips like the recordings have
// small ones.
type Fit struct {
	Components []float32 // (values) in: where to begin; out: the clip's components
	Fixed      []bool    // (values) those that stay; nil: none does
	Want       []float32 // (Frames, columns) raw
	Weight     []float32 // (Frames, columns) of the squared errors, or (Frames) for all columns alike; nil: 1 of all
	Prior      float64   // 0 or more
	Iterations int       // each decodes a clip for every free component

	Before, After float64 // out: the cost
}

// Refine is the number of iterations after which a fit to a whole clip hardly
// changes any more.
const Refine = 6

// step is by how much a component is changed to see what it does, in deviations: the
// networks are linear in pieces, and a smaller step sees only rounding.
const step = 0.05

// dampings are tried in every iteration, all in one batch, as multiples of the last
// that was best.
var dampings = [...]float64{0.1, 1, 10, 100}

// Fit runs the fit by Gauss and Newton's method, damped after Levenberg and
// Marquardt: the networks' slopes are differences of decoded clips. The thesis
// descends along the gradient (Lüdi 2016, eq. 4.10) to the same place. An iteration
// that makes nothing better ends it.
func (c *Coder) Fit(f *Fit) error {
	m := c.m
	cols := m.Layout.Columns()
	size := Frames * cols
	switch {
	case len(f.Components) != m.Values || f.Fixed != nil && len(f.Fixed) != m.Values:
		return fmt.Errorf("latent: Fit.Components has %d values and Fixed %d, want %d", len(f.Components), len(f.Fixed), m.Values)
	case len(f.Want) != size || f.Weight != nil && len(f.Weight) != size && len(f.Weight) != Frames:
		return fmt.Errorf("latent: Fit.Want has %d values and Weight %d, want %d", len(f.Want), len(f.Weight), size)
	case !(f.Prior >= 0) || f.Iterations < 0:
		return fmt.Errorf("latent: Fit.Prior is %g and Iterations %d, want 0 or more", f.Prior, f.Iterations)
	}
	w, total := make([]float64, size), 0.0
	for i := range w {
		by := float32(1)
		switch len(f.Weight) {
		case size:
			by = f.Weight[i]
		case Frames:
			by = f.Weight[i/cols]
		}
		w[i] = float64(by * m.weight[i%cols])
		total += float64(by)
	}
	if !(total > 0) || math.IsInf(total, 1) {
		return fmt.Errorf("latent: Fit.Weight sums up to %g, want more than 0", total)
	}
	for i := range w {
		w[i] = math.Sqrt(w[i] / total)
	}
	var free []int
	for k := range m.Values {
		if f.Fixed == nil || !f.Fixed[k] {
			free = append(free, k)
		}
	}
	n := max(len(free), len(dampings))
	tried, rows := make([]float32, (n+1)*m.Values), make([]float32, (n+1)*size)
	prior := math.Sqrt(f.Prior / float64(m.Values))
	// errors returns those of decoded clip i, and the free components.
	errors := func(i int) *mat.VecDense {
		e := mat.NewVecDense(size+len(free), nil)
		for k, v := range rows[i*size:][:size] {
			e.SetVec(k, w[k]*float64(v-f.Want[k]))
		}
		for k, q := range free {
			e.SetVec(size+k, prior*float64(tried[i*m.Values+q]))
		}
		return e
	}
	copy(tried, f.Components)
	if err := c.decodeComponents(rows, tried, 1); err != nil {
		return err
	}
	here := errors(0)
	cost := mat.Dot(here, here)
	f.Before, f.After = cost, cost
	damping := 1e-3
	slope := mat.NewDense(size+len(free), max(1, len(free)), nil)
	for range f.Iterations {
		if len(free) == 0 {
			break
		}
		for i, k := range free {
			copy(tried[i*m.Values:], f.Components)
			tried[i*m.Values+k] += step
		}
		if err := c.decodeComponents(rows, tried, len(free)); err != nil {
			return err
		}
		for i := range free {
			e := errors(i)
			e.SubVec(e, here)
			e.ScaleVec(1/step, e)
			slope.SetCol(i, e.RawVector().Data)
		}
		var square mat.SymDense
		square.SymOuterK(1, slope.T())
		var down mat.VecDense
		down.MulVec(slope.T(), here)
		most := 0.0
		for i := range free {
			most = max(most, square.At(i, i))
		}
		for t, by := range dampings {
			to := tried[t*m.Values:][:m.Values]
			copy(to, f.Components)
			a := mat.NewSymDense(len(free), nil)
			a.CopySym(&square)
			for i := range free {
				a.SetSym(i, i, a.At(i, i)+damping*by*most)
			}
			var chol mat.Cholesky
			var way mat.VecDense
			if !chol.Factorize(a) || chol.SolveVecTo(&way, &down) != nil {
				continue // where nothing changes; stays
			}
			for i, k := range free {
				to[k] -= float32(way.AtVec(i))
			}
		}
		if err := c.decodeComponents(rows, tried, len(dampings)); err != nil {
			return err
		}
		best := -1
		for t := range dampings {
			if e := errors(t); mat.Dot(e, e) < cost {
				best, cost, here = t, mat.Dot(e, e), e
			}
		}
		if best < 0 {
			break
		}
		copy(f.Components, tried[best*m.Values:][:m.Values])
		damping = max(damping*dampings[best], 1e-9)
	}
	f.After = cost
	return nil
}

// decodeComponents decodes any number of clips, (n, values) of components, as many
// at a time as the coder holds.
func (c *Coder) decodeComponents(rows, components []float32, n int) error {
	m := c.m
	size := Frames * m.Layout.Columns()
	z := make([]float32, min(n, c.batch)*m.Values)
	for at := 0; at < n; at += c.batch {
		k := min(c.batch, n-at)
		for i := range k {
			m.Components.ToLatent(z[i*m.Values:][:m.Values], components[(at+i)*m.Values:][:m.Values])
		}
		if err := c.Decode(rows[at*size:][:k*size], z[:k*m.Values], k); err != nil {
			return err
		}
	}
	return nil
}
