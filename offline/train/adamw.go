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

// adamW is the optimiser in one step.
type adamW struct{ lr, wd, b1, b2, eps, c1, c2 float32 }

// begin makes the constants of the next step, with the schedule's multiplier m:
// a step of the size m·Rate, and the share m·decay of every weight away.
func (r *run) begin(m, decay float64) {
	a, n := r.AdamW, float64(r.state.Total)
	r.now = adamW{float32(m * a.Rate), float32(decay / a.Rate), float32(a.Beta1), float32(a.Beta2), float32(a.Eps),
		float32(1 - math.Pow(a.Beta1, n)), float32(1 - math.Pow(a.Beta2, n))}
}

// attach makes the parameters' updates, which Backward calls.
func (r *run) attach() {
	for i, p := range r.Params {
		m, v := r.state.m[i], r.state.v[i]
		p.Update = func(at int, g []float32) {
			k, end := &r.now, at+len(g)
			kernel.AdamW(p.Val[at:end], g, m[at:end], v[at:end], k.lr, k.wd, k.b1, k.b2, k.eps, k.c1, k.c2)
		}
	}
}
