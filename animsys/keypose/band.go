package keypose

import "mannequin/engine/m3"

// band is a least-squares problem for moves x over the ground, one per frame, in which each frame
// meets at most two neighbours to each side: its normal equations, then their solution.
type band struct {
	a [3][]float64 // the diagonal, and the two next to it
	b [][2]float64 // right-hand sides; then x
}

func (s *band) reset(n int) {
	for i := range s.a {
		s.a[i] = grow(s.a[i], n)
		clear(s.a[i])
	}
	s.b = grow(s.b, n)
	clear(s.b)
}

// at returns x[f] after solve.
func (s *band) at(f int) m3.Vec3 {
	x := s.b[f]
	return m3.V(float32(x[0]), 0, float32(x[1]))
}

// place adds w·|x[f]|².
func (s *band) place(f int, w float32) { s.a[0][f] += float64(w) }

// step adds w·|x[f] − x[f−1] + by|².
func (s *band) step(f int, w float32, by m3.Vec3) {
	s.a[0][f-1] += float64(w)
	s.a[0][f] += float64(w)
	s.a[1][f-1] -= float64(w)
	for i, v := range [2]float32{by.X, by.Z} {
		s.b[f-1][i] += float64(w) * float64(v)
		s.b[f][i] -= float64(w) * float64(v)
	}
}

// turn adds w·|x[f−1] − 2·x[f] + x[f+1]|².
func (s *band) turn(f int, w float32) {
	s.a[0][f-1] += float64(w)
	s.a[0][f] += 4 * float64(w)
	s.a[0][f+1] += float64(w)
	s.a[1][f-1] -= 2 * float64(w)
	s.a[1][f] -= 2 * float64(w)
	s.a[2][f-1] += float64(w)
}

// fix makes x[f] zero, after all squares are added.
func (s *band) fix(f int) {
	s.a[0][f], s.a[1][f], s.a[2][f], s.b[f] = 1, 0, 0, [2]float64{}
	if f > 0 {
		s.a[1][f-1] = 0
	}
	if f > 1 {
		s.a[2][f-2] = 0
	}
}

// solve computes x by an LDLᵀ factorisation. Every x[f] must have a place square or be fixed.
func (s *band) solve() {
	d, l1, l2 := s.a[0], s.a[1], s.a[2]
	n := len(d)
	take := func(f, from int, l float64) {
		for i := range s.b[f] {
			s.b[f][i] -= l * s.b[from][i]
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
		for i := range s.b[f] {
			s.b[f][i] /= d[f]
		}
		if f+1 < n {
			take(f, f+1, l1[f])
		}
		if f+2 < n {
			take(f, f+2, l2[f])
		}
	}
}
