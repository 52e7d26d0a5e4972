package kernel

import "math"

// The functions below work element by element: a result does not depend on
// where in the slice it stands, so that any cut into parts gives the same
// bits. dst may be an input itself, but must not overlap it otherwise. They
// are not interrupted: cut slices above about 10⁵ elements into parts.

func same(what string, n int, lens ...int) {
	for _, l := range lens {
		if l != n {
			panic("kernel: " + what + ": slices of different lengths")
		}
	}
}

// Exp sets dst = e^x with a relative error of at most 3e-7 for results of
// normal size, and to within 2e-38 below. It gives 0 below −104 and +Inf
// above 88.73; NaN stays NaN.
func Exp(dst, x []float32) {
	same("Exp", len(dst), len(x))
	if len(dst) == 0 || expAsm(dst, x) {
		return
	}
	for i, v := range x {
		dst[i] = float32(math.Exp(float64(v)))
	}
}

// Axpy sets dst = dst + a·x.
func Axpy(dst []float32, a float32, x []float32) {
	same("Axpy", len(dst), len(x))
	if len(dst) == 0 || axpyAsm(dst, a, x) {
		return
	}
	for i, v := range x {
		dst[i] += float32(a * v)
	}
}

// Scale sets dst = a·x.
func Scale(dst []float32, a float32, x []float32) {
	same("Scale", len(dst), len(x))
	if len(dst) == 0 || scaleAsm(dst, a, x) {
		return
	}
	for i, v := range x {
		dst[i] = a * v
	}
}

// Add sets dst = x + y, element by element.
func Add(dst, x, y []float32) {
	same("Add", len(dst), len(x), len(y))
	if len(dst) == 0 || addAsm(dst, x, y) {
		return
	}
	for i, v := range x {
		dst[i] = v + y[i]
	}
}

// Mul sets dst = x·y, element by element.
func Mul(dst, x, y []float32) {
	same("Mul", len(dst), len(x), len(y))
	if len(dst) == 0 || mulAsm(dst, x, y) {
		return
	}
	for i, v := range x {
		dst[i] = v * y[i]
	}
}

// Max sets dst = the larger of x and y, element by element. NaN in either is
// NaN.
func Max(dst, x, y []float32) {
	same("Max", len(dst), len(x), len(y))
	if len(dst) == 0 || maxAsm(dst, x, y) {
		return
	}
	for i, v := range x {
		dst[i] = max(v, y[i])
	}
}

// Normalize sets dst = (x − mean)·inv, element by element.
func Normalize(dst, x, mean, inv []float32) {
	same("Normalize", len(dst), len(x), len(mean), len(inv))
	if len(dst) == 0 || normalizeAsm(dst, x, mean, inv) {
		return
	}
	for i, v := range x {
		dst[i] = (v - mean[i]) * inv[i]
	}
}

// Affine sets dst = x·scale + shift, element by element.
func Affine(dst, x, scale, shift []float32) {
	same("Affine", len(dst), len(x), len(scale), len(shift))
	if len(dst) == 0 || affineAsm(dst, x, scale, shift) {
		return
	}
	for i, v := range x {
		dst[i] = float32(v*scale[i]) + shift[i]
	}
}

// AdamW makes one optimiser step on weights w with gradient g and the moments
// m and v (Loshchilov and Hutter 2019, algorithm 2, with the schedule's factor
// inside lr):
//
//	m = beta1·m + (1 − beta1)·g
//	v = beta2·v + (1 − beta2)·g²
//	w = (1 − lr·wd)·w − lr·(m/bc1) / (√(v/bc2) + eps)
//
// bc1 and bc2 are 1 − beta1ᵗ and 1 − beta2ᵗ at step t = 1, 2, ….
func AdamW(w, g, m, v []float32, lr, wd, beta1, beta2, eps, bc1, bc2 float32) {
	same("AdamW", len(w), len(g), len(m), len(v))
	keep, rest1, rest2, c1, c2 := 1-float32(lr*wd), 1-beta1, 1-beta2, 1/bc1, 1/bc2
	if len(w) == 0 || adamWAsm(w, g, m, v, lr, keep, beta1, beta2, rest1, rest2, eps, c1, c2) {
		return
	}
	for i, gi := range g {
		mi := float32(beta1*m[i]) + float32(rest1*gi)
		vi := float32(beta2*v[i]) + float32(rest2*float32(gi*gi))
		m[i], v[i] = mi, vi
		u := float32(mi*c1) / (sqrt(vi*c2) + eps)
		w[i] = float32(keep*w[i]) - float32(lr*u)
	}
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
