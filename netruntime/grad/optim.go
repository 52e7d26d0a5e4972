package grad

import "mannequin/netruntime/internal/kernel"

// AdamW updates weights w with their gradient g (Loshchilov and Hutter 2019). m and v are the
// running means of g and g²:
//
//	m = beta1·m + (1 − beta1)·g
//	v = beta2·v + (1 − beta2)·g²
//	w = (1 − lr·wd)·w − lr·(m/bc1) / (√(v/bc2) + eps)
//
// bc1 and bc2 are 1 − beta1ᵗ and 1 − beta2ᵗ at step t = 1, 2, ….
func AdamW(w, g, m, v []float32, lr, wd, beta1, beta2, eps, bc1, bc2 float32) {
	kernel.AdamW(w, g, m, v, lr, wd, beta1, beta2, eps, bc1, bc2)
}

// AdaDelta updates weights w with their gradient g (Zeiler 2012). sq and step are the running means
// of g² and of the squared steps:
//
//	sq   = rho·sq + (1 − rho)·g²
//	u    = √((step + eps)/(sq + eps))·g
//	step = rho·step + (1 − rho)·u²
//	w    = w − lr·u
func AdaDelta(w, g, sq, step []float32, lr, rho, eps float32) {
	kernel.AdaDelta(w, g, sq, step, lr, rho, eps)
}

// Penalize adds the gradient of l1·Σ|w| + l2/2·Σw² to g. The sign of 0 is 0.
func Penalize(g, w []float32, l1, l2 float32) { kernel.Penalize(g, w, l1, l2) }
