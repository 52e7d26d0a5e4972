package baseline

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// record is one sequence of inputs and outputs.
type record struct {
	u []float64 // (frames, inputs)
	y []float64 // (frames)
}

// span is a run of frames of a record, without seams and held-out frames.
type span struct{ record, from, to, fold int }

// windows hold the data of a subspace method for all windows of 2h frames in some spans: the R of a
// matrix with this row for a window with its middle at t:
//
//	1 | u(t…t+h-1) | u(t-h…t-1) | y(t-h…t-1) | y(t…t+h-1)
//
// The 1 removes a constant in the outputs.
type windows struct {
	h, m int
	r    *triangle
}

func newWindows(h, m int) *windows {
	return &windows{h: h, m: m, r: newTriangle(windowColumns(h, m))}
}

// windowColumns is the width of the matrix above, and the least useful number of windows.
func windowColumns(h, m int) int { return 1 + 2*h*(m+1) }

func windowCount(s span, h int) int { return max(0, s.to-s.from-2*h+1) }

// take adds every stride-th window of s.
func (w *windows) take(rec record, s span, stride int) {
	h, m := w.h, w.m
	for t := s.from + h; t+h <= s.to; t += stride {
		row := w.r.row()
		row[0] = 1
		at := 1
		at += copy(row[at:], rec.u[t*m:(t+h)*m])
		at += copy(row[at:], rec.u[(t-h)*m:t*m])
		at += copy(row[at:], rec.y[t-h:t])
		copy(row[at:], rec.y[t:t+h])
	}
}

// observability returns a basis of the future outputs as a function of the state, (h, h), most
// important directions first. Future inputs are projected out, and past inputs and outputs explain
// the rest. This is the past-output MOESP method (Verhaegen 1994, "Identification of the
// deterministic part of MIMO state space models"), which is N4SID (Van Overschee and De Moor 1994)
// with the weight that removes the future inputs. Nothing is inverted, so smooth inputs do no harm.
// It is nil if the decomposition fails.
func (w *windows) observability() *mat.Dense {
	h, m := w.h, w.m
	r := w.r.r()
	future, past := 1+h*m, h*(m+1)
	explained := r.Slice(future, future+past, future+past, future+past+h) // (past, future outputs)
	var svd mat.SVD
	if !svd.Factorize(explained, mat.SVDThinV) {
		return nil
	}
	var v mat.Dense
	svd.VTo(&v)
	return &v
}

// dynamics reads A, (n, n), and C, (n), from an observability basis. The first row is C; A shifts
// rows by one frame. No pole is larger than radius; ok is false if none can be found.
func dynamics(basis *mat.Dense, n int, radius float64) (a, c []float64, ok bool) {
	if n == 0 {
		return nil, nil, true
	}
	h, _ := basis.Dims()
	var shift mat.Dense
	if failed(shift.Solve(basis.Slice(0, h-1, 0, n), basis.Slice(1, h, 0, n))) {
		return nil, nil, false
	}
	a = make([]float64, n*n)
	for i := range n {
		copy(a[i*n:(i+1)*n], shift.RawRowView(i))
	}
	if slices.ContainsFunc(a, func(v float64) bool { return v-v != 0 }) {
		return nil, nil, false
	}
	c = slices.Clone(basis.RawRowView(0)[:n])
	return a, c, stabilise(a, c, radius)
}

// gains is the least squares problem for B, D and the offset with A and C known: a simulation's
// output is linear in them. The initial state of each span is eliminated.
type gains struct {
	n, m  int
	a, c  []float64
	r     *triangle // columns B by inputs (m·n), D (m), 1, y
	local *triangle // the same behind the initial state (n)
}

func newGains(a, c []float64, m int) *gains {
	n := len(c)
	params := m*n + m + 1
	return &gains{n: n, m: m, a: a, c: c, r: newTriangle(params + 1), local: newTriangle(n + params + 1)}
}

// take adds every stride-th frame of s. With one output, the effect of B through input j is Bⱼᵀ
// z(t) with z(t+1) = Aᵀ z(t) + Cᵀ uⱼ(t).
func (g *gains) take(rec record, s span, stride int) {
	n, m := g.n, g.m
	g.local.reset()
	state, next := slices.Clone(g.c), make([]float64, n) // (Aᵀ)ᵗ Cᵀ
	z, zNext := make([]float64, m*n), make([]float64, m*n)
	for t := s.from; t < s.to; t++ {
		u := rec.u[t*m : (t+1)*m]
		if (t-s.from)%stride == 0 {
			row := g.local.row()
			at := copy(row, state)
			at += copy(row[at:], z)
			at += copy(row[at:], u)
			row[at], row[at+1] = 1, rec.y[t]
		}
		transposed(next, g.a, state)
		for j := range m {
			transposed(zNext[j*n:(j+1)*n], g.a, z[j*n:(j+1)*n])
			for i, c := range g.c {
				zNext[j*n+i] += c * u[j]
			}
		}
		state, next = next, state
		z, zNext = zNext, z
	}
	g.r.add(g.local, n)
}

// transposed is dst = Aᵀ v.
func transposed(dst, a, v []float64) {
	clear(dst)
	for k, f := range v {
		for i, w := range a[k*len(v) : (k+1)*len(v)] {
			dst[i] += w * f
		}
	}
}

// truncation is the relative singular value below which a direction is rounding.
const truncation = 1e-11

// solved is the least squares problem in the coordinates of its singular values.
type solved struct {
	n, m  int
	a, c  []float64
	scale []float64  // (params) the columns' lengths
	s     []float64  // (params) singular values
	v     *mat.Dense // (params, params)
	uy    []float64  // (params) the output along the left singular vectors
}

// solve decomposes the least squares problem; nil if that fails.
func (g *gains) solve() *solved {
	r := g.r.r()
	p := g.r.n - 1
	out := &solved{n: g.n, m: g.m, a: g.a, c: g.c, scale: make([]float64, p), uy: make([]float64, p)}
	left := mat.DenseCopyOf(r.Slice(0, p, 0, p))
	for j := range p {
		out.scale[j] = mat.Norm(left.ColView(j), 2)
		if out.scale[j] == 0 {
			out.scale[j] = 1
		}
		for i := range j + 1 {
			left.Set(i, j, left.At(i, j)/out.scale[j])
		}
	}
	var svd mat.SVD
	if !svd.Factorize(left, mat.SVDThin) {
		return nil
	}
	var u mat.Dense
	svd.UTo(&u)
	out.v = new(mat.Dense)
	svd.VTo(out.v)
	out.s = svd.Values(nil)
	for k := range p {
		for i := range p {
			out.uy[k] += u.At(i, k) * r.At(i, p)
		}
	}
	return out
}

// system returns the solution with some shrinkage, relative to the largest singular value. 0 is
// plain least squares, more is a ridge.
func (s *solved) system(shrink float64) *system {
	p := len(s.scale)
	theta := make([]float64, p)
	for k, v := range s.s {
		if v <= truncation*s.s[0] {
			break
		}
		f := s.uy[k] * v / (v*v + shrink*shrink*s.s[0]*s.s[0])
		for i := range theta {
			theta[i] += f * s.v.At(i, k)
		}
	}
	for i := range theta {
		theta[i] /= s.scale[i]
	}
	n, m := s.n, s.m
	out := &system{n: n, m: m, a: s.a, c: s.c, b: make([]float64, n*m), d: theta[m*n : m*n+m], offset: theta[p-1]}
	for j := range m {
		for i := range n {
			out.b[i*m+j] = theta[j*n+i]
		}
	}
	return out
}
