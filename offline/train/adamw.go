package train

import (
	"math"

	"mannequin/internal/kernel"
)

// AdamW are the optimiser's constants (Loshchilov and Hutter 2017). The decay
// is decoupled from the gradient and normalised as there: per step a weight
// loses the share m·Decay·√(batch/(samples·T)) of itself, where m is the
// schedule's multiplier and T the length of the current cycle in epochs.
type AdamW struct {
	Rate  float64 `json:"rate"`  // step size at multiplier 1, > 0
	Decay float64 `json:"decay"` // normalised weight decay, ≥ 0
	Beta1 float64 `json:"beta1"` // decay of the first moment, in [0, 1)
	Beta2 float64 `json:"beta2"` // decay of the second moment, in [0, 1)
	Eps   float64 `json:"eps"`   // > 0
}

// update applies the optimiser to every parameter: with the schedule's
// multiplier m a step of the size m·Rate, and the share m·decay of every weight
// away.
func (r *run) update(m, decay float64) {
	const chunk = 1 << 15 // values per task
	a, s := r.AdamW, r.state
	lr, wd := float32(m*a.Rate), float32(decay/a.Rate)
	b1, b2, eps := float32(a.Beta1), float32(a.Beta2), float32(a.Eps)
	c1, c2 := float32(1-math.Pow(a.Beta1, float64(s.Total))), float32(1-math.Pow(a.Beta2, float64(s.Total)))
	for i, p := range r.Params {
		m1, m2 := s.m[i], s.v[i]
		r.pool.Run((len(m1)+chunk-1)/chunk, func(_, k int) {
			at, end := k*chunk, min((k+1)*chunk, len(m1))
			kernel.AdamW(p.Val[at:end], p.Grad[at:end], m1[at:end], m2[at:end], lr, wd, b1, b2, eps, c1, c2)
		})
	}
}
