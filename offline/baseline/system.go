package baseline

import (
	"math"

	"gonum.org/v1/gonum/lapack"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"
)

// system is a linear time-invariant system of one output:
//
//	s(t+1) = A s(t) + B u(t)
//	y(t)   = C s(t) + D u(t) + offset
type system struct {
	n, m   int       // order, number of inputs
	a      []float64 // (n, n)
	b      []float64 // (n, m)
	c      []float64 // (n)
	d      []float64 // (m)
	offset float64
	rest   bool // starts as if the first input had always been there; otherwise from 0
}

// simulate writes the output for the inputs u, (frames, m).
func (s *system) simulate(dst, u []float64) {
	n, m := s.n, s.m
	state, next := make([]float64, n), make([]float64, n)
	if s.rest && n > 0 {
		s.settle(state, u[:m])
	}
	for t := range dst {
		ut := u[t*m : (t+1)*m]
		y := s.offset
		for i, c := range s.c {
			y += c * state[i]
		}
		for j, d := range s.d {
			y += d * ut[j]
		}
		dst[t] = y
		for i := range next {
			var v float64
			for k, a := range s.a[i*n : (i+1)*n] {
				v += a * state[k]
			}
			for j, b := range s.b[i*m : (i+1)*m] {
				v += b * ut[j]
			}
			next[i] = v
		}
		state, next = next, state
	}
}

// settle solves s = A s + B u: the state after a constant input.
func (s *system) settle(state, u []float64) {
	n := s.n
	left := mat.NewDense(n, n, nil)
	right := mat.NewVecDense(n, nil)
	for i := range n {
		for k := range n {
			left.Set(i, k, -s.a[i*n+k])
		}
		left.Set(i, i, 1+left.At(i, i))
		var v float64
		for j, b := range s.b[i*s.m : (i+1)*s.m] {
			v += b * u[j]
		}
		right.SetVec(i, v)
	}
	var x mat.VecDense
	// Poles are inside the unit circle, so there is a solution, even if poorly conditioned.
	if failed(x.SolveVec(left, right)) || x.Len() != n {
		return
	}
	for i := range state {
		if v := x.AtVec(i); !math.IsNaN(v) && !math.IsInf(v, 0) {
			state[i] = v
		}
	}
}

// defaultMaxPole is the default largest magnitude of a pole: a decay to a third within 100 frames.
// Slower systems fit one recording's drift, and their large gains make another drift away.
const defaultMaxPole = 0.99

// stabilise replaces (A, C) by an equivalent pair in real Schur form. Poles outside the unit circle
// are reflected into it: λ becomes 1/λ*, which keeps the magnitude of a transfer function up to a
// factor. Poles still larger than radius, below 1, are shrunk to it. Schur form has the poles in
// its diagonal blocks and needs no eigenvectors, which nearly equal poles lack. It returns false if
// the poles do not converge.
func stabilise(a, c []float64, radius float64) bool {
	n := len(c)
	if n == 0 {
		return true
	}
	var impl lapackgonum.Implementation
	tau, work := make([]float64, n-1), make([]float64, 64*n)
	q := make([]float64, n*n)
	impl.Dgehrd(n, 0, n-1, a, n, tau, work, len(work))
	copy(q, a)
	impl.Dorghr(n, 0, n-1, q, n, tau, work, len(work))
	for i := 2; i < n; i++ {
		clear(a[i*n : i*n+i-1]) // the reflections' vectors
	}
	wr, wi := make([]float64, n), make([]float64, n)
	if impl.Dhseqr(lapack.EigenvaluesAndSchur, lapack.SchurOrig, n, 0, n-1, a, n, wr, wi, q, n, work, len(work)) > 0 {
		return false
	}
	for i := 0; i < n; i++ {
		size := 1
		if wi[i] != 0 {
			size = 2
		}
		magnitude := math.Hypot(wr[i], wi[i])
		if magnitude > radius {
			factor := min(1/magnitude, radius) / magnitude
			for r := i; r < i+size; r++ {
				for k := i; k < i+size; k++ {
					a[r*n+k] *= factor
				}
			}
		}
		i += size - 1
	}
	turned := make([]float64, n)
	for j := range turned {
		for i, v := range c {
			turned[j] += v * q[i*n+j]
		}
	}
	copy(c, turned)
	return true
}
