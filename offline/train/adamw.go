package train

import "math"

// update applies the optimiser to every parameter; rate and decay are the
// step's own, with the schedule's multiplier in them.
func (r *run) update(rate, decay float64) {
	a, s := r.AdamW, r.state
	c1 := 1 - math.Pow(a.Beta1, float64(s.Total))
	c2 := 1 - math.Pow(a.Beta2, float64(s.Total))
	const chunk = 1 << 16
	for i, p := range r.Params {
		m, v := s.m[i], s.v[i]
		n := len(p.Val)
		b1, b2, lr, eps, keep, ic2 := float32(a.Beta1), float32(a.Beta2), float32(rate/c1), float32(a.Eps), float32(1-decay), float32(1/c2)
		r.pool.Run((n+chunk-1)/chunk, func(_, k int) {
			for q := k * chunk; q < min(n, (k+1)*chunk); q++ {
				g := p.Grad[q]
				m[q] = b1*m[q] + (1-b1)*g
				v[q] = b2*v[q] + (1-b2)*g*g
				p.Val[q] = keep*p.Val[q] - lr*m[q]/(float32(math.Sqrt(float64(v[q]*ic2)))+eps)
			}
		})
	}
}
