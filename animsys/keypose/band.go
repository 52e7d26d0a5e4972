package keypose

import "mannequin/engine/m3"

// band is a least-squares problem for a move x[f] of several values in each frame f, in which a
// frame meets at most two neighbours to each side: its normal equations, then their solution.
type band struct {
	cols int
	a    [3][]float64 // the diagonal, and the two next to it
	b    []float64    // (frames, cols) right-hand sides; then x
}

func (s *band) reset(frames, cols int) {
	s.cols = cols
	for i := range s.a {
		s.a[i] = grow(s.a[i], frames)
		clear(s.a[i])
	}
	s.b = grow(s.b, frames*cols)
	clear(s.b)
}

// x returns the move of frame f after solve.
func (s *band) x(f int) []float64 { return s.b[f*s.cols:][:s.cols] }

// ground returns the move of frame f over the ground, of 2 values, after solve.
func (s *band) ground(f int) m3.Vec3 {
	x := s.x(f)
	return m3.V(float32(x[0]), 0, float32(x[1]))
}

// place adds w·|x[f]|².
func (s *band) place(f int, w float64) { s.a[0][f] += w }

// pull adds w·|x[f] − to|² for moves of one value.
func (s *band) pull(f int, w, to float64) {
	s.a[0][f] += w
	s.b[f] += w * to
}

// step adds w·|x[f] − x[f−1] + by|² for moves over the ground.
func (s *band) step(f int, w float64, by m3.Vec3) {
	s.a[0][f-1] += w
	s.a[0][f] += w
	s.a[1][f-1] -= w
	for i, v := range [2]float32{by.X, by.Z} {
		s.x(f - 1)[i] += w * float64(v)
		s.x(f)[i] -= w * float64(v)
	}
}

// turn adds w·|x[f−1] − 2·x[f] + x[f+1] + by|².
func (s *band) turn(f int, w float64, by []float64) {
	s.a[0][f-1] += w
	s.a[0][f] += 4 * w
	s.a[0][f+1] += w
	s.a[1][f-1] -= 2 * w
	s.a[1][f] -= 2 * w
	s.a[2][f-1] += w
	for i, v := range by {
		s.x(f - 1)[i] -= w * v
		s.x(f)[i] += 2 * w * v
		s.x(f + 1)[i] -= w * v
	}
}

// fix makes x[f] zero, after all squares are added.
func (s *band) fix(f int) {
	s.a[0][f], s.a[1][f], s.a[2][f] = 1, 0, 0
	clear(s.x(f))
	if f > 0 {
		s.a[1][f-1] = 0
	}
	if f > 1 {
		s.a[2][f-2] = 0
	}
}

// fixAll fixes the frames in which fixed returns true.
func (s *band) fixAll(fixed func(f int) bool) {
	for f := range s.a[0] {
		if fixed(f) {
			s.fix(f)
		}
	}
}

// solve computes x by an LDLᵀ factorisation. Every x[f] must have a place square or be fixed.
func (s *band) solve() {
	d, l1, l2 := s.a[0], s.a[1], s.a[2]
	n := len(d)
	take := func(f, from int, l float64) {
		to, by := s.x(f), s.x(from)
		for i := range to {
			to[i] -= l * by[i]
		}
	}
	for f := range n {
		p, q := l1[f]/d[f], l2[f]/d[f]
		if f+1 < n {
			d[f+1] -= p * l1[f]
			l1[f+1] -= p * l2[f]
			take(f+1, f, p)
		}
		if f+2 < n {
			d[f+2] -= q * l2[f]
			take(f+2, f, q)
		}
		l1[f], l2[f] = p, q
	}
	for f := n - 1; f >= 0; f-- {
		for i := range s.x(f) {
			s.x(f)[i] /= d[f]
		}
		if f+1 < n {
			take(f, f+1, l1[f])
		}
		if f+2 < n {
			take(f, f+2, l2[f])
		}
	}
}
