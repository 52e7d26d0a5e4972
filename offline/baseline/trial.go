package baseline

import "math"

// trial simulates systems that share A and C on held-out frames. A simulation is the one from state
// 0 plus the effect of the first state, so that each system runs once for all starts.
type trial struct {
	n      int
	rec    record
	sp     span
	summed bool      // errors are of running sums
	free   []float64 // (frames up to the span's end, n) C Aᵗ: output of each coordinate of the record's first state
	local  []float64 // (frames of the span, n) orthonormal basis of the same from the span's first state
	y, err []float64 // scratch (frames up to the span's end)
}

func newTrial(ls *solved, rec record, sp span, summed bool) *trial {
	t := &trial{n: ls.n, rec: rec, sp: sp, summed: summed, y: make([]float64, sp.to), err: make([]float64, sp.to)}
	t.free = make([]float64, sp.to*ls.n)
	state := append([]float64(nil), ls.c...)
	next := make([]float64, ls.n)
	for f := range sp.to {
		copy(t.free[f*ls.n:], state)
		transposed(next, ls.a, state)
		state, next = next, state
	}
	t.local = append([]float64(nil), t.free[:(sp.to-sp.from)*ls.n]...)
	orthonormalise(t.local, ls.n)
	return t
}

// errors returns a system's squared errors on the span: of simulations of the record from state 0
// and from rest, and of the span alone from its best state. The last is raised by what fitting that
// many coordinates removes from any error.
func (t *trial) errors(s *system) (zero, rest, settled float64) {
	n, from, to := t.n, t.sp.from, t.sp.to
	s.rest = false
	s.simulate(t.y, t.rec.u)
	for f := from; f < to; f++ {
		t.err[f-from] = t.rec.y[f] - t.y[f]
	}
	zero = t.square(t.err[:to-from])
	state := make([]float64, n)
	if n > 0 {
		s.settle(state, t.rec.u[:s.m])
	}
	for f := from; f < to; f++ {
		t.y[f-from] = t.err[f-from]
		for i, v := range t.free[f*n : (f+1)*n] {
			t.y[f-from] -= v * state[i]
		}
	}
	rest = t.square(t.y[:to-from])
	local := t.err[:to-from]
	if from > 0 {
		s.simulate(t.y[:to-from], t.rec.u[from*s.m:to*s.m])
		for f := range local {
			local[f] = t.rec.y[from+f] - t.y[f]
		}
	}
	for i := range n {
		var along float64
		for f, v := range local {
			along += v * t.local[f*n+i]
		}
		for f := range local {
			local[f] -= along * t.local[f*n+i]
		}
	}
	frames := float64(to - from)
	return zero, rest, t.square(local) * frames / max(frames-float64(n), 1)
}

// square returns the squared error of what is missing in the output.
func (t *trial) square(missing []float64) (sum float64) {
	var running float64
	for _, v := range missing {
		running += v
		if !t.summed {
			running = v
		}
		sum += running * running
	}
	return sum
}

// orthonormalise makes the n columns of m orthonormal by Gram and Schmidt's method, twice for
// accuracy. A column in the span of the ones before becomes 0.
func orthonormalise(m []float64, n int) {
	for j := range n {
		before := norm(m, n, j)
		for range 2 {
			for i := range j {
				var along float64
				for at := 0; at < len(m); at += n {
					along += m[at+i] * m[at+j]
				}
				for at := 0; at < len(m); at += n {
					m[at+j] -= along * m[at+i]
				}
			}
		}
		scale := 0.0
		if after := norm(m, n, j); after > 1e-12*before {
			scale = 1 / after
		}
		for at := j; at < len(m); at += n {
			m[at] *= scale
		}
	}
}

func norm(m []float64, n, j int) float64 {
	var sum float64
	for at := j; at < len(m); at += n {
		sum += m[at] * m[at]
	}
	return math.Sqrt(sum)
}
